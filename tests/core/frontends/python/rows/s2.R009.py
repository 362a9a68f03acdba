# SPDX-License-Identifier: Apache-2.0
# s2.R009: a constant of constants; a variable of one variable.
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
    a, b = Tensor([1, 2]), Tensor([3, 4])
    return isconstant(a + b), isconstant(a + x), a + b
c, v, s = f(Tensor([1, 1]))
assert c is True and v is False and s.tolist() == [4, 6]
