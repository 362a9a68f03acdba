# SPDX-License-Identifier: Apache-2.0
"""Making arrays, and other shapes of them."""
import builtins
import math
import _gantry
from jax import _core, _types
from jax._core import asarray as _asarray, op as _op
from jax._names import refuse as _refuse
from jax._types import as_dtype, float32, int32

__all__ = ("array asarray zeros ones full empty zeros_like ones_like full_like empty_like arange linspace logspace eye identity tri tril "
           "triu reshape ravel transpose swapaxes moveaxis expand_dims squeeze broadcast_to broadcast_arrays broadcast_shapes "
           "concatenate stack vstack hstack dstack column_stack split array_split hsplit vsplit flip fliplr flipud roll pad repeat tile "
           "take take_along_axis astype copy meshgrid indices diag diagonal atleast_1d atleast_2d delete append insert rot90 rollaxis "
           "concat permute_dims matrix_transpose unstack tril_indices triu_indices").split()


def _dtype(dtype, default=None):
    return default if dtype is None else as_dtype(dtype)


def _on(made, device):
    from jax import device_put
    return made if device is None else device_put(made, device)


def array(object, dtype=None, copy=True, order="K", ndmin=0, *, device=None):
    _refuse("jnp.array", "order", order, "K", None)
    made = _on(_core.copy_of(_core.asarray(object, _dtype(dtype))), device)
    return _core.reshape(made, (1,) * (ndmin - made.ndim) + made.shape) if made.ndim < ndmin else made


def asarray(a, dtype=None, order=None, *, copy=None, device=None):
    _refuse("jnp.asarray", "order", order, "K", None)
    return _on(_core.asarray(a, _dtype(dtype)), device)


def zeros(shape, dtype=None, *, device=None):
    return _on(_core.full(shape, 0, _dtype(dtype, float32)), device)


def ones(shape, dtype=None, *, device=None):
    return _on(_core.full(shape, 1, _dtype(dtype, float32)), device)


empty = zeros


def full(shape, fill_value, dtype=None, *, device=None):
    return _on(_core.full(shape, fill_value, _dtype(dtype)), device)


def _like(value):
    def function(a, dtype=None, shape=None, *, device=None):
        a = a if hasattr(a, "shape") and hasattr(a, "dtype") else _asarray(a)
        made = _core.full(a.shape if shape is None else shape, value, _dtype(dtype, as_dtype(a.dtype)))
        made._weak = dtype is None and builtins.bool(getattr(a, "_weak", False))
        return _on(made, device)
    return function


zeros_like, ones_like = _like(0), _like(1)
empty_like = zeros_like


def full_like(a, fill_value, dtype=None, shape=None):
    made = _core.full(a.shape if shape is None else shape, fill_value, _dtype(dtype, as_dtype(a.dtype)))
    made._weak = dtype is None and builtins.bool(getattr(a, "_weak", False))
    return made


def arange(start, stop=None, step=None, dtype=None):
    if stop is None:
        start, stop = 0, start
    start, stop, step = (v.item() if hasattr(v, "item") else v for v in (start, stop, 1 if step is None else step))
    kind = _dtype(dtype, float32 if builtins.any(isinstance(v, float) for v in (start, stop, step)) else int32)
    n = builtins.max(0, math.ceil((stop - start) / step))
    whole = _core.iota(kind if kind.element != "bool" else int32, (n,), 0)
    if step != 1:
        whole = _core.convert(whole * step, kind)
    return _core.convert(whole + start, kind) if start != 0 else whole


def linspace(start, stop, num=50, endpoint=True, retstep=False, dtype=None, axis=0):
    start, stop = _core.aligned(start, stop, to_float=True)
    count = num - 1 if endpoint else num
    t = _core.reshape(_core.iota(float32, (num,), 0), (num,) + (1,) * start.ndim) / builtins.max(count, 1)
    result = start * (1 - t) + stop * t
    if endpoint and num > 1:
        result = concatenate([result[:-1], _core.reshape(stop, (1,) + stop.shape)])
    result = result if dtype is None else _core.convert(result, as_dtype(dtype))
    result = moveaxis(result, 0, axis) if axis else result
    return (result, (stop - start) / builtins.max(count, 1)) if retstep else result


def logspace(start, stop, num=50, endpoint=True, base=10.0, dtype=None):
    made = _core.power(base, linspace(start, stop, num, endpoint))
    return made if dtype is None else _core.convert(made, as_dtype(dtype))


