# SPDX-License-Identifier: Apache-2.0
"""Reductions, sorting, prefixes."""
import builtins
from jax import _core, _types
from jax._core import asarray as _asarray, op as _op
from jax._names import refuse as _refuse
from jax._types import as_dtype, bool_, float32, int32

__all__ = ("sum prod max min amax amin mean average var std all any argmax argmin cumsum cumprod sort argsort median ptp nansum nanmean "
           "nanmax nanmin nanargmax nanargmin count_nonzero logsumexp searchsorted bincount histogram diff unique quantile percentile digitize "
           "").split()
__all__.remove("logsumexp")


def _axes(x, axis):
    if axis is None:
        return tuple(range(x.ndim))
    axes = (axis,) if isinstance(axis, int) else tuple(axis)
    for a in axes:
        if not -x.ndim <= a < x.ndim:
            raise ValueError(f"axis {a} is out of bounds for array of dimension {x.ndim}")
    return tuple(a % x.ndim for a in axes)


def _reduce(kind, x, axis, keepdims, where=None, initial=None, fill=None):
    axes = _axes(x, axis)
    if where is not None:
        x = _core.select(where, x, _core.full((), fill if initial is None else initial, x.dtype))
    result = _core.reduce(kind, x, axes)
    if keepdims:
        result = _core.reshape(result, [1 if d in axes else n for d, n in enumerate(x.shape)])
    return _core.convert(result, result.dtype)


def _summed(x, dtype):
    x = _asarray(x)
    if dtype is not None:
        return _core.convert(x, as_dtype(dtype))
    if x.element == "bool" or _types.is_integer(x.dtype) and x.itemsize < 4:
        return _core.convert(x, int32 if x.dtype.category != "uint" else _types.uint32)
    return x


def sum(a, axis=None, dtype=None, out=None, keepdims=False, initial=None, where=None):
    _refuse("jnp.sum", "out", out, None)
    if dtype is not None and as_dtype(dtype).element == "bool":
        return _core.convert(sum(_core.compare("NE", a, 0), axis, None, None, keepdims, initial, where), bool_)
    result = _reduce("add", _summed(a, dtype), axis, keepdims, where, None, 0)
    return result if initial is None else result + initial


def prod(a, axis=None, dtype=None, out=None, keepdims=False, initial=None, where=None):
    _refuse("jnp.prod", "out", out, None)
    if dtype is not None and as_dtype(dtype).element == "bool":
        return _core.convert(prod(_core.compare("NE", a, 0), axis, None, None, keepdims, initial, where), bool_)
    result = _reduce("mul", _summed(a, dtype), axis, keepdims, where, None, 1)
    return result if initial is None else result * initial


def _extreme(kind, a, axis, keepdims, initial, where):
    a = _asarray(a)
    if where is not None and initial is None:
        raise ValueError(f"reduction operation {kind} does not have an identity, so to use a where mask one has to specify 'initial'")
    if a.element == "bool":
        join = "or" if kind == "max" else "and"
        result = _reduce(join, a, axis, keepdims, where, initial)
        return result if initial is None else _core.bitwise(join, result, _core.full((), builtins.bool(initial), bool_))
    if 0 in [a.shape[d] for d in _axes(a, axis)] and initial is None:
        raise ValueError("zero-size array to reduction operation max which has no identity")
    result = _reduce(kind, a, axis, keepdims, where, initial)
    if initial is not None:
        result = _core.binary("maximum" if kind == "max" else "minimum", result, initial)
    return result


def max(a, axis=None, out=None, keepdims=False, initial=None, where=None):
    _refuse("jnp.max", "out", out, None)
    return _extreme("max", a, axis, keepdims, initial, where)


def min(a, axis=None, out=None, keepdims=False, initial=None, where=None):
    _refuse("jnp.min", "out", out, None)
    return _extreme("min", a, axis, keepdims, initial, where)


amax, amin = max, min


def _count(a, axis):
    return _core.product([a.shape[d] for d in _axes(a, axis)])


def mean(a, axis=None, dtype=None, out=None, keepdims=False, *, where=None):
    _refuse("jnp.mean", "out", out, None)
    a = _asarray(a)
    if dtype is not None and not _types.is_float(as_dtype(dtype)):
        _refuse("jnp.mean", "where", where, None)
        return _core.convert(sum(a, axis, dtype, None, keepdims) / _count(a, axis), as_dtype(dtype))
    a = _core.convert(a, as_dtype(dtype)) if dtype is not None else a if _types.is_float(a.dtype) else _core.convert(a, float32)
    n = _count(a, axis) if where is None else sum(_core.broadcast_to(_asarray(where), a.shape), axis, keepdims=keepdims)
    if a.element in ("f16", "bf16"):
        return _core.convert(sum(_core.convert(a, float32), axis, keepdims=keepdims, where=where) / n, a.dtype)
    return sum(a, axis, keepdims=keepdims, where=where) / n


