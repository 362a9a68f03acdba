# SPDX-License-Identifier: Apache-2.0
"""Values between the places of an array."""
import itertools
import jax.numpy as jnp
from jax._names import missing as _missing, refuse as _refuse


def _inside(index, n, mode):
    if mode == "nearest":
        return jnp.clip(index, 0, n - 1)
    return jnp.mod(index, n) if mode == "wrap" else index


def map_coordinates(input, coordinates, order, mode="constant", cval=0.0):
    """Nearest (0) or linear (1), along all axes."""
    _refuse("jax.scipy.ndimage.map_coordinates", "mode", mode, "constant", "nearest", "wrap")
    _refuse("jax.scipy.ndimage.map_coordinates", "order", order, 0, 1)
    a = jnp.asarray(input)
    places = [jnp.asarray(c, "float32") for c in coordinates]
    if len(places) != a.ndim:
        raise ValueError(f"coordinates must be a sequence of length input.ndim, but {len(places)} != {a.ndim}")
    sides = []
    for at in places:
        low = jnp.floor(at)
        sides.append([(jnp.where(at < 0, jnp.ceil(at - 0.5), jnp.floor(at + 0.5)), jnp.ones_like(at))] if order == 0 else [(low, 1 - (at - low)), (low + 1, at - low)])
    total = 0
    for corner in itertools.product(*sides):
        whole = [c.astype("int32") for c, _ in corner]
        value = a[tuple(_inside(i, n, mode) for i, n in zip(whole, a.shape))]
        if mode == "constant":
            there = jnp.all(jnp.stack([(i >= 0) & (i < n) for i, n in zip(whole, a.shape)]), 0)
            value = jnp.where(there, value, cval)
        weight = 1
        for _, w in corner:
            weight = weight * w
        total = total + value * weight
    return total.astype(a.dtype) if jnp.issubdtype(a.dtype, jnp.floating) else jnp.round(total).astype(a.dtype)


def __getattr__(name):
    raise _missing("jax.scipy.ndimage", name, globals())
