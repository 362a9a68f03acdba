# SPDX-License-Identifier: Apache-2.0
"""How far a result may be from what double precision gives."""
from reference import EPSILON

# How much further than a computation in single precision by PyTorch, and than a few that were moved by a rounding, another order of
# the same sums may be: the maximum of a few samples of rounding underestimates that of another one.
TIMES = 16
# Where a tensor did not move at all (what is copied, or computed exactly by chance): some roundings of its largest element.
ROUNDINGS = 16


def allowed(move, size):
    """@move: by how much rounding moved the tensor; @size: its largest element."""
    return TIMES * move + ROUNDINGS * EPSILON * size
