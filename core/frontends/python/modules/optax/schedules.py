# SPDX-License-Identifier: Apache-2.0
"""optax.schedules."""
from optax._schedules import *  # noqa: F401,F403
