# SPDX-License-Identifier: Apache-2.0
from jax.scipy.sparse import linalg  # noqa: F401
