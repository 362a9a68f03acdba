# SPDX-License-Identifier: Apache-2.0
"""mindspore.numpy: NumPy's names over the functions of ops. What only a known value can answer is NumPy's own."""
import builtins as _builtins
import functools as _functools
from mindspore import _core
from mindspore._core import (Tensor, bool_, int8, int16, int32, int64, uint8, uint16, uint32, uint64, float16, float32, float64)
from mindspore.ops import function as _f
from mindspore.ops import _refused

int_, float_ = int32, float32
pi, e, inf, nan = 3.141592653589793, 2.718281828459045, float("inf"), float("nan")
newaxis = None

# The same function under the same name.
_SAME = ("abs absolute add arccos arccosh arcsin arcsinh arctan arctan2 arctanh bitwise_and bitwise_or bitwise_xor bitwise_not ceil copysign "
         "cos cosh deg2rad divide dot equal exp exp2 expm1 float_power floor floor_divide fmod gcd greater greater_equal heaviside "
         "hypot inner isfinite isinf isnan isneginf isposinf kron lcm less less_equal log log10 log1p log2 logaddexp logaddexp2 logical_and "
         "logical_not logical_or logical_xor matmul maximum minimum multiply negative not_equal outer positive power rad2deg "
         "reciprocal remainder rint sign signbit sin sinh sqrt square subtract tan tanh trunc true_divide fix nanmean nansum "
         "nanmax nanmin heaviside fabs").split()
_OTHER = {"power": "pow", "fabs": "abs", "rint": "round", "radians": "deg2rad", "degrees": "rad2deg", "invert": "bitwise_not", "mod": "floor_mod",
          "divide": "div", "true_divide": "div", "remainder": "floor_mod", "subtract": "sub", "multiply": "mul", "negative": "neg"}


def _tensor(value):
    """Of Python's numbers and sequences of them int32 and float32."""
    if isinstance(value, Tensor):
        return value
    made = _core.tensor_of(value)
    if not hasattr(value, "__array_interface__") and made.element in ("i64", "f64"):
        made = _core.convert(made, int32 if made.element == "i64" else float32)
    return made


def _result(value, dtype):
    return value if dtype is None else _core.convert(value, _core.as_type(dtype))


_FIRST, _SECOND = ("x", "x1", "a"), ("x2", "b")


def _wrapped(function):
    def call(*args, dtype=None, **kwargs):
        for i, names in enumerate((_FIRST, _SECOND)):
            args += tuple(kwargs.pop(n) for n in names if len(args) == i and n in kwargs)
        return _result(function(*(_tensor(a) if isinstance(a, (list, tuple, int, float)) and i < 2 else a for i, a in enumerate(args)),
                                **kwargs), dtype)
    call.__name__, call.__doc__ = function.__name__, function.__doc__
    return call


def _in_floats(function):
    """A function of floats: what has eight bits computes in half precision, as MindSpore's numpy has it."""
    def call(x, *others, **named):
        dtype = float16 if _builtins.all(_tensor(v).element in ("i8", "u8") for v in (x,) + others) else None
        return function(*((x,) + others if dtype is None else (_core.convert(_tensor(v), dtype) for v in (x,) + others)), **named)
    call.__name__, call.__doc__ = function.__name__, function.__doc__
    return call


def _as_floats(function):
    """A function whose result is of floats also where its operands are none; of half precision single."""
    def call(x, *others, **named):
        return function(_core.convert(_tensor(x), float32) if _tensor(x).element != "f64" else x, *others, **named)
    call.__name__, call.__doc__ = function.__name__, function.__doc__
    return call


def _single(function):
    """A function of operands in single precision."""
    def call(*operands):
        return function(*operands) if _builtins.any(_tensor(v).element == "f64" for v in operands) else _core.convert(function(*operands), float32)
    call.__name__, call.__doc__ = function.__name__, function.__doc__
    return call


def _like_operands(function):
    """A function whose result is of the type that its operands have together."""
    def call(*operands):
        return _core.convert(function(*operands), _core._common([_tensor(v).dtype for v in operands]))
    call.__name__, call.__doc__ = function.__name__, function.__doc__
    return call


