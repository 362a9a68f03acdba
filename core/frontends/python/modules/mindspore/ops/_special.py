# SPDX-License-Identifier: Apache-2.0
"""Special functions: series, their derivatives for free."""
import builtins as _builtins
import math as _math
from mindspore import _amp, _core
from mindspore._core import Tensor, _float_pair, _op, _operand, convert, float64
from mindspore.ops import _elementwise as _e, _reduction as _r


def erfinv(input):
    """Giles, Approximating the erfinv function, with two steps of Newton's method."""
    x = _operand(input)
    w = _e.neg(_e.log(_core.mul(_core.sub(1.0, x), _core.add(1.0, x))))

    def polynomial(v, terms):
        result = _core.full(v.shape, terms[0], v.dtype)
        for t in terms[1:]:
            result = _core.add(t, _core.mul(result, v))
        return result
    small = polynomial(_core.sub(w, 2.5), (2.81022636e-08, 3.43273939e-07, -3.5233877e-06, -4.39150654e-06, 0.00021858087,
                                     -0.00125372503, -0.00417768164, 0.246640727, 1.50140941))
    large = polynomial(_core.sub(_e.sqrt(_e.maximum(w, 5.0)), 3.0), (-0.000200214257, 0.000100950558, 0.00134934322, -0.00367342844,
                                                         0.00573950773, -0.0076224613, 0.00943887047, 1.00167406, 2.83297682))
    y = _core.mul(_core.select(_e.less(w, 5.0), small, large), x)
    for _ in _builtins.range(2):
        y = _core.sub(y, _core.div(_core.sub(_e.erf(y), x), _core.mul(2.0 / _math.sqrt(_math.pi), _e.exp(_e.neg(_e.square(y))))))
    return y


def _from_whole(x):
    """How far @x is from the nearest whole number."""
    return _core.sub(x, _op("round_nearest_even", (x,)))


def digamma(input):
    """The asymptotic series after shifting the argument up to 6; below a half by reflection (Abramowitz and Stegun, 6.3.7 and 6.3.18)."""
    x = _operand(input)
    reflected = _e.less(x, 0.5)
    value = _digamma_above(_core.select(reflected, _core.sub(1.0, x), x))
    part = _core.mul(_core.select(reflected, _from_whole(x), 0.25), _math.pi)
    value = _core.sub(value, _core.select(reflected, _core.div(_math.pi, _e.tan(part)), 0.0))
    pole = _e.logical_and(_e.less(x, 0), _e.equal(x, _e.floor(x)))
    return _core.select(pole, _math.nan, _core.select(_e.equal(x, 0), _core.div(-1.0, x), value))


def _digamma_above(x):
    result = _core.full(x.shape, 0.0, x.dtype)
    for _ in _builtins.range(6):
        low = _e.less(x, 6.0)
        result = _core.select(low, _core.sub(result, _core.div(1.0, x)), result)
        x = _core.select(low, _core.add(x, 1.0), x)
    r = _core.div(1.0, _e.square(x))
    series = _core.mul(r, _core.sub(1.0 / 12, _core.mul(r, _core.sub(1.0 / 120, _core.mul(r, _core.sub(1.0 / 252, _core.mul(r, 1.0 / 240)))))))
    return _core.sub(_core.add(result, _core.sub(_e.log(x), _core.div(0.5, x))), series)


def lgamma(input):
    """Stirling's series after shifting the argument up to 7; below 0 by reflection (Abramowitz and Stegun, 6.1.17 and 6.1.41)."""
    x = _operand(input)
    x = x if x.dtype.is_float else convert(x, _core.float32)
    negative = _e.less(x, 0)
    value = _lgamma_above(_core.select(negative, _core.sub(1.0, x), x))
    sine = _e.abs(_e.sin(_core.mul(_core.select(negative, _from_whole(x), 0.5), _math.pi)))
    value = _core.select(negative, _core.sub(_e.log(_core.div(_math.pi, sine)), value), value)
    return _core.select(_e.logical_or(_e.isinf(x), _e.equal(x, 0)), _math.inf, value)


