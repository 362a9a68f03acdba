# SPDX-License-Identifier: Apache-2.0
"""Windows that are dilated, special functions of two arguments, counts and the largest along any axis; what is mapped over them."""
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from lib.programs import case


def arr(seed, *shape):
    return jnp.asarray(np.random.RandomState(seed).randn(*shape).astype(np.float32))


@case
def dilated_windows():
    x = arr(0, 1, 7, 7, 2)

    def squared(x):
        return (lax.reduce_window(x, 0.0, lax.add, (1, 2, 3, 1), (1, 1, 2, 1), "SAME", window_dilation=(1, 2, 2, 1)) ** 2).sum()
    return [lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 1, 1, 1), "VALID", window_dilation=(1, 2, 1, 1)),
            lax.reduce_window(x, 0.0, lax.add, (1, 3, 2, 1), (1, 2, 1, 1), "SAME", base_dilation=(1, 2, 1, 1)), jax.grad(squared)(x)]


@case
def special_functions():
    s, x = jax.scipy.special, jnp.abs(arr(1, 6)) * 3 + 0.1
    a = jnp.array([0.3, 1.0, 2.5, 7.0, 20.0, 4.0])
    return [s.gammainc(a, x), s.gammaincc(a, x), s.gammainc(a, x * 8), s.zeta(x + 1.5, 1.25), s.polygamma(1, x), s.polygamma(3, x), s.multigammaln(x + 2, 3),
            s.i0(x), s.i0e(x * 9), s.i1(-x), s.i1e(x * 9), lax.igamma(2.0, 1.0), lax.igammac(2.0, 1.0)]


@case
def counted():
    x = arr(2, 3, 9)
    return [*jnp.histogram(x, 4), jax.vmap(lambda r: jnp.histogram(r, 3, (-2, 2))[0])(x), *jnp.histogram(x, jnp.array([-1.0, 0.0, 2.0]), density=True),
            *lax.top_k(x, 2, axis=0), *lax.approx_max_k(x, 2)]