def eye(N, M=None, k=0, dtype=None):
    m = N if M is None else M
    rows, columns = _core.iota(int32, (N, m), 0), _core.iota(int32, (N, m), 1)
    return _core.convert(_core.compare("EQ", rows + k, columns), _dtype(dtype, float32))


def identity(n, dtype=None):
    return eye(n, dtype=dtype)


def tri(N, M=None, k=0, dtype=None):
    m = N if M is None else M
    return _core.convert(_core.compare("GE", _core.iota(int32, (N, m), 0) + k, _core.iota(int32, (N, m), 1)), _dtype(dtype, float32))


def tril(m, k=0):
    m = _asarray(m)
    return _core.select(tri(*m.shape[-2:], k, "bool"), m, zeros_like(m))


def triu(m, k=0):
    m = _asarray(m)
    return _core.select(tri(*m.shape[-2:], k - 1, "bool"), zeros_like(m), m)


def tril_indices(n, k=0, m=None):
    import numpy
    return tuple(_asarray(i.astype("int32")) for i in numpy.tril_indices(n, k, m))


def triu_indices(n, k=0, m=None):
    import numpy
    return tuple(_asarray(i.astype("int32")) for i in numpy.triu_indices(n, k, m))


# Shapes

def _by_columns(order):
    """Whether elements are taken with the first index fastest. All arrays lie in rows, so that "A" and "K" are "C"."""
    if order not in ("C", "F", "A", "K"):
        raise ValueError(f"order is one of C, F, A and K, not {order!r}")
    return order == "F"


def reshape(a, shape, order="C", *, copy=None):
    a = _asarray(a)
    shape = [shape] if not isinstance(shape, (tuple, list)) else list(shape)
    shape = [int(d) for d in shape]
    if -1 in shape:
        rest = -_core.product(shape)
        if rest == 0 or a.size % rest:
            raise TypeError(f"cannot reshape array of shape {a.shape} (size {a.size}) into shape {tuple(shape)}")
        shape[shape.index(-1)] = a.size // rest
    if _core.product(shape) != a.size:
        raise TypeError(f"cannot reshape array of shape {a.shape} (size {a.size}) into shape {tuple(shape)} (size {_core.product(shape)})")
    if _by_columns(order):
        return transpose(_core.reshape(transpose(a), shape[::-1]))
    return _core.reshape(a, shape)


def ravel(a, order="C"):
    a = _asarray(a)
    return _core.reshape(transpose(a) if _by_columns(order) else a, (a.size,))


def transpose(a, axes=None):
    a = _asarray(a)
    return _core.transpose(a, tuple(i % a.ndim for i in axes) if axes is not None else tuple(reversed(range(a.ndim))))


permute_dims = transpose


def matrix_transpose(a):
    return _asarray(a).mT


def swapaxes(a, axis1, axis2):
    order = list(range(a.ndim))
    order[axis1], order[axis2] = order[axis2], order[axis1]
    return _core.transpose(a, order)


def moveaxis(a, source, destination):
    a = _asarray(a)
    source, destination = ([v] if isinstance(v, int) else list(v) for v in (source, destination))
    source, destination = [s % a.ndim for s in source], [d % a.ndim for d in destination]
    order = [i for i in range(a.ndim) if i not in source]
    for d, s in sorted(zip(destination, source)):
        order.insert(d, s)
    return _core.transpose(a, order)


def rollaxis(a, axis, start=0):
    axis %= a.ndim
    return moveaxis(a, axis, start - 1 if axis < start else start)


def expand_dims(a, axis):
    from jax import lax
    return lax.expand_dims(a, (axis,) if isinstance(axis, int) else tuple(axis))


def squeeze(a, axis=None):
    a = _asarray(a)
    axes = [i for i, n in enumerate(a.shape) if n == 1] if axis is None else [i % a.ndim for i in ((axis,) if isinstance(axis, int) else axis)]
    if builtins.any(a.shape[i] != 1 for i in axes):
        raise ValueError(f"cannot select an axis to squeeze out which has size not equal to one, got shape={a.shape} and dimensions={tuple(axes)}")
    return _core.reshape(a, [n for i, n in enumerate(a.shape) if i not in axes])


def broadcast_to(a, shape):
    return _core.broadcast_to(_asarray(a), (shape,) if isinstance(shape, int) else shape)


