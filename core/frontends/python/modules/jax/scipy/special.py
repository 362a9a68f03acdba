# SPDX-License-Identifier: Apache-2.0
"""jax.scipy.special."""
from jax import _core
from jax.nn import logsumexp, sigmoid as expit
from jax._names import missing as _missing
import jax.numpy as jnp


def erf(x):
    return _core.unary_float("erf", x)


def erfc(x):
    return 1 - erf(x)


def logit(x):
    return jnp.log(x) - jnp.log1p(-_core.promoted(x, to_float=True)[0])


def xlogy(x, y):
    return jnp.where(_core.asarray(x) == 0, 0.0, x * jnp.log(y))


def erf_inv(x):
    from jax import random
    return random.erf_inv(_core.promoted(x, to_float=True)[0])


erfinv = erf_inv


def __getattr__(name):
    raise _missing("jax.scipy.special", name, globals())
