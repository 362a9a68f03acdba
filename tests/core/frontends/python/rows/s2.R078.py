# SPDX-License-Identifier: Apache-2.0
# s2.R078: operators on operands that graphs do not have.
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


import numpy as np
@jit
def f(x):
    a = x.asnumpy()
    return a + 1, a * a, a > 1, (None, 1) in ((None, 1), 2), a[1], not (a > 9).any()
p, q, r, s, t, u = f(Tensor([1, 2]))
assert p.tolist() == [2, 3] and q.tolist() == [1, 4] and r.tolist() == [False, True] and s is True and t == 2 and u
