# SPDX-License-Identifier: Apache-2.0
"""jax.Array: known values, and variables of the graph that is staged."""
import _gantry
from jax import _core, _types
from jax import errors


def _binary(name, to_float=False):
    def forward(self, other):
        return _core.binary(name, self, other, to_float) if _operand(other) else NotImplemented

    def backward(self, other):
        return _core.binary(name, other, self, to_float) if _operand(other) else NotImplemented
    return forward, backward


def _function(function):
    def forward(self, other):
        return function(self, other) if _operand(other) else NotImplemented

    def backward(self, other):
        return function(other, self) if _operand(other) else NotImplemented
    return forward, backward


def _compare(direction):
    def method(self, other):
        return _core.compare(direction, self, other) if _operand(other) else NotImplemented
    return method


def _operand(value):
    return isinstance(value, (_gantry.Value, bool, int, float)) or hasattr(value, "__array_interface__")


class Array(_gantry.Value):
    """An array: its bytes are known, or it is a variable of a graph."""
    __array_priority__ = 100
    _weak = False
    _kind = _core.DEVICE
    _put = None  # the sharding that it was given
    _gate = None  # the arm of a branch that made it, while all arms are run

    # What it is

    @property
    def dtype(self):
        return _types.BY_ELEMENT[self.element]

    @property
    def ndim(self):
        return len(self.shape)

    @property
    def size(self):
        return _core.product(self.shape)

    @property
    def itemsize(self):
        return self.dtype.itemsize

    @property
    def nbytes(self):
        return self.size * self.itemsize

    @property
    def weak_type(self):
        return self._weak

    @property
    def aval(self):
        from jax import ShapeDtypeStruct
        return ShapeDtypeStruct(self.shape, self.dtype)

    @property
    def sharding(self):
        from jax import sharding
        if self._put is not None:
            return self._put
        return sharding.SingleDeviceSharding(sharding.DEVICE, memory_kind=self._kind)

    @property
    def device(self):
        from jax import sharding
        return sharding.DEVICE

    def devices(self):
        return {self.device}

    @property
    def is_fully_addressable(self):
        return True

    def __len__(self):
        if not self.shape:
            raise TypeError("len() of unsized object")
        return self.shape[0]

    def __hash__(self):
        raise TypeError(f"unhashable type: '{type(self).__name__}'")

    # To Python

    def _numpy(self):
        import numpy
        if not self.has_data:
            raise errors.TracerArrayConversionError(self)
        if self.element == "bf16":
            return numpy.asarray(memoryview(_gantry.known(_gantry.op("convert", (_gantry.known(self),), {"to": "f32"}))))
        return numpy.asarray(memoryview(self))

    def __array__(self, dtype=None, copy=None):
        array = self._numpy().copy()
        return array if dtype is None else array.astype(dtype)

    def _only(self, what):
        if self.size != 1:
            raise TypeError("Only scalar arrays can be converted to Python scalars; got arr.ndim=%d" % self.ndim)
        if not self.has_data:
            raise what(self)
        value = _gantry.known(self).tolist()
        while isinstance(value, list):
            value = value[0]
        return value

    def item(self, *index):
        return (self[index] if index else self)._only(errors.ConcretizationTypeError)

    def __int__(self):
        return int(self._only(errors.ConcretizationTypeError))

    def __float__(self):
        return float(self._only(errors.ConcretizationTypeError))

    def __bool__(self):
        if self.size != 1:
            raise ValueError("The truth value of an array with more than one element is ambiguous. Use a.any() or a.all()")
        return bool(self._only(errors.TracerBoolConversionError))

    def __index__(self):
        if not _types.is_integer(self.dtype):
            raise TypeError("Only integer scalar arrays can be converted to a scalar index.")
        return int(self._only(errors.TracerIntegerConversionError))

    def __round__(self, digits=None):
        return self.round(digits or 0)

    def __str__(self):
        return str(self._numpy()) if self.has_data else f"Traced<{self.element}[{','.join(map(str, self.shape))}]>"

    def __repr__(self):
        if not self.has_data:
            return str(self)
        import numpy
        text = numpy.array2string(self._numpy(), separator=", ", prefix="Array(", suffix=")")
        text += f", shape={self.shape}" if not self.size and self.ndim > 1 else ""
        weak = ", weak_type=True" if self._weak else ""
        return f"Array({text}, dtype={self.dtype}{weak})"

    def __format__(self, spec):
        return format(self._only(errors.ConcretizationTypeError) if spec and not self.shape else str(self), spec)

    def __iter__(self):
        if not self.shape:
            raise TypeError("iteration over a 0-d array")
        return iter([self[i] for i in range(self.shape[0])])

    def __reduce__(self):
        return _restore, (self._numpy(),)

    def __deepcopy__(self, memo):
        return _core.copy_of(self)

    def __copy__(self):
        return _core.copy_of(self)

    def block_until_ready(self):
        return self

    def copy_to_host_async(self):
        return None

    def is_ready(self):
        return True

    def is_deleted(self):
        return False

    def delete(self):
        return None

    # Operators

    __add__, __radd__ = _binary("add")
    __sub__, __rsub__ = _binary("subtract")
    __mul__, __rmul__ = _binary("multiply")
    __truediv__, __rtruediv__ = _binary("divide", True)
    __floordiv__, __rfloordiv__ = _function(_core.floor_divide)
    __mod__, __rmod__ = _function(_core.remainder)
    __pow__, __rpow__ = _function(_core.power)
    __matmul__, __rmatmul__ = _function(_core.matmul)
    __and__, __rand__ = _function(lambda a, b: _core.bitwise("and", a, b))
    __or__, __ror__ = _function(lambda a, b: _core.bitwise("or", a, b))
    __xor__, __rxor__ = _function(lambda a, b: _core.bitwise("xor", a, b))
    __lshift__, __rlshift__ = _function(lambda a, b: _core.bitwise("shift_left", a, b))
    __rshift__, __rrshift__ = _function(lambda a, b: _core.bitwise(
        "shift_right_logical" if getattr(a, "dtype", _types.int32).category == "uint" else "shift_right_arithmetic", a, b))
    __eq__, __ne__ = _compare("EQ"), _compare("NE")
    __lt__, __le__, __gt__, __ge__ = _compare("LT"), _compare("LE"), _compare("GT"), _compare("GE")

    def __divmod__(self, other):
        return self // other, self % other

    def __rdivmod__(self, other):
        return other // self, other % self

    def __neg__(self):
        return _core.unary("negate", self)

    def __pos__(self):
        return self

    def __abs__(self):
        return _core.absolute(self)

    def __invert__(self):
        return _core.unary("not", self)

    def __getitem__(self, index):
        from jax import _index
        return _index.get(self, index)

    def __setitem__(self, index, value):
        raise TypeError("JAX arrays are immutable and do not support in-place item assignment. Instead of x[idx] = y, use "
                        "x = x.at[idx].set(y) or another .at[] method.")

    @property
    def at(self):
        from jax import _index
        return _index.At(self)

    @property
    def T(self):
        return _core.transpose(self, tuple(reversed(range(self.ndim))))

    @property
    def mT(self):
        return _core.transpose(self, tuple(range(self.ndim - 2)) + (self.ndim - 1, self.ndim - 2))

    @property
    def real(self):
        return self

    @property
    def imag(self):
        return _core.full(self.shape, 0, self.dtype)

    # Methods are functions of jax.numpy

    def astype(self, dtype, copy=False, device=None):
        from jax.numpy._shape import _on
        return _on(_core.convert(self, _types.as_dtype(dtype)), device)

    def reshape(self, *shape, order="C"):
        import jax.numpy as jnp
        return jnp.reshape(self, shape[0] if len(shape) == 1 else shape, order)

    def transpose(self, *axes):
        import jax.numpy as jnp
        axes = axes[0] if len(axes) == 1 and not isinstance(axes[0], int) else axes
        return jnp.transpose(self, axes or None)

    def copy(self):
        return _core.copy_of(self)

    def view(self, dtype):
        from jax import lax
        return lax.bitcast_convert_type(self, _types.as_dtype(dtype))

    def compress(self, condition, axis=None, *, out=None, size=None, fill_value=0):
        import jax.numpy as jnp
        return jnp.compress(condition, self, axis, out=out, size=size, fill_value=fill_value)

    def flatten(self, order="C"):
        import jax.numpy as jnp
        return jnp.ravel(self, order)

    ravel = flatten

    def __getattr__(self, name):
        if name in _METHODS:
            import jax.numpy as jnp
            function = getattr(jnp, name)
            return lambda *args, **kwargs: function(self, *args, **kwargs)
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")


_METHODS = frozenset("all any argmax argmin argpartition argsort choose clip conj conjugate cumprod cumsum diagonal dot max mean min "
                     "nonzero prod ptp repeat round searchsorted sort squeeze std sum swapaxes take trace var".split())
Array.__module__ = "jax"


def _restore(array):
    return _core.asarray(array)


def _cotangent(value, element, type_id):
    return _core.convert(_core.asarray(value), _types.BY_ELEMENT[element])


class _NeedsData(Exception):
    pass


class _NoDerivative(ValueError):
    """As JAX has it, where a loop that data ends is to be differentiated in reverse."""


_gantry.set_tensor_class(Array)
def _custom(name):
    def hook(*args):
        from jax import _custom as custom
        return getattr(custom, name)(*args)
    return hook


_gantry.set_hooks({"cotangent": _cotangent, "NeedsData": _NeedsData, "NoDerivative": _NoDerivative,
                   **{name: _custom(name) for name in ("zeros_of", "stopped_plus", "beside", "bprop_gradients")}})
