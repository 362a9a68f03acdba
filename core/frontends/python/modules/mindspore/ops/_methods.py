# SPDX-License-Identifier: Apache-2.0
"""Methods of tensors: functions of ops whose first argument is the tensor."""
import functools

# Methods whose modules come late.
_LATE = {"col2im", "diagonal_scatter", "select_scatter", "slice_scatter", "fills", "mvlgamma", "soft_shrink", "masked_scatter"}


@functools.lru_cache(None)
def find(name):
    from mindspore.ops import _refused, _tensor_methods, function
    own = getattr(_tensor_methods, name, None)
    if callable(own) and not name.startswith("_") and getattr(own, "__module__", "") == "mindspore.ops._tensor_methods":
        return _refused.guarded(own, name)
    found = getattr(function, name, None)
    if callable(found) and name in function.__all__:
        return found
    from mindspore.ops import _late
    return _late.find(name) if name in _LATE else None
