# SPDX-License-Identifier: Apache-2.0
# What a graph is found again by, and what a policy reaches.
import _gantry
import jax
import jax.numpy as jnp
from jax import checkpoint_policies as policies, lax

# Equal static arguments of different types have graphs of their own.
f = jax.jit(lambda x, n: x * n, static_argnums=1)
ones = jnp.ones(2, "int32")
assert [str(f(ones, n).dtype) for n in (1, 1.0, True)] == ["int32", "float32", "int32"]

# A derivative outside of jit hands its policy over to the plan.
given, compile = [], _gantry.compile
_gantry.compile = lambda graph, policy: given.append(policy) or compile(graph, policy)
jax.grad(jax.checkpoint(lambda x: jnp.sum(jnp.sin(jnp.cos(x))), policy=policies.dots_saveable))(jnp.ones(3))
_gantry.compile = compile
assert any(p and "policy dots_saveable in" in p for p in given), given

# After an error in a body the graph goes on outside of it.
@jax.jit
def caught(x):
    for fails in (lambda: lax.scan(lambda c, v: 1 / 0, x, None, 3), lambda: lax.cond(x > 0, lambda: 1 / 0, lambda: x),
                  lambda: lax.while_loop(lambda v: v > 0, lambda v: 1 / 0, x)):
        try:
            fails()
        except ZeroDivisionError:
            continue
        raise AssertionError("no error")
    return lax.scan(lambda c, v: (c * 2, c), x, None, 3)[0] + 1


assert float(caught(jnp.float32(2))) == 17

# Bodies that read a batch from outside, in a graph and outside of one.
rows = jnp.arange(6.0).reshape(3, 2)
over = jax.vmap(lambda v: lax.scan(lambda c, x: (c + x * v, c * v), jnp.zeros(2), jnp.arange(4.0)))
either = jax.vmap(lambda v, p: lax.cond(p, lambda: v * 2, lambda: -v), (0, None))
for wrap in (lambda f: f, jax.jit):
    last, ys = wrap(over)(rows)
    assert last.shape == (3, 2) and ys.shape == (3, 4, 2)
    assert jnp.allclose(last, 6 * rows) and jnp.allclose(ys[:, 3], 3 * rows * rows)
    assert jnp.allclose(wrap(either)(rows, True), 2 * rows) and jnp.allclose(wrap(either)(rows, False), -rows)
    until = wrap(jax.vmap(lambda v: lax.while_loop(lambda c: c[0] < 3.0, lambda c: c + v, jnp.zeros(2))))(rows + 1)
    assert until.tolist() == [[3.0, 6.0], [3.0, 4.0], [5.0, 6.0]]

# What `_gantry` cannot take is an exception.
for wrong in (lambda: _gantry.scan(len, [], [], 1, False), lambda: _gantry.branch(1, len, len), lambda: _gantry.loop(len, len, []),
              lambda: _gantry.stage(lambda: ([], ["device"], []), (), "f", []), lambda: _gantry.stage(lambda: 1, (), "f", []),
              lambda: _gantry.stage(lambda x: ([x], [1], []), (("f32", (2,), "device", "x"),), "f", []),
              lambda: _gantry.stage(lambda x: ([x], ["device"], [(7, 0)]), (("f32", (2,), "device", "x"),), "f", []),
              lambda: _gantry.stage(lambda x: ([x], ["device"], []), (("f32", (-2,), "device", "x"),), "f", []),
              lambda: _gantry.stage(len, (1,), "f", []), lambda: _gantry.stage(lambda: ([], [], []), (), "f", ())):
    try:
        wrong()
    except (TypeError, ValueError, RuntimeError):
        continue
    raise AssertionError("no error")

for name in ("it's", "a\\b", "a\nb"):
    try:
        policies.save_only_these_names(name)
    except ValueError as error:
        assert "quote" in str(error)
    else:
        raise AssertionError(name)
