# SPDX-License-Identifier: Apache-2.0
"""jax.flatten_util: a tree as one vector."""
from jax import _core, _types
from jax.tree_util import tree_flatten, tree_unflatten


def ravel_pytree(pytree):
    """(vector, function that makes the tree of such a vector)"""
    leaves, structure = tree_flatten(pytree)
    arrays = [_core.asarray(leaf) for leaf in leaves]
    if not arrays:
        return _core.full((0,), 0.0), lambda vector: tree_unflatten(structure, [])
    kinds, shapes = [a.dtype for a in arrays], [a.shape for a in arrays]
    common = _types.promote([(k, False) for k in kinds])[0]
    sizes = [_core.product(s) for s in shapes]
    parts = [_core.reshape(_core.convert(a, common), (n,)) for a, n in zip(arrays, sizes)]
    flat = parts[0] if len(parts) == 1 else _core.op("concatenate", parts, {"dimension": 0})

    def unravel(vector):
        vector = _core.asarray(vector)
        if vector.shape != (sum(sizes),):
            raise ValueError(f"The unravel function expected an array of shape ({sum(sizes)},), got {vector.shape}.")
        made, at = [], 0
        for kind, shape, n in zip(kinds, shapes, sizes):
            made.append(_core.convert(_core.reshape(vector[at:at + n], shape), kind))
            at += n
        return tree_unflatten(structure, made)
    return flat, unravel
