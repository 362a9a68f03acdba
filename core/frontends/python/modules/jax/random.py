# SPDX-License-Identifier: Apache-2.0
"""jax.random: Threefry (Salmon et al., Parallel Random Numbers: As Easy as 1, 2, 3, SC 2011), laid out as JAX does it
by default (partitionable), so that the bits are the same."""
import functools
import itertools
import math
from jax import _core, _types
from jax._core import asarray as _asarray, op as _op
from jax._names import missing as _missing, refuse as _refuse
from jax._stage import jit as _jit
from jax._types import as_dtype, float32, int32, uint32, uint8
from jax.dtypes import key_dtype
from jax.tree_util import register_pytree_node, tree_flatten, tree_leaves, tree_unflatten

_ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))


def _u32(value):
    return _asarray(value, uint32)


def _like(value, x):
    return _core.broadcast_to(_u32(value), x.shape)


def _rotate(x, n):
    return _op("or", (_op("shift_left", (x, _like(n, x))), _op("shift_right_logical", (x, _like(32 - n, x)))))


def _threefry(k0, k1, x0, x1):
    """Twenty rounds over two words; keys are of the shape of the counters."""
    keys = (k0, k1, _op("xor", (_op("xor", (k0, k1)), _like(0x1BD11BDA, k0))))
    x0, x1 = _op("add", (x0, k0)), _op("add", (x1, k1))
    for i in range(5):
        for n in _ROTATIONS[i % 2]:
            x0 = _op("add", (x0, x1))
            x1 = _op("xor", (_rotate(x1, n), x0))
        x0 = _op("add", (x0, keys[(i + 1) % 3]))
        x1 = _op("add", (_op("add", (x1, keys[(i + 2) % 3])), _like(i + 1, x1)))
    return x0, x1


def _words(key, shape):
    """Two random words for each place of @shape: the counter is the place itself."""
    n = _core.product(shape)
    low = _core.iota(uint32, (n,), 0)
    high = _core.full((n,), 0, uint32)
    k0, k1 = (_core.broadcast_to(key[i], (n,)) for i in (0, 1))
    x0, x1 = _threefry(k0, k1, high, low)
    return _core.reshape(x0, shape), _core.reshape(x1, shape)


class _Key:
    """A key with a type: what jax.random.key gives."""

    def __init__(self, data):
        self._data = data

    @property
    def shape(self):
        return self._data.shape[:-1]

    ndim = property(lambda self: len(self.shape))
    size = property(lambda self: _core.product(self.shape))
    dtype = property(lambda self: key_dtype())
    T = property(lambda self: self.transpose())

    def __len__(self):
        return self.shape[0]

    def __getitem__(self, index):
        return over_words(lambda data: data[index])(self)

    def __iter__(self):
        return iter([self[i] for i in range(len(self))])

    def __eq__(self, other):
        if not isinstance(other, _Key):
            return NotImplemented
        return _core.bitwise("and", *(_core.compare("EQ", self._data[..., w], other._data[..., w]) for w in range(2)))

    def __ne__(self, other):
        equal = self.__eq__(other)
        return equal if equal is NotImplemented else _core.unary("not", equal)

    __hash__ = None

    def __getattr__(self, name):
        if name in ("reshape", "ravel", "flatten", "transpose", "squeeze", "swapaxes", "copy", "take", "repeat"):
            return lambda *args, **kwargs: over_words(lambda data: getattr(data, name)(*args, **kwargs))(self)
        raise AttributeError(f"a key has no attribute '{name}'")

    def __repr__(self):
        return f"Array({self.shape}, dtype=key<fry>) overlaying:\n{self._data}"


def over_words(function):
    """@function of arrays of keys: of each of both words of all keys alike, since it only moves elements."""
    @functools.wraps(function)
    def of_keys(*args, **kwargs):
        first = args[0] if args and isinstance(args[0], (list, tuple)) else ()
        if not any(isinstance(x, _Key) for x in itertools.chain(args, first)):
            return function(*args, **kwargs)
        leaves, structure = tree_flatten((args, kwargs), is_leaf=lambda x: isinstance(x, _Key))
        keys = [x._data for x in leaves if isinstance(x, _Key)]

        def of_word(words):
            words = iter(words)
            own, named = tree_unflatten(structure, [next(words) if isinstance(x, _Key) else x for x in leaves])
            return function(*own, **named)
        made = [of_word([k[..., w] for k in keys]) for w in range(2)]
        leaves, structure = tree_flatten(made[0])
        both = [_op("concatenate", [_core.reshape(x, x.shape + (1,)) for x in pair], {"dimension": len(pair[0].shape)})
                for pair in zip(leaves, tree_leaves(made[1]))]
        return tree_unflatten(structure, [_Key(b) for b in both])
    return of_keys


