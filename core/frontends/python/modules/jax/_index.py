# SPDX-License-Identifier: Apache-2.0
"""x[...] and x.at[...]: slices where the index is known, gather and scatter where it is an array."""
import _gantry
from jax import _core
from jax._types import int32


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
                # What lies outside is the last one, as in JAX.
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


def get(x, index):
    parts = _without_masks(x, _parts(x, index))
    if not any(isinstance(p, _gantry.Value) for p in parts):
        return _basic(x, parts)
    if any(p is None for p in parts):
        x = _basic(x, [None if p is None else slice(None) for p in parts])
        parts = [slice(None) if p is None else p for p in parts]
    x = _basic(x, [p if isinstance(p, slice) else slice(None) for p in parts])
    return _gathered(x, [None if isinstance(p, slice) else _core.asarray(p) for p in parts])


def _gathered(x, arrays):
    """@arrays: for each dimension an array of indices, or None for the whole."""
    dims = [d for d, a in enumerate(arrays) if a is not None]
    shape = _core.broadcast_shapes(*(arrays[d].shape for d in dims))
    columns = [_core.reshape(_core.broadcast_to(wrapped(arrays[d], x.shape[d]), shape), shape + (1,)) for d in dims]
    indices = columns[0] if len(columns) == 1 else _core.op("concatenate", columns, {"dimension": len(shape)})
    rest = [d for d in range(len(x.shape)) if d not in dims]
    contiguous = dims == list(range(dims[0], dims[-1] + 1))
    first = dims[0] if contiguous else 0
    # Dimensions of the result: those before, those of the indices, those after.
    offset = [i if i < first else i + len(shape) for i in range(len(rest))]
    return _core.op("gather", (x, indices), {
        "offset_dims": offset, "collapsed_slice_dims": dims, "start_index_map": dims, "index_vector_dim": len(shape),
        "slice_sizes": [1 if d in dims else n for d, n in enumerate(x.shape)]})


class At:
    """x.at: another array with some elements changed."""

    def __init__(self, x):
        self.x = x

    def __getitem__(self, index):
        return _At(self.x, index)


def _check(name, options):
    """Hints change nothing; what is out of range is the nearest element."""
    from jax._names import refuse
    for option, value in options.items():
        if option not in ("indices_are_sorted", "unique_indices"):
            refuse(f"x.at[...].{name}", option, value, None, *(("promise_in_bounds", "clip") if option == "mode" else ()))


class _At:
    def __init__(self, x, index):
        self.x, self.index = x, index

    def _scatter(self, kind, values):
        x = self.x
        values = _core.convert(_core.asarray(values), x.dtype)
        whole = _static_window(x, self.index) if kind == "set" else None
        if whole is not None:
            starts, shape, kept = whole
            update = _core.reshape(_core.broadcast_to(values, kept), shape)
            return _core.op("dynamic_update_slice", [x, update] + [_core.asarray(s, int32) for s in starts])
        flat = _core.reshape(_core.iota(int32, (_core.product(x.shape),), 0), x.shape)
        places = get(flat, self.index)
        updates = _core.reshape(_core.broadcast_to(values, places.shape), (_core.product(places.shape),))
        places = _core.reshape(places, (_core.product(places.shape), 1))
        result = _core.op("scatter", (_core.reshape(x, (_core.product(x.shape),)), places, updates), {
            "inserted_window_dims": [0], "scatter_dims_to_operand_dims": [0], "index_vector_dim": 1, "kind": kind})
        return _core.reshape(result, x.shape)

    def set(self, values, **options):
        _check("set", options)
        return self._scatter("set", values)

    def add(self, values, **options):
        _check("add", options)
        return self._scatter("add", values)

    def subtract(self, values, **options):
        _check("subtract", options)
        return self._scatter("add", _core.unary("negate", _core.asarray(values)))

    def multiply(self, values, **options):
        _check("multiply", options)
        return self._scatter("mul", values)

    mul = multiply

    def divide(self, values, **options):
        _check("divide", options)
        return self.set(_core.divide(self.get(), values))

    def power(self, values, **options):
        _check("power", options)
        return self.set(_core.power(self.get(), values))

    def max(self, values, **options):
        _check("max", options)
        return self._scatter("max", values)

    def min(self, values, **options):
        _check("min", options)
        return self._scatter("min", values)

    def apply(self, function, **options):
        _check("apply", options)
        return self.set(function(self.get()))

    def get(self, **options):
        _check("get", options)
        return get(self.x, self.index)


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
