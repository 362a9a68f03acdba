# SPDX-License-Identifier: Apache-2.0
"""jax.lax: operations near the core ones, and control flow."""
import _gantry
from jax import _core, _types
from jax._core import aligned, asarray, op
from jax._array import Array
from jax._index import GatherScatterMode
from jax._names import refuse
from jax._types import as_dtype, int32
from jax.tree_util import tree_flatten, tree_map, tree_unflatten


def _unary(name):
    def function(x, accuracy=None):
        refuse(f"lax.{name}", "accuracy", accuracy, None)
        return _core.unary(name, x)
    function.__name__ = name
    return function


neg, sign = _unary("negate"), _unary("sign")
exp, expm1, log, log1p = _unary("exponential"), _unary("exponential_minus_one"), _unary("log"), _unary("log_plus_one")
tanh, logistic, erf, sqrt, rsqrt, cbrt = (_unary(n) for n in ("tanh", "logistic", "erf", "sqrt", "rsqrt", "cbrt"))
sin, cos, tan, floor, ceil = _unary("sine"), _unary("cosine"), _unary("tan"), _unary("floor"), _unary("ceil")
asin, acos, atan, sinh, cosh, asinh, acosh, atanh = (_unary(n) for n in "asin acos atan sinh cosh asinh acosh atanh".split())
is_finite, bitwise_not, population_count, clz = _unary("is_finite"), _unary("not"), _unary("popcnt"), _unary("count_leading_zeros")


def _binary(name):
    def function(a, b):
        return op(name, aligned(a, b))
    function.__name__ = name
    return function


add, sub, mul, div, rem = (_binary(n) for n in ("add", "subtract", "multiply", "divide", "remainder"))
pow, atan2 = _binary("power"), _binary("atan2")
bitwise_and, bitwise_or, bitwise_xor = (_binary(n) for n in ("and", "or", "xor"))
shift_left, shift_right_logical = _binary("shift_left"), _binary("shift_right_logical")
shift_right_arithmetic = _binary("shift_right_arithmetic")


def abs(x):
    return _core.absolute(x)


def max(x, y):
    return _core.binary("maximum", x, y)


def min(x, y):
    return _core.binary("minimum", x, y)


def _compare(direction):
    return lambda a, b: _core.compare(direction, a, b)


eq, ne, lt, le, gt, ge = (_compare(d) for d in ("EQ", "NE", "LT", "LE", "GT", "GE"))


def integer_pow(x, y):
    return _core.power(x, y)


def square(x):
    return mul(x, x)


def reciprocal(x):
    return _core.divide(1, x)


def round(x, rounding_method=0):
    return _core.unary("round_nearest_even" if rounding_method == 1 else "round_nearest_afz", x)


def clamp(low, x, high):
    x = asarray(x)
    low, high = (_core.broadcast_to(_core.convert(asarray(v), x.dtype), x.shape) for v in (low, high))
    return op("clamp", (low, x, high))


def select(predicate, a, b):
    return _core.select(predicate, a, b)


def convert_element_type(x, dtype):
    return _core.convert(asarray(x), as_dtype(dtype))


def bitcast_convert_type(x, dtype):
    return op("bitcast_convert", (asarray(x),), {"to": as_dtype(dtype).element})


def _special(name):
    def function(x):
        import jax.scipy.special as special
        return getattr(special, name)(x)
    function.__name__ = name
    return function


erf_inv, erfc, digamma, lgamma = _special("erf_inv"), _special("erfc"), _special("digamma"), _special("gammaln")


def stop_gradient(x):
    def stop(leaf):
        leaf = asarray(leaf)
        if leaf.element == "bool" or not leaf.is_variable:
            return leaf
        result = op("stop_gradient", (leaf,))
        result._weak = leaf._weak
        return result
    return tree_map(stop, x)


def reshape(x, new_sizes, dimensions=None):
    x = asarray(x)
    return _core.reshape(x if dimensions is None else _core.transpose(x, dimensions), new_sizes)


def broadcast(x, sizes):
    x = asarray(x)
    return _core.broadcast_to(x, tuple(sizes) + x.shape)


def broadcast_in_dim(x, shape, broadcast_dimensions):
    return _core.broadcast_in_dim(asarray(x), shape, broadcast_dimensions)


def transpose(x, permutation):
    return _core.transpose(asarray(x), permutation)


def rev(x, dimensions):
    return op("reverse", (asarray(x),), {"dimensions": tuple(dimensions)})


def concatenate(operands, dimension):
    return op("concatenate", [asarray(x) for x in operands], {"dimension": dimension})


def pad(x, padding_value, padding_config):
    x = asarray(x)
    low, high, inner = zip(*padding_config) if padding_config else ((), (), ())
    return op("pad", (x, _core.convert(asarray(padding_value), x.dtype)),
              {"edge_padding_low": low, "edge_padding_high": high, "interior_padding": inner})


