# SPDX-License-Identifier: Apache-2.0
"""Sequences of unequal lengths or depths are no tensors, in eager mode and in graphs."""
import mindspore as ms
import numpy as np
from mindspore import Tensor, jit

PAIR, SCALAR = Tensor([1, 2]), Tensor(3)
UNEVEN = (
    [[1, 2], 3], [5, [1, 2, 3]], [1, [2]], [[1, 2], [3, 4, 5]], [[[1, 2]], [3]], [[], 1], [1, []], [[], [[]]], [[[]], []], [[[1], 2], [3, 4]],
    [PAIR, 3], [3, PAIR], [PAIR, Tensor([1, 2, 3])], [[PAIR], PAIR], [PAIR, [1, 2, 3]], [SCALAR, [1]], [[1], SCALAR], [np.array([1, 2]), 3],
    [np.array([1, 2]), np.array([1, 2, 3])], ((1, 2), 3), [[1.5] * 1000, 3.0],
)
EVEN = (
    ([[1, 2], (3, 4)], (2, 2)), ([PAIR, [3, 4]], (2, 2)), ([[3, 4], PAIR], (2, 2)), ([[PAIR], [[3, 4]]], (2, 1, 2)), ([SCALAR, 4], (2,)),
    ([4, SCALAR], (2,)), ([[], []], (2, 0)), ([[[]], [[]]], (2, 1, 0)), ([], (0,)), ([np.array([1, 2]), PAIR], (2, 2)), ([True, 2.5], (2,)),
)


def refused(made, *arguments):
    try:
        result = made(*arguments)
    except TypeError as error:
        assert str(error).startswith("For Tensor, the input_data is "), error
        return
    raise SystemExit(f"{arguments} became {result}")


for value in UNEVEN:
    refused(Tensor, value)
    refused(jit(lambda x, value=value: x + Tensor(value)), Tensor(1))
for value, shape in EVEN:
    assert Tensor(value).shape == shape, (value, Tensor(value).shape)


@jit
def first(x):
    return Tensor([x, 3])


@jit
def last(x):
    return Tensor([3, x])


@jit
def beside(x):
    return Tensor([[x], x])


for function in (first, last, beside):
    refused(function, PAIR)
assert first(SCALAR).shape == (2,) and last(SCALAR).asnumpy().tolist() == [3, 3]
refused(beside, SCALAR)
