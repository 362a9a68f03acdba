# SPDX-License-Identifier: Apache-2.0
"""Rarer functions of jax.numpy, made of the others."""
import math
import operator
from jax import _core, _types
from jax._core import asarray as _asarray
from jax._names import refuse as _refuse
from jax._types import as_dtype, int32

__all__ = """nextafter isin gradient trapezoid vander geomspace cov corrcoef put_along_axis ix_ mgrid ogrid r_ c_ unravel_index
ravel_multi_index fill_diagonal diag_indices diag_indices_from diagflat flatnonzero extract compress choose place packbits unpackbits i0 cumulative_sum cumulative_prod
ediff1d gcd lcm isneginf isposinf isreal iscomplex isrealobj real imag conj conjugate polyfit polyadd polysub polymul polyder polyint matvec vecmat
resize atleast_3d hamming hanning blackman bartlett apply_along_axis array_equiv partition argpartition bitwise_count bitwise_invert
bitwise_left_shift bitwise_right_shift can_cast correlate dsplit fromfunction ldexp frexp lexsort piecewise block nanstd nanvar nancumsum
nancumprod nanprod nanmedian nanquantile nanpercentile tril_indices_from triu_indices_from trim_zeros union1d intersect1d setdiff1d
spacing""".split()


def _numpy_of(x, name):
    """The numbers of an array whose result's size they decide."""
    import numpy
    x = _asarray(x)
    if x.is_variable or not x.has_data:
        raise NotImplementedError(f"jnp.{name}: the size of its result depends on values, so that it is not there in a graph")
    return numpy.asarray(x)


def nextafter(x, y):
    from jax import lax
    return lax.nextafter(x, y)


def spacing(x):
    import jax.numpy as jnp
    x, = _core.promoted(x, to_float=True)
    return jnp.copysign(nextafter(jnp.abs(x), jnp.inf) - jnp.abs(x), x)


def isin(element, test_elements, assume_unique=False, invert=False, *, method="auto"):
    import jax.numpy as jnp
    x, wanted = _core.promoted(element, test_elements)
    found = jnp.any(x[..., None] == wanted.flatten(), -1)
    return ~found if invert else found


# Differences and sums

def gradient(f, *varargs, axis=None, edge_order=None):
    import jax.numpy as jnp
    _refuse("jnp.gradient", "edge_order", edge_order, None, 1)
    f, = _core.promoted(f, to_float=True)
    axes = tuple(range(f.ndim)) if axis is None else (axis,) if isinstance(axis, int) else tuple(axis)
    steps = list(varargs) * (len(axes) if len(varargs) == 1 else 1) or [1.0] * len(axes)
    made = []
    for d, step in zip(axes, steps):
        step = _asarray(step)
        if step.ndim:
            raise NotImplementedError("jnp.gradient: distances of their own for each place are not there in Gantry; give one number an axis")
        x = jnp.moveaxis(f, d, 0)
        inner = (x[2:] - x[:-2]) * 0.5
        made.append(jnp.moveaxis(jnp.concatenate([x[1:2] - x[:1], inner, x[-1:] - x[-2:-1]]), 0, d) / step)
    return made[0] if len(axes) == 1 and (axis is None or isinstance(axis, int)) else made


def trapezoid(y, x=None, dx=1.0, axis=-1):
    import jax.numpy as jnp
    y, = _core.promoted(y, to_float=True)
    y = jnp.moveaxis(y, axis, -1)
    if x is not None:
        x = _asarray(x)
        dx = jnp.diff(x) if x.ndim == 1 else jnp.diff(jnp.moveaxis(x, axis, -1))
    return 0.5 * jnp.sum(dx * (y[..., 1:] + y[..., :-1]), -1)


def ediff1d(ary, to_end=None, to_begin=None):
    import jax.numpy as jnp
    parts = [jnp.diff(_asarray(ary).flatten())]
    for value, first in ((to_begin, True), (to_end, False)):
        if value is not None:
            part = _core.convert(jnp.atleast_1d(value).flatten(), parts[0].dtype)
            parts = [part] + parts if first else parts + [part]
    return jnp.concatenate(parts)


def cumulative_sum(x, /, *, axis=None, dtype=None, include_initial=False):
    return _cumulative("cumsum", 0, x, axis, dtype, include_initial)


