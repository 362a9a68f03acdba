# SPDX-License-Identifier: Apache-2.0
"""jax.scipy.special."""
import math
from jax import _core
from jax import nn as _nn
from jax.nn import logsumexp, sigmoid as expit  # noqa: F401
from jax._names import missing as _missing, refuse as _refuse
import jax.numpy as jnp


def _float(x):
    return _core.promoted(x, to_float=True)[0]


def softmax(x, axis=None):
    return _nn.softmax(x, axis)


def log_softmax(x, axis=None):
    return _nn.log_softmax(x, axis)


def erf(x):
    return _core.unary_float("erf", x)


def erfc(x):
    """Far from 0 by the continued fraction (Abramowitz and Stegun 7.1.14), so that what is small is exact too."""
    x = _float(x)
    far = jnp.abs(x) > 1.5
    y = jnp.where(far, jnp.abs(x), 2.0)
    fraction = y
    for n in range(24, 0, -1):
        fraction = y + n / 2 / fraction
    small = jnp.exp(-y * y) / (math.sqrt(math.pi) * fraction)
    return jnp.where(far, jnp.where(x < 0, 2 - small, small), 1 - erf(jnp.where(far, 0.0, x))).astype(x.dtype)


def ndtr(x):
    """The normal distribution's probability of less than x."""
    return 0.5 * erfc(-_float(x) / math.sqrt(2))


def log_ndtr(x):
    """Far below 0 by the continued fraction, before the exponential would be 0."""
    x = _float(x)
    far = x < -3
    y = jnp.where(far, -x, 4.0)
    fraction = y
    for n in range(24, 0, -1):
        fraction = y + n / fraction
    below = -y * y / 2 - 0.5 * math.log(2 * math.pi) - jnp.log(fraction)
    near = jnp.where(far, 0.0, x)
    return jnp.where(far, below, jnp.where(near > 0, jnp.log1p(-ndtr(-near)), jnp.log(ndtr(near)))).astype(x.dtype)


def logit(x):
    return jnp.log(x) - jnp.log1p(-_float(x))


def xlogy(x, y):
    x, y = _core.promoted(x, y, to_float=True)
    return jnp.where(x == 0, 0.0, x * jnp.log(jnp.where(x == 0, 1.0, y)))


def xlog1py(x, y):
    x, y = _core.promoted(x, y, to_float=True)
    return jnp.where(x == 0, 0.0, x * jnp.log1p(jnp.where(x == 0, 0.0, y)))


def entr(x):
    x = _float(x)
    return jnp.where(x < 0, -jnp.inf, -xlogy(x, x))


def rel_entr(p, q):
    p, q = _core.promoted(p, q, to_float=True)
    both = (p > 0) & (q > 0)
    made = jnp.where(both, p, 1.0) * jnp.log(jnp.where(both, p, 1.0) / jnp.where(both, q, 1.0))
    return jnp.where(both, made, jnp.where((p == 0) & (q >= 0), 0.0, jnp.inf))


def kl_div(p, q):
    p, q = _core.promoted(p, q, to_float=True)
    return rel_entr(p, q) - p + q


def erf_inv(x):
    from jax import random
    return random.erf_inv(_float(x))


erfinv = erf_inv


def ndtri(p):
    return math.sqrt(2) * erf_inv(2 * _float(p) - 1)


# Gamma

# Lanczos, SIAM Journal on Numerical Analysis B 1 (1964), with g = 7 and nine terms.
_LANCZOS = (0.99999999999980993, 676.5203681218851, -1259.1392167224028, 771.32342877765313, -176.61502916214059, 12.507343278686905,
            -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7)


def _gammaln_above(x):
    """For x of at least a half."""
    x = x - 1
    total = _LANCZOS[0]
    for i, c in enumerate(_LANCZOS[1:], 1):
        total = total + c / (x + i)
    t = x + 7.5
    # (x + 1/2) log (t) - t without the difference of large numbers.
    return 0.5 * math.log(2 * math.pi) + (x + 0.5) * (jnp.log(t) - 1) - 7 + jnp.log(total)


def gammaln(x):
    x = _float(x)
    low = x < 0.5
    above = _gammaln_above(jnp.where(low, 1 - x, x))
    below = math.log(math.pi) - jnp.log(jnp.abs(jnp.sin(math.pi * jnp.where(low, x - jnp.floor(x), 0.5)))) - above
    # Far below there are whole numbers alone, each of which is a pole.
    return jnp.where(jnp.isinf(x) | (low & (x == jnp.floor(x))), math.inf, jnp.where(low, below, above)).astype(x.dtype)


def gamma(x):
    x = _float(x)
    sign = jnp.where((x < 0) & (jnp.floor(x) % 2 != 0), -1.0, 1.0)
    return (sign * jnp.exp(gammaln(x))).astype(x.dtype)


def betaln(a, b):
    a, b = _core.promoted(a, b, to_float=True)
    return gammaln(a) + gammaln(b) - gammaln(a + b)


def beta(a, b):
    return jnp.exp(betaln(a, b))


def factorial(n, exact=False):
    _refuse("jax.scipy.special.factorial", "exact", exact, False)
    return gamma(_float(n) + 1)


