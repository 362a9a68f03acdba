# SPDX-License-Identifier: Apache-2.0
# s0.R015: arguments 20.25 to 0.25; temporaries below the document's 17.25, 6.50 and 4.75.
from lib import document

_, kept = document.run("001", "006")
_, moved = document.run("001", "006", "007", "008", "009")
_, both = document.run("001", "002", "006", "007", "008", "009", "010")
sizes = [document.figures(p) for p in (kept, moved, both)]
assert [s["Argument"] for s in sizes] == [20.25, 20.25, 0.25]
assert all(s["Temp"] < t for s, t in zip(sizes, (17.25, 6.50, 4.75))), sizes
