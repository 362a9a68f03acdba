# SPDX-License-Identifier: Apache-2.0
"""Densities and distribution functions of jax.scipy.stats: jax.scipy.stats.norm.logpdf and their like."""
import math
from types import SimpleNamespace
import jax.numpy as jnp
from jax import nn
from jax._names import missing as _missing
from jax.scipy import special as _special

_HALF_LOG_2PI = 0.5 * math.log(2 * math.pi)


def _within(holds, value, outside=-math.inf):
    return jnp.where(holds, value, outside)


def _of(**functions):
    """A distribution; what has a logarithm has what that is of."""
    for log, plain in (("logpdf", "pdf"), ("logpmf", "pmf"), ("logcdf", "cdf"), ("logsf", "sf")):
        if log in functions and plain not in functions:
            functions[plain] = lambda *args, log=functions[log], **kwargs: jnp.exp(log(*args, **kwargs))
    return SimpleNamespace(**functions)


def _located(log_density, **others):
    """Of a standard distribution that with a place and a scale."""
    def logpdf(x, *shape, loc=0, scale=1):
        return log_density((x - loc) / jnp.asarray(scale, "float32"), *shape) - jnp.log(jnp.asarray(scale, "float32"))

    def placed(function, inverse):
        def of(x, *args, loc=0, scale=1):
            return function(x, *args) * scale + loc if inverse else function((x - loc) / jnp.asarray(scale, "float32"), *args)
        return of
    return _of(logpdf=logpdf, **{name: placed(f, name in ("ppf", "isf")) for name, f in others.items()})


def _with_place(distribution, n):
    """The same, where place and scale may stand behind @n shapes."""
    def spread(function):
        def of(x, *args, **kwargs):
            kwargs.update(zip(("loc", "scale"), args[n:]))
            return function(x, *args[:n], **kwargs)
        return of
    return SimpleNamespace(**{name: spread(f) for name, f in vars(distribution).items()})


norm = _with_place(_located(lambda z: -0.5 * z * z - _HALF_LOG_2PI, cdf=_special.ndtr, logcdf=_special.log_ndtr, ppf=_special.ndtri,
                            sf=lambda z: _special.ndtr(-z), logsf=lambda z: _special.log_ndtr(-z), isf=lambda q: -_special.ndtri(q)), 0)
uniform = _with_place(_located(lambda z: _within((z >= 0) & (z <= 1), jnp.zeros_like(z)), cdf=lambda z: jnp.clip(z, 0, 1), ppf=lambda q: q), 0)
expon = _with_place(_located(lambda z: _within(z >= 0, -z), cdf=lambda z: jnp.where(z >= 0, -jnp.expm1(-z), 0.0), logsf=lambda z: jnp.minimum(-z, 0)), 0)
laplace = _with_place(_located(lambda z: -jnp.abs(z) - math.log(2),
                               cdf=lambda z: jnp.where(z <= 0, 0.5 * jnp.exp(jnp.minimum(z, 0)), 1 - 0.5 * jnp.exp(-jnp.maximum(z, 0)))), 0)
logistic = _with_place(_located(lambda z: -z - 2 * nn.softplus(-z), cdf=nn.sigmoid, sf=lambda z: nn.sigmoid(-z), ppf=_special.logit), 0)
cauchy = _with_place(_located(lambda z: -math.log(math.pi) - jnp.log1p(z * z), cdf=lambda z: 0.5 + jnp.arctan(z) / math.pi,
                              ppf=lambda q: jnp.tan(math.pi * (q - 0.5))), 0)
t = _with_place(_located(lambda z, df: _special.gammaln((df + 1) / 2) - _special.gammaln(df / 2) - 0.5 * jnp.log(df * math.pi)
                         - (df + 1) / 2 * jnp.log1p(z * z / df)), 1)
gamma = _with_place(_located(lambda z, a: _within(z >= 0, _special.xlogy(a - 1, z) - z - _special.gammaln(a))), 1)
beta = _with_place(_located(lambda z, a, b: _within((z >= 0) & (z <= 1), _special.xlogy(a - 1, z) + _special.xlog1py(b - 1, -z) - _special.betaln(a, b))), 2)
chi2 = _with_place(_located(lambda z, df: _within(z >= 0, _special.xlogy(df / 2 - 1, z) - z / 2 - _special.gammaln(df / 2) - df / 2 * math.log(2))), 1)
pareto = _with_place(_located(lambda z, b: _within(z >= 1, jnp.log(b) - (b + 1) * jnp.log(z))), 1)


def _counted(log_mass):
    n = log_mass.__code__.co_argcount - 1

    def logpmf(k, *args, loc=0):
        loc = args[n] if len(args) > n else loc
        return log_mass(jnp.asarray(k, "float32") - loc, *(jnp.asarray(a, "float32") for a in args[:n]))
    return _of(logpmf=logpmf)


poisson = _counted(lambda k, mu: _within((k >= 0) & (k == jnp.floor(k)), _special.xlogy(k, mu) - _special.gammaln(k + 1) - mu))
bernoulli = _counted(lambda k, p: _within((k == 0) | (k == 1), _special.xlogy(k, p) + _special.xlog1py(1 - k, -p)))
geom = _counted(lambda k, p: _within(k >= 1, _special.xlog1py(k - 1, -p) + jnp.log(p)))
binom = _counted(lambda k, n, p: _within((k >= 0) & (k <= n), _special.gammaln(n + 1) - _special.gammaln(k + 1) - _special.gammaln(n - k + 1)
                                         + _special.xlogy(k, p) + _special.xlog1py(n - k, -p)))


def _normal_of_many(x, mean, cov, allow_singular=None):
    from jax.scipy import linalg
    if allow_singular is not None:
        raise NotImplementedError("multivariate_normal.logpdf: allow_singular is not there; leave it out")
    x, mean, cov = jnp.asarray(x), jnp.asarray(mean), jnp.asarray(cov)
    if not mean.shape:
        return -0.5 * jnp.square(x - mean) / cov - _HALF_LOG_2PI - 0.5 * jnp.log(cov)
    factor, n = jnp.linalg.cholesky(cov), mean.shape[-1]
    off = jnp.broadcast_to(x - mean, jnp.broadcast_shapes(x.shape, mean.shape))
    solved = linalg.solve_triangular(factor, off.reshape(-1, n).T, lower=True)
    return -0.5 * jnp.sum(jnp.square(solved), 0).reshape(off.shape[:-1]) - n * _HALF_LOG_2PI - jnp.log(jnp.diagonal(factor)).sum()


def _log_dirichlet(x, alpha):
    return jnp.sum(_special.xlogy((alpha - 1).reshape(alpha.shape + (1,) * (jnp.ndim(x) - 1)), x), 0) + _special.gammaln(alpha.sum()) - _special.gammaln(alpha).sum()


multivariate_normal = _of(logpdf=_normal_of_many)
dirichlet = _of(logpdf=lambda x, alpha: _log_dirichlet(jnp.asarray(x), jnp.asarray(alpha)))


def __getattr__(name):
    raise _missing("jax.scipy.stats", name, globals())
