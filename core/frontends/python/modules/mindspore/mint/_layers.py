# SPDX-License-Identifier: Apache-2.0
"""Cells of mindspore.mint.nn that take other arguments than those of mindspore.nn under the same name, or compute something else."""
import math
from ast import literal_eval
from mindspore import _core
from mindspore._core import float32
from mindspore._text import only
from mindspore.common.initializer import HeUniform, Normal, Uniform, initializer
from mindspore.common.parameter import Parameter
from mindspore.mint import _functional as _m
from mindspore.nn.cell import Cell
from mindspore.nn.layer import Dense
from mindspore.ops import function as _f


def _sizes(value, n):
    return (value,) * n if isinstance(value, int) else tuple(value)


class Linear(Dense):
    def __init__(self, in_features, out_features, bias=True, weight_init=None, bias_init=None, dtype=None):
        super().__init__(in_features, out_features, weight_init, bias_init, bias, dtype=dtype or float32)
        self.in_features, self.out_features = in_features, out_features


class _Conv(Cell):
    dimensions = 2

    def __init__(self, in_channels, out_channels, kernel_size, stride=1, padding=0, dilation=1, groups=1, bias=True, padding_mode="zeros", dtype=None):
        super().__init__()
        name, dtype = type(self).__name__, dtype or float32
        only(name, padding_mode=(padding_mode, "zeros"))
        if in_channels % groups or out_channels % groups:
            raise ValueError(f"For '{name}', 'groups' must divide the channels, but got {groups} for {in_channels} and {out_channels}.")
        shape = (out_channels, in_channels // groups) + _sizes(kernel_size, self.dimensions)
        bound = 1 / math.sqrt(math.prod(shape[1:]))
        self.weight = Parameter(initializer(HeUniform(math.sqrt(5)), shape, dtype), name="weight")
        self.bias = Parameter(initializer(Uniform(bound), (out_channels,), dtype), name="bias") if bias else None
        self.stride, self.dilation, self.groups = stride, dilation, groups
        self.padding = padding if isinstance(padding, (str, int)) else tuple(p for p in padding for _ in (0, 1))

    def construct(self, input):
        return _m.conv2d(input, self.weight, self.bias, self.stride, self.padding, self.dilation, self.groups)


class Conv1d(_Conv):
    dimensions = 1


class Conv2d(_Conv):
    dimensions = 2


class Conv3d(_Conv):
    dimensions = 3


class _BatchNorm(Cell):
    """Running statistics move by @momentum towards those of the batch, the variance without its bias."""

    def __init__(self, num_features, eps=1e-5, momentum=0.1, affine=True, track_running_stats=True, dtype=None):
        super().__init__()
        dtype = dtype or float32
        self.eps, self.momentum, self.tracks = eps, momentum, track_running_stats
        self.weight = Parameter(_core.full((num_features,), 1, dtype), name="weight") if affine else None
        self.bias = Parameter(_core.full((num_features,), 0, dtype), name="bias") if affine else None
        if track_running_stats:
            self.running_mean = Parameter(_core.full((num_features,), 0, dtype), name="running_mean", requires_grad=False)
            self.running_var = Parameter(_core.full((num_features,), 1, dtype), name="running_var", requires_grad=False)
            self.num_batches_tracked = Parameter(_core.full((), 0, float32), name="num_batches_tracked", requires_grad=False)

    def construct(self, input):
        axes = tuple(d for d in range(input.ndim) if d != 1)
        if self.training or not self.tracks:
            mean, variance = _f.mean(input, axes), _f.var(input, axes)
        else:
            mean, variance = self.running_mean, self.running_var
        if self.training and self.tracks:
            self._move(mean, variance, input.size // input.shape[1])
        shape = tuple(-1 if d == 1 else 1 for d in range(input.ndim))
        along = [_core.reshape(v, shape) for v in (mean, _f.rsqrt(_core.add(variance, self.eps)))]
        result = _core.mul(_core.sub(input, along[0]), along[1])
        if self.weight is None:
            return result
        return _core.add(_core.mul(result, _core.reshape(self.weight, shape)), _core.reshape(self.bias, shape))

    def _move(self, mean, variance, n):
        count = _core.add(self.num_batches_tracked, 1.0)
        weight = _core.div(1.0, count) if self.momentum is None else self.momentum
        unbiased = _core.mul(variance, n / max(n - 1, 1))
        for running, new in ((self.running_mean, mean), (self.running_var, unbiased)):
            _core.assign(running, _core.add(running, _core.mul(_core.sub(new, running), weight)))
        _core.assign(self.num_batches_tracked, count)


BatchNorm1d, BatchNorm2d, BatchNorm3d = (type(f"BatchNorm{n}d", (_BatchNorm,), {}) for n in (1, 2, 3))


class LayerNorm(Cell):
    def __init__(self, normalized_shape, eps=1e-5, elementwise_affine=True, bias=True, dtype=None):
        super().__init__()
        dtype = dtype or float32
        self.normalized_shape, self.eps = _sizes(normalized_shape, 1), eps
        self.weight = Parameter(_core.full(self.normalized_shape, 1, dtype), name="weight") if elementwise_affine else None
        self.bias = Parameter(_core.full(self.normalized_shape, 0, dtype), name="bias") if elementwise_affine and bias else None

    def construct(self, input):
        return _f.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)


class GroupNorm(Cell):
    def __init__(self, num_groups, num_channels, eps=1e-5, affine=True, dtype=None):
        super().__init__()
        dtype = dtype or float32
        self.num_groups, self.eps = num_groups, eps
        self.weight = Parameter(_core.full((num_channels,), 1, dtype), name="weight") if affine else None
        self.bias = Parameter(_core.full((num_channels,), 0, dtype), name="bias") if affine else None

    def construct(self, input):
        return _f.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)


