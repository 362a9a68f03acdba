# SPDX-License-Identifier: Apache-2.0
"""Learning rates as functions of the step."""
import jax.numpy as jnp


def constant_schedule(value):
    return lambda count: value


def polynomial_schedule(init_value, end_value, power, transition_steps, transition_begin=0):
    def schedule(count):
        count = jnp.clip(count - transition_begin, 0, transition_steps)
        return (init_value - end_value) * (1 - count / transition_steps) ** power + end_value
    return schedule if transition_steps > 0 else constant_schedule(init_value)


def linear_schedule(init_value, end_value, transition_steps, transition_begin=0):
    return polynomial_schedule(init_value, end_value, 1, transition_steps, transition_begin)


def piecewise_constant_schedule(init_value, boundaries_and_scales=None):
    def schedule(count):
        value = init_value
        for threshold, factor in (boundaries_and_scales or {}).items():
            value = value * jnp.where(jnp.asarray(count) >= threshold, factor, 1.0)
        return value
    return schedule


def exponential_decay(init_value, transition_steps, decay_rate, transition_begin=0, staircase=False, end_value=None):
    def schedule(count):
        steps = count - transition_begin
        p = jnp.floor(jnp.asarray(steps) / transition_steps) if staircase else jnp.asarray(steps) / transition_steps
        value = jnp.where(jnp.asarray(steps) <= 0, init_value, init_value * jnp.power(decay_rate, p))
        if end_value is not None:
            value = (jnp.maximum if decay_rate < 1.0 else jnp.minimum)(value, end_value)
        return value
    return schedule


def cosine_decay_schedule(init_value, decay_steps, alpha=0.0, exponent=1.0):
    def schedule(count):
        count = jnp.minimum(count, decay_steps)
        cosine = 0.5 * (1 + jnp.cos(jnp.pi * count / decay_steps))
        return init_value * ((1 - alpha) * cosine ** exponent + alpha)
    return schedule


def join_schedules(schedules, boundaries):
    def schedule(step):
        value = schedules[0](step)
        for boundary, one in zip(boundaries, schedules[1:]):
            value = jnp.where(jnp.asarray(step) < boundary, value, one(step - boundary))
        return value
    return schedule


def warmup_cosine_decay_schedule(init_value, peak_value, warmup_steps, decay_steps, end_value=0.0, exponent=1.0):
    alpha = 0.0 if peak_value == 0.0 else end_value / peak_value
    return join_schedules([linear_schedule(init_value, peak_value, warmup_steps),
                           cosine_decay_schedule(peak_value, decay_steps - warmup_steps, alpha, exponent)], [warmup_steps])
