# SPDX-License-Identifier: Apache-2.0
"""Derivatives of derivatives by rules of one's own, derivatives by trees, typed keys in arrays, rolling by what the graph knows."""
from functools import partial
import jax
import jax.numpy as jnp
from jax import lax, random
from .programs import case

X = jnp.linspace(-2, 2, 5)


@jax.custom_jvp
def log1pexp(x):
    return jnp.log(1.0 + jnp.exp(x))


@log1pexp.defjvp
def _(primals, tangents):
    return log1pexp(primals[0]), (1 - 1 / (1 + jnp.exp(primals[0]))) * tangents[0]


@jax.custom_vjp
def cube(x):
    return x ** 3


# The rule calls its own function, whose derivative is by the rule too.
cube.defvjp(lambda x: (cube(x), x), lambda x, g: (0.5 * cube(x) * g,))


@partial(jax.custom_jvp, nondiff_argnums=(1,))
def powered(x, n):
    return x ** n


@powered.defjvp
def _(n, primals, tangents):
    return powered(primals[0], n), 1.5 * n * powered(primals[0], n - 1) * tangents[0]


@jax.custom_vjp
def layer(x, w):
    return jnp.tanh(x @ w)


def _layer_forward(x, w):
    y = layer(x, w)
    return y, (x, w, y)


def _layer_backward(saved, g):
    x, w, y = saved
    d = g * (1 - y * y)
    return d @ w.T, x.T @ d


layer.defvjp(_layer_forward, _layer_backward)
ROWS, WEIGHTS = random.normal(random.key(0), (3, 4)), random.normal(random.key(1), (4, 2))


@case
def second_custom_jvp():
    twice = jax.grad(jax.grad(log1pexp))
    return [jax.vmap(twice)(X), jax.jit(jax.vmap(jax.grad(twice)))(X), jax.hessian(lambda x: log1pexp(x).sum())(X),
            jax.jacfwd(jax.jacrev(lambda x: log1pexp(x) * x))(X), jax.grad(jax.grad(lambda x: powered(x, 4)))(1.5),
            jax.jvp(jax.grad(log1pexp), (0.5,), (1.0,))[1]]


@case
def second_custom_vjp():
    return [jax.grad(cube)(2.0), jax.grad(jax.grad(cube))(2.0), jax.jit(jax.grad(jax.grad(jax.grad(cube))))(2.0),
            jax.jacrev(jax.jacrev(lambda x: cube(x) * x))(X), jax.jit(jax.grad(lambda x: jax.grad(lambda y: cube(y) * y)(x) ** 2))(1.5),
            jax.grad(lambda w: jnp.sum(jax.grad(lambda w: jnp.sum(layer(ROWS, w) ** 2))(w) ** 2))(WEIGHTS)]


@case
def inner_steps():
    """Learning to learn: derivatives through steps of descent, in a scan too."""
    def loss(w, x):
        return jnp.mean(layer(x, w) ** 2)

    def adapted(w):
        return lax.scan(lambda w, _: (w - 0.1 * jax.grad(loss)(w, ROWS), None), w, None, 3)[0]
    return [jax.jit(jax.grad(lambda w: loss(w - 0.1 * jax.grad(loss)(w, ROWS), ROWS + 1)))(WEIGHTS),
            jax.jit(jax.grad(lambda w: loss(adapted(w), ROWS + 1)))(WEIGHTS)]


@case
def gradient_penalty():
    def penalty(w):
        slopes = jax.vmap(jax.grad(lambda x: layer(x[None], w).sum()))(ROWS)
        return jnp.mean((jnp.linalg.norm(slopes, axis=-1) - 1) ** 2)
    return list(jax.jit(jax.value_and_grad(penalty))(WEIGHTS))


@case
def known_results():
    """What a function gives may be a number all the same: its derivative is by the rule."""
    @jax.custom_vjp
    def three(x):
        return jnp.float32(3.0)
    three.defvjp(lambda x: (three(x), None), lambda _, g: (g * 5,))
    return [jax.grad(lambda x: three(x) * x)(2.0), jax.vmap(jax.grad(lambda x: three(x) * 2))(X)]


@case
def fixed_points():
    """What a rule keeps may come out of a loop that has no derivative."""
    @partial(jax.custom_vjp, nondiff_argnums=(0,))
    def fixed(f, a, x):
        return lax.while_loop(lambda c: jnp.abs(c[0] - c[1]).max() > 1e-6, lambda c: (c[1], f(a, c[1])), (x, f(a, x)))[1]

    def forward(f, a, x):
        found = fixed(f, a, x)
        return found, (a, found)

    def backward(f, saved, g):
        a, found = saved
        u = lax.fori_loop(0, 40, lambda i, u: g + jax.vjp(lambda x: f(a, x), found)[1](u)[0], g)
        return jax.vjp(lambda a: f(a, found), a)[1](u)[0], jnp.zeros_like(found)
    fixed.defvjp(forward, backward)
    root = lambda a: fixed(lambda a, x: 0.5 * (x + a / x), a, a)
    return [*jax.value_and_grad(root)(2.0), *jax.jit(jax.value_and_grad(root))(3.0)]


@case
def jacobians_of_trees():
    tree = {"w": jnp.ones((2, 3)), "x": jnp.arange(3.0)}
    f = lambda p: {"o": p["w"] @ p["x"], "s": (p["x"] ** 2).sum()}
    aux = jax.jacrev(lambda x: (x ** 2, {"a": x}), has_aux=True)(X)
    return jax.tree.leaves([jax.jacrev(f)(tree), jax.jacfwd(f)(tree), jax.hessian(lambda p: (p["w"][0] ** 2 * p["x"]).sum())(tree), aux])


@case
def rolls():
    a = jnp.arange(12.0).reshape(3, 4)
    traced = lambda **options: jax.jit(lambda s: jnp.roll(a, s, **options))
    return [jnp.roll(a, (1, -1), (0, 1)), traced()(-5), traced(axis=0)(7), traced(axis=(0, 1))(jnp.array([1, -2])),
            jax.vmap(lambda s: jnp.roll(jnp.arange(5), s))(jnp.arange(3)),
            jax.jit(jax.grad(lambda x, s: (jnp.roll(x, s) * jnp.arange(5.0)).sum()))(X, 3)]


@case
def arrays_of_keys():
    keys = random.split(random.key(7), 6).reshape(2, 3)
    both = jnp.stack([random.key(0), random.key(1)])
    assert both.shape == (2,) and keys.T.shape == (3, 2) and jnp.issubdtype(keys.dtype, jax.dtypes.prng_key)
    x = jnp.arange(12).reshape(4, 3)
    return [jax.vmap(jax.vmap(random.uniform))(keys), random.normal(both[1]), random.key_data(jnp.where(True, both[0], both[1])),
            random.key_data(jnp.concatenate([keys, keys], 1)), random.permutation(keys[0, 0], x, axis=1, independent=True)]
