# SPDX-License-Identifier: Apache-2.0
"""Optimizers that keep sums along the dimensions of a parameter in the place of its second moment, those that look back at the gradient
before, and those that wait."""
from typing import Any, NamedTuple
import jax
import jax.numpy as jnp
from optax._base import GradientTransformation, chain, stateless, tree_zeros
from optax._rarer import _map, _needed, _zero, clip_by_block_rms
from optax._transforms import add_decayed_weights, add_noise, ema, scale, scale_by_learning_rate


class FactoredState(NamedTuple):
    count: Any
    v_row: Any
    v_col: Any
    v: Any


def _two_largest(shape, least):
    """The dimensions that are summed along, the larger last; None where the second is too small for that to save anything."""
    order = sorted(range(len(shape)), key=lambda d: shape[d])
    return None if len(shape) < 2 or shape[order[-2]] < least else order[-2:]


def _each(function, n, updates, *trees):
    """@n trees of what @function gives for each leaf."""
    leaves, structure = jax.tree_util.tree_flatten(updates)
    made = [function(*parts) for parts in zip(leaves, *(structure.flatten_up_to(t) for t in trees))]
    return [jax.tree_util.tree_unflatten(structure, [m[i] for m in made]) for i in range(n)]


def scale_by_factored_rms(factored=True, decay_rate=0.8, step_offset=0, min_dim_size_to_factor=128, epsilon=1e-30, decay_rate_fn=None):
    """Shazeer and Stern, Adafactor: Adaptive Learning Rates with Sublinear Memory Cost (2018), algorithms 4 and 5."""
    least = min_dim_size_to_factor if factored else float("inf")

    def sizes(p):
        dims = _two_largest(p.shape, least)
        if dims is None:
            return jnp.zeros((1,), p.dtype), jnp.zeros((1,), p.dtype), jnp.zeros(p.shape, p.dtype)
        small, large = dims
        return (jnp.zeros(p.shape[:large] + p.shape[large + 1:], p.dtype), jnp.zeros(p.shape[:small] + p.shape[small + 1:], p.dtype),
                jnp.zeros((1,), p.dtype))

    def decay_at(step):
        if decay_rate_fn is not None:
            return decay_rate_fn(step, decay_rate)
        return 1.0 - (jnp.asarray(step, jnp.float32) + 1.0) ** -decay_rate

    def init(params):
        return FactoredState(_zero(), *_each(sizes, 3, params))

    def update(updates, state, params=None):
        decay = decay_at(state.count - step_offset)

        def scaled(g, row, column, v):
            squares, dims = g * g + epsilon, _two_largest(g.shape, least)
            if dims is None:
                v = decay * v + (1.0 - decay) * squares
                return g * v ** -0.5, row, column, v
            small, large = dims
            row = decay * row + (1.0 - decay) * jnp.mean(squares, large)
            column = decay * column + (1.0 - decay) * jnp.mean(squares, small)
            # What is left of the smaller dimension in the sums along the larger one.
            share = row / jnp.mean(row, small - 1 if small > large else small, keepdims=True)
            return g * jnp.expand_dims(share ** -0.5, large) * jnp.expand_dims(column ** -0.5, small), row, column, v
        out, *after = _each(scaled, 4, updates, state.v_row, state.v_col, state.v)
        return out, FactoredState(state.count + 1, *after)
    return GradientTransformation(init, update)


def scale_by_param_block_rms(min_scale=1e-3):
    return stateless(lambda updates, params: _map(lambda u, p: u * jnp.maximum(jnp.sqrt(jnp.mean(p * p)), min_scale), updates, _needed(params)))


