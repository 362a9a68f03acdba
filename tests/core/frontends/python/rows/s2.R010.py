# SPDX-License-Identifier: Apache-2.0
# s2.R010: mutable in the graph gives variables.
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
def f(a):
    b = mutable(Tensor([3]))
    c = mutable((Tensor([1]), Tensor([2])))
    return isconstant(a), isconstant(b), isconstant(c)
assert f(mutable([Tensor([1]), Tensor([2])])) == (False, False, False)
