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


def ctc_loss_with_forward_probs(logits, logit_paddings, labels, label_paddings, blank_id=0, log_epsilon=-1e5):
    """Connectionist temporal classification (Graves et al., 2006), forward in logarithms: after each time the score of n labels with a blank
    behind them, and of n labels without one. Equal neighbours need a blank between them."""
    batch, most = labels.shape
    scores = jax.nn.log_softmax(logits)
    blank = scores[:, :, blank_id, None]
    emitted = jnp.einsum("btk,bnk->btn", scores, jax.nn.one_hot(labels, logits.shape[-1]))
    repeated = jnp.pad((labels[:, :-1] == labels[:, 1:]).astype(jnp.float32), ((0, 0), (0, 1)))

    def joined(ended, more):
        return jnp.concatenate([ended[:, :1], jnp.logaddexp(ended[:, 1:], more)], -1)

    def step(state, now):
        ended, open_ = state
        emit, rest, padded = now
        before = joined(ended, open_ + log_epsilon * repeated)
        further = jnp.logaddexp(before[:, :-1], open_) + emit
        rested = joined(before + rest, open_ + rest + log_epsilon * (1.0 - repeated))
        state = tuple(padded[:, None] * old + (1.0 - padded[:, None]) * new for old, new in ((ended, rested), (open_, further)))
        return state, state

    start = jnp.full((batch, most + 1), log_epsilon).at[:, 0].set(0.0), jnp.full((batch, most), log_epsilon)
    _, (ended, opened) = jax.lax.scan(step, start, (jnp.swapaxes(emitted, 0, 1), jnp.swapaxes(blank, 0, 1), jnp.swapaxes(logit_paddings, 0, 1)))
    last = joined(ended[-1], opened[-1])
    lengths = most - jnp.sum(label_paddings, 1).astype(jnp.int32)
    loss = -jnp.sum(last * jax.nn.one_hot(lengths, most + 1), 1)
    return loss, ended.at[-1].set(last), opened


def ctc_loss(logits, logit_paddings, labels, label_paddings, blank_id=0, log_epsilon=-1e5):
    return ctc_loss_with_forward_probs(logits, logit_paddings, labels, label_paddings, blank_id, log_epsilon)[0]