register_pytree_node(_Key, lambda k: ((k._data,), None), lambda _, c: _Key(c[0]))


def _data(key):
    if isinstance(key, _Key):
        return key._data
    key = _asarray(key)
    if key.shape[-1:] != (2,) or key.element != "u32":
        raise TypeError(f"JAX encountered invalid PRNG key data: expected key_data.dtype = uint32; got dtype={key.dtype} of shape {key.shape}")
    return key


def PRNGKey(seed, *, impl=None):
    _refuse("jax.random.PRNGKey", "impl", impl, None, "threefry2x32", "fry")
    seed = _asarray(seed)
    low = _core.reshape(_core.convert(seed, uint32), (1,))
    return _op("concatenate", (_core.full((1,), 0, uint32), low), {"dimension": 0})


def key(seed, *, impl=None):
    _refuse("jax.random.key", "impl", impl, None, "threefry2x32", "fry")
    return _Key(PRNGKey(seed))


def key_data(keys):
    return _data(keys)


def key_impl(keys):
    _data(keys)
    return "threefry2x32"


def clone(key):
    return key


def wrap_key_data(data, *, impl=None):
    _refuse("jax.random.wrap_key_data", "impl", impl, None, "threefry2x32", "fry")
    return _Key(data)


def _compiled(function, **options):
    """One graph for each shape, also outside of a graph: hundreds of small steps are dear one by one."""
    made = _jit(function, **options)
    made.is_own = True
    return made


def _split(data, shape):
    x0, x1 = _words(data, shape)
    return _op("concatenate", (_core.reshape(x0, shape + (1,)), _core.reshape(x1, shape + (1,))), {"dimension": len(shape)})


_split = _compiled(_split, static_argnums=1)


def split(key, num=2):
    made = _split(_data(key), (num,) if isinstance(num, int) else tuple(num))
    return _Key(made) if isinstance(key, _Key) else made


def _fold_in(data, value):
    x0, x1 = _threefry(_core.reshape(data[0], (1,)), _core.reshape(data[1], (1,)), _core.full((1,), 0, uint32),
                       _core.reshape(_core.convert(value, uint32), (1,)))
    return _op("concatenate", (x0, x1), {"dimension": 0})


_fold_in = _compiled(_fold_in)


def fold_in(key, data):
    made = _fold_in(_data(key), _asarray(data))
    return _Key(made) if isinstance(key, _Key) else made


def _bits32(data, shape):
    x0, x1 = _words(data, shape)
    return _op("xor", (x0, x1))


def _sized(shape):
    return (shape,) if isinstance(shape, int) else tuple(int(d) for d in shape)


def _bits(data, shape, width):
    whole = _bits32(data, shape)
    kind = {8: uint8, 16: as_dtype("uint16"), 32: uint32}[width]
    return _core.convert(whole, kind) if width < 32 else whole


_bits = _compiled(_bits, static_argnums=(1, 2))


def bits(key, shape=(), dtype="uint32"):
    return _bits(_data(key), _sized(shape), 8 * as_dtype(dtype).itemsize)


def _unit(data, shape, kind):
    """Numbers in [0, 1): random bits as the fraction of a number in [1, 2)."""
    if kind.element == "f32":
        whole = _bits32(data, shape)
        fraction, one, wide = 9, 0x3F800000, uint32
    else:
        wide = as_dtype("uint16")
        whole = _core.convert(_bits32(data, shape), wide)
        fraction, one = (6, 0x3C00) if kind.element == "f16" else (1, 0x3F80)
        if kind.element == "bf16":
            whole = _core.convert(_core.convert(whole, uint8), wide)
    word = _op("shift_right_logical", (whole, _core.broadcast_to(_asarray(fraction, wide), shape)))
    word = _op("or", (word, _core.broadcast_to(_asarray(one, wide), shape)))
    return _op("bitcast_convert", (word,), {"to": kind.element}) - 1.0


def _uniform(data, low, high, shape, kind):
    low, high = _core.convert(low, kind), _core.convert(high, kind)
    unit = _unit(data, shape, kind)
    low, high = _core.broadcast_to(low, shape), _core.broadcast_to(high, shape)
    return _op("maximum", (low, _op("add", (_op("multiply", (unit, _op("subtract", (high, low)))), low))))


_uniform = _compiled(_uniform, static_argnums=(3, 4))


def uniform(key, shape=(), dtype="float32", minval=0.0, maxval=1.0):
    return _uniform(_data(key), _asarray(minval), _asarray(maxval), _sized(shape), as_dtype(dtype))


