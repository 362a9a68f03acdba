# SPDX-License-Identifier: Apache-2.0
# s2.R093: an attribute that is read is frozen.
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
class Inner:
    def __init__(self):
        self.m = 1
class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.inner = Inner()
    def construct(self):
        self.inner.m = self.inner.m + 1
net = Net()
net()
assert net.inner.m == 2
net()
assert net.inner.m == 2
