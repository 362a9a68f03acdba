# SPDX-License-Identifier: Apache-2.0
"""jax.numpy."""
import builtins
import math as _math
import re as _re
from jax import _core, _types
from jax._array import Array as ndarray
from jax._core import asarray as _asarray, op as _op
from jax._types import (bool_, int8, int16, int32, int64, uint8, uint16, uint32, uint64, float16, float32, float64, bfloat16,
                        as_dtype as _as_dtype, dtype)
from jax._names import refuse as _refuse
from jax.dtypes import issubdtype, result_type
from jax.numpy._shape import *  # noqa: F401,F403
from jax.numpy._reduce import *  # noqa: F401,F403
from jax.numpy._linear import *  # noqa: F401,F403
from jax.numpy._more import *  # noqa: F401,F403

pi, e, inf, nan, newaxis, euler_gamma = _math.pi, _math.e, _math.inf, _math.nan, None, 0.5772156649015329
bool = bool_
int_, float_, uint = int32, float32, uint32


class floating:
    pass


class inexact(floating):
    pass


class integer:
    pass


class signedinteger(integer):
    pass


class unsignedinteger(integer):
    pass


class number:
    pass


class finfo:
    """Limits of a type of floating point."""

    def __init__(self, dtype):
        self.dtype = _types.element_type(dtype)
        bits, digits, high, low = {"float32": (32, 23, 127, -126), "float16": (16, 10, 15, -14),
                                   "bfloat16": (16, 7, 127, -126)}[self.dtype.name]
        self.bits, self.eps, self.tiny = bits, 2.0 ** -digits, 2.0 ** low
        self.smallest_normal = self.tiny
        self.max = (2.0 - 2.0 ** -digits) * 2.0 ** high
        self.min = -self.max


class iinfo:
    def __init__(self, dtype):
        self.dtype = _types.element_type(dtype)
        self.bits = 8 * self.dtype.itemsize
        signed = self.dtype.category == "int"
        self.min = -(1 << (self.bits - 1)) if signed else 0
        self.max = (1 << (self.bits - 1)) - 1 if signed else (1 << self.bits) - 1


def _float(name):
    def function(x):
        return _core.unary_float(name, x)
    function.__name__ = name
    return function


exp, expm1, log, log1p = _float("exponential"), _float("exponential_minus_one"), _float("log"), _float("log_plus_one")
sqrt, cbrt, tanh, sin, cos, tan = (_float(n) for n in ("sqrt", "cbrt", "tanh", "sine", "cosine", "tan"))
arcsin, arccos, arctan, sinh, cosh = (_float(n) for n in ("asin", "acos", "atan", "sinh", "cosh"))
arcsinh, arccosh, arctanh = _float("asinh"), _float("acosh"), _float("atanh")
asin, acos, atan, asinh, acosh, atanh = arcsin, arccos, arctan, arcsinh, arccosh, arctanh


def exp2(x):
    return exp(_core.binary("multiply", _core.promoted(x, to_float=True)[0], _math.log(2)))


def log2(x):
    return _core.divide(log(x), _math.log(2))


def log10(x):
    return _core.divide(log(x), _math.log(10))


def _binary(name, to_float=False):
    def function(a, b):
        return _core.binary(name, a, b, to_float)
    function.__name__ = name
    return function


add, subtract, multiply = _binary("add"), _binary("subtract"), _binary("multiply")
maximum, minimum = _binary("maximum"), _binary("minimum")
divide = true_divide = _core.divide
arctan2 = atan2 = _binary("atan2", True)
floor_divide, remainder, power = _core.floor_divide, _core.remainder, _core.power
mod, pow, float_power = remainder, power, _binary("power", True)


def fmod(a, b):
    a, b = _core.promoted(a, b)
    if _types.is_integer(a.dtype):  # by 0 nothing is left of a whole number
        b = _core.select(_core.compare("EQ", b, 0), _core.full((), 1, b.dtype), b)
    return _core.binary("remainder", a, b)


def _compare(direction):
    return lambda a, b: _core.compare(direction, a, b)


equal, not_equal, less, less_equal, greater, greater_equal = (_compare(d) for d in ("EQ", "NE", "LT", "LE", "GT", "GE"))


def _bitwise(name):
    return lambda a, b: _core.bitwise(name, a, b)


bitwise_and, bitwise_or, bitwise_xor, left_shift = (_bitwise(n) for n in ("and", "or", "xor", "shift_left"))


def right_shift(a, b):
    return _asarray(a) >> b


def _truth(x):
    return _core.convert(_asarray(x), bool_)


def logical_and(a, b):
    return _core.bitwise("and", _truth(a), _truth(b))


def logical_or(a, b):
    return _core.bitwise("or", _truth(a), _truth(b))


def logical_xor(a, b):
    return _core.bitwise("xor", _truth(a), _truth(b))


def logical_not(x):
    return _op("not", (_truth(x),))


