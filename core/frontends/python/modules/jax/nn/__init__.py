# SPDX-License-Identifier: Apache-2.0
"""jax.nn: activations and what belongs to them."""
from jax import _core, _types
from jax._core import asarray as _asarray
from jax._names import missing as _missing, refuse as _refuse
from jax.nn import initializers
import jax.numpy as jnp


def _float(x):
    return _core.promoted(x, to_float=True)[0]


def relu(x):
    return _core.bounded("maximum", x, 0)


def relu6(x):
    return _core.bounded("minimum", relu(x), 6)


def sigmoid(x):
    return _core.unary_float("logistic", x)


def silu(x):
    return _float(x) * sigmoid(x)


swish = silu


def softplus(x):
    return jnp.logaddexp(x, 0.0)


def log_sigmoid(x):
    return -softplus(-_float(x))


def soft_sign(x):
    return _float(x) / (jnp.abs(x) + 1)


def tanh(x):
    return jnp.tanh(x)


def elu(x, alpha=1.0):
    x = _float(x)
    return jnp.where(x > 0, x, alpha * jnp.expm1(jnp.where(x > 0, 0.0, x)))


def selu(x):
    return 1.0507009873554804934193349852946 * elu(x, 1.6732632423543772848170429916717)


def celu(x, alpha=1.0):
    x = _float(x)
    return jnp.where(x > 0, x, alpha * jnp.expm1(jnp.where(x > 0, 0.0, x) / alpha))


def leaky_relu(x, negative_slope=0.01):
    x = _float(x)
    return jnp.where(x >= 0, x, negative_slope * x)


def hard_tanh(x):
    return jnp.where(x > 1, 1, jnp.where(x < -1, -1, x))


def hard_sigmoid(x):
    return relu6(_asarray(x) + 3.0) / 6.0


def hard_silu(x):
    return x * hard_sigmoid(x)


hard_swish = hard_silu


def mish(x):
    return _float(x) * jnp.tanh(softplus(x))


def squareplus(x, b=4):
    x = _float(x)
    return (x + jnp.sqrt(x * x + b)) / 2


def gelu(x, approximate=True):
    x = _float(x)
    if approximate:
        return x * (0.5 * (1.0 + jnp.tanh(0.7978845608028654 * (x + 0.044715 * (x * x * x)))))
    return 0.5 * x * (1.0 + _core.unary("erf", x * 0.7071067811865476))


def glu(x, axis=-1):
    a, b = jnp.split(x, 2, axis)
    return a * sigmoid(b)


def identity(x):
    return _asarray(x)


def sparse_plus(x):
    import jax.numpy as jnp
    x = _float(x)
    return jnp.where(x <= -1.0, 0.0, jnp.where(x >= 1.0, x, (x + 1.0) ** 2 / 4))


def sparse_sigmoid(x):
    import jax.numpy as jnp
    return 0.5 * jnp.clip(_float(x) + 1.0, 0.0, 2.0)


def log1mexp(x):
    """log (1 - exp (-x)) without cancellation (Maechler, Accurately computing log (1 - exp (-|a|)), 2012)"""
    import jax.numpy as jnp
    x = _float(x)
    near = x < 0.6931472
    return jnp.where(near, jnp.log(-jnp.expm1(-jnp.where(near, x, 1.0))), jnp.log1p(-jnp.exp(-jnp.where(near, 1.0, x))))


def logmeanexp(x, axis=None, where=None, keepdims=False):
    import jax.numpy as jnp
    x = _float(x)
    count = jnp.sum(jnp.broadcast_to(True if where is None else where, x.shape), axis, keepdims=keepdims)
    return logsumexp(x, axis, keepdims=keepdims, where=where) - jnp.log(count)


def logsumexp(a, axis=None, b=None, keepdims=False, return_sign=False, where=None):
    from jax import lax
    a = _float(a)
    top = jnp.max(a, axis, keepdims=True, where=where, initial=None if where is None else -jnp.inf)
    top = lax.stop_gradient(jnp.where(jnp.isfinite(top), top, 0.0))
    powers = jnp.exp(a - top)
    powers = powers if b is None else powers * b
    total = jnp.sum(powers, axis, keepdims=True, where=where)
    results = jnp.log(jnp.abs(total) if return_sign else total) + top, jnp.sign(total)
    if not keepdims:
        shape = jnp.sum(a, axis).shape
        results = tuple(_core.reshape(r, shape) for r in results)
    return results if return_sign else results[0]


