# SPDX-License-Identifier: Apache-2.0
# s2.R026: append is not in place.
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


g = [1]
@jit
def f():
    y = g
    y.append(2)
    return y
assert f() == [1, 2] and g == [1]
