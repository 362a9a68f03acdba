# SPDX-License-Identifier: Apache-2.0
"""jax.numpy.linalg: norms and products."""
from jax import _core
from jax._names import missing as _missing, refuse as _refuse


def norm(x, ord=None, axis=None, keepdims=False):
    import jax.numpy as jnp
    x, = _core.promoted(x, to_float=True)
    if ord in (None, 2, "fro") and (ord is None or ord == "fro" or axis is not None and isinstance(axis, int) or x.ndim == 1):
        return jnp.sqrt(jnp.sum(x * x, axis, keepdims=keepdims))
    if ord == 1 and (x.ndim == 1 or isinstance(axis, int)):
        return jnp.sum(jnp.abs(x), axis, keepdims=keepdims)
    if ord in (jnp.inf, -jnp.inf) and (x.ndim == 1 or isinstance(axis, int)):
        return (jnp.max if ord > 0 else jnp.min)(jnp.abs(x), axis, keepdims=keepdims)
    raise NotImplementedError(f"norm of order {ord!r} of an array of {x.ndim} dimensions")


def matrix_power(a, n):
    import jax.numpy as jnp
    if n < 0:
        _refuse("jnp.linalg.matrix_power", "n", n)
    result = jnp.broadcast_to(jnp.eye(a.shape[-1], dtype=a.dtype), a.shape)
    for _ in range(n):
        result = result @ a
    return result


def multi_dot(arrays):
    result = arrays[0]
    for a in arrays[1:]:
        result = result @ a
    return result


def __getattr__(name):
    raise _missing("jax.numpy.linalg", name, globals())
