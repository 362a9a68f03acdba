# SPDX-License-Identifier: Apache-2.0
"""Applying core operations to arrays: promotion, broadcasting, memory kinds, batches."""
import _gantry
from jax import _types
from jax._types import as_dtype, bool_, float32, int32

DEVICE = "device"


class Batched:
    """Whether a value is one of a batch: see _batch. Replaced when that is imported."""


class Gates:
    """Those of the arms of branches that are being run although a batch decides between them: see _gate."""
    stack = []


def product(shape):
    n = 1
    for d in shape:
        n *= d
    return n


def tracing():
    return _gantry.tracing() == 1


def op(name, operands, attrs=None):
    """A core operation; its result is weak where all its elements come from weak operands, and lies where they lie."""
    if Gates.stack:
        from jax import _gate
        return _gate.op_within(_apply, name, operands, attrs or {})
    return _apply(name, tuple(operands), attrs or {})


def _apply(name, operands, attrs):
    for x in operands:
        if isinstance(x, Batched):
            from jax import _batch
            return _batch.apply(name, operands, attrs)
    return settle(_gantry.op(name, operands, attrs), operands, name)


# Operands whose elements the result has; the others are places, and their types say nothing of the result's.
_ELEMENTS = {"gather": (0,), "scatter": (0, 2), "dynamic_slice": (0,), "dynamic_update_slice": (0, 1), "select": (1, 2)}


def is_weak(name, operands):
    """Whether what an operation gives is weak."""
    found = [operands[i] for i in _ELEMENTS[name]] if name in _ELEMENTS else operands
    return bool(found) and all(x._weak for x in found)


def settle(result, operands, name):
    kind, weak = None, is_weak(name, operands)
    for x in operands:
        if x._kind != kind and x.shape:
            if kind is not None:
                raise ValueError(f"memory_space of all inputs passed to `{name}` must be the same. Got one operand in "
                                 f"{kind} and one in {x._kind}: move them by jax.device_put first.")
            kind = x._kind
    for r in result if isinstance(result, tuple) else (result,):
        if weak:
            r._weak = True
        if kind is not None and kind != DEVICE:
            r._kind = kind
    return result


# Making arrays

def is_scalar(value):
    return isinstance(value, (bool, int, float)) and not hasattr(value, "dtype")


def _from_python(value, dtype):
    kind = bool_ if isinstance(value, bool) else int32 if isinstance(value, int) else float32
    array = _gantry.value_from(value, (dtype or kind).element)
    if dtype is None:
        array._weak = kind is not bool_
    return array


def asarray(value, dtype=None):
    """An array of numbers, nested sequences, NumPy's arrays or arrays."""
    from jax._array import Array
    if isinstance(value, Array):
        return value if dtype is None else convert(value, dtype)
    if isinstance(value, complex):
        raise TypeError("complex numbers are not supported")
    if is_scalar(value):
        return _from_python(value, dtype)
    value = list(value) if isinstance(value, range) else value
    if isinstance(value, (list, tuple)):
        if _holds_array(value):
            parts = [asarray(v) for v in value]
            common = dtype or _types.promote([(p.dtype, p._weak) for p in parts])[0]
            return op("concatenate", [reshape(convert(p, common), (1,) + p.shape) for p in parts], {"dimension": 0})
        return _of_sequence(value, dtype)
    if hasattr(value, "__jax_array__"):
        return asarray(value.__jax_array__(), dtype)
    if hasattr(value, "__array_interface__") or hasattr(value, "__array__"):
        return _of_numpy(value, dtype)
    raise TypeError(f"Cannot interpret value of type {type(value)} as an abstract array; it does not have a dtype attribute")


def _holds_array(value):
    if isinstance(value, (list, tuple)):
        return any(_holds_array(v) for v in value)
    return isinstance(value, _gantry.Value)


def _of_sequence(value, dtype):
    if dtype is None:
        kinds = set()
        _kinds_of(value, kinds)
        dtype = float32 if "float" in kinds or not kinds else int32 if "int" in kinds else bool_
        if "other" in kinds:
            import numpy
            return _of_numpy(numpy.array(value), None)
    return _gantry.value_from(_plain(value), dtype.element)


