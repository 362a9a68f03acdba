# SPDX-License-Identifier: Apache-2.0
# s2.R052: STRICT: nothing of a Primitive but its call.
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
        self.sum = ops.ReduceSum(True)

    @jit(jit_config=STRICT)
    def attribute(self, x):
        return self.sum.keep_dims

    @jit(jit_config=STRICT)
    def method(self, x):
        return self.sum.add_prim_attr("a", 1)

    @jit(jit_config=STRICT)
    def call(self, x):
        return self.sum(x, 0)


net = Net()
raises(AttributeError, "ReduceSum", lambda: net.attribute(Tensor([1., 2.])))
raises(AttributeError, "ReduceSum", lambda: net.method(Tensor([1., 2.])))
assert net.call(Tensor([1., 2.])).tolist() == [3.0]
