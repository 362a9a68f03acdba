# SPDX-License-Identifier: Apache-2.0
"""jax.random: distributions made of uniform and normal numbers, by the keys that JAX takes for them."""
import math
from jax import _core
from jax._core import asarray as _asarray
from jax._names import refuse as _refuse
from jax._types import as_dtype


def _shape(shape, *parameters):
    if shape is None or shape == () and parameters:
        return _core.broadcast_shapes(*(p.shape for p in parameters))
    return (shape,) if isinstance(shape, int) else tuple(int(d) for d in shape)


def _given(dtype, *values):
    return [_core.convert(_asarray(v), as_dtype(dtype)) for v in values]


def _limits(dtype):
    import jax.numpy as jnp
    return jnp.finfo(dtype)


def laplace(key, shape=(), dtype="float32"):
    import jax.numpy as jnp
    from jax import random
    u = random.uniform(key, shape, dtype, -1.0 + _limits(dtype).eps / 2, 1.0)
    return jnp.sign(u) * jnp.log1p(-jnp.abs(u))


def logistic(key, shape=(), dtype="float32"):
    import jax.numpy as jnp
    from jax import random
    u = random.uniform(key, shape, dtype, _limits(dtype).tiny, 1.0)
    return jnp.log(u) - jnp.log1p(-u)


def cauchy(key, shape=(), dtype="float32"):
    import jax.numpy as jnp
    from jax import random
    return jnp.tan(math.pi * (random.uniform(key, shape, dtype, _limits(dtype).eps, 1.0) - 0.5))


def rademacher(key, shape=(), dtype="int32"):
    from jax import random
    return 2 * _core.convert(random.bernoulli(key, 0.5, _shape(shape)), as_dtype(dtype)) - 1


def rayleigh(key, scale, shape=None, dtype="float32"):
    import jax.numpy as jnp
    from jax import random
    scale, = _given(dtype, scale)
    return scale * jnp.sqrt(-2.0 * jnp.log(random.uniform(key, _shape(shape, scale), dtype)))


def maxwell(key, shape=(), dtype="float32"):
    import jax.numpy as jnp
    from jax import random
    return jnp.linalg.norm(random.normal(key, _shape(shape) + (3,), dtype), axis=-1)


def double_sided_maxwell(key, loc, scale, shape=(), dtype="float32"):
    from jax import random
    loc, scale = _given(dtype, loc, scale)
    both = _core.broadcast_shapes(loc.shape, scale.shape)
    shape = (_shape(shape) or both) + both
    sizes, signs = random.split(key)
    return rademacher(signs, shape, dtype) * maxwell(sizes, shape, dtype) * scale + loc


def weibull_min(key, scale, concentration, shape=(), dtype="float32"):
    import jax.numpy as jnp
    from jax import random
    scale, concentration = _given(dtype, scale, concentration)
    return jnp.power(-jnp.log1p(-random.uniform(key, _shape(shape), dtype)), 1.0 / concentration) * scale


def pareto(key, b, shape=None, dtype="float32"):
    import jax.numpy as jnp
    from jax import random
    b, = _given(dtype, b)
    return jnp.exp(random.exponential(key, _shape(shape, b), dtype) / b)


def lognormal(key, sigma=1.0, shape=None, dtype="float32"):
    import jax.numpy as jnp
    from jax import random
    sigma, = _given(dtype, sigma)
    return jnp.exp(random.normal(key, _shape(shape, sigma), dtype) * sigma)


def triangular(key, left, mode, right, shape=None, dtype="float32"):
    import jax.numpy as jnp
    from jax import random
    left, mode, right = _given(dtype, left, mode, right)
    u = random.uniform(key, _shape(shape, left, mode, right), dtype)
    rising, falling = left + jnp.sqrt(u * (right - left) * (mode - left)), right - jnp.sqrt((1 - u) * (right - left) * (right - mode))
    return jnp.where(u < (mode - left) / (right - left), rising, falling)


def geometric(key, p, shape=None, dtype="int32"):
    import jax.numpy as jnp
    from jax import random
    p, = _core.promoted(p, to_float=True)
    u = random.uniform(key, _shape(shape, p), p.dtype)
    whole = jnp.floor(jnp.log(jnp.where(u == 0, 1.0, u)) / jnp.log1p(-p)) + 1
    return _core.convert(whole, as_dtype(dtype))


