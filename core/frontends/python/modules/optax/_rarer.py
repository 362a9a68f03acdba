# SPDX-License-Identifier: Apache-2.0
"""Rarer steps and optimizers, by the formulas of their papers, and what wraps others."""
import inspect
from typing import Any, NamedTuple
import jax
import jax.numpy as jnp
from optax._base import GradientTransformation, chain, global_norm, multi_transform, stateless, tree_zeros
from optax._transforms import (ScaleByAdamState, _corrected, add_decayed_weights, scale, scale_by_adam, scale_by_learning_rate,
                               scale_by_trust_ratio)

_map = jax.tree_util.tree_map


def _zero():
    return jnp.zeros([], jnp.int32)


def _needed(params):
    if params is None:
        raise ValueError("You are using a transformation that requires the current value of parameters, but you are not passing "
                         "`params` when calling `update`.")
    return params


def update_moment(updates, moments, decay, order):
    return _map(lambda g, t: (1 - decay) * g ** order + decay * t, updates, moments)


def bias_correction(moment, decay, count):
    return _corrected(moment, decay, count)


def safe_increment(count):
    count = jnp.asarray(count)
    most = jnp.iinfo(count.dtype).max if jnp.issubdtype(count.dtype, jnp.integer) else jnp.finfo(count.dtype).max
    return jnp.where(count < most, count + jnp.ones((), count.dtype), jnp.asarray(most, count.dtype))


safe_int32_increment = safe_increment


def safe_norm(x, min_norm, ord=None, axis=None, keepdims=False):
    """A norm of at least so much, whose derivative is a number where the norm is 0."""
    norm = jnp.linalg.norm(x, ord, axis, keepdims=True)
    x = jnp.where(norm <= min_norm, 1.0, x)
    norm = norm if keepdims else jnp.squeeze(norm, axis)
    return jnp.where(norm <= min_norm, min_norm, jnp.linalg.norm(x, ord, axis, keepdims=keepdims))


def periodic_update(new, old, steps, update_period):
    due = jnp.mod(steps, update_period) == 0
    return _map(lambda n, o: jnp.where(due, n, o), new, old)


# Steps that keep moments

def _by_moments(made, nu_start=0.0, mu_start=0.0):
    """A step with the state of Adam: made (updates, mu, nu, count) -> (update, mu, nu)"""
    def init(params):
        return ScaleByAdamState(_zero(), _map(lambda p: jnp.full_like(p, mu_start), params), _map(lambda p: jnp.full_like(p, nu_start), params))

    def update(updates, state, params=None):
        count = state.count + 1
        out, mu, nu = made(updates, state.mu, state.nu, count)
        return out, ScaleByAdamState(count, mu, nu)
    return GradientTransformation(init, update)


def scale_by_adamax(b1=0.9, b2=0.999, eps=1e-8):
    def made(updates, mu, nu, count):
        mu = update_moment(updates, mu, b1, 1)
        nu = _map(lambda g, t: jnp.maximum(jnp.abs(g) + eps, b2 * t), updates, nu)
        return _map(lambda m, v: m / v, _corrected(mu, b1, count), nu), mu, nu
    return _by_moments(made)


def _looked_ahead(updates, mu, b1, count, nesterov):
    if not nesterov:
        return _corrected(mu, b1, count)
    return _map(lambda m, g: b1 * m + (1 - b1) * g, _corrected(mu, b1, count + 1), _corrected(updates, b1, count))


def scale_by_belief(b1=0.9, b2=0.999, eps=1e-16, eps_root=1e-16, *, nesterov=False):
    def made(updates, mu, nu, count):
        mu = update_moment(updates, mu, b1, 1)
        errors = _map(lambda g, m: g - m, updates, mu)
        nu = _map(lambda v: v + eps_root, update_moment(errors, nu, b2, 2))
        ahead = _looked_ahead(updates, mu, b1, count, nesterov)
        return _map(lambda m, v: m / (jnp.sqrt(v) + eps), ahead, _corrected(nu, b2, count)), mu, nu
    return _by_moments(made)


def scale_by_yogi(b1=0.9, b2=0.999, eps=1e-3, eps_root=0.0, initial_accumulator_value=1e-6):
    def made(updates, mu, nu, count):
        mu = update_moment(updates, mu, b1, 1)
        nu = _map(lambda g, v: v - (1 - b2) * jnp.sign(v - g * g) * (g * g), updates, nu)
        return _map(lambda m, v: m / (jnp.sqrt(v + eps_root) + eps), _corrected(mu, b1, count), _corrected(nu, b2, count)), mu, nu
    return _by_moments(made, initial_accumulator_value, initial_accumulator_value)