def broadcast_arrays(*arrays):
    arrays = [_asarray(a) for a in arrays]
    shape = _core.broadcast_shapes(*(a.shape for a in arrays))
    return [_core.broadcast_to(a, shape) for a in arrays]


broadcast_shapes = _core.broadcast_shapes


def atleast_1d(a):
    a = _asarray(a)
    return a if a.ndim else _core.reshape(a, (1,))


def atleast_2d(a):
    a = atleast_1d(a)
    return a if a.ndim > 1 else _core.reshape(a, (1,) + a.shape)


def concatenate(arrays, axis=0, dtype=None):
    arrays = _core.promoted(*arrays)
    if axis is None:
        arrays, axis = [ravel(a) for a in arrays], 0
    result = arrays[0] if len(arrays) == 1 else _op("concatenate", arrays, {"dimension": axis % arrays[0].ndim})
    return result if dtype is None else _core.convert(result, as_dtype(dtype))


concat = concatenate


def stack(arrays, axis=0, dtype=None):
    arrays = [_asarray(a) for a in arrays]
    return concatenate([expand_dims(a, axis) for a in arrays], axis, dtype)


def unstack(a, *, axis=0):
    return tuple(moveaxis(a, axis, 0))


def vstack(arrays):
    return concatenate([atleast_2d(a) for a in arrays], 0)


def hstack(arrays):
    arrays = [atleast_1d(a) for a in arrays]
    return concatenate(arrays, 0 if arrays[0].ndim == 1 else 1)


def dstack(arrays):
    return concatenate([atleast_2d(a)[..., None] if _asarray(a).ndim < 3 else a for a in arrays], 2)


def column_stack(arrays):
    return concatenate([_asarray(a)[:, None] if _asarray(a).ndim == 1 else a for a in arrays], 1)


def split(a, indices_or_sections, axis=0):
    n = a.shape[axis]
    if isinstance(indices_or_sections, int):
        if n % indices_or_sections:
            raise ValueError("array split does not result in an equal division")
        step = n // indices_or_sections
        points = [step * i for i in range(1, indices_or_sections)]
    else:
        points = [int(i) for i in indices_or_sections]
    return _pieces(a, points, axis)


