# SPDX-License-Identifier: Apache-2.0
# s0.R008: the name decides: the same program keeps or offloads by what a policy says of it; an unknown name is told.
import warnings
import jax
import jax.numpy as jnp
from jax.ad_checkpoint import checkpoint_name

w, x = jnp.ones((10, 64, 64)) * 0.01, jnp.ones((64, 64))


def stats(policy):
    def layer(x, w):
        return jnp.sin(checkpoint_name(x, "x") @ w), None

    def loss(w, x):
        return jnp.sum(jax.lax.scan(jax.checkpoint(layer, policy=policy, prevent_cse=False), x, w)[0])
    return jax.jit(jax.grad(loss)).lower(w, x).compile().memory_analysis()


cp = jax.checkpoint_policies
kept = stats(cp.save_only_these_names("x"))
moved = stats(cp.save_and_offload_only_these_names(names_which_can_be_saved=[], names_which_can_be_offloaded=["x"],
                                                   offload_src="device", offload_dst="pinned_host"))
assert kept.host_temp_size_in_bytes == 0 and moved.host_temp_size_in_bytes > 0
assert moved.temp_size_in_bytes < kept.temp_size_in_bytes
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    stats(cp.save_only_these_names("nobody"))
assert any("nobody" in str(w.message) for w in told), [str(w.message) for w in told]
