# SPDX-License-Identifier: Apache-2.0
"""Sums, extremes and what is made of them."""
import builtins as _builtins
import math as _math
from mindspore import _amp, _core, _index
from mindspore._core import Tensor, _op, _operand, convert, reduce as _reduce, normal_axes as _normal_axes, float32, float64, int32, int64, bool_
from mindspore.ops import _elementwise as _e


def _plain_axis(axis):
    if isinstance(axis, Tensor):
        return axis.tolist() if axis.ndim else int(axis)
    return axis


def sum(input, dim=None, keepdim=False, *, dtype=None, axis=None, keep_dims=False):
    input = _operand(input)
    axis = _plain_axis(dim if axis is None else axis)
    if dtype is not None:
        input = convert(input, _core.as_type(dtype))
    elif not input.dtype.is_float:
        input = convert(input, int64)
    return _reduce("or" if input.element == "bool" else "add", input, axis, keepdim or keep_dims)


def reduce_sum(x, axis=(), keep_dims=False):
    return sum(x, _plain_axis(axis) if axis != () else None, keep_dims)


def mean(x, axis=None, keep_dims=False, **kw):
    x = _operand(x) if kw.get("dtype") is None else convert(_operand(x), _core.as_type(kw["dtype"]))
    axis = kw.get("dim", axis)
    keep_dims = kw.get("keepdim", keep_dims)
    if not x.dtype.is_float:  # the mean of integers is one
        return convert(mean(convert(x, _core.float64), axis, keep_dims), int64 if x.element == "bool" else x.dtype)
    axes = _normal_axes(_plain_axis(axis), x.ndim)
    n = _core._product(x.shape[d] for d in axes)
    return _core.div(_reduce("add", x, axes or (), keep_dims) if axes else x, float(n)) if n else _reduce("add", x, axes, keep_dims)


reduce_mean = mean


def prod(input, axis=None, keep_dims=False, dtype=None):
    input = _operand(input)
    if dtype is not None:
        input = convert(input, _core.as_type(dtype))
    elif input.element == "bool" or not input.dtype.is_float and not isinstance(axis, (tuple, list)):
        input = convert(input, int64)
    return _reduce("mul", input, _plain_axis(axis), keep_dims)


reduce_prod = prod


def amax(input, axis=None, keepdims=False, *, initial=None, where=None):
    input = _operand(input)
    if where is not None:
        input = _core.select(where, input, initial)
    result = _reduce("max", input, _plain_axis(axis), keepdims)
    return _e.maximum(result, _core.tensor_of(initial, result.dtype)) if initial is not None else result


def amin(input, axis=None, keepdims=False, *, initial=None, where=None):
    input = _operand(input)
    if where is not None:
        input = _core.select(where, input, initial)
    result = _reduce("min", input, _plain_axis(axis), keepdims)
    return _e.minimum(result, _core.tensor_of(initial, result.dtype)) if initial is not None else result


def reduce_max(x, axis=None, keep_dims=False):
    return amax(x, axis if axis != () else None, keep_dims)


def reduce_min(x, axis=None, keep_dims=False):
    return amin(x, axis if axis != () else None, keep_dims)


def _first(x, axis, kind):
    """The first place along @axis where the extreme stands, with that axis. NaN is passed over, unless it stands first."""
    axis %= x.ndim
    places = _op("iota", (), {"to": ("i32", x.shape), "iota_dimension": axis})
    worst = x
    if x.dtype.is_float:
        worst = _core.select(_e.isnan(x), -_math.inf if kind == "max" else _math.inf, x)
    best = _reduce(kind, worst, axis, True)
    found = _reduce("min", _core.select(_core.compare("EQ", worst, _core.broadcast_to(best, x.shape)), places, x.shape[axis]), axis, True)
    if x.dtype.is_float:
        found = _core.select(_e.isnan(_core._op("slice", (x,), _slice_of(x, axis, 0, 1))), 0, found)
    return found, _core.compare("EQ", _core.broadcast_to(found, x.shape), places)


def argmax(input, dim=None, keepdim=False, *, axis=None, output_type=int64):
    return _arg(input, axis if axis is not None else dim, keepdim, "max", output_type)


