# SPDX-License-Identifier: Apache-2.0
"""What graph mode says of operands that an operator or builtin function does not take: exception and text as MindSpore has them. The
interpreter asks after CPython, or a function of these modules, has refused; what is not listed keeps its exception."""
import builtins
from mindspore._core import Scalar, Tensor
from mindspore._types import Type

_PYTHON_WORDS = {"int": "Int", "float": "Float", "bool": "Bool", "str": "String", "dict": "Dictionary", "function": "Function", "Closure": "Function"}


def _kind(value):
    """The name of its class for Python."""
    return value.number_kind if isinstance(value, Scalar) else type(value).__name__


def _class_word(value):
    if isinstance(value, Tensor) and value._is_parameter:
        return "Parameter"
    if isinstance(value, Type):
        return "mindspore._c_expression.typing." + value.name.rstrip("0123456789")
    place = type(value).__module__
    return _PYTHON_WORDS.get(_kind(value), f"numpy.{_kind(value)}" if place == "numpy" else _kind(value))


def _number_word(value):
    """Of a number its element type, of None and types what the graph calls them."""
    words = {"int": "Int64", "float": "Float32", "bool": "Bool", "NoneType": "none"}
    return "typetype" if isinstance(value, Type) else words.get(_kind(value), _kind(value))


def _type_word(value):
    """The type that the graph has for it."""
    if isinstance(value, Tensor):
        return f"Tensor[{value.dtype}]"
    if isinstance(value, (list, tuple)):
        words = [_type_word(v) for v in value]
        same = len(words) > 1 and len(set(words)) == 1
        return ("List" if isinstance(value, list) else "Tuple") + "[" + (f"{words[0]}*{len(words)}" if same else ",".join(words)) + "]"
    if isinstance(value, dict):
        return f"Dictionary[[{''.join(f'{k},' for k in value)}],[{','.join(_type_word(v) for v in value.values())}]]"
    return {"NoneType": "None", "str": "String", "Type": "TypeType", "function": "Func", "Closure": "Func"}.get(_kind(value), _number_word(value))


def _abstract(value):
    """What inference knows of it."""
    if isinstance(value, Tensor):
        shape = ", ".join(map(str, value.shape))
        return f"AbstractTensor(shape: ({shape}), element: AbstractScalar(Type: {value.dtype}, Value: ValueAny, Shape: NoShape))"
    if isinstance(value, (list, tuple)):
        elements = "".join(f" element[{i}]: {_abstract(v)}," for i, v in enumerate(value))
        return f"Abstract{'List' if isinstance(value, list) else 'Tuple'}{{{elements} }}"
    if isinstance(value, dict):
        return "AbstractDictionary{ " + "".join(f"({_abstract(k)}: {_abstract(v)}) " for k, v in value.items()) + "}"
    if value is None:
        return "AbstractNone(Value: None)"
    if isinstance(value, Type):
        return f"AbstractType(Value: {value})"
    if isinstance(value, (Scalar, int, float, str)):
        text = "ValueAny" if isinstance(value, Scalar) else str(value).lower() if isinstance(value, bool) else f"{value:g}" if isinstance(value, float) else value
        return f"AbstractScalar(Type: {'String' if isinstance(value, str) else _number_word(value)}, Value: {text}, Shape: NoShape)"
    if _kind(value) in ("function", "Closure"):
        return "FuncGraphAbstractClosure"
    return f"AbstractScalar(Type: External, Value: PythonObject(type: {type(value)}, value: {value}), Shape: NoShape)"


def _is_number(value):
    return isinstance(value, (Scalar, int, float))


def _no_length(value):
    return AttributeError(f"'{_class_word(value)}' object has no attribute '__len__'")


def _iterates(value):
    return hasattr(type(value), "__iter__") and not isinstance(value, Scalar)


def _scalar_tensor(*values):
    return any(isinstance(v, Tensor) and v.ndim == 0 for v in values)


def iterated(value):
    if _scalar_tensor(value):
        return TypeError("Not support len of a 0-D tensor.")
    if _kind(value) in ("function", "Closure"):
        return _no_length(value)
    if not _iterates(value):
        word = _number_word(value)
        return TypeError(f"'{word.lower() if _is_number(value) else word}' object is not iterable")


