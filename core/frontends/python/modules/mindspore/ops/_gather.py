# SPDX-License-Identifier: Apache-2.0
"""Gathering and scattering."""
import builtins as _builtins
import _gantry
from mindspore import _core, _index
from mindspore._core import Tensor, _op, _operand, convert, float32, float64, int32, int64, bool_, reduce as _reduce
from mindspore.ops import _elementwise as _e
from mindspore.ops._array import _iota, _part, _ints, concat as _concat, stack as _stack, squeeze as _squeeze, zeros as _zeros


# Gathering and scattering

def gather(input_params, input_indices, axis, batch_dims=0):
    x, indices = _operand(input_params), _operand(input_indices)
    axis = int(axis) % _builtins.max(x.ndim, 1)
    if batch_dims:
        return _batched_gather(x, indices, axis, batch_dims % x.ndim)
    indices = _index._wrapped(indices, x.shape[axis])
    n = indices.ndim
    result = _index.gather_rows(x, [axis], _core.reshape(indices, indices.shape + (1,)), indices.shape)
    if axis:
        order = list(_builtins.range(n, n + axis)) + list(_builtins.range(n)) + list(_builtins.range(n + axis, result.ndim))
        result = _core.transpose(result, order)
    return result


def _batched_gather(x, indices, axis, batch_dims):
    parts = [gather(a, b, axis - 1, batch_dims - 1) for a, b in zip(_core.elements(x), _core.elements(indices))]
    return _stack(parts, 0)


def gather_nd(input_x, indices):
    n = indices.ndim - 1
    depth = indices.shape[-1]
    columns = [_core.reshape(_index._wrapped(_squeeze(_part(indices, n, d, d + 1), n), input_x.shape[d]), indices.shape[:-1] + (1,))
               for d in _builtins.range(depth)]
    return _index.gather_rows(input_x, list(_builtins.range(depth)), _concat(columns, n), indices.shape[:-1])


def gather_elements(input, dim, index):
    dim %= _builtins.max(input.ndim, 1)
    at = [_index._wrapped(index, input.shape[d]) if d == dim else _iota(index.shape, d) for d in _builtins.range(input.ndim)]
    return _index.get(input, tuple(at))


gather_d = gather_elements


def take(x, indices, axis=None, mode="clip"):
    if axis is None:
        x, axis = _core.reshape(x, (-1,)), 0
    if mode not in ("raise", "wrap", "clip"):
        raise ValueError(f"For 'take', the mode must be one of 'raise', 'wrap' and 'clip', but got {mode!r}.")
    n = x.shape[axis]
    if mode == "wrap":
        indices = _e.floor_mod(indices, n)
    elif mode == "clip":
        indices = _e.minimum(_e.maximum(indices, 0), n - 1)
    return gather(x, indices, axis)


def index_select(input, axis, index):
    return gather(input, index, axis)


def take_along_dim(input, index, axis):
    return gather_elements(input, axis, index)


def embedding_lookup(input_params, input_indices, offset):
    at = _core.sub(input_indices, offset)
    inside = _e.logical_and(_core.compare("GE", at, 0), _core.compare("LT", at, input_params.shape[0]))
    rows = gather(input_params, _core.select(inside, at, 0), 0)
    inside = _core.reshape(inside, inside.shape + (1,) * (rows.ndim - inside.ndim))
    return _core.select(_core.broadcast_to(inside, rows.shape), rows, _core.full((), 0, rows.dtype))


def masked_select(input, mask):
    return _index.get(_core.broadcast_to(input, _core.broadcast_shapes(input.shape, mask.shape)),
                      _core.broadcast_to(mask, _core.broadcast_shapes(input.shape, mask.shape)))


def nonzero(input, as_tuple=False):
    places = _index._nonzero(_core.compare("NE", input, 0), input, 0)
    if as_tuple:
        return tuple(places)
    return _stack(places, 1) if places else _zeros((0, input.ndim), int64)


def argwhere(input):
    return nonzero(input)


def _scatter_rows(x, indices, updates, kind):
    """Updates of whole rows: indices [...], updates [..., rest]."""
    n = indices.ndim
    rest = x.ndim - 1
    return _op("scatter", (x, _core.reshape(convert(indices, int64), indices.shape + (1,)), convert(updates, x.dtype)),
               {"update_window_dims": tuple(_builtins.range(n, n + rest)), "inserted_window_dims": (0,),
                "scatter_dims_to_operand_dims": (0,), "index_vector_dim": n, "kind": kind})


def _scatter_nd(x, indices, updates, kind):
    depth = indices.shape[-1]
    n = indices.ndim - 1
    return _op("scatter", (x, convert(indices, int64), convert(updates, x.dtype)),
               {"update_window_dims": tuple(_builtins.range(n, n + x.ndim - depth)),
                "inserted_window_dims": tuple(_builtins.range(depth)),
                "scatter_dims_to_operand_dims": tuple(_builtins.range(depth)), "index_vector_dim": n, "kind": kind})


def scatter_nd(indices, updates, shape):
    return _scatter_nd(_core.full(_ints(shape), 0, updates.dtype), indices, updates, "add")


def _tensor_scatter(kind):
    def function(input_x, indices, updates):
        return _scatter_nd(input_x, indices, updates, kind)
    return function


