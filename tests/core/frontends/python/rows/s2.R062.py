# SPDX-License-Identifier: Apache-2.0
# s2.R062: statements.
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
def f(x, n):
    assert n > 0
    total = 0
    for i in range(n):
        if i == 1:
            continue
        if i == 4:
            break
        total += x * i
    k = 0
    while k < 3:
        k += 1
    pass
    def inner(v):
        return v + k
    return inner(total), [i for i in range(4) if i % 2], list(i for i in (1, 2))
y, odd, gen = f(Tensor(1), 6)
assert int(y) == 8 and odd == [1, 3] and gen == [1, 2]
@jit
def g(x):
    raise ValueError("no")
raises(ValueError, "no", lambda: g(Tensor(1)))
