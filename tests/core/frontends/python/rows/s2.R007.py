# SPDX-License-Identifier: Apache-2.0
# s2.R007: numbers, lists and tuples as inputs are constants, unless mutable.
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
def f(a, b, c):
    return isconstant(a), isconstant(b), isconstant(c)
assert f(1, [Tensor([1])], (Tensor([2]), 3)) == (True, True, True)
assert f(mutable(1), mutable([Tensor([1])]), mutable((Tensor([2]), 3))) == (False, False, False)