def average(a, axis=None, weights=None, returned=False, keepdims=False):
    if weights is None:
        return mean(a, axis, keepdims=keepdims)
    a, weights = _core.promoted(a, weights, to_float=True)
    if weights.ndim == 1 and a.ndim != 1:
        weights = _core.reshape(weights, [n if d == axis % a.ndim else 1 for d, n in enumerate(a.shape)])
    total = sum(_core.broadcast_to(weights, a.shape), axis, keepdims=keepdims)
    result = sum(a * weights, axis, keepdims=keepdims) / total
    return (result, total) if returned else result


def var(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=None, correction=None):
    _refuse("jnp.var", "out", out, None)
    a = _core.promoted(a, to_float=True)[0]
    n = _count(a, axis) if where is None else sum(_core.broadcast_to(_asarray(where), a.shape), axis, keepdims=keepdims)
    n = n - (ddof if correction is None else correction)
    wide = _core.convert(a, float32)
    d = wide - mean(wide, axis, keepdims=True, where=where)
    return _core.convert(sum(d * d, axis, keepdims=keepdims, where=where) / n, a.dtype if dtype is None else as_dtype(dtype))


def std(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=None, correction=None):
    _refuse("jnp.std", "out", out, None)
    return _core.unary("sqrt", var(a, axis, dtype, out, ddof, keepdims, where=where, correction=correction))


def all(a, axis=None, out=None, keepdims=False, *, where=None):
    _refuse("jnp.all", "out", out, None)
    return _reduce("and", _core.convert(_asarray(a), bool_), axis, keepdims, where, fill=True)


def any(a, axis=None, out=None, keepdims=False, *, where=None):
    _refuse("jnp.any", "out", out, None)
    return _reduce("or", _core.convert(_asarray(a), bool_), axis, keepdims, where, fill=False)


def count_nonzero(a, axis=None, keepdims=False):
    return sum(_core.compare("NE", a, 0), axis, keepdims=keepdims)


def _arg(kind, a, axis, keepdims):
    a = _asarray(a)
    if axis is None:
        shape = a.shape
        a, axis = a.flatten(), 0
        result = _arg(kind, a, 0, False)
        return _core.reshape(result, (1,) * len(shape)) if keepdims else result
    axis %= a.ndim
    a = _core.convert(a, int32) if a.element == "bool" else a
    best = _reduce(kind, a, axis, True)
    is_best = _core.compare("EQ", a, best)
    if _types.is_float(a.dtype):
        is_best = _core.bitwise("or", is_best, _core.op("is_nan", (a,)))
    places = _core.select(is_best, _core.iota(int32, a.shape, axis), _core.full((), a.shape[axis], int32))
    return _reduce("min", places, axis, keepdims)


def argmax(a, axis=None, out=None, keepdims=False):
    _refuse("jnp.argmax", "out", out, None)
    return _arg("max", a, axis, keepdims)


def argmin(a, axis=None, out=None, keepdims=False):
    _refuse("jnp.argmin", "out", out, None)
    return _arg("min", a, axis, keepdims)


def _where_known(a, axis, keepdims, result, otherwise):
    """@result of an extreme that passes over what is no number; @otherwise where nothing else was."""
    a = _asarray(a)
    return _core.select(all(_core.op("is_nan", (a,)), axis, keepdims=keepdims), otherwise, result) if _types.is_float(a.dtype) else result


def nanargmax(a, axis=None, out=None, keepdims=False):
    return _where_known(a, axis, keepdims, argmax(_no_nan(a, -float("inf")), axis, out, keepdims), -1)


def nanargmin(a, axis=None, out=None, keepdims=False):
    return _where_known(a, axis, keepdims, argmin(_no_nan(a, float("inf")), axis, out, keepdims), -1)


