# SPDX-License-Identifier: Apache-2.0
# s0.R018: an explicit loop over the layers saves what the scan does: a plan sees single slices of the weights either way.
import jax
import jax.numpy as jnp

host = jax.sharding.SingleDeviceSharding(jax.devices()[0], memory_kind="pinned_host")
device = host.with_memory_kind("device")
x = jnp.ones((64, 64))
w = jax.device_put([jnp.ones((64, 256)) * 0.01 for _ in range(10)], host), jax.device_put([jnp.ones((256, 64)) * 0.01 for _ in range(10)], host)


def loss(w, x):
    for a, b in zip(*w):
        def layer(x, a=a, b=b):
            return jnp.sin(x @ jax.device_put(a, device)) @ jax.device_put(b, device)
        x = jax.checkpoint(layer)(x)
    return jnp.sum(x)


stats = jax.jit(jax.grad(loss)).lower(w, x).compile().memory_analysis()
assert stats.argument_size_in_bytes == 64 * 64 * 4 and stats.host_argument_size_in_bytes == 20 * 64 * 256 * 4, stats
# Far less than the weights: no copies of all of them are held.
assert stats.temp_size_in_bytes < 10 * 64 * 256 * 4, stats