def invert(x):
    return ~_asarray(x)


bitwise_not = invert


def negative(x):
    return _core.unary("negate", x)


def positive(x):
    return _asarray(x)


def abs(x):
    return _asarray(x).__abs__()


absolute = fabs = abs


def sign(x):
    return _core.unary("sign", x)


def square(x):
    return _core.power(x, 2)


def reciprocal(x):
    return _core.divide(1, x)


def _rounding(name):
    def function(x):
        x = _core.promoted(x, to_float=True)[0]
        return _op(name, (x,))
    return function


floor, ceil, rint = _rounding("floor"), _rounding("ceil"), _rounding("round_nearest_even")


def trunc(x):
    x = _core.promoted(x, to_float=True)[0]
    return where(x < 0, ceil(x), floor(x))


fix = trunc


def round(x, decimals=0):
    x = _asarray(x)
    if _types.is_integer(x.dtype):
        return x
    if decimals == 0:
        return _op("round_nearest_even", (x,))
    return _op("round_nearest_even", (x * 10.0 ** decimals,)) / 10.0 ** decimals


around = round


def isnan(x):
    return _op("is_nan", (_core.promoted(x, to_float=True)[0],))


def isfinite(x):
    return _op("is_finite", (_core.promoted(x, to_float=True)[0],))


def isinf(x):
    return abs(_core.promoted(x, to_float=True)[0]) == inf


def nan_to_num(x, copy=True, nan=0.0, posinf=None, neginf=None):
    x = _asarray(x)
    limits = finfo(x.dtype)
    x = where(isnan(x), nan, x)
    x = where(x == inf, limits.max if posinf is None else posinf, x)
    return where(x == -inf, limits.min if neginf is None else neginf, x)


def clip(x, min=None, max=None, *, a_min=None, a_max=None):
    low, high = min if a_min is None else a_min, max if a_max is None else a_max
    x = _asarray(x)
    if low is not None:
        x = maximum(low, x)
    return x if high is None else minimum(high, x)


def where(condition, x=None, y=None, *, size=None, fill_value=None):
    if x is None:
        return nonzero(condition, size=size, fill_value=fill_value)
    _refuse("jnp.where", "size", size, None)
    _refuse("jnp.where", "fill_value", fill_value, None)
    return _core.select(condition, x, y)


def select(conditions, choices, default=0):
    result = default
    for c, v in reversed(list(zip(conditions, choices))):
        result = where(c, v, result)
    return result


def nonzero(x, *, size=None, fill_value=None):
    """With a size also in a graph: the first so many places, then those of @fill_value or 0."""
    x = _truth(x)
    if size is None:
        import numpy
        return tuple(_asarray(i.astype("int32")) for i in numpy.nonzero(x._numpy()))
    count = _core.product(x.shape)
    flat = _core.reshape(x, (count,))
    place = cumsum(flat.astype(int32)) - 1
    first = full((size,), count, int32).at[where(flat, place, size)].set(arange(count, dtype=int32))
    found, rest = [], first
    for d in reversed(range(x.ndim)):
        found.insert(0, rest % x.shape[d])
        rest = rest // x.shape[d]
    fills = fill_value if isinstance(fill_value, tuple) else (0 if fill_value is None else fill_value,) * x.ndim
    return tuple(where(first == count, f, i).astype(int32) for i, f in zip(found, fills))


def heaviside(x, y):
    x, y = _core.promoted(x, y, to_float=True)
    return where(isnan(x), x, where(x > 0, 1.0, where(x == 0, y, 0.0))).astype(x.dtype)


def logaddexp(a, b):
    a, b = _core.aligned(a, b, to_float=True)
    above = a > b
    # Equal ones may be infinite: their difference is 0.
    gap = where((a == b) & isinf(a), 0.0, where(above, b - a, a - b))
    return where(above, a, b) + log1p(exp(gap))


def logaddexp2(a, b):
    a, b = _core.promoted(a, b, to_float=True)
    return logaddexp(a * _math.log(2), b * _math.log(2)) / _math.log(2)


def hypot(a, b):
    """By the larger one, so that no square overflows."""
    from jax import lax
    a, b = (abs(v) for v in _core.aligned(a, b, to_float=True))
    most, least = maximum(a, b), minimum(a, b)
    plain = logical_or(most == 0, most == inf)
    unit = lax.stop_gradient(where(plain, 1.0, most))
    return where(plain, most, unit * sqrt(square(where(plain, 1.0, most / unit)) + square(where(plain, 0.0, least / unit))))


def _one_is_nan(name, takes):
    """The other one where one is NaN; of equal ones the second."""
    def function(a, b):
        a, b = _core.aligned(a, b)
        return where(logical_or(isnan(b), takes(a, b)), a, b)
    function.__name__ = name
    return function


fmax, fmin = _one_is_nan("fmax", lambda a, b: a > b), _one_is_nan("fmin", lambda a, b: a < b)


