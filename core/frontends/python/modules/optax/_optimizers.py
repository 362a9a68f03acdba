# SPDX-License-Identifier: Apache-2.0
"""Optimizers: chains of steps."""
from typing import Any, NamedTuple
import jax
import jax.numpy as jnp
from optax._base import GradientTransformation, chain, identity, masked, tree_cast, tree_zeros
from optax._transforms import add_decayed_weights, scale_by_adam, scale_by_learning_rate, scale_by_rms, scale_by_trust_ratio, trace


def sgd(learning_rate, momentum=None, nesterov=False, accumulator_dtype=None):
    return chain(trace(momentum, nesterov, accumulator_dtype) if momentum is not None else identity(), scale_by_learning_rate(learning_rate))


def adam(learning_rate, b1=0.9, b2=0.999, eps=1e-8, eps_root=0.0, mu_dtype=None, *, nesterov=False):
    return chain(scale_by_adam(b1, b2, eps, eps_root, mu_dtype, nesterov=nesterov), scale_by_learning_rate(learning_rate))


def adamw(learning_rate, b1=0.9, b2=0.999, eps=1e-8, eps_root=0.0, mu_dtype=None, weight_decay=1e-4, mask=None, *, nesterov=False):
    return chain(scale_by_adam(b1, b2, eps, eps_root, mu_dtype, nesterov=nesterov), add_decayed_weights(weight_decay, mask),
                 scale_by_learning_rate(learning_rate))


def rmsprop(learning_rate, decay=0.9, eps=1e-8, initial_scale=0.0, momentum=None, nesterov=False):
    return chain(scale_by_rms(decay, eps, initial_scale), scale_by_learning_rate(learning_rate),
                 trace(momentum, nesterov) if momentum is not None else identity())


class ScaleByRssState(NamedTuple):
    sum_of_squares: Any


def adagrad(learning_rate, initial_accumulator_value=0.1, eps=1e-7):
    def init(params):
        return ScaleByRssState(jax.tree_util.tree_map(lambda p: jnp.full_like(p, initial_accumulator_value), params))

    def update(updates, state, params=None):
        sums = jax.tree_util.tree_map(lambda g, t: g * g + t, updates, state.sum_of_squares)
        out = jax.tree_util.tree_map(lambda s, g: jnp.where(s > 0, 1 / jnp.sqrt(s + eps), 0.0) * g, sums, updates)
        return out, ScaleByRssState(sums)
    return chain(GradientTransformation(init, update), scale_by_learning_rate(learning_rate))


def lamb(learning_rate, b1=0.9, b2=0.999, eps=1e-6, eps_root=0.0, weight_decay=0.0, mask=None):
    return chain(scale_by_adam(b1, b2, eps, eps_root), add_decayed_weights(weight_decay, mask), scale_by_trust_ratio(),
                 scale_by_learning_rate(learning_rate))


def lars(learning_rate, weight_decay=0.0, weight_decay_mask=True, trust_coefficient=0.001, eps=0.0, trust_ratio_mask=True, momentum=0.9,
         nesterov=False):
    def marked(step, mask):
        return step if mask is True else identity() if mask is False else masked(step, mask)
    return chain(marked(add_decayed_weights(weight_decay), weight_decay_mask),
                 marked(scale_by_trust_ratio(trust_coefficient=trust_coefficient, eps=eps), trust_ratio_mask),
                 scale_by_learning_rate(learning_rate), trace(momentum, nesterov))


class ScaleByLionState(NamedTuple):
    count: Any
    mu: Any


def scale_by_lion(b1=0.9, b2=0.99, mu_dtype=None):
    def update(updates, state, params=None):
        out = jax.tree_util.tree_map(lambda g, m: jnp.sign((1.0 - b1) * g + b1 * m), updates, state.mu)
        mu = jax.tree_util.tree_map(lambda g, m: (1 - b2) * g + b2 * m, updates, state.mu)
        return out, ScaleByLionState(state.count + 1, tree_cast(mu, mu_dtype))
    return GradientTransformation(lambda params: ScaleByLionState(jnp.zeros([], jnp.int32), tree_zeros(params, mu_dtype)), update)


def lion(learning_rate, b1=0.9, b2=0.99, mu_dtype=None, weight_decay=1e-3, mask=None):
    return chain(scale_by_lion(b1, b2, mu_dtype), add_decayed_weights(weight_decay, mask), scale_by_learning_rate(learning_rate))
