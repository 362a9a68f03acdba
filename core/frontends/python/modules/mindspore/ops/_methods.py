# SPDX-License-Identifier: Apache-2.0
"""Methods of tensors: functions of ops whose first argument is the tensor."""
import functools

_OTHER_NAMES = {"expand_as": "expand_as", "abs": "abs", "sum": "sum"}


@functools.lru_cache(None)
def find(name):
    from mindspore.ops import _tensor_methods, function
    own = getattr(_tensor_methods, name, None)
    if callable(own) and not name.startswith("_") and getattr(own, "__module__", "") == "mindspore.ops._tensor_methods":
        return own
    found = getattr(function, name, None)
    return found if callable(found) and name in function.__all__ else None
