# SPDX-License-Identifier: Apache-2.0
# s2.R024: list index.
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
    x = [[1, 2], 3, 4]
    y = [10, 20, 30]
    return x[0][1], x[0][Tensor([1])], x[1:3], x[-1], y[i]
a, b, c, d, e = f(Tensor(2))
assert (a, b, c, d, int(e)) == (2, 2, [3, 4], 4, 30)
