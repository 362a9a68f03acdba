# SPDX-License-Identifier: Apache-2.0
"""Initial values of parameters. Random ones come from a generator of our own, seeded by set_seed()."""
import math
import random
import _gantry
from mindspore import _core
from mindspore._core import Tensor, float32
from mindspore.common.seed import fresh_seed


def _fans(shape):
    if len(shape) < 1:
        return 1, 1
    if len(shape) == 1:
        return shape[0], shape[0]
    field = _core._product(shape[2:])
    return shape[1] * field, shape[0] * field


def _draw(shape, dtype, draw):
    generator = random.Random(fresh_seed())
    n = _core._product(shape)
    try:
        import numpy
        array = draw(numpy.random.RandomState(generator.getrandbits(32)), None)(n).astype("float32")
        return _core.convert(_core.reshape(_core.tensor_of(array), shape), dtype)
    except ImportError:
        one = draw(None, generator)
        return _core.convert(_core.reshape(_gantry.value_from([one() for _ in range(n)], "f32"), shape), dtype)


def _uniform(shape, dtype, low, high):
    return _draw(shape, dtype, lambda array, one: (lambda n: array.uniform(low, high, n)) if array is not None
                 else (lambda: one.uniform(low, high)))


def _normal(shape, dtype, sigma, mean):
    return _draw(shape, dtype, lambda array, one: (lambda n: array.normal(mean, sigma, n)) if array is not None
                 else (lambda: one.gauss(mean, sigma)))


def _truncated(shape, dtype, low, high):
    """A standard normal distribution between @low and @high: drawn again where it falls outside, where little does."""
    mirror = -1.0 if low + high > 0 else 1.0  # left of 0 the distribution's small values are exact
    low, high = (low, high) if mirror > 0 else (-high, -low)
    begin, end = (0.5 * math.erfc(-bound / math.sqrt(2.0)) for bound in (low, high))

    def again(array, one):
        def many(n):
            x = array.normal(0.0, 1.0, n)
            while True:
                outside = ((x < low) | (x > high)).nonzero()[0]
                if not len(outside):
                    return x * mirror
                x[outside] = array.normal(0.0, 1.0, len(outside))

        def single():
            while not low <= (x := one.gauss(0.0, 1.0)) <= high:
                pass
            return x * mirror
        return single if array is None else many

    def inverse(array, one):
        from statistics import NormalDist
        inverse_of = NormalDist().inv_cdf

        def at(p):
            return inverse_of(max(begin + (end - begin) * p, 5e-324)) * mirror  # the least number above 0: 38 sigma

        def many(n):
            x = array.uniform(0.0, 1.0, n)
            x[:] = [at(p) for p in x.tolist()]
            return x
        return (lambda: at(one.random())) if array is None else many
    return _draw(shape, dtype, again if end - begin > 0.25 else inverse)


class Initializer:
    def __init__(self, **kwargs):
        self._kwargs = kwargs

    def __call__(self, array):
        array[...] = self.make(array.shape, float32).asnumpy()


class Zero(Initializer):
    def make(self, shape, dtype):
        return _core.full(shape, 0, dtype)


class One(Initializer):
    def make(self, shape, dtype):
        return _core.full(shape, 1, dtype)


class Constant(Initializer):
    def __init__(self, value):
        super().__init__(value=value)
        self.value = value

    def make(self, shape, dtype):
        return _core.broadcast_to(_core.tensor_of(self.value, dtype), shape)


class Uniform(Initializer):
    def __init__(self, scale=0.07):
        super().__init__(scale=scale)
        self.scale = scale

    def make(self, shape, dtype):
        return _uniform(shape, dtype, -self.scale, self.scale)


class Normal(Initializer):
    def __init__(self, sigma=0.01, mean=0.0):
        super().__init__(sigma=sigma, mean=mean)
        self.sigma, self.mean = sigma, mean

    def make(self, shape, dtype):
        return _normal(shape, dtype, self.sigma, self.mean)


class TruncatedNormal(Normal):
    """A normal distribution cut at @a and @b, which are values as they come out and not in sigmas."""

    def __init__(self, sigma=0.01, mean=0.0, a=-2.0, b=2.0):
        super().__init__(sigma, mean)
        self.a, self.b = a, b

    def make(self, shape, dtype):
        if self.sigma < 0:
            raise ValueError("sigma < 0")
        if self.sigma == 0:
            raise RuntimeError("TruncatedNormal: invalid sigma 0.")
        low, high = sorted((self.a, self.b))
        x = _truncated(shape, float32, (low - self.mean) / self.sigma, (high - self.mean) / self.sigma)
        x = _core.add(_core.mul(x, self.sigma), self.mean)
        x = _core._op("clamp", (_core.full(shape, low, float32), x, _core.full(shape, high, float32)))  # what rounding took past a bound
        return _core.convert(x, dtype)


