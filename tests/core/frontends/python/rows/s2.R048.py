# SPDX-License-Identifier: Apache-2.0
# s2.R048: Tensor, Primitive, Cell and Parameter.
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
        self.weight = Parameter(Tensor([2.0]), name="w")
        self.mul = ops.Mul()
        self.relu = nn.ReLU()

    @jit(jit_config=STRICT)
    def construct(self, x):
        return self.relu(self.mul(x, self.weight) + Tensor([1.0]))


assert Net()(Tensor([3.])).tolist() == [7.0]
