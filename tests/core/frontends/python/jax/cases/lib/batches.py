# SPDX-License-Identifier: Apache-2.0
"""Batches of batches: what a loop, a branch or a derivative reads is of levels that it is not given, in any order."""
import jax
import jax.numpy as jnp
from jax import lax
from lib.programs import case

XS, YS, ZS = jnp.arange(3.0), jnp.arange(1.0, 5.0) / 2, jnp.arange(2.0) + 0.5


def of_two(f, xs=XS, ys=YS):
    """All pairs, the first argument within and outside of the second; as one function that reads both; in a graph."""
    def outer(x):
        return jax.vmap(lambda y: f(x, y))(ys)
    all_of = [jax.vmap(jax.vmap(f, (0, None)), (None, 0))(xs, ys), jax.vmap(jax.vmap(f, (None, 0)), (0, None))(xs, ys), jax.vmap(outer)(xs),
              jax.jit(jax.vmap(outer))(xs)]
    return [a for made in all_of for a in jax.tree_util.tree_leaves(made)]


def of_three(f, xs=XS, ys=YS, zs=ZS):
    """All triples, the last argument outermost and innermost; as functions that read what is outside of them."""
    first = jax.vmap(jax.vmap(jax.vmap(f, (0, None, None)), (None, 0, None)), (None, None, 0))
    last = jax.vmap(jax.vmap(jax.vmap(f, (None, None, 0)), (None, 0, None)), (0, None, None))

    def closed(ys):
        return jax.vmap(lambda x: jax.vmap(lambda y: jax.vmap(lambda z: f(x, y, z))(zs))(ys))(xs)
    all_of = [first(xs, ys, zs), last(xs, ys, zs), closed(ys), jax.jit(closed)(ys)]
    return [a for made in all_of for a in jax.tree_util.tree_leaves(made)]


