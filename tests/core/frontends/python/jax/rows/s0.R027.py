# SPDX-License-Identifier: Apache-2.0
# s0.R027: the state of both steps compared by tree_map and allclose.
import jax
import jax.numpy as jnp
from lib import document

kept, _ = document.run("001", "011", replace=[("7168", "64")])
moved, _ = document.run("001", "011", "012", replace=[("7168", "64")])
device = moved["s_dev"]
same = jax.tree_util.tree_map(lambda a, b: bool(jnp.allclose(a, jax.device_put(b, device), rtol=1e-5)), kept["new_opt_state"],
                              moved["offload_opt_state"])
assert all(jax.tree_util.tree_leaves(same))
