# SPDX-License-Identifier: Apache-2.0
"""Indices of tensors: numbers, slices, ellipsis, None, booleans, integer and boolean tensors, in any mixture, as NumPy has them."""
import builtins
import _gantry
from mindspore import _core
from mindspore._core import Tensor, Scalar, _op



_UNSUPPORTED = ("Unsupported Python object type received: {kind}. Supported types for tensor indexing are: list, int, float, tuple, slice, "
                "ellipsis, None, array, bool, or Tensor. Received value: {part}")

_FLOAT = "The tensor {what} must be int or bool type, but got {dtype}."


def _normal(index):
    """The parts of an index, with lists and arrays as tensors."""
    parts = index if isinstance(index, tuple) else (index,)
    result = []
    for part in parts:
        if isinstance(part, Scalar):
            part = part._tensor()
        elif isinstance(part, (list, builtins.range)) or hasattr(part, "__array_interface__"):
            if isinstance(part, list) and any(isinstance(p, builtins.slice) or p is None for p in part):
                result.extend(part)
                continue
            part = _core.tensor_of(list(part) if isinstance(part, builtins.range) else part)
            if part.size == 0:
                part = _core.convert(part, _core.int64)
        elif isinstance(part, tuple):
            part = _core.tensor_of(part)
        elif isinstance(part, float):
            raise IndexError(f"Number index of tensor must be int or bool, but got {part}.")
        elif part is not None and part is not Ellipsis and not isinstance(part, (int, builtins.slice, Tensor)):
            raise IndexError(_UNSUPPORTED.format(kind=type(part), part=repr(part)))
        if isinstance(part, Tensor) and part.dtype.is_float:
            raise IndexError(_FLOAT.format(what="element in tuple index" if isinstance(index, tuple) else "index", dtype=part.dtype))
        result.append(part)
    return result


def _outside(i, dimension, n):
    """What is said of a number beyond the ends: in a graph it is an attribute of a slice."""
    if not _gantry.in_graph():
        return IndexError(f"index {i} is out of bounds for dimension with size {n}")
    return IndexError(f"For 'StridedSlice', the 'strides[{dimension}]' cannot be negative number and 'begin[{dimension}]' must be in [-{n}, {n}), but "
                      f"got 'begin[{dimension}]': {i}.")


def _consumed(part):
    if part is None or part is Ellipsis or isinstance(part, bool):
        return 0
    if isinstance(part, Tensor) and part.element == "bool":
        return part.ndim
    return 1


def _expanded(x, index):
    """Parts for all dimensions: the ellipsis written out, boolean tensors as integer ones."""
    parts = _normal(index)
    used = sum(_consumed(p) for p in parts)
    if used > x.ndim:
        raise IndexError(f"The dim of index cannot be greater than indexed data, but got dim of index:{used}, dim of data:{x.ndim}")
    if sum(p is Ellipsis for p in parts) > 1:
        raise IndexError("An index can only have a single ellipsis('...')")
    if not any(p is Ellipsis for p in parts):
        parts.append(Ellipsis)
    result = []
    for part in parts:
        if part is Ellipsis:
            result.extend([builtins.slice(None)] * (x.ndim - used))
        elif isinstance(part, bool):
            if not part:
                raise IndexError("When tensor is indexed by a bool object, the value only support 'True'.")
            result.append(None)
        elif isinstance(part, Tensor) and part.element == "bool":
            result.extend(_nonzero(part, x, len([r for r in result if r is not None])))
        else:
            result.append(part)
    return result


def _nonzero(mask, x, first):
    if not mask.has_data or mask.is_variable and not mask.has_data:
        raise _core.NeedsData("a mask that is a variable gives a tensor whose shape depends on data; use select or masked_fill")
    for d, n in enumerate(mask.shape):
        if x.shape[first + d] != n:
            raise IndexError(f"The shape {mask.shape} of the mask at index {d} does not match the shape {x.shape} of the tensor.")
    places = []

    def walk(value, at):
        if isinstance(value, list):
            for i, v in enumerate(value):
                walk(v, at + (i,))
        elif value:
            places.append(at)
    walk(mask.tolist(), ())
    return [_core.tensor_of([p[d] for p in places], _core.int64) if places else _core.full((0,), 0, _core.int64)
            for d in range(mask.ndim)]


def _bounds(part, n):
    values = []
    for v in (part.start, part.stop, part.step):
        if isinstance(v, (Tensor, Scalar)):
            if v.is_variable and not v.has_data:
                raise _core.NeedsData("the bounds of a slice of a tensor have to be known while compiling")
            v = int(v)
        values.append(v)
    return builtins.slice(*values).indices(n)


def _basic(x, parts):
    """Slices, numbers and None. Integer tensors are left: returns what they apply to, and for each dimension of it the tensor."""
    starts, limits, strides, flips = [], [], [], []
    shape, tensors = [], []
    d = 0
    for part in parts:
        if part is None:
            shape.append(1)
            tensors.append(None)
            continue
        n = x.shape[d]
        if isinstance(part, builtins.slice):
            start, stop, step = _bounds(part, n)
            count = len(builtins.range(start, stop, step))
            if step < 0:
                flips.append(d)
                last = start + (count - 1) * step if count else start
                start, stop, step = last, (start + 1 if count else last), -step
            starts.append(start if count else 0)
            limits.append(max(stop, start) if count else 0)
            strides.append(step)
            shape.append(count)
            tensors.append(None)
        elif isinstance(part, Tensor):
            starts.append(0)
            limits.append(n)
            strides.append(1)
            shape.append(n)
            tensors.append(part)
        else:
            i = int(part)
            if not -n <= i < n:
                raise _outside(i, d, n)
            starts.append(i % n)
            limits.append(i % n + 1)
            strides.append(1)
        d += 1
    full = all(s == 0 and l == n and t == 1 for s, l, t, n in zip(starts, limits, strides, x.shape))
    if not full:
        x = _op("slice", (x,), {"start_indices": tuple(starts), "limit_indices": tuple(limits), "strides": tuple(strides)})
    if flips:
        x = _op("reverse", (x,), {"dimensions": tuple(flips)})
    return _core.reshape(x, tuple(shape)), tensors


