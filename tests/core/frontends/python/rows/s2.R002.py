# SPDX-License-Identifier: Apache-2.0
# s2.R002: jit on functions and methods, and construct in graph mode.
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
    @jit
    def construct(self, x):
        return isconstant(x)
class Other:
    @jit
    def method(self, x):
        return isconstant(x), isconstant(3)
assert Net()(Tensor(1)) is False
set_context(mode=ms.GRAPH_MODE)
class Plain(nn.Cell):
    def construct(self, x):
        return isconstant(x)
assert Plain()(Tensor(1)) is False
