# SPDX-License-Identifier: Apache-2.0
"""jax.lax: what is made of its operations: sorting by several keys, reductions by a function, bits of numbers, gathering and scattering
by dimension numbers, collectives over the axis of a vmap."""
import collections
import enum
import math
from jax import _core
from jax._core import asarray, op
from jax._names import refuse
from jax._types import as_dtype, int32


class Precision(enum.Enum):
    """Products are always computed in the type of their operands."""
    DEFAULT, HIGH, HIGHEST = range(3)


class RoundingMethod(enum.IntEnum):
    AWAY_FROM_ZERO, TO_NEAREST_EVEN = range(2)


GatherDimensionNumbers = collections.namedtuple(
    "GatherDimensionNumbers", "offset_dims collapsed_slice_dims start_index_map operand_batching_dims start_indices_batching_dims",
    defaults=((), ()))
ScatterDimensionNumbers = collections.namedtuple(
    "ScatterDimensionNumbers", "update_window_dims inserted_window_dims scatter_dims_to_operand_dims operand_batching_dims "
    "scatter_indices_batching_dims", defaults=((), ()))


# Shapes

def broadcast_shapes(*shapes):
    return _core.broadcast_shapes(*shapes)


def broadcast_to_rank(x, rank):
    x = asarray(x)
    return _core.reshape(x, (1,) * (rank - x.ndim) + x.shape)


def collapse(operand, start_dimension, stop_dimension=None):
    x = asarray(operand)
    first, last, _ = slice(start_dimension, stop_dimension).indices(x.ndim)
    return _core.reshape(x, x.shape[:first] + (_core.product(x.shape[first:last]),) + x.shape[last:])


def split(operand, sizes, axis=0):
    x, at, parts = asarray(operand), 0, []
    axis %= x.ndim
    for n in sizes:
        parts.append(x[(slice(None),) * axis + (slice(at, at + n),)])
        at += n
    if at != x.shape[axis]:
        raise ValueError(f"lax.split: sizes {tuple(sizes)} do not add up to {x.shape[axis]}")
    return parts


def stack(operands, axis=0):
    import jax.numpy as jnp
    return jnp.stack(operands, axis)


def unstack(x, axis=0):
    import jax.numpy as jnp
    return jnp.unstack(x, axis=axis)


def index_in_dim(operand, index, axis=0, keepdims=True):
    x = asarray(operand)
    axis %= x.ndim
    index %= x.shape[axis]
    return x[(slice(None),) * axis + (slice(index, index + 1) if keepdims else index,)]


def dtype(x):
    return asarray(x).dtype


# Elements

def select_n(which, *cases):
    which = asarray(which)
    if which.element == "bool" and len(cases) == 2:
        return _core.select(which, cases[1], cases[0])
    result = cases[0]
    for i, case in enumerate(cases[1:], 1):
        result = _core.select(_core.compare("GE", _core.convert(which, int32), i), case, result)
    return result


def exp2(x):
    return _core.unary("exponential", _core.binary("multiply", x, math.log(2)))


def _bits_of(x):
    """(unsigned bits, how many of them are the mantissa, how many all)"""
    kind, mantissa, all_bits = {"f32": ("u32", 23, 32), "f16": ("u16", 10, 16), "bf16": ("u16", 7, 16)}[x.element]
    return op("bitcast_convert", (x,), {"to": kind}), mantissa, all_bits


def nextafter(x1, x2):
    """Of the numbers beside each other in their bits the one towards x2."""
    x, y = _core.aligned(x1, x2, to_float=True)
    bits, _, count = _bits_of(x)
    kind, sign = bits.dtype, 1 << (count - 1)

    def number(v):
        return _core.broadcast_to(asarray(v, kind), x.shape)
    zero, up = _core.compare("EQ", x, 0), _core.compare("LT", x, y)
    away = _core.compare("EQ", up, _core.compare("GT", x, 0))
    moved = _core.select(away, op("add", (bits, number(1))), op("subtract", (bits, number(1))))
    moved = _core.select(zero, _core.select(up, number(1), number(sign + 1)), moved)
    moved = op("bitcast_convert", (_core.convert(moved, kind),), {"to": x.element})
    moved = _core.select(_core.compare("EQ", x, y), y, moved)
    return _core.select(_core.bitwise("or", op("is_nan", (x,)), op("is_nan", (y,))), _core.binary("add", x, y), moved)