def _wrapped(index, n):
    index = _core.convert(index, _core.int64)
    return _core.select(_core.compare("LT", index, 0), _core.add(index, n), index)


def _index_vectors(x, tensors):
    """Integer tensors brought to one shape and joined along a last dimension."""
    axes = [d for d, t in enumerate(tensors) if t is not None]
    shape = ()
    for d in axes:
        shape = _core.broadcast_shapes(shape, tensors[d].shape)
    columns = [_core.reshape(_core.broadcast_to(_wrapped(tensors[d], x.shape[d]), shape), shape + (1,)) for d in axes]
    joined = columns[0] if len(columns) == 1 else _op("concatenate", columns, {"dimension": len(shape)})
    return axes, shape, joined


def _check_known(x, tensors):
    for d, t in enumerate(tensors):
        if t is not None and t.has_data and not t.is_variable and t.size <= 4096:
            for i in _flat(t.tolist()):
                if not -x.shape[d] <= i < x.shape[d]:
                    raise IndexError(f"index {i} is out of bounds for dimension with size {x.shape[d]}")


def _flat(value):
    if isinstance(value, list):
        for v in value:
            yield from _flat(v)
    else:
        yield value


def gather_rows(x, axes, indices, index_shape):
    """x at the joined @indices along @axes: dimensions of the index first, then those of x that are left."""
    n = len(index_shape)
    rest = [d for d in range(x.ndim) if d not in axes]
    sizes = tuple(1 if d in axes else x.shape[d] for d in range(x.ndim))
    if any(x.shape[d] == 0 for d in axes) and 0 in index_shape:
        return _core.full(tuple(index_shape) + tuple(x.shape[d] for d in rest), 0, x.dtype)
    return _op("gather", (x, indices), {"offset_dims": tuple(range(n, n + len(rest))), "collapsed_slice_dims": tuple(axes),
                                        "start_index_map": tuple(axes), "index_vector_dim": n, "slice_sizes": sizes})


def take_row(x, at):
    """x[at] for one variable index."""
    return gather_rows(x, [0], _core.reshape(at, (1,)), ())


def _place(axes):
    """Where the dimensions of the index stand: where the tensors are, when they are neighbours; else first."""
    return axes[0] if axes == list(range(axes[0], axes[-1] + 1)) else 0


def get(x, index):
    if isinstance(index, bool) is False and isinstance(index, int):
        n = x.shape[0] if x.shape else 0
        if not x.shape:
            raise TypeError("Cannot iterate over a scalar tensor.")
        if not -n <= index < n:
            raise _outside(index, 0, n)
    x = _core._operand(x)
    x, tensors = _basic(x, _expanded(x, index))
    if all(t is None for t in tensors):
        return x
    _check_known(x, tensors)
    axes, shape, joined = _index_vectors(x, tensors)
    result = gather_rows(x, axes, joined, shape)
    n, place = len(shape), _place(axes)
    if place:
        order = list(range(n, n + place)) + list(range(n)) + list(range(n + place, result.ndim))
        result = _core.transpose(result, order)
    return result


def set(x, index, value):
    """x with other elements at an index."""
    original = x
    if x._is_parameter:
        x = _gantry.parameter_value(x)
    if isinstance(index, Tensor) and index.element == "bool" and index.is_variable:
        return _set_masked(x, index, value)
    if value is None:
        raise TypeError(f"only support numbers, Tensor, tuple, list as value, but got {value} with type {type(value)}")
    if not isinstance(value, (Tensor, Scalar, int, float, list, tuple)) and not hasattr(value, "__array_interface__"):
        raise IndexError(_UNSUPPORTED.format(kind=type(value), part=repr(value)))
    value = _core.convert(_core.tensor_of(value), x.dtype)
    # Which elements they are: the same index of the numbers of the elements.
    numbers = _op("iota", (), {"to": ("i64", (x.size,)), "iota_dimension": 0})
    places = get(_core.reshape(numbers, x.shape), index)
    value = _broadcast_value(value, places.shape)
    flat = _core.reshape(x, (x.size,))
    changed = _op("scatter", (flat, _core.reshape(places, (places.size, 1)), _core.reshape(value, (places.size,))),
                  {"update_window_dims": (), "inserted_window_dims": (0,), "scatter_dims_to_operand_dims": (0,),
                   "index_vector_dim": 1, "kind": "set"})
    return _core.reshape(changed, original.shape)


def _broadcast_value(value, shape):
    while value.ndim > len(shape) and value.shape[0] == 1:
        value = _core.reshape(value, value.shape[1:])
    return _core.broadcast_to(value, shape)


def _set_masked(x, mask, value):
    mask = _core.reshape(mask, mask.shape + (1,) * (x.ndim - mask.ndim))
    value = _core.convert(_core.tensor_of(value), x.dtype)
    return _core.select(_core.broadcast_to(mask, x.shape), _core.broadcast_to(value, x.shape), x)
