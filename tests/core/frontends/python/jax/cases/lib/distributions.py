# SPDX-License-Identifier: Apache-2.0
"""Random numbers of all distributions, with their bits."""
import jax
import jax.numpy as jnp
from jax import random
from lib.programs import case


@case
def distributions():
    k = random.PRNGKey(42)
    out = [random.normal(k, (3,)), random.uniform(k, (3,), minval=-1, maxval=2), random.randint(k, (5,), 0, 10),
                random.bernoulli(k, 0.3, (6,)).astype(int), random.permutation(k, 6), random.choice(k, 5, (3,), replace=False),
                random.categorical(k, jnp.log(jnp.array([0.1, 0.2, 0.7])), shape=(5,)), random.gumbel(k, (3,)),
                random.exponential(k, (3,)), random.truncated_normal(k, -1, 1, (4,)), random.fold_in(k, 3), random.split(k, 3),
                random.laplace(k, (3,)), random.logistic(k, (3,)), random.cauchy(k, (3,)), random.rademacher(k, (4,)),
                random.bits(k, (3,))]
    return out


@case
def whole_numbers_at_random():
    k = random.key(7)
    return [random.randint(k, (6,), -128, 128, jnp.int8), random.randint(k, (6,), 0, 256, jnp.uint8), random.randint(k, (4,), 0,
                300, jnp.uint8), random.randint(k, (4,), -500, 500, jnp.int8), random.randint(k, (4,), 0,
                2 ** 31 - 1), random.randint(k, (4,), 5, 5), random.randint(k, (4,), -2 ** 31, 2 ** 31 - 1), random.randint(k, (4,
                ), 0, 70000, jnp.uint16), random.randint(k, (4,), 0, 1000, jnp.uint32), random.randint(k, (3, 2), jnp.array([0,
                10]), jnp.array([5, 20])), random.randint(k, (5,), 0, 65536, jnp.int16)]


@case
def gammas():
    k = random.key(3)
    return [random.gamma(k, 2.0, (4,)), random.beta(k, 2.0, 3.0, (3,)), random.dirichlet(k, jnp.ones(3)), random.poisson(k, 3.0,
                (5,)), random.t(k, 4.0, (3,)), random.chisquare(k, 3.0, shape=(2,)), random.gamma(k, jnp.array([0.3, 5.0]))]


@case
def rarer_distributions():
    k = random.key(3)
    return [random.maxwell(k, (3,)), random.rayleigh(k, 1.0, (3,)), random.pareto(k, 2.0, (3,)), random.weibull_min(k, 1.0, 2.0,
                (3,)), random.lognormal(k, 1.0, (3,)), random.ball(k, 3, shape=(2,)), random.geometric(k, 0.3, (4,
                )), random.triangular(k, 0.0, 0.5, 1.0, (3,)), random.wald(k, 1.0, (3,
                )), random.double_sided_maxwell(k, 0.0, 1.0, (3,))]
