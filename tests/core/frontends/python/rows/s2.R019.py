# SPDX-License-Identifier: Apache-2.0
# s2.R019: lists of anything, nested.
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
    return [[1, "a"], (x, 2), [None, [x]]]
out = f(Tensor(5))
assert type(out) is list and out[0] == [1, "a"] and int(out[1][0]) == 5 and out[2][0] is None and int(out[2][1][0]) == 5
