# SPDX-License-Identifier: Apache-2.0
"""mindspore.numpy: names that fewer programs ask for. What only a known value can answer is NumPy's own."""
import builtins as _builtins
from mindspore import _core
from mindspore._core import Tensor
from mindspore.numpy import (_tensor, _as_float, arange, array, broadcast_arrays, concatenate, cumsum, dot, expand_dims, matmul, reshape, stack,
                             where)
from mindspore.ops import function as _f

NINF, PINF = -float("inf"), float("inf")


def _known(value):
    """A value of NumPy: of what only a known tensor can answer."""
    return value.asnumpy() if isinstance(value, Tensor) else value


def _shown(value):
    """What NumPy gave, as tensors, in the types that are usual here."""
    if isinstance(value, (tuple, list)):
        return tuple(_shown(v) for v in value)
    import numpy
    value = numpy.asarray(value)
    narrow = {"int64": "int32", "float64": "float32"}.get(str(value.dtype))
    return Tensor(numpy.array(value if narrow is None else value.astype(narrow)))


def _of_numpy(name):
    def call(*args, **kwargs):
        import numpy
        return _shown(getattr(numpy, name)(*(_known(a) for a in args), **{k: _known(v) for k, v in kwargs.items()}))
    call.__name__ = name
    return call


for _name in ("intersect1d setdiff1d histogram2d histogramdd histogram_bin_edges hamming hanning bartlett "
              "blackman").split():
    globals()[_name] = _of_numpy(_name)


def histogram(a, bins=10, range=None, weights=None, density=False):
    import numpy
    counts, edges = numpy.histogram(_known(a), _known(bins), range, density, _known(weights))
    return _shown(counts.astype("float32")), _shown(edges)


def indices(dimensions, dtype=None, sparse=False):
    import numpy
    made = [_shown(part) for part in numpy.indices(tuple(dimensions), sparse=sparse)]
    return made if dtype is None else [_core.convert(part, _core.as_type(dtype)) for part in made]


def around(a, decimals=0):
    a = _tensor(a)
    if decimals == 0:
        return _f.round(a)
    scale = 10.0 ** decimals
    return _core.convert(_core.div(_f.round(_core.mul(a, scale)), scale), a.dtype)


round = round_ = around


def copy(a):
    return _core.convert(_tensor(a), _tensor(a).dtype)


def array_str(a):
    import numpy
    return numpy.array_str(_known(a))


def array_equiv(a1, a2):
    a1, a2 = _tensor(a1), _tensor(a2)
    try:
        shape = _core.broadcast_shapes(a1.shape, a2.shape)
    except ValueError:
        return Tensor(False)
    return _f.equal(_core.broadcast_to(a1, shape), _core.broadcast_to(a2, shape)).all()


def apply_along_axis(func1d, axis, arr, *args, **kwargs):
    arr = _tensor(arr)
    axis %= arr.ndim
    rest = arr.shape[:axis] + arr.shape[axis + 1:]
    rows = reshape(_f.moveaxis(arr, axis, -1), (-1, arr.shape[axis]))
    results = stack([_tensor(func1d(rows[i], *args, **kwargs)) for i in _builtins.range(rows.shape[0])])
    results = reshape(results, rest + results.shape[1:])
    for i in _builtins.range(results.ndim - len(rest)):
        results = _f.moveaxis(results, len(rest) + i, axis + i)
    return results


def apply_over_axes(func, a, axes):
    a = _tensor(a)
    for axis in (axes,) if isinstance(axes, int) else axes:
        result = func(a, axis)
        a = result if result.ndim == a.ndim else expand_dims(result, axis)
    return a


def argwhere(a):
    return _f.argwhere(_tensor(a))


def choose(a, choices, mode="clip"):
    a = _tensor(a)
    choices = choices if isinstance(choices, (tuple, list)) else [choices[i] for i in _builtins.range(choices.shape[0])]
    n = len(choices)
    if mode == "wrap":
        a = _f.floor_mod(a, n)
    elif mode == "clip":
        a = _f.clamp(a, 0, n - 1)
    else:
        raise ValueError(f"For 'choose', the argument 'mode' must be 'clip' or 'wrap', but got {mode!r}.")
    a, *choices = broadcast_arrays(a, *(_tensor(c) for c in choices))
    result = choices[0]
    for i in _builtins.range(1, n):
        result = where(_core.compare("EQ", a, i), choices[i], result)
    return result


