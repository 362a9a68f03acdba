# SPDX-License-Identifier: Apache-2.0
"""What a transformation is, and several of them."""
from typing import Any, Callable, NamedTuple
import jax
import jax.numpy as jnp

OptState = Params = Updates = Any


class GradientTransformation(NamedTuple):
    init: Callable
    update: Callable


class EmptyState(NamedTuple):
    pass


def stateless(function):
    return GradientTransformation(lambda params: EmptyState(), lambda updates, state, params=None: (function(updates, params), state))


def identity():
    return stateless(lambda updates, params: updates)


def set_to_zero():
    return stateless(lambda updates, params: tree_zeros(updates))


def tree_zeros(tree, dtype=None):
    return jax.tree_util.tree_map(lambda x: jnp.zeros_like(x, dtype=dtype), tree)


def tree_cast(tree, dtype):
    return tree if dtype is None else jax.tree_util.tree_map(lambda x: x.astype(dtype), tree)


def chain(*transformations):
    def init(params):
        return tuple(t.init(params) for t in transformations)

    def update(updates, state, params=None, **extra):
        if len(state) != len(transformations):
            raise ValueError("The number of updates and states has to be the same in chain! Make sure you have called init first!")
        after = []
        for t, s in zip(transformations, state):
            updates, s = t.update(updates, s, params)
            after.append(s)
        return updates, tuple(after)
    return GradientTransformation(init, update)


def apply_updates(params, updates):
    return jax.tree_util.tree_map(lambda p, u: None if p is None else jnp.asarray(p + u).astype(jnp.asarray(p).dtype), params, updates)


def incremental_update(new, old, step_size):
    return jax.tree_util.tree_map(lambda n, o: step_size * n + (1.0 - step_size) * o, new, old)


def global_norm(tree):
    return jnp.sqrt(sum(jnp.sum(jnp.square(x)) for x in jax.tree_util.tree_leaves(tree)))


class MaskedState(NamedTuple):
    inner_state: Any


def masked(inner, mask):
    """The transformation for the leaves whose mask is true; the others pass."""
    def flags(tree):
        return jax.tree_util.tree_leaves(mask(tree) if callable(mask) else mask)

    def kept(tree):
        return [x for x, m in zip(jax.tree_util.tree_leaves(tree), flags(tree)) if m]

    def init(params):
        return MaskedState(inner.init(kept(params)))

    def update(updates, state, params=None):
        leaves, structure = jax.tree_util.tree_flatten(updates)
        marks = flags(updates if params is None else params)
        new, inner_state = inner.update([x for x, m in zip(leaves, marks) if m], state.inner_state, None if params is None else kept(params))
        new = iter(new)
        return jax.tree_util.tree_unflatten(structure, [next(new) if m else x for x, m in zip(leaves, marks)]), MaskedState(inner_state)
    return GradientTransformation(init, update)


class MultiTransformState(NamedTuple):
    inner_states: Any


def multi_transform(transforms, param_labels):
    def labels(tree):
        return param_labels(tree) if callable(param_labels) else param_labels

    def part(name):
        return masked(transforms[name], lambda tree: jax.tree_util.tree_map(lambda label: label == name, labels(tree)))

    def init(params):
        return MultiTransformState({name: part(name).init(params) for name in transforms})

    def update(updates, state, params=None):
        after = {}
        for name in transforms:
            updates, after[name] = part(name).update(updates, state.inner_states[name], params)
        return updates, MultiTransformState(after)
    return GradientTransformation(init, update)
