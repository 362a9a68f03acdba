# SPDX-License-Identifier: Apache-2.0
# s2.R092: attributes of inner Cells and jit_class objects are set.
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
@jit_class
class Own:
    def __init__(self):
        self.x = 1
class Inner(nn.Cell):
    def __init__(self):
        super().__init__()
        self.x = 1
class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.inner, self.own = Inner(), Own()
    def construct(self):
        self.inner.x = 5
        self.own.x = 6
net = Net()
net()
assert net.inner.x == 5 and net.own.x == 6
