# SPDX-License-Identifier: Apache-2.0
"""Types, tensors and variable numbers over the core operations of `_gantry`, and what the interpreter asks of them."""
import _gantry
from _gantry import op as _op


from mindspore import _text
from mindspore._shapes import broadcast_shapes, normal_axes, reshape_refusal
from mindspore._types import (Type, bool_, int8, int16, int32, int64, uint8, uint16, uint32, uint64, float16, bfloat16, float32, float64,
                              _types, _by_element, as_type, _Context, GRAPH_MODE, PYNATIVE_MODE, STRICT, COMPATIBLE, LAX, is_strict, syntax_level)


class NeedsData(TypeError, ValueError):
    """An operation whose result has a shape or type that depends on data: on level LAX it is done when the graph runs."""


class NeedsGraph(RuntimeError):
    """What is differentiated has to be a graph."""


class NoDerivative(RuntimeError):
    """A graph cannot be walked back, as where data says how often a loop runs; what was run, operation by operation, can."""


# Tensors

def _known(value):
    return value.has_data


class Tensor(_gantry.Value):
    """A tensor: known, or a variable of the graph being made."""
    __array_priority__ = 1000  # of an operator with an array; NumPy's own functions take what __array__() gives

    def __init__(self, input_data=None, dtype=None, shape=None, init=None, internal=False, const_arg=False):
        if dtype is not None:
            dtype = as_type(dtype)
        elif isinstance(input_data, Scalar) and input_data.number_kind == "float":
            dtype = float32
        if init is not None:
            shape = (shape,) if isinstance(shape, int) else tuple(shape if shape is not None else ())
            input_data = _initial(init, shape, dtype or float32)
        elif shape is not None and input_data is None:
            if shape is Ellipsis or any(n is None or n < 0 for n in ((shape,) if isinstance(shape, int) else shape)):
                # For set_inputs(): a shape that is found out when the Cell is called.
                self._open_shape = shape if shape is Ellipsis else tuple(-1 if n is None else n for n in ((shape,) if isinstance(shape, int) else shape))
                shape = () if shape is Ellipsis else tuple(max(n, 1) for n in self._open_shape)
            input_data = full(shape, 0, dtype or float32)
        elif input_data is None:
            raise TypeError("For Tensor, input_data, or shape with init, is needed.")
        self._take(tensor_of(input_data, dtype))

    def __setattr__(self, name, value):
        if name == "shape":
            raise AttributeError("can't set attribute 'shape'")
        object.__setattr__(self, name, value)

    # What it is

    @property
    def dtype(self):
        return _by_element[self.element]

    @property
    def ndim(self):
        return len(self.shape)

    @property
    def size(self):
        return _product(self.shape)

    @property
    def itemsize(self):
        return {"bool": 1}.get(self.element) or int(self.element.lstrip("iufb")) // 8

    @property
    def nbytes(self):
        return self.size * self.itemsize

    @property
    def strides(self):
        strides, step = [], self.itemsize
        for n in reversed(self.shape):
            strides.append(step)
            step *= n
        return tuple(reversed(strides))

    @property
    def T(self):
        return transpose(self, tuple(reversed(range(self.ndim))))

    @property
    def H(self):
        return swapaxes(self, 0, 1)

    @property
    def real(self):
        return self

    def dim(self):
        return self.ndim

    def ndimension(self):
        return self.ndim

    def numel(self):
        return self.size

    nelement = numel

    def element_size(self):
        return self.itemsize

    def __len__(self):
        if not self.shape:
            raise TypeError("Not support len of a 0-D tensor")
        return self.shape[0]

    def __hash__(self):
        return id(self)

    # To Python

    def asnumpy(self):
        import numpy
        if not self.has_data:
            raise NeedsData("the value of a variable is not known while compiling")
        if self.element == "bf16":
            return numpy.asarray(convert(self, float32))
        return numpy.asarray(memoryview(self))

    numpy = asnumpy

    def __array__(self, dtype=None):
        array = self.asnumpy()
        return array if dtype is None else array.astype(dtype)

    def item(self, index=None):
        if index is not None:
            return self.reshape(-1)[index].item() if isinstance(index, int) else self[index].item()
        if self.size != 1:
            raise ValueError("only one element tensors can be converted to Python scalars")
        if not self.has_data:
            return _gantry.number(reshape(self, ()) if self.shape else self, {bool: "bool", int: "int", float: "float"}[self.dtype.python]) \
                if self.element in ("i64", "f64", "bool") else _number(self)
        value = self.tolist()
        while isinstance(value, list):
            value = value[0]
        return value

    def __int__(self):
        return int(self.item())

    def __float__(self):
        return float(self.item())

    def __bool__(self):
        if self.size != 1:
            if self.size == 0:
                return False
            raise ValueError(f"The tensor should have only one element, but got {self.size}, more than one element is ambiguous.")
        return bool(self.item())

    def __index__(self):
        if self.dtype.python not in (int, bool) or self.size != 1:
            raise ValueError("Only integer tensors of a single element can be converted to an index.")
        return int(self.item())

    def __round__(self, digits=None):
        if not self.dtype.is_float and not (digits and digits < 0):
            return self
        if not digits:
            return _unary_float("round_nearest_even", self)
        scale = 10.0 ** digits
        return div(_unary_float("round_nearest_even", mul(self, scale)), scale)

    def __str__(self):
        if not self.has_data:
            return f"Tensor(shape={list(self.shape)}, dtype={self.dtype}, variable)"
        return str(self.asnumpy())

    def __repr__(self):
        if not self.has_data:
            return str(self)
        from mindspore._text import described
        return described(self, ", ")

    def __format__(self, spec):
        return format(self.item() if self.ndim == 0 and spec else str(self), spec)

    def __iter__(self):
        return iter(elements(self))

    def __reduce__(self):
        return _restored, (self.tolist(), self.dtype.name.lower(), self.shape)

    def __deepcopy__(self, memo):
        return _copied(self)

    def __contains__(self, item):
        return bool((self == item).any())

    # Operators

    def __add__(self, other):
        return add(self, other)

    def __radd__(self, other):
        return add(other, self)

    def __sub__(self, other):
        return sub(self, other)

    def __rsub__(self, other):
        return sub(other, self)

    def __mul__(self, other):
        return mul(self, other)

    def __rmul__(self, other):
        return mul(other, self)

    def __truediv__(self, other):
        return div(self, other)

    def __rtruediv__(self, other):
        return div(other, self)

    def __floordiv__(self, other):
        return floor_div(self, other)

    def __rfloordiv__(self, other):
        return floor_div(other, self)

    def __mod__(self, other):
        return floor_mod(self, other)

    def __rmod__(self, other):
        return floor_mod(other, self)

    def __pow__(self, other, modulo=None):
        _text.no_modulo(modulo)
        return pow_(self, other)

    def __rpow__(self, other, modulo=None):
        _text.no_modulo(modulo)
        return pow_(other, self)

    def __matmul__(self, other):
        return matmul(self, other)

    def __rmatmul__(self, other):
        return matmul(other, self)

    def __and__(self, other):
        return bitwise("and", self, other)

    def __rand__(self, other):
        return bitwise("and", other, self)

    def __or__(self, other):
        return bitwise("or", self, other)

    def __ror__(self, other):
        return bitwise("or", other, self)

    def __xor__(self, other):
        return bitwise("xor", self, other)

    def __rxor__(self, other):
        return bitwise("xor", other, self)

    def __lshift__(self, other):
        return _broadcast_op("shift_left", *_pair(self, other))

    def __rshift__(self, other):
        return _broadcast_op("shift_right_arithmetic", *_pair(self, other))

    def __neg__(self):
        return neg(self)

    def __pos__(self):
        return self

    def __abs__(self):
        return abs_(self)

    def __invert__(self):
        return _op("not", (self if self.element == "bool" else compare("NE", self, 0),))

    def __eq__(self, other):
        return compare("EQ", self, other)

    def __ne__(self, other):
        return compare("NE", self, other)

    def __lt__(self, other):
        return compare("LT", self, other)

    def __le__(self, other):
        return compare("LE", self, other)

    def __gt__(self, other):
        return compare("GT", self, other)

    def __ge__(self, other):
        return compare("GE", self, other)

    def __getitem__(self, index):
        from mindspore import _index
        return _index.get(self, index)

    def __setitem__(self, index, value):
        from mindspore import _index
        changed = _index.set(self, index, value)
        if self._is_parameter:
            _gantry.assign(self, changed)
        else:
            self._take(changed)

    # Methods are functions of ops; those that are not written here are found there.

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        from mindspore.ops import _methods
        method = _methods.find(name)
        if method is None:
            raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")
        return method.__get__(self)

    def astype(self, dtype, copy=True):
        return cast(self, as_type(dtype))

    def to(self, dtype):
        return cast(self, as_type(dtype))

    def reshape(self, *shape):
        return reshape(self, _shape_arguments(shape))

    def view(self, *shape):
        return reshape(self, _shape_arguments(shape))

    def transpose(self, *axes):
        if len(axes) == 2 and all(isinstance(a, int) for a in axes):  # two dimensions that are exchanged, as MindSpore 2.7 has it
            return swapaxes(self, *axes)
        axes = _shape_arguments(axes) if axes else tuple(reversed(range(self.ndim)))
        return transpose(self, tuple(a % self.ndim for a in axes))

    def permute(self, *axes):
        axes = _shape_arguments(axes) or tuple(reversed(range(self.ndim)))
        return transpose(self, tuple(a % self.ndim for a in axes))

    def copy(self):
        return _copied(self)

    clone = copy

    def assign_value(self, value):
        self._take(value)
        return self

    def set_dtype(self, dtype):
        self._take(convert(self, as_type(dtype)))
        return self

    def value(self):
        return self

    def init_data(self, *args, **kwargs):
        return self

    def contiguous(self):
        return self

    def is_contiguous(self):
        return True

    has_init = False

    @property
    def mT(self):
        return swapaxes(self, -1, -2)

    def flush_from_cache(self):
        return None

    @staticmethod
    def from_numpy(array):
        """A tensor that shares the memory of the array, where that is in C order."""
        shared = _gantry.value_shared(array)
        return Tensor(array) if shared is None else shared