def signbit(x):
    x = _core.promoted(x, to_float=True)[0]
    whole = {"f16": "i16", "bf16": "i16", "f32": "i32"}[x.element]
    return _core.compare("LT", _op("bitcast_convert", (x,), {"to": whole}), 0)


def copysign(a, b):
    a, b = _core.aligned(a, b, to_float=True)
    return where(signbit(b), -abs(a), abs(a))


def divmod(a, b):
    return floor_divide(a, b), remainder(a, b)


def modf(x):
    whole = trunc(x)
    return _core.promoted(x, to_float=True)[0] - whole, whole


def argwhere(x, *, size=None, fill_value=None):
    return stack(nonzero(x, size=size, fill_value=fill_value), 1)


def sinc(x):
    x = _core.promoted(x, to_float=True)[0]
    y = where(x == 0, 1.0, x) * pi
    return where(x == 0, 1.0, sin(y) / y)


def deg2rad(x):
    return _core.binary("multiply", x, pi / 180)


def rad2deg(x):
    return _core.binary("multiply", x, 180 / pi)


radians, degrees = deg2rad, rad2deg


def isclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False):
    a, b = _core.promoted(a, b, to_float=True)
    close = abs(a - b) <= atol + rtol * abs(b)
    close = logical_or(logical_and(close, isfinite(b)), a == b)
    return logical_or(close, logical_and(isnan(a), isnan(b))) if equal_nan else close


def allclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False):
    return all(isclose(a, b, rtol, atol, equal_nan))


def array_equal(a, b, equal_nan=False):
    a, b = _asarray(a), _asarray(b)
    if a.shape != b.shape:
        return _asarray(False)
    return all(logical_or(a == b, logical_and(isnan(a), isnan(b))) if equal_nan else a == b)


def polyval(p, x):
    result = zeros_like(_asarray(x))
    for c in _asarray(p):
        result = result * x + c
    return result


def interp(x, xp, fp):
    x, xp, fp = _asarray(x), _asarray(xp), _asarray(fp)
    i = clip(sum((expand_dims(x, -1) >= xp).astype(int32), -1), 1, xp.shape[0] - 1)
    t = (x - xp[i - 1]) / (xp[i] - xp[i - 1])
    return where(x < xp[0], fp[0], where(x > xp[-1], fp[-1], fp[i - 1] + t * (fp[i] - fp[i - 1])))


def shape(x):
    return _asarray(x).shape


def ndim(x):
    return _asarray(x).ndim


def size(x, axis=None):
    return _asarray(x).size if axis is None else _asarray(x).shape[axis]


def iscomplexobj(x):
    return False


def isscalar(x):
    return _core.is_scalar(x) or getattr(x, "shape", None) == ()


def promote_types(a, b):
    return _types.promote([(_as_dtype(a), False), (_as_dtype(b), False)])[0]


def vectorize(function, *, excluded=(), signature=None):
    """@signature: which of the last dimensions of each argument the function takes whole, "(n),(n,k)->(k)"; none without it."""
    whole = None if signature is None else [len(dims.replace(" ", "").strip(",").split(",")) if dims.strip() else 0
                                            for dims in _re.findall(r"\(([^)]*)\)", signature.split("->")[0])]

    def wrapped(*args, **kwargs):
        from jax import vmap
        moving = [i for i in range(len(args)) if i not in excluded]
        arrays = [_asarray(args[i]) for i in moving]
        ranks = [0] * len(arrays) if whole is None else whole
        if len(ranks) != len(arrays) or builtins.any(a.ndim < n for a, n in zip(arrays, ranks)):
            raise TypeError(f"jnp.vectorize: arguments of shapes {[a.shape for a in arrays]} for the signature {signature}")
        loops = _core.broadcast_shapes(*(a.shape[:a.ndim - n] for a, n in zip(arrays, ranks)))
        arrays = [_core.broadcast_to(a, loops + a.shape[a.ndim - n:]) for a, n in zip(arrays, ranks)]

        def one(*values):
            own = list(args)
            for i, v in zip(moving, values):
                own[i] = v
            return function(*own, **kwargs)
        f = one
        for _ in loops:
            f = vmap(f)
        return f(*arrays)
    return wrapped


def _move_keys():
    """What only moves elements takes arrays of keys too."""
    from jax.random import over_words
    for name in ("broadcast_to", "concatenate", "expand_dims", "flip", "moveaxis", "ravel", "repeat", "reshape", "roll", "squeeze", "stack", "swapaxes",
                 "take", "tile", "transpose", "where"):
        globals()[name] = over_words(globals()[name])


from builtins import range  # noqa: E402
from jax.numpy import linalg  # noqa: E402
from jax._names import missing as _missing  # noqa: E402

_move_keys()


def __getattr__(name):
    raise _missing("jax.numpy", name, globals())
