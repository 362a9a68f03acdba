# SPDX-License-Identifier: Apache-2.0
"""optax.tree_utils: arithmetic of trees."""
import jax
import jax.numpy as jnp
from optax._base import global_norm as tree_l2_norm, global_norm as tree_norm, tree_zeros as tree_zeros_like


def tree_add(a, b):
    return jax.tree_util.tree_map(lambda x, y: x + y, a, b)


def tree_sub(a, b):
    return jax.tree_util.tree_map(lambda x, y: x - y, a, b)


def tree_scalar_mul(scalar, tree):
    return jax.tree_util.tree_map(lambda x: scalar * x, tree)


def tree_sum(tree):
    return sum(jnp.sum(x) for x in jax.tree_util.tree_leaves(tree))


def tree_vdot(a, b):
    return sum(jnp.vdot(x, y) for x, y in zip(jax.tree_util.tree_leaves(a), jax.tree_util.tree_leaves(b)))


def tree_add_scale(a, scalar, b):
    return jax.tree_util.tree_map(lambda x, y: x + scalar * y, a, b)


tree_add_scalar_mul, tree_scale = tree_add_scale, tree_scalar_mul


def tree_mul(a, b):
    return jax.tree_util.tree_map(lambda x, y: x * y, a, b)


def tree_div(a, b):
    return jax.tree_util.tree_map(lambda x, y: x / y, a, b)


def tree_ones_like(tree):
    return jax.tree_util.tree_map(jnp.ones_like, tree)


def tree_where(condition, a, b):
    return jax.tree_util.tree_map(lambda x, y: jnp.where(condition, x, y), a, b)


def tree_cast(tree, dtype):
    return tree if dtype is None else jax.tree_util.tree_map(lambda x: x.astype(dtype), tree)