def reduce_precision(operand, exponent_bits, mantissa_bits):
    """To the nearest number, of two the even one, that so many bits hold; what is too large is infinite, what is too small 0."""
    x = asarray(operand)
    bits, mantissa, count = _bits_of(x)
    kind, width = bits.dtype, count - 1 - mantissa

    def number(v):
        return _core.broadcast_to(asarray(v, kind), x.shape)
    sign = op("and", (bits, number(1 << (count - 1))))
    size = op("and", (bits, number((1 << (count - 1)) - 1)))
    infinite = ((1 << width) - 1) << mantissa
    if mantissa_bits < mantissa:
        cut = mantissa - mantissa_bits
        last = op("and", (op("shift_right_logical", (size, number(cut))), number(1)))
        size = op("add", (size, op("add", (last, number((1 << (cut - 1)) - 1)))))
        size = op("and", (size, number(((1 << (count - 1)) - 1) >> cut << cut)))
    if exponent_bits < width:
        bias, wanted = (1 << (width - 1)) - 1, (1 << (exponent_bits - 1)) - 1
        high, low = bias + wanted, bias - wanted
        size = _core.select(_core.compare("GT", size, number(((high + 1) << mantissa) - 1)), number(infinite), size)
        size = _core.select(_core.compare("LE", size, number(low << mantissa)), number(0), size)
    else:
        size = _core.select(_core.compare("GT", size, number(infinite)), number(infinite), size)
    made = op("bitcast_convert", (_core.convert(op("or", (sign, size)), kind),), {"to": x.element})
    made = _core.select(op("is_nan", (x,)), x, made)
    return made


def argmax(operand, axis, index_dtype="int32"):
    import jax.numpy as jnp
    return _core.convert(jnp.argmax(operand, axis), as_dtype(index_dtype))


def argmin(operand, axis, index_dtype="int32"):
    import jax.numpy as jnp
    return _core.convert(jnp.argmin(operand, axis), as_dtype(index_dtype))


# Sorting

def sort(operand, dimension=-1, is_stable=True, num_keys=1):
    """By the last key first: each sort keeps the order that those before have made."""
    many = isinstance(operand, (tuple, list))
    xs = [asarray(x) for x in (operand if many else [operand])]
    if not 1 <= num_keys <= len(xs):
        raise ValueError(f"lax.sort: num_keys={num_keys} of {len(xs)} operands")
    dimension %= xs[0].ndim
    for k in reversed(range(num_keys)):
        order = [k] + [i for i in range(len(xs)) if i != k]
        made = op("sort", [xs[i] for i in order], {"dimension": dimension, "stable": int(is_stable or num_keys > 1)})
        made = made if isinstance(made, tuple) else (made,)
        xs = [made[order.index(i)] for i in range(len(xs))]
    return tuple(xs) if many else xs[0]


def sort_key_val(keys, values, dimension=-1, is_stable=True):
    return sort((keys, values), dimension, is_stable)


# Reductions

_KINDS = {"add": ("add", 0), "mul": ("mul", 1), "multiply": ("mul", 1), "max": ("max", None), "maximum": ("max", None), "min": ("min", None),
          "minimum": ("min", None), "bitwise_and": ("and", None), "bitwise_or": ("or", 0), "logical_and": ("and", None), "logical_or": ("or", 0)}


def reduce(operands, init_values, computation, dimensions, out_sharding=None):
    """By an operation as one kernel, by any other function step by step."""
    import jax
    from jax import lax
    refuse("lax.reduce", "out_sharding", out_sharding, None)
    many = isinstance(operands, (tuple, list))
    xs = [asarray(x) for x in (operands if many else [operands])]
    starts = [_core.convert(asarray(v), x.dtype) for v, x in zip(init_values if many else [init_values], xs)]
    dims = sorted(d % xs[0].ndim for d in dimensions)
    kind, _ = _KINDS.get(getattr(computation, "__name__", ""), (None, None))
    if not many and kind is not None and not (kind in ("and", "or") and xs[0].element != "bool"):
        return computation(_core.reduce(kind, xs[0], dims), starts[0])
    kept = [d for d in range(xs[0].ndim) if d not in dims]
    shape = tuple(xs[0].shape[d] for d in kept)
    rows = [_core.reshape(_core.transpose(x, dims + kept), (_core.product([x.shape[d] for d in dims]), _core.product(shape))) for x in xs]
    first = [_core.broadcast_to(s, (_core.product(shape),)) for s in starts]
    each = jax.vmap(lambda a, b: computation(tuple(a), tuple(b)) if many else (computation(a[0], b[0]),))
    made = lax.scan(lambda c, x: (list(each(c, x)), None), first, rows)[0]
    made = [_core.reshape(m, shape) for m in made]
    return tuple(made) if many else made[0]


def reduce_xor(operand, axes):
    x = asarray(operand)
    return reduce(x, asarray(0, x.dtype) if x.element != "bool" else False, lambda a, b: op("xor", (a, b)), axes)


# By dimension numbers