_KINDS = {"arccos arccosh arcsin arcsinh arctan arctanh arctan2 cos cosh sin sinh tan tanh": _in_floats,
          "ceil fix trunc sign nanmean": _as_floats, "float_power": _single, "exp2 reciprocal copysign": _like_operands}
_KIND_OF = {name: kind for names, kind in _KINDS.items() for name in names.split()}

for _name in _SAME + list(_OTHER):
    _function = getattr(_f, _OTHER.get(_name, _name), None)
    if _function is not None:
        globals()[_name] = _wrapped(_KIND_OF.get(_name, lambda f: f)(_function))


def isclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False):
    return _f.isclose(_tensor(a), _tensor(b), rtol, atol, equal_nan)


def diff(a, n=1, axis=-1, prepend=None, append=None):
    return _f.diff(_tensor(a), n, axis, prepend, append)


def trapz(y, x=None, dx=1.0, axis=-1):
    return _f.trapz(_as_float(y), None if x is None else _tensor(x), dx=dx, dim=axis)


def vander(x, N=None, increasing=False):
    made = _f.vander(_tensor(x), N)
    return _f.flip(made, (1,)) if increasing else made


def cross(a, b, axisa=-1, axisb=-1, axisc=-1, axis=None):
    """Of vectors of two or three parts along an axis of each."""
    axisa, axisb, axisc = (axisa, axisb, axisc) if axis is None else (axis,) * 3
    a, b = _f.movedim(_tensor(a), axisa, -1), _f.movedim(_tensor(b), axisb, -1)
    parts = [[v[..., i] if i < v.shape[-1] else None for i in range(3)] for v in (a, b)]

    def term(i, j):
        left, right = (None if p is None or q is None else _core.mul(p, q) for p, q in ((parts[0][i], parts[1][j]), (parts[0][j], parts[1][i])))
        return None if left is None and right is None else _core.neg(right) if left is None else left if right is None else _core.sub(left, right)
    if a.shape[-1] == b.shape[-1] == 2:
        return term(0, 1)
    made = [term(1, 2), term(2, 0), term(0, 1)]
    return _f.movedim(_f.stack(made, -1), -1, axisc)


# Making

def _dtype_of(value, dtype):
    if dtype is not None:
        return _core.as_type(dtype)
    if isinstance(value, Tensor):
        return value.dtype
    made = _core.tensor_of(value)
    return {int64: int32, float64: float32}.get(made.dtype, made.dtype) if not hasattr(value, "__array_interface__") else made.dtype


def array(obj, dtype=None, copy=True, ndmin=0):
    result = _core.convert(_core.tensor_of(obj), _dtype_of(obj, dtype))
    while result.ndim < ndmin:
        result = _core.reshape(result, (1,) + result.shape)
    return _core._copied(result) if copy and not result.is_variable else result


def asarray(a, dtype=None):
    return array(a, dtype, False)


def asfarray(a, dtype=float32):
    return array(a, dtype if _core.as_type(dtype).is_float else float32, False)


def zeros(shape, dtype=float32):
    return _f.zeros(shape, dtype)


def ones(shape, dtype=float32):
    return _f.ones(shape, dtype)


empty = zeros


def full(shape, fill_value, dtype=None):
    value = array(fill_value, dtype)
    return _core.broadcast_to(value, (shape,) if isinstance(shape, int) else tuple(shape))


def zeros_like(a, dtype=None, shape=None):
    return _f.zeros(shape or _tensor(a).shape, dtype or _tensor(a).dtype)


def ones_like(a, dtype=None, shape=None):
    return _f.ones(shape or _tensor(a).shape, dtype or _tensor(a).dtype)


empty_like = zeros_like


def full_like(a, fill_value, dtype=None, shape=None):
    return full(shape or _tensor(a).shape, fill_value, dtype or _tensor(a).dtype)


