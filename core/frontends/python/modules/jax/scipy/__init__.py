# SPDX-License-Identifier: Apache-2.0
"""jax.scipy: special functions, linear systems, distributions."""
from jax.scipy import linalg, special


def __getattr__(name):
    if name in ("ndimage", "signal", "sparse", "stats"):
        import importlib
        return importlib.import_module(f"jax.scipy.{name}")
    from jax._names import missing
    raise missing("jax.scipy", name, globals())