def scale_by_radam(b1=0.9, b2=0.999, eps=1e-8, eps_root=0.0, threshold=5.0, *, nesterov=False):
    """Rectified Adam: Liu et al., On the Variance of the Adaptive Learning Rate and Beyond (2019)."""
    limit = 2.0 / (1.0 - b2) - 1.0

    def made(updates, mu, nu, count):
        mu, nu = update_moment(updates, mu, b1, 1), update_moment(updates, nu, b2, 2)
        power = b2 ** count
        length = limit - 2 * count * power / (1 - power)
        r = jnp.sqrt((length - 4.0) * (length - 2.0) * limit / ((limit - 4.0) * (limit - 2.0) * length))
        ahead = _looked_ahead(updates, mu, b1, count, nesterov)
        out = _map(lambda m, v: jnp.where(length >= threshold, r.astype(m.dtype) * m / (jnp.sqrt(v + eps_root) + eps), m), ahead,
                   _corrected(nu, b2, count))
        return out, mu, nu
    return _by_moments(made)


class ScaleByAmsgradState(NamedTuple):
    count: Any
    mu: Any
    nu: Any
    nu_max: Any


def scale_by_amsgrad(b1=0.9, b2=0.999, eps=1e-8, eps_root=0.0):
    def update(updates, state, params=None):
        mu, nu, count = update_moment(updates, state.mu, b1, 1), update_moment(updates, state.nu, b2, 2), state.count + 1
        most = _map(jnp.maximum, state.nu_max, _corrected(nu, b2, count))
        out = _map(lambda m, v: m / (jnp.sqrt(v + eps_root) + eps), _corrected(mu, b1, count), most)
        return out, ScaleByAmsgradState(count, mu, nu, most)
    return GradientTransformation(lambda p: ScaleByAmsgradState(_zero(), tree_zeros(p), tree_zeros(p), tree_zeros(p)), update)


class ScaleByAdaDeltaState(NamedTuple):
    e_g: Any
    e_x: Any


def scale_by_adadelta(rho=0.9, eps=1e-6):
    def update(updates, state, params=None):
        e_g = update_moment(updates, state.e_g, rho, 2)
        out = _map(lambda g, e, x: jnp.sqrt(x + eps) / jnp.sqrt(e + eps) * g, updates, e_g, state.e_x)
        return out, ScaleByAdaDeltaState(e_g, update_moment(out, state.e_x, rho, 2))
    return GradientTransformation(lambda p: ScaleByAdaDeltaState(tree_zeros(p), tree_zeros(p)), update)


class ScaleByAdanState(NamedTuple):
    m: Any
    v: Any
    n: Any
    g: Any
    t: Any


def scale_by_adan(b1=0.98, b2=0.92, b3=0.99, eps=1e-8, eps_root=0.0):
    """Xie et al., Adan: Adaptive Nesterov Momentum Algorithm (2022), algorithm 1."""
    def update(updates, state, params=None):
        first = state.t == 0
        change = _map(lambda g, before: jnp.where(first, 0.0, g - before), updates, state.g)
        m, v = update_moment(updates, state.m, b1, 1), update_moment(change, state.v, b2, 1)
        n = update_moment(_map(lambda g, d: g + (1 - b2) * d, updates, change), state.n, b3, 2)
        t = state.t + 1
        out = _map(lambda m, v, n: (m + (1 - b2) * v) / (jnp.sqrt(n + eps_root) + eps), _corrected(m, b1, t), _corrected(v, b2, t),
                   _corrected(n, b3, t))
        return out, ScaleByAdanState(m, v, n, updates, t)
    return GradientTransformation(lambda p: ScaleByAdanState(*(tree_zeros(p) for _ in range(4)), _zero()), update)


class ScaleByRpropState(NamedTuple):
    step_sizes: Any
    prev_updates: Any


def scale_by_rprop(learning_rate, eta_minus=0.5, eta_plus=1.2, min_step_size=1e-6, max_step_size=50.0):
    def update(updates, state, params=None):
        turns = _map(lambda g, before: g * before, updates, state.prev_updates)
        sizes = _map(lambda s, size: jnp.where(s == 0, size, jnp.clip(size * jnp.where(s > 0, eta_plus, eta_minus), min_step_size,
                                                                     max_step_size)), turns, state.step_sizes)
        steps = _map(lambda s, g, size: jnp.where(s < 0, 0.0, size * jnp.sign(g)), turns, updates, sizes)
        # The step is that of the gradient before, as optax takes it.
        return _map(lambda s, step: jnp.where(s < 0, 0.0, step), turns, state.prev_updates), ScaleByRpropState(sizes, steps)
    return GradientTransformation(lambda p: ScaleByRpropState(_map(lambda x: jnp.full_like(x, learning_rate), p), tree_zeros(p)), update)


