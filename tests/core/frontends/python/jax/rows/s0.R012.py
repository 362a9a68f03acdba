# SPDX-License-Identifier: Apache-2.0
# s0.R012: offloading the activations saves at least the 10.75 MiB of the document; arguments and results stay the same.
from lib import document

_, kept = document.run("001", "006")
_, moved = document.run("001", "006", "007", "008", "009")
kept, moved = document.figures(kept), document.figures(moved)
assert kept["Temp"] - moved["Temp"] >= 10.75, (kept, moved)
assert kept["Argument"] == moved["Argument"]
