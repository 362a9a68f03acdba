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
# Arguments, results and temporaries on the device together: less than with the state kept there, by its size.
assert stats.temp_size_in_bytes <= kept.temp_size_in_bytes, (stats, kept)