def cumulative_prod(x, /, *, axis=None, dtype=None, include_initial=False):
    return _cumulative("cumprod", 1, x, axis, dtype, include_initial)


def _cumulative(name, first, x, axis, dtype, include_initial):
    import jax.numpy as jnp
    x = _asarray(x)
    if axis is None and x.ndim != 1:
        raise ValueError(f"The {name} over an array of {x.ndim} dimensions requires an axis")
    axis = 0 if axis is None else axis % x.ndim
    made = getattr(jnp, name)(x, axis=axis, dtype=dtype)
    shape = list(made.shape)
    shape[axis] = 1
    return jnp.concatenate([jnp.full(shape, first, made.dtype), made], axis) if include_initial else made


# Without what is no number

def _filled(a, value):
    import jax.numpy as jnp
    a = _asarray(a)
    return jnp.where(jnp.isnan(a), value, a) if _types.is_float(a.dtype) else a


def nanprod(a, axis=None, keepdims=False):
    import jax.numpy as jnp
    return jnp.prod(_filled(a, 1), axis, keepdims=keepdims)


def nancumsum(a, axis=None, dtype=None):
    import jax.numpy as jnp
    return jnp.cumsum(_filled(a, 0), axis, dtype)


def nancumprod(a, axis=None, dtype=None):
    import jax.numpy as jnp
    return jnp.cumprod(_filled(a, 1), axis, dtype)


def nanvar(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False):
    import jax.numpy as jnp
    _refuse("jnp.nanvar", "out", out, None)
    a, = _core.promoted(a, to_float=True)
    a = a if dtype is None else a.astype(dtype)
    known = ~jnp.isnan(a)
    count = jnp.sum(known, axis, keepdims=True)
    mean = jnp.sum(_filled(a, 0), axis, keepdims=True) / count
    made = jnp.sum(jnp.where(known, a - mean, 0.0) ** 2, axis, keepdims=keepdims)
    count = count if keepdims else jnp.reshape(count, made.shape)
    return jnp.where(count > ddof, made / (count - ddof), jnp.nan)


def nanstd(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False):
    import jax.numpy as jnp
    return jnp.sqrt(nanvar(a, axis, dtype, out, ddof, keepdims))


def nanquantile(a, q, axis=None, out=None, overwrite_input=False, method="linear", keepdims=False):
    """Sorted, what is no number stands last; the place counts among the others."""
    import jax.numpy as jnp
    _refuse("jnp.nanquantile", "method", method, "linear")
    _refuse("jnp.nanquantile", "out", out, None)
    a, q = _core.promoted(a, q, to_float=True)
    shape = [1] * a.ndim if axis is None else [1 if d == axis % a.ndim else n for d, n in enumerate(a.shape)]
    a = a.flatten() if axis is None else jnp.moveaxis(a, axis, -1)
    count = jnp.sum(~jnp.isnan(a), -1)
    a = jnp.sort(a, -1)

    def of(q):
        place = q * (count - 1)
        low = jnp.clip(jnp.floor(place), 0, None).astype(int32)
        high = jnp.clip(jnp.ceil(place), 0, None).astype(int32)
        below, above = (jnp.take_along_axis(a, i[..., None], -1)[..., 0] for i in (low, high))
        made = below * (1 - (place - low)) + above * (place - low)
        made = jnp.where(count == 0, jnp.nan, made)
        return jnp.reshape(made, shape) if keepdims else made
    return of(q) if q.ndim == 0 else jnp.stack([of(p) for p in q])


def nanpercentile(a, q, axis=None, out=None, overwrite_input=False, method="linear", keepdims=False):
    return nanquantile(a, _asarray(q) / 100, axis, out, overwrite_input, method, keepdims)


def nanmedian(a, axis=None, out=None, overwrite_input=False, keepdims=False):
    return nanquantile(a, 0.5, axis, out, overwrite_input, keepdims=keepdims)


# Statistics

