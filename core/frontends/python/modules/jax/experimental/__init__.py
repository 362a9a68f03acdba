# SPDX-License-Identifier: Apache-2.0
"""What of jax.experimental is there."""
from jax import _effects
from jax._names import missing as _missing


def io_callback(callback, result_shape_dtypes, *args, sharding=None, ordered=False, **kwargs):
    if result_shape_dtypes is not None:
        raise NotImplementedError("jax.experimental.io_callback: a graph takes no results of Python; compute them outside and pass them as an argument")
    _effects.call(callback, *args, **kwargs)


def __getattr__(name):
    raise _missing("jax.experimental", name, globals())
