# SPDX-License-Identifier: Apache-2.0
# What a graph prints it prints each time it runs, with the values of that run, in the order of the program (which JAX promises where `ordered` says so).
import contextlib
import io
import warnings
import jax
import jax.numpy as jnp
from jax import lax


def printed(function, *args):
    with contextlib.redirect_stdout(io.StringIO()) as text:
        function(*args)
        jax.effects_barrier()
    return text.getvalue().split("\n")[:-1]


def shown(text, value, result=None):
    jax.debug.print(text, value)
    return value if result is None else result


inner = jax.jit(lambda x: shown("in {}", x, x + 1))


@jax.jit
def outer(x):
    jax.debug.print("sum {s:.1f} of {x}", s=x.sum(), x=x)
    return shown("out {}", inner(x), x * 2)


for _ in range(2):
    assert printed(outer, jnp.arange(2.0)) == ["sum 1.0 of [0. 1.]", "in [0. 1.]", "out [1. 2.]"]
assert float(outer(jnp.arange(2.0))[1]) == 2

# Scans, batches, and both.
steps = lambda c, xs: lax.scan(lambda c, x: shown("{}", c, (c + x, x)), c, xs)[0]
for wrap in (lambda f: f, jax.jit):
    assert printed(wrap(steps), 0, jnp.arange(3)) == ["0", "0", "1"]
    assert printed(wrap(jax.vmap(lambda x: shown("{}", x))), jnp.arange(2)) == ["0", "1"]
    assert printed(wrap(jax.vmap(steps)), jnp.array([0, 10]), jnp.ones((2, 2), int)) == ["0", "10", "1", "11"]
    assert printed(wrap(lambda: lax.fori_loop(0, 2, lambda i, x: shown("{}", i, x * 2), 1.0))) == ["0", "1"]
    assert printed(wrap(lambda: lax.scan(lambda c, x: shown("{}", x, (c, x)), 0, jnp.arange(2), reverse=True))) == ["1", "0"]


# The arm that was taken.
@jax.jit
def branches(i):
    lax.cond(i % 2 == 0, lambda: jax.debug.print("even"), lambda: None)
    return lax.switch(i, [lambda: shown("a {}", i, 1), lambda: shown("b {}", i * 10, 2), lambda: 3])


assert [printed(branches, i) for i in range(3)] == [["even", "a 0"], ["b 10"], ["even"]]
assert printed(lambda: lax.scan(lambda c, i: (c, branches(i)), 0, jnp.array([1, 0]))) == ["b 10", "even", "a 0"]

# Under derivatives the function prints once.
square = lambda x: shown("{}", x) ** 2
for f in (jax.grad(square), jax.jit(jax.value_and_grad(square)), lambda x: jax.jvp(square, (x,), (x,)), lambda x: jax.vjp(square, x)[1](x),
          jax.jit(jax.grad(lambda x: lax.scan(lambda c, _: (square(c), None), x, None, 1)[0]))):
    assert printed(f, 3.0) == ["3.0"], printed(f, 3.0)
assert printed(jax.jit(jax.vmap(jax.grad(square))), jnp.array([1.0, 2.0])) == ["1.0", "2.0"]

# Python that is called, and what no graph can count.
seen = []
jax.jit(lambda x: jax.debug.callback(lambda t, n: seen.append((float(t["x"]), n)), {"x": x}, "n"))(2.0)
assert seen == [(2.0, "n")]
doubled = lambda x: lax.while_loop(lambda x: x < 4, lambda x: shown("{}", x, x * 2), x)
assert printed(doubled, 1) == ["1", "2"]
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    assert jax.jit(lambda i: lax.cond(i > 0, lambda: None, lambda: None))(1) is None and not caught
    assert printed(jax.jit(doubled), 1) == [] and int(jax.jit(doubled)(1)) == 4
assert any("loop whose end data decides" in str(w.message) for w in caught)