def slice(x, start_indices, limit_indices, strides=None):
    return op("slice", (asarray(x),), {"start_indices": tuple(start_indices), "limit_indices": tuple(limit_indices),
                                       "strides": tuple(strides or [1] * len(start_indices))})


def slice_in_dim(x, start_index, limit_index, stride=1, axis=0):
    from builtins import slice as whole
    index = [whole(None)] * x.ndim
    index[axis] = whole(start_index, limit_index, stride)
    return x[tuple(index)]


def _starts(x, starts):
    from jax._index import wrapped
    return [wrapped(asarray(s), n) for s, n in zip(starts, x.shape)]


def dynamic_slice(x, start_indices, slice_sizes):
    x = asarray(x)
    return op("dynamic_slice", [x] + _starts(x, start_indices), {"slice_sizes": tuple(slice_sizes)})


def dynamic_slice_in_dim(x, start_index, slice_size, axis=0):
    starts, sizes = [0] * x.ndim, list(x.shape)
    starts[axis], sizes[axis] = start_index, slice_size
    return dynamic_slice(x, starts, sizes)


def dynamic_index_in_dim(x, index, axis=0, keepdims=True):
    row = dynamic_slice_in_dim(x, index, 1, axis)
    return row if keepdims else _core.reshape(row, row.shape[:axis] + row.shape[axis + 1:])


def dynamic_update_slice(x, update, start_indices):
    x = asarray(x)
    return op("dynamic_update_slice", [x, _core.convert(asarray(update), x.dtype)] + _starts(x, start_indices))


def dynamic_update_slice_in_dim(x, update, start_index, axis):
    starts = [0] * x.ndim
    starts[axis] = start_index
    return dynamic_update_slice(x, update, starts)


def dynamic_update_index_in_dim(x, update, index, axis):
    update = asarray(update)
    shape = list(x.shape)
    shape[axis] = 1
    return dynamic_update_slice_in_dim(x, _core.reshape(update, shape), index, axis)


def dot_general(lhs, rhs, dimension_numbers, precision=None, preferred_element_type=None, out_sharding=None):
    refuse("lax.dot_general", "out_sharding", out_sharding, None)
    a, b = _core.promoted(lhs, rhs)
    return _core.dot_general(a, b, dimension_numbers, None if preferred_element_type is None else as_dtype(preferred_element_type))


def dot(lhs, rhs, precision=None, preferred_element_type=None):
    return _core.matmul(lhs, rhs, None if preferred_element_type is None else as_dtype(preferred_element_type))


def iota(dtype, size):
    return _core.iota(as_dtype(dtype), (size,), 0)


def broadcasted_iota(dtype, shape, dimension):
    return _core.iota(as_dtype(dtype), shape, dimension)


def full(shape, fill_value, dtype=None):
    return _core.full(shape, fill_value, None if dtype is None else as_dtype(dtype))


def full_like(x, fill_value, dtype=None, shape=None):
    return _core.full(x.shape if shape is None else shape, fill_value, x.dtype if dtype is None else as_dtype(dtype))


def expand_dims(x, dimensions):
    x = asarray(x)
    rank = x.ndim + len(dimensions)
    at = {d % rank for d in dimensions}
    sizes = iter(x.shape)
    return _core.reshape(x, tuple(1 if d in at else next(sizes) for d in range(rank)))


def squeeze(x, dimensions):
    return _core.reshape(x, tuple(n for d, n in enumerate(x.shape) if d not in {i % x.ndim for i in dimensions}))


def _reducer(kind):
    return lambda x, axes: _core.reduce(kind, asarray(x), axes)


reduce_sum, reduce_max, reduce_min, reduce_prod = (_reducer(k) for k in ("add", "max", "min", "mul"))
reduce_and, reduce_or = _reducer("and"), _reducer("or")


def _cumulative(kind):
    def function(x, axis=0, reverse=False):
        x = asarray(x)
        n = x.shape[axis % x.ndim]
        window, padding = [1] * x.ndim, [0] * (2 * x.ndim)
        window[axis % x.ndim] = n
        padding[2 * (axis % x.ndim) + (1 if reverse else 0)] = n - 1
        if n == 0:
            return x
        return op("reduce_window", (x,), {"kind": kind, "window_dimensions": window, "window_strides": [1] * x.ndim, "padding": padding})
    return function


cumsum, cummax, cummin = (_cumulative(k) for k in ("add", "max", "min"))


def cumprod(x, axis=0, reverse=False):
    """Products of neighbours, so that the gradient divides by nothing."""
    x = asarray(x)
    return associative_scan(mul, x, reverse, axis)


def cumlogsumexp(x, axis=0, reverse=False):
    import jax.numpy as jnp
    return associative_scan(jnp.logaddexp, asarray(x), reverse, axis)


