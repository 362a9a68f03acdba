# SPDX-License-Identifier: Apache-2.0
# What a loop carries has one type. A number of Python's takes the type that the body makes of it; an array keeps its own, or it is an error
# that says both types. All of this holds of JAX too, which runs this file as well.
import itertools
import jax
import jax.numpy as jnp
from jax import lax


def scanned(body, init, n):
    return lax.scan(lambda c, _: (body(c), None), init, None, n)[0]


def counted(body, init, n):
    return lax.fori_loop(0, n, lambda i, c: body(c), init)


def until(body, init, n):
    return lax.while_loop(lambda s: s[0] < n, lambda s: (s[0] + 1, body(s[1])), (0, init))[1]


def until_traced(body, init, n):
    return jax.jit(lambda n: lax.fori_loop(0, n, lambda i, c: body(c), init))(n)


def of_batch(loop):
    """Each example of a batch that the body reads, which changes no type."""
    def run(body, init, n):
        made = jax.vmap(lambda z: loop(lambda c: jax.tree_util.tree_map(lambda v: v + z, body(c)), init, n))(jnp.zeros(2, bool))
        return jax.tree_util.tree_map(lambda v: v[1], made)
    return run


def at_once(loop):
    return lambda *args: jax.jit(lambda: loop(*args))()


def text_of(run):
    try:
        return " ".join(f"{x.tolist()}:{x.dtype}" for x in map(jnp.asarray, jax.tree_util.tree_leaves(run())))
    except TypeError as error:
        return str(error)


def differ(before, after):
    return f"has type {before} but the corresponding output carry component has type {after}, so the "


F16, F32, I8, I32 = jnp.float16, jnp.float32, jnp.int8, jnp.int32
CASES = [
    (lambda c: c + 1.5, lambda: 0, "4.5:float32"),
    (lambda c: c + F32(1.5), lambda: 0, "4.5:float32"),
    (lambda c: c + F16(1.5), lambda: 0, "4.5:float16"),
    (lambda c: c + F16(1.5), lambda: 0.0, "4.5:float16"),
    (lambda c: c / 2, lambda: 1, "0.125:float32"),
    (lambda c: c * 2, lambda: 1, "8:int32"),
    (lambda c: jnp.asarray(c).astype("int8"), lambda: 1, "1:int8"),
    (lambda c: c + 1.5, lambda: jnp.asarray(1), "5.5:float32"),
    (lambda c: c + 1.5, lambda: jnp.full((2,), 1), "[5.5, 5.5]:float32"),
    (lambda c: c + 1.5, lambda: F32(1), "5.5:float32"),
    (lambda c: c + F16(1.5), lambda: F32(1), "5.5:float32"),
    (lambda c: c + 1.5, lambda: I32(0), differ("int32[]", "float32[]") + "dtypes do not match"),
    (lambda c: c + 1.5, lambda: jnp.arange(2), differ("int32[2]", "float32[2]") + "dtypes do not match"),
    (lambda c: 1, lambda: F32(0), differ("float32[]", "int32[]") + "dtypes do not match"),
    (lambda c: 1.5, lambda: F16(0), differ("float16[]", "float32[]") + "dtypes do not match"),
    (lambda c: c + jnp.ones(2), lambda: F32(0), differ("float32[]", "float32[2]") + "shapes do not match"),
    (lambda c: c + jnp.ones(2), lambda: I32(0), differ("int32[]", "float32[2]") + "dtypes do not match, and the shapes do not match"),
    (lambda c: (c, c), lambda: 0, "function carry input and carry output must have the same pytree structure"),
    # The types are decided once: the first is made of the second, which is no longer what it was.
    (lambda c: (c[1], c[1] + 1.5), lambda: (0, 0), differ("int32[]", "float32[]") + "dtypes do not match"),
    (lambda c: {"a": c["a"] + 1, "b": c["a"] * 0.5}, lambda: {"a": 0, "b": 1}, "3:int32 1.0:float32"),
]
LOOPS = [scanned, counted, until, until_traced]
for loop, (body, init, expected) in itertools.product(LOOPS + [at_once(f) for f in LOOPS] + [of_batch(f) for f in LOOPS], CASES):
    found = text_of(lambda: loop(body, init(), 3))
    assert found == expected or ":" not in expected and expected in found, (found, expected)

# No step is made, and the types are those of the steps.
assert text_of(lambda: counted(lambda c: c + 1.5, 0, 0)) == text_of(lambda: scanned(lambda c: c + 1.5, 0, 0)) == "0.0:float32"
assert "dtypes do not match" in text_of(lambda: counted(lambda c: c + 1.5, I32(0), 0))
assert text_of(lambda: lax.scan(lambda c, _: (c + 1.5, c), 0, None, 3)) == "4.5:float32 [0.0, 1.5, 3.0]:float32"

# What is counted by is a number too, of the type of the bounds.
assert text_of(lambda: counted(lambda c: c, I8(0), 3)) == text_of(lambda: lax.fori_loop(0, 3, lambda i, c: c + 0 * i, I8(0))) == "0:int8"
assert text_of(lambda: jax.jit(lambda n: lax.fori_loop(0, n, lambda i, c: c + i, I8(0)))(I8(3))) == "3:int8"
for bounds in ((I8(0), jnp.int16(3)), (0, 3.0), (0, jnp.uint32(3))):
    assert "fori_loop must have equal types" in text_of(lambda: lax.fori_loop(*bounds, lambda i, c: c, 0)), bounds
for condition, said in ((lambda c: 5 - c, "boolean scalar"), (lambda c: jnp.array([True]), "boolean scalar"), (lambda c: (c < 3,), "pytree")):
    assert said in text_of(lambda: lax.while_loop(condition, lambda c: c + 1, 0))
assert "must be a pair" in text_of(lambda: lax.scan(lambda c, _: c, 0, None, 3))

# Derivatives go through what was an int.
assert float(jax.grad(lambda x: lax.fori_loop(0, 3, lambda i, c: (c[0] + c[1] * x, c[1] + 0.5), (x, 1))[0])(2.0)) == 5.5
square = jax.custom_vjp(lambda v: v * v)
square.defvjp(lambda v: (v * v, v), lambda v, g: (2 * v * g,))
assert float(jax.grad(lambda x: lax.scan(lambda c, _: (square(x) + c, None), 0, None, 3)[0])(2.0)) == 12.0
assert "int32[]" in text_of(lambda: jax.grad(lambda x: lax.scan(lambda c, _: (square(x) + c, None), I32(0), None, 3)[0])(2.0))

# Weak is what all elements of come from numbers of Python's, whatever they are made by and wherever they go.
x, tiny = jnp.full((2,), 1), I8(3)
for weak in (x, x[0], x[::-1], x.reshape(1, 2), x.at[0].set(5), x.at[jnp.array([1, 0])].add(I32(1)), jnp.array(2), jnp.full_like(x, 3), -x, x * 2,
             jnp.concatenate([x, x]), jnp.where(jnp.array([True, False]), x, 7), lax.dynamic_slice(x, (I32(0),), (1,)), jnp.bool_(True) + 1):
    assert weak.weak_type and (weak + tiny).dtype == "int8", weak
assert (I32(1) + 1.5).weak_type and (I32(1) * 1.5 + F16(1)).dtype == "float16"
for strong in (jnp.array([1]), jnp.full((2,), 1, "int32"), jnp.sum(x), jnp.max(x), jnp.cumsum(x), I32(1) * 2, x + tiny, jnp.arange(2), I32(1) / 2):
    assert not strong.weak_type, strong
