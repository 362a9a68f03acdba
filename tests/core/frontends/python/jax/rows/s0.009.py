# SPDX-License-Identifier: Apache-2.0
# s0.009: activations named x are offloaded.
from lib import document

_, printed = document.run("001", "006", "007", "008", "009")
document.check_layers(printed, 1.50, 20.25)
document.check_sample(printed)
assert "Results match within tolerance: True" in printed
