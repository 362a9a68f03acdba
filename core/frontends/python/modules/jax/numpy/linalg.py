# SPDX-License-Identifier: Apache-2.0
"""jax.numpy.linalg: norms and products; what LU and Cholesky decompositions give. Those are loops over columns, so that derivatives are the
loops' own."""
from jax import _core
from jax._names import missing as _missing
from jax.numpy._decompositions import (_each, _square, cond, eigh, eigvalsh, expm as _expm, lstsq, matrix_norm_by_values, matrix_rank,  # noqa: F401
                                       pinv, qr, svd, svdvals)
from jax.numpy._linear import cross, matmul, outer, tensordot, vecdot  # noqa: F401


def vector_norm(x, *, axis=None, keepdims=False, ord=2):
    import jax.numpy as jnp
    x, = _core.promoted(x, to_float=True)
    size = jnp.abs(x)
    if ord in (None, 2):
        return jnp.sqrt(jnp.sum(x * x, axis, keepdims=keepdims))
    if ord in (jnp.inf, -jnp.inf):
        return (jnp.max if ord > 0 else jnp.min)(size, axis, keepdims=keepdims)
    if ord == 0:
        return jnp.sum(x != 0, axis, dtype=x.dtype, keepdims=keepdims)
    if ord == 1:
        return jnp.sum(size, axis, keepdims=keepdims)
    return jnp.power(jnp.sum(size ** ord, axis, keepdims=keepdims), 1.0 / ord)


def matrix_norm(x, *, keepdims=False, ord="fro"):
    return norm(x, ord, (-2, -1), keepdims)


def norm(x, ord=None, axis=None, keepdims=False):
    import jax.numpy as jnp
    x, = _core.promoted(x, to_float=True)
    if axis is None and ord is None:
        return vector_norm(x, keepdims=keepdims)
    axes = tuple(range(x.ndim)) if axis is None else (axis,) if isinstance(axis, int) else tuple(axis)
    if len(axes) == 1:
        if isinstance(ord, str):
            raise ValueError(f"Invalid order '{ord}' for vector norm.")
        return vector_norm(x, axis=axes[0], keepdims=keepdims, ord=2 if ord is None else ord)
    if len(axes) != 2:
        raise ValueError(f"Improper number of axes for norm: axis={axis}")
    row, column = (d % x.ndim for d in axes)
    if ord in (None, "fro", "f"):
        return jnp.sqrt(jnp.sum(x * x, axes, keepdims=keepdims))
    if ord in (1, -1, jnp.inf, -jnp.inf):
        inner, outer_axis = (row, column) if ord in (1, -1) else (column, row)
        made = (jnp.max if ord > 0 else jnp.min)(jnp.sum(jnp.abs(x), inner, keepdims=True), outer_axis, keepdims=True)
    elif ord in (2, -2, "nuc"):
        made = matrix_norm_by_values(jnp.moveaxis(x, (row, column), (-2, -1)), ord)
        made = jnp.expand_dims(made, sorted((row, column)))
    else:
        raise ValueError(f"Invalid order '{ord}' for matrix norm.")
    return made if keepdims else jnp.squeeze(made, (row, column))


def diagonal(x, /, *, offset=0):
    import jax.numpy as jnp
    return jnp.diagonal(x, offset, -2, -1)


def trace(x, /, *, offset=0, dtype=None):
    import jax.numpy as jnp
    made = jnp.trace(x, offset, -2, -1)
    return made if dtype is None else made.astype(dtype)


def matrix_transpose(x, /):
    import jax.numpy as jnp
    return jnp.swapaxes(x, -1, -2)


def matrix_power(a, n):
    import jax.numpy as jnp
    a = _square(a, "matrix_power")
    a, n = (inv(a), -n) if n < 0 else (a, n)
    result = jnp.broadcast_to(jnp.eye(a.shape[-1], dtype=a.dtype), a.shape)
    for _ in range(n):
        result = result @ a
    return result


def multi_dot(arrays):
    result = arrays[0]
    for a in arrays[1:]:
        result = result @ a
    return result


# Triangles

def _column(a, k):
    from jax import lax
    return lax.dynamic_index_in_dim(a, k, 1, keepdims=False)


