# SPDX-License-Identifier: Apache-2.0
# s2.R086: None.
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
def f(x, y=None):
    z = None
    return y, z, [None, x[None:2]], {"n": None}
a, b, c, d = f(Tensor([1, 2, 3]))
assert a is None and b is None and c[0] is None and c[1].tolist() == [1, 2] and d == {"n": None}
@jit
def g():
    pass
assert g() is None
