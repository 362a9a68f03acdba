# SPDX-License-Identifier: Apache-2.0
# s0.007: checkpoint_name in a layer.
from lib import document

names, printed = document.run("001", "006", "007")
assert printed == ""
y, none = names["layer_name"](names["input"], (names["w1"][0], names["w2"][0]))
assert y.shape == (256, 256) and none is None
