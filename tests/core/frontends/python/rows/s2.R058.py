# SPDX-License-Identifier: Apache-2.0
# s2.R058: only Parameters of self are assigned on STRICT.
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


set_context(mode=ms.GRAPH_MODE, jit_syntax_level=ms.STRICT)
class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.w = Parameter(Tensor(1.0), name="w")
        self.m = 2
    def construct(self, x):
        self.w = x
        return x
class Bad(Net):
    def construct(self, x):
        self.m = 3
        return x
net = Net()
net(Tensor(7.0))
assert net.w.tolist() == 7.0
raises(TypeError, "Parameter", lambda: Bad()(Tensor(1.0)))