def _prefix(name, a, axis, dtype):
    from jax import lax
    if dtype is not None and as_dtype(dtype).element == "bool":
        return _core.convert(_prefix(name, _core.compare("NE", a, 0), axis, None), bool_)
    # Other than in a sum small integers stay what they are; bools are counted.
    a = _asarray(a) if dtype is None else _core.convert(_asarray(a), as_dtype(dtype))
    if a.element == "bool":
        a = _core.convert(a, int32)
    if axis is None:
        a, axis = a.flatten(), 0
    return getattr(lax, name)(_core.convert(a, a.dtype), axis)


def cumsum(a, axis=None, dtype=None, out=None):
    _refuse("jnp.cumsum", "out", out, None)
    return _prefix("cumsum", a, axis, dtype)


def cumprod(a, axis=None, dtype=None, out=None):
    _refuse("jnp.cumprod", "out", out, None)
    return _prefix("cumprod", a, axis, dtype)


def sort(a, axis=-1, *, stable=True, descending=False, kind=None, order=None):
    _refuse("jnp.sort", "kind", kind, None)
    _refuse("jnp.sort", "order", order, None)
    a = _asarray(a)
    if axis is None:
        a, axis = a.flatten(), 0
    return _op("sort", (a,), {"dimension": axis % a.ndim, "descending": int(descending), "stable": 1})


def argsort(a, axis=-1, *, stable=True, descending=False, kind=None, order=None):
    _refuse("jnp.argsort", "kind", kind, None)
    _refuse("jnp.argsort", "order", order, None)
    a = _asarray(a)
    if axis is None:
        a, axis = a.flatten(), 0
    axis %= a.ndim
    return _op("sort", (a, _core.iota(int32, a.shape, axis)), {"dimension": axis, "descending": int(descending), "stable": 1})[1]


def quantile(a, q, axis=None, out=None, overwrite_input=False, method="linear", keepdims=False):
    _refuse("jnp.quantile", "out", out, None)
    _refuse("jnp.quantile", "overwrite_input", overwrite_input, False)
    import jax.numpy as jnp
    a = _core.promoted(a, to_float=True)[0]
    shape = [1 if axis is None or d == axis % a.ndim else n for d, n in enumerate(a.shape)]
    a = a.flatten() if axis is None else jnp.moveaxis(a, axis, 0)
    a = sort(a, 0)
    n = a.shape[0]
    place = _core.convert(_asarray(q), float32) * (n - 1.0)
    low = _core.unary("floor", place)
    first, second = (jnp.take(a, _core.convert(i, int32), 0) for i in (low, _core.unary("ceil", place)))
    result = _between(method, first, second, _core.reshape(place - low, place.shape + (1,) * (a.ndim - 1)))
    # Sorted, what is no number stands last.
    result = _core.select(_core.op("is_nan", (a[-1],)), a[-1], result)
    return _core.reshape(result, place.shape + tuple(shape)) if keepdims else result


def _between(method, first, second, t):
    """What lies the part @t of the way from one neighbour to the other; both may be infinite."""
    if method == "linear":
        t = _core.convert(t, first.dtype)
        return first * (1 - t) + second * t
    if method == "midpoint":
        return (first + second) * 0.5
    if method == "nearest":
        return _core.select(_core.compare("GT", t, 0.5), second, first)
    if method not in ("lower", "higher"):
        raise ValueError("method can only be 'linear', 'lower', 'higher', 'midpoint', or 'nearest'")
    return first if method == "lower" else second


def percentile(a, q, axis=None, out=None, overwrite_input=False, method="linear", keepdims=False):
    return quantile(a, _core.divide(q, 100), axis, out, overwrite_input, method, keepdims)


def median(a, axis=None, out=None, overwrite_input=False, keepdims=False):
    return quantile(a, 0.5, axis, out, overwrite_input, keepdims=keepdims)


def ptp(a, axis=None, keepdims=False):
    return max(a, axis, keepdims=keepdims) - min(a, axis, keepdims=keepdims)


def _no_nan(a, value):
    a = _asarray(a)
    return _core.select(_core.op("is_nan", (a,)), _core.full((), value, a.dtype), a) if _types.is_float(a.dtype) else a


def nansum(a, axis=None, keepdims=False):
    return sum(_no_nan(a, 0), axis, keepdims=keepdims)


def nanmean(a, axis=None, keepdims=False):
    return nansum(a, axis, keepdims) / sum(~_core.op("is_nan", (_asarray(a),)), axis, keepdims=keepdims)


def nanmax(a, axis=None, keepdims=False):
    return _where_known(a, axis, keepdims, max(_no_nan(a, -float("inf")), axis, keepdims=keepdims), float("nan"))