def argmin(input, axis=None, keepdims=False, *, dim=None, output_type=int32):
    return _arg(input, dim if axis is None else axis, keepdims, "min", output_type)


def _arg(input, axis, keepdims, kind, output_type):
    input = _operand(input)
    if input.element == "bool":
        input = convert(input, int32)
    if axis is None:
        input, axis = _core.reshape(input, (-1,)), 0
    if input.ndim == 0:
        return _core.full((), 0, output_type)
    return convert(_without(_first(input, axis, kind)[0], axis, keepdims), output_type)


def _without(x, axis, keepdims):
    return x if keepdims else _core.reshape(x, tuple(n for d, n in enumerate(x.shape) if d != axis % x.ndim))


def _with_index(kind):
    def function(input, axis=None, keepdims=False, *, initial=None, where=None):
        input = _operand(input)
        if where is not None and where is not True:
            if initial is None:
                raise ValueError(f"For '{kind}', 'initial' must not be None when 'where' is given.")
            input = _core.select(where, input, initial)
        if axis is None:
            return _reduce(kind, input), _core.full((), 0, int64)
        if input.ndim == 0:
            return input, _core.full((), 0, int64)
        # The value of that place, which takes all of the gradient.
        place, chosen = _first(input, axis, kind)
        best = _reduce(*(("or", _e.logical_and(chosen, input)) if input.element == "bool"
                         else ("add", _core.select(chosen, input, _core.full((), 0, input.dtype)))), axis, keepdims)
        return best, convert(_without(place, axis, keepdims), int64)
    return function


max, min = _with_index("max"), _with_index("min")


def argmax_with_value(input, axis=0, keep_dims=False):
    value, place = max(input, axis, keep_dims)
    return place, value


def argmin_with_value(input, axis=0, keep_dims=False):
    value, place = min(input, axis, keep_dims)
    return place, value


def _truth(x):
    x = _operand(x)
    return x if x.element == "bool" else _core.compare("NE", x, 0)


def all(input, axis=None, keep_dims=False):
    return _reduce("and", _truth(input), _plain_axis(axis) if axis != () else None, keep_dims)


def any(input, axis=None, keep_dims=False):
    return _reduce("or", _truth(input), _plain_axis(axis) if axis != () else None, keep_dims)


reduce_all, reduce_any = all, any


def var(input, axis=None, ddof=0, keepdims=False):
    input = _operand(input)
    input = input if input.dtype.is_float else convert(input, float32)
    axes = _normal_axes(_plain_axis(axis), input.ndim)
    n = _core._product(input.shape[d] for d in axes) - int(ddof)
    centred = _core.sub(input, mean(input, axes, True) if axes else input)
    return _core.div(_reduce("add", _e.square(centred), axes, keepdims) if axes else _e.square(centred), float(n) if n > 0 else float("nan"))


def std(input, axis=None, ddof=0, keepdims=False):
    return _e.sqrt(var(input, axis, ddof, keepdims))


def var_mean(input, axis=None, ddof=0, keepdims=False):
    return var(input, axis, ddof, keepdims), mean(input, axis, keepdims)


def std_mean(input, axis=None, ddof=0, keepdims=False):
    return std(input, axis, ddof, keepdims), mean(input, axis, keepdims)


def logsumexp(input, axis, keep_dims=False):
    best = _gradless(_reduce("max", input, axis, True))
    result = _core.add(_e.log(_reduce("add", _e.exp(_core.sub(input, best)), axis, True)), best)
    if keep_dims:
        return result
    axes = _normal_axes(axis, input.ndim)
    return _core.reshape(result, tuple(n for d, n in enumerate(result.shape) if d not in axes))


def _gradless(x):
    from mindspore.ops.grad import stop_gradient
    return stop_gradient(x)


def _singular(x):
    from mindspore.ops._linear import svd
    return svd(x, compute_uv=False)


