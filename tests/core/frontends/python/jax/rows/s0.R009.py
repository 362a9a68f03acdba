# SPDX-License-Identifier: Apache-2.0
# s0.R009: recompute, which is the default, store, and offload: three sizes of temporaries, one result.
import jax
import jax.numpy as jnp
from jax.ad_checkpoint import checkpoint_name

w, x = jnp.ones((8, 64, 256)) * 0.01, jnp.ones((64, 64))
v = jnp.ones((8, 256, 64)) * 0.01
cp = jax.checkpoint_policies


def made(**options):
    def layer(x, ws):
        return jnp.sin(checkpoint_name(x, "x") @ ws[0]) @ ws[1], None

    def loss(ws, x):
        return jnp.sum(jax.lax.scan(jax.checkpoint(layer, **options) if options is not None else layer, x, ws)[0])
    f = jax.jit(jax.grad(loss))
    return f.lower((w, v), x).compile().memory_analysis().temp_size_in_bytes, f((w, v), x)


recomputed, a = made()
stored, b = made(policy=cp.everything_saveable)
offloaded, c = made(policy=cp.save_and_offload_only_these_names(names_which_can_be_saved=[], names_which_can_be_offloaded=["x"],
                                                                offload_src="device", offload_dst="pinned_host"))
assert offloaded < recomputed < stored, (offloaded, recomputed, stored)
assert a[0].tolist() == b[0].tolist() == c[0].tolist()
