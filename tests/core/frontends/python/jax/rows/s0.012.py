# SPDX-License-Identifier: Apache-2.0
# s0.012: the optimizer's state in the host, run at width 64 and planned in full.
from lib import document

_, printed = document.run("001", "011", "012", replace=[("7168", "64")])
assert set(document.figures(printed)) == {"Temp", "Argument", "Total"}, printed
stats = document.planned_step(True)
kept = document.planned_step(False)
width, gib = 7168 * 7168 * 4, 1 << 30
assert stats.argument_size_in_bytes == 5 * width, stats
assert 8 * width <= stats.host_argument_size_in_bytes <= 8 * width + 64, stats
assert stats.output_size_in_bytes == stats.alias_size_in_bytes == 4 * width, stats
assert stats.host_output_size_in_bytes >= 8 * width, stats
# Arguments, results and temporaries on the device together: less than with the state kept there, by its size. Temporaries are no
# more, but for scalars that are fetched.
assert stats.temp_size_in_bytes <= kept.temp_size_in_bytes + 256, (stats, kept)
total = stats.temp_size_in_bytes + stats.argument_size_in_bytes + stats.output_size_in_bytes - stats.alias_size_in_bytes
assert total / gib <= 2.49, stats
# With what is between the products computed again two arrays less: the state that is fetched ahead then would decide the peak, and waits for
# less than a hundredth of the step.
recomputed = document.planned_step(True, "forward = jax.checkpoint (forward, policy=jax.checkpoint_policies.dots_saveable)")
assert recomputed.temp_size_in_bytes <= stats.temp_size_in_bytes - 2 * width, (recomputed, stats)
total = recomputed.temp_size_in_bytes + recomputed.argument_size_in_bytes + recomputed.output_size_in_bytes - recomputed.alias_size_in_bytes
assert total / gib <= 2.11, recomputed