Tensor.__module__ = "mindspore.common.tensor"
_gantry.set_tensor_class(Tensor)


class Scalar(_gantry.Value):
    """A number that is a variable of the graph."""

    def _tensor(self):
        return _gantry.number(self, "tensor")

    @property
    def kind(self):
        return self.number_kind

    def _needs_data(self):
        raise NeedsData("the value of a variable is not known while compiling")

    __int__ = __float__ = _needs_data

    def __repr__(self):
        return f"<variable {self.number_kind}>"

    def __hash__(self):
        return id(self)


_RANKS = {"bool": 0, "int": 1, "float": 2}
_SCALAR_TYPES = {"bool": bool_, "int": int64, "float": float64}


def _number(tensor):
    """A tensor of one element as a variable number."""
    tensor = reshape(tensor, ())
    kind = {bool: "bool", int: "int", float: "float"}[tensor.dtype.python]
    return _gantry.number(convert(tensor, _SCALAR_TYPES[kind]), kind)


def _scalar_kind(value):
    if isinstance(value, Scalar):
        return value.number_kind
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, int):
        return "int"
    return "float" if isinstance(value, float) else None


def _scalar_operator(function, compares=False, floats=False, divides=False):
    def forward(self, other):
        if divides and isinstance(other, (int, float)) and other == 0:
            raise ZeroDivisionError("division by zero")
        kind = _scalar_kind(other)
        if kind is None:
            return function(self, other) if isinstance(other, Tensor) else NotImplemented  # of the tensor's type, as a number is
        return _scalar_apply(function, self, other, compares, floats)

    def backward(self, other):
        if _scalar_kind(other) is None:
            return NotImplemented
        return _scalar_apply(function, other, self, compares, floats)
    return forward, backward


