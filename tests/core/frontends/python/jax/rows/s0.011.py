# SPDX-License-Identifier: Apache-2.0
# s0.011: a step of Adam with donated state, run at width 64 and planned in full.
from lib import document

_, printed = document.run("001", "011", replace=[("7168", "64")])
assert set(document.figures(printed)) == {"Temp", "Argument", "Total"}, printed
stats = document.planned_step(False)
gib = 1 << 30
total = stats.temp_size_in_bytes + stats.argument_size_in_bytes + stats.output_size_in_bytes - stats.alias_size_in_bytes
assert f"{stats.argument_size_in_bytes / gib:.2f}" == "2.49", stats
assert stats.alias_size_in_bytes == stats.output_size_in_bytes, stats
# h and gelu (h) of each layer but the last are kept, and what tanh gave of h is not: eight arrays.
assert stats.temp_size_in_bytes / gib <= 1.535 and total / gib <= 4.03, stats
