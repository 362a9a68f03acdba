# SPDX-License-Identifier: Apache-2.0
"""Tensors of nested sequences."""
import reprlib
import _gantry
from _gantry import op as _op
from mindspore import _core


def nested(value, dtype):
    """A tensor of sequences of numbers and known tensors."""
    value = _plain(value)
    try:
        made = _gantry.value_from(value, dtype.element if dtype is not None else None)
    except _core.NeedsData:
        raise
    except ValueError as error:
        raise _uneven(value, error) from None
    return made if dtype is None else _core.convert(made, dtype)


def _uneven(value, reason):
    return TypeError(f"For Tensor, the input_data is {reprlib.repr(value)} that contain unsupported element: {reason}.")


def _plain(value):
    """Sequences without arrays in them."""
    if isinstance(value, (list, tuple)):
        return [_plain(v) for v in value]
    if hasattr(value, "__array_interface__"):
        return value.tolist()
    return value


def stacked(values, dtype):
    """A tensor of tensors, some of which are variables, along a new dimension."""
    parts = [_core.tensor_of(v) for v in values]
    shapes = [p.shape for p in parts]
    other = next((s for s in shapes if s != shapes[0]), None)
    if other is not None:
        raise _uneven(values, f"its elements have different shapes, {shapes[0]} and {other}")
    common = dtype or _core._common([p.dtype for p in parts])
    parts = [_core.reshape(_core.convert(p, common), (1,) + p.shape) for p in parts]
    return _op("concatenate", parts, {"dimension": 0}) if len(parts) > 1 else parts[0]