def nanmin(a, axis=None, keepdims=False):
    return _where_known(a, axis, keepdims, min(_no_nan(a, float("inf")), axis, keepdims=keepdims), float("nan"))


def diff(a, n=1, axis=-1):
    a = _asarray(a)
    for _ in range(n):
        low, high = [slice(None)] * a.ndim, [slice(None)] * a.ndim
        low[axis], high[axis] = slice(None, -1), slice(1, None)
        a = a[tuple(high)] - a[tuple(low)]
    return a


def searchsorted(a, v, side="left", sorter=None):
    _refuse("jnp.searchsorted", "sorter", sorter, None)
    a, v = _asarray(a), _asarray(v)
    wide = _core.reshape(v, v.shape + (1,))
    return sum(_core.compare("LT" if side == "left" else "LE", a, wide), -1)


def digitize(x, bins, right=False):
    return searchsorted(bins, x, side="left" if right else "right")


def bincount(x, weights=None, minlength=0, *, length=None):
    x = _asarray(x)
    n = length if length is not None else builtins.max(int(max(x)) + 1 if x.size else 0, minlength)
    start = _core.full((n,), 0, int32 if weights is None else _asarray(weights).dtype)
    return start.at[x].add(1 if weights is None else weights)


def histogram(a, bins=10, range=None, weights=None, density=None):
    import jax.numpy as jnp
    flat = jnp.ravel(_asarray(a))
    values = flat if jnp.issubdtype(flat.dtype, jnp.floating) else flat.astype(jnp.float32)
    if isinstance(bins, int):
        low, high = range if range is not None else (values.min(), values.max())
        same = jnp.asarray(low == high)
        edges = jnp.linspace(jnp.where(same, low - 0.5, low), jnp.where(same, high + 0.5, high), bins + 1)
    else:
        edges = _asarray(bins)
    places = jnp.where(values == edges[-1], edges.size - 1, jnp.searchsorted(edges, values, side="right"))
    weights = jnp.ones(values.shape, jnp.float32) if weights is None else jnp.ravel(_asarray(weights))
    counts = jnp.zeros(edges.shape, weights.dtype).at[places].add(weights)[1:]
    return (counts / jnp.diff(edges) / counts.sum() if density else counts), edges


def _unique_of_size(x, wanted, size, fill_value):
    """In order, the first @size; places left over have the fill value, the smallest element where none is given, and count nothing."""
    import jax.numpy as jnp
    flat = jnp.ravel(x)
    if flat.size == 0:
        if size > 0 and fill_value is None:
            raise ValueError("jnp.unique: for zero-sized input with nonzero size argument, fill_value must be specified")
        none = jnp.zeros(size, jnp.int32)
        found = [jnp.full(size, 0 if fill_value is None else fill_value, x.dtype), none, jnp.zeros(x.shape, jnp.int32), none]
    else:
        order = jnp.argsort(flat)
        ordered = flat[order]
        equal = (ordered[1:] == ordered[:-1]) | ((ordered[1:] != ordered[1:]) & (ordered[:-1] != ordered[:-1]))
        first = jnp.concatenate([jnp.ones(1, bool), ~equal])
        place = jnp.cumsum(first.astype(jnp.int32)) - 1
        where_first = jnp.where(first, place, size)
        fill = ordered[0] if fill_value is None else jnp.asarray(fill_value, x.dtype)
        found = [jnp.full(size, fill, x.dtype).at[where_first].set(ordered),
                 jnp.full(size, order[0], jnp.int32).at[where_first].set(order.astype(jnp.int32)),
                 jnp.zeros(flat.size, jnp.int32).at[order].set(place).reshape(x.shape),
                 jnp.zeros(size, jnp.int32).at[place].add(1)]
    kept = [found[0]] + [f for f, w in zip(found[1:], wanted) if w]
    return tuple(kept) if len(kept) > 1 else kept[0]


def unique(ar, return_index=False, return_inverse=False, return_counts=False, axis=None, *, size=None, fill_value=None):
    if size is not None:
        _refuse("jnp.unique with a size", "axis", axis, None)
        return _unique_of_size(_asarray(ar), (return_index, return_inverse, return_counts), size, fill_value)
    _refuse("jnp.unique", "fill_value", fill_value, None)
    import numpy
    found = numpy.unique(_asarray(ar)._numpy(), return_index, return_inverse, return_counts, axis)
    return tuple(_asarray(f) for f in found) if isinstance(found, tuple) else _asarray(found)
