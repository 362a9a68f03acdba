# SPDX-License-Identifier: Apache-2.0
"""What of SciPy has its names in MindSpore."""
from mindspore.scipy import linalg


def __getattr__(name):
    from mindspore._paths import places_of
    if places_of(f"mindspore.scipy.{name}") is not None:
        import importlib
        return importlib.import_module(f"mindspore.scipy.{name}")
    raise AttributeError(f"module 'mindspore.scipy' has no attribute '{name}'")