def array_split(a, sections, axis=0):
    n = a.shape[axis]
    points = [i * (n // sections) + builtins.min(i, n % sections) for i in range(1, sections)] if isinstance(sections, int) else sections
    return _pieces(a, points, axis)


def _pieces(a, points, axis):
    edges, pieces = [0] + list(points) + [a.shape[axis]], []
    for low, high in zip(edges, edges[1:]):
        index = [slice(None)] * a.ndim
        index[axis] = slice(low, high)
        pieces.append(a[tuple(index)])
    return pieces


def vsplit(a, sections):
    return split(a, sections, 0)


def hsplit(a, sections):
    return split(a, sections, 1 if a.ndim > 1 else 0)


def flip(a, axis=None):
    a = _asarray(a)
    axes = range(a.ndim) if axis is None else [i % a.ndim for i in ((axis,) if isinstance(axis, int) else axis)]
    return _op("reverse", (a,), {"dimensions": sorted(axes)})


def flipud(a):
    return flip(a, 0)


def fliplr(a):
    return flip(a, 1)


def rot90(m, k=1, axes=(0, 1)):
    for _ in range(k % 4):
        m = flip(swapaxes(m, *axes), axes[0])
    return m


def roll(a, shift, axis=None):
    a = _asarray(a)
    if axis is None:
        return _core.reshape(roll(ravel(a), shift, 0), a.shape)
    axes = (axis,) if isinstance(axis, int) else tuple(axis)
    shifts = _shifts(shift, len(axes))
    for i in range(max(len(shifts), len(axes))):
        a = _rolled(a, shifts[i % len(shifts)], axes[i % len(axes)])
    return a


def _shifts(shift, n):
    """How far along each of @n axes: numbers, or scalars that the graph knows."""
    if isinstance(shift, (tuple, list)):
        return list(shift)
    if isinstance(shift, int):
        return [shift]
    shift = _asarray(shift)
    if shift.ndim > 1:
        raise ValueError("the shift of roll must be at most 1-dimensional")
    return [shift[i] for i in range(shift.shape[0])] if shift.ndim else [shift] * n


def _rolled(a, s, x):
    from jax import lax
    n = a.shape[x]
    if not n:
        return a
    if not isinstance(s, int) and not (isinstance(s, _gantry.Value) and not (s.has_data and not s.is_variable)):
        s = int(s)
    if isinstance(s, int):
        first, second = _pieces(a, [n - s % n], x)
        return concatenate([second, first], x) if s % n else a
    return lax.dynamic_slice_in_dim(concatenate([a, a], x), n - _core.remainder(s, n), n, x)


_PAD_VALUES = {"linear_ramp": ("end_values", 0), "maximum": ("stat_length", None), "minimum": ("stat_length", None),
               "mean": ("stat_length", None), "median": ("stat_length", None)}


def _pad_beside(a, widths, mode, options):
    """Axis after axis, what is beside it is made of the values along it: a statistic of all of them, or steps to a value at the end."""
    import jax.numpy as jnp
    name, default = _PAD_VALUES[mode]
    value = options.pop(name, default)
    for other, given in options.items():
        raise ValueError(f"jnp.pad: mode '{mode}' takes no {other}")
    if name == "stat_length":
        _refuse("jnp.pad", name, value, None)
    for axis, (low, high) in enumerate(widths):
        parts = [a]
        for n, place in ((low, 0), (high, -1)):
            if mode == "linear_ramp":
                edge = jnp.expand_dims(jnp.take(a, place, axis), axis)
                end = _core.convert(_asarray(value), a.dtype)
                steps = _core.reshape(jnp.arange(n, dtype=a.dtype) / builtins.max(n, 1), [n if d == axis else 1 for d in range(a.ndim)])
                beside = end + (edge - end) * steps
                beside = beside if place == 0 else jnp.flip(beside, axis)
            else:
                kind = {"maximum": "max", "minimum": "min"}.get(mode, mode)
                beside = jnp.repeat(getattr(jnp, kind)(a, axis=axis, keepdims=True), n, axis)
                beside = jnp.round(beside) if mode in ("mean", "median") and not _types.is_float(a.dtype) else beside
            beside = _core.convert(beside, a.dtype)
            parts = [beside] + parts if place == 0 else parts + [beside]
        a = jnp.concatenate(parts, axis)
    return a


def pad(array, pad_width, mode="constant", *, constant_values=0, **options):
    a = _asarray(array)
    if isinstance(pad_width, int):
        pad_width = [(pad_width, pad_width)] * a.ndim
    widths = [tuple(w) if isinstance(w, (tuple, list)) else (w, w) for w in pad_width]
    if len(pad_width) == 2 and isinstance(pad_width[0], int):
        widths = [tuple(pad_width)]
    widths = widths * a.ndim if len(widths) == 1 else widths
    if mode == "constant":
        return _op("pad", (a, _core.convert(_asarray(constant_values), a.dtype)),
                   {"edge_padding_low": [w[0] for w in widths], "edge_padding_high": [w[1] for w in widths],
                    "interior_padding": [0] * a.ndim})
    if mode in _PAD_VALUES:
        return _pad_beside(a, widths, mode, options)
    if mode not in ("edge", "reflect", "symmetric", "wrap"):
        _refuse("jnp.pad", "mode", mode, "constant")
    for name, value in options.items():
        _refuse("jnp.pad", name, value, *(("even",) if name == "reflect_type" else ()))
    import numpy
    for axis, (low, high) in enumerate(widths):
        places = numpy.pad(numpy.arange(a.shape[axis]), (low, high), mode=mode)
        a = take(a, _asarray(places.astype("int32")), axis)
    return a


def repeat(a, repeats, axis=None, *, total_repeat_length=None):
    import numpy
    a = _asarray(a)
    if axis is None:
        a, axis = ravel(a), 0
    repeats = repeats if isinstance(repeats, int) else numpy.asarray(repeats)
    places = numpy.repeat(numpy.arange(a.shape[axis]), repeats)
    if total_repeat_length is not None:
        # Cut off, or the last one more often.
        places = places[numpy.minimum(numpy.arange(total_repeat_length), len(places) - 1)]
    return take(a, _asarray(places.astype("int32")), axis)


def tile(a, reps):
    a = _asarray(a)
    reps = (reps,) if isinstance(reps, int) else tuple(reps)
    rank = builtins.max(a.ndim, len(reps))
    shape, reps = (1,) * (rank - a.ndim) + a.shape, (1,) * (rank - len(reps)) + reps
    inner = [d for r, n in zip(reps, shape) for d in (r, n)]
    wide = _core.broadcast_in_dim(_core.reshape(a, shape), inner, range(1, 2 * rank, 2))
    return _core.reshape(wide, [r * n for r, n in zip(reps, shape)])


def take(a, indices, axis=None, out=None, mode=None, unique_indices=False, indices_are_sorted=False, fill_value=None):
    """An index out of range gives a value that says so: NaN, or the smallest or largest whole number."""
    from jax import _index
    _refuse("jnp.take", "out", out, None)
    a, indices = _asarray(a), _asarray(indices)
    if axis is None:
        a, axis = ravel(a), 0
    axis %= a.ndim
    mode = _index.mode_of(mode, "fill", "wrap")
    if mode == "clip":
        indices = _clipped(indices, a.shape[axis])
    return _index.gathered(a, [indices if d == axis else None for d in range(a.ndim)], mode, fill_value)


def _clipped(indices, n):
    return _core.op("clamp", (_core.full(indices.shape, 0, indices.dtype), indices, _core.full(indices.shape, n - 1, indices.dtype)))


def take_along_axis(arr, indices, axis=-1, mode=None, fill_value=None):
    from jax import _index
    arr, indices = _asarray(arr), _asarray(indices)
    if axis is None:
        arr, axis = ravel(arr), 0
    axis %= arr.ndim
    shape, others = indices.shape, [d for d in range(arr.ndim) if d != axis]
    mode = _index.mode_of(mode, "fill", "wrap")
    if len(shape) == arr.ndim and all(shape[d] == arr.shape[d] for d in others):
        return _index.gathered_along(arr, indices, axis, mode, fill_value)
    index = [indices if d == axis else _core.iota(int32, tuple(n if i == d else 1 for i in range(len(shape))), d)
             if arr.shape[d] != 1 else _core.full((1,) * len(shape), 0, int32) for d, n in enumerate(shape)]
    return _index.gathered(arr, index, mode, fill_value, others)


def astype(a, dtype):
    return _core.convert(_asarray(a), as_dtype(dtype))


def copy(a):
    return _core.copy_of(_asarray(a))


def meshgrid(*arrays, indexing="xy", sparse=False):
    arrays = [_asarray(a) for a in arrays]
    n = len(arrays)
    axes = list(range(n))
    if indexing == "xy" and n > 1:
        axes[0], axes[1] = 1, 0
    parts = [_core.reshape(a, [a.size if d == axis else 1 for d in range(n)]) for a, axis in zip(arrays, axes)]
    return parts if sparse else broadcast_arrays(*parts)


def indices(dimensions, dtype=None):
    kind = _dtype(dtype, int32)
    return stack([_core.iota(kind, tuple(dimensions), d) for d in range(len(dimensions))])


def diagonal(a, offset=0, axis1=0, axis2=1):
    a = moveaxis(_asarray(a), (axis1, axis2), (-2, -1))
    rows, columns = a.shape[-2:]
    n = builtins.max(0, builtins.min(rows, columns - offset) if offset >= 0 else builtins.min(rows + offset, columns))
    at = _core.iota(int32, (n,), 0)
    return a[..., at + builtins.max(-offset, 0), at + builtins.max(offset, 0)]


def diag(v, k=0):
    v = _asarray(v)
    if v.ndim == 2:
        return diagonal(v, k)
    n = v.shape[0] + builtins.abs(k)
    padded = pad(v, (builtins.max(k, 0), builtins.max(-k, 0)))
    return _core.select(eye(n, k=k, dtype="bool"), _core.broadcast_to(padded, (n, n)), _core.full((n, n), 0, v.dtype))


def append(arr, values, axis=None):
    return concatenate([arr, values], axis)


def insert(arr, obj, values, axis=None):
    arr = _asarray(arr)
    if axis is None:
        arr, axis = ravel(arr), 0
    first, second = _pieces(arr, [obj], axis)
    shape = list(arr.shape)
    shape[axis] = 1
    return concatenate([first, _core.broadcast_to(_core.convert(_asarray(values), arr.dtype), shape), second], axis)


def delete(arr, obj, axis=None):
    import numpy
    arr = _asarray(arr)
    if axis is None:
        arr, axis = ravel(arr), 0
    return take(arr, _asarray(numpy.delete(numpy.arange(arr.shape[axis]), obj).astype("int32")), axis)