def wald(key, mean, shape=None, dtype="float32"):
    """The inverse Gaussian distribution: Michael, Schucany and Haas, The American Statistician 30 (1976)."""
    import jax.numpy as jnp
    from jax import random
    mean, = _given(dtype, mean)
    shape = _shape(shape, mean)
    normals, uniforms = random.split(key)
    y = random.normal(normals, shape, dtype) ** 2
    x = mean + mean ** 2 * y / 2 - mean / 2 * jnp.sqrt(4 * mean * y + mean ** 2 * y ** 2)
    return jnp.where(random.uniform(uniforms, shape, dtype) <= mean / (mean + x), x, mean ** 2 / x)


def multivariate_normal(key, mean, cov, shape=None, dtype=None, method="cholesky"):
    import jax.numpy as jnp
    from jax import random
    mean, cov = _core.promoted(mean, cov, to_float=True)
    if mean.ndim < 1 or cov.ndim < 2 or cov.shape[-2:] != mean.shape[-1:] * 2:
        raise ValueError(f"multivariate_normal: a mean of shape {mean.shape} and covariances of shape {cov.shape} do not fit")
    batch = _core.broadcast_shapes(mean.shape[:-1], cov.shape[:-2]) if shape is None else _shape(shape)
    if method == "cholesky":
        factor = jnp.linalg.cholesky(cov)
    elif method == "eigh":
        values, vectors = jnp.linalg.eigh(cov)
        factor = vectors * jnp.sqrt(values[..., None, :])
    else:
        _refuse("jax.random.multivariate_normal", "method", method, "cholesky", "eigh")
    normals = random.normal(key, batch + mean.shape[-1:], mean.dtype if dtype is None else dtype)
    return mean + jnp.einsum("...ij,...j->...i", factor, normals)


# Gamma and what is made of it

def _gamma_of_one(key, alpha, in_logarithm):
    """Marsaglia and Tsang, ACM Transactions on Mathematical Software 26 (2000), by one key for one number."""
    import jax.numpy as jnp
    from jax import lax, random
    boosted = alpha >= 1
    shape = jnp.where(boosted, alpha, alpha + 1)
    d = shape - 1.0 / 3.0
    c = (1.0 / 3.0) / jnp.sqrt(d)
    kind = alpha.dtype

    def refused(state):
        _, x, v, u = state
        return (u >= 1 - 0.0331 * (x * x)) & (jnp.log(u) >= x * 0.5 + d * (1 - v + jnp.log(v)))

    def attempt(state):
        key, at_x, at_u = random.split(state[0], 3)

        def again(inner):
            key, sub = random.split(inner[0])
            x = random.normal(sub, (), kind)
            return key, x, 1 + x * c
        _, x, v = lax.while_loop(lambda inner: inner[2] <= 0, again, (at_x, jnp.zeros((), kind), jnp.full((), -1, kind)))
        return key, x * x, v * v * v, random.uniform(at_u, (), kind)
    key, sub = random.split(key)
    v = lax.while_loop(refused, attempt, (key, jnp.zeros((), kind), jnp.ones((), kind), jnp.full((), 2, kind)))[2]
    if in_logarithm:
        sample = -random.exponential(sub, (), kind)
        return jnp.log(d) + jnp.log(v) + jnp.where(boosted | (sample == 0), 0.0, sample / alpha)
    return d * v * jnp.where(boosted, 1.0, jnp.power(1 - random.uniform(sub, (), kind), 1 / alpha))


def _gamma(key, a, shape, dtype, in_logarithm):
    import jax
    from jax import lax, random
    a, = _given(dtype, a)
    shape = a.shape if shape is None else _shape(shape)
    flat = _core.reshape(_core.broadcast_to(a, shape), (_core.product(shape),))
    # Samples are not followed by derivatives, which are those of an implicit function.
    keys = random.split(random.key_data(key), flat.shape[0])
    made = jax.vmap(lambda k, alpha: _gamma_of_one(k, alpha, in_logarithm))(keys, lax.stop_gradient(flat))
    return _core.reshape(made, shape)


def gamma(key, a, shape=None, dtype="float32"):
    return _gamma(key, a, shape, dtype, False)


def loggamma(key, a, shape=None, dtype="float32"):
    return _gamma(key, a, shape, dtype, True)


