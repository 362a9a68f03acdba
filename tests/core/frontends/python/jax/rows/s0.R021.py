# SPDX-License-Identifier: Apache-2.0
# s0.R021: four layers with GELU, squared error and L2, clipping and Adam: one step at width 64 changes every parameter.
from lib import document

names, _ = document.run("001", "011", replace=[("7168", "64")])
assert sorted(names["new_params"]) == ["w1", "w2", "w3", "w4"]
for name, value in names["new_params"].items():
    assert value.shape == (64, 64) and (value != names["params"][name]).all()