def adafactor(learning_rate=None, min_dim_size_to_factor=128, decay_rate=0.8, decay_offset=0, multiply_by_parameter_scale=True,
              clipping_threshold=1.0, momentum=None, dtype_momentum=jnp.float32, weight_decay_rate=None, eps=1e-30, factored=True,
              weight_decay_mask=None):
    steps = [scale_by_factored_rms(factored, decay_rate, decay_offset, min_dim_size_to_factor, eps)]
    if clipping_threshold is not None:
        steps.append(clip_by_block_rms(clipping_threshold))
    if learning_rate is not None:
        steps.append(scale_by_learning_rate(learning_rate, flip_sign=False))
    if multiply_by_parameter_scale:
        steps.append(scale_by_param_block_rms())
    if momentum is not None:
        steps.append(ema(momentum, False, dtype_momentum))
    if weight_decay_rate is not None:
        steps.append(add_decayed_weights(weight_decay_rate, weight_decay_mask))
    return chain(*steps, scale(-1.0))


class ScaleBySM3State(NamedTuple):
    mu: Any
    nu: Any


def scale_by_sm3(b1=0.9, b2=1.0, eps=1e-8):
    """Anil et al., Memory-Efficient Adaptive Optimization (2019): one sum for each index of each dimension."""
    def init(params):
        return ScaleBySM3State(_map(lambda p: [jnp.zeros((n,), p.dtype) for n in p.shape], params), tree_zeros(params))

    def update(updates, state, params=None):
        def scaled(g, sums, m):
            bound = None
            for d, s in enumerate(sums):
                s = jnp.reshape(s, [n if i == d else 1 for i, n in enumerate(g.shape)])
                bound = s if bound is None else jnp.minimum(bound, s)
            total = (1.0 if b2 == 1.0 else 1.0 - b2) * g * g + (0.0 if bound is None else b2 * bound)
            step = b1 * m + (1.0 - b1) * g * jnp.where(total > 0, 1 / jnp.sqrt(total + eps), 0.0)
            return step, [jnp.max(total, tuple(i for i in range(g.ndim) if i != d)) for d in range(g.ndim)]
        out, sums = _each(scaled, 2, updates, state.mu, state.nu)
        return out, ScaleBySM3State(sums, out)
    return GradientTransformation(init, update)


def sm3(learning_rate, momentum=0.9):
    return chain(scale_by_sm3(momentum), scale_by_learning_rate(learning_rate))


class ScaleByOptimisticGradientState(NamedTuple):
    is_initial_step: Any
    previous_gradient: Any


def scale_by_optimistic_gradient(alpha=1.0, beta=1.0):
    """What the gradient is, and beta times how it changed since the step before."""
    def init(params):
        return ScaleByOptimisticGradientState(jnp.array(True), tree_zeros(params))

    def update(updates, state, params=None):
        before = _map(lambda g, p: jnp.where(state.is_initial_step, g, p), updates, state.previous_gradient)
        return (_map(lambda g, p: (alpha + beta) * g - beta * p, updates, before),
                ScaleByOptimisticGradientState(jnp.array(False), updates))
    return GradientTransformation(init, update)


def optimistic_gradient_descent(learning_rate, alpha=1.0, beta=1.0):
    return chain(scale_by_optimistic_gradient(alpha, beta), scale_by_learning_rate(learning_rate))


def noisy_sgd(learning_rate, eta=0.01, gamma=0.55, key=None, *, seed=None):
    """Neelakantan et al., Adding Gradient Noise Improves Learning for Very Deep Networks (2015)."""
    return chain(add_noise(eta, gamma, key, seed=seed), scale_by_learning_rate(learning_rate))


class ApplyEvery(NamedTuple):
    count: Any
    grad_acc: Any


def apply_every(k=1):
    """The sum of k updates with every k-th, and nothing with the others."""
    def update(updates, state, params=None):
        first, due = state.count % k == 0, state.count % k == k - 1
        sums = _map(lambda g, a: g + jnp.where(first, 0.0, a), updates, state.grad_acc)
        return _map(lambda a: jnp.where(due, a, 0.0), sums), ApplyEvery((state.count + 1) % k, sums)
    return GradientTransformation(lambda params: ApplyEvery(_zero(), tree_zeros(params)), update)