def arange(start, stop=None, step=None, dtype=None):
    if stop is None:
        start, stop = 0, start
    made = _f.arange(start, stop, 1 if step is None else step)
    return _core.convert(made, _core.as_type(dtype) if dtype is not None else float32 if made.dtype.is_float else int32)


def linspace(start, stop, num=50, endpoint=True, retstep=False, dtype=None, axis=0):
    start, stop = (_core.convert(_tensor(v), float32) for v in (start, stop))
    steps = num - 1 if endpoint else num
    step = _core.div(_core.sub(stop, start), float(_builtins.max(steps, 1)))
    t = _core.convert(_f.arange(num), float32)
    t = _core.reshape(t, (num,) + (1,) * step.ndim)
    result = _result(moveaxis(_core.add(_core.mul(t, step), start), 0, axis), dtype)
    return (result, step) if retstep else result


def logspace(start, stop, num=50, endpoint=True, base=10.0, dtype=None, axis=0):
    return _result(_core.pow_(float(base), linspace(start, stop, num, endpoint, axis=axis)), dtype)


def geomspace(start, stop, num=50, endpoint=True, dtype=None, axis=0):
    first, last = (_f.log(_as_float(v)) for v in (start, stop))
    return _result(_f.exp(linspace(first, last, num, endpoint, axis=axis)), dtype)


def eye(N, M=None, k=0, dtype=float32):
    M = N if M is None else M
    rows, columns = (_core._op("iota", (), {"to": ("i64", (N, M)), "iota_dimension": d}) for d in (0, 1))
    return _core.convert(_core.compare("EQ", _core.add(rows, k), columns), _core.as_type(dtype))


def identity(n, dtype=float32):
    return eye(n, dtype=dtype)


def meshgrid(*xi, sparse=False, indexing="xy"):
    if not sparse:
        return list(_f.meshgrid(*(ravel(x) for x in xi), indexing=indexing))
    places = [1, 0] + list(range(2, len(xi))) if indexing == "xy" and len(xi) > 1 else range(len(xi))
    return [_core.reshape(_tensor(x), tuple(-1 if d == place else 1 for d in range(len(xi)))) for x, place in zip(xi, places)]


def diag(v, k=0):
    v = _tensor(v)
    if v.ndim == 2:
        return diagonal(v, k)
    n = v.shape[0] + _builtins.abs(k)
    first = _core.reshape(v, (-1, 1)) if k >= 0 else _core.reshape(v, (1, -1))
    wide = _f.pad(v, (k, 0) if k > 0 else (0, -k) if k < 0 else (0, 0)) if k else v
    return _core.select(eye(n, k=k, dtype=bool_), _core.broadcast_to(_core.reshape(wide, (1, n)), (n, n)), _core.full((n, n), 0, v.dtype))


def diagflat(v, k=0):
    return diag(_core.reshape(_tensor(v), (-1,)), k)


def diagonal(a, offset=0, axis1=0, axis2=1):
    return _f.diagonal(_tensor(a), offset, axis1, axis2)


def trace(a, offset=0, axis1=0, axis2=1, dtype=None):
    return _tensor(a).trace(offset, axis1, axis2, dtype)


def tri(N, M=None, k=0, dtype=float32):
    return tril(ones((N, N if M is None else M), dtype), k)


def tril(m, k=0):
    return _f.tril(_tensor(m), k)


def triu(m, k=0):
    return _f.triu(_tensor(m), k)


def tril_indices(n, k=0, m=None):
    pairs = [(i, j) for i in range(n) for j in range(n if m is None else m) if j <= i + k]
    return tuple(Tensor([p[d] for p in pairs], int32) for d in (0, 1))


def triu_indices(n, k=0, m=None):
    pairs = [(i, j) for i in range(n) for j in range(n if m is None else m) if j >= i + k]
    return tuple(Tensor([p[d] for p in pairs], int32) for d in (0, 1))


# Shapes

def reshape(x, new_shape):
    return _core.reshape(_tensor(x), new_shape)


def ravel(x):
    return _core.reshape(_tensor(x), (-1,))


