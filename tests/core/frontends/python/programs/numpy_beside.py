# SPDX-License-Identifier: Apache-2.0
# NumPy's numbers and arrays beside tensors, and its functions of them.
import numpy as np
import mindspore as ms
from mindspore import Tensor, jit, mutable

x = Tensor([1., -2.], ms.float32)

# Numbers of double precision take the element type of the tensor.
for result in (np.float64(2) * x, x * np.float64(2), np.sqrt(4.0) * x):
    assert result.dtype == ms.float32 and result.asnumpy().tolist() == [2.0, -4.0], result
assert (x == np.float64(1)).asnumpy().tolist() == [True, False]

# Functions of NumPy take a tensor for the array that it is.
assert np.abs(x).tolist() == [1.0, 2.0] and np.maximum(x, 0).tolist() == [1.0, 0.0] and not np.isnan(x).any()
assert np.allclose(x, [1, -2]) and np.array_equal(x, x)


@jit
def in_graph(x):
    return np.sqrt(4.0) * x, x / np.float64(2)


assert [v.asnumpy().tolist() for v in in_graph(x)] == [[2.0, -4.0], [0.5, -1.0]]


# An array and a number that is a variable meet when the graph runs.
@jit
def with_variable(n):
    return np.array([1, 2]) * n


assert with_variable(mutable(3)).tolist() == [3, 6]


# A graph gives Python's numbers for NumPy's.
@jit
def numbers():
    a = np.arange(6)
    return a.max(), a.mean(), [a[1]]


assert [type(v) for v in numbers()[:2]] == [int, float] and type(numbers()[2][0]) is int