def beta(key, a, b, shape=None, dtype="float32"):
    import jax.numpy as jnp
    from jax import random
    a, b = _given(dtype, a, b)
    shape = _shape(shape, a, b)
    first, second = random.split(key)
    x, y = loggamma(first, a, shape, dtype), loggamma(second, b, shape, dtype)
    most = jnp.maximum(x, y)
    x, y = jnp.exp(x - most), jnp.exp(y - most)
    return x / (x + y)


def dirichlet(key, alpha, shape=None, dtype="float32"):
    import jax
    alpha, = _given(dtype, alpha)
    if alpha.ndim < 1:
        raise ValueError(f"dirichlet requires alpha.ndim >= 1, got alpha.ndim == {alpha.ndim}")
    batch = alpha.shape[:-1] if shape is None else _shape(shape)
    return jax.nn.softmax(loggamma(key, alpha, batch + alpha.shape[-1:], dtype), -1)


def chisquare(key, df, shape=None, dtype="float32"):
    import jax.numpy as jnp
    df, = _given(dtype, df)
    return jnp.exp(loggamma(key, df / 2, _shape(shape, df), dtype)) * 2


def f(key, dfnum, dfden, shape=None, dtype="float32"):
    from jax import random
    dfnum, dfden = _given(dtype, dfnum, dfden)
    shape = _shape(shape, dfnum, dfden)
    below, above = random.split(key)
    return (chisquare(above, dfnum, shape, dtype) / dfnum) / (chisquare(below, dfden, shape, dtype) / dfden)


def t(key, df, shape=(), dtype="float32"):
    import jax.numpy as jnp
    from jax import random
    df, = _given(dtype, df)
    shape = _shape(shape, df)
    normals, gammas = random.split(key)
    return random.normal(normals, shape, dtype) * jnp.sqrt(df / 2 / gamma(gammas, df / 2, shape, dtype))


def generalized_normal(key, p, shape=(), dtype="float32"):
    from jax import random
    gammas, signs = random.split(key)
    return rademacher(signs, shape, dtype) * gamma(gammas, 1 / p, _shape(shape), dtype) ** (1 / p)


def ball(key, d, p=2, shape=(), dtype="float32"):
    import jax.numpy as jnp
    from jax import random
    shape = _shape(shape)
    directions, sizes = random.split(key)
    g = generalized_normal(directions, p, shape + (d,), dtype)
    return g / ((jnp.sum(jnp.abs(g) ** p, -1) + random.exponential(sizes, shape, dtype)) ** (1 / p))[..., None]


def orthogonal(key, n, shape=(), dtype="float32", m=None):
    import jax.numpy as jnp
    from jax import random
    m = n if m is None else m
    q, r = jnp.linalg.qr(random.normal(key, _shape(shape) + (max(n, m), min(n, m)), dtype))
    x = q * jnp.expand_dims(jnp.sign(jnp.diagonal(r, axis1=-2, axis2=-1)), -2)
    return jnp.swapaxes(x, -1, -2) if n < m else x


def poisson(key, lam, shape=None, dtype="int32"):
    """Products of uniform numbers (Knuth, The Art of Computer Programming 2, 3.4.1): for rates below 10, as JAX takes it for those."""
    import jax.numpy as jnp
    from jax import lax, random
    lam = _core.convert(_asarray(lam), as_dtype("float32"))
    shape = lam.shape if shape is None else _shape(shape)
    if lam.has_data and not lam.is_variable and bool(jnp.any(lam >= 10)):
        raise NotImplementedError("jax.random.poisson: rates of 10 and more are not there in Gantry")
    # A rate of a graph is not known: where it is 10 and more the number is -1, as JAX gives it where there is none.
    small = lam < 10
    lam = jnp.broadcast_to(jnp.where(small, lam, 0.0), shape)

    def step(state):
        k, key, product = state
        key, sub = random.split(key)
        k = jnp.where(product > -lam, k + 1, k)
        return k, key, product + jnp.log(random.uniform(sub, shape))
    start = jnp.zeros(shape, "int32"), random.key_data(key), jnp.zeros(shape, "float32")
    k = lax.while_loop(lambda state: jnp.any(state[2] > -lam), step, start)[0] - 1
    return _core.convert(jnp.where(small, jnp.where(lam == 0, 0, k), -1), as_dtype(dtype))