def _python_iterated(*values):
    """Builtin functions that graph mode leaves to Python."""
    if _scalar_tensor(*values):
        return TypeError("Cannot iterate over a scalar tensor.")
    for value in values:
        if not _iterates(value):
            word = _class_word(value) if isinstance(value, Type) else _kind(value)
            return TypeError(f"'{'function' if word == 'Closure' else word}' object is not iterable")


def _truth_of_all(value):
    for element in value if isinstance(value, (list, tuple)) else ():
        if isinstance(element, Tensor) and element.size != 1:
            return ValueError(f"The tensor should have only one element, but got {element.size}, more than one element is ambiguous.")
    if isinstance(value, Tensor) and value.ndim > 1:
        return ValueError(f"The tensor should have only one element, but got {value.size // len(value)}, more than one element is ambiguous.")
    return _python_iterated(value)


def _length(value):
    if _scalar_tensor(value):
        return TypeError("Not support len of a 0-D tensor.")
    if not hasattr(type(value), "__len__") or isinstance(value, Scalar):
        return _no_length(value)


def _extreme(name):
    def refusal(*values):
        if len(values) != 1:
            return None
        if _scalar_tensor(*values):
            return TypeError("Cannot iterate over a scalar tensor.")
        if _is_number(values[0]):
            return TypeError("The object is not iterable.")
        if hasattr(type(values[0]), "__len__") and not isinstance(values[0], Tensor) and len(values[0]) == 0:
            return ValueError(f"{name}() arg is an empty sequence.")
        return _python_iterated(*values)
    return refusal


def _sum(value, *start):
    if _scalar_tensor(value):
        return TypeError("Cannot iterate over a scalar tensor.")
    if _is_number(value):
        return TypeError(f"{_number_word(value)} object is not iterable.")
    return iterated(value)


def _one_element(text):
    def refusal(value=None, *rest):
        if rest and isinstance(value, (Tensor, Scalar)):
            return TypeError("int() does not support non-constant input when 'base' is specified.")
        if isinstance(value, Tensor) and value.size != 1:
            return ValueError(text.format(shape=", ".join(map(str, value.shape))))
    return refusal


def _tensor_only(name):
    def refusal(value=None, *rest):
        if rest:
            return None
        if value is None or isinstance(value, (list, tuple)) and any(isinstance(v, (Tensor, Scalar)) for v in value) or isinstance(value, (dict, Type)) or _kind(value) in ("function", "Closure"):
            return TypeError(f"For Operator[{name}], input's type '{_type_word(value)}' does not match expected type 'Tensor'. The reason may be: "
                             "lack of definition of type cast, or incorrect type when creating the node.")
    return refusal


def _range(*bounds):
    if not 1 <= len(bounds) <= 3:
        return RuntimeError(f"For 'make_range', the input size should within [1, 3] but got{len(bounds)}")
    for i, bound in enumerate(bounds):
        if not isinstance(bound, int) or isinstance(bound, bool):
            return TypeError(f"For 'make_range', the {i}th input should be a int scalar but got {_abstract(bound)}")
    if len(bounds) == 3 and bounds[2] == 0:
        return RuntimeError("For 'range', the argument 'step' could not be 0.")


def _enumerate(value, start=0):
    if _is_number(value):
        return TypeError(f"For 'enumerate', the 'first input' should be tuple or list or tensor, but got <class '{_kind(value)}'>.")
    if not hasattr(type(value), "__len__"):
        return _no_length(value)
    if not isinstance(start, int):
        return TypeError(f"For 'enumerate', the 'start' should be a const int number, but got {start}.")
    return iterated(value)


def _zip(*values):
    if not values:
        return RuntimeError("The zip operator must have at least 1 argument, but the size of arguments is 0.")
    return _python_iterated(*values)


def _unary(name, multitype):
    """@multitype: where MindSpore looks for a function that takes the operand, and there is none for it."""
    def refusal(value):
        if isinstance(value, dict):
            return RuntimeError(f"For operation '{name}', current input arguments types are <Dictionary>. The 1-th argument type 'Dictionary' "
                                "is not supported now.")
        if not multitype or isinstance(value, (Tensor, Scalar)):
            return None
        if isinstance(value, (str, list, tuple, type(None), Type)) or _kind(value) in ("function", "Closure"):
            return ValueError("For 'MultitypeFuncGraph', cannot find fn match given args.")
        return NotImplementedError(f"The python type {type(value)} cannot be converted to MindSpore type.")
    return refusal