def erf_inv(x):
    """Giles, Approximating the erfinv function, GPU Computing Gems (2011): the polynomials of single precision."""
    w = -_core.unary("log_plus_one", _op("negate", (_op("multiply", (x, x)),)))
    small = w < 5.0
    w = _core.select(small, w - 2.5, _core.unary("sqrt", _core.select(small, 5.0, w)) - 3.0)
    near = (2.81022636e-08, 3.43273939e-07, -3.5233877e-06, -4.39150654e-06, 0.00021858087, -0.00125372503, -0.00417768164, 0.246640727,
            1.50140941)
    far = (-0.000200214257, 0.000100950558, 0.00134934322, -0.00367342844, 0.00573950773, -0.0076224613, 0.00943887047, 1.00167406,
           2.83297682)
    p = _core.select(small, near[0], far[0])
    p = _core.broadcast_to(_core.convert(p, x.dtype), x.shape)
    for a, b in zip(near[1:], far[1:]):
        p = _core.select(small, _core.convert(_asarray(a), x.dtype), _core.convert(_asarray(b), x.dtype)) + p * w
    end = _core.select(x > 0, float("inf"), -float("inf"))
    return _core.select(_core.compare("EQ", _core.unary("abs", x), 1), _core.convert(end, x.dtype), p * x)


def _normal(data, shape, kind):
    low = {"f32": -0.99999994, "f16": -0.9995117, "bf16": -0.99609375}[kind.element]
    unit = _unit(data, shape, kind)
    low = _core.full(shape, low, kind)
    high = _core.full(shape, 1.0, kind)
    u = _op("maximum", (low, _op("add", (_op("multiply", (unit, _op("subtract", (high, low)))), low))))
    wide = _core.convert(erf_inv(_core.convert(u, float32)), kind)
    return wide * _core.convert(_asarray(math.sqrt(2)), kind)


_normal = _compiled(_normal, static_argnums=(1, 2))


def normal(key, shape=(), dtype="float32"):
    return _normal(_data(key), _sized(shape), as_dtype(dtype))


def truncated_normal(key, lower, upper, shape=None, dtype="float32"):
    import jax.numpy as jnp
    lower, upper = (_core.convert(_asarray(v), as_dtype(dtype)) for v in (lower, upper))
    shape = _core.broadcast_shapes(lower.shape, upper.shape) if shape is None else _sized(shape)
    a, b = (_core.unary("erf", v / math.sqrt(2)) for v in (lower, upper))
    made = math.sqrt(2) * erf_inv(uniform(key, shape, dtype, a, b))
    return jnp.clip(made, jnp.nextafter(lower, math.inf), jnp.nextafter(upper, -math.inf))


def _inside(value, kind):
    """The nearest number that @kind has."""
    own, wanted = _limits(value.dtype), _limits(kind)
    low, high = max(own[0], wanted[0]), min(own[1], wanted[1])
    kept = _core.binary("minimum", _core.binary("maximum", value, _asarray(low, value.dtype)), _asarray(high, value.dtype))
    return _core.convert(kept, kind)


