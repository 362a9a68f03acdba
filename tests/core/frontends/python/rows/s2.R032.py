# SPDX-License-Identifier: Apache-2.0
# s2.R032: tuples do not change.
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
    x = (1, 2)
    x[0] = 5
    return x
raises(TypeError, "object does not support item assignment", f)
@jit
def g():
    return (1, 2) + (3,), (1,) * 2
assert g() == ((1, 2, 3), (1, 1))