def _scalar_apply(function, a, b, compares, floats):
    kinds = _scalar_kind(a), _scalar_kind(b)
    kind = max(kinds + (("float",) if floats else ("int",)), key=_RANKS.get)
    dtype = _SCALAR_TYPES[kind]
    x, y = (convert(v._tensor() if isinstance(v, Scalar) else tensor_of(v), dtype) for v in (a, b))
    result = function(x, y)
    return _gantry.number(result, "bool" if compares else kind)


class External(_gantry.Value):
    """An object that only exists when the graph runs."""

    def __repr__(self):
        return "<object of the run>"

    def __hash__(self):
        return id(self)


# Making tensors

def _product(shape):
    n = 1
    for d in shape:
        n *= d
    return n


def _restored(data, dtype, shape):
    return reshape(Tensor(data, as_type(dtype)), tuple(shape))


def _copied(tensor):
    copy = Tensor.__new__(Tensor)
    copy._take(_gantry.parameter_value(tensor) if tensor._is_parameter else tensor)
    return copy


def _initial(init, shape, dtype):
    from mindspore.common.initializer import initializer
    return initializer(init, shape, dtype)


_NUMPY_PLAIN = None


def tensor_of(value, dtype=None):
    """A tensor of numbers, sequences, arrays, tensors; of their own element type where none is given."""
    if isinstance(value, Scalar):
        value = value._tensor()
    if isinstance(value, Tensor):
        value = _gantry.parameter_value(value) if value._is_parameter else value
        return value if dtype is None else convert(value, dtype)
    if isinstance(value, (list, tuple)):
        from mindspore import _sequences
        return _sequences.stacked(value, dtype) if _has_variable(value) else _sequences.nested(value, dtype)
    if isinstance(value, complex) or getattr(getattr(value, "dtype", None), "kind", "") == "c":
        raise TypeError("complex numbers are not supported")
    elif hasattr(value, "__array_interface__") and not value.__array_interface__.get("typestr", "<f4").startswith("<U"):
        array = value if getattr(value, "flags", None) is not None and value.flags.c_contiguous else None
        if array is None:
            import numpy
            array = numpy.ascontiguousarray(value).reshape(value.shape)
        value = array if array.shape or not hasattr(array, "item") else array
    made = _gantry.value_from(value, dtype.element if dtype is not None else None)
    return made if dtype is None else convert(made, dtype)