def _limits(kind):
    bits, signed = 8 * kind.itemsize, kind.category == "int"
    return (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if signed else (0, (1 << bits) - 1)


def _randint(data, low, high, shape, kind):
    keys = _split(data, (2,))
    high_bits, low_bits = _bits32(keys[0], shape), _bits32(keys[1], shape)
    beyond = _core.compare("GT", high, _asarray(min(_limits(kind)[1], _limits(high.dtype)[1]), high.dtype))
    low, high = (_core.broadcast_to(_inside(v, kind), shape) for v in (low, high))
    span = _core.convert(_op("subtract", (high, low)), uint32)
    empty = _core.compare("LE", high, low)
    span = _core.select(empty, _u32(1), span)
    # The end is beyond what the type has: its largest number may come too.
    whole = _core.bitwise("and", beyond, _op("not", (empty,)))
    span = _core.select(whole, _op("add", (span, _like(1, span))), span)
    # By 0, which stands for all 2^32 numbers, what is divided is left.
    multiplier = _op("remainder", (_like(1 << 16, span), span))
    multiplier = _op("remainder", (_op("multiply", (multiplier, multiplier)), span))
    offset = _op("add", (_op("multiply", (_op("remainder", (high_bits, span)), multiplier)), _op("remainder", (low_bits, span))))
    offset = _op("remainder", (offset, span))
    return _op("add", (low, _core.convert(offset, kind)))


_randint = _compiled(_randint, static_argnums=(3, 4))


def randint(key, shape, minval, maxval, dtype="int32"):
    """Bounds beyond the type are those of the type; small types are drawn among 32 bits."""
    kind = as_dtype(dtype)
    if not _types.is_integer(kind):
        raise TypeError(f"randint only accepts integer dtypes, got {kind}")
    low, high = (v if _types.is_integer(v.dtype) else _core.convert(v, int32) for v in map(_asarray, (minval, maxval)))
    if kind.itemsize < 4:
        least, most = _limits(kind)
        low, high = (_core.binary("minimum", _core.binary("maximum", _core.convert(v, int32), least), end)
                     for v, end in ((low, most), (high, most + 1)))
        return _core.convert(_randint(_data(key), low, high, _sized(shape), int32), kind)
    return _randint(_data(key), low, high, _sized(shape), kind)


def _shuffled(data, places, axis=0):
    """Sorted by random keys, as often as it takes for no two to be equal."""
    rounds = math.ceil(3 * math.log(max(1, _core.product(places.shape))) / math.log(2 ** 32 - 1))
    for _ in range(rounds):
        keys = _split(data, (2,))
        data = keys[0]
        places = _op("sort", (_bits32(keys[1], places.shape), places), {"dimension": axis, "stable": 1})[1]
    return places


_shuffled = _compiled(_shuffled, static_argnums=2)


def permutation(key, x, axis=0, independent=False):
    import jax.numpy as jnp
    if isinstance(x, int) or getattr(x, "shape", None) == ():
        return _shuffled(_data(key), _core.iota(int32, (int(x),), 0))
    x = _asarray(x)
    if independent or x.ndim == 1:
        return _shuffled(_data(key), x, axis % x.ndim)
    return jnp.take(x, _shuffled(_data(key), _core.iota(int32, (x.shape[axis],), 0)), axis)


def shuffle(key, x, axis=0):
    return permutation(key, x, axis)


def bernoulli(key, p=0.5, shape=None):
    p = _core.promoted(p, to_float=True)[0]
    shape = p.shape if shape is None else _sized(shape)
    return _core.compare("LT", uniform(key, shape, p.dtype), p)


def gumbel(key, shape=(), dtype="float32", mode=None):
    _refuse("jax.random.gumbel", "mode", mode, None, "low")
    import jax.numpy as jnp
    kind = as_dtype(dtype)
    tiny = {"f32": 2.0 ** -126, "f16": 2.0 ** -14, "bf16": 2.0 ** -126}[kind.element]
    return -jnp.log(-jnp.log(uniform(key, shape, kind, tiny, 1.0)))


def categorical(key, logits, axis=-1, shape=None, replace=True, mode=None):
    _refuse("jax.random.categorical", "replace", replace, True)
    _refuse("jax.random.categorical", "mode", mode, None, "low")
    import jax.numpy as jnp
    logits = _core.promoted(logits, to_float=True)[0]
    axis %= logits.ndim
    batch = logits.shape[:axis] + logits.shape[axis + 1:]
    shape = batch if shape is None else _sized(shape)
    before = shape[:len(shape) - len(batch)]
    noise = list(shape[len(shape) - len(batch):])
    noise.insert(axis, logits.shape[axis])
    noise = gumbel(key, before + tuple(noise), logits.dtype)
    return jnp.argmax(noise + jnp.reshape(logits, (1,) * len(before) + logits.shape), axis + len(before))


def exponential(key, shape=(), dtype="float32"):
    import jax.numpy as jnp
    return -jnp.log1p(-uniform(key, shape, dtype))


def choice(key, a, shape=(), replace=True, p=None, axis=0, mode=None):
    _refuse("jax.random.choice", "mode", mode, None, "low")
    import jax.numpy as jnp
    values = jnp.arange(a) if isinstance(a, int) else _asarray(a)
    n, shape = values.shape[axis], _sized(shape)
    count = _core.product(shape)
    if p is None and replace:
        places = randint(key, shape, 0, n)
    elif p is None:
        places = jnp.reshape(permutation(key, n)[:count], shape)
    elif replace:
        sums = jnp.cumsum(_asarray(p))
        places = jnp.searchsorted(sums, sums[-1] * (1 - uniform(key, shape, sums.dtype)))
    else:
        g = gumbel(key, (n,)) + jnp.log(_asarray(p))
        places = jnp.reshape(jnp.argsort(-g)[:count], shape)
    return places if isinstance(a, int) else jnp.take(values, places, axis)


from jax._distributions import (ball, beta, cauchy, chisquare, dirichlet, double_sided_maxwell, f, gamma, generalized_normal,  # noqa: E402,F401
                                geometric, laplace, loggamma, logistic, lognormal, maxwell, multivariate_normal, orthogonal, pareto, poisson,
                                rademacher, rayleigh, t, triangular, wald, weibull_min)


def __getattr__(name):
    raise _missing("jax.random", name, globals())
