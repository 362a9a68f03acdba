# SPDX-License-Identifier: Apache-2.0
# s2.R053: Cells made in the graph.
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


@jit
def f(x):
    cell = nn.ReLU()
    return cell(x)
assert f(Tensor([-1., 2.])).tolist() == [0.0, 2.0]
