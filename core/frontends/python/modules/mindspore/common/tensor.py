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


def __getattr__(name):
    from mindspore.common import sparse_tensor
    if name in ("COOTensor", "CSRTensor", "RowTensor", "RowTensorInner", "SparseTensor"):
        return getattr(sparse_tensor, name)
    raise AttributeError(f"module 'mindspore.common.tensor' has no attribute '{name}'")