def top_k(x, k, *, axis=-1):
    x = asarray(x)
    if axis % max(x.ndim, 1) != x.ndim - 1:
        from jax import numpy as jnp
        return [jnp.moveaxis(part, -1, axis) for part in top_k(jnp.moveaxis(x, axis, -1), k)]
    keys, places = op("sort", (x, _core.iota(int32, x.shape, x.ndim - 1)), {"dimension": x.ndim - 1, "descending": 1, "stable": 1})
    return [keys[..., :k], places[..., :k]]


def conv_general_dilated(lhs, rhs, window_strides, padding, lhs_dilation=None, rhs_dilation=None, dimension_numbers=None,
                         feature_group_count=1, batch_group_count=1, precision=None, preferred_element_type=None):
    from jax import _convolution
    made = _convolution.general(lhs, rhs, window_strides, padding, lhs_dilation, rhs_dilation, dimension_numbers, feature_group_count,
                                batch_group_count)
    if preferred_element_type is not None and as_dtype(preferred_element_type) != made.dtype:
        refuse("lax.conv_general_dilated", "preferred_element_type", preferred_element_type, None)
    return made


def conv_transpose(lhs, rhs, strides, padding, rhs_dilation=None, dimension_numbers=None, transpose_kernel=False, precision=None,
                   preferred_element_type=None, use_consistent_padding=False):
    from jax import _convolution
    refuse("lax.conv_transpose", "preferred_element_type", preferred_element_type, None)
    return _convolution.transposed(lhs, rhs, strides, padding, rhs_dilation, dimension_numbers, use_consistent_padding, transpose_kernel)


def conv_general_dilated_patches(lhs, filter_shape, window_strides, padding, lhs_dilation=None, rhs_dilation=None, dimension_numbers=None,
                                 precision=None, preferred_element_type=None):
    """The values under each window, channel after channel."""
    from jax import _convolution
    refuse("lax.conv_general_dilated_patches", "preferred_element_type", preferred_element_type, None)
    return _convolution.patches(lhs, filter_shape, window_strides, padding, lhs_dilation, rhs_dilation, dimension_numbers)


def conv(lhs, rhs, window_strides, padding, precision=None, preferred_element_type=None):
    return conv_general_dilated(lhs, rhs, window_strides, padding, preferred_element_type=preferred_element_type)


def reduce_window(operand, init_value, computation, window_dimensions, window_strides, padding, base_dilation=None, window_dilation=None):
    from jax import _convolution
    return _convolution.reduce_window(operand, init_value, computation, window_dimensions, window_strides, padding, base_dilation, window_dilation)


from jax._lax_more import (GatherDimensionNumbers, Precision, RoundingMethod, ScatterDimensionNumbers, all_gather, argmax, argmin,  # noqa: E402,F401
                           axis_index, axis_size, batch_matmul, broadcast_shapes, broadcast_to_rank, collapse, conv_with_general_padding,
                           dtype, exp2, gather, index_in_dim, nextafter, pmax, pmean, pmin, psum, reduce, reduce_precision, reduce_xor,
                           scatter, scatter_add, scatter_max, scatter_min, scatter_mul, scatter_sub, select_n, sort, sort_key_val, split,
                           stack, unstack)
from jax._convolution import ConvDimensionNumbers, dimension_numbers as conv_dimension_numbers  # noqa: E402,F401
from jax._branch import cond, switch  # noqa: E402
from jax._control import associative_scan, fori_loop, map, scan, while_loop  # noqa: E402
from jax._names import missing as _missing  # noqa: E402


def with_sharding_constraint(x, shardings):
    """There is one device: only the memory kind of @shardings says something."""
    import jax
    from jax.sharding import PartitionSpec
    return x if isinstance(shardings, PartitionSpec) else jax.device_put(x, shardings)


def optimization_barrier(x):
    return tree_map(lambda leaf: op("optimization_barrier", (asarray(leaf),)), x)


def approx_max_k(operand, k, reduction_dimension=-1, recall_target=0.95, reduction_input_size_override=-1, aggregate_to_topk=True):
    """Exactly, as JAX does where there is no TPU."""
    return top_k(operand, k, axis=reduction_dimension)


def approx_min_k(operand, k, reduction_dimension=-1, recall_target=0.95, reduction_input_size_override=-1, aggregate_to_topk=True):
    values, places = top_k(-asarray(operand), k, axis=reduction_dimension)
    return -values, places


def igamma(a, x):
    from jax.scipy import special
    return special.gammainc(a, x)


def igammac(a, x):
    from jax.scipy import special
    return special.gammaincc(a, x)


def bessel_i0e(x):
    from jax.scipy import special
    return special.i0e(x)


def bessel_i1e(x):
    from jax.scipy import special
    return special.i1e(x)


def zeta(x, q):
    from jax.scipy import special
    return special.zeta(x, q)


def polygamma(m, x):
    from jax.scipy import special
    return special.polygamma(m, x)


def __getattr__(name):
    if name == "linalg":
        from jax import _linalg
        return _linalg
    raise _missing("jax.lax", name, globals())
