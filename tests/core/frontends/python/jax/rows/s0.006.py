# SPDX-License-Identifier: Apache-2.0
# s0.006: ten layers by scan, gradients, memory_analysis; all is kept.
from lib import document

_, printed = document.run("001", "006")
document.check_layers(printed, 12.50, 20.25)
document.check_sample(printed)
