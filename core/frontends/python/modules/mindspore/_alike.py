# SPDX-License-Identifier: Apache-2.0
"""Whether values are equal, variables and structures of them too, and what sequences answer by it."""
import operator
import _gantry
from mindspore import _core
from mindspore._core import Tensor, Scalar, External


def _number_like(value):
    return isinstance(value, (Tensor, Scalar, int, float))


def same(a, b):
    """True or False where that is known, else a variable truth."""
    if a is b:
        return True
    if isinstance(a, (tuple, list)) or isinstance(b, (tuple, list)):
        if not (isinstance(a, list) and isinstance(b, list) or isinstance(a, tuple) and isinstance(b, tuple)) or len(a) != len(b):
            return False
        return _all(same(x, y) for x, y in zip(a, b))
    if isinstance(a, (Tensor, Scalar)) or isinstance(b, (Tensor, Scalar)):
        if not (_number_like(a) and _number_like(b)):
            return False
        x, y = (_core.tensor_of(v) for v in (a, b))
        if x.shape != y.shape and x.size != 1 and y.size != 1:
            return False
        return _truth(_core.reduce("and", _core.compare("EQ", x, y)))
    if hasattr(a, "__array_interface__") or hasattr(b, "__array_interface__"):
        import numpy
        return bool(numpy.array_equal(a, b))
    return bool(a == b)


def _truth(tensor):
    return _gantry.number(_core.reshape(tensor, ()), "bool") if not tensor.has_data else bool(tensor)


def _all(truths):
    found = True
    for truth in truths:
        if truth is False:
            return False
        if truth is not True:
            found = truth if found is True else _gantry.op("and", (found, truth))
    return found if isinstance(found, bool) else _gantry.number(found, "bool")


def contains(sequence, item):
    found = False
    for element in sequence:
        truth = same(element, item)
        if truth is True:
            return True
        if truth is not False:
            found = truth if found is False else _gantry.op("or", (found, truth))
    return found if isinstance(found, bool) else _gantry.number(found, "bool")


def _holds_external(value):
    return isinstance(value, External) or isinstance(value, (tuple, list)) and any(_holds_external(v) for v in value)


def count(sequence, item):
    if _holds_external(sequence) or _holds_external(item):
        return _gantry.host_call(count, (sequence, item), "int")
    known, variables = 0, None
    for element in sequence:
        truth = same(element, item)
        if isinstance(truth, bool):
            known += truth
        else:
            one = _core.convert(_core.tensor_of(truth), _core.int64)
            variables = one if variables is None else _core.add(variables, one)
    return known if variables is None else _gantry.number(_core.add(variables, known), "int")


def index(sequence, arguments):
    """sequence.index (*arguments); what depends on data is found when the graph runs."""
    item, bounds = arguments[0], arguments[1:]
    if not (_holds_external(sequence) or _holds_external(item)):
        for i in range(len(sequence))[slice(*(bounds + (None, None))[:2])]:
            truth = same(sequence[i], item)
            if truth is True:
                return i
            if truth is not False:
                break
        else:
            raise ValueError(f"{item!r} is not in {'list' if isinstance(sequence, list) else 'tuple'}")
    return _gantry.host_call(index, (sequence, arguments), "int")


def host_slice(sequence, bounds):
    """A slice whose bounds data decides."""
    return _gantry.host_call(_slice_now, (sequence, bounds.start, bounds.stop, bounds.step), "object")


def _slice_now(sequence, *bounds):
    return sequence[slice(*(operator.index(b) if b is not None else None for b in bounds))]
