# SPDX-License-Identifier: Apache-2.0
# s2.R064: gradients leave out what is no tensor.
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
    def construct(self, x, y, z):
        return x * y + z
g = ms.grad(Net(), grad_position=(0, 1, 2))(Tensor([2.0]), 3, Tensor([4.0]))
assert len(g) == 2 and g[0].tolist() == [3.0] and g[1].tolist() == [1.0]
