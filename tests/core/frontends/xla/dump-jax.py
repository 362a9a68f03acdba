# SPDX-License-Identifier: Apache-2.0
# Compiles a program with JAX itself, which dumps what XLA_FLAGS says, and prints XLA's bytes of arguments and temporaries: the gradient of two dense layers, of a scan, of a convolution.
import sys
import jax
import jax.numpy as jnp


def dense(w, x):
    h = jax.nn.softmax(jnp.tanh(x @ w[0]) @ w[1])
    return jnp.sum(h * h)


def scan(w, x):
    return jnp.sum(jax.lax.scan(lambda c, w: (jnp.sin(c @ w), None), x, w)[0])


def convolution(k, x):
    y = jax.lax.conv_general_dilated(x, k, (1, 1), "SAME")
    mean = y.mean((0, 2, 3), keepdims=True)
    y = jax.nn.relu((y - mean) / jnp.sqrt(((y - mean) ** 2).mean((0, 2, 3), keepdims=True) + 1e-5))
    return jnp.sum(jnp.max(y, axis=(2, 3)))


def of(*shape):
    return jax.ShapeDtypeStruct(shape, "float32")


ARGUMENTS = {dense: ((of(16, 32), of(32, 8)), of(4, 16)), scan: (of(5, 8, 8), of(4, 8)), convolution: (of(4, 3, 3, 3), of(2, 3, 8, 8))}
function = globals()[sys.argv[1]]
stats = jax.jit(jax.value_and_grad(function)).lower(*ARGUMENTS[function]).compile().memory_analysis()
print(stats.argument_size_in_bytes, stats.temp_size_in_bytes)
