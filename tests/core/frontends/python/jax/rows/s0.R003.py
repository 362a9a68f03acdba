# SPDX-License-Identifier: Apache-2.0
# s0.R003: device_put moves what it is given, whole trees too, and nothing else.
import jax
import jax.numpy as jnp

host = jax.sharding.SingleDeviceSharding(jax.devices()[0], memory_kind="pinned_host")
x = jnp.arange(4.0)
moved = jax.device_put({"a": x, "b": [x]}, host)
assert moved["a"].sharding.memory_kind == moved["b"][0].sharding.memory_kind == "pinned_host"
assert x.sharding.memory_kind == "device" and (moved["a"] == jax.device_put(x, host)).all()
try:
    moved["a"] + x
except ValueError as error:
    assert "memory_space of all inputs passed to `add` must be the same" in str(error)
else:
    raise AssertionError("nothing was raised")