def cov(m, y=None, rowvar=True, bias=False, ddof=None, fweights=None, aweights=None):
    import jax.numpy as jnp
    _refuse("jnp.cov", "fweights", fweights, None)
    x, = _core.promoted(m, to_float=True)
    x = jnp.atleast_2d(x)
    x = x.T if not rowvar and x.shape[0] != 1 else x
    if y is not None:
        other = jnp.atleast_2d(_core.promoted(y, to_float=True)[0])
        x = jnp.concatenate([x, other.T if not rowvar and other.shape[0] != 1 else other])
    ddof = (0 if bias else 1) if ddof is None else ddof
    if aweights is None:
        x = x - jnp.mean(x, 1, keepdims=True)
        return jnp.squeeze(x @ x.T / (x.shape[1] - ddof))
    w = _core.promoted(aweights, to_float=True)[0]
    total = jnp.sum(w)
    x = x - jnp.sum(x * w, 1, keepdims=True) / total
    return jnp.squeeze((x * w) @ x.T / (total if ddof == 0 else total - ddof * jnp.sum(w * w) / total))


def corrcoef(x, y=None, rowvar=True):
    import jax.numpy as jnp
    c = cov(x, y, rowvar)
    if c.ndim == 0:
        return c / c
    size = jnp.sqrt(jnp.diagonal(c))
    return jnp.clip(c / size[:, None] / size[None, :], -1, 1)


def correlate(a, v, mode="valid", *, precision=None, preferred_element_type=None):
    import jax.numpy as jnp
    a, v = _core.promoted(a, v)
    return jnp.convolve(a, v[::-1], mode, preferred_element_type=preferred_element_type)


# Indices

def ix_(*args):
    import jax.numpy as jnp
    made = []
    for i, a in enumerate(args):
        a = _asarray(a)
        a = jnp.nonzero(a)[0] if a.element == "bool" else a
        made.append(jnp.reshape(a, [a.size if d == i else 1 for d in range(len(args))]))
    return tuple(made)


class _Grid:
    def __init__(self, sparse):
        self.sparse = sparse

    def __getitem__(self, key):
        import jax.numpy as jnp
        single = isinstance(key, slice)
        axes = [_range_of(k) for k in ((key,) if single else key)]
        if single:
            return axes[0]
        made = jnp.meshgrid(*axes, indexing="ij", sparse=self.sparse)
        return list(made) if self.sparse else jnp.stack(made)


def _range_of(s):
    """A slice whose step is a complex number counts points."""
    import jax.numpy as jnp
    start, step = s.start or 0, s.step if s.step is not None else 1
    if isinstance(step, complex):
        return jnp.linspace(start, s.stop, int(abs(step)))
    return jnp.arange(start, s.stop, step)


mgrid, ogrid = _Grid(False), _Grid(True)


class _Joined:
    def __init__(self, columns):
        self.columns = columns

    def __getitem__(self, key):
        import jax.numpy as jnp
        parts = [jnp.atleast_1d(_range_of(k) if isinstance(k, slice) else k) for k in (key if isinstance(key, tuple) else (key,))]
        if self.columns:
            return jnp.concatenate([p[:, None] if p.ndim == 1 else p for p in parts], -1)
        return jnp.concatenate(parts)


r_, c_ = _Joined(False), _Joined(True)


def unravel_index(indices, shape):
    import jax.numpy as jnp
    shape = (shape,) if isinstance(shape, int) else tuple(shape)
    rest, found = _asarray(indices), []
    total = _core.product(shape)
    rest = jnp.where(rest < 0, rest + total, rest)
    rest = jnp.clip(rest, 0, total - 1)
    for n in reversed(shape):
        found.insert(0, rest % n)
        rest = rest // n
    return tuple(found)


def ravel_multi_index(multi_index, dims, mode="raise", order="C"):
    import jax.numpy as jnp
    _refuse("jnp.ravel_multi_index", "order", order, "C")
    if mode not in ("clip", "wrap", "raise"):
        raise ValueError(f"invalid mode={mode!r}. Expected 'raise', 'wrap', or 'clip'")
    made = 0
    for i, n in zip(multi_index, dims):
        i = _asarray(i)
        made = made * n + (jnp.clip(i, 0, n - 1) if mode == "clip" else i % n if mode == "wrap" else i)
    return made


def put_along_axis(arr, indices, values, axis, inplace=True, *, mode=None):
    import jax.numpy as jnp
    _refuse("jnp.put_along_axis", "inplace", inplace, False)
    x, indices = _asarray(arr), _asarray(indices)
    axis %= x.ndim
    index = [indices if d == axis else jnp.reshape(jnp.arange(n), [n if e == d else 1 for e in range(x.ndim)])
             for d, n in enumerate(indices.shape)]
    return x.at[tuple(index)].set(values, mode=mode)


