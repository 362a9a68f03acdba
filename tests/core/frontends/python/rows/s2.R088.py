# SPDX-License-Identifier: Apache-2.0
# s2.R088: control flow on objects of third parties.
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
def f(x):
    a = x.asnumpy()
    if a.sum() > 3:
        y = Tensor(1)
    else:
        y = Tensor(2)
    n = 0
    while n < a[0]:
        n = n + 1
    total = 0
    for v in a:
        total = total + v
    return y, n, total
y, n, t = f(Tensor([2, 3]))
assert int(y) == 1 and n == 2 and t == 5
y, n, t = f(Tensor([1, 1]))
assert int(y) == 2 and n == 1 and t == 2
