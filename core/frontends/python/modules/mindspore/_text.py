# SPDX-License-Identifier: Apache-2.0
"""A tensor as text, as MindSpore writes it: numbers in columns, long lines broken, what is long left out."""

_IN_A_LINE = {"f": 12, "b": 12}  # of one dimension, before the line is broken; 24 integers
_MOST = 1000  # of one dimension
_MOST_OF_EACH = 6  # of several: three at each end


def described(tensor, separator):
    """Tensor(shape=..., dtype=..., value=...), elements with @separator between them."""
    head = f"Tensor(shape={list(tensor.shape)}, dtype={tensor.dtype}, value="
    if not tensor.shape:
        value = tensor.tolist()
        blank = " " if separator == ", " else ""
        return f"{head}{blank}{f'{value:g}' if isinstance(value, float) else value})"
    if tensor.size == 0:
        return f"{head} )" if tensor.ndim == 1 else f"{head}\n)"
    values = tensor.tolist()
    write = _writer(tensor.element, values)
    if tensor.ndim == 1:
        return f"{head} {_row(values, write, separator, _MOST, _IN_A_LINE.get(tensor.element[0], 24))})"
    return f"{head}\n{_block(values, write, separator, 1)})"


def _leaves(values):
    for value in values:
        if isinstance(value, list):
            yield from _leaves(value)
        else:
            yield value


def _writer(element, values):
    if element == "bf16":
        return str
    if element[0] == "f":
        digits, width = (4, 11) if element == "f16" else (8, 15)
        return lambda value: f"{value:{width}.{digits}e}"
    width = max((len(str(v)) for v in _leaves(values)), default=0)
    return lambda value: f"{str(value):>{width}}"


def _row(values, write, separator, most, in_a_line=None):
    if len(values) > most:
        ends = [separator.join(map(write, part)) for part in (values[:3], values[-3:])]
        return f"[{ends[0]} ... {ends[1]}]"
    lines = [values[i:i + in_a_line] for i in range(0, len(values), in_a_line)] if in_a_line else [values]
    return "[" + f"{separator}\n ".join(separator.join(map(write, line)) for line in lines) + "]"


def _block(values, write, separator, depth):
    """Dimensions but the last: each of their elements in lines of its own."""
    if not isinstance(values[0], list):
        return _row(values, write, separator, _MOST_OF_EACH)
    shown = values[:3] + [None] + values[-3:] if len(values) > _MOST_OF_EACH else values
    parts = ["..." if v is None else _block(v, write, separator, depth + 1) for v in shown]
    ends = [separator.rstrip() if part != "..." else "" for part in parts[:-1]] + [""]
    return "[" + ("\n" + " " * depth).join(part + end for part, end in zip(parts, ends)) + "]"


def only(function, **arguments):
    """Refuses what is not built: of each argument what was given, and what it may be."""
    for name, (given, built) in arguments.items():
        if given is not built and (type(given) is not type(built) or given != built):
            raise NotImplementedError(f"For '{function}', '{name}' must be {built!r}: {given!r} is not supported.")


def no_modulo(modulo):
    if modulo is not None:
        raise TypeError("pow() of a tensor takes no modulo")


def class_word(value):
    """What inference calls the type of @value."""
    return {"int": "Int64", "float": "Float32", "bool": "Bool", "str": "String", "NoneType": "None", "list": "List", "tuple": "Tuple", "dict": "Dictionary",
            "function": "Func", "Type": "TypeType"}.get(getattr(value, "number_kind", type(value).__name__), "External")


def need_tensor(value, graph, eager):
    """Refuses what is no tensor. @graph, @eager: the texts; {word} and {kind} stand for what it is instead"""
    import _gantry
    from mindspore._core import Tensor
    if not isinstance(value, Tensor):
        raise TypeError((graph if _gantry.in_graph() else eager).format(word=class_word(value), kind=type(value)))
    return value
