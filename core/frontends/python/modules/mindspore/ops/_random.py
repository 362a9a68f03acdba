# SPDX-License-Identifier: Apache-2.0
"""Random numbers: bits of a counter-based generator, seeded by set_seed(). Its state is a parameter: what a graph draws from it is
written back, so that the next call, as a graph or eager, goes on in the same stream."""
import math as _math
import _gantry
from mindspore import _core
from mindspore._core import Tensor, _op, convert, float32, float64, int32, int64, as_type as _as_type
from mindspore.common.seed import generator as _generator
from mindspore.ops import _elementwise as _e
from mindspore.ops._array import _ints, argsort as _argsort


def _bits(shape, seed):
    state = _generator(0 if seed is None else int(seed))
    after, bits = _op("rng_bit_generator", (state,), {"shape": tuple(shape), "to": "u32"})
    _gantry.assign(state, after)
    return bits


def _unit(shape, seed=None):
    """Uniform in [0, 1)."""
    bits = _op("shift_right_logical", (b := _bits(shape, seed), _core.full(b.shape, 8, _core.uint32)))
    return _core.mul(convert(bits, float32), 1.0 / (1 << 24))


def _gauss(shape, seed=None):
    """Box and Muller."""
    n = _core._product(shape)
    u = _unit((2, max(n, 1)), seed)
    a, b = _core.elements(u)
    z = _core.mul(_e.sqrt(_core.mul(-2.0, _e.log(_core.sub(1.0, a)))), _e.cos(_core.mul(b, 2 * _math.pi)))
    return _core.reshape(z, tuple(shape)) if n else _core.full(tuple(shape), 0, float32)


def uniform(shape, minval, maxval, seed=None, dtype=float32):
    value = _core.add(_core.mul(_unit(_ints(shape), seed), _core.sub(maxval, minval) if isinstance(maxval, Tensor) or isinstance(minval, Tensor) else float(maxval - minval)), minval)
    return convert(_e.floor(value) if not _as_type(dtype).is_float else value, _as_type(dtype))


def normal(shape, mean, stddev, seed=None):
    return _core.add(_core.mul(_gauss(_ints(shape), seed), stddev), mean)


def standard_normal(shape, seed=None):
    return _gauss(_ints(shape), seed)


def _sizes(size):
    if not size:
        return (1,)
    return _ints(size[0]) if len(size) == 1 and isinstance(size[0], (tuple, list, Tensor)) else _ints(size)


def rand(*size, dtype=None, seed=None):
    return convert(_unit(_sizes(size), seed), _as_type(dtype or float32))


def randn(*size, dtype=None, seed=None):
    return convert(_gauss(_sizes(size), seed), _as_type(dtype or float32))


def rand_like(input, seed=None, *, dtype=None):
    return convert(_unit(input.shape, seed), _as_type(dtype or input.dtype))


def randn_like(input, seed=None, *, dtype=None):
    return convert(_gauss(input.shape, seed), _as_type(dtype or float32))


def randint(low, high, size, seed=None, *, dtype=None):
    return convert(_e.floor(_core.add(_core.mul(convert(_unit(_ints(size), seed), float64), float(high - low)), low)), _as_type(dtype or int64))


def randint_like(input, low, high, seed=None, *, dtype=None):
    return randint(low, high, input.shape, seed, dtype=dtype or input.dtype)


def randperm(n, seed=0, offset=0, dtype=int64):
    return convert(_argsort(_unit((int(n),), seed or None)), _as_type(dtype))


def bernoulli(input, p=0.5, seed=None):
    return convert(_core.compare("LT", _unit(input.shape, seed), p), input.dtype)


def multinomial(input, num_samples, replacement=True, seed=None):
    from mindspore.ops._reduction import argmax, cumsum
    from mindspore.ops._array import searchsorted, topk
    single = input.ndim == 1
    x = _core.reshape(input, (1, -1)) if single else input
    if replacement:
        total = cumsum(_core.div(x, _core.reduce("add", x, 1, True)), 1)
        result = searchsorted(total, _unit((x.shape[0], num_samples), seed), right=True)
    else:
        noise = _core.neg(_e.log(_core.neg(_e.log(_core.add(_unit(x.shape, seed), 1e-20)))))
        result = convert(topk(_core.add(_e.log(x), noise), num_samples)[1], int64)
    result = convert(result, int32)
    return _core.reshape(result, (num_samples,)) if single else result


def gumbel_softmax(logits, tau=1, hard=False, dim=-1):
    from mindspore.ops._neural import softmax
    from mindspore.ops._array import one_hot
    from mindspore.ops._reduction import argmax
    from mindspore.ops.grad import stop_gradient
    noise = _core.neg(_e.log(_core.neg(_e.log(_core.add(_unit(logits.shape), 1e-20)))))
    soft = softmax(_core.div(_core.add(logits, noise), tau), dim)
    if not hard:
        return soft
    sharp = one_hot(argmax(soft, dim), soft.shape[dim], _core.tensor_of(1.0), _core.tensor_of(0.0), dim)
    return _core.add(stop_gradient(_core.sub(sharp, soft)), soft)


def gamma_unavailable(*args):
    raise NotImplementedError


def laplace(shape, mean, lambda_param, seed=None):
    u = _core.sub(_unit(_ints(shape), seed), 0.5)
    return _core.sub(mean, _core.mul(_core.mul(lambda_param, _e.sign(u)), _e.log(_core.sub(1.0, _core.mul(2.0, _e.abs(u))))))


def shuffle(x, seed=0):
    from mindspore.ops._gather import gather
    return gather(x, randperm(x.shape[0], seed), 0)


random_categorical = None


def choice_with_mask_unavailable(*args):
    raise NotImplementedError


__all__ = [n for n in dir() if not n.startswith("_") and not n.endswith("_unavailable") and callable(globals()[n])
           and n not in ("Tensor", "convert", "float32", "float64", "int32", "int64")]
