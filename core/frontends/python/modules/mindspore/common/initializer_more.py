# SPDX-License-Identifier: Apache-2.0
"""Initial values that fewer programs ask for."""
import math
from mindspore import _core
from mindspore.common.initializer import Initializer, _fans, _normal, _uniform, _draw
from mindspore.common.seed import fresh_seed

__all__ = ["Dirac", "Orthogonal", "Sparse", "VarianceScaling"]


def _generator():
    import numpy
    return numpy.random.RandomState(fresh_seed() & 0xFFFFFFFF)


class VarianceScaling(Initializer):
    """A distribution whose variance is scale / n, n by the mode."""

    def __init__(self, scale=1.0, mode="fan_in", distribution="truncated_normal"):
        super().__init__(scale=scale, mode=mode, distribution=distribution)
        if scale <= 0:
            raise ValueError(f"For 'VarianceScaling', the argument 'scale' must be greater than 0, but got {scale}.")
        if mode not in ("fan_in", "fan_out", "fan_avg"):
            raise ValueError(f"For 'VarianceScaling', the argument 'mode' must be fan_in, fan_out or fan_avg, but got {mode}.")
        if distribution not in ("uniform", "truncated_normal", "untruncated_normal"):
            raise ValueError(f"For 'VarianceScaling', the argument 'distribution' must be uniform, truncated_normal or "
                             f"untruncated_normal, but got {distribution}.")
        self.scale, self.mode, self.distribution = scale, mode, distribution

    def make(self, shape, dtype):
        fan_in, fan_out = _fans(shape)
        n = {"fan_in": fan_in, "fan_out": fan_out, "fan_avg": (fan_in + fan_out) / 2}[self.mode]
        scale = self.scale / max(1.0, n)
        if self.distribution == "uniform":
            bound = math.sqrt(3.0 * scale)
            return _uniform(shape, dtype, -bound, bound)
        if self.distribution == "untruncated_normal":
            return _normal(shape, dtype, math.sqrt(scale), 0.0)
        from mindspore.common.initializer import TruncatedNormal
        sigma = math.sqrt(scale) / 0.87962566103423978  # of a normal cut at two sigma
        return TruncatedNormal(sigma, 0.0, -2 * sigma, 2 * sigma).make(shape, dtype)


class Orthogonal(Initializer):
    """Q of a random matrix, of the shape (first dimension, all others)."""

    def __init__(self, gain=1.0):
        super().__init__(gain=gain)
        self.gain = gain

    def make(self, shape, dtype):
        import numpy
        if len(shape) < 2:
            raise ValueError(f"For 'Orthogonal', the dimension of input tensor must be greater than 2, but got {len(shape)}.")
        rows, columns = shape[0], _core._product(shape[1:])
        q, r = numpy.linalg.qr(_generator().standard_normal((max(rows, columns), min(rows, columns))))
        q = q * numpy.sign(numpy.diag(r))
        q = q.T if rows < columns else q
        return _core.tensor_of((self.gain * q).reshape(shape).astype("float32"), dtype)


class Sparse(Initializer):
    """Normal, with a share of zeros in each column."""

    def __init__(self, sparsity, sigma=0.01):
        super().__init__(sparsity=sparsity, sigma=sigma)
        self.sparsity, self.sigma = sparsity, sigma

    def make(self, shape, dtype):
        if len(shape) != 2:
            raise ValueError(f"For 'Sparse', the dimension of input tensor must be 2, but got {len(shape)}.")
        generator = _generator()
        array = generator.normal(0.0, self.sigma, shape).astype("float32")
        for column in range(shape[1]):
            array[generator.permutation(shape[0])[:math.ceil(self.sparsity * shape[0])], column] = 0
        return _core.tensor_of(array, dtype)


class Dirac(Initializer):
    """The kernel of a convolution that keeps its channels."""

    def __init__(self, groups=1):
        super().__init__(groups=groups)
        self.groups = groups

    def make(self, shape, dtype):
        import numpy
        if not 3 <= len(shape) <= 5:
            raise ValueError(f"For 'Dirac', only support 3,4,5 dimensional tensor, but got {len(shape)}.")
        if shape[0] % self.groups:
            raise ValueError(f"For 'Dirac', the first dimension {shape[0]} must be divisible by the groups {self.groups}.")
        array, out = numpy.zeros(shape, "float32"), shape[0] // self.groups
        for group in range(self.groups):
            for d in range(min(out, shape[1])):
                array[(group * out + d, d) + tuple(n // 2 for n in shape[2:])] = 1
        return _core.tensor_of(array, dtype)
