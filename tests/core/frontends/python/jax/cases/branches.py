# SPDX-License-Identifier: Apache-2.0
# Branches: the arms agree in structure and types, whichever is taken; and where a batch decides, so that all arms are run, what an arm that
# an example did not take has for a derivative stays out of it. All of this holds of JAX too, which runs this file as well.
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax


def said(run):
    try:
        run()
    except TypeError as error:
        return str(error)
    return ""


F16, F32, I32 = jnp.float16, jnp.float32, jnp.int32
WRONG = [
    (lambda x: 1, lambda x: 2.0, "cond branches must have equal output types", "has type int32[]", "has type float32[], so the dtypes"),
    (lambda x: x, lambda x: x * F16(2), "equal output types", "has type int32[]", "has type float16[]"),
    (lambda x: jnp.ones(2), lambda x: F32(1), "has type float32[2]", "has type float32[], so the shapes"),
    (lambda x: (x, 1), lambda x: [x, 1], "cond branch outputs must have the same pytree structure"),
    (lambda x: x, lambda x: None, "same pytree structure"),
    (lambda x: {"a": 1}, lambda x: {"a": 1.5}, "float32[]"),
]
for one, other, *parts in WRONG:
    for run in (lambda: lax.cond(True, one, other, 3), lambda: lax.cond(False, one, other, 3), lambda: jax.jit(lambda p: lax.cond(p, one, other, 3))(True),
                lambda: jax.vmap(lambda p: lax.cond(p, one, other, 3))(jnp.array([True, False])),
                lambda: jax.vmap(lambda v: lax.cond(True, lambda v: one(3), lambda v: other(3), v))(jnp.ones(2)),
                lambda: jax.grad(lambda v: jnp.sum(lax.cond(v > 0, lambda v: one(3), lambda v: other(3), v)))(1.0)):
        assert all(part in said(run) for part in parts), (said(run), parts)
    for index in (0, 1, 2):
        for run in (lambda: lax.switch(index, [one, one, other], 3), lambda: jax.jit(lambda i: lax.switch(i, [one, one, other], 3))(index)):
            assert "switch branch" in said(run) and "branch 0" in said(run), said(run)
for run, part in ((lambda: lax.cond(jnp.ones(2), lambda: 1, lambda: 0), "Pred must be a scalar"), (lambda: lax.cond("a", lambda: 1, lambda: 0), "Pred must be a scalar"),
                  (lambda: lax.switch(1.0, [lambda: 1, lambda: 2]), "Index type must be an integer"),
                  (lambda: lax.switch(jnp.array([1]), [lambda: 1, lambda: 2]), "must be scalar")):
    assert part in said(run), said(run)
# Numbers of Python's agree with arrays of their type.
for pred in (True, False):
    for run in (lambda: lax.cond(pred, lambda: I32(3), lambda: 3), lambda: jax.jit(lambda p: lax.cond(p, lambda: I32(3), lambda: 3))(pred)):
        assert int(run()) == 3 and run().weak_type
assert lax.cond(True, lambda x: 1, lambda x: 2, operand=None) == 1
assert [int(lax.switch(i, [lambda: 4, lambda: 5, lambda: 6])) for i in (-1, 0, 1, 2, 9)] == [4, 4, 5, 6, 6]
assert [int(jax.jit(lambda i: lax.switch(i, [lambda: 4, lambda: 5, lambda: 6]))(i)) for i in (-1, 0, 1, 2, 9)] == [4, 4, 5, 6, 6]