def transpose(a, axes=None):
    a = _tensor(a)
    return _core.transpose(a, tuple(d % a.ndim for d in axes) if axes is not None else tuple(reversed(range(a.ndim))))


def swapaxes(x, axis1, axis2):
    return _core.swapaxes(_tensor(x), axis1, axis2)


def moveaxis(a, source, destination):
    return _f.movedim(_tensor(a), source, destination)


def rollaxis(x, axis, start=0):
    axis %= x.ndim
    start = start + x.ndim if start < 0 else start
    return moveaxis(x, axis, start - 1 if axis < start else start)


def expand_dims(a, axis):
    a = _tensor(a)
    for d in sorted((axis,) if isinstance(axis, int) else axis):
        a = _f.expand_dims(a, d)
    return a


def squeeze(a, axis=None):
    return _f.squeeze(_tensor(a), axis)


def broadcast_to(array, shape):
    return _core.broadcast_to(_tensor(array), shape)


def broadcast_arrays(*args):
    args = [_tensor(a) for a in args]
    shape = _functools.reduce(_core.broadcast_shapes, [a.shape for a in args])
    return [_core.broadcast_to(a, shape) for a in args]


def concatenate(arrays, axis=0):
    arrays = [_tensor(a) for a in arrays]
    if axis is None:
        arrays, axis = [ravel(a) for a in arrays], 0
    return _f.cat(tuple(arrays), axis)


def append(arr, values, axis=None):
    return concatenate((arr, values), axis)


def stack(arrays, axis=0):
    return _f.stack(tuple(_tensor(a) for a in arrays), axis)


def atleast_1d(*arys):
    made = [reshape(a, (1,)) if _tensor(a).ndim == 0 else _tensor(a) for a in arys]
    return made[0] if len(made) == 1 else made


def atleast_2d(*arys):
    made = [reshape(a, (1, -1)) if _tensor(a).ndim < 2 else _tensor(a) for a in arys]
    return made[0] if len(made) == 1 else made


def atleast_3d(*arys):
    def one(a):
        a = _tensor(a)
        return {0: (1, 1, 1), 1: (1,) + a.shape + (1,), 2: a.shape + (1,)}.get(a.ndim, a.shape)
    made = [reshape(a, one(a)) for a in arys]
    return made[0] if len(made) == 1 else made


def vstack(tup):
    return concatenate([atleast_2d(a) for a in tup], 0)


def hstack(tup):
    made = [atleast_1d(a) for a in tup]
    return concatenate(made, 0 if made[0].ndim == 1 else 1)


def dstack(tup):
    return concatenate([atleast_3d(a) for a in tup], 2)


def column_stack(tup):
    return concatenate([reshape(a, (-1, 1)) if _tensor(a).ndim < 2 else _tensor(a) for a in tup], 1)


def _cuts(n, indices):
    if isinstance(indices, int):
        return None
    return [0] + [_builtins.min(i if i >= 0 else n + i, n) for i in indices] + [n]


def array_split(x, indices_or_sections, axis=0):
    n = x.shape[axis]
    if isinstance(indices_or_sections, int):
        size, more = divmod(n, indices_or_sections)
        bounds = [0]
        for i in range(indices_or_sections):
            bounds.append(bounds[-1] + size + (i < more))
    else:
        bounds = _cuts(n, indices_or_sections)
    at = axis % x.ndim
    return tuple(x[(slice(None),) * at + (slice(a, b),)] for a, b in zip(bounds, bounds[1:]))


def split(x, indices_or_sections, axis=0):
    if isinstance(indices_or_sections, int) and x.shape[axis] % indices_or_sections:
        raise ValueError("array split does not result in an equal division")
    return array_split(x, indices_or_sections, axis)


def vsplit(x, indices_or_sections):
    return split(x, indices_or_sections, 0)


def hsplit(x, indices_or_sections):
    return split(x, indices_or_sections, 0 if x.ndim == 1 else 1)


def dsplit(x, indices_or_sections):
    return split(x, indices_or_sections, 2)


