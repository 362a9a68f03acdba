# SPDX-License-Identifier: Apache-2.0
# s2.R011: a Tensor input is variable, a tuple of them constant.
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
def f(a, b):
    return isconstant(a), isconstant(b), isconstant(b[0])
assert f(Tensor([1]), (Tensor([1]), Tensor([2]))) == (False, True, True)