def _has_variable(value):
    if isinstance(value, (list, tuple)):
        return any(_has_variable(v) for v in value)
    return isinstance(value, _gantry.Value) and value.is_variable


def full(shape, value, dtype):
    shape = (shape,) if isinstance(shape, int) else tuple(int(d) for d in shape)
    return _op("broadcast_in_dim", (tensor_of(value, dtype),), {"shape": shape, "broadcast_dimensions": ()})


# Promotion

def _common(dtypes):
    result = dtypes[0]
    for t in dtypes[1:]:
        if result is t:
            continue
        if {result, t} <= {uint8, int8}:
            result = int16
        elif {result, t} == {float16, bfloat16}:
            result = float32
        else:
            result = result if result.rank >= t.rank else t
    return result


def _weak(value, dtype):
    """The element type of a tensor of @dtype with a number."""
    kind = _scalar_kind(value)
    if kind == "float" and not dtype.is_float:
        return float32
    if kind == "int" and dtype is bool_:
        return int64
    return dtype


def _operand(value):
    """A number, sequence or tensor as a tensor."""
    if isinstance(value, Scalar):
        return value._tensor()
    if isinstance(value, Tensor):
        return value
    return tensor_of(value)


def _pair(a, b):
    """Two operands as tensors of one element type."""
    if isinstance(a, Tensor) and isinstance(b, Tensor):
        dtype = _common([a.dtype, b.dtype])
    elif isinstance(a, Tensor) and _scalar_kind(b) is not None:
        dtype = _weak(b, a.dtype)
    elif isinstance(b, Tensor) and _scalar_kind(a) is not None:
        dtype = _weak(a, b.dtype)
    elif isinstance(a, Tensor) and _are_integers(b) and a.element != "bool":
        dtype = a.dtype
    elif isinstance(b, Tensor) and _are_integers(a) and b.element != "bool":
        dtype = b.dtype
    else:
        a, b = _check_operand(a), _check_operand(b)
        dtype = _common([a.dtype, b.dtype])
    a, b = (_of_type(v, dtype) for v in (a, b))
    return a, b