def tile(a, reps):
    return _f.tile(_tensor(a), (reps,) if isinstance(reps, int) else tuple(reps))


def repeat(a, repeats, axis=None):
    a = _tensor(a)
    return _f.repeat_interleave(ravel(a) if axis is None else a, repeats, 0 if axis is None else axis)


def flip(m, axis=None):
    m = _tensor(m)
    return _f.flip(m, tuple(range(m.ndim)) if axis is None else (axis,) if isinstance(axis, int) else tuple(axis))


def fliplr(m):
    return flip(m, 1)


def flipud(m):
    return flip(m, 0)


def roll(a, shift, axis=None):
    a = _tensor(a)
    if axis is None and not isinstance(shift, int):
        shift = _builtins.sum(shift)
    return reshape(_f.roll(ravel(a), shift, 0), a.shape) if axis is None else _f.roll(a, shift, axis)


def rot90(a, k=1, axes=(0, 1)):
    return _f.rot90(_tensor(a), k, axes)


def pad(arr, pad_width, mode="constant", stat_length=None, constant_values=0, end_values=0, reflect_type="even"):
    arr = _tensor(arr)
    widths = [(pad_width, pad_width)] * arr.ndim if isinstance(pad_width, int) else [tuple(pad_width)] * arr.ndim \
        if isinstance(pad_width[0], int) else [tuple(w) for w in pad_width]
    flat = [w for pair in reversed(widths) for w in pair]
    if mode in ("maximum", "minimum", "mean", "median", "linear_ramp") or reflect_type != "even":
        from mindspore.numpy_more import padded
        return padded(arr, widths, mode, stat_length, end_values, reflect_type)
    return _f.pad(arr, flat, mode, constant_values) if mode == "constant" else _f.pad(arr, flat, {"edge": "replicate"}.get(mode, mode))


# Reductions

def _reduced(name):
    function = getattr(_f, name)

    def call(a, axis=None, dtype=None, keepdims=False, out=None, **options):
        return _result(function(_tensor(a), axis, keepdims) if axis is not None or keepdims else function(_tensor(a)), dtype)
    return call


def sum(a, axis=None, dtype=None, keepdims=False, initial=None):
    a = _tensor(a)
    total = _core.reduce("add", a if a.dtype.is_float else _core.convert(a, int64), axis, keepdims)
    return _result(total if initial is None else _core.add(total, initial), dtype)


def mean(a, axis=None, keepdims=False, dtype=None):
    a = _tensor(a)
    a = a if a.dtype.is_float else _core.convert(a, float32)
    return _result(_f.mean(a, axis, keepdims), dtype)


def _chosen(name, a, initial, where):
    if where is True:
        return _tensor(a)
    if initial is None:
        raise ValueError(f"For '{name}', 'initial' must be given where 'where' is.")
    return _core.select(_tensor(where), _tensor(a), initial)


def amax(a, axis=None, keepdims=False, initial=None, where=True):
    best = _core.reduce("max", _chosen("amax", a, initial, where), axis, keepdims)
    return best if initial is None else _f.maximum(best, initial)


def amin(a, axis=None, keepdims=False, initial=None, where=True):
    best = _core.reduce("min", _chosen("amin", a, initial, where), axis, keepdims)
    return best if initial is None else _f.minimum(best, initial)


max, min = amax, amin


def prod(a, axis=None, dtype=None, keepdims=False, initial=None):
    made = _f.prod(_tensor(a), axis, keepdims)
    return _result(made if initial is None else _core.mul(made, initial), dtype)


def var(x, axis=None, ddof=0, keepdims=False):
    return _f.var(_as_float(x), axis, ddof, keepdims)


def std(x, axis=None, ddof=0, keepdims=False):
    return _f.sqrt(var(x, axis, ddof, keepdims))


def _as_float(x):
    x = _tensor(x)
    return x if x.dtype.is_float else _core.convert(x, float32)


def _no_out(name, out):
    if out is not None:
        raise NotImplementedError(f"For '{name}', 'out' must be None: a result is a new tensor.")


