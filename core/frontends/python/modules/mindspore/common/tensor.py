# SPDX-License-Identifier: Apache-2.0
"""Tensors."""
import _gantry
from mindspore import _core
from mindspore._core import Tensor


def tensor(input_data=None, dtype=None, shape=None, init=None, internal=False, const_arg=False):
    return Tensor(input_data, dtype, shape, init)


def from_numpy(array):
    return Tensor.from_numpy(array)


def is_tensor(obj):
    return isinstance(obj, Tensor)


class _Unsupported:
    """Sparse tensors are not part of Gantry."""

    def __init__(self, *args, **kwargs):
        raise NotImplementedError(f"{type(self).__name__} is not supported")


class COOTensor(_Unsupported):
    pass


class CSRTensor(_Unsupported):
    pass


class RowTensor(_Unsupported):
    pass


class SparseTensor(_Unsupported):
    pass
