# SPDX-License-Identifier: Apache-2.0
# s0.R007: an offloaded activation goes to the host after the forward pass and comes back for the backward pass.
from lib import document

names, _ = document.run("001", "006", "007", "008", "009")
stats = names["compiled_step"].memory_analysis()
# The inputs of ten layers, 256 KiB each: in the host.
assert 9 * 256 * 1024 <= stats.host_temp_size_in_bytes <= 10 * 256 * 1024, stats