class ScaleByNovogradState(NamedTuple):
    count: Any
    mu: Any
    nu: Any


def scale_by_novograd(b1=0.9, b2=0.25, eps=1e-8, eps_root=0.0, weight_decay=0.0):
    """Ginsburg et al., Stochastic Gradient Methods with Layer-wise Adaptive Moments (2019): one second moment for a layer."""
    def update(updates, state, params=None):
        first = state.count == 0
        sizes = _map(lambda g: jnp.sum(g * g), updates)
        nu = _map(lambda s, n: jnp.where(first, s, (1 - b2) * s + b2 * n), sizes, state.nu)
        steps = _map(lambda g, p, n: g / (jnp.sqrt(n + eps_root) + eps) + weight_decay * p, updates, _needed(params), nu)
        mu = _map(lambda m, step: jnp.where(first, step, b1 * m + step), state.mu, steps)
        return mu, ScaleByNovogradState(state.count + 1, mu, nu)
    return GradientTransformation(lambda p: ScaleByNovogradState(_zero(), tree_zeros(p), _map(lambda x: jnp.zeros((), x.dtype), p)), update)


class ScaleByRssState(NamedTuple):
    sum_of_squares: Any


def scale_by_rss(initial_accumulator_value=0.1, eps=1e-7):
    def update(updates, state, params=None):
        sums = _map(lambda g, t: g * g + t, updates, state.sum_of_squares)
        return _map(lambda s, g: jnp.where(s > 0, 1 / jnp.sqrt(s + eps), 0.0) * g, sums, updates), ScaleByRssState(sums)
    return GradientTransformation(lambda p: ScaleByRssState(_map(lambda x: jnp.full_like(x, initial_accumulator_value), p)), update)


class ScaleByRStdDevState(NamedTuple):
    mu: Any
    nu: Any


def scale_by_stddev(decay=0.9, eps=1e-8, initial_scale=0.0):
    def update(updates, state, params=None):
        mu, nu = update_moment(updates, state.mu, decay, 1), update_moment(updates, state.nu, decay, 2)
        return _map(lambda g, m, n: g / jnp.sqrt(n - m * m + eps), updates, mu, nu), ScaleByRStdDevState(mu, nu)
    return GradientTransformation(lambda p: ScaleByRStdDevState(tree_zeros(p), _map(lambda x: jnp.full_like(x, initial_scale), p)), update)


# Steps without a state

def scale_by_sign():
    return stateless(lambda updates, params: _map(jnp.sign, updates))


def centralize():
    return stateless(lambda updates, params: _map(lambda g: g - jnp.mean(g, tuple(range(1, g.ndim)), keepdims=True) if g.ndim > 1 else g, updates))


def normalize_by_update_norm(scale_factor=1.0, eps=1e-6):
    def normalized(updates, params):
        factor = scale_factor / (global_norm(updates) + eps)
        return _map(lambda g: g * factor, updates)
    return stateless(normalized)


def clip_by_block_rms(threshold):
    return stateless(lambda updates, params: _map(lambda g: g / jnp.maximum(1.0, jnp.sqrt(jnp.mean(g * g)) / threshold), updates))


def _unit_norm(x):
    """The norm of each unit of a layer, whose last dimension counts units."""
    axes = None if x.size in x.shape or x.ndim < 2 else tuple(range(max(x.ndim - 1, 1))) if x.ndim > 3 else (0,)
    return jnp.broadcast_to(jnp.sqrt(jnp.sum(x * x, axes, keepdims=True)), x.shape)


def adaptive_grad_clip(clipping, eps=1e-3):
    """Brock et al., High-Performance Large-Scale Image Recognition Without Normalization (2021)."""
    def clipped(g, p):
        norm, most = _unit_norm(g), clipping * jnp.maximum(_unit_norm(p), eps)
        return jnp.where(norm < most, g, g * (most / jnp.maximum(norm, 1e-6)))
    return stateless(lambda updates, params: _map(clipped, updates, _needed(params)))


def scale_by_param_block_norm(min_scale=1e-3):
    return stateless(lambda updates, params: _map(lambda u, p: u * safe_norm(p, min_scale), updates, _needed(params)))


