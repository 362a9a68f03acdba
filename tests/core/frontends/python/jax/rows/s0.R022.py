# SPDX-License-Identifier: Apache-2.0
# s0.R022: the state is in the host before the step and after it; parameters stay on the device, written over their arguments.
import jax
from lib import document

names, _ = document.run("001", "011", "012", replace=[("7168", "64")])
kinds = lambda tree: {leaf.sharding.memory_kind for leaf in jax.tree.leaves(tree)}
assert kinds(names["opt_state"]) == kinds(names["offload_opt_state"]) == {"pinned_host"} and kinds(names["new_params"]) == {"device"}
stats = names["compiled_stats"]
assert stats.alias_size_in_bytes == 4 * 64 * 64 * 4 and stats.host_alias_size_in_bytes == 0
