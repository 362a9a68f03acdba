# SPDX-License-Identifier: Apache-2.0
"""jax.scipy.linalg: triangular systems, Cholesky and LU factors, exponentials, matrices of a form."""
from jax import _core
from jax._names import missing as _missing, refuse as _refuse
from jax.numpy import linalg as _linalg
from jax.numpy.linalg import _expm as expm, det, inv  # noqa: F401


def solve_triangular(a, b, trans=0, lower=False, unit_diagonal=False, overwrite_b=False, debug=None, check_finite=True):
    import jax.numpy as jnp
    if trans not in (0, 1, "N", "T"):
        _refuse("solve_triangular", "trans", trans, 0)
    a, b = _core.promoted(_linalg._square(a, "solve_triangular"), b, to_float=True)
    if trans in (1, "T"):
        a, lower = jnp.swapaxes(a, -1, -2), not lower
    vector = b.ndim == 1
    x = _linalg._each(lambda a, b: _linalg._substitute(a, b, lower, unit_diagonal), a, b[:, None] if vector else b)
    return x[..., 0] if vector else x


def cholesky(a, lower=False, overwrite_a=False, check_finite=True):
    return _linalg.cholesky(a, upper=not lower)


def cho_factor(a, lower=False, overwrite_a=False, check_finite=True):
    return cholesky(a, lower), lower


def cho_solve(c_and_lower, b, overwrite_b=False, check_finite=True):
    c, lower = c_and_lower
    return solve_triangular(c, solve_triangular(c, b, 0 if lower else 1, lower), 1 if lower else 0, lower)


def solve(a, b, lower=False, overwrite_a=False, overwrite_b=False, debug=False, check_finite=True, assume_a="gen"):
    if assume_a == "pos":
        return cho_solve(cho_factor(a, lower), b)
    return _linalg.solve(a, b)


def lu_factor(a, overwrite_a=False, check_finite=True):
    """(L and U in one matrix, the row that each row was exchanged with) of a matrix."""
    import jax.numpy as jnp
    from jax import lax
    a = _linalg._square(a, "lu_factor")

    def of(a):
        lu, order, _ = _linalg._lu(a)
        place = jnp.arange(a.shape[0])

        def step(k, state):
            held, swaps = state
            at = jnp.argmax(held == order[k]).astype(jnp.int32)
            there = held[k]
            return held.at[k].set(order[k]).at[at].set(jnp.where(at == k, order[k], there)), swaps.at[k].set(at)
        return lu, lax.fori_loop(0, a.shape[0], step, (place, place))[1]
    return _linalg._each(of, a)


def lu_solve(lu_and_piv, b, trans=0, overwrite_b=False, check_finite=True):
    import jax.numpy as jnp
    from jax import lax
    lu, swaps = lu_and_piv
    if trans != 0 or lu.ndim != 2:
        _refuse("lu_solve", "trans", trans, 0) if trans != 0 else _refuse("lu_solve", "lu", lu.shape)
    b, = _core.promoted(b, to_float=True)

    def step(k, order):
        there = order[swaps[k]]
        return order.at[swaps[k]].set(order[k]).at[k].set(there)
    b = b[lax.fori_loop(0, lu.shape[0], step, jnp.arange(lu.shape[0]))]
    vector = b.ndim == 1
    x = _linalg._substitute(lu, _linalg._substitute(lu, b[:, None] if vector else b, True, True), False, False)
    return x[:, 0] if vector else x


def lu(a, permute_l=False, overwrite_a=False, check_finite=True):
    """(P, L, U), or (P L, U)"""
    import jax.numpy as jnp
    a = _linalg._square(a, "lu")

    def of(a):
        both, order, _ = _linalg._lu(a)
        p = (jnp.arange(a.shape[0])[:, None] == order[None, :]).astype(a.dtype)
        return p, jnp.tril(both, -1) + jnp.eye(a.shape[0], dtype=a.dtype), jnp.triu(both)
    p, lower, upper = _linalg._each(of, a)
    return (p @ lower, upper) if permute_l else (p, lower, upper)


def qr(a, overwrite_a=False, lwork=None, mode="full", pivoting=False, check_finite=True):
    _refuse("jax.scipy.linalg.qr", "pivoting", pivoting, False)
    made = _linalg.qr(a, {"full": "complete", "economic": "reduced"}.get(mode, mode))
    return (made,) if mode == "r" else made


def svd(a, full_matrices=True, compute_uv=True, overwrite_a=False, check_finite=True, lapack_driver="gesdd"):
    return _linalg.svd(a, full_matrices, compute_uv)


def eigh(a, b=None, lower=True, eigvals_only=False, **options):
    for name in ("b", "eigvals", "subset_by_index", "subset_by_value"):
        _refuse("jax.scipy.linalg.eigh", name, b if name == "b" else options.get(name), None)
    values, vectors = _linalg.eigh(a, "L" if lower else "U", symmetrize_input=False)
    return values if eigvals_only else (values, vectors)


def block_diag(*arrays):
    import jax.numpy as jnp
    arrays = [jnp.atleast_2d(a) for a in arrays]
    width, at, rows = sum(a.shape[1] for a in arrays), 0, []
    for a in arrays:
        rows.append(jnp.pad(a, ((0, 0), (at, width - at - a.shape[1]))))
        at += a.shape[1]
    return jnp.concatenate(rows)


def toeplitz(c, r=None):
    import jax.numpy as jnp
    c = jnp.ravel(jnp.asarray(c))
    r = c if r is None else jnp.ravel(jnp.asarray(r))
    both = jnp.concatenate([c[::-1], r[1:]])
    return both[jnp.arange(c.size - 1, -1, -1)[:, None] + jnp.arange(r.size)[None, :]]


def __getattr__(name):
    raise _missing("jax.scipy.linalg", name, globals())
