#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes values.json: what JAX gives for the programs. Usage: python make_values.py [MODULE...], by a Python that has jax and optax. With
names of modules only their programs are run again."""
import json
import os
import sys
import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
from lib import algebra, batches, corners, distributions, edges, linear, nested, optimizers, programs, rarer, scientific, special  # noqa: E402,F401


def plain(array):
    array = np.asarray(array)
    if array.dtype.kind in "biu":
        return [list(array.shape), [int(v) for v in array.reshape(-1)]]
    return [list(array.shape), [float(f"{v:.8g}") for v in array.reshape(-1).astype(np.float64)]]


PATH = os.path.join(HERE, "values.json")
before = {}
if sys.argv[1:]:
    with open(PATH) as file:
        before = json.load(file)
values = {}
for name, function in programs.ALL.items():
    again = not sys.argv[1:] or function.__module__.split(".")[-1] in sys.argv[1:]
    values[name] = [plain(a) for a in function()] if again else before[name]
with open(PATH, "w") as file:
    file.write("{\n" + ",\n".join(f"{json.dumps(n)}: {json.dumps(v, separators=(',', ':'))}" for n, v in values.items()) + "\n}\n")
print(len(values), "programs", sum(len(v) for v in values.values()), "arrays")