def matrix_norm(A, ord="fro", axis=(-2, -1), keepdims=False, *, dtype=None):
    x = A if dtype is None else convert(A, _core.as_type(dtype))
    x = x if x.dtype.is_float else convert(x, float32)
    first, second = (a % x.ndim for a in axis)
    if first == second:
        raise ValueError(f"For 'matrix_norm', the axes must differ, but got {tuple(axis)}.")
    if ord == "fro":
        return _e.sqrt(_reduce("add", _e.square(x), (first, second), keepdims))
    if ord in (1, -1, _math.inf, -_math.inf):
        if ord in (_math.inf, -_math.inf):
            first, second = second, first
        best = _reduce("max" if ord > 0 else "min", _reduce("add", _e.abs(x), first, True), second, True)
    elif ord in (2, -2, "nuc"):
        rest = tuple(d for d in _builtins.range(x.ndim) if d not in (first, second))
        values = _singular(_core.transpose(x, rest + (first, second)))
        best = _reduce({2: "max", -2: "min", "nuc": "add"}[ord], values, values.ndim - 1)
        best = _core.reshape(best, tuple(1 if d in (first, second) else n for d, n in enumerate(x.shape)))
    else:
        raise ValueError(f"For 'matrix_norm', the order must be 'fro', 'nuc', 1, -1, 2, -2, inf or -inf, but got {ord!r}.")
    return best if keepdims else _core.reshape(best, tuple(n for d, n in enumerate(best.shape) if d not in (first, second)))


def norm(A, ord=None, dim=None, keepdim=False, *, dtype=None):
    """Of vectors along one dimension, of matrices along two; without an order of all elements."""
    x = A if dtype is None else convert(A, _core.as_type(dtype))
    x = x if x.dtype.is_float else convert(x, float32)
    axes = _normal_axes(_plain_axis(dim), x.ndim)
    if ord is not None and _builtins.len(axes) == 2:
        return matrix_norm(x, ord, axes, keepdim)
    if ord is not None and dim is None and x.ndim != 1:
        raise ValueError(f"For 'norm', 'dim' must be given for a tensor of {x.ndim} dimensions and the order {ord!r}.")
    return vector_norm(x, ord, dim, keepdim)


def vector_norm(x, ord=2, axis=None, keepdims=False, *, dtype=None):
    A, dim, keepdim = x, axis, keepdims
    x = A if dtype is None else convert(A, _core.as_type(dtype))
    x = x if x.dtype.is_float else convert(x, float32)
    if ord in (None, "fro", 2) and (ord != 2 or dim is None or isinstance(dim, int)):
        return _e.sqrt(_reduce("add", _e.square(x), dim, keepdim))
    if ord == float("inf"):
        return _reduce("max", _e.abs(x), dim, keepdim)
    if ord == -float("inf"):
        return _reduce("min", _e.abs(x), dim, keepdim)
    if ord == 0:
        return _reduce("add", convert(_core.compare("NE", x, 0), x.dtype), dim, keepdim)
    if ord == 1:
        return _reduce("add", _e.abs(x), dim, keepdim)
    return _e.pow(_reduce("add", _e.pow(_e.abs(x), ord), dim, keepdim), 1.0 / ord)


def cumsum(x, axis, dtype=None):
    x = _operand(x)
    if dtype is not None:
        x = convert(x, _core.as_type(dtype))
    return _windowed(x, axis, "add")


def cumprod(input, dim, dtype=None):
    made = _scanned(input, dim, _core.mul, 1)
    return made if dtype is None else convert(made, _core.as_type(dtype))


def cumulative(function, neutral):
    """@function along an axis with the attributes of its primitive: from the end where `reverse`, without the element itself where
    `exclusive`, which shifts by one @neutral."""
    def compute(x, axis, exclusive, reverse):
        axis = int(axis) % x.ndim
        reversed_ = [slice(None)] * axis + [slice(None, None, -1)]
        x = _index.get(x, tuple(reversed_)) if reverse else x
        if exclusive:
            low, high = ([n if d == axis else 0 for d in _builtins.range(x.ndim)] for n in (1, -1))
            x = _op("pad", (x, _core.full((), neutral, x.dtype)), {"edge_padding_low": tuple(low), "edge_padding_high": tuple(high)})
        x = function(x, axis)
        return _index.get(x, tuple(reversed_)) if reverse else x
    return compute


