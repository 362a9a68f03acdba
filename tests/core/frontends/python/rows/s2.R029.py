# SPDX-License-Identifier: Apache-2.0
# s2.R029: pop.
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
def f(i):
    x = [1, 2, 3]
    y = x.pop(i)
    return y, x
assert f(-1) == (3, [1, 2]) and f(0) == (1, [2, 3]) and f(-3) == (1, [2, 3])
raises(IndexError, "", lambda: f(3))
