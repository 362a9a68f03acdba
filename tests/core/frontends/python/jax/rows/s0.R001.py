# SPDX-License-Identifier: Apache-2.0
# s0.R001: activations, parameters and the optimizer's state can be offloaded.
import jax
import jax.numpy as jnp
import optax
from jax.ad_checkpoint import checkpoint_name

host = jax.sharding.SingleDeviceSharding(jax.devices()[0], memory_kind="pinned_host")
device = host.with_memory_kind("device")
w = jnp.ones((64, 64)) * 0.01
x = jnp.ones((64, 64))
policy = jax.checkpoint_policies.save_and_offload_only_these_names(
    names_which_can_be_saved=[], names_which_can_be_offloaded=["h"], offload_src="device", offload_dst="pinned_host")


def loss(w, x):
    def layer(x):
        h = checkpoint_name(x @ w, "h")
        return jnp.sin(h) @ w
    f = jax.checkpoint(layer, policy=policy)
    return jnp.sum(f(f(x)))


activations = jax.jit(jax.grad(loss)).lower(w, x).compile().memory_analysis()
assert activations.host_temp_size_in_bytes >= 64 * 64 * 4
parameters = jax.jit(lambda w, x: jax.device_put(w, device) @ x).lower(jax.device_put(w, host), x).compile().memory_analysis()
assert parameters.host_argument_size_in_bytes == 64 * 64 * 4 and parameters.argument_size_in_bytes == 64 * 64 * 4
state = jax.device_put(optax.adam(0.1).init(w), host)
assert {leaf.sharding.memory_kind for leaf in jax.tree.leaves(state)} == {"pinned_host"}