def _lgamma_above(x):
    shift = _core.full(x.shape, 0.0, x.dtype)
    for _ in _builtins.range(7):
        low = _e.less(x, 7.0)
        shift = _core.select(low, _core.add(shift, _e.log(_e.maximum(x, 1e-30))), shift)
        x = _core.select(low, _core.add(x, 1.0), x)
    r = _core.div(1.0, _e.square(x))
    series = _core.div(_core.sub(1.0 / 12, _core.mul(r, _core.sub(1.0 / 360, _core.mul(r, 1.0 / 1260)))), x)
    size = _core.add(_core.sub(_core.mul(_core.sub(x, 0.5), _e.log(x)), x), 0.5 * _math.log(2 * _math.pi))
    return _core.sub(_core.add(size, series), shift)


def i0(x):
    """A power series below 3.75, an asymptotic one above (Abramowitz and Stegun, 9.8.1 and 9.8.2)."""
    x = _e.abs(_operand(x))
    t = _e.square(_core.div(x, 3.75))
    low = _horner(t, (0.0045813, 0.0360768, 0.2659732, 1.2067492, 3.0899424, 3.5156229, 1.0))
    u = _core.div(3.75, _e.maximum(x, 3.75))
    high = _core.mul(_core.div(_e.exp(x), _e.sqrt(_e.maximum(x, 3.75))), _horner(u, (0.00392377, -0.01647633, 0.02635537, -0.02057706, 0.00916281,
                                                                -0.00157565, 0.00225319, 0.01328592, 0.39894228)))
    return _core.select(_e.less(x, 3.75), low, high)


def i1(x):
    """As i0 (9.8.3 and 9.8.4)."""
    x = _operand(x)
    a = _e.abs(x)
    t = _e.square(_core.div(a, 3.75))
    low = _core.mul(a, _horner(t, (0.00032411, 0.00301532, 0.02658733, 0.15084934, 0.51498869, 0.87890594, 0.5)))
    u = _core.div(3.75, _e.maximum(a, 3.75))
    high = _core.mul(_core.div(_e.exp(a), _e.sqrt(_e.maximum(a, 3.75))), _horner(u, (-0.00420059, 0.01787654, -0.02895312, 0.02282967, -0.01031555,
                                                                0.00163801, -0.00362018, -0.03988024, 0.39894228)))
    return _core.mul(_e.sign(x), _core.select(_e.less(a, 3.75), low, high))


bessel_i0, bessel_i1 = i0, i1


def bessel_i0e(x):
    return _core.mul(i0(x), _e.exp(_e.neg(_e.abs(x))))


def bessel_i1e(x):
    return _core.mul(i1(x), _e.exp(_e.neg(_e.abs(x))))


def _horner(x, terms):
    result = _core.full(x.shape, terms[0], x.dtype)
    for t in terms[1:]:
        result = _core.add(t, _core.mul(result, x))
    return result


def zeta(input, other):
    """Hurwitz's: the first 20 terms, then the formula of Euler and Maclaurin. Of other < -10 it is not exact."""
    x, q = _float_pair(input, other)
    shape = _core.broadcast_shapes(x.shape, q.shape)
    x, q = _core.broadcast_to(x, shape), _core.broadcast_to(q, shape)
    total = _core.full(shape, 0.0, x.dtype)
    for k in _builtins.range(20):
        total = _core.add(total, _e.pow(_core.add(q, float(k)), _e.neg(x)))
    w = _core.add(q, 20.0)
    last, r = _e.pow(w, _e.neg(x)), _core.div(1.0, _e.square(w))
    pole = _e.equal(x, 1.0)
    tail = _core.add(_core.div(w, _core.select(pole, 1.0, _core.sub(x, 1.0))), 0.5)
    factor = _core.div(x, w)
    for j, bernoulli in enumerate((1.0 / 12, -1.0 / 720, 1.0 / 30240, -1.0 / 1209600)):
        tail = _core.add(tail, _core.mul(factor, bernoulli))
        factor = _core.mul(factor, _core.mul(r, _core.mul(_core.add(x, 2.0 * j + 1), _core.add(x, 2.0 * j + 2))))
    total = _core.add(total, _core.mul(last, tail))
    ends = _e.logical_or(pole, _e.logical_and(_e.less_equal(q, 0), _e.equal(q, _e.floor(q))))
    return _core.select(_e.less(x, 1.0), _math.nan, _core.select(ends, _math.inf, total))


