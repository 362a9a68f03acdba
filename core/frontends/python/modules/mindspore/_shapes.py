# SPDX-License-Identifier: Apache-2.0
"""Shapes and axes: numbers alone, with what MindSpore says of those that do not fit."""

# What MindSpore calls the operations whose operands are broadcast.
_PRIMITIVES = {"add": "Add", "subtract": "Sub", "multiply": "Mul", "divide": "Div", "power": "Pow", "remainder": "FloorMod", "maximum": "Maximum",
               "minimum": "Minimum", "and": "BitwiseAnd", "or": "BitwiseOr", "xor": "BitwiseXor", "atan2": "Atan2", "select": "Select",
               "EQ": "Equal", "NE": "NotEqual", "LT": "Less", "LE": "LessEqual", "GT": "Greater", "GE": "GreaterEqual"}


def broadcast_shapes(a, b, name="BroadcastTo"):
    """@name: of the operation, for the message"""
    n, first, second = max(len(a), len(b)), a, b
    a, b = (1,) * (n - len(a)) + tuple(a), (1,) * (n - len(b)) + tuple(b)
    shape = []
    for i, (x, y) in enumerate(zip(a, b)):
        if x != y and x != 1 and y != 1:
            raise ValueError(f"For '{_PRIMITIVES.get(name, name)}', input1.shape and input2.shape need to broadcast. The value of input1.shape"
                             f"[{len(first) - n + i + 1}] or input2.shape[{len(second) - n + i + 1}] must be 1 or -1 when they are not the same, "
                             f"but got input1.shape = {list(first)} and input2.shape = {list(second)}")
        shape.append(y if x == 1 else x)
    return tuple(shape)


def _braces(shape):
    return "[const vector]{" + ", ".join(map(str, shape)) + "}"


def reshape_refusal(old, new):
    return ValueError(f"For primitive[Reshape], the accumulate of x_shape must be equal to out_shape, but got x_shape: {_braces(old)}, "
                      f"and out_shape: {_braces(new)}")


def normal_axes(axis, rank):
    if axis is None or (isinstance(axis, (tuple, list)) and not axis):
        return tuple(range(rank))
    axes = (axis,) if not isinstance(axis, (tuple, list)) else tuple(axis)
    for a in axes:
        if not isinstance(a, int) and not hasattr(a, "__index__"):
            raise TypeError(f"an axis is an integer, not {type(a).__name__}")
        if not -max(rank, 1) <= int(a) < max(rank, 1):
            raise ValueError(f"the axis value must be in [{-max(rank, 1)},{max(rank, 1)}), but got {a}.")
    return tuple(sorted({int(a) % rank for a in axes})) if rank else ()