def _star(value):
    if not isinstance(value, (Tensor, tuple, list, dict)) and not hasattr(value, "__array_interface__"):
        return RuntimeError(f"The arguments of UnpackCall operator should be tuple, list or dict, but got {_abstract(value)}")


def _mapped(value):
    if not _iterates(value) or _scalar_tensor(value):
        return RuntimeError(f"Map can only be applied to list, tuple, but got {_type_word(value)}.")


def _unpacked(value):
    if _scalar_tensor(value):
        return TypeError("For 'StridedSlice', input can not be a scalar.")
    if not _iterates(value):
        word = _class_word(value) if isinstance(value, Type) else _kind(value)
        return TypeError(f"'{'function' if word == 'Closure' else word}' object is not subscriptable")
    if isinstance(value, (list, tuple)) and not value:
        return ValueError(f"For primitive:'{'list_getitem' if isinstance(value, list) else 'TupleGetItem'}', cannot get item by index from an "
                          "empty sequence.")


def _attribute(value, name, error=None):
    if isinstance(value, type(builtins)):
        return AttributeError(f"External object has no attribute {name}: {error}")
    from mindspore.nn.cell import Cell
    if hasattr(type(value), "__jit_class__"):
        return AttributeError(f"MsClassObject: '{type(value).__name__}' object has no attribute {name}")
    if isinstance(value, Cell):
        return None
    return AttributeError(f"'{_class_word(value)}' object has no attribute '{name}'")


_SINGLE = "Only integer tensors of a single element can be converted to an index."


def _item(value, index, error=None):
    if isinstance(value, dict):
        if isinstance(index, (Tensor, Scalar)):
            return RuntimeError("dict_getitem evaluator key only supports string, number, type, none, constant tensor and tuple, but got ValueAny")
        if isinstance(index, (str, int, float)) or isinstance(index, tuple) and not any(isinstance(i, (list, dict)) for i in index):
            return ValueError(f"The key {index} does not exist in the dict:{value}")
        return None
    if isinstance(error, TypeError) and str(error).startswith("When JIT_SYNTAX_LEVEL"):
        return None
    if isinstance(value, (str, list, tuple)) and isinstance(index, Tensor) and not any(callable(v) and not isinstance(v, Tensor) for v in value):
        if index.size != 1 or index.dtype.is_float:
            return ValueError(_SINGLE)
        index = int(index) if index.has_data else index
    if isinstance(value, str) and (isinstance(index, (float, Scalar)) or isinstance(index, bool)):
        word = "ValueAny" if isinstance(index, Scalar) else str(index).lower()
        return RuntimeError(f"string_getitem requires the input to be a string and an integer, but got {value} and {word}.")
    if isinstance(value, Tensor) and value.ndim == 0 and isinstance(index, (int, slice)):
        return TypeError("For 'StridedSlice', input can not be a scalar.")
    if isinstance(value, str) and isinstance(index, int) and not -len(value) <= index < len(value):
        return RuntimeError(f"String index out of range, expect:[{-len(value)}, {len(value) - 1}], but got {index}.")
    if isinstance(value, (list, tuple)) and not isinstance(index, (slice, Tensor)):
        name = "list_getitem" if isinstance(value, list) else "TupleGetItem"
        if isinstance(index, (float, Scalar)):
            return IndexError(f"{name} evaluator index should be an int64 number, but got {_abstract(index)}")
        if not value and isinstance(index, int):
            return ValueError(f"For primitive:'{name}', cannot get item by index from an empty sequence.")
        if isinstance(index, int):
            return IndexError(f"{name} evaluator index should be in range[-{len(value)}, {len(value)}), but got {int(index)}.")


def _list_word(value):
    kind = "ValueAny" if isinstance(value, (Scalar, Tensor)) else {"int": "Int64Imm", "float": "FP32Imm", "str": "StringImm", "bool": "BoolImm"}.get(_kind(value))
    return kind or _type_word(value)


def _append(value, *args):
    if len(args) != 1:
        return TypeError(f"The parameters number of the function is 2, but the number of provided arguments is {1 + len(args)}.")


def _extend(value, target=None, *more):
    return TypeError(f"For ListInplaceExtend, the second input should be tuple or list but got: {_abstract(target)}")


def _insert(value, index=None, *item):
    return TypeError(f"The second input to ListInplaceInsert must be int scalar but got {_list_word(index)}")


