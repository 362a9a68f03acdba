# SPDX-License-Identifier: Apache-2.0
"""What the interpreter calls: of each name in `hooks` it knows what it does, not how."""
import builtins
import _gantry
from mindspore import _alike, _core, _functions, _sequences
from mindspore._text import described
from mindspore._core import Tensor, Scalar, External


def predicate(value):
    """A variable as bool[]."""
    if isinstance(value, Scalar):
        value = value._tensor()
    if value.size != 1:
        raise ValueError(f"Only tensor which shape is () or (1,) can be converted to bool, but got tensor shape is {value.shape}.")
    if value.element != "bool":
        value = _core.compare("NE", value, 0)
    return _core.reshape(value, ())


def logical(is_and, left, condition, right):
    """`left and right` as one operation where both are truth values of one form; None where a branch is needed."""
    def is_truth(value):
        return isinstance(value, bool) or isinstance(value, (Tensor, Scalar)) and value.element == "bool"
    if not (is_truth(left) and is_truth(right)):
        return None
    if isinstance(left, Tensor) != isinstance(right, Tensor) and not isinstance(right, bool):
        return None
    if isinstance(right, bool):
        if isinstance(left, Tensor):
            return None
        right = Tensor(right)
    shape = left.shape
    if isinstance(right, Tensor) and right.shape != shape:
        return None
    other = predicate(right)
    result = _gantry.op("and" if is_and else "or", (condition, other))
    return _core.reshape(result, shape) if isinstance(left, Tensor) else _gantry.number(result, "bool")


def to_number(kind):
    def convert(value, *rest):
        if isinstance(value, Scalar):
            value = value._tensor()
        if value.size != 1:
            raise ValueError(f"Only one element tensors can be converted to Python scalars, but got tensor shape is {value.shape}.")
        return _gantry.number(_core.reshape(_core.convert(value, _core._SCALAR_TYPES[kind]), ()), kind)
    return convert


def plain_index(index):
    """An index that is known, as Python's lists take it; None where it is not."""
    if isinstance(index, (Tensor, Scalar)):
        if index.is_variable:
            return None
        return int(index)
    if isinstance(index, builtins.slice):
        return plain_slice(index)
    return index


def plain_slice(index):
    if any(isinstance(v, (Tensor, Scalar)) and v.is_variable and not v.has_data for v in (index.start, index.stop, index.step)):
        raise _core.NeedsData("the bounds of a slice have to be known while compiling")
    return builtins.slice(*(int(v) if isinstance(v, Tensor) else v for v in (index.start, index.stop, index.step)))


def plain_arguments(arguments):
    return tuple(int(v) if isinstance(v, Tensor) else v for v in arguments)


def _index_tensor(index, length):
    index = index._tensor() if isinstance(index, Scalar) else index
    index = _core.reshape(_core.convert(index, _core.int64), ())
    return _core.select(_core.compare("LT", index, 0), _core.add(index, length), index)


def _is_cell(item):
    from mindspore.nn.cell import Cell
    return isinstance(item, Cell)


def sequence_item(sequence, index):
    """sequence[tensor]: of one that is known an element, of a variable one a choice among elements that are alike."""
    if isinstance(index, Tensor) and index.is_variable and isinstance(sequence, tuple) and sequence and all(_is_cell(item) for item in sequence):
        if index.element != "i32":
            raise ValueError(f"switch_layer index must be an int32, but got {index.dtype}")
        if index.ndim != 0:
            raise ValueError(f"switch_layer index must be a 0 dimension tensor, but got a {index.ndim} dimension tensor")
    if isinstance(index, Tensor) and index.dtype.python is not int and index.element != "bool":
        raise ValueError("Only integer tensors of a single element can be converted to an index.")
    plain = plain_index(index)
    if plain is not None:
        return sequence[plain]
    items = list(sequence)
    if not items:
        raise IndexError("For list or tuple getitem, the sequence is empty.")
    at = _index_tensor(index, len(items))
    if all(callable(item) and not isinstance(item, _gantry.Value) for item in items):
        return _Choice(items, at)
    if not all(isinstance(item, (Tensor, Scalar, int, float)) for item in items):
        raise _core.NeedsData("For getitem with a variable index, the elements have to be tensors or numbers of one type and shape.")
    kind = _core._scalar_kind(items[0])
    tensors = [_core.tensor_of(item) for item in items]
    shapes = {t.shape for t in tensors} | {t.element for t in tensors}
    if len(shapes) != 2:
        raise _core.NeedsData("For getitem with a variable index, the elements have to be tensors or numbers of one type and shape.")
    stacked = _sequences.stacked(tensors, None)
    from mindspore import _index
    result = _index.take_row(stacked, at)
    return result if kind is None else _gantry.number(_core.convert(result, _core._SCALAR_TYPES[kind]), kind)


