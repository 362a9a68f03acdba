# SPDX-License-Identifier: Apache-2.0
# s2.R034: a tensor chooses among Cells.
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
        self.layers = (nn.ReLU(), nn.Softsign())
    def construct(self, x, i):
        return self.layers[i](x)
set_context(mode=ms.GRAPH_MODE)
net = Net()
x = Tensor([-1.0, 1.0])
assert net(x, Tensor(0, ms.int32)).tolist() == [0.0, 1.0] and net(x, Tensor(1, ms.int32)).tolist() == [-0.5, 0.5]
assert net(x, Tensor(-1, ms.int32)).tolist() == [-0.5, 0.5]
