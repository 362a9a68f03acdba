# SPDX-License-Identifier: Apache-2.0
"""A training step of a small transformer in JAX's style: Gantry's own jax runs it, and so does the real one."""
import jax
import jax.numpy as jnp
import optax

BATCH, LENGTH, DIM, HEADS, HIDDEN, LAYERS, WORDS = 8, 128, 256, 4, 1024, 2, 512


def norm(x, p):
    mean = x.mean(-1, keepdims=True)
    centred = x - mean
    variance = (centred * centred).mean(-1, keepdims=True)
    return centred * jax.lax.rsqrt(variance + 1e-5) * p["scale"] + p["bias"]


def dense(x, p):
    return x @ p["w"] + p["b"]


def attention(x, p):
    def split(y):
        return y.reshape(BATCH, LENGTH, HEADS, DIM // HEADS).transpose(0, 2, 1, 3)
    q, k, v = (split(dense(x, p[n])) for n in ("query", "key", "value"))
    scores = q @ k.transpose(0, 1, 3, 2) / (DIM // HEADS) ** 0.5
    y = (jax.nn.softmax(scores) @ v).transpose(0, 2, 1, 3).reshape(BATCH, LENGTH, DIM)
    return dense(y, p["out"])


def forward(params, x):
    for p in params["layers"]:
        x = x + attention(norm(x, p["norm1"]), p)
        x = x + dense(jax.nn.gelu(dense(norm(x, p["norm2"]), p["up"])), p["down"])
    return dense(norm(x, params["norm"]), params["head"])


def make(leaf):
    def linear(n, m):
        return {"w": leaf(n, m), "b": leaf(m)}

    def affine():
        return {"scale": leaf(DIM), "bias": leaf(DIM)}

    def layer():
        return {"norm1": affine(), "norm2": affine(), "up": linear(DIM, HIDDEN), "down": linear(HIDDEN, DIM),
                **{n: linear(DIM, DIM) for n in ("query", "key", "value", "out")}}
    return {"layers": [layer() for _ in range(LAYERS)], "norm": affine(), "head": linear(DIM, WORDS)}


optimizer = optax.adam(0.01)


def step(params, state, x, labels):
    def loss(params):
        logits = forward(params, x)
        return optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean()
    value, gradients = jax.value_and_grad(loss)(params)
    updates, state = optimizer.update(gradients, state, params)
    return value, optax.apply_updates(params, updates), state


def arguments():
    params = make(lambda *shape: jnp.zeros(shape, jnp.float32))
    state = optimizer.init(params)
    return (params, state, jnp.zeros((BATCH, LENGTH, DIM), jnp.float32), jnp.zeros((BATCH, LENGTH), jnp.int32))


compiled = jax.jit(step, donate_argnums=(0, 1))
if __name__ == "__main__":
    jax.block_until_ready(compiled(*arguments()))