class _Choice:
    """Cells of a tuple, one of which data chooses."""

    def __init__(self, items, at):
        self.items, self.at = items, at

    def __call__(self, *args, **kwargs):
        results = [_gantry.call(item, args, kwargs) for item in self.items]
        result = results[0]
        for i, other in enumerate(results[1:], 1):
            result = _core.select(_core.compare("EQ", self.at, i), other, result)
        return result


def sequence_setitem(sequence, index, value):
    at = _index_tensor(index, len(sequence))
    result = []
    for i, item in enumerate(sequence):
        chosen = _core.select(_core.compare("EQ", at, i), _core.tensor_of(value), _core.tensor_of(item))
        kind = _core._scalar_kind(item)
        result.append(chosen if kind is None else _gantry.number(_core.convert(chosen, _core._SCALAR_TYPES[kind]), kind))
    return result


def extend_elements(tensor):
    return [_core.reshape(part, (1,) + part.shape) if part.ndim == 0 else part for part in _core.elements(tensor)]


def tensor_elements(tensor):
    if isinstance(tensor, Scalar):
        raise TypeError(f"'{tensor.number_kind}' object is not iterable")
    return _core.elements(tensor)


def tensor_setitem(tensor, index, value):
    from mindspore import _index
    return _index.set(tensor, index, value)


def range_bounds(arguments):
    values = [a if not isinstance(a, Tensor) else (to_number("int")(a) if a.is_variable else int(a)) for a in arguments]
    if len(values) == 1:
        values = [0] + values
    return tuple(values) + ((1,) if len(values) == 2 else ())


def range_tuple(*bounds):
    return tuple(range(*(int(b) for b in bounds)))


# What happens when the graph runs

def raise_now(exception):
    raise exception


def assert_now(condition, message):
    if not condition:
        raise AssertionError(message) if message is not None else AssertionError()
    return True


def set_attribute(target, name, value):
    setattr(target, name, value)
    return True


class _SetGlobal:
    def __init__(self, names):
        self.names = names

    def __call__(self, name, value):
        self.names[name] = value
        return True


def set_global(names, name, value):
    return _gantry.host_call(_SetGlobal(names), (name, value), "bool")


def call_object(function, *args, **kwargs):
    return function(*args, **kwargs)


def identity(value):
    return value


def host_length(value):
    return _gantry.host_call(len, (value,), "int")


def host_list(value):
    return _gantry.host_call(list, (value,), "object")


def host_unpack(value, n):
    def unpack(value):
        items = tuple(value)
        if len(items) != n:
            raise ValueError(f"not enough values to unpack (expected {n}, got {len(items)})" if len(items) < n
                             else f"too many values to unpack (expected {n})")
        return items
    import operator
    items = _gantry.host_call(unpack, (value,), "object")
    return tuple(_gantry.host_call(operator.getitem, (items, i), "object") for i in builtins.range(n))


host_attributes = frozenset({"asnumpy", "numpy", "tolist"})


def host_method(value, name):
    """A method of a tensor that only its bytes can answer."""
    def method(*args, **kwargs):
        return _gantry.host_call(_named_call(name), (value,) + args, "object")
    return method


def _named_call(name):
    def call(value, *args):
        return getattr(_core.tensor_of(value) if not isinstance(value, Tensor) else value, name)(*args)
    return call


def join_string(pieces):
    text = []
    for piece in pieces:
        if isinstance(piece, tuple):
            value, conversion, spec = piece
            value = {115: str, 114: repr, 97: ascii}.get(conversion, lambda v: v)(value)
            text.append(format(value, spec))
        else:
            text.append(piece)
    return "".join(text)


def as_element(tensor, name):
    return _core.convert(tensor, _core.as_type(name.partition("[")[0].strip() if "[" in name else name))


