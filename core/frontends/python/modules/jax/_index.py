# SPDX-License-Identifier: Apache-2.0
"""x[...] and x.at[...]: slices where the index is known, gather and scatter where it is an array.

An index below zero counts from the end. What is outside then is decided by the mode: x[...] reads the nearest element, which gets no
gradient for that ("near"; "clip" gives it one), jnp.take reads a value that says so ("fill"), x.at[...] changes nothing (called "drop" or
"fill"), and "wrap", of jnp.take only, goes round.
"""
import _gantry
from jax import _core, _types
from jax._types import int32

_MODES = {"clip": "clip", "promise_in_bounds": "near", "fill": "fill", "drop": "fill"}


class GatherScatterMode:
    """What is done with an index that is out of range, for those who do not write it as text."""
    CLIP, FILL_OR_DROP, PROMISE_IN_BOUNDS = "clip", "fill", "promise_in_bounds"

    @staticmethod
    def from_any(mode):
        return mode_of(mode, "fill")


def mode_of(mode, default, *more):
    """What is done with an index that is out of range; @more: other modes that the caller knows."""
    if mode is None or mode in more:
        return mode or default
    if mode not in _MODES:
        raise ValueError(f"Invalid mode '{mode}' for gather or scatter: one of {', '.join(sorted((*_MODES, *more)))}")
    return _MODES[mode]


def fill_of(dtype, value):
    """What is read outside: NaN, the smallest or largest whole number."""
    if value is None:
        bits = 8 * dtype.itemsize
        value = {"float": float("nan"), "int": -(1 << (bits - 1)), "uint": (1 << bits) - 1}.get(dtype.category, True)
    return _core.convert(_core.asarray(value, _types.uint32) if dtype.category == "uint" and isinstance(value, int)
                         else _core.asarray(value), dtype)


def _is_array(part):
    return isinstance(part, (_gantry.Value, list)) or hasattr(part, "__array_interface__") and getattr(part, "shape", ()) != ()


def _parts(x, index):
    """One part for each dimension of x and for each new one."""
    index = index if isinstance(index, tuple) else (index,)
    index = [_known(p) for p in index]
    used = 0
    for p in index:
        used += 0 if p is None or p is Ellipsis else len(p.shape) if _is_mask(p) else 1
    if used > len(x.shape):
        raise IndexError(f"Too many indices for array: {used} non-None/Ellipsis indices for dim {len(x.shape)}.")
    full = [slice(None)] * (len(x.shape) - used)
    for i, p in enumerate(index):
        if p is Ellipsis:
            return index[:i] + full + index[i + 1:]
    return index + full


def _is_mask(part):
    return isinstance(part, _gantry.Value) and part.element == "bool"


def _known(part):
    if part is None or part is Ellipsis or isinstance(part, (slice, int)) and not isinstance(part, bool):
        return part
    if _is_array(part) or isinstance(part, bool):
        return _core.asarray(part)
    if hasattr(part, "__index__"):
        return part.__index__()
    raise TypeError(f"Indexer must have integer or boolean type, got indexer with type {type(part).__name__}")


def _without_masks(x, parts):
    """A mask that is known is the indices of what it keeps."""
    if not any(_is_mask(p) for p in parts if p is not None):
        return parts
    import numpy
    result = []
    for p in parts:
        if _is_mask(p):
            if not p.has_data:
                raise IndexError("Array boolean indices must be concrete: use jnp.where where the mask depends on data.")
            result += [_core.asarray(i.astype("int32")) for i in numpy.nonzero(p._numpy())]
        else:
            result.append(p)
    return result


def _basic(x, parts):
    """Slices, whole numbers and new dimensions."""
    starts, limits, steps, reverse, shape, at = [], [], [], [], [], 0
    for p in parts:
        if p is None:
            shape.append(1)
            continue
        n = x.shape[at]
        if isinstance(p, int):
            if not -n <= p < n:
                p = max(min(p, n - 1), -n)
            starts.append(p % n), limits.append(p % n + 1), steps.append(1)
        else:
            start, stop, step = p.indices(n)
            count = len(range(start, stop, step))
            if step < 0:
                reverse.append(at)
                start, step = start + (count - 1) * step, -step
            starts.append(start if count else 0), limits.append(start + (count - 1) * step + 1 if count else 0), steps.append(step)
            shape.append(count)
        at += 1
    if (starts, limits) != ([0] * len(x.shape), list(x.shape)) or any(s != 1 for s in steps):
        x = _core.op("slice", (x,), {"start_indices": starts, "limit_indices": limits, "strides": steps})
    if reverse:
        x = _core.op("reverse", (x,), {"dimensions": reverse})
    return _core.reshape(x, shape)