def all(a, axis=None, out=None, keepdims=False):
    _no_out("all", out)
    return _core.reduce("and", _core.convert(_tensor(a), bool_), axis, keepdims)


def any(a, axis=None, out=None, keepdims=False):
    _no_out("any", out)
    return _core.reduce("or", _core.convert(_tensor(a), bool_), axis, keepdims)


sometrue = any


def ptp(x, axis=None, out=None, keepdims=False):
    _no_out("ptp", out)
    return _core.sub(amax(x, axis, keepdims), amin(x, axis, keepdims))


def average(x, axis=None, weights=None, returned=False):
    x = _as_float(x)
    if weights is not None and _tensor(weights).ndim == 1 < x.ndim and isinstance(axis, int):
        weights = _core.reshape(_tensor(weights), tuple(-1 if d == axis % x.ndim else 1 for d in range(x.ndim)))
    weights = _core.full(x.shape, 1, x.dtype) if weights is None else _core.broadcast_to(_as_float(weights), x.shape)
    total = sum(weights, axis)
    made = _core.div(sum(_core.mul(x, weights), axis), total)
    return (made, total) if returned else made


def count_nonzero(x, axis=None, keepdims=False):
    return _core.reduce("add", _core.convert(_core.compare("NE", _tensor(x), 0), int32), axis, keepdims)


def argmax(a, axis=None):
    return _f.argmax(_tensor(a), axis)


def argmin(a, axis=None):
    return _f.argmin(_tensor(a), axis)


def cumsum(a, axis=None, dtype=None):
    a = _tensor(a)
    a = _whole(a)
    return _result(_f.cumsum(ravel(a) if axis is None else a, 0 if axis is None else axis), dtype)


def _whole(a):
    """Integers of 32 bits at least."""
    return _core.convert(a, int32) if a.element in ("bool", "i8", "u8", "i16") else a


def cumprod(a, axis=None, dtype=None):
    a = _whole(_tensor(a))
    return _result(_f.cumprod(ravel(a) if axis is None else a, 0 if axis is None else axis), dtype)


def norm(x, ord=None, axis=None, keepdims=False):
    x = _as_float(x)
    return _f.sqrt(sum(_core.mul(x, x), axis, keepdims=keepdims)) if ord in (None, 2) else _f.norm(x, ord, axis, keepdims)


# Choosing

def where(condition, x=None, y=None):
    if x is None:
        return tuple(_tensor(condition).nonzero()[:, d] for d in range(_tensor(condition).ndim))
    return _core.select(_tensor(condition), x if isinstance(x, (Tensor, int, float)) else _tensor(x),
                        y if isinstance(y, (Tensor, int, float)) else _tensor(y))


def clip(x, xmin, xmax, out=None, where=True, dtype=None):
    x = _tensor(x)
    made = x if xmin is None else _f.maximum(x, xmin)
    made = made if xmax is None else _f.minimum(made, xmax)
    return _result(made if where is True else _core.select(_tensor(where), made, x if out is None else out), dtype)


def take(a, indices, axis=None, mode="clip"):
    a, indices = _tensor(a), _tensor(indices)
    a, axis = (ravel(a), 0) if axis is None else (a, axis)
    n = a.shape[axis]
    if mode not in ("raise", "wrap", "clip"):
        raise ValueError(f"For 'take', the mode must be one of 'raise', 'wrap' and 'clip', but got {mode!r}.")
    return _f.gather(a, _f.floor_mod(indices, n) if mode == "wrap" else _f.clamp(indices, -n if mode == "raise" else 0, n - 1), axis)


def take_along_axis(arr, indices, axis):
    arr, indices = _tensor(arr), _tensor(indices)
    if axis is None:
        return _f.gather_elements(ravel(arr), 0, ravel(indices))
    axis %= arr.ndim
    shape = tuple(n if d == axis else arr.shape[d] for d, n in enumerate(indices.shape))
    return _f.gather_elements(arr, axis, _core.broadcast_to(indices, shape))