def _is_printed(value):
    """Whether MindSpore's Print takes it; what CPython alone knows is printed by CPython."""
    if isinstance(value, (tuple, list)):
        return all(_is_printed(v) for v in value)
    return value is None or isinstance(value, (Tensor, str, int, float))


def _print_lines(value):
    if isinstance(value, (tuple, list)) and _holds_tensor(value):
        for element in value:
            _print_lines(element)
    else:
        print(described(value, " ") if isinstance(value, Tensor) else value)


def _holds_tensor(value):
    return isinstance(value, Tensor) or (isinstance(value, (tuple, list)) and any(_holds_tensor(v) for v in value))


def graph_print(*args, **kwargs):
    """Each argument on a line of its own, as the operation Print does."""
    if kwargs or not args or not all(_is_printed(a) for a in args):
        return graph_print_plainly(*args, **kwargs)
    for value in args:
        _print_lines(value)
    return True


def graph_print_plainly(*args, **kwargs):
    print(*args, **kwargs)
    return True


def graph_str(value=""):
    return described(value, ", ").replace("value= ", "value=") if isinstance(value, Tensor) else str(value)


# Builtins by their graph semantics

_KINDS = {"int": int, "float": float, "bool": bool}


def graph_isinstance(value, types):
    if isinstance(value, Scalar):
        return issubclass(_KINDS[value.number_kind], types)
    if isinstance(value, Tensor) and value.is_variable:
        from mindspore.common.parameter import Parameter
        if types is Parameter:
            return value._is_parameter
    return isinstance(value, types)


def graph_type(value):
    return _KINDS[value.number_kind] if isinstance(value, Scalar) else type(value)


def _extreme(builtin, name):
    def choose(*values, **kwargs):
        if kwargs:
            return builtin(*values, **kwargs)
        if len(values) == 1 and isinstance(values[0], Tensor):
            if values[0].ndim == 0:
                raise TypeError("Cannot iterate over a scalar tensor.")
            if values[0].ndim != 1:
                raise ValueError("The truth value of an array with more than one element is ambiguous. Use a.any() or a.all()")
            return _core.reduce(name[:3], values[0])
        items = values if len(values) > 1 else tuple(values[0])
        if not _core._has_variable(items) and not any(isinstance(i, Tensor) for i in items):
            return builtin(items)
        if any(isinstance(i, (tuple, list, str)) for i in items):
            return builtin(items)
        result = items[0]
        for other in items[1:]:
            if any(isinstance(v, Tensor) and v.size != 1 for v in (result, other)):
                raise ValueError("The truth value of an array with more than one element is ambiguous.")
            a, b = _core._pair(_plain_scalar(result), _plain_scalar(other))
            both = isinstance(result, (Tensor,)) or isinstance(other, (Tensor,))
            best = _core._broadcast_op("maximum" if name.startswith("max") else "minimum", a, b)
            result = best if both else _core._number(best)
        return result
    return choose


def _plain_scalar(value):
    return value._tensor() if isinstance(value, Scalar) else value


def graph_sum(value, start=0):
    total = start
    for part in _core.elements(value):
        total = _core.add(total, part)
    return total


def graph_round(value, digits=None):
    if isinstance(value, Tensor) and digits is not None:
        raise RuntimeError(f"For Round only support decimals equal 0, but got decimals equal {digits}")
    if isinstance(value, Scalar):
        if value.number_kind != "float":
            return value
        return _core._number(_core.convert(_gantry.op("round_nearest_even", (value._tensor(),)), _core.int64))
    return value.__round__(digits)


def differentiates_numbers():
    from mindspore.common.api import compile_config
    return bool(compile_config.GRAD_FOR_SCALAR)


def cotangent(given, element, type_id):
    return _core.convert(_core.tensor_of(given), _core._by_element[element])


def as_parameter(value, before):
    """What a Parameter is after an assignment; @before: None where no gradient is taken by the Parameter."""
    from mindspore.ops.grad import stop_gradient
    if not isinstance(value, Tensor) or value.element == "bool":
        return value
    stopped = stop_gradient(value)
    return stopped if before is None else stopped + (before - stop_gradient(before))


def zeros_of(value):
    return Tensor(_core.full(value.shape, 0, value.dtype))


