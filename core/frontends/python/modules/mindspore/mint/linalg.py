# SPDX-License-Identifier: Apache-2.0
"""mindspore.mint.linalg: norms and decompositions."""
from mindspore.ops import function as _f
from mindspore.ops.function import inverse as inv, det, qr


def norm(A, ord=None, dim=None, keepdim=False, *, dtype=None):
    return _f.norm(A, ord, dim, keepdim, dtype=dtype)


def vector_norm(x, ord=2, dim=None, keepdim=False, *, dtype=None):
    return _f.vector_norm(x, ord, dim, keepdim, dtype=dtype)


def matrix_norm(A, ord="fro", dim=(-2, -1), keepdim=False, *, dtype=None):
    return _f.matrix_norm(A, ord, dim, keepdim, dtype=dtype)