def _kinds_of(value, kinds):
    for v in value:
        if isinstance(v, (list, tuple)):
            _kinds_of(v, kinds)
        else:
            kinds.add(type(v).__name__ if type(v) in (bool, int, float) else "other")


def _plain(value):
    return [_plain(v) for v in value] if isinstance(value, (list, tuple)) else value.item() if hasattr(value, "item") else value


def _of_numpy(value, dtype):
    import numpy
    array = numpy.asarray(value)
    own = as_dtype(array.dtype)
    if not array.flags.c_contiguous:
        array = numpy.ascontiguousarray(array).reshape(array.shape)
    made = _gantry.value_from(array.astype(own.dtype, copy=False), own.element)
    return made if dtype is None else convert(made, dtype)


def full(shape, value, dtype=None):
    shape = (int(shape),) if not isinstance(shape, (tuple, list)) else tuple(int(d) for d in shape)
    value = asarray(value)
    value = convert(value, dtype) if dtype is not None else value
    if value.shape == shape:
        return value
    # A large constant of a graph is made where it is used.
    if tracing() and not isinstance(value, Batched) and product(shape) > 1024:
        value = _gantry.lift(value)
    result = broadcast_to(value, shape)
    result._weak = dtype is None and value._weak
    return result


def iota(dtype, shape, dimension):
    return _gantry.op("iota", (), {"to": (dtype.element, tuple(shape)), "iota_dimension": dimension})


# Elementary operations

def convert(x, dtype):
    if x.element == dtype.element:
        if x._weak:
            x = copy_of(x)
            x._weak = False
        return x
    if dtype.element == "bool":
        return compare("NE", x, 0)
    result = op("convert", (x,), {"to": dtype.element})
    result._weak = False
    return result


def copy_of(x):
    """Another object with the same value."""
    if isinstance(x, Batched):
        return type(x)(x.value, x.level)
    copy = type(x).__new__(type(x))
    copy._take(x)
    copy._kind, copy._weak = x._kind, x._weak
    return copy


def reshape(x, shape):
    shape = tuple(shape)
    return x if x.shape == shape else op("reshape", (x,), {"shape": shape})


def broadcast_in_dim(x, shape, dims):
    return op("broadcast_in_dim", (x,), {"shape": tuple(shape), "broadcast_dimensions": tuple(dims)})


def broadcast_to(x, shape):
    shape = tuple(shape)
    if x.shape == shape:
        return x
    offset = len(shape) - len(x.shape)
    if offset < 0 or any(d not in (1, shape[i + offset]) for i, d in enumerate(x.shape)):
        raise ValueError(f"Incompatible shapes for broadcasting: {x.shape} and requested shape {shape}")
    kept = [i for i, d in enumerate(x.shape) if d == shape[i + offset]]
    if len(kept) < len(x.shape):
        x = reshape(x, tuple(x.shape[i] for i in kept))
    return broadcast_in_dim(x, shape, [i + offset for i in kept])


def broadcast_shapes(*shapes):
    rank = max((len(s) for s in shapes), default=0)
    result = [1] * rank
    for s in shapes:
        for i, d in enumerate(s):
            at = rank - len(s) + i
            if d != 1 and result[at] not in (1, d):
                raise ValueError(f"Incompatible shapes for broadcasting: shapes={[tuple(s) for s in shapes]}")
            result[at] = d if d != 1 else result[at]
    return tuple(result)


def transpose(x, permutation):
    permutation = tuple(permutation)
    return x if permutation == tuple(range(len(permutation))) else op("transpose", (x,), {"permutation": permutation})


def promoted(*values, to_float=False):
    """Arrays of one element type."""
    arrays = [asarray(v) for v in values]
    dtype, weak = _types.promote([(a.dtype, a._weak) for a in arrays])
    if to_float and not _types.is_float(dtype):
        dtype = float32
    result = []
    for a in arrays:
        if a.element != dtype.element:
            a = op("convert", (a,), {"to": dtype.element}) if dtype.element != "bool" else convert(a, dtype)
            a._weak = weak
        result.append(a)
    return result


