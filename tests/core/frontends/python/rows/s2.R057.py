# SPDX-License-Identifier: Apache-2.0
# s2.R057: operators on numbers and tensors.
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
def f(x, y):
    x += 1
    return x + y, x - 2, 3 * x, x / 2, x // 2, x % 2, x ** 2, -x, x @ y, x > y
out = f(Tensor([1., 2.]), Tensor([3., 1.]))
assert [o.tolist() for o in out] == [[5, 4], [0, 1], [6, 9], [1, 1.5], [1, 1], [0, 1], [4, 9], [-2, -3], 9, [False, True]]
