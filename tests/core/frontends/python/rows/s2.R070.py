# SPDX-License-Identifier: Apache-2.0
# s2.R070: the standard library.
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


import math, time
@jit
def f(x):
    return math.sqrt(4), x * int(math.floor(2.5))
a, b = f(Tensor(3))
assert a == 2.0 and int(b) == 6
