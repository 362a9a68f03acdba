# SPDX-License-Identifier: Apache-2.0
"""jax.scipy beyond special functions: distributions, systems that are solved by products, convolutions, values between places; functions of
last dimensions (vectorize)."""
import jax
import jax.numpy as jnp
from jax.scipy import ndimage, signal, stats
from jax.scipy.sparse.linalg import bicgstab, cg
from .programs import case

X = jnp.linspace(0.1, 0.9, 5)
K = jnp.arange(4)
M = jnp.array([[4.0, 1.0, 0.0], [1.0, 3.0, 0.5], [0.0, 0.5, 2.0]])
B = jnp.array([1.0, 2.0, 3.0])


@case
def densities():
    return [stats.norm.logpdf(X, 0.5, 2.0), stats.norm.pdf(X), stats.norm.cdf(X, loc=1.0), stats.norm.logcdf(X), stats.norm.ppf(X, 0.5, 2.0),
            stats.norm.sf(X), stats.beta.logpdf(X, 2.0, 3.0), stats.gamma.logpdf(X, 2.0, scale=0.5), stats.poisson.logpmf(K, 2.0),
            stats.bernoulli.logpmf(1, X), stats.bernoulli.pmf(0, X), stats.expon.logpdf(X), stats.laplace.logpdf(X), stats.laplace.cdf(X - 0.5),
            stats.t.logpdf(X, 3.0, 0.0, 2.0), stats.uniform.logpdf(X, 0.0, 0.5), stats.uniform.cdf(X, 0.2, 0.5), stats.binom.logpmf(K, 5, 0.3),
            stats.geom.logpmf(K, 0.3), stats.cauchy.logpdf(X), stats.logistic.logpdf(X), stats.chi2.logpdf(X, 3.0), stats.pareto.logpdf(X + 1, 2.0),
            stats.multivariate_normal.logpdf(X, jnp.zeros(5), jnp.eye(5) * 2), stats.multivariate_normal.logpdf(jnp.ones((3, 2)), jnp.zeros(2), M[:2, :2]),
            stats.dirichlet.logpdf(jnp.array([0.2, 0.3, 0.5]), B), jax.grad(lambda m: stats.norm.logpdf(X, m, 2.0).sum())(0.3)]


@case
def solved_by_products():
    loss = lambda A, b: jnp.sum(cg(A, b, tol=1e-8)[0] ** 2)
    return [cg(lambda v: M @ v, B)[0], bicgstab(lambda v: M @ v, B)[0], jax.jit(lambda b: cg(M, b, tol=1e-7)[0])(B),
            cg(lambda t: {"x": M @ t["x"]}, {"x": B})[0]["x"], jax.grad(lambda b: loss(lambda v: M @ v, b))(B),
            jax.jit(jax.grad(lambda s: loss(lambda v: M @ v * s, B)))(2.0)]


@case
def filters():
    a, k = jnp.arange(12.0).reshape(3, 4), jnp.array([[1.0, 2.0], [3.0, 5.0]])
    at = [jnp.array([0.5, 1.0, 2.5]), jnp.array([1.0, 1.5, -0.5])]
    return [signal.convolve(jnp.arange(4.0), B), signal.convolve(a, k, mode="same"), signal.convolve2d(a, k, mode="valid"), signal.convolve2d(a, k),
            signal.convolve(jnp.arange(3.0), jnp.arange(5.0), mode="valid"), signal.convolve(a, jnp.ones((3, 3)), mode="same"),
            ndimage.map_coordinates(a, at, order=1), ndimage.map_coordinates(a, at, order=0, mode="nearest"),
            ndimage.map_coordinates(a, at, order=1, cval=3.0), ndimage.map_coordinates(a, at, 1, "wrap")]


@case
def last_dimensions():
    dot = jnp.vectorize(lambda a, b: jnp.dot(a, b), signature="(n),(n)->()")
    return [dot(jnp.ones((2, 3)), B), dot(jnp.ones((2, 1, 3)), jnp.ones((4, 3))), jnp.vectorize(lambda m, v: m @ v, signature="(n,m),(m)->(n)")(M[None], B),
            jnp.vectorize(lambda x, y: x + y)(B, 2.0), jnp.vectorize(lambda x, n: x ** n, excluded={1})(B, 2)]
