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


def warmup_constant_schedule(init_value, peak_value, warmup_steps):
    return linear_schedule(init_value, peak_value, warmup_steps)


def warmup_exponential_decay_schedule(init_value, peak_value, warmup_steps, transition_steps, decay_rate, transition_begin=0, staircase=False,
                                      end_value=None):
    return join_schedules([linear_schedule(init_value, peak_value, warmup_steps),
                           exponential_decay(peak_value, transition_steps, decay_rate, transition_begin, staircase, end_value)], [warmup_steps])


def sgdr_schedule(cosine_kwargs):
    """One warm-up and decay after another."""
    parts, boundaries, step = [], [], 0
    for options in cosine_kwargs:
        parts.append(warmup_cosine_decay_schedule(**options))
        step += options["decay_steps"]
        boundaries.append(step)
    return join_schedules(parts, boundaries[:-1])


def piecewise_interpolate_schedule(interpolate_type, init_value, boundaries_and_scales=None):
    """From one value to the next between two steps, each value the one before times its factor."""
    if interpolate_type not in ("linear", "cosine"):
        raise ValueError("`interpolate_type` must be either 'cosine' or 'linear'")
    steps, values = [0], [init_value]
    for step, factor in sorted((boundaries_and_scales or {}).items()):
        steps.append(step)
        values.append(values[-1] * factor)

    def schedule(count):
        value = jnp.asarray(values[-1], jnp.float32)
        for low, high, a, b in reversed(list(zip(steps, steps[1:], values, values[1:]))):
            t = (count - low) / max(high - low, 1)
            between = a + (b - a) * t if interpolate_type == "linear" else b + (a - b) / 2 * (jnp.cos(jnp.pi * t) + 1)
            value = jnp.where(jnp.asarray(count) < high, between, value)
        return value
    return schedule


def linear_onecycle_schedule(transition_steps, peak_value, pct_start=0.3, pct_final=0.85, div_factor=25.0, final_div_factor=1e4):
    return piecewise_interpolate_schedule("linear", peak_value / div_factor, {
        int(pct_start * transition_steps): div_factor, int(pct_final * transition_steps): 1.0 / div_factor,
        transition_steps: 1.0 / final_div_factor})


def cosine_onecycle_schedule(transition_steps, peak_value, pct_start=0.3, div_factor=25.0, final_div_factor=1e4):
    return piecewise_interpolate_schedule("cosine", peak_value / div_factor, {
        int(pct_start * transition_steps): div_factor, int(transition_steps): 1.0 / (div_factor * final_div_factor)})
