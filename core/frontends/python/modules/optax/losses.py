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


def cosine_distance(predictions, targets, epsilon=0.0):
    return 1.0 - cosine_similarity(predictions, targets, epsilon)


def hinge_loss(predictor_outputs, targets):
    return jnp.maximum(0.0, 1.0 - predictor_outputs * targets)


def _entropy_terms(targets):
    known = targets > 0
    return jnp.where(known, targets * jnp.log(jnp.where(known, targets, 1.0)), 0.0)


def kl_divergence(log_predictions, targets, axis=-1):
    return jnp.sum(_entropy_terms(targets) - targets * log_predictions, axis)


def convex_kl_divergence(log_predictions, targets, axis=-1):
    """That of measures that need not add up to one."""
    return kl_divergence(log_predictions, targets, axis) + jnp.sum(jnp.exp(log_predictions) - targets, axis)


def safe_softmax_cross_entropy(logits, labels):
    """Where a label is 0 its logit may be infinite."""
    logs = jax.nn.log_softmax(logits)
    return -jnp.sum(jnp.where(labels != 0, logs * labels, 0.0), -1)


def poly_loss_cross_entropy(logits, labels, *, epsilon=2.0, axis=-1):
    rest = jnp.sum(labels * (1 - jax.nn.softmax(logits, axis)), axis)
    return softmax_cross_entropy(logits, labels, axis) + epsilon * rest


def sigmoid_focal_loss(logits, labels, *, alpha=None, gamma=2.0):
    """Lin et al., Focal Loss for Dense Object Detection (2017)."""
    labels = jnp.asarray(labels).astype(logits.dtype)
    p = jax.nn.sigmoid(logits)
    loss = sigmoid_binary_cross_entropy(logits, labels) * (p * (1 - labels) + (1 - p) * labels) ** gamma
    return loss if alpha is None else (alpha * labels + (1 - alpha) * (1 - labels)) * loss
