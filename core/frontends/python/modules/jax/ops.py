# SPDX-License-Identifier: Apache-2.0
"""jax.ops: reductions of segments. What belongs to no segment is left out."""
from jax import _core
from jax._names import missing as _missing
import jax.numpy as jnp


def _segments(name, initial):
    def function(data, segment_ids, num_segments=None, indices_are_sorted=False, unique_indices=False, bucket_size=None, mode=None):
        from jax._names import refuse
        refuse(f"jax.ops.{function.__name__}", "bucket_size", bucket_size, None)
        data, ids = _core.asarray(data), _core.asarray(segment_ids)
        n = int(jnp.max(ids)) + 1 if num_segments is None else int(num_segments)
        start = jnp.full((n,) + data.shape[ids.ndim:], initial(data.dtype), data.dtype)
        # A number below 0 is of no segment: it does not count from the end.
        return getattr(start.at[jnp.where(ids < 0, n, ids)], name)(data, mode=mode)
    return function


def _limit(highest):
    def limit(dtype):
        if dtype.category == "float":
            return float("inf") if highest else -float("inf")
        return jnp.iinfo(dtype).max if highest else jnp.iinfo(dtype).min
    return limit


segment_sum, segment_prod = _segments("add", lambda _: 0), _segments("multiply", lambda _: 1)
segment_max, segment_min = _segments("max", _limit(False)), _segments("min", _limit(True))
for _function, _name in ((segment_sum, "sum"), (segment_prod, "prod"), (segment_max, "max"), (segment_min, "min")):
    _function.__name__ = f"segment_{_name}"


def __getattr__(name):
    raise _missing("jax.ops", name, globals())