def fill_diagonal(a, val, wrap=False, *, inplace=True):
    import jax.numpy as jnp
    _refuse("jnp.fill_diagonal", "inplace", inplace, False)
    _refuse("jnp.fill_diagonal", "wrap", wrap, False)
    a = _asarray(a)
    i = jnp.arange(min(a.shape))
    return a.at[(i,) * a.ndim].set(val if _asarray(val).ndim == 0 else jnp.ravel(val))


def diag_indices(n, ndim=2):
    import jax.numpy as jnp
    return (jnp.arange(n),) * ndim


def diag_indices_from(arr):
    return diag_indices(_asarray(arr).shape[0], _asarray(arr).ndim)


def diagflat(v, k=0):
    import jax.numpy as jnp
    return jnp.diag(_asarray(v).flatten(), k)


def tril_indices_from(arr, k=0):
    import jax.numpy as jnp
    return jnp.tril_indices(arr.shape[-2], k, arr.shape[-1])


def triu_indices_from(arr, k=0):
    import jax.numpy as jnp
    return jnp.triu_indices(arr.shape[-2], k, arr.shape[-1])


def flatnonzero(a, *, size=None, fill_value=None):
    import jax.numpy as jnp
    return jnp.nonzero(_asarray(a).flatten(), size=size, fill_value=fill_value)[0]


def extract(condition, arr, *, size=None, fill_value=0):
    return compress(_asarray(condition).flatten(), _asarray(arr).flatten(), size=size, fill_value=fill_value)


def compress(condition, a, axis=None, *, size=None, fill_value=0, out=None):
    import jax.numpy as jnp
    _refuse("jnp.compress", "out", out, None)
    a, condition = _asarray(a), _asarray(condition)
    a, axis = (a.flatten(), 0) if axis is None else (a, axis)
    places = jnp.nonzero(condition, size=size, fill_value=a.shape[axis])[0]
    return jnp.take(a, places, axis, mode="fill", fill_value=fill_value) if size is not None else jnp.take(a, places, axis)


def place(arr, mask, vals, *, inplace=True):
    import jax.numpy as jnp
    if inplace:
        raise ValueError("jax.numpy.place cannot modify arrays in-place, because JAX arrays are immutable. Pass inplace=False to instead return an "
                         "updated array.")
    arr, mask, vals = _asarray(arr), _asarray(mask), _asarray(vals).flatten()
    if not vals.size:
        raise ValueError("Cannot place values from an empty array")
    order = jnp.cumsum(mask.flatten().astype(int32)) - 1
    return jnp.where(mask.astype(bool), jnp.reshape(vals[order % vals.size], arr.shape), arr).astype(arr.dtype)


def packbits(a, axis=None, bitorder="big"):
    import jax.numpy as jnp
    a = _asarray(a) != 0
    a, axis = (a.flatten(), 0) if axis is None else (a, axis % a.ndim)
    a = jnp.moveaxis(a, axis, -1)
    a = jnp.pad(a, [(0, 0)] * (a.ndim - 1) + [(0, -a.shape[-1] % 8)])
    a = jnp.reshape(a, a.shape[:-1] + (-1, 8)).astype("uint8")
    places = jnp.arange(8, dtype="uint8")
    return jnp.moveaxis(jnp.sum(a << (7 - places if bitorder == "big" else places), -1, dtype="uint8"), -1, axis)


def unpackbits(a, axis=None, count=None, bitorder="big"):
    import jax.numpy as jnp
    a = _asarray(a)
    if a.element != "u8":
        raise TypeError("Expected an input array of unsigned byte data type")
    a, axis = (a.flatten(), 0) if axis is None else (a, axis % a.ndim)
    places = jnp.arange(8, dtype="uint8")
    bits = jnp.moveaxis(a, axis, -1)[..., None] >> (7 - places if bitorder == "big" else places) & 1
    bits = jnp.reshape(bits, bits.shape[:-2] + (-1,))
    if count is not None:
        more = count - bits.shape[-1]
        bits = jnp.pad(bits, [(0, 0)] * (bits.ndim - 1) + [(0, more)]) if count >= 0 and more > 0 else bits[..., :count]
    return jnp.moveaxis(bits, -1, axis)