def _lu(a):
    """By partial pivoting: (L below the diagonal and U in one matrix, the order of the rows, the sign of that order)."""
    import jax.numpy as jnp
    from jax import lax
    n = a.shape[0]
    row = jnp.arange(n)

    def step(k, state):
        a, order, sign = state
        largest = jnp.argmax(jnp.where(row >= k, jnp.abs(lax.stop_gradient(_column(a, k))), -1.0)).astype(jnp.int32)
        swapped = jnp.where(row == k, largest, jnp.where(row == largest, k, row))
        a, order = a[swapped], order[swapped]
        top = lax.dynamic_index_in_dim(a, k, 0, keepdims=False)
        factors = jnp.where(row > k, _column(a, k) / lax.dynamic_index_in_dim(top, k, 0, keepdims=False), 0.0)
        a = a - factors[:, None] * jnp.where(row > k, top, 0.0)[None, :]
        a = jnp.where((row == k)[None, :] & (row > k)[:, None], factors[:, None], a)
        return a, order, jnp.where(largest == k, sign, -sign)
    return lax.fori_loop(0, n, step, (a, row, jnp.ones((), a.dtype)))


def _substitute(a, b, lower, unit):
    """x of a x = b, of which only the triangle counts. b: columns"""
    import jax.numpy as jnp
    from jax import lax
    n = a.shape[0]
    row = jnp.arange(n)

    def step(i, x):
        k = i if lower else n - 1 - i
        value = lax.dynamic_index_in_dim(x, k, 0, keepdims=False)
        column = _column(a, k)
        if not unit:
            value = value / lax.dynamic_index_in_dim(column, k, 0, keepdims=False)
        rest = jnp.where(row > k if lower else row < k, column, 0.0)
        return jnp.where((row == k)[:, None], value[None, :], x) - rest[:, None] * value[None, :]
    return lax.fori_loop(0, n, step, b)


def slogdet(a):
    import jax.numpy as jnp

    def of(a):
        lu, _, sign = _lu(a)
        diagonal = jnp.diagonal(lu)
        return sign * jnp.prod(jnp.sign(diagonal)), jnp.sum(jnp.log(jnp.abs(diagonal)))
    return _each(of, _square(a, "slogdet"))


def det(a):
    import jax.numpy as jnp

    def of(a):
        lu, _, sign = _lu(a)
        return sign * jnp.prod(jnp.diagonal(lu))
    return _each(of, _square(a, "det"))


def solve(a, b):
    import jax.numpy as jnp
    a, b = _core.promoted(_square(a, "solve"), b, to_float=True)
    vector = b.ndim == 1
    b = b[:, None] if vector else b
    if b.ndim < 2 or b.shape[-2] != a.shape[-1]:
        raise ValueError(f"solve: a of shape {a.shape} and b of shape {b.shape} do not fit")
    batch = jnp.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    a, b = jnp.broadcast_to(a, batch + a.shape[-2:]), jnp.broadcast_to(b, batch + b.shape[-2:])

    def of(a, b):
        lu, order, _ = _lu(a)
        return _substitute(lu, _substitute(lu, b[order], True, True), False, False)
    x = _each(of, a, b)
    return x[..., 0] if vector else x


def inv(a):
    import jax.numpy as jnp
    a = _square(a, "inv")
    return solve(a, jnp.broadcast_to(jnp.eye(a.shape[-1], dtype=a.dtype), a.shape))


def cholesky(a, *, upper=False, symmetrize_input=True):
    import jax.numpy as jnp
    from jax import lax
    a = _square(a, "cholesky")
    if symmetrize_input:
        a = (a + jnp.swapaxes(a, -1, -2)) / 2

    def of(a):
        n = a.shape[0]
        row = jnp.arange(n)

        def step(k, state):
            a, done = state
            column = _column(a, k)
            column = jnp.where(row >= k, column / jnp.sqrt(lax.dynamic_index_in_dim(column, k, 0, keepdims=False)), 0.0)
            return a - column[:, None] * column[None, :], jnp.where((row == k)[None, :], column[:, None], done)
        return lax.fori_loop(0, n, step, (a, jnp.zeros_like(a)))[1]
    found = _each(of, a)
    return jnp.swapaxes(found, -1, -2) if upper else found


def _complex(name):
    def refused(a):
        raise NotImplementedError(f"jnp.linalg.{name}: eigenvalues of a matrix that is not symmetric are complex numbers, which are not there in "
                                  "Gantry; eigh has those of symmetric ones")
    refused.__name__ = name
    return refused


eig, eigvals = _complex("eig"), _complex("eigvals")


def __getattr__(name):
    raise _missing("jax.numpy.linalg", name, globals())
