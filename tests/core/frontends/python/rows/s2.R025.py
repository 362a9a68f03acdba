# SPDX-License-Identifier: Apache-2.0
# s2.R025: assigning to an element makes another list.
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
def f():
    x = [[0, 1], 2, 3]
    y = x
    x[1] = "ok"
    x[0][1] = 88
    return x, y
assert f() == ([[0, 88], "ok", 3], [[0, 1], 2, 3])