def keep_params_nonnegative():
    return stateless(lambda updates, params: _map(lambda p, u: jnp.where(p + u < 0.0, -p, u), _needed(params), updates))


class ZeroNansState(NamedTuple):
    found_nan: Any


def zero_nans():
    def update(updates, state, params=None):
        return _map(lambda g: jnp.where(jnp.isnan(g), 0.0, g), updates), ZeroNansState(_map(lambda g: jnp.any(jnp.isnan(g)), updates))
    return GradientTransformation(lambda p: ZeroNansState(_map(lambda x: jnp.array(False), p)), update)


# Around other transformations

def named_chain(*transforms):
    names = [name for name, _ in transforms]

    def init(params):
        return {name: t.init(params) for name, t in transforms}

    def update(updates, state, params=None):
        after = {}
        for name, t in transforms:
            updates, after[name] = t.update(updates, state[name], params)
        return updates, after
    if len(set(names)) != len(names):
        raise ValueError(f"Named transformations must have unique names, but got {names}")
    return GradientTransformation(init, update)


partition = multi_transform


class ApplyIfFiniteState(NamedTuple):
    notfinite_count: Any
    last_finite: Any
    total_notfinite: Any
    inner_state: Any


def _either(condition, a, b):
    return _map(lambda x, y: jnp.where(condition, x, y), a, b)


def apply_if_finite(inner, max_consecutive_errors):
    def init(params):
        return ApplyIfFiniteState(_zero(), jnp.array(True), _zero(), inner.init(params))

    def update(updates, state, params=None):
        finite = jnp.all(jnp.stack([jnp.all(jnp.isfinite(g)) for g in jax.tree_util.tree_leaves(updates)]))
        count = jnp.where(finite, 0, state.notfinite_count + 1)
        takes = finite | (count > max_consecutive_errors)
        new, inner_state = inner.update(updates, state.inner_state, params)
        return _either(takes, new, tree_zeros(updates)), ApplyIfFiniteState(
            count, finite, jnp.where(finite, state.total_notfinite, state.total_notfinite + 1), _either(takes, inner_state, state.inner_state))
    return GradientTransformation(init, update)


class MultiStepsState(NamedTuple):
    mini_step: Any
    gradient_step: Any
    inner_opt_state: Any
    acc_grads: Any
    skip_state: Any = ()


class MultiSteps:
    """Gradients of several steps for one of the optimizer."""

    def __init__(self, opt, every_k_schedule, use_grad_mean=True, should_skip_update_fn=None):
        from jax._names import refuse
        refuse("optax.MultiSteps", "should_skip_update_fn", should_skip_update_fn, None)
        self.inner_opt, self._mean = opt, use_grad_mean
        self._every = every_k_schedule if callable(every_k_schedule) else lambda step: every_k_schedule

    def init(self, params):
        return MultiStepsState(_zero(), _zero(), self.inner_opt.init(params), tree_zeros(params))

    def update(self, updates, state, params=None):
        k = self._every(state.gradient_step)
        sums = _map(lambda g, a: a + (g - a) / (state.mini_step + 1) if self._mean else g + a, updates, state.acc_grads)
        new, inner_state = self.inner_opt.update(sums, state.inner_opt_state, params)
        due = state.mini_step == k - 1
        after = MultiStepsState((state.mini_step + 1) % k, jnp.where(due, state.gradient_step + 1, state.gradient_step),
                                _either(due, inner_state, state.inner_opt_state), _map(lambda a: jnp.where(due, 0.0, a), sums))
        return _map(lambda u: jnp.where(due, u, 0.0), new), after

    def has_updated(self, state):
        return (state.mini_step == 0) & (state.gradient_step > 0)

    def gradient_transformation(self):
        return GradientTransformation(self.init, self.update)


class InjectStatefulHyperparamsState(NamedTuple):
    count: Any
    hyperparams: Any
    hyperparams_states: Any
    inner_state: Any