def softmax(x, axis=-1, where=None, initial=None):
    _refuse("nn.softmax", "initial", initial, None, -jnp.inf)
    from jax import lax
    x = _float(x)
    powers = jnp.exp(x - lax.stop_gradient(jnp.max(x, axis, keepdims=True, where=where, initial=None if where is None else -jnp.inf)))
    powers = powers if where is None else jnp.where(where, powers, 0.0)
    return powers / jnp.sum(powers, axis, keepdims=True)


def log_softmax(x, axis=-1, where=None, initial=None):
    _refuse("nn.log_softmax", "initial", initial, None, -jnp.inf)
    from jax import lax
    x = _float(x)
    shifted = x - lax.stop_gradient(jnp.max(x, axis, keepdims=True, where=where, initial=None if where is None else -jnp.inf))
    return shifted - jnp.log(jnp.sum(jnp.exp(shifted), axis, keepdims=True, where=where))


def standardize(x, axis=-1, mean=None, variance=None, epsilon=1e-5, where=None):
    x = _float(x)
    mean = jnp.mean(x, axis, keepdims=True, where=where) if mean is None else mean
    variance = jnp.mean(x * x, axis, keepdims=True, where=where) - mean * mean if variance is None else variance
    return (x - mean) / jnp.sqrt(variance + epsilon)


def one_hot(x, num_classes, *, dtype=None, axis=-1):
    x = _asarray(x)
    made = _core.compare("EQ", _core.reshape(x, x.shape + (1,)), _core.iota(x.dtype, (num_classes,), 0))
    return jnp.moveaxis(_core.convert(made, _types.float32 if dtype is None else _types.as_dtype(dtype)), -1, axis)


def dot_product_attention(query, key, value, bias=None, mask=None, *, scale=None, is_causal=False, query_seq_lengths=None,
                          key_value_seq_lengths=None, local_window_size=None, implementation=None):
    """Heads of queries may be several times those of keys and values: neighbours share one."""
    _refuse("nn.dot_product_attention", "implementation", implementation, None, "xla")
    query, key, value = (_asarray(x) for x in (query, key, value))
    single = query.ndim == 3
    if single:
        query, key, value = (x[None] for x in (query, key, value))
    (batch, n_queries, heads, width), (_, n_keys, shared, _) = query.shape, key.shape
    if heads % shared or value.shape[2] != shared:
        raise ValueError(f"The number of query heads must be a multiple of key/value heads, but got {heads} vs {shared}")
    grouped = query.reshape(batch, n_queries, shared, heads // shared, width)
    scores = jnp.einsum("btkgh,bskh->bkgts", grouped, key, preferred_element_type=_types.float32)
    scores = scores.reshape(batch, heads, n_queries, n_keys) * (width ** -0.5 if scale is None else scale)
    scores = scores if bias is None else scores + bias
    mask = _attention_mask(mask, n_queries, n_keys, is_causal, query_seq_lengths, key_value_seq_lengths, local_window_size)
    if mask is not None:
        scores = jnp.where(mask, scores, -0.7 * jnp.finfo(scores.dtype).max)
    weights = _core.convert(softmax(scores, -1), key.dtype).reshape(batch, shared, heads // shared, n_queries, n_keys)
    result = jnp.einsum("bkgts,bskh->btkgh", weights, value).reshape(batch, n_queries, heads, value.shape[-1])
    if query_seq_lengths is not None:
        inside = jnp.arange(n_queries) < _asarray(query_seq_lengths)[:, None]
        result = jnp.where(inside[:, :, None, None], result, 0)
    return result[0] if single else result


def _attention_mask(mask, n_queries, n_keys, is_causal, query_lengths, key_lengths, window):
    """Which keys a query sees, with dimensions for batch and heads; None for all."""
    parts = [] if mask is None else [_asarray(mask)]
    at, of = jnp.arange(n_queries)[:, None], jnp.arange(n_keys)
    if is_causal:
        parts.append(at >= of)
    if window is not None:
        before, after = (window, window) if isinstance(window, int) else window
        parts += [of >= at - before, of <= at + after]
    if query_lengths is not None:
        parts.append((at < _asarray(query_lengths)[:, None, None])[:, None])
    if key_lengths is not None:
        parts.append((of < _asarray(key_lengths)[:, None, None])[:, None])
    whole = None
    for part in parts:
        whole = part if whole is None else jnp.logical_and(whole, part)
    return whole


def __getattr__(name):
    raise _missing("jax.nn", name, globals())
