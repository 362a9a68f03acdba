# SPDX-License-Identifier: Apache-2.0
"""Linear algebra by SciPy's names. What overwrite_X and check_finite say is about memory and checks of SciPy's own."""
from mindspore import _core
from mindspore._core import Tensor
from mindspore.ops import function as _f
from mindspore.ops._linear import _by_numpy

__all__ = ["block_diag", "inv", "det", "cho_factor", "cholesky", "cho_solve", "eigh", "lu_factor", "lu", "lu_solve", "solve_triangular", "lstsq"]


def _tensor(name, value, square=True):
    if not isinstance(value, Tensor):
        raise TypeError(f"For {name}, the type of a must be Tensor, but got {type(value)}.")
    if square and (value.ndim < 2 or value.shape[-1] != value.shape[-2]):
        raise ValueError(f"For {name}, the last two dimensions of a should be equal, but got shape of {value.shape}. Please make sure that the shape of "
                         f"a be like [..., N, N].")
    return value


def _triangle(x, lower):
    return _f.tril(x) if lower else _f.triu(x)


def _unit(x):
    eye = _core.convert(_f.eye(x.shape[-1], x.shape[-1], _core.int32), x.dtype)
    return _core.add(_core.mul(x, _core.sub(1, eye)), eye)


def solve_triangular(a, b, trans=0, lower=False, unit_diagonal=False, overwrite_b=False, debug=None, check_finite=True):
    if trans not in (0, 1, 2, "N", "T", "C"):
        raise ValueError(f"For solve_triangular, the value of trans should be one of (0, 1, 2, 'N', 'T', 'C'), but got {trans}.")
    a = _triangle(_tensor("solve_triangular", a), lower)
    a = _unit(a) if unit_diagonal else a
    a = _core.swapaxes(a, -1, -2) if trans not in (0, "N") else a
    column = b.ndim == a.ndim - 1
    x = _f.matrix_solve(a, _f.expand_dims(b, -1) if column else b)
    return _f.squeeze(x, -1) if column else x


def block_diag(*arrs):
    parts = [_core.tensor_of(a) for a in arrs] or [_core.tensor_of([[]], _core.float32)]
    parts = [_core.reshape(p, (1,) * (2 - p.ndim) + tuple(p.shape)) for p in parts]
    columns, left, rows = sum(p.shape[1] for p in parts), 0, []
    for p in parts:
        if p.ndim > 2:
            raise ValueError(f"Arguments to block_diag must have at most 2 dimensions, but got {p.ndim}.")
        if p.size:
            rows.append(_f.pad(p, (left, columns - left - p.shape[1], 0, 0)))
        left += p.shape[1]
    return _f.concat(rows, 0) if rows else parts[0]


def inv(a, overwrite_a=False, check_finite=True):
    return _f.inverse(_tensor("inv", a))


def det(a, overwrite_a=False, check_finite=True):
    return _f.det(_tensor("det", a))


def cholesky(a, lower=False, overwrite_a=False, check_finite=True):
    return _f.cholesky(_tensor("cholesky", a), not lower)


def cho_factor(a, lower=False, overwrite_a=False, check_finite=True):
    return cholesky(a, lower), lower


def cho_solve(c_and_lower, b, overwrite_b=False, check_finite=True):
    c, lower = c_and_lower
    column = b.ndim == c.ndim - 1
    x = _f.cholesky_solve(_f.expand_dims(b, -1) if column else b, _triangle(c, lower), not lower)
    return _f.squeeze(x, -1) if column else x


@_by_numpy
def _eigh(np, a, lower):
    return tuple(np.linalg.eigh(a, "L" if lower else "U"))


def eigh(a, b=None, lower=True, eigvals_only=False, overwrite_a=False, overwrite_b=False, turbo=True, eigvals=None, type=1, check_finite=True):
    from mindspore._text import only
    only("eigh", b=(b, None), eigvals=(eigvals, None), type=(type, 1))
    values, vectors = _eigh(_tensor("eigh", a), lower)
    return values if eigvals_only else (values, vectors)


def _factored(np, a):
    """@a with L and U in one, and the row that each was exchanged with; partial pivoting."""
    a, n = a.copy(), a.shape[0]
    pivots = np.arange(min(a.shape), dtype=np.int32)
    for k in range(min(a.shape)):
        at = k + int(np.abs(a[k:, k]).argmax())
        pivots[k] = at
        a[[k, at]] = a[[at, k]]
        if a[k, k] != 0:
            a[k + 1:, k] /= a[k, k]
            a[k + 1:, k + 1:] -= np.outer(a[k + 1:, k], a[k, k + 1:])
    order = np.arange(n)
    for k, at in enumerate(pivots):
        order[[k, at]] = order[[at, k]]
    return a, pivots, order


@_by_numpy
def lu_factor(np, a, overwrite_a=False, check_finite=True):
    return _factored(np, a)[:2]


@_by_numpy
def _lu(np, a):
    whole, _, order = _factored(np, a)
    k = min(a.shape)
    p = np.zeros((a.shape[0],) * 2, a.dtype)
    p[order, np.arange(a.shape[0])] = 1
    return p, np.tril(whole[:, :k], -1) + np.eye(a.shape[0], k, dtype=a.dtype), np.triu(whole[:k])


def lu(a, permute_l=False, overwrite_a=False, check_finite=True):
    p, l, u = _lu(_tensor("lu", a, False))
    return (_core.matmul(p, l), u) if permute_l else (p, l, u)


def lu_solve(lu_and_piv, b, trans=0, overwrite_b=False, check_finite=True):
    whole, pivots = lu_and_piv
    order = list(range(whole.shape[0]))
    for k, at in enumerate(pivots.tolist()):
        order[k], order[at] = order[at], order[k]
    if trans in (0, "N"):
        b = _f.gather(b, _core.tensor_of(order), 0)
        return solve_triangular(whole, solve_triangular(whole, b, 0, True, True))
    x = solve_triangular(whole, solve_triangular(whole, b, 1), 1, True, True)
    return _f.gather(x, _core.tensor_of([order.index(i) for i in range(len(order))]), 0)


@_by_numpy
def _lstsq(np, a, b, rcond):
    x, residuals, rank, s = np.linalg.lstsq(a, b, rcond=rcond)
    return x, residuals, np.asarray(rank, np.int32), s


def lstsq(A, B, rcond=None, driver=None):
    from mindspore._text import only
    only("lstsq", driver=(driver, None))
    return _lstsq(_tensor("lstsq", A, False), B, rcond)