def i0(x):
    from jax.scipy import special
    return special.i0(x)


def choose(a, choices, out=None, mode="raise"):
    import jax.numpy as jnp
    _refuse("jnp.choose", "out", out, None)
    a, choices = _asarray(a), [_asarray(c) for c in choices]
    n = len(choices)
    a = jnp.clip(a, 0, n - 1) if mode == "clip" else a % n if mode == "wrap" else a
    result = choices[0]
    for i, c in enumerate(choices[1:], 1):
        result = jnp.where(a == i, c, result)
    return jnp.broadcast_to(result, jnp.broadcast_shapes(a.shape, result.shape))


# Sets, whose sizes values decide

def _set_operation(name, function):
    def of(ar1, ar2, assume_unique=False, *, size=None, fill_value=None):
        _refuse(f"jnp.{name}", "size", size, None)
        _refuse(f"jnp.{name}", "fill_value", fill_value, None)
        import numpy
        a, b = _core.promoted(ar1, ar2)
        return _asarray(function(numpy, _numpy_of(a, name), _numpy_of(b, name)))
    of.__name__ = name
    return of


union1d = _set_operation("union1d", lambda np, a, b: np.union1d(a, b))
intersect1d = _set_operation("intersect1d", lambda np, a, b: np.intersect1d(a, b))
setdiff1d = _set_operation("setdiff1d", lambda np, a, b: np.setdiff1d(a, b))


def trim_zeros(filt, trim="fb"):
    import numpy
    return _asarray(numpy.trim_zeros(_numpy_of(filt, "trim_zeros"), trim))


# Integers and bits

def _gcd(a, b):
    from jax import lax
    import jax.numpy as jnp
    a, b = _core.aligned(a, b)
    if not _types.is_integer(a.dtype):
        raise ValueError("Arguments to jax.numpy.gcd must be integers.")
    return lax.while_loop(lambda c: jnp.any(c[1] != 0), lambda c: (jnp.where(c[1] != 0, c[1], c[0]), jnp.where(
        c[1] != 0, lax.rem(c[0], jnp.where(c[1] != 0, c[1], 1)), 0)), (jnp.abs(a), jnp.abs(b)))[0]


def gcd(x1, x2):
    return _gcd(x1, x2)