def digamma(x):
    """Moved up to 6 and more by its recurrence, there by its asymptotic series (Abramowitz and Stegun 6.3.18)."""
    x = _float(x)
    low = x < 0.5
    y = jnp.where(low, 1 - x, x)
    shift = jnp.zeros_like(y)
    for _ in range(6):
        small = y < 6
        shift = shift + jnp.where(small, 1 / y, 0.0)
        y = jnp.where(small, y + 1, y)
    square = 1 / (y * y)
    made = jnp.log(y) - 0.5 / y - square * (1 / 12 - square * (1 / 120 - square * (1 / 252 - square / 240))) - shift
    inner = math.pi * jnp.where(low, x - jnp.floor(x), 0.25)
    reflected = made - math.pi * jnp.cos(inner) / jnp.sin(inner)
    return jnp.where(low, jnp.where(x == jnp.floor(x), jnp.nan, reflected), made).astype(x.dtype)


def zeta(x, q):
    """Hurwitz's: the first terms, then the formula of Euler and Maclaurin (Abramowitz and Stegun 23.1.30)."""
    x, q = _core.promoted(x, q, to_float=True)
    total = sum((q + k) ** -x for k in range(12))
    w = q + 12
    tail, factor = w / jnp.where(x == 1, 1.0, x - 1) + 0.5, x / w
    for j, bernoulli in enumerate((1 / 12, -1 / 720, 1 / 30240, -1 / 1209600)):
        tail = tail + factor * bernoulli
        factor = factor * (x + 2 * j + 1) * (x + 2 * j + 2) / (w * w)
    made = total + w ** -x * tail
    pole = (x == 1) | ((q <= 0) & (q == jnp.floor(q)))
    return jnp.where(x < 1, jnp.nan, jnp.where(pole, jnp.inf, made)).astype(x.dtype)


def polygamma(n, x):
    n, x = _core.promoted(n, x, to_float=True)
    sign = jnp.where(n % 2 == 0, -1.0, 1.0)
    return jnp.where(n == 0, digamma(x), sign * gamma(n + 1) * zeta(jnp.where(n == 0, 2.0, n + 1), x)).astype(x.dtype)


def multigammaln(a, d):
    a = _float(a)
    return d * (d - 1) / 4 * math.log(math.pi) + sum(gammaln(a - i / 2) for i in range(int(d)))


def _incomplete(a, x):
    """(lower, upper) regularized incomplete gamma function: a series up to a + 1, a continued fraction above (Abramowitz and Stegun 6.5.29
    and 6.5.31)."""
    a, x = _core.promoted(a, x, to_float=True)
    valid = (a > 0) & (x >= 0)
    a, y = jnp.where(valid, a, 1.0), jnp.where(valid & (x > 0) & (x < jnp.inf), x, 1.0)
    above = y > a + 1
    size = jnp.exp(a * jnp.log(y) - y - gammaln(a))
    low, term = jnp.where(above, a, y), jnp.ones_like(y)
    total = term
    for n in range(1, 160):
        term = term * low / (a + n)
        total = total + term
    high = jnp.where(above, y, a + 2)
    fraction = high + 1 - a + 200
    for n in range(100, 0, -1):
        fraction = high + 2 * n - 1 - a + n * (a - n) / fraction
    lower = jnp.where(above, 1 - size / fraction, size * total / a)
    upper = jnp.where(above, size / fraction, 1 - size * total / a)
    lower, upper = jnp.where(x == 0, 0.0, jnp.where(x == jnp.inf, 1.0, lower)), jnp.where(x == 0, 1.0, jnp.where(x == jnp.inf, 0.0, upper))
    return jnp.where(valid, lower, jnp.nan).astype(a.dtype), jnp.where(valid, upper, jnp.nan).astype(a.dtype)


def gammainc(a, x):
    return _incomplete(a, x)[0]


def gammaincc(a, x):
    return _incomplete(a, x)[1]


def _size(x):
    """|x| whose derivative at 0 is 0."""
    return jnp.sign(x) * x


def _bessel(x, order):
    """Scaled by exp (-|x|): the power series up to 12, the asymptotic one above (Abramowitz and Stegun 9.6.10 and 9.7.1)."""
    x = _float(x)
    a = _size(x)
    near, far = jnp.minimum(a, 12.0), jnp.maximum(a, 12.0)
    # The first order keeps its sign in the series, which has a derivative at 0.
    square, term = near * near / 4, jnp.ones_like(near) if order == 0 else jnp.clip(x, -12.0, 12.0) / 2
    total = term
    for k in range(1, 40):
        term = term * square / (k * (k + order))
        total = total + term
    mu, term = 4.0 * order * order, jnp.ones_like(far)
    tail = term
    for k in range(1, 12):
        term = -term * (mu - (2 * k - 1) ** 2) / (k * 8 * far)
        tail = tail + term
    tail = tail / jnp.sqrt(2 * math.pi * far)
    return jnp.where(a <= 12, total * jnp.exp(-near), tail if order == 0 else jnp.sign(x) * tail).astype(x.dtype)


def i0e(x):
    return _bessel(x, 0)


def i1e(x):
    return _bessel(x, 1)


def i0(x):
    return i0e(x) * jnp.exp(_size(_float(x)))


def i1(x):
    return i1e(x) * jnp.exp(_size(_float(x)))


def __getattr__(name):
    raise _missing("jax.scipy.special", name, globals())
