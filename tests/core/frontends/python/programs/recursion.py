# SPDX-License-Identifier: Apache-2.0
"""Functions that call themselves: until what is known, until what data says, for ever."""
import math
import mindspore as ms
from mindspore import Tensor, ops


def doubled(x, n):
    if n == 0:
        return x
    return doubled(x * 2, n - 1)


def fibonacci(n):
    if n < 2:
        return n
    return fibonacci(n - 1) + fibonacci(n - 2)


def even(n):
    if n == 0:
        return Tensor(1)
    return odd(n - 1)


def odd(n):
    if n == 0:
        return Tensor(0)
    return even(n - 1)


@ms.jit
def factorial(x):
    if x <= 1:
        return x * 0 + 1
    return x * factorial(x - 1)


@ms.jit
def known(x):
    return doubled(x, 4)


@ms.jit
def within(x, n):
    return ops.exp(doubled(x, n)) + 1


@ms.jit
def branching(n):
    return fibonacci(n)


@ms.jit
def mutual(n):
    return even(n)


@ms.jit
def endless(x):
    return endless(x + 1)


@ms.jit
def differentiated(x, n):
    return ms.grad(doubled)(x, n)


@ms.jit
def printing(x, n):
    print("once")
    return doubled(x, n)


def refused(function, *args):
    try:
        function(*args)
    except RuntimeError as error:
        return str(error).startswith("Exceed function call depth limit 1000, (function call depth: 1001")
    return False


assert known(Tensor([1.0])).asnumpy()[0] == 16
assert int(factorial(Tensor(5, ms.int32))) == 120 and float(factorial(Tensor(10.0))) == math.factorial(10)
for n in (0, 2, 5):
    assert abs(float(within(Tensor([0.1]), Tensor(n))[0]) - (math.exp(0.1 * 2 ** n) + 1)) < 1e-4
assert [int(branching(Tensor(n))) for n in (1, 2, 9)] == [1, 1, 34]
assert [int(mutual(Tensor(n))) for n in (0, 3, 8)] == [1, 0, 1]
assert float(printing(Tensor([1.0]), Tensor(3))[0]) == 8
assert refused(endless, Tensor(1.0))
assert refused(differentiated, Tensor([1.0]), Tensor(3))
assert float(ms.grad(doubled)(Tensor([1.0]), 3)[0]) == 8
ms.set_context(jit_syntax_level=ms.STRICT)
assert refused(within, Tensor([0.5]), Tensor(2))
