# SPDX-License-Identifier: Apache-2.0
"""jax.scipy: special functions, linear systems."""
from jax.scipy import linalg, special