class Embedding(Cell):
    def __init__(self, num_embeddings, embedding_dim, padding_idx=None, max_norm=None, norm_type=2.0, scale_grad_by_freq=False, sparse=False, dtype=None):
        super().__init__()
        only("Embedding", max_norm=(max_norm, None), norm_type=(norm_type, 2.0), scale_grad_by_freq=(scale_grad_by_freq, False), sparse=(sparse, False))
        table = initializer(Normal(1.0), (num_embeddings, embedding_dim), dtype or float32)
        if padding_idx is not None:
            from mindspore import _index
            table = _index.set(table, padding_idx, 0)
        self.padding_idx, self.weight = padding_idx, Parameter(table, name="weight")

    def construct(self, input):
        return _f.embedding(input, self.weight, self.padding_idx)


class PReLU(Cell):
    def __init__(self, num_parameters=1, init=0.25, dtype=None):
        super().__init__()
        self.weight = Parameter(_core.full((num_parameters,), init, dtype or float32), name="weight")

    def construct(self, input):
        return _f.prelu(input, self.weight)


# Cells that call a function of mint with what they were made with: names of the arguments of each, "name=default".
_CALLS = {
    "MaxPool2d": (_m.max_pool2d, "kernel_size stride=None padding=0 dilation=1 return_indices=False ceil_mode=False"),
    "AvgPool1d": (_m.avg_pool1d, "kernel_size stride=None padding=0 ceil_mode=False count_include_pad=True"),
    "AvgPool2d": (_m.avg_pool2d, "kernel_size stride=None padding=0 ceil_mode=False count_include_pad=True divisor_override=None"),
    "AvgPool3d": (_m.avg_pool3d, "kernel_size stride=None padding=0 ceil_mode=False count_include_pad=True divisor_override=None"),
    "GELU": (_f.gelu, "approximate='none'"), "SELU": (_f.selu, ""), "Hardshrink": (_f.hardshrink, "lambd=0.5"),
    "Softmax": (_m.softmax, "dim=None"), "LogSoftmax": (_m.log_softmax, "dim=None"), "GLU": (_m.glu, "dim=-1"),
    "ReLU": (_m.relu, "inplace=False"), "ReLU6": (_m.relu6, "inplace=False"), "SiLU": (_m.silu, "inplace=False"), "ELU": (_m.elu, "alpha=1.0 inplace=False"),
    "Hardtanh": (_m.hardtanh, "min_val=-1.0 max_val=1.0 inplace=False"), "Threshold": (_m.threshold, "thr value inplace=False"),
    "SmoothL1Loss": (_m.smooth_l1_loss, "reduction='mean' beta=1.0"), "KLDivLoss": (_m.kl_div, "reduction='mean' log_target=False"),
    "BCEWithLogitsLoss": (_m.binary_cross_entropy_with_logits, "weight=None reduction='mean' pos_weight=None"),
    "Unfold": (_f.unfold, "kernel_size dilation=1 padding=0 stride=1"), "Fold": (_f.fold, "output_size kernel_size dilation=1 padding=0 stride=1"),
    "Flatten": (_m.flatten, "start_dim=1 end_dim=-1"),
    "UpsamplingNearest2d": (lambda input, size, scale_factor: _f.interpolate(input, size, scale_factor, mode="nearest"), "size=None scale_factor=None"),
    "UpsamplingBilinear2d": (lambda input, size, scale_factor: _f.interpolate(input, size, scale_factor, mode="bilinear", align_corners=True),
                             "size=None scale_factor=None"),
}


def _cell(name, function, arguments):
    pairs = [a.partition("=") for a in arguments.split()]
    names, defaults = [n for n, _, _ in pairs], {n: literal_eval(d) for n, _, d in pairs if d}

    def __init__(self, *args, **kwargs):
        Cell.__init__(self)
        given = dict(zip(names, args))
        if len(args) > len(names) or given.keys() & kwargs.keys() or kwargs.keys() - set(names):
            raise TypeError(f"{name}() takes the arguments {', '.join(names)}, but got {len(args)} and {', '.join(kwargs)}")
        self._settings = {**defaults, **given, **kwargs}
        missing = [n for n in names if n not in self._settings]
        if missing:
            raise TypeError(f"{name}() misses the argument '{missing[0]}'")

    def construct(self, *inputs):
        return function(*inputs, **self._settings)
    return type(name, (Cell,), {"__init__": __init__, "construct": construct})


for _name, (_function, _arguments) in _CALLS.items():
    globals()[_name] = _cell(_name, _function, _arguments)
