# SPDX-License-Identifier: Apache-2.0
"""optax.losses."""
import jax
import jax.numpy as jnp


def squared_error(predictions, targets=None):
    return jnp.square(predictions - targets if targets is not None else predictions)


def l2_loss(predictions, targets=None):
    return 0.5 * squared_error(predictions, targets)


def huber_loss(predictions, targets=None, delta=1.0):
    errors = predictions - targets if targets is not None else predictions
    size = jnp.abs(errors)
    quadratic = jnp.minimum(size, delta)
    return 0.5 * quadratic ** 2 + delta * (size - quadratic)


def log_cosh(predictions, targets=None):
    errors = predictions - targets if targets is not None else predictions
    return jnp.logaddexp(errors, -errors) - jnp.log(2.0).astype(errors.dtype)


def cosine_similarity(predictions, targets, epsilon=0.0):
    a = predictions / jnp.maximum(jnp.linalg.norm(predictions, axis=-1, keepdims=True), epsilon)
    b = targets / jnp.maximum(jnp.linalg.norm(targets, axis=-1, keepdims=True), epsilon)
    return jnp.sum(a * b, -1)


def sigmoid_binary_cross_entropy(logits, labels):
    labels = jnp.asarray(labels).astype(logits.dtype)
    return -labels * jax.nn.log_sigmoid(logits) - (1.0 - labels) * jax.nn.log_sigmoid(-logits)


def softmax_cross_entropy(logits, labels, axis=-1):
    return -jnp.sum(labels * jax.nn.log_softmax(logits, axis), axis)


def softmax_cross_entropy_with_integer_labels(logits, labels, axis=-1):
    chosen = jnp.take_along_axis(logits, jnp.expand_dims(labels, axis), axis)
    return jax.nn.logsumexp(logits, axis) - jnp.squeeze(chosen, axis)


def smooth_labels(labels, alpha):
    return (1.0 - alpha) * labels + alpha / labels.shape[-1]
