# SPDX-License-Identifier: Apache-2.0
# s0.R013: parameters in the host, moved before the product; the input stays on the device.
from lib import document

names, _ = document.run("001", "002", "006", "007", "008", "009", "010")
stats = names["compiled_step"].memory_analysis()
assert names["wh1"].sharding.memory_kind == names["wh2"].sharding.memory_kind == "pinned_host"
assert names["input"].sharding.memory_kind == "device"
assert stats.host_argument_size_in_bytes == 20 * document.MIB and stats.argument_size_in_bytes == document.MIB // 4, stats
