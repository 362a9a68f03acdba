# SPDX-License-Identifier: Apache-2.0
# s0.010: parameters in the host too.
from lib import document

_, printed = document.run("001", "002", "006", "007", "008", "009", "010")
document.check_layers(printed, 3.50, 0.25)
assert "Results match within tolerance: True" in printed
