# SPDX-License-Identifier: Apache-2.0
# s2.R001: a graph is made once for a signature, and runs with each new value.
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


made = []
@jit
def f(x):
    made.append(isconstant(x))
    return x + 1
assert f(Tensor([1, 2])).tolist() == [2, 3] and f(Tensor([5, 6])).tolist() == [6, 7]
@jit
def g(x, n):
    return x * n
assert g(Tensor([1, 2]), 3).tolist() == [3, 6] and g(Tensor([1, 2]), 4).tolist() == [4, 8]