def gather(operand, start_indices, dimension_numbers, slice_sizes, *, unique_indices=False, indices_are_sorted=False, mode=None, fill_value=None):
    from jax._index import fill_of, mode_of
    x, starts = asarray(operand), asarray(start_indices)
    n = dimension_numbers
    attrs = {"offset_dims": tuple(n.offset_dims), "collapsed_slice_dims": tuple(n.collapsed_slice_dims),
             "start_index_map": tuple(n.start_index_map), "index_vector_dim": starts.ndim - 1, "slice_sizes": tuple(slice_sizes),
             "operand_batching_dims": tuple(n.operand_batching_dims), "start_indices_batching_dims": tuple(n.start_indices_batching_dims)}
    made = op("gather", (x, starts), attrs)
    if mode_of(mode, "clip") != "fill":
        return made
    most = asarray([x.shape[d] - slice_sizes[d] for d in n.start_index_map], starts.dtype)
    inside = _core.bitwise("and", _core.compare("GE", starts, 0), _core.compare("LE", starts, most))
    inside = _core.reduce("and", inside, (starts.ndim - 1,))
    inside = _core.broadcast_in_dim(inside, made.shape, [d for d in range(made.ndim) if d not in n.offset_dims])
    return _core.select(inside, made, _core.broadcast_to(fill_of(x.dtype, fill_value), made.shape))


def _scatterer(kind, negate=False):
    def function(operand, scatter_indices, updates, dimension_numbers, *, indices_are_sorted=False, unique_indices=False, mode=None):
        from jax._index import mode_of
        x, starts, n = asarray(operand), asarray(scatter_indices), dimension_numbers
        updates = _core.convert(asarray(updates), x.dtype)
        if mode_of(mode, "fill") == "clip":
            window = iter([updates.shape[d] for d in n.update_window_dims])
            sizes = [1 if d in n.inserted_window_dims or d in n.operand_batching_dims else next(window) for d in range(x.ndim)]
            most = asarray([x.shape[d] - sizes[d] for d in n.scatter_dims_to_operand_dims], starts.dtype)
            starts = _core.binary("minimum", _core.binary("maximum", starts, 0), most)
        return op("scatter", (x, starts, _core.unary("negate", updates) if negate else updates), {
            "update_window_dims": tuple(n.update_window_dims), "inserted_window_dims": tuple(n.inserted_window_dims),
            "scatter_dims_to_operand_dims": tuple(n.scatter_dims_to_operand_dims), "index_vector_dim": starts.ndim - 1, "kind": kind,
            "input_batching_dims": tuple(n.operand_batching_dims), "scatter_indices_batching_dims": tuple(n.scatter_indices_batching_dims)})
    return function


scatter, scatter_add, scatter_mul = _scatterer("set"), _scatterer("add"), _scatterer("mul")
scatter_max, scatter_min, scatter_sub = _scatterer("max"), _scatterer("min"), _scatterer("add", True)


# Products and convolutions

def batch_matmul(lhs, rhs, precision=None):
    return _core.matmul(lhs, rhs)


def conv_with_general_padding(lhs, rhs, window_strides, padding, lhs_dilation, rhs_dilation, precision=None, preferred_element_type=None):
    from jax import lax
    return lax.conv_general_dilated(lhs, rhs, window_strides, padding, lhs_dilation, rhs_dilation,
                                    preferred_element_type=preferred_element_type)


# The axis of a vmap

def _axis(name, what):
    from jax import _batch
    return _batch.level_of(name, what)


def _over(x, axis_name, what, function):
    """function (values of all examples) of each leaf; where those are examples of an inner vmap too, for each of these."""
    import jax
    from jax import _batch
    level, size = _axis(axis_name, what)

    def each(x, function):
        if isinstance(x, _core.Batched) and x.level > level:
            return _batch.BatchedArray(each(x.value, jax.vmap(function, 1)), x.level)
        return function(_batch.spread(x, level, size))
    return jax.tree_util.tree_map(lambda x: each(asarray(x), function), x)


def _collective(kind):
    def function(x, axis_name, *, axis_index_groups=None):
        refuse(f"lax.p{kind}", "axis_index_groups", axis_index_groups, None)
        for name in axis_name if isinstance(axis_name, (tuple, list)) else (axis_name,):
            x = _over(x, name, f"lax.p{kind}", of)
        return x

    def of(whole):
        made = _core.reduce({"sum": "add", "mean": "add"}.get(kind, kind), whole, (0,))
        return _core.divide(made, whole.shape[0]) if kind == "mean" else made
    function.__name__ = f"p{kind}"
    return function


psum, pmean, pmax, pmin = (_collective(k) for k in ("sum", "mean", "max", "min"))


def axis_index(axis_name):
    from jax import _batch
    level, size = _axis(axis_name, "lax.axis_index")
    return _batch.BatchedArray(_core.iota(int32, (size,), 0), level)


def axis_size(axis_name):
    return _axis(axis_name, "lax.axis_size")[1]


def all_gather(x, axis_name, *, axis_index_groups=None, axis=0, tiled=False):
    import jax.numpy as jnp
    refuse("lax.all_gather", "axis_index_groups", axis_index_groups, None)
    return _over(x, axis_name, "lax.all_gather", lambda whole: jnp.concatenate(list(whole), axis) if tiled else jnp.moveaxis(whole, 0, axis))