def _are_integers(value):
    """A list or tuple of integers takes the element type of the tensor that it is an operand with."""
    return isinstance(value, (list, tuple)) and len(value) > 0 and all(
        _are_integers(v) if isinstance(v, (list, tuple)) else isinstance(v, int) for v in value)


def _check_operand(value):
    if value is None or isinstance(value, (str, dict)):
        raise TypeError(f"unsupported operand type(s): a tensor and {type(value).__name__}")
    return _operand(value)


def _of_type(value, dtype):
    if isinstance(value, Tensor):
        return convert(value, dtype)
    if isinstance(value, Scalar):
        return convert(value._tensor(), dtype)
    return _gantry.value_from(float(value) if isinstance(value, float) else value, dtype.element)


# Elementary operations

def convert(x, dtype):
    x = _operand(x)
    if x.element == dtype.element:
        return x
    if dtype.element in ("u8", "u16", "u32") and x.dtype.is_float:  # what is below 0 wraps, as where C converts
        x = _op("convert", (x,), {"to": "i64"})
    return _op("convert", (x,), {"to": dtype.element})


def cast(x, dtype):
    """The conversion that a program writes: of a Parameter as it is stored, whatever type its Cell computes in."""
    x = _operand(x)
    return convert(_gantry.stored(x) if x._is_parameter else x, dtype)


def broadcast_to(x, shape):
    if x.shape == tuple(shape):
        return x
    first = len(shape) - len(x.shape)
    if first < 0:
        raise ValueError(f"For 'broadcast_to', a tensor of shape {x.shape} cannot become {tuple(shape)}.")
    shape = tuple(x.shape[i - first] if d == -1 else d for i, d in enumerate(shape))
    return _op("broadcast_in_dim", (x,), {"shape": shape, "broadcast_dimensions": tuple(range(first, len(shape)))})


def _broadcast_op(name, a, b, **attrs):
    shape = broadcast_shapes(a.shape, b.shape, attrs.get("comparison_direction", name)) if a.shape != b.shape else a.shape
    return _op(name, (broadcast_to(a, shape), broadcast_to(b, shape)), attrs or None)


