# SPDX-License-Identifier: Apache-2.0
# s0.R016: 20 MiB of arguments and 10.75 of temporaries are saved. The document's last 1.75 come from a compiler that keeps copies
# of the weights where the activations alone are offloaded; here none are kept, so offloading weights cannot save them.
from lib import document

_, kept = document.run("001", "006")
_, both = document.run("001", "002", "006", "007", "008", "009", "010")
kept, both = document.figures(kept), document.figures(both)
assert kept["Argument"] - both["Argument"] == 20.0
assert both["Temp"] <= 4.75, both