def _windowed(x, axis, kind, reverse=False):
    axis %= _builtins.max(x.ndim, 1)
    if x.ndim == 0:
        return x
    n = x.shape[axis]
    padding = []
    for d in _builtins.range(x.ndim):
        padding += [(0 if reverse else n - 1), (n - 1 if reverse else 0)] if d == axis else [0, 0]
    window = tuple(n if d == axis else 1 for d in _builtins.range(x.ndim))
    return _op("reduce_window", (x,), {"kind": kind, "window_dimensions": window, "padding": tuple(padding)})


def _scanned(x, axis, join, neutral):
    """Hillis and Steele: log n steps."""
    axis %= x.ndim
    n, step = x.shape[axis], 1
    while step < n:
        low, high = [0] * x.ndim, [0] * x.ndim
        low[axis], high[axis] = step, -step
        moved = _op("pad", (x, _core.full((), neutral, x.dtype)), {"edge_padding_low": tuple(low), "edge_padding_high": tuple(high)})
        x = join(x, moved)
        step *= 2
    return x


def _cumulative(kind, places_type=int64):
    def function(input, axis):
        x = _operand(input)
        best = _windowed(x, axis, kind)
        places = _op("iota", (), {"to": ("i64", x.shape), "iota_dimension": axis % x.ndim})
        mine = _core.compare("EQ", x, best)
        mine = _core.select(_e.logical_or(mine, _e.isnan(x)) if x.dtype.is_float else mine, places, -1)
        return best, convert(_windowed(mine, axis, "max"), places_type)
    return function


cummax, cummin = _cumulative("max"), _cumulative("min", int32)


def logcumsumexp(input, axis):
    best = _gradless(_reduce("max", input, axis, True))
    return _core.add(_e.log(cumsum(_e.exp(_core.sub(input, best)), axis)), best)


def count_nonzero(x, axis=(), keep_dims=False, dtype=int32):
    return _reduce("add", convert(_core.compare("NE", x, 0), dtype), axis if axis != () else None, keep_dims)


def median(input, axis=-1, keepdims=False):
    from mindspore.ops import _array
    values, places = _array.sort(input, axis)
    middle = (input.shape[axis] - 1) // 2
    result = tuple(_core._op("slice", (v,), _slice_of(v, axis % input.ndim, middle, middle + 1)) for v in (values, places))
    if not keepdims:
        result = tuple(_core.reshape(v, tuple(n for d, n in enumerate(v.shape) if d != axis % input.ndim)) for v in result)
    return result[0], convert(result[1], int64)


def _slice_of(x, axis, start, stop):
    return {"start_indices": tuple(start if d == axis else 0 for d in _builtins.range(x.ndim)),
            "limit_indices": tuple(stop if d == axis else n for d, n in enumerate(x.shape)), "strides": (1,) * x.ndim}


def nanmean(input, axis=None, keepdims=False, *, dtype=None):
    if dtype is not None:
        return convert(nanmean(input, axis, keepdims), _core.as_type(dtype))
    missing = _e.isnan(input)
    total = _reduce("add", _core.select(missing, 0.0, input), axis, keepdims)
    return _core.div(total, _reduce("add", convert(_e.logical_not(missing), input.dtype), axis, keepdims))


def nansum(input, axis=None, keepdims=False, *, dtype=None):
    kept = _core.select(_e.isnan(input), 0.0, input) if input.dtype.is_float else input
    return sum(kept, axis, keepdims, dtype=dtype if dtype is not None else None if input.element == "bool" else input.dtype)


def aminmax(input, *, axis=0, keepdims=False):
    least, most = input, input
    if input.dtype.is_float:
        least, most = (_core.select(_e.isnan(input), bound, input) for bound in (_math.inf, -_math.inf))
    return amin(least, axis, keepdims), amax(most, axis, keepdims)


def ptp(x, axis=None, keepdims=False):
    return _core.sub(amax(x, axis, keepdims), amin(x, axis, keepdims))


def l2_normalize(x, axis=0, epsilon=1e-12):
    return _core.div(x, _e.sqrt(_e.maximum(_reduce("add", _e.square(x), axis, True), epsilon)))


def renorm(input, p, axis, maxnorm):
    axes = tuple(d for d in _builtins.range(input.ndim) if d != axis % input.ndim)
    size = vector_norm(input, p, axes, True)
    return _core.select(_core.compare("GT", size, maxnorm), _core.mul(input, _core.div(maxnorm, _core.add(size, 1e-7))), input)


