# SPDX-License-Identifier: Apache-2.0
# s2.R081: a list that is an input is copied.
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


g = [1, 2]
@jit
def f(x):
    x.reverse()
    return x
assert f(g) == [2, 1] and g == [1, 2]
