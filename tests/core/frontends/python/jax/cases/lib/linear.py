# SPDX-License-Identifier: Apache-2.0
"""Linear systems, unique elements, LAMB and LARS, and derivatives of one's own inside of scans and branches."""
import numpy as np
import jax
import jax.numpy as jnp
import jax.scipy.linalg
import optax
from jax import lax
from lib.programs import case

M = np.array([[4.0, 1, 2], [1, 3, 0.5], [2, 0.5, 5]], np.float32)
V = np.array([1.0, 2, 3], np.float32)
SWAPPED = np.array([[0.0, 1, 2], [3, 0, 1], [1, 5, 0]], np.float32)


@case
def systems():
    both, right = jnp.stack([M, SWAPPED]), jnp.stack([M, 2 * M])[..., :2]
    made = [jnp.linalg.det(both), *jnp.linalg.slogdet(both), jnp.linalg.inv(both), jnp.linalg.solve(M, V), jnp.linalg.solve(both, right),
            jnp.linalg.solve(SWAPPED, M), jnp.linalg.cholesky(M), jnp.linalg.cholesky(jnp.stack([M, 2 * M]), upper=True)]
    for lower in (True, False):
        made += [jax.scipy.linalg.solve_triangular(M, V, trans=t, lower=lower) for t in (0, 1)]
        made += [jax.scipy.linalg.solve_triangular(M, M, lower=lower, unit_diagonal=True),
                 jax.scipy.linalg.cho_solve(jax.scipy.linalg.cho_factor(M, lower), V)]
    return made


@case
def systems_gradients():
    solve = jnp.linalg.solve
    made = [jax.grad(lambda a: jnp.sum(jnp.sin(f(a))))(a) for f in (jnp.linalg.det, jnp.linalg.inv, jnp.linalg.cholesky) for a in (M, 0.5 * M)]
    made += [jax.grad(lambda a: jnp.sum(jnp.sin(jnp.linalg.inv(a))))(SWAPPED), *jax.grad(lambda a, b: jnp.sum(jnp.sin(solve(a, b))), (0, 1))(SWAPPED, V)]
    return made + [jax.jit(jax.grad(lambda a: jnp.sum(jnp.linalg.slogdet(a)[1])))(jnp.stack([M, SWAPPED])), jax.hessian(lambda v: jnp.sum(solve(M, v * v)))(V)]


@case
def unique_of_a_size():
    x, every = jnp.array([3, 1, 2, 3, 1]), dict(return_index=True, return_inverse=True, return_counts=True)
    made = [jnp.unique(x, size=n) for n in (2, 3, 5)] + list(jnp.unique(x, size=2, **every)) + list(jnp.unique(x * 1.5, size=5, fill_value=9, **every))
    made += [jax.jit(lambda x: jnp.unique(x, size=4, fill_value=-1))(jnp.array([[3, 1], [2, 3]])), jnp.unique(jnp.array([np.nan, 1.0, np.nan]), size=3)]
    return made + [jnp.unique(jnp.array([[3, 1], [2, 3]]), size=4, return_inverse=True)[1], jnp.zeros(jnp.dtype("int16").itemsize, jnp.dtype("int8"))]


@case
def layerwise_optimizers():
    made = []
    for optimizer in (optax.lamb(0.1, weight_decay=0.01), optax.lars(0.1, weight_decay=0.01), optax.lars(0.1, trust_ratio_mask=False, momentum=0.5)):
        w = {"a": jnp.array([1.0, 2, 3]), "b": jnp.zeros(2)}
        state = optimizer.init(w)
        for i in range(3):
            updates, state = optimizer.update(jax.tree_util.tree_map(lambda x: x * 0.5 + i + 0.25, w), state, w)
            w = optax.apply_updates(w, updates)
        made += list(w.values())
    return made


@jax.custom_vjp
def scaled(x, s):
    return jnp.sin(x) * s


@jax.custom_jvp
def grown(x):
    return jnp.exp(x)


scaled.defvjp(lambda x, s: (scaled(x, s), (x, s)), lambda kept, g: (g * jnp.cos(kept[0]) * kept[1] * 10, g * jnp.sin(kept[0])))
grown.defjvp(lambda x, t: (grown(x[0]), t[0] * 7 * jnp.exp(x[0])))


@case
def rules_inside():
    """Factors of 10 and 7 that only the rules have."""
    def carried(x, reverse=False):
        last, ys = lax.scan(lambda c, s: (scaled(c, s), c * s), x, jnp.array([1.0, 2, 3]), reverse=reverse)
        return last + jnp.sum(ys * ys)

    def nested(x):
        inner = lambda c, _: (grown(c) * 0.1, None)
        return lax.scan(lambda c, _: (lax.scan(inner, c, None, 2)[0], None), x, None, 2)[0]

    def chosen(x):
        return lax.cond(x > 0, lambda x: scaled(x, 2.0), lambda x: x * x, x)
    made = [jax.grad(f)(x) for f in (carried, nested, chosen) for x in (0.5, -0.25)] + [jax.grad(lambda x: carried(x, True))(0.5)]
    made += [jax.jit(jax.grad(carried))(0.5), jax.grad(lambda x: lax.fori_loop(0, 3, lambda i, c: scaled(c, 1.5), x))(0.5)]
    return made + [jax.jit(jax.vmap(jax.grad(nested)))(jnp.array([0.5, -0.25])), jax.grad(lambda x: lax.switch(1, [jnp.sin, grown], x))(0.5), carried(0.5)]
