# SPDX-License-Identifier: Apache-2.0
# s0.R017: the document's 33.5 MiB are 32.5 by its own figures (57.50 - 25.00): both totals are lower here.
from lib import document

_, kept = document.run("001", "006")
_, both = document.run("001", "002", "006", "007", "008", "009", "010")
kept, both = document.figures(kept), document.figures(both)
assert kept["Total"] <= 57.50 and both["Total"] <= 25.00, (kept, both)
assert kept["Total"] - both["Total"] >= 20.0 + 8.0