def wrapped(index, n):
    """An index from the end counts from the begin."""
    index = _core.convert(index, int32) if index.element != "int32" else index
    return _core.select(_core.compare("LT", index, 0), _core.binary("add", index, n), index)


def _known_inside(index, n):
    """Whether it is known that no index is out of range."""
    if not index.has_data or index.is_variable:
        return False
    values = index._numpy()
    return values.size == 0 or -n <= values.min() and values.max() < n


def _placed(index, n, mode):
    """(indices from 0 on, which of them are inside or None where all are)."""
    if mode == "wrap":
        return _core.remainder(_core.convert(index, int32), n), None
    place = wrapped(index, n)
    if mode != "fill" or _known_inside(index, n):
        return place, None
    return place, _core.bitwise("and", _core.compare("GE", place, 0), _core.compare("LT", place, n))


def get(x, index, mode="near", fill_value=None):
    parts = _without_masks(x, _parts(x, index))
    if mode == "fill":
        sizes = iter(x.shape)
        parts = [_core.asarray(p, int32) if isinstance(p, int) and not -n <= p < n else p
                 for p, n in ((p, None if p is None else next(sizes)) for p in parts)]
    if not any(isinstance(p, _gantry.Value) for p in parts):
        return _basic(x, parts)
    if any(p is None for p in parts):
        x = _basic(x, [None if p is None else slice(None) for p in parts])
        parts = [slice(None) if p is None else p for p in parts]
    x = _basic(x, [p if isinstance(p, slice) else slice(None) for p in parts])
    return gathered(x, [None if isinstance(p, slice) else _core.asarray(p) for p in parts], mode, fill_value)


def gathered(x, arrays, mode="near", fill_value=None, inside=()):
    """@arrays: for each dimension an array of indices, or None for the whole; those of the dimensions @inside are in range."""
    dims = [d for d, a in enumerate(arrays) if a is not None]
    shape = _core.broadcast_shapes(*(arrays[d].shape for d in dims))
    # Single numbers are the starts of a slice, which is moved inside.
    mode = "clip" if mode == "near" and not shape else mode
    if mode == "clip" and not shape:
        return _slice_at(x, arrays, dims, inside)
    columns, valid = [], None
    for d in dims:
        place, within = (arrays[d], None) if d in inside else _placed(arrays[d], x.shape[d], mode)
        columns.append(_core.reshape(_core.broadcast_to(place, shape), shape + (1,)))
        if within is not None:
            within = _core.broadcast_to(within, shape)
            valid = within if valid is None else _core.bitwise("and", valid, within)
    indices = columns[0] if len(columns) == 1 else _core.op("concatenate", columns, {"dimension": len(shape)})
    rest = [d for d in range(len(x.shape)) if d not in dims]
    contiguous = dims == list(range(dims[0], dims[-1] + 1))
    first = dims[0] if contiguous else 0
    # Dimensions of the result: those before, those of the indices, those after.
    offset = [i if i < first else i + len(shape) for i in range(len(rest))]
    return _gather(x, indices, mode, fill_value, valid, range(first, first + len(shape)), {
        "offset_dims": offset, "collapsed_slice_dims": dims, "start_index_map": dims,
        "slice_sizes": [1 if d in dims else n for d, n in enumerate(x.shape)]})


def gathered_along(x, indices, axis, mode, fill_value):
    """One element of each row of @x for each index of that row: both have the same sizes but along @axis."""
    rows = [d for d in range(len(x.shape)) if d != axis]
    place, valid = _placed(indices, x.shape[axis], mode)
    return _gather(x, _core.reshape(place, indices.shape + (1,)), mode, fill_value, valid, range(len(indices.shape)), {
        "offset_dims": [], "collapsed_slice_dims": [axis], "start_index_map": [axis], "operand_batching_dims": rows,
        "start_indices_batching_dims": rows, "slice_sizes": [1] * len(x.shape)})


def _gather(x, indices, mode, fill_value, valid, where, attrs):
    """@valid: which indices are in range, None for all; @where: dimensions of the result that its dimensions are."""
    if mode == "near":
        attrs["outside"] = "drop"
    result = _core.op("gather", (x, indices), {**attrs, "index_vector_dim": len(indices.shape) - 1})
    if valid is None:
        return result
    valid = _core.broadcast_in_dim(valid, result.shape, where)
    fill = _core.broadcast_to(fill_of(x.dtype, fill_value), result.shape)
    return _core.settle(_core.op("select", (valid, result, fill)), (result,), "gather")


