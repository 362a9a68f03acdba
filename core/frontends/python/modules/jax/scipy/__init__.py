# SPDX-License-Identifier: Apache-2.0
"""jax.scipy: special functions."""
from jax.scipy import special
