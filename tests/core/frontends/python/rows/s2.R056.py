# SPDX-License-Identifier: Apache-2.0
# s2.R056: a Parameter is a variable that training changes.
import mindspore as ms
from mindspore import Parameter, Tensor, jit, jit_class, mutable, nn, ops, set_context
from mindspore.common.api import JitConfig
from mindspore.ops.functional import isconstant


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
        self.w = Parameter(Tensor(2.0), name="w")
    def construct(self, x):
        return isconstant(self.w), self.w * x
set_context(mode=ms.GRAPH_MODE)
net = Net()
c, y = net(Tensor(3.0))
assert c is False and float(y) == 6.0
net.w.set_data(Tensor(5.0))
assert float(net(Tensor(3.0))[1]) == 15.0