def _pop(value, index=-1):
    if isinstance(index, int) and not isinstance(index, bool):
        return IndexError("The pop index out of range.")
    return TypeError(f"Integer argument expected, but got {_list_word(index)} type value: {'ValueAny' if isinstance(index, Scalar) else index}")


def _set_item(value, index):
    if isinstance(value, list) and isinstance(index, Tensor) and (index.size != 1 or index.dtype.is_float):
        return ValueError(_SINGLE)
    if isinstance(value, list) and not value and isinstance(index, int):
        return ValueError("Can not setitem for an empty sequence.")
    if isinstance(value, list) and isinstance(index, (float, bool)):
        return TypeError(f"list_setitem evaluator index should be an int64 number, but got a {_number_word(index)} number.")
    if isinstance(value, list) and isinstance(index, int) and not -len(value) <= index < len(value):
        return IndexError(f"list_setitem evaluator the index: {int(index)} to set out of range: [{-len(value)},{len(value) - 1}].")


def _key(key):
    return RuntimeError("make_dict evaluator key only supports string, number, type, none, constant tensor and tuple, but got "
                        + ("ValueAny" if isinstance(key, (Tensor, Scalar)) else str(key)))


def _divided(a, b, what=""):
    if _is_number(a) and _is_number(b) and not isinstance(b, Scalar) and b == 0:
        return ValueError(f"The {what}divisor could not be zero. But the divisor is zero now.")


def _modulo(a, b):
    if _is_number(a) and _is_number(b) and not isinstance(b, Scalar) and b == 0:
        return ValueError("Cannot perform modulo operation on zero.")


_SYMBOLS = {"add": "add", "sub": "sub", "mul": "mul", "truediv": "div", "floordiv": "floordiv", "mod": "mod", "pow": "pow",
            "lshift": "left_shift", "rshift": "right_shift", "and_": "bitwise_and", "or_": "bitwise_or", "xor": "bitwise_xor",
            "lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal"}
_PRIMITIVES = {"add": "Add", "sub": "Sub", "mul": "Mul", "truediv": "Div", "floordiv": "FloorDiv", "mod": "FloorMod", "pow": "Pow"}
_WORDS = {"Int64": "Number", "Float32": "Number", "none": "None", "str": "String", "list": "List", "tuple": "Tuple", "dict": "Dictionary",
          "function": "Func", "Closure": "Func", "typetype": "TypeType"}


def _operand_word(value):
    return "Tensor" if isinstance(value, Tensor) else _WORDS.get(_number_word(value), "Bool" if _kind(value) == "bool" else "External")


def _given_word(value):
    if isinstance(value, Tensor):
        return "Tensor"
    return {"str": "string", "NoneType": "None", "Type": "mindspore.dtype"}.get(_kind(value), str(type(value)))


def _binary(name):
    def refusal(a, b):
        if isinstance(a, dict) or isinstance(b, dict):
            words = [_operand_word(v) for v in (a, b)]
            n = 1 if isinstance(a, dict) else 2
            return RuntimeError(f"For operation '{_SYMBOLS[name]}', current input arguments types are <{', '.join(words)}>. The {n}-th argument type "
                                "'Dictionary' is not supported now.")
        if name in ("truediv", "floordiv") and _divided(a, b) is not None:
            return _divided(a, b, "floor " if name == "floordiv" and isinstance(a, Scalar) else "")
        if name == "mod" and _modulo(a, b) is not None:
            return _modulo(a, b)
        if name in ("lshift", "rshift") and (isinstance(a, Tensor) or isinstance(b, Tensor)):
            return TypeError(f"unsupported operand type(s) for {'<<' if name == 'lshift' else '>>'}: '{_kind(a)}' and '{_kind(b)}'")
        if name not in _PRIMITIVES:
            return None
        other = b if isinstance(a, Tensor) else a
        if (isinstance(a, Tensor) or isinstance(b, Tensor)) and not isinstance(other, (Tensor, Scalar, int, float, list, tuple)):
            word = _PRIMITIVES[name]
            return TypeError(f'Failed calling {word} with "{word}()(input={_given_word(a)}, other={_given_word(b)})". The valid calling should be: '
                             f'"{word}()(input=<Number, Tensor>, other=<Number, Tensor>)".')
    return refusal


def _product(a, b):
    for value, name in ((a, "input"), (b, "other")):
        if not isinstance(value, Tensor):
            return TypeError(f'Failed calling MatMulExt with "{name}={_type_word(value)}". The valid calling should be: "input=<Tensor>, '
                             'other=<Tensor>".')


