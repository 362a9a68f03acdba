# SPDX-License-Identifier: Apache-2.0
# s0.008: a policy that offloads by name.
from lib import document

names, printed = document.run("001", "006", "007", "008")
assert printed == ""
assert names["policy"].text == "save_and_offload_only_these_names([], ['x'], 'device', 'pinned_host')"
