# SPDX-License-Identifier: Apache-2.0
"""jax.nn.initializers: functions of (key, shape, dtype)."""
import math
from jax import random
import jax.numpy as jnp
from jax._names import missing as _missing


def zeros(key, shape, dtype="float32"):
    return jnp.zeros(shape, dtype)


def ones(key, shape, dtype="float32"):
    return jnp.ones(shape, dtype)


def constant(value, dtype="float32"):
    return lambda key, shape, dtype=dtype: jnp.full(shape, value, dtype)


def normal(stddev=1e-2, dtype="float32"):
    return lambda key, shape, dtype=dtype: random.normal(key, shape, dtype) * stddev


def truncated_normal(stddev=1e-2, dtype="float32", lower=-2.0, upper=2.0):
    return lambda key, shape, dtype=dtype: random.truncated_normal(key, lower, upper, shape, dtype) * stddev


def uniform(scale=1e-2, dtype="float32"):
    return lambda key, shape, dtype=dtype: random.uniform(key, shape, dtype) * scale


def variance_scaling(scale, mode, distribution, in_axis=-2, out_axis=-1, batch_axis=(), dtype="float32"):
    from jax._names import refuse
    refuse("nn.initializers.variance_scaling", "batch_axis", batch_axis, ())

    def init(key, shape, dtype=dtype):
        field = math.prod(shape) / (shape[in_axis] * shape[out_axis])
        fan_in, fan_out = shape[in_axis] * field, shape[out_axis] * field
        fan = {"fan_in": fan_in, "fan_out": fan_out, "fan_avg": (fan_in + fan_out) / 2}[mode]
        variance = scale / fan
        if distribution == "normal":
            return random.normal(key, shape, dtype) * math.sqrt(variance)
        if distribution == "uniform":
            return random.uniform(key, shape, dtype, -1) * math.sqrt(3 * variance)
        return random.truncated_normal(key, -2, 2, shape, dtype) * (math.sqrt(variance) / .87962566103423978)
    return init


def _scaled(scale, mode, distribution):
    def make(in_axis=-2, out_axis=-1, batch_axis=(), dtype="float32"):
        return variance_scaling(scale, mode, distribution, in_axis, out_axis, batch_axis, dtype)
    return make


glorot_uniform = xavier_uniform = _scaled(1.0, "fan_avg", "uniform")
glorot_normal = xavier_normal = _scaled(1.0, "fan_avg", "truncated_normal")
lecun_uniform, lecun_normal = _scaled(1.0, "fan_in", "uniform"), _scaled(1.0, "fan_in", "truncated_normal")
he_uniform = kaiming_uniform = _scaled(2.0, "fan_in", "uniform")
he_normal = kaiming_normal = _scaled(2.0, "fan_in", "truncated_normal")


def orthogonal(scale=1.0, column_axis=-1, dtype="float32"):
    """Orthonormal columns, or rows where there are more columns."""
    def init(key, shape, dtype=dtype):
        columns = shape[column_axis]
        rows = math.prod(shape) // columns
        tall = random.normal(key, (max(rows, columns), min(rows, columns)), dtype)
        q, r = jnp.linalg.qr(tall)
        q = q * jnp.expand_dims(jnp.sign(jnp.diagonal(r)), 0)
        q = jnp.reshape(q.T if rows < columns else q, tuple(n for d, n in enumerate(shape) if d != column_axis % len(shape)) + (columns,))
        return scale * jnp.moveaxis(q, -1, column_axis)
    return init


def delta_orthogonal(scale=1.0, column_axis=-1, dtype="float32"):
    """A convolution's filter that is orthogonal in its middle and 0 elsewhere."""
    def init(key, shape, dtype=dtype):
        if len(shape) not in (3, 4, 5) or shape[-1] < shape[-2]:
            raise ValueError("Delta orthogonal initializer requires a 3D, 4D or 5D shape with no fewer features out than in")
        made = orthogonal(1.0, column_axis, dtype)(key, (shape[-1], shape[-1]), dtype)[:shape[-2]]
        middle = tuple((n - 1) // 2 for n in shape[:-2])
        return scale * jnp.zeros(shape, dtype).at[middle].set(made)
    return init


def __getattr__(name):
    raise _missing("jax.nn.initializers", name, globals())