# Derivatives of arms at places where they have none
X = jnp.array([-1.0, 0.0, 1.0, 2.0])
W = jnp.array([0.0, 2.0, 3.0])
square = jax.custom_vjp(lambda v: v * v)
square.defvjp(lambda v: (v * v, v), lambda v, g: (2 * v * g,))
FUNCTIONS = {
    "operand": lambda x: lax.cond(x > 0, jnp.sqrt, lambda v: 3 * v, x),
    "read from outside": lambda x: lax.cond(x > 0, lambda: jnp.sqrt(x), lambda: x * 2.0),
    "log": lambda x: lax.cond(x > 0, jnp.log, lambda v: v, x),
    "quotient": lambda x: lax.cond(x != 0, lambda v: jnp.sin(v) / v, lambda v: 1.0, x),
    "large": lambda x: lax.cond(x < 1, jnp.exp, lambda v: v, x * 200),
    "tree": lambda x: sum(lax.cond(x > 0, lambda v: (jnp.sqrt(v[0]), v[1]), lambda v: (v[1], v[0]), [x, x * x])),
    "within": lambda x: lax.cond(x > 0, lambda v: lax.cond(v > 1, jnp.log, jnp.sqrt, v), lambda v: v, x),
    "switch": lambda x: lax.switch(jnp.int32(x), [lambda v: v, jnp.sqrt, jnp.log], x),
    "in a loop": lambda x: lax.fori_loop(0, 2, lambda i, c: lax.cond(c > 0, jnp.sqrt, lambda v: v * 2, c), x),
    "of a loop": lambda x: lax.cond(x > 0, lambda v: lax.fori_loop(0, 2, lambda i, c: jnp.sqrt(c), v), lambda v: v, x),
    "of slices": lambda x: lax.cond(x > 0, lambda v: lax.scan(lambda c, s: (c + jnp.log(s * v), None), 0.0, jnp.ones(2) * v)[0], lambda v: v, x),
    "no batch": lambda x: lax.cond(True, lambda v: v * 2, jnp.sqrt, x),
    "one for all": lambda x: lax.cond(jnp.sum(W) > 100, jnp.sqrt, lambda v: v * 3, x),
    "own derivative": lambda x: lax.cond(x > 0, lambda v: square(jnp.sqrt(v)), lambda v: v * 5, x),
}
for name, f in FUNCTIONS.items():
    expected = np.stack([np.asarray(jax.grad(f)(x)) for x in X])
    assert np.isfinite(expected).all(), (name, expected)
    for made in (jax.vmap(jax.grad(f))(X), jax.grad(lambda x: jnp.sum(jax.vmap(f)(x)))(X), jax.jit(jax.vmap(jax.grad(f)))(X)):
        assert np.allclose(made, expected, rtol=1e-5, atol=1e-6), (name, made, expected)
    assert np.allclose(jax.vmap(f)(X), np.stack([f(x) for x in X]), rtol=1e-5), name
    if name != "own derivative":
        second = jax.vmap(jax.grad(jax.grad(f)))(X)
        assert np.isfinite(second).all() and np.allclose(second, np.stack([jax.grad(jax.grad(f))(x) for x in X]), rtol=1e-5), (name, second)
        assert np.allclose(jax.vmap(lambda x: jax.jvp(f, (x,), (1.0,))[1])(X), expected, rtol=1e-5, atol=1e-6), name

# Parameters that all examples share, also those that an example did not take have a part in
by_w = jax.grad(lambda w: jnp.sum(jax.vmap(lambda x: lax.cond(x > 0, lambda: jnp.sum(jnp.sqrt(w * x)), lambda: jnp.sum(w)))(X)))
assert np.allclose(by_w(W)[1:], [2 + sum(0.5 * np.sqrt(x / w) for x in (1, 2)) for w in (2.0, 3.0)], rtol=1e-5), by_w(W)
# A branch by one predicate is one still, however many examples there are.
text = jax.jit(jax.vmap(lambda x, p: lax.cond(p, jnp.sqrt, lambda v: v, x), (0, None))).lower(X, True).as_text()
assert "if" in text and "select" not in text or "case" in text, text
# What chooses between values has the derivatives of both, here as there.
assert np.isnan(jax.grad(lambda x: jnp.where(x > 0, jnp.sqrt(x), 0.0))(0.0))
