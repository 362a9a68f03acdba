# SPDX-License-Identifier: Apache-2.0
# s2.R059: LAX: more attributes may be set than parameters of self.
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


class Box:
    pass


box = Box()


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.m = 2

    def set_it(self, x):
        self.m = 3
        box.value = x
        return x

    lax = jit(set_it)
    strict = jit(set_it, jit_config=STRICT)


net = Net()
raises(TypeError, "the member attribute must be of the Parameter type. But got '2' with type 'int'.", lambda: net.strict(Tensor([1])))
net.lax(Tensor([1]))
assert net.m == 3 and box.value.tolist() == [1]
