# SPDX-License-Identifier: Apache-2.0
# s0.R004: out_shardings may differ from the shardings of the arguments, each way, and for a part of the results.
import jax
import jax.numpy as jnp

host = jax.sharding.SingleDeviceSharding(jax.devices()[0], memory_kind="pinned_host")
device = host.with_memory_kind("device")
x = jnp.arange(8.0)
down = jax.jit(lambda v: v * 2, out_shardings=host)(x)
assert down.sharding.memory_kind == "pinned_host" and down.tolist() == (x * 2).tolist()
up = jax.jit(lambda v: v, out_shardings=device)(down)
assert up.sharding.memory_kind == "device" and up.tolist() == down.tolist()
a, b = jax.jit(lambda v: (v, {"s": v + 1}), out_shardings=(host, device))(x)
assert a.sharding.memory_kind == "pinned_host" and b["s"].sharding.memory_kind == "device"
