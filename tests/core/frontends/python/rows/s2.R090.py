# SPDX-License-Identifier: Apache-2.0
# s2.R090: attributes of self are set.
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


set_context(mode=ms.GRAPH_MODE)
class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.m = 2
    def construct(self, x):
        self.m = 3
        return x + self.m
net = Net()
assert int(net(Tensor(1))) == 4 and net.m == 3
