# SPDX-License-Identifier: Apache-2.0
# s0.R005: device_put in jit moves before the arithmetic; without it the memories do not fit.
import jax
import jax.numpy as jnp

host = jax.sharding.SingleDeviceSharding(jax.devices()[0], memory_kind="pinned_host")
device = host.with_memory_kind("device")
x, y = jax.device_put(jnp.arange(6.0), host), jnp.ones(6)
f = jax.jit(lambda a, b: jax.device_put(a, device) + b)
assert f(x, y).tolist() == [1, 2, 3, 4, 5, 6]
assert "@pinned_host" in f.lower(x, y).as_text() and "copy" in f.lower(x, y).as_text()
try:
    jax.jit(lambda a, b: a + b)(x, y)
except ValueError as error:
    assert "memory_space" in str(error)
else:
    raise AssertionError("nothing was raised")
