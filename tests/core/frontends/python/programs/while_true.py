# SPDX-License-Identifier: Apache-2.0
"""A `while True` without a break ends by a return alone: nothing follows it. With one, what follows counts."""
import mindspore as ms
from mindspore import Tensor, jit


def returns(x, n):
    while True:
        n = n - 1
        if n < 0:
            return x
        if n == 2:
            continue
        x = x * 2


def breaks(x, n):
    while True:
        n = n - 1
        if n < 0:
            break
        if x > 10:
            return x
        for _ in range(3):
            if x > 5:
                break
            x = x + 1
        x = x * 2
    return x - 100


def joined(x, n):
    while True:
        n = n - 1
        if n < 0:
            break
        if x > 10:
            return x


for f in (returns, breaks):
    for x, n in ((1.0, 4), (1.0, 0), (7.0, 3), (20.0, 2)):
        given = (Tensor(x, ms.float32), Tensor(n, ms.int32))
        assert jit(f)(*given).asnumpy() == f(*given).asnumpy(), (f, x, n)
assert jit(joined)(Tensor(1.0), Tensor(3)) is None and float(jit(joined)(Tensor(20.0), Tensor(3))) == 20
ms.set_context(jit_syntax_level=ms.STRICT)
try:
    jit(joined)(Tensor(1.0), Tensor(3))
except TypeError as error:
    assert "Cannot join" in str(error), error
else:
    raise AssertionError("a tensor and None were joined")


def outside(x, n):
    while n > 0:
        y = x * n
        n = n - 1
    return y


try:
    jit(outside)(Tensor(1.0), Tensor(3))
except UnboundLocalError as error:
    assert "defined in the 'while' loop body cannot be used outside of the loop body" in str(error), error
else:
    raise AssertionError("a name of a loop that may have no trip was used")