def aligned(*values, to_float=False):
    """Arrays of one element type and shape."""
    arrays = promoted(*values, to_float=to_float)
    shape = broadcast_shapes(*(a.shape for a in arrays))
    return [broadcast_to(a, shape) for a in arrays]


def binary(name, a, b, to_float=False):
    a, b = aligned(a, b, to_float=to_float)
    if a.element == "bool" and name in ("add", "multiply", "maximum", "minimum"):
        return op({"add": "or", "maximum": "or"}.get(name, "and"), (a, b))
    if a.element == "bool":
        a, b = convert(a, int32), convert(b, int32)
    # Of equal operands each takes half the gradient, a constant too.
    return op(name, (a, b), {"ties": "half"} if name in ("maximum", "minimum") and _types.is_float(a.dtype) else None)


def absolute(x):
    x = asarray(x)
    return x if x.element == "bool" else op("abs", (x,), {"zero": "positive"} if _types.is_float(x.dtype) else None)


def bounded(name, x, bound):
    """maximum or minimum with a number that takes all the gradient of where both are equal: relu."""
    return op(name, aligned(x, bound))


def compare(direction, a, b):
    a, b = aligned(a, b)
    result = op("compare", (a, b), {"comparison_direction": direction})
    result._weak = False
    return result


def unary(name, x):
    return op(name, (asarray(x),))


def unary_float(name, x):
    x, = promoted(x, to_float=True)
    return op(name, (x,))


def select(predicate, a, b):
    a, b = promoted(a, b)
    predicate = asarray(predicate)
    predicate = compare("NE", predicate, 0) if predicate.element != "bool" else predicate
    shape = broadcast_shapes(predicate.shape, a.shape, b.shape)
    a, b = broadcast_to(a, shape), broadcast_to(b, shape)
    result = op("select", (broadcast_to(predicate, shape), a, b))
    result._weak = a._weak and b._weak
    return result


def divide(a, b):
    return binary("divide", a, b, to_float=True)


def floor_divide(a, b):
    """Of floats the whole number that what is without the remainder comes nearest to; by 0 the quotient."""
    a, b = aligned(a, b)
    if _types.is_float(a.dtype):
        r = op("remainder", (a, b))
        q = op("divide", (op("subtract", (a, r)), b))
        q = select(_wraps(r, b), binary("subtract", q, 1), q)
        return op("round_nearest_afz", (select(compare("EQ", b, 0), op("divide", (a, b)), q),))
    if a.dtype.category == "uint":
        return op("divide", (a, b))
    if a.element == "bool":
        a, b = convert(a, int32), convert(b, int32)
    q, r = op("divide", (a, b)), op("remainder", (a, b))
    return select(_wraps(r, b), binary("subtract", q, 1), q)


def _wraps(r, b):
    """Whether a remainder has the other sign than what it was divided by."""
    return op("and", (compare("NE", r, 0), compare("NE", op("sign", (r,)), op("sign", (b,)))))


def remainder(a, b):
    """A whole number by 0 leaves 0."""
    a, b = aligned(a, b)
    if a.element == "bool":
        a, b = convert(a, int32), convert(b, int32)
    if not _types.is_float(a.dtype):
        b = select(compare("EQ", b, 0), 1, b)
    r = op("remainder", (a, b))
    if a.dtype.category == "uint":
        return r
    return select(_wraps(r, b), op("add", (r, b)), r)


def integer_power(x, n):
    """By squaring, as JAX does it for exponents that are whole numbers of Python."""
    if n < 0:
        return divide(1, integer_power(x, -n))
    if n == 0:
        return full(x.shape, 1, x.dtype)
    result = None
    while True:
        if n & 1:
            result = x if result is None else op("multiply", (result, x))
        n >>= 1
        if not n:
            return result
        x = op("multiply", (x, x))


def power(a, b):
    if isinstance(b, int) and not isinstance(b, bool) and abs(b) <= 64:
        a = asarray(a)
        if _types.is_float(a.dtype) or b >= 0:
            return integer_power(a if a.element != "bool" else convert(a, int32), b)
    a, b = asarray(a), asarray(b)
    base, _ = _types.promote([(a.dtype, a._weak), (b.dtype, b._weak)])
    if not _types.is_float(base):
        return _whole_power(a, b)
    return binary("power", a, b)