def clip_by_norm(x, max_norm, norm_type=2.0, error_if_nonfinite=False):
    tensors = x if isinstance(x, (tuple, list)) else (x,)
    if norm_type == 2:
        total = _e.sqrt(_total([_reduce("add", _e.square(t)) for t in tensors]))
    elif norm_type == float("inf"):
        total = _reduce("max", _a_stack([_reduce("max", _e.abs(t)) for t in tensors]))
    else:
        total = _e.pow(_total([_reduce("add", _e.pow(_e.abs(t), float(norm_type))) for t in tensors]), 1.0 / norm_type)
    if error_if_nonfinite:
        if total.is_variable and not total.has_data:
            raise _core.NeedsData("'clip_by_norm' with 'error_if_nonfinite' has to know the norm")
        if not _math.isfinite(float(total.tolist())):
            raise RuntimeError(f"For clip_by_norm, the total norm of order {norm_type} is {float(total.tolist())}, which is not finite.")
    factor = _e.minimum(_core.div(max_norm, _core.add(total, 1e-6)), 1.0)
    result = [_core.mul(t, convert(factor, t.dtype)) for t in tensors]
    return type(x)(result) if isinstance(x, (tuple, list)) else result[0]


def _a_stack(values):
    from mindspore.ops._array import stack
    return stack(values)


def _total(values):
    total = values[0]
    for v in values[1:]:
        total = _core.add(total, v)
    return total


def clip_by_global_norm(x, clip_norm=1.0, use_norm=None):
    total = _e.sqrt(_total([_reduce("add", _e.square(convert(t, float32))) for t in x])) if use_norm is None else use_norm
    factor = _core.div(clip_norm, _e.maximum(total, clip_norm))
    return tuple(_core.mul(t, convert(factor, t.dtype)) for t in x)


def cosine_similarity(x1, x2, dim=1, eps=1e-08):
    dot = _reduce("add", _core.mul(x1, x2), dim)
    sizes = _core.mul(vector_norm(x1, 2, dim), vector_norm(x2, 2, dim))
    return _core.div(dot, _e.maximum(sizes, eps))


def dist(input, other, p=2):
    return vector_norm(_core.reshape(_core.sub(input, other), (-1,)), p, 0)


def cdist(x1, x2, p=2.0):
    a = _core.reshape(x1, x1.shape[:-1] + (1,) + x1.shape[-1:])
    b = _core.reshape(x2, x2.shape[:-2] + (1,) + x2.shape[-2:])
    return vector_norm(_core.sub(a, b), p, a.ndim - 1)


def pairwise_distance(x, y, p=2.0, eps=1e-6, keepdim=False):
    return vector_norm(_core.add(_core.sub(x, y), eps), p, x.ndim - 1, keepdim)


def histc(input, bins=100, min=0., max=0.):
    low, high = float(min), float(max)
    if low == high:
        low, high = amin(input), amax(input)
    place = convert(_e.floor(_core.mul(_core.div(_core.sub(input, low), _core.sub(high, low)), bins)), int32)
    place = _core.select(_core.compare("EQ", input, high), bins - 1, place)
    rows = _core.compare("EQ", _core.reshape(place, (-1, 1)), _op("iota", (), {"to": ("i32", (1, bins)), "iota_dimension": 1}))
    return _reduce("add", convert(rows, float32 if input.dtype.is_float else int32), 0)


def bincount(input, weights=None, minlength=0):
    n = _builtins.max(minlength, (int(amax(input)) + 1) if input.size else 0)
    hits = _core.compare("EQ", _core.reshape(input, (-1, 1)), _op("iota", (), {"to": (input.element, (1, n)), "iota_dimension": 1}))
    if weights is None:
        return _reduce("add", convert(hits, float32), 0)
    return _reduce("add", _core.mul(convert(hits, weights.dtype), _core.reshape(weights, (-1, 1))), 0)


_amp.listed(globals())
__all__ = [n for n in dir() if not n.startswith("_") and callable(globals()[n])
           and n not in ("Tensor", "convert", "bool_", "float32", "float64", "int32", "int64")]