def _slice_at(x, arrays, dims, inside):
    starts = [_core.asarray(0, int32) if d not in dims else arrays[d] if d in inside else _placed(arrays[d], n, "clip")[0]
              for d, n in enumerate(x.shape)]
    starts = [_core.convert(s, int32) for s in starts]
    piece = _core.op("dynamic_slice", [x] + starts, {"slice_sizes": [1 if d in dims else n for d, n in enumerate(x.shape)]})
    return _core.reshape(piece, [n for d, n in enumerate(x.shape) if d not in dims])


class At:
    """x.at: another array with some elements changed."""

    def __init__(self, x):
        self.x = x

    def __getitem__(self, index):
        return _At(self.x, index)


def _mode(name, options, default):
    """The mode of x.at[...].name; hints change nothing."""
    from jax._names import refuse
    for option, value in options.items():
        if option not in ("indices_are_sorted", "unique_indices", "mode", "out_sharding", "wrap_negative_indices"):
            raise TypeError(f"x.at[...].{name}() got an unexpected keyword argument '{option}'")
        if option in ("out_sharding", "wrap_negative_indices"):
            refuse(f"x.at[...].{name}", option, value, None, True)
    return mode_of(options.get("mode"), default)


class _At:
    def __init__(self, x, index):
        self.x, self.index = x, index

    def _scatter(self, name, kind, values, options):
        x, mode = self.x, _mode(name, options, "fill")
        values = _core.copy_of(_core.convert(_core.asarray(values), x.dtype))
        values._weak = x._weak
        whole = _static_window(x, self.index) if kind != "add" else None
        if whole is not None:
            starts, shape, kept = whole
            update = _core.reshape(_core.broadcast_to(values, kept), shape)
            if kind != "set":  # each place is named once
                join = {"mul": "multiply", "max": "maximum", "min": "minimum"}[kind]
                update = _core.binary(join, _core.reshape(get(x, self.index), shape), update)
            return _core.op("dynamic_update_slice", [x, update] + [_core.asarray(s, int32) for s in starts])
        size = _core.product(x.shape)
        flat = _core.reshape(_core.iota(int32, (size,), 0), x.shape)
        # What is outside gets a place behind the last, where a scatter writes nothing.
        places = get(flat, self.index, mode, size)
        updates = _core.reshape(_core.broadcast_to(values, places.shape), (_core.product(places.shape),))
        places = _core.reshape(places, (_core.product(places.shape), 1))
        result = _core.op("scatter", (_core.reshape(x, (size,)), places, updates), {
            "inserted_window_dims": [0], "scatter_dims_to_operand_dims": [0], "index_vector_dim": 1, "kind": kind})
        return _core.reshape(result, x.shape)

    def set(self, values, **options):
        return self._scatter("set", "set", values, options)

    def add(self, values, **options):
        return self._scatter("add", "add", values, options)

    def subtract(self, values, **options):
        return self._scatter("subtract", "add", _core.unary("negate", _core.asarray(values)), options)

    def multiply(self, values, **options):
        return self._scatter("multiply", "mul", values, options)

    mul = multiply

    def _factors(self, values, options):
        """What stands in each place of x: the product of the values that are meant for it."""
        ones = _core.full(self.x.shape, 1, self.x.dtype)
        return _At(ones, self.index).multiply(values, **options)

    def divide(self, values, **options):
        return _core.divide(self.x, self._factors(values, options))

    def power(self, values, **options):
        return _core.power(self.x, self._factors(values, options))

    def max(self, values, **options):
        return self._scatter("max", "max", values, options)

    def min(self, values, **options):
        return self._scatter("min", "min", values, options)

    def apply(self, function, **options):
        """Once for each place, however often it is named."""
        return self.set(function(self.get()), **options)

    def get(self, *, fill_value=None, **options):
        return get(self.x, self.index, _mode("get", options, "near" if fill_value is None else "fill"), fill_value)


def _static_window(x, index):
    """(starts, shape, shape without the dimensions of whole numbers) of known contiguous slices; None where it is something else."""
    parts = _parts(x, index)
    starts, shape, kept = [], [], []
    for p, n in zip(parts, x.shape):
        if isinstance(p, int) and -n <= p < n:
            starts.append(p % n), shape.append(1)
        elif isinstance(p, slice) and p.indices(n)[2] == 1:
            start, stop, _ = p.indices(n)
            starts.append(start), shape.append(max(stop - start, 0)), kept.append(max(stop - start, 0))
        else:
            return None
    return (starts, tuple(shape), tuple(kept)) if len(parts) == len(x.shape) and 0 not in shape else None
