# SPDX-License-Identifier: Apache-2.0
# s0.R019: scanning over another axis of parameters in the host: a transpose in front of the scan, and the right numbers.
import jax
import jax.numpy as jnp

host = jax.sharding.SingleDeviceSharding(jax.devices()[0], memory_kind="pinned_host")
device = host.with_memory_kind("device")
w = jnp.sin(jnp.arange(16 * 4 * 16.0)).reshape(16, 4, 16)
x = jnp.ones((2, 16))


def f(w, x):
    return jax.lax.scan(lambda c, v: (jnp.tanh(c @ jax.device_put(v, device)), None), x, jnp.moveaxis(w, 1, 0))[0]


there = jax.jit(f)(jax.device_put(w, host), x)
assert jnp.allclose(there, f(w, x))