def polygamma(n, input):
    """The n-th derivative of digamma."""
    n, x = int(n), _operand(input)
    if n < 0:
        raise ValueError(f"For 'polygamma', 'n' must not be negative, but got {n}.")
    if n == 0:
        return digamma(x)
    return _core.mul(zeta(_core.full(x.shape, float(n + 1), x.dtype), x), (-1.0) ** (n + 1) * _math.factorial(n))


def _incomplete(a, x):
    """(regularized lower incomplete gamma function, upper one) in double precision: a series up to x = a, a continued fraction above
    (Abramowitz and Stegun, 6.5.29 and 6.5.31). With so many terms as here for a up to 1000."""
    a, x = (convert(v, float64) for v in _float_pair(a, x))
    shape = _core.broadcast_shapes(a.shape, x.shape)
    a, x = _core.broadcast_to(a, shape), _core.broadcast_to(x, shape)
    valid = _e.logical_and(_e.greater(a, 0), _e.greater(x, 0))
    finite = _e.logical_and(valid, _e.less(x, _math.inf))
    a, x = _core.select(valid, a, 1.0), _core.select(finite, x, 1.0)
    above = _e.greater(x, _e.maximum(a, 1.0))
    size = _e.exp(_core.sub(_core.sub(_core.mul(a, _e.log(x)), x), lgamma(a)))
    below = _core.div(_core.mul(size, _series(a, _core.select(above, a, x))), a)
    beyond = _core.div(size, _fraction(a, _core.select(above, x, _core.add(a, 1.0))))
    return above, finite, valid, below, beyond


def _series(a, x):
    """1 + x / (a + 1) + x^2 / ((a + 1) (a + 2)) + ..."""
    steps = _core.add(_core.convert(_op("iota", (), {"to": ("i32", a.shape + (256,)), "iota_dimension": a.ndim}), float64), 1.0)
    wide = tuple(a.shape) + (1,)
    ratios = _core.div(_core.broadcast_to(_core.reshape(x, wide), steps.shape), _core.add(_core.reshape(a, wide), steps))
    return _core.add(_core.reduce("add", _r.cumprod(ratios, a.ndim), a.ndim), 1.0)


def _fraction(a, x):
    first = _core.sub(_core.add(x, 1.0), a)
    value = _core.add(first, 200.0)
    for n in _builtins.range(100, 0, -1):
        value = _core.add(_core.add(first, 2.0 * n - 2), _core.div(_core.mul(_core.sub(a, float(n)), float(n)), value))
    return value


def _incomplete_part(input, other, lower):
    a, x = _float_pair(input, other)
    above, finite, valid, below, beyond = _incomplete(a, x)
    value = _core.select(above, _core.sub(1.0, beyond), below) if lower else _core.select(above, beyond, _core.sub(1.0, below))
    value = _core.select(finite, value, 1.0 if lower else 0.0)
    empty = _e.logical_and(_e.greater(a, 0), _e.equal(x, 0))
    value = _core.select(valid, value, _core.select(empty, 0.0 if lower else 1.0, _math.nan))
    return convert(value, a.dtype)


def igamma(input, other):
    """The regularized lower incomplete gamma function."""
    return _incomplete_part(input, other, True)


def igammac(input, other):
    """The regularized upper incomplete gamma function."""
    return _incomplete_part(input, other, False)


_amp.listed(globals())
__all__ = ["digamma", "erfinv", "igamma", "igammac", "lgamma", "polygamma", "zeta", "i0", "i1", "bessel_i0", "bessel_i1", "bessel_i0e",
           "bessel_i1e"]