def lcm(x1, x2):
    import jax.numpy as jnp
    a, b = _core.aligned(x1, x2)
    d = _gcd(a, b)
    return jnp.where(d == 0, 0, jnp.abs(a) * (jnp.abs(b) // jnp.where(d == 0, 1, d)))


def bitwise_count(x):
    import jax.numpy as jnp
    x = _asarray(x)
    return _core.convert(_core.unary("popcnt", jnp.abs(x) if x.dtype.category == "int" else x), as_dtype("uint8"))


def bitwise_invert(x):
    return ~_asarray(x)


def bitwise_left_shift(x, y):
    return _asarray(x) << y


def bitwise_right_shift(x, y):
    return _asarray(x) >> y


def ldexp(x, n):
    import jax.numpy as jnp
    x, = _core.promoted(x, to_float=True)
    return x * jnp.exp2(_core.convert(_asarray(n), x.dtype))


def frexp(x):
    import jax.numpy as jnp
    x, = _core.promoted(x, to_float=True)
    plain = (x == 0) | ~jnp.isfinite(x)
    power = jnp.where(plain, 0.0, jnp.floor(jnp.log2(jnp.where(plain, 1.0, jnp.abs(x)))) + 1)
    fraction = jnp.where(plain, x, x * jnp.exp2(-power))
    return fraction, power.astype(int32)


# Parts of complex numbers, of which all that there are are real

def real(x):
    return _asarray(x)


conj = conjugate = real


def imag(x):
    import jax.numpy as jnp
    return jnp.zeros_like(_asarray(x))


def isreal(x):
    import jax.numpy as jnp
    return jnp.ones(_asarray(x).shape, bool)


def iscomplex(x):
    import jax.numpy as jnp
    return jnp.zeros(_asarray(x).shape, bool)


def isrealobj(x):
    return not isinstance(x, complex)


def isposinf(x):
    return _asarray(x) == float("inf")


def isneginf(x):
    return _asarray(x) == -float("inf")


# Polynomials

def _longer(a, b):
    import jax.numpy as jnp
    a, b = _core.promoted(jnp.atleast_1d(a), jnp.atleast_1d(b))
    n = max(a.shape[0], b.shape[0])
    return jnp.pad(a, (n - a.shape[0], 0)), jnp.pad(b, (n - b.shape[0], 0))


def polyadd(a1, a2):
    a, b = _longer(a1, a2)
    return a + b


def polysub(a1, a2):
    a, b = _longer(a1, a2)
    return a - b


def polymul(a1, a2, *, trim_leading_zeros=False):
    import jax.numpy as jnp
    _refuse("jnp.polymul", "trim_leading_zeros", trim_leading_zeros, False)
    return jnp.convolve(*_core.promoted(jnp.atleast_1d(a1), jnp.atleast_1d(a2), to_float=True))


def polyder(p, m=1):
    import jax.numpy as jnp
    p, = _core.promoted(p, to_float=True)
    for _ in range(m):
        p = p[:-1] * jnp.arange(p.shape[0] - 1, 0, -1)
    return p


def polyint(p, m=1, k=None):
    import jax.numpy as jnp
    p, = _core.promoted(p, to_float=True)
    k = jnp.broadcast_to(jnp.atleast_1d(0.0 if k is None else k), (m,))
    for i in range(m):
        p = jnp.concatenate([p / jnp.arange(p.shape[0], 0, -1), k[i:i + 1]])
    return p


def polyfit(x, y, deg, rcond=None, full=False, w=None, cov=False):
    import jax.numpy as jnp
    for name, value in (("full", full), ("cov", cov)):
        _refuse("jnp.polyfit", name, value, False)
    x, y = _core.promoted(x, y, to_float=True)
    columns = vander(x, deg + 1)
    if w is not None:
        w = _asarray(w)
        columns, y = columns * w[:, None], y * (w if y.ndim == 1 else w[:, None])
    sizes = jnp.sqrt(jnp.sum(columns * columns, 0))
    found = jnp.linalg.lstsq(columns / sizes, y, len(x) * jnp.finfo(x.dtype).eps if rcond is None else rcond)[0]
    return (found.T / sizes).T


def vander(x, N=None, increasing=False):
    import jax.numpy as jnp
    x = _asarray(x)
    powers = range(x.shape[0] if N is None else N)
    return jnp.stack([_core.integer_power(x, p) for p in (powers if increasing else reversed(powers))], 1)


# Shapes and windows

def geomspace(start, stop, num=50, endpoint=True, dtype=None, axis=0):
    import jax.numpy as jnp
    start, stop = _core.promoted(start, stop, to_float=True)
    made = jnp.sign(start) * jnp.exp(jnp.linspace(jnp.log(jnp.abs(start)), jnp.log(jnp.abs(stop)), num, endpoint, axis=axis))
    return made if dtype is None else made.astype(dtype)


def matvec(x1, x2, /):
    import jax.numpy as jnp
    return jnp.matmul(x1, _asarray(x2)[..., None])[..., 0]


def vecmat(x1, x2, /):
    import jax.numpy as jnp
    return jnp.matmul(_asarray(x1)[..., None, :], x2)[..., 0, :]


def resize(a, new_shape):
    import jax.numpy as jnp
    a = _asarray(a).flatten()
    new_shape = (new_shape,) if isinstance(new_shape, int) else tuple(new_shape)
    n = _core.product(new_shape)
    return jnp.reshape(jnp.tile(a, -(-n // max(a.shape[0], 1)))[:n], new_shape)


def atleast_3d(*arrays):
    import jax.numpy as jnp
    made = []
    for a in arrays:
        a = _asarray(a)
        shape = {0: (1, 1, 1), 1: (1,) + a.shape + (1,), 2: a.shape + (1,)}.get(a.ndim, a.shape)
        made.append(jnp.reshape(a, shape))
    return made[0] if len(made) == 1 else made


def dsplit(a, indices_or_sections):
    import jax.numpy as jnp
    return jnp.split(a, indices_or_sections, 2)


def block(arrays):
    import jax.numpy as jnp

    def depth(x):
        return 1 + max(map(depth, x)) if isinstance(x, list) else 0
    most = depth(arrays)

    def of(x, level):
        if not isinstance(x, list):
            return jnp.reshape(_asarray(x), (1,) * max(rank - _asarray(x).ndim, 0) + _asarray(x).shape)
        return jnp.concatenate([of(v, level + 1) for v in x], rank - most + level)

    def widest(x):
        return max(map(widest, x)) if isinstance(x, list) else _asarray(x).ndim
    rank = max(most, widest(arrays))
    return of(arrays, 0)


def fromfunction(function, shape, *, dtype=float, **kwargs):
    import jax.numpy as jnp
    return function(*(_core.convert(i, as_dtype(dtype)) for i in jnp.indices(shape)), **kwargs)


def apply_along_axis(func1d, axis, arr, *args, **kwargs):
    import jax
    import jax.numpy as jnp
    arr = _asarray(arr)
    axis %= arr.ndim
    function = lambda x: func1d(x, *args, **kwargs)  # noqa: E731
    for _ in range(arr.ndim - 1):
        function = jax.vmap(function, -1, -1)
    # Each vmap takes the last dimension, so that the one that is worked along stands first.
    made = function(jnp.moveaxis(arr, axis, 0))
    return jnp.moveaxis(made, list(range(made.ndim - arr.ndim + 1)), list(range(axis, axis + made.ndim - arr.ndim + 1)))


def piecewise(x, condlist, funclist, *args, **kw):
    import jax.numpy as jnp
    x = _asarray(x)
    condlist = [_asarray(c) for c in (condlist if isinstance(condlist, (list, tuple)) else [condlist])]
    if len(funclist) not in (len(condlist), len(condlist) + 1):
        raise ValueError(f"with {len(condlist)} condition(s), either {len(condlist)} or {len(condlist) + 1} functions are expected; got {len(funclist)}")

    def of(f):
        return f(x, *args, **kw) if callable(f) else f
    result = of(funclist[len(condlist)]) if len(funclist) > len(condlist) else jnp.zeros_like(x)
    for c, f in reversed(list(zip(condlist, funclist))):
        result = jnp.where(c, _core.convert(_asarray(of(f)), x.dtype), result)
    return _core.convert(_asarray(result), x.dtype)


def lexsort(keys, axis=-1):
    """By the last key first of all."""
    from jax import lax
    keys = [_asarray(k) for k in keys]
    axis %= keys[0].ndim
    made = lax.sort(tuple(reversed(keys)) + (_core.iota(int32, keys[0].shape, axis),), axis, num_keys=len(keys))
    return made[-1]


def partition(a, kth, axis=-1):
    """Sorted whole, which is one of its orders."""
    import jax.numpy as jnp
    return jnp.sort(a, axis)


def argpartition(a, kth, axis=-1):
    import jax.numpy as jnp
    return jnp.argsort(a, axis)


def array_equiv(a1, a2):
    import jax.numpy as jnp
    a, b = _asarray(a1), _asarray(a2)
    try:
        _core.broadcast_shapes(a.shape, b.shape)
    except ValueError:
        return _asarray(False)
    return jnp.all(a == b)


def can_cast(from_, to, casting="safe"):
    import numpy
    names = [as_dtype(kind).name for kind in (from_, to)]
    if "bfloat16" not in names or names[0] == names[1]:
        return names[0] == names[1] or numpy.can_cast(*names, casting)
    if casting in ("unsafe", "same_kind") and as_dtype(to).category == "float":
        return True
    return casting == "unsafe" or casting == "safe" and (names[1] in ("float32", "float64") or names[0] in ("bool", "int8", "uint8"))


def _window(name, terms):
    def window(M):
        import jax.numpy as jnp
        M = operator.index(M)
        if M <= 1:
            return jnp.ones((max(M, 0),))
        n = jnp.arange(M) * (2 * math.pi / (M - 1))
        return sum((c * jnp.cos(k * n) for k, c in enumerate(terms)), jnp.zeros((M,)))
    window.__name__ = name
    return window


hamming, hanning, blackman = _window("hamming", (0.54, -0.46)), _window("hanning", (0.5, -0.5)), _window("blackman", (0.42, -0.5, 0.08))


def bartlett(M):
    import jax.numpy as jnp
    if M <= 1:
        return jnp.ones((max(M, 0),))
    return 1 - jnp.abs(2 * jnp.arange(M) / (M - 1) - 1)
