# SPDX-License-Identifier: Apache-2.0
"""Sequences and draws: the loss of connectionist temporal classification, rotary positions, random choices and gamma variates."""
import builtins as _builtins
from mindspore import _core
from mindspore._core import Tensor, add, sub, mul, div, convert, float32, int32, int64
from mindspore.ops import _array as _a, _elementwise as _e, _gather as _g, _reduction as _r
from mindspore.ops._array import _ints
from mindspore.ops._random import _gauss, _unit, laplace

_NEVER = -1e30  # the logarithm of what cannot be


def _either(a, b):
    """log (exp a + exp b)"""
    most = _e.maximum(a, b)
    return add(most, _e.log(add(_e.exp(sub(a, most)), _e.exp(sub(b, most)))))


def ctc_loss(log_probs, targets, input_lengths, target_lengths, blank=0, reduction="mean", zero_infinity=False):
    """Graves and others, Connectionist temporal classification, 2006: the forward variables, one step of time after the other."""
    n, s = log_probs.shape[1], targets.shape[-1]
    targets, ends, lengths = (convert(_core.tensor_of(v), int64) for v in (targets, input_lengths, target_lengths))
    gap = _core.full((n, s, 1), blank, int64)
    labels = _a.concat([_core.reshape(_a.concat([gap, _core.reshape(targets, (n, s, 1))], 2), (n, 2 * s)), _core.full((n, 1), blank, int64)], 1)
    size = 2 * s + 1
    before = _a.concat([_core.full((n, 2), blank, int64), labels[:, :-2]], 1)
    skips = _e.logical_and(_core.compare("NE", labels, blank), _core.compare("NE", labels, before))
    taken = _g.gather_elements(log_probs, 2, _core.broadcast_to(_core.reshape(labels, (1, n, size)), (log_probs.shape[0], n, size)))

    def late(x, by):
        return _a.concat([_core.full((n, by), _NEVER, x.dtype), x[:, :size - by]], 1)
    column = _core.reshape(_a._iota((size,), 0), (1, size))
    alpha = _core.select(_core.broadcast_to(_core.compare("LT", column, 2), (n, size)), taken[0], _NEVER)
    steps = [alpha]
    for t in _builtins.range(1, log_probs.shape[0]):
        moved = _either(_either(alpha, late(alpha, 1)), _core.select(skips, late(alpha, 2), _NEVER))
        alive = _core.reshape(_core.compare("GT", ends, t), (n, 1))
        alpha = _core.select(_core.broadcast_to(alive, (n, size)), add(moved, taken[t]), alpha)
        steps.append(alpha)
    last = _core.reshape(mul(lengths, 2), (n, 1))
    final = _either(_g.gather_elements(alpha, 1, last), _core.select(_core.compare("GT", last, 0), _g.gather_elements(
        alpha, 1, _e.maximum(sub(last, 1), 0)), _NEVER))
    loss = _core.neg(_core.reshape(final, (n,)))
    never = _core.compare("GT", loss, 1e29)
    loss = _core.select(never, 0.0 if zero_infinity else float("inf"), loss)
    every = _a.stack(steps, 1)
    every = _core.select(_core.compare("LT", every, -1e29), -float("inf"), every)
    if reduction == "mean":
        loss = _r.mean(div(loss, convert(_e.maximum(lengths, 1), loss.dtype)))
    elif reduction == "sum":
        loss = _core.reduce("add", loss)
    return loss, every


def rotary_position_embedding(x, cos, sin, mode=0):
    if mode == 1:
        pairs = _core.reshape(x, x.shape[:-1] + (x.shape[-1] // 2, 2))
        turned = _core.reshape(_a.concat([_core.neg(pairs[..., 1:2]), pairs[..., 0:1]], -1), x.shape)
    else:
        half = x.shape[-1] // 2
        turned = _a.concat([_core.neg(x[..., half:]), x[..., :half]], -1)
    return add(mul(x, cos), mul(turned, sin))


def standard_laplace(shape, seed=None):
    return laplace(shape, 0.0, 1.0, seed)


def random_gamma(shape, alpha, seed=None):
    """Marsaglia and Tsang, A simple method for generating gamma variables, 2000: of 24 proposals the first that is accepted; each is
    with at least 95 in 100."""
    shape, alpha = _ints(shape), convert(_core.tensor_of(alpha), float32)
    whole = tuple(shape) + alpha.shape
    small = _core.compare("LT", alpha, 1.0)
    d = sub(_core.select(small, add(alpha, 1.0), alpha), 1.0 / 3)
    c = div(1.0 / 3, _e.sqrt(d))
    x, u = _gauss((24,) + whole, seed), _unit((24,) + whole, seed)
    root = add(1.0, mul(x, c))
    v = mul(mul(root, root), root)
    log_v = _e.log(_e.maximum(v, 1e-30))
    fits = _e.logical_and(_core.compare("GT", root, 0.0), _core.compare(
        "LT", _e.log(_e.maximum(u, 1e-30)), add(mul(mul(x, x), 0.5), mul(d, add(sub(1.0, v), log_v)))))
    first = _core.reshape(_r.argmax(convert(fits, int32), 0), (1,) + whole)
    made = mul(_core.reshape(_g.gather_elements(v, 0, convert(first, int64)), whole), d)
    boost = _e.exp(div(_e.log(_e.maximum(_unit(whole, seed), 1e-30)), alpha))
    return _core.select(_core.broadcast_to(small, whole), mul(made, boost), made)


def gamma(shape, alpha, beta, seed=None):
    alpha, beta = (convert(_core.tensor_of(v), float32) for v in (alpha, beta))
    both = _core.broadcast_shapes(alpha.shape, beta.shape)
    return div(random_gamma(shape, _core.broadcast_to(alpha, both), seed), beta)


def random_categorical(logits, num_sample, seed=0, dtype=int64):
    from mindspore.ops._neural import softmax
    from mindspore.ops._random import multinomial
    return convert(multinomial(softmax(logits, -1), num_sample, True, seed), _core.as_type(dtype))


def multinomial_with_replacement(x, seed, offset, numsamples, replacement=False):
    from mindspore.ops._random import multinomial
    return multinomial(x, numsamples, replacement, seed)


def choice_with_mask(input_x, count=256, seed=None):
    """@count places at which the mask is true, in random order; the rest is 0 and false."""
    n, flat = input_x.size, _core.reshape(input_x, (-1,))
    score = _core.select(flat, add(_unit((n,), seed), 1.0), 0.0)
    taken = _builtins.min(count, n)
    value, place = _a.topk(score, taken)
    fits = _core.compare("GE", value, 1.0)
    columns, rest = [], convert(place, int32)
    for size in reversed(input_x.shape):
        columns.insert(0, _core.select(fits, _e.floor_mod(rest, size), 0))
        rest = _e.floor_div(rest, size)
    places = _a.stack(columns, 1)
    if count > taken:
        places = _a.concat([places, _core.full((count - taken, input_x.ndim), 0, int32)], 0)
        fits = _a.concat([fits, _core.full((count - taken,), False, _core.bool_)], 0)
    return places, fits


__all__ = ["ctc_loss", "rotary_position_embedding", "standard_laplace", "random_gamma", "gamma", "random_categorical",
           "multinomial_with_replacement", "choice_with_mask"]