def reshape(x, shape):
    shape = (shape,) if isinstance(shape, int) else tuple(int(d) for d in shape)
    if x.shape == shape:
        return x
    if -1 in shape:
        known = _product(d for d in shape if d != -1)
        if known == 0 or x.size % known or shape.count(-1) > 1:
            raise reshape_refusal(x.shape, shape)
        shape = tuple(x.size // known if d == -1 else d for d in shape)
        if x.shape == shape:
            return x
    if _product(shape) != x.size:
        raise reshape_refusal(x.shape, shape)
    return _op("reshape", (x,), {"shape": shape})


def transpose(x, axes):
    if tuple(axes) == tuple(range(x.ndim)):
        return x
    return _op("transpose", (x,), {"permutation": tuple(axes)})


def swapaxes(x, a, b):
    axes = list(range(x.ndim))
    for axis in (a, b):
        if not -x.ndim <= axis < x.ndim:
            raise ValueError(f"The 'axis' must be in the range of [-{x.ndim}, {x.ndim}), but got {axis}.")
    axes[a], axes[b] = axes[b], axes[a]
    return transpose(x, axes)


def _shape_arguments(shape):
    if len(shape) == 1 and isinstance(shape[0], (tuple, list)):
        return tuple(shape[0])
    return tuple(shape)


def add(a, b):
    a, b = _pair(a, b)
    if a.element == "bool":
        return _broadcast_op("or", a, b)
    return _broadcast_op("add", a, b)


def sub(a, b):
    a, b = _pair(a, b)
    if a.element == "bool":
        raise TypeError("For 'Sub', the inputs cannot both be bool.")
    return _broadcast_op("subtract", a, b)


def mul(a, b):
    a, b = _pair(a, b)
    return _broadcast_op("and" if a.element == "bool" else "multiply", a, b)


def _float_pair(a, b):
    a, b = _pair(a, b)
    if not a.dtype.is_float:
        a, b = convert(a, float32), convert(b, float32)
    return a, b


def div(a, b):
    return _broadcast_op("divide", *_float_pair(a, b))


def floor_mod(a, b):
    """The remainder with the sign of the divisor."""
    a, b = _pair(a, b)
    if a.element == "bool":
        a, b = convert(a, int32), convert(b, int32)
    shape = broadcast_shapes(a.shape, b.shape, "remainder")
    a, b = broadcast_to(a, shape), broadcast_to(b, shape)
    rest = _op("remainder", (a, b))
    if a.element.startswith("u"):
        return rest
    zero = full(shape, 0, a.dtype)
    wrong = _op("and", (compare("NE", rest, zero), compare("NE", compare("LT", rest, zero), compare("LT", b, zero))))
    return _op("select", (wrong, _op("add", (rest, b)), rest))


def floor_div(a, b):
    a, b = _pair(a, b)
    broadcast_shapes(a.shape, b.shape, "FloorDiv")
    if a.dtype.is_float:
        return _op("floor", (_broadcast_op("divide", a, b),))
    if a.element == "bool":
        a, b = convert(a, int32), convert(b, int32)
    return _broadcast_op("divide", _broadcast_op("subtract", a, floor_mod(a, b)), b)


def pow_(a, b):
    a, b = _pair(a, b)
    if a.element == "bool":
        a, b = convert(a, float32), convert(b, float32)
    return _broadcast_op("power", a, b)


def bitwise(name, a, b):
    a, b = _pair(a, b)
    if a.dtype.is_float:
        raise TypeError(f"For 'bitwise_{name}', the inputs must be integers or bools, but got {a.dtype}.")
    return _broadcast_op(name, a, b)


def check_data_format(name, data_format):
    if data_format in ("NHWC", "NDHWC"):
        raise ValueError(f"For '{name}', the '{data_format}' format only support in GPU target, but got device target CPU.")


def compare(direction, a, b):
    if a is None or b is None or isinstance(a, str) or isinstance(b, str):
        if direction in ("EQ", "NE"):
            return direction == "NE"
        raise TypeError("a tensor cannot be compared with None or a string")
    a, b = _pair(a, b)
    return _broadcast_op("compare", a, b, comparison_direction=direction)


def neg(x):
    return _op("negate", (x if x.element != "bool" else convert(x, int32),))


def abs_(x):
    return x if x.element == "bool" else _op("abs", (x,))


def _unary_float(name, x):
    x = _operand(x)
    return _op(name, (x if x.dtype.is_float else convert(x, float32),))


def select(condition, a, b):
    a, b = _pair(a, b)
    condition = convert(_operand(condition), bool_)
    shape = broadcast_shapes(broadcast_shapes(a.shape, b.shape), condition.shape)
    return _op("select", tuple(broadcast_to(v, shape) for v in (condition, a, b)))


def matmul(a, b):
    """NumPy's rules."""
    a, b = _pair(a, b)
    if a.ndim == 0 or b.ndim == 0:
        raise ValueError("For 'matmul', the inputs must have one dimension or more.")
    left, right = a.ndim == 1, b.ndim == 1
    a = reshape(a, (1,) + a.shape) if left else a
    b = reshape(b, b.shape + (1,)) if right else b
    if a.shape[-1] != b.shape[-2]:
        raise ValueError(f"For 'MatMul', the last dimension {a.shape[-1]} of the first input is not the dimension {b.shape[-2]} "
                         "of the second that is summed over.")
    batch = broadcast_shapes(a.shape[:-2], b.shape[:-2])
    a, b = broadcast_to(a, batch + a.shape[-2:]), broadcast_to(b, batch + b.shape[-2:])
    n = len(batch)
    result = _op("dot_general", (a, b), {"lhs_batching_dimensions": tuple(range(n)), "rhs_batching_dimensions": tuple(range(n)),
                                         "lhs_contracting_dimensions": (n + 1,), "rhs_contracting_dimensions": (n,)})
    shape = result.shape
    if left:
        shape = shape[:-2] + shape[-1:]
    if right:
        shape = shape[:-1]
    return reshape(result, shape)


def reduce(kind, x, axis=None, keep_dims=False):
    axes = normal_axes(axis, x.ndim)
    result = _op("reduce", (x,), {"kind": kind, "dimensions": axes}) if axes else x
    if keep_dims:
        result = reshape(result, tuple(1 if d in axes else n for d, n in enumerate(x.shape)))
    return result


def elements(x):
    """The slices along the first dimension."""
    if not x.shape:
        raise TypeError("Cannot iterate over a scalar tensor.")
    rest = x.shape[1:]
    result = []
    for i in range(x.shape[0]):
        part = _op("slice", (x,), {"start_indices": (i,) + (0,) * len(rest), "limit_indices": (i + 1,) + rest,
                                   "strides": (1,) * x.ndim})
        result.append(reshape(part, rest))
    return result


def assign(parameter, value):
    _gantry.assign(parameter, assigned(parameter, value))
    return parameter


def updated(parameter, value):
    """Assigns, and gives what operations that assign give: outside of a graph a tensor."""
    assign(parameter, value)
    return parameter if _gantry.in_graph() or _gantry.recording() else parameter.value()


def assigned(parameter, value):
    """A value as a parameter takes it: of its element type and shape."""
    value = convert(tensor_of(value), _by_element[parameter.stored_element])
    if value.shape != parameter.shape:
        if value.size == 1 and parameter.size == 1:
            value = reshape(value, parameter.shape)
        else:
            raise ValueError("For 'Assign','value' must have the same shape as 'variable'. But got 'value' shape: "
                             f"({', '.join(map(str, value.shape))}), 'variable' shape: ({', '.join(map(str, parameter.shape))}).")
    return value


for _name, (_forward, _compares, _floats, _reflected) in {
        "add": (add, False, False, True), "sub": (sub, False, False, True), "mul": (mul, False, False, True),
        "truediv": (div, False, True, True), "floordiv": (floor_div, False, False, True),
        "mod": (floor_mod, False, False, True), "pow": (pow_, False, False, True),
        "and": (lambda a, b: bitwise("and", a, b), False, False, True),
        "or": (lambda a, b: bitwise("or", a, b), False, False, True),
        "xor": (lambda a, b: bitwise("xor", a, b), False, False, True),
        "lshift": (lambda a, b: _broadcast_op("shift_left", a, b), False, False, True),
        "rshift": (lambda a, b: _broadcast_op("shift_right_arithmetic", a, b), False, False, True),
        "eq": (lambda a, b: compare("EQ", a, b), True, False, False),
        "ne": (lambda a, b: compare("NE", a, b), True, False, False),
        "lt": (lambda a, b: compare("LT", a, b), True, False, False),
        "le": (lambda a, b: compare("LE", a, b), True, False, False),
        "gt": (lambda a, b: compare("GT", a, b), True, False, False),
        "ge": (lambda a, b: compare("GE", a, b), True, False, False)}.items():
    _ahead, _back = _scalar_operator(_forward, _compares, _floats, _name in ("truediv", "floordiv", "mod"))
    setattr(Scalar, f"__{_name}__", _ahead)
    if _reflected:
        setattr(Scalar, f"__r{_name}__", _back)
Scalar.__invert__ = lambda self: _gantry.number(_op("not", (convert(self._tensor(), int64),)), "int")
Scalar.__neg__ = lambda self: _gantry.number(neg(self._tensor()), self.number_kind)
Scalar.__pos__ = lambda self: self
Scalar.__abs__ = lambda self: _gantry.number(abs_(self._tensor()), self.number_kind)
