# SPDX-License-Identifier: Apache-2.0
"""Bessel functions by polynomials and their asymptotic forms (Abramowitz and Stegun, 9.4.1 to 9.4.6 and 9.8.5 to 9.8.8)."""
import math as _math
from mindspore import _core
from mindspore._core import _operand
from mindspore.ops import _elementwise as _e
from mindspore.ops._special import _horner, i0, i1

_J0 = (0.0002100, -0.0039444, 0.0444479, -0.3163866, 1.2656208, -2.2499997, 1.0)
_Y0 = (-0.00024846, 0.00427916, -0.04261214, 0.25300117, -0.74350384, 0.60559366, 0.36746691)
_J1 = (0.00001109, -0.00031761, 0.00443319, -0.03954289, 0.21093573, -0.56249985, 0.5)
_Y1 = (0.0027873, -0.0400976, 0.3123951, -1.3164827, 2.1682709, 0.2212091, -0.6366198)
_FAR = {0: ((0.00014476, -0.00072805, 0.00137237, -0.00009512, -0.00552740, -0.00000077, 0.79788456),
            (0.00013558, -0.00029333, -0.00054125, 0.00262573, -0.00003954, -0.04166397, -0.78539816)),
        1: ((-0.00020033, 0.00113653, -0.00249511, 0.00017105, 0.01659667, 0.00000156, 0.79788456),
            (-0.00029166, 0.00079824, 0.00074348, -0.00637879, 0.00005650, 0.12499612, -2.35619449))}
_K0 = (0.00000740, 0.00010750, 0.00262698, 0.03488590, 0.23069756, 0.42278420, -0.57721566)
_K1 = (-0.00004686, -0.00110404, -0.01919402, -0.18156897, -0.67278579, 0.15443144, 1.0)
_K_FAR = {0: (0.00053208, -0.00251540, 0.00587872, -0.01062446, 0.02189568, -0.07832358, 1.25331414),
          1: (-0.00068245, 0.00325614, -0.00780353, 0.01504268, -0.03655620, 0.23498619, 1.25331414)}


def _far(a, order, wave):
    """Beyond 3: a wave whose size and phase are polynomials in 3 / x."""
    a = _e.maximum(a, 3.0)
    u = _core.div(3.0, a)
    size, phase = (_horner(u, terms) for terms in _FAR[order])
    return _core.mul(_core.div(size, _e.sqrt(a)), wave(_core.add(a, phase)))


def _near(a, limit):
    return _e.square(_core.div(_e.minimum(a, limit), limit))


def bessel_j0(x):
    a = _e.abs(_operand(x))
    return _core.select(_e.less(a, 3.0), _horner(_near(a, 3.0), _J0), _far(a, 0, _e.cos))


def bessel_j1(x):
    x = _operand(x)
    a = _e.abs(x)
    value = _core.select(_e.less(a, 3.0), _core.mul(a, _horner(_near(a, 3.0), _J1)), _far(a, 1, _e.cos))
    return _core.mul(_e.sign(x), value)


def _second(x, order, series, first, far):
    """Of the second kind: at 0 and below negative infinity, as MindSpore has it."""
    x = _operand(x)
    a = _core.select(_e.less(x, 1e-30), 1e-30, x)
    log = _core.mul(_core.mul(2.0 / _math.pi, _e.log(_core.div(a, 2.0))), first(a))
    rest = _horner(_near(a, 3.0), series)
    near = _core.add(log, rest if order == 0 else _core.div(rest, a))
    value = _core.select(_e.less(a, 3.0), near, far(a, order, _e.sin))
    return _core.select(_e.less_equal(x, 0.0), -_math.inf, value)


def bessel_y0(x):
    return _second(x, 0, _Y0, bessel_j0, _far)


def bessel_y1(x):
    return _second(x, 1, _Y1, bessel_j1, _far)


def _modified(x, order, series, first, scaled):
    x = _operand(x)
    a = _core.select(_e.less(x, 1e-30), 1e-30, x)
    small = _e.minimum(a, 2.0)
    log = _core.mul(_e.log(_core.div(small, 2.0)), first(small))
    rest = _horner(_near(a, 2.0), series)
    near = _core.sub(rest, log) if order == 0 else _core.add(_core.div(rest, small), log)
    far = _core.div(_horner(_core.div(2.0, _e.maximum(a, 2.0)), _K_FAR[order]), _e.sqrt(_e.maximum(a, 2.0)))
    near, far = (_core.mul(near, _e.exp(small)), far) if scaled else (near, _core.mul(far, _e.exp(_core.neg(_e.maximum(a, 2.0)))))
    value = _core.select(_e.less(a, 2.0), near, far)
    return _core.select(_e.less_equal(x, 0.0), _math.inf, value)


def bessel_k0(x):
    return _modified(x, 0, _K0, i0, False)


def bessel_k0e(x):
    return _modified(x, 0, _K0, i0, True)


def bessel_k1(x):
    return _modified(x, 1, _K1, i1, False)


def bessel_k1e(x):
    return _modified(x, 1, _K1, i1, True)


__all__ = [n for n in globals() if n.startswith("bessel_")]
