# SPDX-License-Identifier: Apache-2.0
"""Optimizers, schedules and losses of optax."""
import numpy as np
import jax
import jax.numpy as jnp
import optax
from jax import nn
from lib.programs import case

W = {"w": np.sin(np.arange(6, dtype=np.float32)).reshape(3, 2), "b": np.array([0.3, -1.2], np.float32)}
L, T = np.cos(np.arange(12, dtype=np.float32)).reshape(4, 3), np.sin(np.arange(12, dtype=np.float32) * 2).reshape(4, 3)
PLAIN = ("adam adamw adamax adamaxw nadam nadamw radam adabelief amsgrad yogi novograd adagrad rmsprop lamb lars lion rprop adadelta adan fromage "
         "sign_sgd").split()


def after(step, n=4):
    """The parameters after so many steps of a small problem."""
    params = jax.tree_util.tree_map(jnp.asarray, W)
    state = step.init(params)

    @jax.jit
    def one(params, state):
        gradients = jax.grad(lambda p: jnp.sum(p["w"] ** 2) + jnp.sum(jnp.sin(p["b"])))(params)
        updates, state = step.update(gradients, state, params)
        return optax.apply_updates(params, updates), state
    for _ in range(n):
        params, state = one(params, state)
    return jax.tree_util.tree_leaves(params)


@case
def plain_optimizers():
    return [leaf for name in PLAIN for leaf in after(getattr(optax, name)(1e-2))]


@case
def factored_optimizers():
    steps = [optax.adafactor(1e-2), optax.adafactor(), optax.adafactor(1e-2, min_dim_size_to_factor=2, momentum=0.9, weight_decay_rate=1e-3),
             optax.adafactor(optax.linear_schedule(1e-2, 1e-3, 4), 2, clipping_threshold=None, multiply_by_parameter_scale=False, decay_rate=0.7),
             optax.adafactor(1e-2, 2, factored=False), optax.sm3(1e-2), optax.sm3(1e-2, 0.5), optax.noisy_sgd(1e-2, key=3),
             optax.chain(optax.scale_by_sm3(0.9, 0.99), optax.scale(-0.01)), optax.optimistic_gradient_descent(1e-2, 0.9, 1.1),
             optax.chain(optax.scale_by_lion(0.8, 0.9), optax.scale(-0.01)), optax.chain(optax.adam(1e-2), optax.apply_every(3))]
    deep = jnp.sin(jnp.arange(60.0)).reshape(4, 3, 5)
    made = []
    for step in (optax.scale_by_factored_rms(min_dim_size_to_factor=3), optax.scale_by_sm3()):
        state = step.init(deep)
        for i in range(3):
            update, state = step.update(deep * (i + 1) + 0.1, state, deep)
            made += [update, *jax.tree_util.tree_leaves(state)]
    return [leaf for step in steps for leaf in after(step)] + made


@case
def made_of_steps():
    labels, sgd = {"w": "a", "b": "b"}, optax.sgd(0.1)
    steps = [optax.chain(optax.zero_nans(), optax.clip(0.1), optax.centralize(), optax.trace(0.9), optax.scale_by_learning_rate(1e-2)),
             optax.chain(optax.adaptive_grad_clip(0.1), sgd), optax.MultiSteps(optax.adam(1e-2), 2), optax.apply_if_finite(optax.adam(1e-2), 3),
             optax.inject_hyperparams(optax.adam)(learning_rate=optax.linear_schedule(1e-2, 1e-3, 4)),
             optax.partition({"a": optax.adam(1e-2), "b": optax.set_to_zero()}, labels),
             optax.chain(optax.clip_by_block_rms(0.3), optax.normalize_by_update_norm(), sgd),
             optax.named_chain(("first", optax.clip(1.0)), ("then", sgd)), optax.chain(optax.sgd(0.5), optax.keep_params_nonnegative()),
             optax.chain(optax.scale_by_rss(), optax.scale_by_stddev(), optax.scale(-0.01))]
    return [leaf for step in steps for leaf in after(step)]


@case
def schedules():
    twice = [dict(init_value=0.0, peak_value=1.0, warmup_steps=2, decay_steps=5, end_value=0.1),
             dict(init_value=0.1, peak_value=0.5, warmup_steps=2, decay_steps=5, end_value=0.0)]
    made = [optax.warmup_exponential_decay_schedule(0.0, 1.0, 3, 4, 0.5), optax.warmup_constant_schedule(0.0, 1.0, 4),
            optax.cosine_onecycle_schedule(10, 1.0), optax.linear_onecycle_schedule(10, 1.0), optax.sgdr_schedule(twice),
            optax.piecewise_interpolate_schedule("linear", 1.0, {3: 0.5, 8: 0.1})]
    return [jnp.stack([jnp.asarray(f(i), jnp.float32) for i in jnp.arange(12)]) for f in made]


@case
def rarer_losses():
    t, b = nn.softmax(T), (T > 0).astype(np.float32)
    losses = [lambda x: optax.hinge_loss(x, 2 * b - 1), lambda x: optax.kl_divergence(nn.log_softmax(x), t), lambda x: optax.cosine_distance(x, t),
              lambda x: optax.convex_kl_divergence(nn.log_softmax(x), t), lambda x: optax.sigmoid_focal_loss(x, b),
              lambda x: optax.safe_softmax_cross_entropy(x, t)]
    made = []
    for loss in losses:
        made += [loss(jnp.asarray(L)), jax.grad(lambda x: jnp.sum(loss(x)))(jnp.asarray(L))]
    return made + [optax.safe_norm(jnp.zeros(3), 1e-6), jax.grad(lambda x: optax.safe_norm(x, 1e-6))(jnp.zeros(3))]


@case
def gradients_of_ones_own():
    @jax.custom_gradient
    def square(x):
        return x ** 2, lambda g: (g * x,)
    orthogonal = nn.initializers.orthogonal()(jax.random.key(1), (4, 6))
    back = jax.linear_transpose(lambda x: 3 * x, jnp.asarray(L))(jnp.asarray(T))[0]
    return [square(3.0), jax.grad(square)(3.0), orthogonal, nn.initializers.delta_orthogonal()(jax.random.key(1), (3, 3, 4, 4)), back]