def inject_hyperparams(inner_factory, static_args=()):
    """The numbers that an optimizer is made with as part of its state: schedules are followed there, and a program may set them."""
    static = {static_args} if isinstance(static_args, str) else set(static_args)

    def made(*args, **kwargs):
        bound = inspect.signature(inner_factory).bind(*args, **kwargs)
        bound.apply_defaults()
        given = bound.arguments
        schedules = {k: v for k, v in given.items() if callable(v) and k not in static}
        numbers = {k: v for k, v in given.items() if k not in schedules and k not in static
                   and (isinstance(v, (int, float)) or hasattr(v, "dtype") and hasattr(v, "shape")) and not isinstance(v, bool)}

        def of(values):
            return inner_factory(**dict(given, **values))

        def at(count):
            return {k: jnp.asarray(f(count), jnp.float32) for k, f in schedules.items()}

        def init(params):
            values = dict({k: jnp.asarray(v, jnp.float32) for k, v in numbers.items()}, **at(_zero()))
            return InjectStatefulHyperparamsState(_zero(), values, {}, of(values).init(params))

        def update(updates, state, params=None):
            values = dict(state.hyperparams, **at(state.count))
            new, inner_state = of(values).update(updates, state.inner_state, params)
            return new, InjectStatefulHyperparamsState(state.count + 1, values, {}, inner_state)
        return GradientTransformation(init, update)
    return made


# Optimizers

def _decayed(step, learning_rate, weight_decay=None, mask=None):
    return chain(step, *([] if weight_decay is None else [add_decayed_weights(weight_decay, mask)]), scale_by_learning_rate(learning_rate))


def adamax(learning_rate, b1=0.9, b2=0.999, eps=1e-8):
    return _decayed(scale_by_adamax(b1, b2, eps), learning_rate)


def adamaxw(learning_rate, b1=0.9, b2=0.999, eps=1e-8, weight_decay=1e-4, mask=None):
    return _decayed(scale_by_adamax(b1, b2, eps), learning_rate, weight_decay, mask)


def nadam(learning_rate, b1=0.9, b2=0.999, eps=1e-8, eps_root=0.0, mu_dtype=None):
    return _decayed(scale_by_adam(b1, b2, eps, eps_root, mu_dtype, nesterov=True), learning_rate)


def nadamw(learning_rate, b1=0.9, b2=0.999, eps=1e-8, eps_root=0.0, mu_dtype=None, weight_decay=1e-4, mask=None):
    return _decayed(scale_by_adam(b1, b2, eps, eps_root, mu_dtype, nesterov=True), learning_rate, weight_decay, mask)


def radam(learning_rate, b1=0.9, b2=0.999, eps=1e-8, eps_root=0.0, threshold=5.0, *, nesterov=False):
    return _decayed(scale_by_radam(b1, b2, eps, eps_root, threshold, nesterov=nesterov), learning_rate)


def adabelief(learning_rate, b1=0.9, b2=0.999, eps=1e-16, eps_root=1e-16, *, nesterov=False):
    return _decayed(scale_by_belief(b1, b2, eps, eps_root, nesterov=nesterov), learning_rate)


def amsgrad(learning_rate, b1=0.9, b2=0.999, eps=1e-8, eps_root=0.0):
    return _decayed(scale_by_amsgrad(b1, b2, eps, eps_root), learning_rate)


def yogi(learning_rate, b1=0.9, b2=0.999, eps=1e-3):
    return _decayed(scale_by_yogi(b1, b2, eps), learning_rate)


def adadelta(learning_rate=None, rho=0.9, eps=1e-6, weight_decay=0.0, weight_decay_mask=None):
    return chain(add_decayed_weights(weight_decay, weight_decay_mask), scale_by_adadelta(rho, eps), scale_by_learning_rate(learning_rate))


def adan(learning_rate, b1=0.98, b2=0.92, b3=0.99, eps=1e-8, eps_root=0.0, weight_decay=0.0, mask=None):
    return _decayed(scale_by_adan(b1, b2, b3, eps, eps_root), learning_rate, weight_decay, mask)


def rprop(learning_rate, eta_minus=0.5, eta_plus=1.2, min_step_size=1e-6, max_step_size=50.0):
    return chain(scale_by_rprop(learning_rate, eta_minus, eta_plus, min_step_size, max_step_size), scale(-1.0))


def sign_sgd(learning_rate):
    return _decayed(scale_by_sign(), learning_rate)


def novograd(learning_rate, b1=0.9, b2=0.25, eps=1e-6, eps_root=0.0, weight_decay=0.0):
    return _decayed(scale_by_novograd(b1, b2, eps, eps_root, weight_decay), learning_rate)


def fromage(learning_rate, min_norm=1e-6):
    """Bernstein et al., On the distance between two neural networks and the stability of learning (2020)."""
    factor = 1 / (1 + learning_rate ** 2) ** 0.5
    return chain(scale_by_trust_ratio(min_norm), scale_by_learning_rate(learning_rate * factor), add_decayed_weights(factor - 1))