def stopped_plus(value, zeros):
    from mindspore.ops.grad import stop_gradient
    return _core.add(stop_gradient(value), zeros)


def beside(cut, out):
    """What `cut` has beside the value of `out`: nothing, with the derivative of `cut`."""
    from mindspore.ops.grad import stop_gradient
    return _core.sub(cut, stop_gradient(out))


def bprop_gradients(arguments, given):
    """What a bprop gave, for each variable of its arguments in order; None where it gave none."""
    given = given if isinstance(given, tuple) else (given,)
    if len(given) != len(arguments):
        raise TypeError(f"For user define method 'bprop' of net, the gradients number should be equal to the forward inputs number. "
                        f"Got {len(given)} gradients for {len(arguments)} inputs.")
    flat = []

    def walk(argument, gradient):
        if isinstance(argument, (Tensor, Scalar)) and argument.is_variable:
            flat.append(gradient if isinstance(gradient, Tensor) else None)
        elif isinstance(argument, (tuple, list)):
            for a, g in zip(argument, gradient if isinstance(gradient, (tuple, list)) else (None,) * len(argument)):
                walk(a, g)
    for a, g in zip(arguments, given):
        walk(a, g)
    return flat


def floats_as(value, element):
    """The float tensors in @value as @element, or as they are read where it is None; what changes nothing stays the object it is."""
    if isinstance(value, Tensor):
        if value._is_parameter and element is not None or not value.dtype.is_float:
            return value
        wanted = element or value.element
        return value if value.stored_element == wanted else _gantry.op("convert", (value,), {"to": wanted})
    if isinstance(value, dict):
        made = {k: floats_as(v, element) for k, v in value.items()}
        return made if any(made[k] is not v for k, v in value.items()) else value
    if isinstance(value, (tuple, list)):
        made = [floats_as(v, element) for v in value]
        if all(m is v for m, v in zip(made, value)):
            return value
        return made if isinstance(value, list) else value._make(made) if hasattr(value, "_make") else tuple(made)
    return value


def refusal(name, operands, error, is_strict):
    from mindspore import _refusals
    return _refusals.refusal(name, operands, error, is_strict)


hooks = {
    "refusal": refusal,
    "NeedsData": _core.NeedsData, "NoDerivative": _core.NoDerivative, "truth_number": lambda value: _gantry.number(value, "bool") if isinstance(value, Tensor) else value,
    "same": _alike.same, "sequence_contains": _alike.contains, "sequence_count": _alike.count, "sequence_index": _alike.index,
    "host_slice": _alike.host_slice,
    "differentiates_numbers": differentiates_numbers,
    "truth_tensor": lambda value: value._tensor(),
    "zeros_of": zeros_of, "as_parameter": as_parameter, "stopped_plus": stopped_plus, "beside": beside, "bprop_gradients": bprop_gradients,
    "predicate": predicate,
    "logical_and": lambda left, condition, right: logical(True, left, condition, right),
    "logical_or": lambda left, condition, right: logical(False, left, condition, right),
    "to_int": to_number("int"), "to_float": to_number("float"),
    "plain_index": plain_index, "plain_slice": plain_slice, "plain_arguments": plain_arguments,
    "sequence_item": sequence_item, "sequence_setitem": sequence_setitem, "extend_elements": extend_elements,
    "tensor_elements": tensor_elements, "tensor_setitem": tensor_setitem, "range_bounds": range_bounds, "range_tuple": range_tuple,
    "captures": _functions.Captures, "made_function": _functions.made_function, "function_of_run": _functions.function_of_run,
    "raise_now": raise_now, "assert_now": assert_now, "set_attribute": set_attribute, "set_global": set_global,
    "call_object": call_object, "identity": identity, "host_length": host_length, "host_list": host_list,
    "host_unpack": host_unpack, "host_attributes": host_attributes, "host_method": host_method,
    "join_string": join_string, "as_element": as_element, "graph_print": graph_print, "graph_print_plainly": graph_print_plainly, "graph_str": graph_str,
    "graph_isinstance": graph_isinstance, "graph_type": graph_type, "graph_max": _extreme(max, "maximum"),
    "graph_min": _extreme(min, "minimum"), "graph_sum": graph_sum, "graph_round": graph_round, "cotangent": cotangent,
    "assigned": _core.assigned, "floats_as": floats_as,
}