tensor_scatter_add, tensor_scatter_max, tensor_scatter_min, tensor_scatter_mul = (_tensor_scatter(k) for k in ("add", "max", "min", "mul"))
tensor_scatter_update = _tensor_scatter("set")


def tensor_scatter_sub(input_x, indices, updates):
    return _scatter_nd(input_x, indices, _core.neg(updates), "add")


def tensor_scatter_div(input_x, indices, updates):
    return _scatter_nd(input_x, indices, _core.div(1.0, updates), "mul")


def _parameter_scatter(kind, change=None):
    def function(input_x, indices, updates, use_locking=None):
        value = _gantry.parameter_value(input_x)
        return _core.updated(input_x, _scatter_rows(value, indices, change(updates) if change else updates, kind))
    return function


scatter_add, scatter_max, scatter_min, scatter_mul = (_parameter_scatter(k) for k in ("add", "max", "min", "mul"))
scatter_update = _parameter_scatter("set")
scatter_sub = _parameter_scatter("add", lambda u: _core.neg(u))
scatter_div = _parameter_scatter("mul", lambda u: _core.div(1.0, u))


def _parameter_scatter_nd(kind, change=None):
    def function(input_x, indices, updates, use_locking=False):
        value = _gantry.parameter_value(input_x)
        return _core.updated(input_x, _scatter_nd(value, indices, change(updates) if change else updates, kind))
    return function


scatter_nd_add, scatter_nd_max, scatter_nd_min, scatter_nd_mul = (_parameter_scatter_nd(k) for k in ("add", "max", "min", "mul"))
scatter_nd_update = _parameter_scatter_nd("set")
scatter_nd_sub = _parameter_scatter_nd("add", lambda u: _core.neg(u))
scatter_nd_div = _parameter_scatter_nd("mul", lambda u: _core.div(1.0, u))


def tensor_scatter_elements(input_x, indices, updates, axis=0, reduction="none"):
    axis %= input_x.ndim
    at = [_core.reshape(_index._wrapped(indices, input_x.shape[d]) if d == axis else _iota(indices.shape, d), (-1, 1))
          for d in _builtins.range(input_x.ndim)]
    updates = _core.broadcast_to(_operand(updates), indices.shape)
    return _scatter_nd(input_x, _concat(at, 1), _core.reshape(updates, (-1,)), {"none": "set", "add": "add", "mul": "mul"}[reduction])


def scatter(input, axis, index, src):
    return tensor_scatter_elements(input, index, src, axis)


def index_add(x, indices, y, axis, use_lock=True, check_index_bound=True):
    value = _gantry.parameter_value(x) if x._is_parameter else x
    moved = _core.swapaxes(value, 0, axis % x.ndim)
    result = _core.swapaxes(_scatter_rows(moved, indices, _core.swapaxes(y, 0, axis % x.ndim), "add"), 0, axis % x.ndim)
    return _core.updated(x, result) if x._is_parameter else result


def index_fill(x, axis, index, value):
    hits = _reduce("or", _core.compare("EQ", _core.reshape(_iota((x.shape[axis],), 0), (-1, 1)), _core.reshape(_operand(index), (1, -1))), 1)
    shape = tuple(n if d == axis % x.ndim else 1 for d, n in enumerate(x.shape))
    return _core.select(_core.reshape(hits, shape), convert(_core.tensor_of(value), x.dtype), x)


def unsorted_segment_sum(input_x, segment_ids, num_segments):
    rest = input_x.shape[segment_ids.ndim:]
    base = _core.full((int(num_segments),) + rest, 0, input_x.dtype)
    return _scatter_rows(base, segment_ids, input_x, "add")


def _least(dtype):
    """The least number of a float type."""
    return {"f16": -65504.0, "f64": -1.7976931348623157e308, "bf16": -3.3895313892515355e38}.get(dtype.element, -3.4028234663852886e38)


def unsorted_segment_max(x, segment_ids, num_segments):
    base = _core.full((int(num_segments),) + x.shape[segment_ids.ndim:], _least(x.dtype) if x.dtype.is_float else -2 ** 31, x.dtype)
    return _scatter_rows(base, segment_ids, x, "max")


def unsorted_segment_min(x, segment_ids, num_segments):
    base = _core.full((int(num_segments),) + x.shape[segment_ids.ndim:], -_least(x.dtype) if x.dtype.is_float else 2 ** 31 - 1, x.dtype)
    return _scatter_rows(base, segment_ids, x, "min")


def unsorted_segment_prod(x, segment_ids, num_segments):
    base = _core.full((int(num_segments),) + x.shape[segment_ids.ndim:], 1, x.dtype)
    return _scatter_rows(base, segment_ids, x, "mul")


def inplace_update(x, v, indices):
    return _scatter_rows(x, _core.tensor_of(indices), v, "set")


def inplace_add(x, v, indices):
    return _scatter_rows(x, _core.tensor_of(indices), v, "add")


def inplace_sub(x, v, indices):
    return _scatter_rows(x, _core.tensor_of(indices), _core.neg(v), "add")

__all__ = [n for n in dir() if not n.startswith("_") and callable(globals()[n])
           and n not in ("Tensor", "convert", "bool_", "float32", "float64", "int32", "int64")]
