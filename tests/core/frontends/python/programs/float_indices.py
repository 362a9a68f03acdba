# SPDX-License-Identifier: Apache-2.0
"""A tensor of floats is no index: it is refused, not cut off, in eager mode and in graphs, where it is read and where it is assigned."""
import mindspore as ms
import numpy as np
from mindspore import Parameter, Tensor, jit


def read(x, index):
    return x[index]


def in_tuple(x, index):
    return x[0, index]


def assigned(x, index):
    x[index] = 9
    return x


def assigned_in_tuple(x, index):
    x[0, index] = 9
    return x


FLOATS = (Tensor([0.7, 1.0]), Tensor(0.5), Tensor([0.5], ms.float16), Tensor([1.0], ms.bfloat16), Tensor([1.0], ms.float64),
          Parameter(Tensor([1.0]), name="at"))


def refused(function, index):
    try:
        result = function(Tensor([[1, 2], [3, 4]]), index)
    except IndexError as error:
        assert "must be int or bool type" in str(error), error
        return
    raise SystemExit(f"{function} of {index} gave {result}")


for function in (read, in_tuple, assigned, assigned_in_tuple):
    for index in FLOATS:
        refused(function, index)
        refused(jit(function), index)
        refused(jit(lambda x, _: function(x, index)), index)
    refused(function, [0.5])
    refused(function, np.array([0.5]))
for index in ([], Tensor([1]), Tensor([1], ms.uint8), np.array([1]), [True, False]):
    assert read(Tensor([[1, 2], [3, 4]]), index).shape[1:] == (2,), index