def _whole_power(a, b):
    """Of whole numbers by squaring, so that it wraps around as products do; the bits of an exponent below 0 count as those of one above, as
    JAX does it."""
    a, b = aligned(a, b)
    if a.element == "bool":
        a, b = convert(a, int32), convert(b, int32)
    bits = 8 * a.dtype.itemsize
    if b.has_data and not b.is_variable and not isinstance(b, Batched):
        values = b._numpy()
        bits = max(int(values.max()), 1).bit_length() if values.size and values.min() >= 0 else bits
    result = broadcast_to(asarray(1, a.dtype), a.shape)
    for i in range(bits):
        odd = compare("NE", bitwise("and", b, asarray(1, b.dtype)), 0)
        result = select(odd, op("multiply", (result, a)), result)
        if i + 1 < bits:
            a, b = op("multiply", (a, a)), op("shift_right_logical", (b, broadcast_to(asarray(1, b.dtype), b.shape)))
    return result


def bitwise(name, a, b):
    a, b = aligned(a, b)
    return op(name, (a, b))


def reduce(kind, x, axes):
    axes = tuple(sorted(axes))
    return x if not axes else op("reduce", (x,), {"kind": kind, "dimensions": axes})


def matmul(a, b, dtype=None):
    a, b = promoted(a, b)
    if not a.shape or not b.shape:
        raise ValueError("matmul input operand must have ndim at least 1, got 0-d operand")
    one_a, one_b = len(a.shape) == 1, len(b.shape) == 1
    if one_a or one_b:
        if a.shape[-1] != b.shape[0 if one_b else -2]:
            raise TypeError(f"dot_general requires contracting dimensions to have the same shape, got {a.shape} and {b.shape}")
        return dot_general(a, b, (((len(a.shape) - 1,), (0 if one_b else len(b.shape) - 2,)), ((), ())), dtype) if not (
            one_a and len(b.shape) > 2) else dot_general(b, a, (((len(b.shape) - 2,), (0,)), ((), ())), dtype)
    if a.shape[-1] != b.shape[-2]:
        raise TypeError(f"dot_general requires contracting dimensions to have the same shape, got ({a.shape[-1]},) and "
                        f"({b.shape[-2]},).")
    if len(b.shape) == 2:
        return dot_general(a, b, (((len(a.shape) - 1,), (0,)), ((), ())), dtype)
    batch = broadcast_shapes(a.shape[:-2], b.shape[:-2])
    a, b = broadcast_to(a, batch + a.shape[-2:]), broadcast_to(b, batch + b.shape[-2:])
    n = len(batch)
    return dot_general(a, b, (((n + 1,), (n,)), (tuple(range(n)),) * 2), dtype)


def dot_general(a, b, numbers, dtype=None):
    (ca, cb), (ba, bb) = numbers
    if a.element == "bool" and (dtype is None or dtype.element == "bool"):
        return compare("NE", dot_general(convert(a, int32), convert(b, int32), numbers), 0)
    if a.element == "bool":
        a, b = convert(a, int32), convert(b, int32)
    attrs = {"lhs_contracting_dimensions": tuple(ca), "rhs_contracting_dimensions": tuple(cb)}
    if ba:
        attrs.update(lhs_batching_dimensions=tuple(ba), rhs_batching_dimensions=tuple(bb))
    if dtype is not None and dtype.element != a.element:
        attrs["to"] = dtype.element
    return op("dot_general", (a, b), attrs)


def device_put(x, kind):
    """A value in another memory: in a graph a copy on a queue."""
    if x._kind == kind:
        return x
    if isinstance(x, Batched):
        return type(x)(device_put(x.value, kind), x.level)
    if _gantry.tracing() and x.is_variable:
        # The type of the node says where it lies; what a body reads of an argument in the host is fetched by the plan.
        moved = _gantry.op("copy", (x,), {"memory": kind}) if kind != DEVICE or x.memory != DEVICE else copy_of(x)
    else:
        moved = copy_of(x)
    moved._kind, moved._weak = kind, x._weak
    return moved
