# SPDX-License-Identifier: Apache-2.0
# s2.R061: calls: a callable with a list of arguments, which may be empty.
import mindspore as ms
from mindspore import Parameter, Tensor, jit, jit_class, mutable, nn, ops, set_context
from mindspore.common.api import JitConfig

STRICT = JitConfig(jit_syntax_level="STRICT")


def raises(kind, text, call):
    try:
        call()
    except kind as error:
        assert type(error) is kind and text in str(error), repr(error)
    else:
        raise AssertionError("nothing was raised")


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.relu, self.add = nn.ReLU(), ops.Add()

    def none(self):
        return 4

    def many(self, a, b=2, *rest, c=3, **more):
        return a, b, rest, c, more["d"]

    @jit(jit_config=STRICT)
    def construct(self, x):
        return self.relu(x), self.add(x, 1), self.none(), self.many(1, 5, 6, 7, d=8), (lambda: 9)()


out = Net()(Tensor([-1.]))
assert out[0].tolist() == [0.0] and out[1].tolist() == [0.0] and out[2:] == (4, (1, 5, (6, 7), 3, 8), 9)
