# SPDX-License-Identifier: Apache-2.0
# Layers whose parameters are stacked: the gradients of their slices are added up in the gradient's own storage, so that recomputing saves
# here what it saves with parameters of their own.
import jax
import jax.numpy as jnp

N, D = 6, 64
cp = jax.checkpoint_policies


def of_slices(w, x, remat):
    for i in range(N):
        x = remat(lambda x, a, b: jnp.sin(x @ a) @ b)(x, w[0][i], w[1][i])
    return jnp.sum(x)


def slicing(w, x, remat):
    for i in range(N):
        x = remat(lambda x, w, i=i: jnp.sin(x @ w[0][i]) @ w[1][i])(x, w)
    return jnp.sum(x)


def looping(w, x, remat):
    return jnp.sum(jax.lax.fori_loop(0, N, lambda i, x: remat(lambda x, w: jnp.sin(x @ w[0][i]) @ w[1][i])(x, w), x))


w = jnp.sin(jnp.arange(N * D * 4 * D * 1.0)).reshape(N, D, 4 * D) * 0.1, jnp.cos(jnp.arange(N * D * 4 * D * 1.0)).reshape(N, 4 * D, D) * 0.1
x = jnp.ones((256, D))
parameters, hidden, ends = 2 * N * D * 4 * D * 4, 256 * 4 * D * 4, 256 * D * 4
found = []
for loss in (of_slices, slicing, looping):
    for remat in (lambda f: f, jax.checkpoint):
        f = jax.jit(jax.grad(lambda w, x: loss(w, x, remat)))
        temp = f.lower(w, x).compile().memory_analysis().temp_size_in_bytes
        # What enters each layer is kept, and one layer at a time computed again; the gradients' sums may lie among the temporaries.
        layers = 4 * hidden + N * ends if remat is jax.checkpoint else 2 * N * hidden + 2 * N * ends + 4 * hidden
        assert temp <= parameters + layers, (loss.__name__, temp, parameters, layers)
        found.append(f(w, x))
for made in found[1:]:
    for a, b in zip(made, found[0]):
        assert jnp.allclose(a, b, rtol=1e-4, atol=1e-4)