class XavierUniform(Initializer):
    def __init__(self, gain=1):
        super().__init__(gain=gain)
        self.gain = gain

    def make(self, shape, dtype):
        fan_in, fan_out = _fans(shape)
        bound = self.gain * math.sqrt(6.0 / (fan_in + fan_out))
        return _uniform(shape, dtype, -bound, bound)


class XavierNormal(XavierUniform):
    def make(self, shape, dtype):
        fan_in, fan_out = _fans(shape)
        return _normal(shape, dtype, self.gain * math.sqrt(2.0 / (fan_in + fan_out)), 0.0)


def _gain(nonlinearity, slope):
    return {"sigmoid": 1, "linear": 1, "tanh": 5.0 / 3, "relu": math.sqrt(2.0), "selu": 0.75}.get(
        nonlinearity, math.sqrt(2.0 / (1 + slope ** 2)))


class HeUniform(Initializer):
    def __init__(self, negative_slope=0, mode="fan_in", nonlinearity="leaky_relu"):
        super().__init__()
        self.slope, self.mode, self.nonlinearity = negative_slope, mode, nonlinearity

    def _scale(self, shape):
        return _gain(self.nonlinearity, self.slope) / math.sqrt(_fans(shape)[0 if self.mode == "fan_in" else 1])

    def make(self, shape, dtype):
        bound = math.sqrt(3.0) * self._scale(shape)
        return _uniform(shape, dtype, -bound, bound)


class HeNormal(HeUniform):
    def make(self, shape, dtype):
        return _normal(shape, dtype, self._scale(shape), 0.0)


class Identity(Initializer):
    def make(self, shape, dtype):
        rows = _core._op("iota", (), {"to": ("i32", tuple(shape)), "iota_dimension": 0})
        columns = _core._op("iota", (), {"to": ("i32", tuple(shape)), "iota_dimension": 1})
        return _core.convert(_core.compare("EQ", rows, columns), dtype)


_NAMES = {"zeros": Zero, "zero": Zero, "ones": One, "one": One, "uniform": Uniform, "normal": Normal,
          "truncatednormal": TruncatedNormal, "truncated_normal": TruncatedNormal, "xavier_uniform": XavierUniform,
          "xavieruniform": XavierUniform, "xavier_normal": XavierNormal, "xaviernormal": XavierNormal, "he_uniform": HeUniform,
          "heuniform": HeUniform, "he_normal": HeNormal, "henormal": HeNormal, "identity": Identity}


_LATE = {"dirac": "Dirac", "orthogonal": "Orthogonal", "variance_scaling": "VarianceScaling", "variancescaling": "VarianceScaling"}


def __getattr__(name):
    if not name.startswith("_"):
        from mindspore.common import initializer_more
        if name in initializer_more.__all__:
            return getattr(initializer_more, name)
    raise AttributeError(f"module 'mindspore.common.initializer' has no attribute '{name}'")


def initializer(init, shape=None, dtype=float32):
    if not isinstance(dtype, (str, _core.Type)) and not isinstance(dtype, type):
        raise TypeError(f"For 'Tensor', the 'dtype' should be one of the types of mindspore, but got {dtype} with type {type(dtype)}.")
    dtype = _core.as_type(dtype)
    if not isinstance(init, (Tensor, int, float, str)) and not hasattr(init, "make") and not callable(init):
        raise TypeError(f"For 'initializer', the type of the 'init' argument should be 'Tensor', 'number', 'string' or 'initializer', but got {type(init)}.")
    if isinstance(init, Tensor):
        return init
    shape = (shape,) if isinstance(shape, int) else tuple(shape if shape is not None else ())
    for d in shape:
        if not isinstance(d, int) or d < 0:
            raise ValueError(f"For 'initializer', the argument 'shape' is invalid, the value of 'shape' must be positive "
                             f"integers, but got {shape}")
    if isinstance(init, str):
        if init.lower() in _LATE:
            init = __getattr__(_LATE[init.lower()])()
        elif init.lower() not in _NAMES:
            raise ValueError(f"For 'initializer', the class corresponding to '{init}' was not found. There are {sorted(_NAMES)}.")
        else:
            init = _NAMES[init.lower()]()
    if isinstance(init, (int, float)):
        init = Constant(init)
    if not hasattr(init, "make"):
        import numpy
        array = numpy.zeros(shape, "float32")
        init(array)
        return Tensor(array, dtype)
    return init.make(shape, dtype)