_TO_SCALAR = "Can not convert Tensor with more than one element to Scalar, while the data's shape is"
_refusals = {
    "iter": iterated, "len": _length, "max": _extreme("max"), "min": _extreme("min"), "sum": _sum, "range": _range, "enumerate": _enumerate,
    "zip": _zip, "all": _truth_of_all, "any": _truth_of_all, "abs": _tensor_only("Abs"), "round": _tensor_only("Round"),
    "int": _one_element(_TO_SCALAR + " : ({shape})"), "float": _one_element(_TO_SCALAR + ": ({shape})"),
    "bool": _one_element("The truth value of an array with more than one element is ambiguous."),
    "neg": _unary("negative", False), "pos": _unary("uadd", True), "invert": _unary("invert", True),
    "list.append": _append, "list.extend": _extend, "list.insert": _insert, "list.pop": _pop, "setitem": _set_item, "key": _key,
    "star": _star, "map": _mapped, "unpack": _unpacked, "getattr": _attribute, "getitem": _item, "matmul": _product,
}
_refusals.update((_name, _binary(_name)) for _name in _SYMBOLS)


# What level STRICT would leave to Python, by the names that MindSpore has for it there.
_SCRIPTS = {**_SYMBOLS, "eq": "equal", "ne": "not_equal", "contains": "in", "getitem": "getitem", "setitem": "setitem"}


def _holds_variable(value):
    if isinstance(value, (list, tuple)):
        return any(_holds_variable(v) for v in value)
    return isinstance(value, (Tensor, Scalar)) and value.is_variable


def _strictly(name, operands, error):
    """Of operands that no function of MindSpore's takes: Python would compute with them, were they known."""
    if name not in _SCRIPTS or not any(_holds_variable(v) for v in operands) or any(isinstance(v, dict) for v in operands):
        return None
    usual = (Tensor, Scalar, int, float)
    if name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow") and any(isinstance(v, Tensor) for v in operands):
        usual += (list, tuple)
    if name not in ("lshift", "rshift", "getitem") and all(isinstance(v, usual) for v in operands):
        return None
    if name == "getitem" and not isinstance(operands[1], str) and not isinstance(operands[0], Scalar):
        return None
    inputs = "".join(f"__input_key_{i}__," for i in range(len(operands)))
    first = next(i for i, v in enumerate(operands) if _holds_variable(v))
    return ValueError(f"When handling script '__py_exec_index0_{_SCRIPTS[name].replace('_', '_0x5f_')}__({inputs}) in graph mode', the inputs should "
                      f"be constant, but found variable '__input_key_{first}__' to be nonconstant. Try to set jit_syntax_level to LAX.")


def _strict_attribute(value, name):
    return AttributeError(f"In JIT strict mode, cannot get attributes {name} or the {_type_word(value)} object has no attribute: '{name}'. You can use "
                          "os.environ['MS_DEV_JIT_SYNTAX_LEVEL'] = '2' to enable the JIT lax mode to support the current syntax.")


def _only_strictly(name, operands):
    if name == "list.extend" and len(operands) == 2:
        return RuntimeError(f"ListExtend supports list, tuple and Tensor, but got {_abstract(operands[1])}")
    if name == "len" and len(operands) == 1 and _length(*operands) is not None and not isinstance(operands[0], Tensor):
        return _strict_attribute(operands[0], "__len__")


def refusal(name, operands, error, is_strict=False):
    """The exception that stands for @error, which @name of @operands gave."""
    find = _refusals.get(name)
    strictly = (_strictly(name, operands, error) or _only_strictly(name, operands)) if is_strict else None
    if strictly is not None:
        return strictly
    if is_strict and name == "getattr" and isinstance(_attribute(*operands), AttributeError) and not (
            isinstance(operands[0], type(builtins)) or hasattr(type(operands[0]), "__jit_class__")):
        return _strict_attribute(operands[0], operands[1])
    try:
        found = None if find is None else find(*operands, error) if name in ("getattr", "getitem") else find(*operands)
    except TypeError:  # a wrong number of arguments
        found = None
    if found is not None:
        return found
    text = str(error)
    for value in operands:
        if isinstance(value, Scalar):
            text = text.replace("'Scalar'", f"'{value.number_kind}'")
        elif isinstance(value, Type):
            text = text.replace("'Type'", f"'{_class_word(value)}'")
    return error if text == str(error) else type(error)(text)

