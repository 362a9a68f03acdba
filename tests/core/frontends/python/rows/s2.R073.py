# SPDX-License-Identifier: Apache-2.0
# s2.R073: objects of third parties are used and returned.
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
    a = np.array([1, 2])
    return a + 1, x.asnumpy() * 2
a, b = f(Tensor([3, 4]))
assert type(a) is np.ndarray and a.tolist() == [2, 3] and type(b) is np.ndarray and b.tolist() == [6, 8]
assert f(Tensor([5, 6]))[1].tolist() == [10, 12]
