# SPDX-License-Identifier: Apache-2.0
"""One of the large programs of the document on host offloading as it is written, at its width of 7168: what it prints and computes.
Usage: gantry-cli python full.py 011|012|full_C. Status 77 where the document or the memory is not there. tools/soak-tutorial runs it."""
import os
import resource
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "rows"))
from lib import document  # noqa: E402

# Which programs stand before it, and GiB that have to be available: what its process takes, and some more.
PROGRAMS = {"011": (("001",), 10), "012": (("001", "011"), 13), "full_C": ((), 13)}


def skip(why):
    print(f"# {name} is left out: {why}")
    sys.exit(77)


def available():
    with open("/proc/meminfo") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("MemAvailable")) / (1 << 20)


name = sys.argv[1]
before, needed = PROGRAMS[name]
if not os.path.isdir(document.FOLDER):
    skip(f"{document.FOLDER} is not there")
if available() < needed:
    skip(f"it takes {needed} GiB, and {available():.1f} GiB are available")

began = time.monotonic()
names, printed = document.run(*before, name)
document.check_optimizer(printed, document.expected(name))
import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402

# The squares of the gradients' elements are beyond f32, so their norm is infinite, and clipped by it they are 0: parameters and state stay
# as they were. JAX gives the same.
for tree, value in ((names["new_params"], 1), (names["offload_opt_state" if name != "011" else "new_opt_state"], 0)):
    for leaf in jax.tree_util.tree_leaves(tree):
        wanted = value if leaf.ndim else 1  # the count of the steps
        assert float(jnp.min(leaf)) == float(jnp.max(leaf)) == wanted, (leaf.shape, wanted)
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1 << 20)
print(f"# {name}: {' '.join(printed.split(chr(10)))}; {time.monotonic() - began:.0f} s, peak of the process {peak:.1f} GiB")
