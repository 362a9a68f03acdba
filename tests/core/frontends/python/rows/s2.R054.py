# SPDX-License-Identifier: Apache-2.0
# s2.R054: Cells of the user take arguments by name in a graph too.
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


class Inner(nn.Cell):
    def construct(self, x, k):
        return x * k
class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.inner = Inner()
    def construct(self, x):
        return self.inner(x, 3)
set_context(mode=ms.GRAPH_MODE)
assert int(Net()(Tensor(2))) == 6