def select(condlist, choicelist, default=0):
    result = default
    for c, v in reversed(list(zip(condlist, choicelist))):
        result = where(_tensor(c), _tensor(v), result)
    return result


def isin(element, test_elements, invert=False):
    element, tests = _tensor(element), ravel(_tensor(test_elements))
    found = any(_core.compare("EQ", _core.reshape(element, element.shape + (1,)), tests), -1)
    return _f.logical_not(found) if invert else found




def in1d(ar1, ar2, invert=False):
    return isin(ravel(ar1), ravel(ar2), invert)


def searchsorted(a, v, side="left", sorter=None):
    a = _tensor(a) if sorter is None else _f.gather(_tensor(a), _tensor(sorter), 0)
    return _core.convert(_f.searchsorted(a, _tensor(v), right=side == "right"), int32)


def digitize(x, bins, right=False):
    return searchsorted(bins, x, "left" if right else "right")


def unique(x, return_inverse=False):
    import numpy as host
    flat = _tensor(x).asnumpy().reshape(-1)
    values, first, inverse = host.unique(flat, return_index=True, return_inverse=True)
    order = host.argsort(first)  # in the order in which they appear
    made = Tensor(values[order])
    return (made, Tensor(host.argsort(order)[inverse.reshape(-1)].astype("int32"))) if return_inverse else made


def bincount(x, weights=None, minlength=0, length=None):
    return _f.bincount(_tensor(x), weights, minlength) if length is None else _f.bincount(_tensor(x), weights, length)[:length]


# Algebra

def dot(a, b):
    a, b = _tensor(a), _tensor(b)
    if a.ndim == 0 or b.ndim == 0:
        return _core.mul(a, b)
    return _core.matmul(a, b) if b.ndim < 2 or a.ndim < 2 else _f.tensor_dot(a, b, ((a.ndim - 1,), (b.ndim - 2,)))


def tensordot(a, b, axes=2):
    return _f.tensor_dot(_tensor(a), _tensor(b), axes)


def cov(m, y=None, rowvar=True, bias=False, ddof=None, fweights=None, aweights=None, dtype=None):
    rows = [r if rowvar or r.shape[0] == 1 else transpose(r) for r in (atleast_2d(_as_float(v)) for v in (m, y) if v is not None)]
    made = _f.cov(rows[0] if y is None else concatenate(rows, 0), correction=ddof if ddof is not None else 0 if bias else 1,
                  fweights=fweights, aweights=aweights)
    return _result(squeeze(made), dtype)


def corrcoef(x, y=None, rowvar=True, dtype=None):
    c = atleast_2d(cov(x, y, rowvar, dtype=dtype))
    d = _f.sqrt(diagonal(c))
    return _core.div(_core.div(c, _core.reshape(d, (-1, 1))), d)


def polyval(p, x):
    p, x = ravel(_as_float(p)), _tensor(x)
    total = _core.full(x.shape, 0, x.dtype if x.dtype.is_float else float32)
    for i in range(p.shape[0]):
        total = _core.add(_core.mul(total, x), p[i])
    return total


def gradient(f, *varargs, axis=None, edge_order=1):
    if edge_order != 1:
        raise NotImplementedError("edge_order != 1 not implemented")
    f = _as_float(f)
    axes = range(f.ndim) if axis is None else [axis % f.ndim]
    made = []
    for d in axes:
        def part(a, b, d=d):
            return f[(slice(None),) * d + (slice(a, b),)]
        inner_part = _core.div(_core.sub(part(2, None), part(0, -2)), 2.0)
        made.append(concatenate((_core.sub(part(1, 2), part(0, 1)), inner_part, _core.sub(part(-1, None), part(-2, -1))), d))
    made = [_core.div(m, float(varargs[0])) if varargs else m for m in made]
    return made[0] if len(made) == 1 else made


