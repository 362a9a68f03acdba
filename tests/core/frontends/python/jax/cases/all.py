# SPDX-License-Identifier: Apache-2.0
# Small programs give what JAX gives, within 1e-5.
import json
import os
import traceback
import numpy as np
from lib import algebra, batches, corners, distributions, edges, linear, nested, optimizers, programs, rarer, scientific, special  # noqa: F401

with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib", "values.json")) as file:
    values = json.load(file)
assert sorted(values) == sorted(programs.ALL), "make_values.py has to be run again"
failed = []
for name, function in programs.ALL.items():
    try:
        arrays = function()
        assert len(arrays) == len(values[name]), f"{len(arrays)} arrays"
        for i, (array, (shape, numbers)) in enumerate(zip(arrays, values[name])):
            have, want = np.asarray(array), np.array(numbers).reshape(shape)
            assert have.shape == want.shape, f"array {i}: {have.shape}, not {want.shape}"
            close = np.isclose(have.astype(np.float64), want, rtol=1e-5, atol=1e-5, equal_nan=True)
            assert close.all(), f"array {i}: {have} not {want}"
    except Exception as error:
        failed.append(name)
        print(f"{name}: {type(error).__name__}: {str(error)[:300]}")
        if os.environ.get("GANTRY_TEST_VERBOSE"):
            traceback.print_exc()
assert not failed, f"{len(failed)} of {len(values)} differ: {failed}"
assert len(values) >= 40
