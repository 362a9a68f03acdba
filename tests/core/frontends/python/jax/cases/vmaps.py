# SPDX-License-Identifier: Apache-2.0
# vmap of 100 random functions gives what a loop over the examples gives, values and gradients.
import random as choices
import numpy as np
import jax
import jax.numpy as jnp
from jax import lax

SEED = 20261127
print("seed", SEED)
chosen = choices.Random(SEED)
N, ROWS, COLUMNS = 3, 4, 5
# Of an example x, [ROWS, COLUMNS], and of what all examples share, w, of the same shape: again of that shape.
STEPS = [
    lambda x, w: jnp.sin(x) + w, lambda x, w: x * w - x.mean(), lambda x, w: jnp.tanh(x @ w.T @ w), lambda x, w: jax.nn.softmax(x, axis=1),
    lambda x, w: jnp.where(x > w, x, w * 0.5), lambda x, w: x[::-1], lambda x, w: jnp.roll(x, 2, 1), lambda x, w: jnp.cumsum(x, 0) / 3,
    lambda x, w: jnp.sort(x, 1), lambda x, w: jnp.take_along_axis(x, jnp.argsort(w, 1), 1), lambda x, w: x.at[1].set(w[2]), lambda x, w: x.at[:, 3].add(x[:, 0]),
    lambda x, w: x - x.max(0), lambda x, w: jnp.concatenate([x[1:], w[:1]]), lambda x, w: x.T.reshape(ROWS, COLUMNS), lambda x, w: jnp.pad(x[:, 1:-1], ((0, 0), (1, 1))),
    lambda x, w: lax.scan(lambda c, r: (c * 0.5 + r, c), w[0], x)[1], lambda x, w: lax.fori_loop(0, 3, lambda i, v: jnp.cos(v) + w, x),
    lambda x, w: lax.cond(x.sum() > 0, jnp.sin, lambda v: v * w, x), lambda x, w: lax.dynamic_update_slice(x, w[:2, :2], (1, 2)),
    lambda x, w: x[jnp.argmax(x, 1) % ROWS], lambda x, w: jnp.einsum("ij,kj->ik", x, w)[:, :1] + x, lambda x, w: jax.vmap(jnp.outer, (0, None))(x, w[0]).sum(2),
    lambda x, w: jax.grad(lambda v: jnp.sum(jnp.sin(v) * w))(x), lambda x, w: lax.reduce_window(x, 0.0, lax.add, (2, 1), (1, 1), "SAME") / 2,
    lambda x, w: lax.while_loop(lambda v: jnp.abs(v).sum() > 6, lambda v: v * 0.5, lax.stop_gradient(x)) + x, lambda x, w: jnp.linalg.norm(x, axis=1, keepdims=True) * w,
]


def composed(steps):
    def function(x, w):
        for step in steps:
            x = step(x, w)
        return x
    return function


numbers = np.random.RandomState(SEED)
xs = jnp.asarray(numbers.randn(N, ROWS, COLUMNS).astype(np.float32))
w = jnp.asarray(numbers.randn(ROWS, COLUMNS).astype(np.float32))
for k in range(100):
    names = [chosen.randrange(len(STEPS)) for _ in range(chosen.randint(2, 4))]
    f = composed([STEPS[i] for i in names])
    g = jax.jit(jax.grad(lambda x, w, f=f: jnp.sum(jnp.sin(f(x, w))))) if k % 4 == 0 else jax.jit(f)
    have = np.asarray(jax.jit(jax.vmap(g, (0, None)))(xs, w))
    want = np.stack([np.asarray(g(x, w)) for x in xs])
    assert np.allclose(have, want, rtol=1e-5, atol=1e-5), f"function {k} of steps {names}: {np.abs(have - want).max()}"