def interp(x, xp, fp, left=None, right=None):
    x, xp, fp = (_as_float(v) for v in (x, xp, fp))
    at = _f.clip_by_value(_f.searchsorted(xp, x), 1, xp.shape[0] - 1)
    x0, x1, y0, y1 = take(xp, _core.sub(at, 1)), take(xp, at), take(fp, _core.sub(at, 1)), take(fp, at)
    value = _core.add(y0, _core.mul(_core.div(_core.sub(x, x0), _core.sub(x1, x0)), _core.sub(y1, y0)))
    value = where(_core.compare("LT", x, xp[0]), fp[0] if left is None else float(left), value)
    return where(_core.compare("GT", x, xp[-1]), fp[-1] if right is None else float(right), value)


def ediff1d(ary, to_end=None, to_begin=None):
    a = ravel(_tensor(ary))
    return concatenate([_core.convert(ravel(_tensor(p)), a.dtype) for p in (to_begin, _core.sub(a[1:], a[:-1]), to_end) if p is not None], 0)


def cbrt(x, dtype=None):
    x = _as_float(x)
    return _result(_core.mul(_f.sign(x), _core.pow_(_f.abs(x), 1.0 / 3.0)), dtype)


def divmod_(x1, x2):
    return _core.floor_div(x1, x2), _core.floor_mod(x1, x2)


def nanstd(a, axis=None, dtype=None, ddof=0, keepdims=False):
    return _f.sqrt(nanvar(a, axis, dtype, ddof, keepdims))


def nanvar(a, axis=None, dtype=None, ddof=0, keepdims=False):
    a = _core.convert(_tensor(a), float32)
    good = _f.logical_not(_f.isnan(a))
    n = sum(_core.convert(good, a.dtype), axis, keepdims=True)
    zero = _core.select(good, a, 0.0)
    d = _core.select(good, _core.sub(zero, _core.div(sum(zero, axis, keepdims=True), n)), 0.0)
    return _core.div(sum(_core.mul(d, d), axis, keepdims=keepdims), _core.sub(sum(_core.convert(good, a.dtype), axis, keepdims=keepdims), ddof))


def array_equal(a1, a2, equal_nan=False):
    a1, a2 = _tensor(a1), _tensor(a2)
    if a1.shape != a2.shape:
        return Tensor(False)
    same = _core.compare("EQ", a1, a2)
    return all(_f.logical_or(same, _f.logical_and(_f.isnan(a1), _f.isnan(a2))) if equal_nan and a1.dtype.is_float and a2.dtype.is_float else same)


# Asking

def shape(a):
    return _tensor(a).shape


def size(a, axis=None):
    return _tensor(a).size if axis is None else _tensor(a).shape[axis]


def isscalar(element):
    return isinstance(element, (int, float, bool, str))


_LETTERS = {"i1": "int8", "i2": "int16", "i4": "int32", "i8": "int64", "u1": "uint8", "u2": "uint16", "u4": "uint32", "u8": "uint64",
            "f2": "float16", "f4": "float32", "f8": "float64", "b": "bool_"}


def result_type(*arrays):
    return _core._common([_core.as_type(_LETTERS.get(a, a)) if not isinstance(a, Tensor) else a.dtype for a in arrays])


promote_types = result_type


# Random

def rand(*shape, dtype=float32):
    return _core.convert(_f.rand(*shape) if shape else _f.rand(1), _core.as_type(dtype))


def randn(*shape, dtype=float32):
    return _core.convert(_f.randn(*shape) if shape else _f.randn(1), _core.as_type(dtype))


def randint(minval, maxval=None, shape=None, dtype=int32):
    low, high = (0, minval) if maxval is None else (minval, maxval)
    return _core.convert(_f.randint(low, high, (shape,) if isinstance(shape, int) else tuple(shape or (1,))), _core.as_type(dtype))


globals()["divmod"] = divmod_
_refused.guard(globals(), [_n for _n in dir() if not _n.startswith("_")])


def __getattr__(name):
    from mindspore.ops._names import missing
    if not name.startswith("_"):
        from mindspore import numpy_more
        if name in numpy_more.__all__:
            return getattr(numpy_more, name)
    return missing("mindspore.numpy", name, globals())