def convolve(a, v, mode="full"):
    a, v = _as_float(_tensor(a)), _as_float(_tensor(v))
    if a.ndim != 1 or v.ndim != 1 or not a.size or not v.size:
        raise ValueError("For 'convolve', the arguments must be 1-D tensors that are not empty.")
    if a.size < v.size:
        a, v = v, a
    n, m = a.size, v.size
    padded = _f.pad(a, (m - 1, m - 1))
    rows = arange(n + m - 1)
    places = _core.add(reshape(rows, (-1, 1)), reshape(arange(m), (1, -1)))
    full = matmul(padded[places], _f.flip(v, (0,)))
    if mode == "full":
        return full
    if mode == "same":
        return full[(m - 1) // 2:(m - 1) // 2 + n]
    if mode == "valid":
        return full[m - 1:n]
    raise ValueError(f"For 'convolve', the argument 'mode' must be 'full', 'same' or 'valid', but got {mode!r}.")


def correlate(a, v, mode="valid"):
    a, v = _tensor(a), _tensor(v)
    if a.size < v.size:
        return _f.flip(convolve(v, _f.flip(a, (0,)), mode), (0,))
    return convolve(a, _f.flip(v, (0,)), mode)


def diag_indices(n, ndim=2):
    return (arange(n),) * ndim


def ix_(*args):
    parts = []
    for i, part in enumerate(args):
        part = _tensor(part)
        if part.ndim != 1:
            raise TypeError("For 'ix_', the arguments must be 1-D.")
        parts.append(reshape(part, tuple(-1 if i == j else 1 for j in _builtins.range(len(args)))))
    return tuple(parts)


class _Grid:
    def __init__(self, sparse):
        self._sparse = sparse

    def _line(self, part):
        start, stop, step = part.start or 0, part.stop, 1 if part.step is None else part.step
        if isinstance(step, complex):
            count = int(abs(step))
            return _f.linspace(float(start), float(stop), count)
        return arange(start, stop, step)

    def __getitem__(self, key):
        if isinstance(key, slice):
            return self._line(key)
        lines = [self._line(part) for part in key]
        shaped = [reshape(line, tuple(-1 if i == j else 1 for j in _builtins.range(len(lines)))) for i, line in enumerate(lines)]
        return shaped if self._sparse else stack(broadcast_arrays(*shaped))


mgrid, ogrid = _Grid(False), _Grid(True)


def matrix_power(a, n):
    return _f.matrix_power(_as_float(_tensor(a)), n)


def multi_dot(arrays):
    result = _tensor(arrays[0])
    for other in arrays[1:]:
        result = dot(result, _tensor(other))
    return result


def nancumsum(a, axis=None, dtype=None):
    a = _tensor(a)
    return cumsum(where(_f.isnan(a), _core.full(a.shape, 0, a.dtype), a), axis, dtype)


def _nan_extreme(least):
    def call(a, axis=None, dtype=None, keepdims=False):
        a = _as_float(_tensor(a))
        filled = where(_f.isnan(a), _core.full(a.shape, PINF if least else NINF, a.dtype), a)
        result = (_f.amin if least else _f.amax)(filled, axis, keepdims)
        return result if dtype is None else _core.convert(result, _core.as_type(dtype))
    return call


nanmax, nanmin = _nan_extreme(False), _nan_extreme(True)


def piecewise(x, condlist, funclist, *args, **kw):
    x = _tensor(x)
    conditions = list(condlist) if isinstance(condlist, (tuple, list)) else [condlist[i] for i in _builtins.range(condlist.shape[0])] \
        if condlist.ndim > x.ndim else [condlist]
    conditions = [_core.convert(_tensor(c), _core.bool_) for c in conditions]
    if len(funclist) not in (len(conditions), len(conditions) + 1):
        raise ValueError(f"with {len(conditions)} condition(s), either {len(conditions)} or {len(conditions) + 1} functions are expected")

    def value(function):
        return function(x, *args, **kw) if callable(function) else _core.full(x.shape, function, x.dtype)
    result = value(funclist[-1]) if len(funclist) > len(conditions) else _core.full(x.shape, 0, x.dtype)
    for condition, function in zip(conditions, funclist):
        result = where(condition, value(function), result)
    return _core.convert(result, x.dtype)


# Polynomials: coefficients of the highest power first.

def polyadd(a1, a2):
    a1, a2 = _tensor(a1), _tensor(a2)
    n = max(a1.size, a2.size)
    return _core.add(_f.pad(a1, (n - a1.size, 0)), _f.pad(a2, (n - a2.size, 0)))


def polysub(a1, a2):
    return polyadd(_tensor(a1), _core.mul(_tensor(a2), -1))


def polymul(a1, a2):
    return convolve(a1, a2)


def polyder(p, m=1):
    p = _tensor(p)
    if m < 0:
        raise ValueError("For 'polyder', the order of the derivative must be positive.")
    for _ in _builtins.range(m):
        p = _core.mul(p[:-1], _f.flip(arange(1, p.size), (0,))) if p.size > 1 else p[:0]
    return p


def polyint(p, m=1, k=None):
    p = _as_float(_tensor(p))
    constants = [0] * m if k is None else list(k) if isinstance(k, (tuple, list)) else [k] * m
    for i in _builtins.range(m):
        p = concatenate((_core.div(p, _core.convert(_f.flip(arange(1, p.size + 1), (0,)), p.dtype)), array([float(constants[i])])))
    return p


def ravel_multi_index(multi_index, dims, mode="clip", order="C"):
    parts = [_tensor(i) for i in (multi_index if isinstance(multi_index, (tuple, list)) else [multi_index[i] for i in _builtins.range(multi_index.shape[0])])]
    dims = tuple(dims)
    if mode not in ("clip", "wrap"):
        raise ValueError(f"For 'ravel_multi_index', the argument 'mode' must be 'clip' or 'wrap', but got {mode!r}.")
    result, stride = None, 1
    for part, n in (zip(parts, dims) if order == "F" else zip(parts[::-1], dims[::-1])):
        part = _f.clamp(part, 0, n - 1) if mode == "clip" else _f.floor_mod(part, n)
        term = _core.mul(part, stride)
        result, stride = term if result is None else _core.add(result, term), stride * n
    return result


def unravel_index(indices, shape, order="C"):
    indices = _tensor(indices)
    shape = (shape,) if isinstance(shape, int) else tuple(shape)
    size = _core._product(shape)
    indices = _f.clamp(where(_core.compare("LT", indices, 0), _core.add(indices, size), indices), 0, size - 1)
    result = []
    for n in shape if order == "F" else shape[::-1]:
        result.append(_f.floor_mod(indices, n))
        indices = _f.floor_divide(indices, n)
    return tuple(result if order == "F" else result[::-1])


def _along(x, axis, start, stop):
    n = x.shape[axis]
    return x[(slice(None),) * axis + (slice(_builtins.max(start, 0), _builtins.min(stop, n)),)]


def _edge(x, axis, width, last, mode, stat_length, end_value, reflect_type):
    """What is put before, or behind where @last, the values of an axis."""
    n = x.shape[axis]
    shape = tuple(width if d == axis else s for d, s in enumerate(x.shape))
    edge = _along(x, axis, n - 1, n) if last else _along(x, axis, 0, 1)
    if mode == "linear_ramp":
        steps = arange(0, width) if not last else _f.flip(arange(0, width), (0,))
        steps = reshape(_core.convert(steps, _core.float32), tuple(-1 if d == axis else 1 for d in _builtins.range(x.ndim)))
        ramp = _core.add(_core.mul(_core.div(steps, float(width)), _core.sub(_core.convert(edge, _core.float32), float(end_value))), float(end_value))
        return _core.convert(ramp, x.dtype)
    if mode in ("reflect", "symmetric"):
        skip = mode == "reflect"
        part = _along(x, axis, n - width - skip, n - skip) if last else _along(x, axis, int(skip), width + skip)
        part = _f.flip(part, (axis,))
        return _core.sub(_core.mul(edge, 2), part) if reflect_type == "odd" else part
    length = n if stat_length is None else _builtins.min(stat_length, n)
    part = _along(x, axis, n - length, n) if last else _along(x, axis, 0, length)
    if mode == "median":
        ordered = _f.sort(part, axis)[0]
        middle = _core.convert(_along(ordered, axis, (length - 1) // 2, (length - 1) // 2 + 1), _core.float32), _along(ordered, axis, length // 2, length // 2 + 1)
        made = _core.convert(_core.div(_core.add(*middle), 2.0), x.dtype)
    else:
        made = {"maximum": _f.amax, "minimum": _f.amin, "mean": _f.mean}[mode](part, axis, True)
    return _core.broadcast_to(_core.convert(made, x.dtype), shape)


def padded(x, widths, mode, stat_length, end_values, reflect_type):
    """pad() by what the values of each axis say; at most a length of it where they are reflected."""
    def pairs(value):
        value = value if isinstance(value, (tuple, list)) else ((value, value),)
        value = value if isinstance(value[0], (tuple, list)) else (value,)
        return [tuple(v) * (2 if len(v) == 1 else 1) for v in value] * (x.ndim if len(value) == 1 else 1)
    lengths, ends = pairs(stat_length), pairs(end_values)
    for d, pair in enumerate(widths):
        parts = [_edge(x, d, width, last, mode, lengths[d][last], ends[d][last], reflect_type) if width else None
                 for last, width in enumerate(pair)]
        x = concatenate([p for p in (parts[0], x, parts[1]) if p is not None], d)
    return x


def tril_indices_from(arr, k=0):
    return _of_numpy("tril_indices")(arr.shape[0], k, arr.shape[1])


def triu_indices_from(arr, k=0):
    return _of_numpy("triu_indices")(arr.shape[0], k, arr.shape[1])


def unwrap(p, discont=3.141592653589793, axis=-1):
    p = _as_float(_tensor(p))
    pi, axis = 3.141592653589793, axis % p.ndim
    n = p.shape[axis]
    at = (slice(None),) * axis
    step = _core.sub(p[at + (slice(1, None),)], p[at + (slice(0, n - 1),)])
    turned = _core.sub(_f.floor_mod(_core.add(step, pi), 2 * pi), pi)
    turned = where(_f.logical_and(_core.compare("EQ", turned, -pi), _core.compare("GT", step, 0)), _core.full(step.shape, pi, p.dtype), turned)
    change = where(_core.compare("LT", _f.abs(step), discont), _core.full(step.shape, 0, p.dtype), _core.sub(turned, step))
    return concatenate((p[at + (slice(0, 1),)], _core.add(p[at + (slice(1, None),)], cumsum(change, axis))), axis)


__all__ = [n for n in globals() if not n.startswith("_")]
