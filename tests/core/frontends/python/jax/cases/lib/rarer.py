# SPDX-License-Identifier: Apache-2.0
"""Rarer functions of jax.numpy."""
import numpy as np
import jax.numpy as jnp
from jax import lax  # noqa: F401
from lib.programs import case

NUMBERS = np.random.RandomState(1)


def arr(*shape):
    return NUMBERS.randn(*shape).astype(np.float32)


X, V = arr(4, 6), arr(5)


@case
def more_np():
    x = jnp.asarray(X)
    v = jnp.asarray(V)
    return [jnp.isin(jnp.arange(5), jnp.array([1, 3])), jnp.gradient(v), *jnp.gradient(x), jnp.gradient(v, 2.0), jnp.trapezoid(v),
                jnp.trapezoid(x, dx=0.5, axis=0), jnp.trapezoid(v, jnp.arange(5.0) ** 2), jnp.vander(v, 3), jnp.geomspace(1.0,
                100.0, 5), jnp.cov(x), jnp.corrcoef(x), jnp.put_along_axis(x, jnp.argmax(x, 1, keepdims=True), 0.0, 1,
                inplace=False), x[jnp.ix_(jnp.array([0, 2]), jnp.array([1, 3, 5]))], jnp.mgrid[0:3, 0:2], jnp.ogrid[0:3,
                0:2][0], jnp.r_[1.0, 2.0, jnp.arange(3.0)], jnp.c_[v, v], *jnp.unravel_index(jnp.array([3, 7]), (3,
                4)), jnp.ravel_multi_index((jnp.array([1, 2]), jnp.array([0, 3])), (3,
                4)), jnp.fill_diagonal(x, 9.0, inplace=False), *jnp.diag_indices(3), jnp.diagflat(v[:2]), jnp.flatnonzero(jnp.array([0,
                1, 1])), jnp.extract(v > 0, v), jnp.compress(jnp.array([True, False, True]), x, axis=0), jnp.choose(jnp.array([0, 1]),
                [jnp.array([1, 2]), jnp.array([3, 4])]), jnp.cumulative_sum(v, include_initial=True), jnp.ediff1d(v)]


@case
def more_np2():
    x = jnp.asarray(X)
    v = jnp.asarray(V)
    n = x.at[1, 2].set(jnp.nan).at[0, 0].set(jnp.nan)
    return [jnp.gcd(jnp.array([12, 9, 0]), jnp.array([8, 6, 5])), jnp.lcm(jnp.array([4, 6]), jnp.array([6, 8])), jnp.isposinf(v),
                jnp.real(v), jnp.imag(v), jnp.polyfit(v, v ** 2, 2), jnp.polyadd(v, v[:2]), jnp.polymul(v, v[:2]), jnp.polyder(v),
                jnp.polyint(v), jnp.polyval(v, 2.0), jnp.matvec(x, arr(6)), jnp.resize(v, (2, 4)), jnp.atleast_3d(v).reshape(-1),
                jnp.hamming(5), jnp.hanning(5), jnp.blackman(5), jnp.bartlett(5), jnp.apply_along_axis(lambda r: r.sum(), 1, x),
                jnp.apply_along_axis(jnp.cumsum, 0, x), jnp.array_equiv(v, v), jnp.bitwise_count(jnp.array([7, 8, 255])),
                jnp.correlate(v, v[:2]), jnp.correlate(v, v[:2], "full"), jnp.ldexp(v, 2), *jnp.frexp(v), jnp.lexsort((v,
                jnp.array([1, 0, 1, 0, 1]))), jnp.piecewise(v, [v < 0, v > 1], [lambda x: -x, lambda x: x * x,
                0.0]), jnp.block([[x, x], [x,
                x]]), jnp.nanstd(n), jnp.nanvar(n, 0), jnp.nancumsum(n, 1), jnp.nanprod(n, 1), jnp.nanmedian(n, 1), jnp.nanquantile(n,
                0.3, axis=0), jnp.nanpercentile(n, 70.0), jnp.fromfunction(lambda i, j: i + j, (2, 3)), jnp.union1d(jnp.array([1, 2]),
                jnp.array([2, 5])), jnp.trim_zeros(jnp.array([0, 1, 2, 0])), *jnp.tril_indices_from(x)]