@case
def collatz_of_two():
    def steps(n, limit):
        return lax.while_loop(lambda s: (s[0] != 1) & (s[1] < limit),
                              lambda s: (jnp.where(s[0] % 2 == 0, s[0] // 2, 3 * s[0] + 1), s[1] + 1), (n, 0))[1]
    return of_two(steps, jnp.arange(1, 6), jnp.array([3, 10, 100]))


@case
def while_of_two():
    return (of_two(lambda x, y: lax.while_loop(lambda s: s[0] < x + y, lambda s: (s[0] + 1, s[1] + x * y), (0.0, 0.0))) +
            of_two(lambda x, y: lax.while_loop(lambda s: s[0] < x, lambda s: (s[0] + 1, s[1] + y), (0.0, y))))


@case
def while_of_three():
    def f(x, y, z):
        return lax.while_loop(lambda s: s[0] < x * 2 + z, lambda s: (s[0] + y, s[1] * z + 1), (0.0, x))
    return of_three(f)


@case
def while_in_while_of_three():
    def f(x, y, z):
        def body(s):
            inner = lax.while_loop(lambda t: t < y, lambda t: t + z, s[1] * 0.5)
            return s[0] + 1, inner + x
        return lax.while_loop(lambda s: s[0] < x, body, (0.0, z))[1]
    return of_three(f)


@case
def scan_of_three():
    def f(x, y, z):
        last, ys = lax.scan(lambda c, t: (jnp.sin(c * x + t), c * y - z), z, jnp.arange(3.0) * y)
        return last + lax.scan(lambda c, t: (c + y, t * x), 0.0, jnp.arange(3.0))[1].sum(), ys
    return of_three(f)


@case
def while_in_scan_of_two():
    def f(x, y):
        def step(c, t):
            w = lax.while_loop(lambda s: s < x + t, lambda s: s + y, c)
            return w * 0.5, w
        return lax.scan(step, 0.0, jnp.arange(3.0))
    return of_two(f)


@case
def fori_of_two():
    return (of_two(lambda n, y: lax.fori_loop(0, n, lambda i, c: c * 0.5 + i * y, 1.0), jnp.arange(3)) +
            of_two(lambda n, y: lax.fori_loop(0, 3, lambda i, c: c * y + n, 1.0)))


@case
def branches_of_three():
    def f(x, y, z):
        a = lax.cond(x > y, lambda: x * z, lambda: x - y)
        return lax.cond(a > z, lambda v: v * y, lambda v: v - x, a), lax.switch(jnp.int32(x), [lambda v: v, lambda v: v * z, lambda v: -v], y)
    return of_three(f)


@case
def branch_in_while_of_three():
    def f(x, y, z):
        def body(s):
            return lax.cond(s[1] % 2 == 0, lambda s: (s[0] + x, s[1] + 1), lambda s: (s[0] * y - z, s[1] + 1), s)
        return lax.while_loop(lambda s: s[1] < 3 + z, body, (y, 0))[0]
    return of_three(f)


@case
def gradients_of_three():
    def f(x, y, z):
        g = jax.grad(lambda v: jnp.sin(v * x) * y + v ** 3 * z)
        return g(z), g(x * y), jax.value_and_grad(lambda v: lax.scan(lambda c, t: (jnp.sin(c * x + t), c * y), v, jnp.arange(3.0))[1].sum())(z)
    return of_three(f)


@case
def gradients_within_batches():
    def f(x, y):
        def loss(a):
            return jax.vmap(lambda b: jnp.sin(a * b) * y + jax.grad(lambda c: c ** 3 * a)(b))(YS).sum()
        return jax.grad(loss)(x), lax.fori_loop(0, 3, lambda i, c: c * 0.1 + jax.grad(lambda v: v * v * x * y)(c), y)
    return of_two(f)


@case
def derivatives_of_two():
    def f(x, y):
        w = jnp.arange(3.0) * x + 0.5
        return (jax.jvp(lambda v: jnp.sin(v * y), (x,), (y,)), jax.hessian(lambda w: jnp.sum(jnp.sin(w * y) * w))(w),
                jax.jacfwd(lambda w: w * y * w[::-1])(w), jax.vjp(lambda v: v * y, x)[1](y))
    return of_two(f)


@case
def own_derivatives_of_two():
    @jax.custom_vjp
    def scaled(x, y):
        return x * y
    scaled.defvjp(lambda x, y: (x * y, (x, y)), lambda kept, c: (c * kept[1] * 10, c * kept[0] * 100))

    @jax.custom_jvp
    def bent(x):
        return jnp.maximum(x, 0.0)
    bent.defjvp(lambda primals, tangents: (bent(*primals), tangents[0] * primals[0]))

    def f(x, y):
        return (jax.grad(lambda v: scaled(v, y) * x)(y), jax.grad(lambda v: bent(v * y) + bent(x))(x),
                jax.grad(lambda v: lax.scan(lambda c, t: (scaled(c, y) * 0.1 + x * t, c), v, jnp.arange(3.0))[0])(y))
    return of_two(f)


@case
def collectives_of_three():
    def f(x, y, z):
        return lax.psum(x * y, "x") + lax.pmax(y * z, "y") - lax.pmean(x * z, ("x", "z")) + lax.axis_index("y"), lax.all_gather(x + y * z, "x")
    return [*jax.vmap(jax.vmap(jax.vmap(f, (0, None, None), axis_name="x"), (None, 0, None), axis_name="y"), (None, None, 0), axis_name="z")(XS, YS, ZS),
            *jax.vmap(jax.vmap(jax.vmap(f, (None, None, 0), axis_name="z"), (None, 0, None), axis_name="y"), (0, None, None), axis_name="x")(XS, YS, ZS)]


@case
def graphs_of_two():
    def f(x, y):
        inner = jax.jit(lambda v: v * x + y)
        return inner(y), lax.map(lambda v: v * x + y, XS), lax.associative_scan(jnp.add, XS * x + y), jax.checkpoint(lambda v: jnp.sin(v * x) * y)(x)
    return of_two(f)
