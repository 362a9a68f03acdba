# SPDX-License-Identifier: Apache-2.0
"""jax.lax.linalg: factors and triangular systems as jax.numpy.linalg and jax.scipy.linalg have them."""
from jax import _core
from jax._names import missing as _missing, refuse as _refuse
from jax.numpy import linalg as _linalg
import jax.numpy as jnp


def cholesky(x, *, symmetrize_input=True):
    x = _core.asarray(x)
    return _linalg.cholesky((x + jnp.swapaxes(x, -1, -2)) / 2 if symmetrize_input else x)


def triangular_solve(a, b, *, left_side=False, lower=False, transpose_a=False, conjugate_a=False, unit_diagonal=False):
    from jax.scipy.linalg import solve_triangular
    _refuse("lax.linalg.triangular_solve", "conjugate_a", conjugate_a, False, True)  # of real numbers they are the same
    a, b = _core.promoted(a, b, to_float=True)
    if left_side:
        return solve_triangular(a, b, "T" if transpose_a else 0, lower, unit_diagonal)
    made = solve_triangular(a, jnp.swapaxes(b, -1, -2), 0 if transpose_a else "T", lower, unit_diagonal)
    return jnp.swapaxes(made, -1, -2)


def qr(x, *, full_matrices=True):
    return tuple(_linalg.qr(x, "complete" if full_matrices else "reduced"))


def svd(x, *, full_matrices=True, compute_uv=True):
    made = _linalg.svd(x, full_matrices, compute_uv)
    return tuple(made) if compute_uv else made


def eigh(x, *, lower=True, symmetrize_input=True):
    _refuse("lax.linalg.eigh", "lower", lower, True)
    x = _core.asarray(x)
    values, vectors = _linalg.eigh((x + jnp.swapaxes(x, -1, -2)) / 2 if symmetrize_input else x)
    return vectors, values


def __getattr__(name):
    raise _missing("jax.lax.linalg", name, globals())
