# SPDX-License-Identifier: Apache-2.0
"""Single steps of an optimizer."""
from typing import Any, NamedTuple
import jax
import jax.numpy as jnp
from optax._base import EmptyState, GradientTransformation, global_norm, stateless, tree_cast, tree_zeros

_map = jax.tree_util.tree_map


def scale(step_size):
    return stateless(lambda updates, params: _map(lambda g: step_size * g, updates))


def clip(max_delta):
    return stateless(lambda updates, params: _map(lambda g: jnp.clip(g, -max_delta, max_delta), updates))


def clip_by_global_norm(max_norm):
    def clipped(updates, params):
        norm = global_norm(updates)
        return _map(lambda g: jnp.where(norm < max_norm, g, (g / norm.astype(g.dtype)) * max_norm), updates)
    return stateless(clipped)


def add_decayed_weights(weight_decay=0.0, mask=None):
    def decayed(updates, params):
        if params is None:
            raise ValueError("You are using a transformation that requires the current value of parameters, but you are not passing "
                             "`params` when calling `update`.")
        return _map(lambda g, p: g + weight_decay * p, updates, params)
    made = stateless(decayed)
    if mask is None:
        return made
    from optax._base import masked
    return masked(made, mask)


class TraceState(NamedTuple):
    trace: Any


def trace(decay, nesterov=False, accumulator_dtype=None):
    def update(updates, state, params=None):
        new = _map(lambda g, t: g + decay * t, updates, state.trace)
        out = _map(lambda g, t: g + decay * t, updates, new) if nesterov else new
        return out, TraceState(tree_cast(new, accumulator_dtype))
    return GradientTransformation(lambda params: TraceState(tree_zeros(params, accumulator_dtype)), update)


class ScaleByAdamState(NamedTuple):
    count: Any
    mu: Any
    nu: Any


def _corrected(moment, decay, count):
    correction = 1 - decay ** count
    return _map(lambda t: t / correction.astype(t.dtype), moment)


def scale_by_adam(b1=0.9, b2=0.999, eps=1e-8, eps_root=0.0, mu_dtype=None, *, nesterov=False):
    def init(params):
        return ScaleByAdamState(jnp.zeros([], jnp.int32), tree_zeros(params, mu_dtype), tree_zeros(params))

    def update(updates, state, params=None):
        mu = _map(lambda g, t: (1 - b1) * g + b1 * t, updates, state.mu)
        nu = _map(lambda g, t: (1 - b2) * (g * g) + b2 * t, updates, state.nu)
        count = state.count + 1
        if nesterov:
            mu_hat = _map(lambda m, g: b1 * m + (1 - b1) * g, _corrected(mu, b1, count + 1), _corrected(updates, b1, count))
        else:
            mu_hat = _corrected(mu, b1, count)
        nu_hat = _corrected(nu, b2, count)
        out = _map(lambda m, v: m / (jnp.sqrt(v + eps_root) + eps), mu_hat, nu_hat)
        return out, ScaleByAdamState(count, mu if mu_dtype is None else _map(lambda m: m.astype(mu_dtype), mu), nu)
    return GradientTransformation(init, update)


class ScaleByRmsState(NamedTuple):
    nu: Any


def scale_by_rms(decay=0.9, eps=1e-8, initial_scale=0.0):
    def init(params):
        return ScaleByRmsState(_map(lambda p: jnp.full_like(p, initial_scale), params))

    def update(updates, state, params=None):
        nu = _map(lambda g, t: (1 - decay) * (g * g) + decay * t, updates, state.nu)
        return _map(lambda g, n: g / jnp.sqrt(n + eps), updates, nu), ScaleByRmsState(nu)
    return GradientTransformation(init, update)


class ScaleByScheduleState(NamedTuple):
    count: Any


def scale_by_schedule(step_size_fn):
    def update(updates, state, params=None):
        size = step_size_fn(state.count)
        return _map(lambda g: jnp.asarray(size, g.dtype) * g, updates), ScaleByScheduleState(state.count + 1)
    return GradientTransformation(lambda params: ScaleByScheduleState(jnp.zeros([], jnp.int32)), update)


def scale_by_learning_rate(learning_rate, *, flip_sign=True):
    sign = -1 if flip_sign else 1
    if callable(learning_rate):
        return scale_by_schedule(lambda count: sign * learning_rate(count))
    return scale(sign * learning_rate)


def scale_by_trust_ratio(min_norm=0.0, trust_coefficient=1.0, eps=0.0):
    """Each update by the norm of its parameter over its own (LARS: You, Gitman and Ginsburg 2017)."""
    def norm(x):
        return jnp.maximum(jnp.sqrt(jnp.sum(jnp.square(x))), min_norm)

    def scaled(g, p):
        of_p, of_g = norm(p), norm(g)
        none = jnp.logical_or(of_p == 0, of_g == 0)
        ratio = trust_coefficient * of_p / (jnp.where(none, 1.0, of_g) + eps)
        return g * jnp.where(none, jnp.ones((), p.dtype), ratio.astype(p.dtype))

    def update(updates, params):
        if params is None:
            raise ValueError("You are using a transformation that requires the current value of parameters, but you are not passing "
                             "`params` when calling `update`.")
        return _map(scaled, updates, params)
    return stateless(update)


class EmaState(NamedTuple):
    count: Any
    ema: Any


def ema(decay, debias=True, accumulator_dtype=None):
    def update(updates, state, params=None):
        new = _map(lambda g, t: (1 - decay) * g + decay * t, updates, state.ema)
        count = state.count + 1
        return (_corrected(new, decay, count) if debias else new), EmaState(count, tree_cast(new, accumulator_dtype))
    return GradientTransformation(lambda params: EmaState(jnp.zeros([], jnp.int32), tree_zeros(params, accumulator_dtype)), update)


class AddNoiseState(NamedTuple):
    count: Any
    rng_key: Any


def add_noise(eta, gamma, key=None, *, seed=None):
    """@seed: of releases before there was @key, which is a key or a number"""
    key = seed if key is None else key
    if key is None:
        raise ValueError("add_noise takes a key")

    def init(params):
        return AddNoiseState(jnp.zeros([], jnp.int32), jax.random.PRNGKey(key) if isinstance(key, int) else key)

    def update(updates, state, params=None):
        leaves, structure = jax.tree_util.tree_flatten(updates)
        count = state.count + 1
        deviation = jnp.sqrt(eta / count ** gamma)
        following, sample = jax.random.split(state.rng_key)
        keys = jax.random.split(sample, len(leaves))
        noisy = [g + deviation.astype(g.dtype) * jax.random.normal(k, g.shape, g.dtype) for g, k in zip(leaves, keys)]
        return jax.tree_util.tree_unflatten(structure, noisy), AddNoiseState(count, following)
    return GradientTransformation(init, update)
