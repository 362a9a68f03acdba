# SPDX-License-Identifier: Apache-2.0
"""Layers."""
import math as _math
from collections import OrderedDict
import _gantry
from mindspore import _core
from mindspore._core import Tensor, float32
from mindspore.common.initializer import initializer, HeUniform, Uniform
from mindspore.common.parameter import Parameter
from mindspore.nn.cell import Cell
from mindspore.ops import function as _f
from mindspore.ops.grad import stop_gradient
from mindspore.ops._resize import resized as _resized
from mindspore.ops._neural import _tuple, _pool_pads, _max_pool, _avg_pool
from mindspore._rules import hold as _hold_to_rules


# Containers

class _Container(Cell):
    """Cells under names; each puts its name before those of its parameters."""

    def _take(self, name, cell):
        cell.update_parameters_name(f"{self._prefix()}{name}.")
        self._cells[name] = cell

    def _refill(self, cells):
        prefix = self._prefix()
        self._cells.clear()
        for i, cell in enumerate(cells):
            cell.update_parameters_name(f"{prefix}{i}.")
            self._cells[str(i)] = cell

    def _prefix(self):
        """What the parameters of the Cells that are here already have before their paths: there where another Cell holds this one."""
        for path, parameter in self.parameters_and_names():
            return parameter.name[:-len(path)] if parameter.name.endswith(path) else ""
        return ""

    def __setitem__(self, index, cell):
        self._take(index if isinstance(index, str) else list(self._cells)[index], cell)


class SequentialCell(_Container):
    def __init__(self, *args):
        super().__init__()
        if len(args) == 1 and isinstance(args[0], (list, tuple)):
            args = args[0]
        if len(args) == 1 and isinstance(args[0], OrderedDict):
            for name, cell in args[0].items():
                self._take(name, cell)
        else:
            for i, cell in enumerate(args):
                if not isinstance(cell, Cell):
                    raise TypeError(f"For 'SequentialCell', each cell must be subclass of Cell, but got {type(cell)}.")
                self._take(str(i), cell)

    @property
    def cell_list(self):
        return tuple(self._cells.values())

    def __getitem__(self, index):
        if isinstance(index, slice):
            return type(self)(*self.cell_list[index])
        return self.cell_list[index]

    def __len__(self):
        return len(self._cells)

    def __iter__(self):
        return iter(self.cell_list)

    def append(self, cell):
        self._take(str(len(self)), cell)

    def construct(self, x):
        for cell in self.cell_list:
            x = cell(x)
        return x


class CellList(_Container):
    def __init__(self, *args, **kwargs):
        super().__init__()
        if len(args) == 1 and isinstance(args[0], (list, tuple, CellList)):
            args = args[0]
        self.extend(list(args))

    def __getitem__(self, index):
        cells = tuple(self._cells.values())
        if isinstance(index, slice):
            return type(self)(list(cells[index]))
        if isinstance(index, _gantry.Value):
            from mindspore._hooks import sequence_item
            return sequence_item(list(cells), index)
        return cells[index]

    def __delitem__(self, index):
        cells = list(self._cells.values())
        del cells[index]
        self._refill(cells)

    def __len__(self):
        return len(self._cells)

    def __iter__(self):
        return iter(self._cells.values())

    def append(self, cell):
        self._take(str(len(self)), cell)
        return self

    def extend(self, cells):
        for cell in cells:
            self.append(cell)
        return self

    def insert(self, index, cell):
        cells = list(self._cells.values())
        cells.insert(index, cell)
        self._refill(cells)

    def construct(self, *inputs):
        raise NotImplementedError


class CellDict(_Container):
    def __init__(self, *args, **kwargs):
        super().__init__()
        if args:
            self.update(args[0])

    def update(self, cells):
        for name, cell in (cells.items() if hasattr(cells, "items") else cells):
            self._take(name, cell)

    def __getitem__(self, name):
        return self._cells[name]

    def __setitem__(self, name, cell):
        self._take(name, cell)

    def __delitem__(self, name):
        del self._cells[name]

    def clear(self):
        self._cells.clear()

    def pop(self, key):
        return self._cells.pop(key)

    def __len__(self):
        return len(self._cells)

    def __iter__(self):
        return iter(self._cells)

    def __contains__(self, name):
        return name in self._cells

    def keys(self):
        return self._cells.keys()

    def values(self):
        return self._cells.values()

    def items(self):
        return self._cells.items()


# Activations: a function with its settings

def _activation(name, function, **settings):
    names = list(settings)

    def __init__(self, *args, **kwargs):
        Cell.__init__(self)
        values = {**settings, **dict(zip(names, args)), **kwargs}
        for key, value in values.items():
            self.__dict__["_" + key] = value
    __init__._parameters = settings

    def construct(self, x):
        return function(x, *(self.__dict__["_" + n] for n in names))
    return type(name, (Cell,), {"__init__": __init__, "construct": construct, "__module__": "mindspore.nn.layer"})


ReLU, ReLU6, Sigmoid, Tanh, Mish, SiLU, SeLU, Softsign, LogSigmoid, HSigmoid, HSwish, Tanhshrink, FastGelu, Identity, Softplus = (
    _activation(n, f) for n, f in (
        ("ReLU", _f.relu), ("ReLU6", _f.relu6), ("Sigmoid", _f.sigmoid), ("Tanh", _f.tanh), ("Mish", _f.mish), ("SiLU", _f.silu),
        ("SeLU", _f.selu), ("Softsign", _f.softsign), ("LogSigmoid", _f.logsigmoid), ("HSigmoid", _f.hardsigmoid),
        ("HSwish", _f.hardswish), ("Tanhshrink", _f.tanhshrink), ("FastGelu", _f.fast_gelu), ("Identity", _f.identity),
        ("Softplus", _f.softplus)))
Hardsigmoid, Hardswish = HSigmoid, HSwish
ELU = _activation("ELU", _f.elu, alpha=1.0)
CELU = _activation("CELU", _f.celu, alpha=1.0)
GELU = _activation("GELU", lambda x, approximate: _f.gelu(x, "tanh" if approximate else "none"), approximate=True)
LeakyReLU = _activation("LeakyReLU", _f.leaky_relu, alpha=0.2)
Softmax = _activation("Softmax", _f.softmax, axis=-1)
Softmin = _activation("Softmin", _f.softmin, axis=-1)
LogSoftmax = _activation("LogSoftmax", _f.log_softmax, axis=-1)
HShrink = _activation("HShrink", _f.hardshrink, lambd=0.5)
SoftShrink = _activation("SoftShrink", _f.softshrink, lambd=0.5)
Hardtanh = _activation("Hardtanh", _f.hardtanh, min_val=-1.0, max_val=1.0)
Threshold = _activation("Threshold", _f.threshold, threshold=0.0, value=0.0)
GLU = _activation("GLU", _f.glu, axis=-1)
RReLU = _activation("RReLU", _f.rrelu, lower=1 / 8, upper=1 / 3)
Softmax2d = _activation("Softmax2d", lambda x: _f.softmax(x, -3))
ReduceLogSumExp = _activation("ReduceLogSumExp", lambda x, axis, keep_dims: _f.logsumexp(x, axis, keep_dims), axis=-1, keep_dims=False)
PixelShuffle = _activation("PixelShuffle", _f.pixel_shuffle, upscale_factor=1)
PixelUnshuffle = _activation("PixelUnshuffle", _f.pixel_unshuffle, downscale_factor=1)
ChannelShuffle = _activation("ChannelShuffle", _f.channel_shuffle, groups=1)
L1Regularizer = _activation("L1Regularizer", lambda x, scale: _core.mul(_f.sum(_f.abs(x)), scale), scale=1.0)
Tril = _activation("Tril", lambda x: _f.tril(x))
Triu = _activation("Triu", lambda x: _f.triu(x))
Unflatten = _activation("Unflatten", _f.unflatten, axis=0, unflattened_size=())
Roll = _activation("Roll", lambda x, shift, axis: _f.roll(x, shift, axis), shift=0, axis=0)


class PReLU(Cell):
    def __init__(self, channel=1, w=0.25):
        super().__init__()
        self.w = Parameter(w if isinstance(w, Tensor) else initializer(float(w), (channel,)), name="a")

    def construct(self, x):
        return _f.prelu(x, self.w)


_ACTIVATIONS = {"softmax": Softmax, "logsoftmax": LogSoftmax, "relu": ReLU, "relu6": ReLU6, "tanh": Tanh, "gelu": GELU, "elu": ELU,
                "sigmoid": Sigmoid, "prelu": PReLU, "leakyrelu": LeakyReLU, "hswish": HSwish, "hsigmoid": HSigmoid,
                "logsigmoid": LogSigmoid, "fast_gelu": FastGelu, "silu": SiLU, "mish": Mish, "softplus": Softplus}


def get_activation(name, prim_name=None):
    if name is None:
        return None
    if name not in _ACTIVATIONS:
        raise KeyError(f"The 'name' must be in {list(_ACTIVATIONS)}, but got {name}.")
    return _ACTIVATIONS[name]()


# Products

class Dense(Cell):
    def __init__(self, in_channels, out_channels, weight_init=None, bias_init=None, has_bias=True, activation=None, dtype=float32):
        super().__init__()
        self.in_channels, self.out_channels, self.has_bias = in_channels, out_channels, has_bias
        bound = 1 / _math.sqrt(in_channels)
        self.weight = Parameter(initializer(HeUniform(_math.sqrt(5)) if weight_init is None else weight_init,
                                            (out_channels, in_channels), dtype), name="weight")
        self.bias = None
        if has_bias:
            self.bias = Parameter(initializer(Uniform(bound) if bias_init is None else bias_init, (out_channels,), dtype), name="bias")
        self.activation = get_activation(activation) if isinstance(activation, str) else activation
        self.activation_flag = self.activation is not None

    def construct(self, x):
        x = _f.dense(x, self.weight, self.bias)
        return x if self.activation is None else self.activation(x)

    def extend_repr(self):
        return f"input_channels={self.in_channels}, output_channels={self.out_channels}, has_bias={self.has_bias}"


class BiDense(Cell):
    def __init__(self, in1_channels, in2_channels, out_channels, weight_init=None, bias_init=None, has_bias=True, dtype=float32):
        super().__init__()
        bound = 1 / _math.sqrt(in1_channels)
        self.weight = Parameter(initializer(Uniform(bound) if weight_init is None else weight_init,
                                            (out_channels, in1_channels, in2_channels), dtype), name="weight")
        self.bias = Parameter(initializer(Uniform(bound) if bias_init is None else bias_init, (out_channels,), dtype), name="bias") \
            if has_bias else None

    def construct(self, input1, input2):
        return _f.bidense(input1, input2, self.weight, self.bias)


class Flatten(Cell):
    def __init__(self, start_dim=1, end_dim=-1):
        super().__init__()
        self.start_dim, self.end_dim = start_dim, end_dim

    def construct(self, x):
        return _f.flatten(x, start_dim=self.start_dim, end_dim=self.end_dim)


class Dropout(Cell):
    def __init__(self, keep_prob=0.5, p=None, dtype=float32):
        super().__init__()
        rate = 1 - keep_prob if p is None else p
        if rate < 0 or rate >= 1 and p is None or rate > 1:
            raise ValueError(f"For 'Dropout', the 'p' must be a number in range [0, 1), but got {rate}.")
        self.p, self.keep_prob = rate, 1 - rate

    def construct(self, x):
        return _f.dropout(x, self.p, self.training)


def _channel_dropout(name, function):
    def __init__(self, p=0.5):
        Cell.__init__(self)
        self.p = p
    return type(name, (Cell,), {"__init__": __init__, "construct": lambda self, x: function(x, self.p, self.training),
                                "__module__": "mindspore.nn.layer"})


Dropout1d, Dropout2d, Dropout3d = (_channel_dropout(f"Dropout{n}d", getattr(_f, f"dropout{n}d")) for n in (1, 2, 3))


class Embedding(Cell):
    def __init__(self, vocab_size, embedding_size, use_one_hot=False, embedding_table="normal", dtype=float32, padding_idx=None):
        super().__init__()
        self.vocab_size, self.embedding_size, self.use_one_hot, self.dtype = vocab_size, embedding_size, use_one_hot, dtype
        table = initializer(embedding_table, (vocab_size, embedding_size), dtype)
        if padding_idx is not None:
            from mindspore import _index
            table = _index.set(table, padding_idx, 0)
        self.embedding_table = Parameter(table, name="embedding_table")

    def construct(self, ids):
        if not self.use_one_hot:
            return _f.gather(self.embedding_table, ids, 0)
        chosen = _core.convert(_f.one_hot(_core.reshape(ids, (-1,)), self.vocab_size, 1.0, 0.0), self.embedding_table.dtype)
        return _core.reshape(_core.matmul(chosen, self.embedding_table), tuple(ids.shape) + (self.embedding_size,))


class EmbeddingLookup(Embedding):
    pass


class OneHot(Cell):
    def __init__(self, axis=-1, depth=1, on_value=1.0, off_value=0.0, dtype=float32):
        super().__init__()
        self.axis, self.depth, self.on, self.off, self.dtype = axis, depth, on_value, off_value, dtype

    def construct(self, indices):
        return _core.convert(_f.one_hot(indices, self.depth, self.on, self.off, self.axis), self.dtype)


class Norm(Cell):
    def __init__(self, axis=(), keep_dims=False):
        super().__init__()
        self.axis, self.keep_dims = axis, keep_dims

    def construct(self, x):
        return _f.norm(x, None, None if self.axis == () else self.axis, self.keep_dims)


class ClipByNorm(Cell):
    def __init__(self, axis=None):
        super().__init__()
        self.axis = axis

    def construct(self, x, clip_norm):
        size = _f.norm(x, None, self.axis, True)
        return _core.div(_core.mul(x, clip_norm), _f.maximum(size, clip_norm))


class Pad(Cell):
    def __init__(self, paddings, mode="CONSTANT"):
        super().__init__()
        self.paddings, self.mode = paddings, {"CONSTANT": "constant", "REFLECT": "reflect", "SYMMETRIC": "symmetric"}[mode]

    def construct(self, x):
        return _f.pad(x, self.paddings, self.mode)


def _padding(name, n, mode):
    def __init__(self, padding, value=0):
        Cell.__init__(self)
        self.padding = (padding,) * (2 * n) if isinstance(padding, int) else tuple(padding)
        self.value = value

    def construct(self, x):
        return _f.pad(x, self.padding, mode, self.value if mode == "constant" else None)
    return type(name, (Cell,), {"__init__": __init__, "construct": construct, "__module__": "mindspore.nn.layer"})


ConstantPad1d, ConstantPad2d, ConstantPad3d = (_padding(f"ConstantPad{n}d", n, "constant") for n in (1, 2, 3))
ReflectionPad1d, ReflectionPad2d, ReflectionPad3d = (_padding(f"ReflectionPad{n}d", n, "reflect") for n in (1, 2, 3))
ReplicationPad1d, ReplicationPad2d, ReplicationPad3d = (_padding(f"ReplicationPad{n}d", n, "replicate") for n in (1, 2, 3))
ZeroPad2d = _padding("ZeroPad2d", 2, "constant")


# Convolutions

class _Conv(Cell):
    _n, _transposed = 2, False

    def __init__(self, in_channels, out_channels, kernel_size, stride=1, pad_mode="same", padding=0, *rest, dilation=1, group=1,
                 has_bias=False, weight_init=None, bias_init=None, output_padding=0, data_format="NCHW", dtype=float32):
        super().__init__()
        names = ("output_padding", "dilation", "group", "has_bias", "weight_init", "bias_init") if self._transposed and self._n != 2 \
            else ("dilation", "group", "has_bias", "weight_init", "bias_init", "data_format")
        values = dict(dilation=dilation, group=group, has_bias=has_bias, weight_init=weight_init, bias_init=bias_init,
                      output_padding=output_padding, data_format=data_format)
        values.update(zip(names, rest))
        _core.check_data_format(type(self).__name__, values["data_format"])
        self.in_channels, self.out_channels, self.group = in_channels, out_channels, values["group"]
        self.kernel_size, self.stride = _tuple(kernel_size, self._n), _tuple(stride, self._n)
        self.dilation, self.pad_mode, self.padding = _tuple(values["dilation"], self._n), pad_mode, padding
        self.output_padding, self.has_bias = values["output_padding"], values["has_bias"]
        if pad_mode not in ("same", "valid", "pad"):
            raise ValueError(f"For '{type(self).__name__}', the 'pad_mode' must be one of values in ('same', 'valid', 'pad'), but got "
                             f"{pad_mode}.")
        shape = (in_channels, out_channels // self.group) if self._transposed else (out_channels, in_channels // self.group)
        weight, bias = values["weight_init"], values["bias_init"]
        self.weight = Parameter(initializer(HeUniform(_math.sqrt(5)) if weight is None else weight, shape + self.kernel_size, dtype),
                                name="weight")
        self.bias = None
        if self.has_bias:
            bound = 1 / _math.sqrt(max(1, in_channels // self.group * _core._product(self.kernel_size)))
            self.bias = Parameter(initializer(Uniform(bound) if bias is None else bias, (out_channels,), dtype), name="bias")

    def construct(self, x):
        if self._transposed:
            return _f.conv_transpose(x, self.weight, self.bias, self.stride, self.pad_mode, self.padding, self.output_padding,
                                     self.dilation, self.group)
        return _f.conv2d(x, self.weight, self.bias, self.stride, self.pad_mode, self.padding, self.dilation, self.group)

    def extend_repr(self):
        return (f"input_channels={self.in_channels}, output_channels={self.out_channels}, kernel_size={self.kernel_size}, "
                f"stride={self.stride}, pad_mode={self.pad_mode}, padding={self.padding}, dilation={self.dilation}, "
                f"group={self.group}, has_bias={self.has_bias}")


Conv1d, Conv2d, Conv3d = (type(f"Conv{n}d", (_Conv,), {"_n": n}) for n in (1, 2, 3))
Conv1dTranspose, Conv2dTranspose, Conv3dTranspose = (type(f"Conv{n}dTranspose", (_Conv,), {"_n": n, "_transposed": True}) for n in (1, 2, 3))


# Pooling

class _Pool(Cell):
    _n, _maximum = 2, True

    def __init__(self, kernel_size=1, stride=1, pad_mode="valid", padding=0, *rest, dilation=1, return_indices=False, ceil_mode=False,
                 count_include_pad=True, divisor_override=None, data_format="NCHW"):
        super().__init__()
        _core.check_data_format(type(self).__name__, data_format)
        names = ("dilation", "return_indices", "ceil_mode") if self._maximum else ("ceil_mode", "count_include_pad", "divisor_override")
        values = {"ceil_mode": ceil_mode, "count_include_pad": count_include_pad, "divisor_override": divisor_override,
                  "dilation": dilation, "return_indices": return_indices, **dict(zip(names, rest))}
        self.kernel_size, self.stride = kernel_size, stride
        self.pad_mode, self.padding, self.ceil_mode = pad_mode.lower(), padding, values["ceil_mode"]
        self.count_include_pad, self.divisor_override = values["count_include_pad"], values["divisor_override"]
        self.dilation, self.return_indices = values["dilation"], values["return_indices"]

    def construct(self, x):
        kernel, stride = _tuple(self.kernel_size, self._n), _tuple(self.stride, self._n)
        pads = _pool_pads(x, kernel, stride, self.pad_mode, self.padding, self.ceil_mode)
        if self._maximum:
            return _max_pool(x, kernel, stride, pads, _tuple(self.dilation, self._n), self.return_indices)
        return _avg_pool(x, kernel, stride, pads, self.count_include_pad and self.pad_mode == "pad", self.divisor_override)


MaxPool1d, MaxPool2d, MaxPool3d = (type(f"MaxPool{n}d", (_Pool,), {"_n": n}) for n in (1, 2, 3))
AvgPool1d, AvgPool2d, AvgPool3d = (type(f"AvgPool{n}d", (_Pool,), {"_n": n, "_maximum": False}) for n in (1, 2, 3))


def _adaptive(name, function):
    def __init__(self, output_size, return_indices=False):
        Cell.__init__(self)
        self.output_size = output_size
        self._more = (True,) if return_indices else ()
    return type(name, (Cell,), {"__init__": __init__, "construct": lambda self, x: function(x, self.output_size, *self._more),
                                "__module__": "mindspore.nn.layer"})


AdaptiveAvgPool1d, AdaptiveAvgPool2d, AdaptiveAvgPool3d = (_adaptive(f"AdaptiveAvgPool{n}d", getattr(_f, f"adaptive_avg_pool{n}d")) for n in (1, 2, 3))
AdaptiveMaxPool1d, AdaptiveMaxPool2d, AdaptiveMaxPool3d = (_adaptive(f"AdaptiveMaxPool{n}d", getattr(_f, f"adaptive_max_pool{n}d")) for n in (1, 2, 3))


class Upsample(Cell):
    def __init__(self, size=None, scale_factor=None, mode="nearest", align_corners=None, recompute_scale_factor=None):
        super().__init__()
        self.settings = (size, scale_factor, mode, align_corners, recompute_scale_factor)

    def construct(self, x):
        return _f.interpolate(x, *self.settings)


class ResizeBilinear(Cell):
    def construct(self, x, size=None, scale_factor=None, align_corners=False):
        if (size is None) == (scale_factor is None):
            raise ValueError("For 'ResizeBilinear', one of 'size' and 'scale_factor' must be given, and not both.")
        return _resized(x, tuple(d * scale_factor for d in x.shape[2:]) if size is None else size, "linear", "corners" if align_corners else "corner")


# Norms

class _BatchNorm(Cell):
    def __init__(self, num_features, eps=1e-5, momentum=0.9, affine=True, gamma_init="ones", beta_init="zeros",
                 moving_mean_init="zeros", moving_var_init="ones", use_batch_statistics=None, data_format="NCHW", dtype=float32):
        super().__init__()
        _core.check_data_format(type(self).__name__, data_format)
        if num_features < 1:
            raise ValueError(f"For '{type(self).__name__}', the 'num_features' must be at least 1, but got {num_features}.")
        self.num_features, self.eps, self.momentum, self.use_batch_statistics = num_features, eps, 1 - momentum, use_batch_statistics
        self.moving_mean = Parameter(initializer(moving_mean_init, (num_features,), dtype), "mean", requires_grad=False)
        self.moving_variance = Parameter(initializer(moving_var_init, (num_features,), dtype), "variance", requires_grad=False)
        self.gamma = Parameter(initializer(gamma_init, (num_features,), dtype), "gamma", requires_grad=affine)
        self.beta = Parameter(initializer(beta_init, (num_features,), dtype), "beta", requires_grad=affine)

    def construct(self, x):
        training = self.training if self.use_batch_statistics is None else self.use_batch_statistics
        return _f.batch_norm(x, self.moving_mean, self.moving_variance, self.gamma, self.beta, training, self.momentum, self.eps)

    def extend_repr(self):
        return f"num_features={self.num_features}, eps={self.eps}, momentum={1 - self.momentum}"


class BatchNorm1d(_BatchNorm):
    pass


class BatchNorm2d(_BatchNorm):
    pass


class BatchNorm3d(_BatchNorm):
    pass


SyncBatchNorm = BatchNorm2d


class LayerNorm(Cell):
    def __init__(self, normalized_shape, begin_norm_axis=-1, begin_params_axis=-1, gamma_init="ones", beta_init="zeros", epsilon=1e-7,
                 dtype=float32):
        super().__init__()
        if not isinstance(normalized_shape, (tuple, list)):
            raise TypeError(f"For 'LayerNorm', the type of 'normalized_shape' must be tuple[int] or list[int], but got "
                            f"{normalized_shape} and the type is {type(normalized_shape)}.")
        self.normalized_shape, self.epsilon = tuple(normalized_shape), epsilon
        self.begin_norm_axis, self.begin_params_axis = begin_norm_axis, begin_params_axis
        self.gamma = Parameter(initializer(gamma_init, self.normalized_shape, dtype), name="gamma")
        self.beta = Parameter(initializer(beta_init, self.normalized_shape, dtype), name="beta")

    def _from(self, name, axis, rank):
        if not -1 <= axis < rank:
            raise RuntimeError(f"For primitive[LayerNorm], input_x's rank is {rank}, while the '{name}' value should be in the range "
                               f"[-1, {rank}), but got {axis}")
        return axis % rank

    def construct(self, x):
        axes = tuple(range(self._from("begin_norm_axis", self.begin_norm_axis, x.ndim), x.ndim))
        scaled = tuple(x.shape[self._from("begin_params_axis", self.begin_params_axis, x.ndim):])
        if scaled != self.normalized_shape:
            raise ValueError(f"For 'LayerNorm', the shape of gamma and beta must be that of the input from 'begin_params_axis' on, {scaled}, "
                             f"but 'normalized_shape' is {self.normalized_shape}.")
        mean, var = _f.mean(x, axes, True), _f.var(x, axes, 0, True)
        return _core.add(_core.mul(_core.mul(_core.sub(x, mean), _f.rsqrt(_core.add(var, self.epsilon))), self.gamma), self.beta)


class GroupNorm(Cell):
    def __init__(self, num_groups, num_channels, eps=1e-5, affine=True, gamma_init="ones", beta_init="zeros", dtype=float32):
        super().__init__()
        if num_channels % num_groups:
            raise ValueError(f"For 'GroupNorm', the 'num_channels' must be divided by 'num_groups', but got {num_channels} and "
                             f"{num_groups}.")
        self.num_groups, self.eps = num_groups, eps
        self.gamma = Parameter(initializer(gamma_init, (num_channels,), dtype), name="gamma", requires_grad=affine)
        self.beta = Parameter(initializer(beta_init, (num_channels,), dtype), name="beta", requires_grad=affine)

    def construct(self, x):
        return _f.group_norm(x, self.num_groups, self.gamma, self.beta, self.eps)


class _InstanceNorm(Cell):
    def __init__(self, num_features, eps=1e-5, momentum=0.1, affine=True, gamma_init="ones", beta_init="zeros", dtype=float32):
        super().__init__()
        if not 0 <= momentum <= 1:
            raise ValueError(f"For '{self.cls_name}', the 'momentum' must be a number in range [0, 1], but got {momentum}.")
        self.eps, self.momentum = eps, momentum
        self.moving_mean = Parameter(initializer("zeros", (num_features,), dtype), name="mean", requires_grad=False)
        self.moving_variance = Parameter(initializer("ones", (num_features,), dtype), name="variance", requires_grad=False)
        self.gamma = Parameter(initializer(gamma_init, (num_features,), dtype), name="gamma", requires_grad=affine)
        self.beta = Parameter(initializer(beta_init, (num_features,), dtype), name="beta", requires_grad=affine)

    def construct(self, x):
        if self.training:
            axes = tuple(range(2, x.ndim))
            for moving, now in ((self.moving_mean, _f.mean(x, axes)), (self.moving_variance, _f.var(x, axes))):
                old = _gantry.parameter_value(moving)
                now = _core.convert(stop_gradient(_f.mean(now, 0)), old.dtype)
                _core.assign(moving, _core.add(_core.mul(old, 1 - self.momentum), _core.mul(now, self.momentum)))
        return _f.instance_norm(x, self.gamma, self.beta, self.eps)


InstanceNorm1d, InstanceNorm2d, InstanceNorm3d = (type(f"InstanceNorm{n}d", (_InstanceNorm,), {}) for n in (1, 2, 3))


# Recurrent

class _RecurrentBase(Cell):
    """Layers of cells walked along the sequence, in one direction or both."""
    _gates = 1

    def __init__(self, input_size, hidden_size, num_layers=1, has_bias=True, batch_first=False, dropout=0.0, bidirectional=False,
                 dtype=float32, nonlinearity="tanh"):
        super().__init__()
        self.input_size, self.hidden_size, self.num_layers = input_size, hidden_size, num_layers
        self.has_bias, self.batch_first, self.bidirectional, self.dropout = has_bias, batch_first, bidirectional, dropout
        self.nonlinearity = nonlinearity
        bound, directions = 1 / _math.sqrt(hidden_size), 2 if bidirectional else 1
        rows = self._gates * hidden_size
        layers = [(f"_l{i}" + ("_reverse" if d else ""), input_size if i == 0 else hidden_size * directions)
                  for i in range(num_layers) for d in range(directions)]
        # One kind of all layers after the other: who gives values by position relies on it.
        for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh") if has_bias else ("weight_ih", "weight_hh"):
            for suffix, width in layers:
                shape = {"weight_ih": (rows, width), "weight_hh": (rows, hidden_size)}.get(name, (rows,))
                setattr(self, name + suffix, Parameter(initializer(Uniform(bound), shape, dtype), name=name + suffix))

    def _parameters_of(self, suffix):
        names = ("weight_ih", "weight_hh", "bias_ih", "bias_hh") if self.has_bias else ("weight_ih", "weight_hh")
        values = tuple(getattr(self, n + suffix) for n in names)
        return values if self.has_bias else values + (None, None)

    def _walk(self, x, state, suffix, reverse, lengths):
        w_ih, w_hh, b_ih, b_hh = self._parameters_of(suffix)
        steps = list(range(x.shape[0]))
        outputs = [None] * len(steps)
        # What does not depend on the state is one product for all steps.
        given = _f.dense(x, w_ih, b_ih)
        for t in (reversed(steps) if reverse else steps):
            new = self._step(given[t], state, w_hh, b_hh)
            if lengths is None:
                state, outputs[t] = new, new[0]
                continue
            # Past the length of its sequence a state stays what it is (that before the first step, walking back), and the output is zero.
            within = _core.compare("GT", lengths, t)
            state = tuple(_core.select(within, one, old) for one, old in zip(new, state))
            outputs[t] = _core.select(within, new[0], 0.0)
        return _f.stack(outputs), state

    def _lengths(self, seq_length, batch):
        lengths = _core.tensor_of(seq_length)
        if tuple(lengths.shape) != (batch,):
            raise ValueError(f"For '{type(self).__name__}', the 'seq_length' must have one length for each of the {batch} sequences of the "
                             f"batch, but its shape is {tuple(lengths.shape)}.")
        return _core.reshape(lengths, (batch, 1))

    def construct(self, x, hx=None, seq_length=None):
        if self.batch_first:
            x = _core.swapaxes(x, 0, 1)
        directions = 2 if self.bidirectional else 1
        batch = x.shape[1]
        if hx is None:
            zeros = _core.full((self.num_layers * directions, batch, self.hidden_size), 0, x.dtype)
            hx = (zeros, zeros)
        initial = hx if isinstance(hx, (tuple, list)) else (hx,)
        lengths = None if seq_length is None else self._lengths(seq_length, batch)
        last = []
        for i in range(self.num_layers):
            parts = []
            for d in range(directions):
                state = tuple(s[i * directions + d] for s in initial)[:self._states]
                out, state = self._walk(x, state, f"_l{i}" + ("_reverse" if d else ""), d == 1, lengths)
                parts.append(out)
                last.append(state)
            x = parts[0] if directions == 1 else _f.concat(parts, 2)
            if self.dropout and i + 1 < self.num_layers:
                x = _f.dropout(x, self.dropout, self.training)
        final = tuple(_f.stack([s[k] for s in last]) for k in range(self._states))
        if self.batch_first:
            x = _core.swapaxes(x, 0, 1)
        return x, final if self._states > 1 else final[0]


def _gru_step(given, state, w_hh, b_hh, n):
    h = state[0]
    other = _f.dense(h, w_hh, b_hh)
    r, z = (_f.sigmoid(_core.add(given[..., i * n:(i + 1) * n], other[..., i * n:(i + 1) * n])) for i in range(2))
    new = _f.tanh(_core.add(given[..., 2 * n:], _core.mul(r, other[..., 2 * n:])))
    return (_core.add(_core.mul(_core.sub(1.0, z), new), _core.mul(z, h)),)


def _lstm_step(given, state, w_hh, b_hh, n):
    h, c = state
    g = _core.add(given, _f.dense(h, w_hh, b_hh))
    i, f, o = (_f.sigmoid(g[..., k * n:(k + 1) * n]) for k in (0, 1, 3))
    c = _core.add(_core.mul(f, c), _core.mul(i, _f.tanh(g[..., 2 * n:3 * n])))
    return _core.mul(o, _f.tanh(c)), c


class RNN(_RecurrentBase):
    _gates, _states = 1, 1

    def _step(self, given, state, w_hh, b_hh):
        value = _core.add(given, _f.dense(state[0], w_hh, b_hh))
        return ((_f.relu if self.nonlinearity == "relu" else _f.tanh)(value),)


class GRU(_RecurrentBase):
    _gates, _states = 3, 1

    def _step(self, given, state, w_hh, b_hh):
        return _gru_step(given, state, w_hh, b_hh, self.hidden_size)


class LSTM(_RecurrentBase):
    _gates, _states = 4, 2

    def _step(self, given, state, w_hh, b_hh):
        return _lstm_step(given, state, w_hh, b_hh, self.hidden_size)


class _RecurrentCell(Cell):
    _gates = 1

    def __init__(self, input_size, hidden_size, has_bias=True, nonlinearity="tanh", dtype=float32):
        super().__init__()
        self.hidden_size, self.nonlinearity = hidden_size, nonlinearity
        bound = 1 / _math.sqrt(hidden_size)
        self.weight_ih = Parameter(initializer(Uniform(bound), (self._gates * hidden_size, input_size), dtype), name="weight_ih")
        self.weight_hh = Parameter(initializer(Uniform(bound), (self._gates * hidden_size, hidden_size), dtype), name="weight_hh")
        self.bias_ih = Parameter(initializer(Uniform(bound), (self._gates * hidden_size,), dtype), name="bias_ih") if has_bias else None
        self.bias_hh = Parameter(initializer(Uniform(bound), (self._gates * hidden_size,), dtype), name="bias_hh") if has_bias else None


class RNNCell(_RecurrentCell):
    def construct(self, x, hx):
        value = _core.add(_f.dense(x, self.weight_ih, self.bias_ih), _f.dense(hx, self.weight_hh, self.bias_hh))
        return (_f.relu if self.nonlinearity == "relu" else _f.tanh)(value)


class GRUCell(_RecurrentCell):
    _gates = 3

    def construct(self, x, hx):
        return _gru_step(_f.dense(x, self.weight_ih, self.bias_ih), (hx,), self.weight_hh, self.bias_hh, self.hidden_size)[0]


class LSTMCell(_RecurrentCell):
    _gates = 4

    def construct(self, x, hx):
        return _lstm_step(_f.dense(x, self.weight_ih, self.bias_ih), hx, self.weight_hh, self.bias_hh, self.hidden_size)


# Attention

class MultiheadAttention(Cell):
    def __init__(self, embed_dim, num_heads, dropout=0.0, has_bias=True, add_bias_kv=False, add_zero_attn=False, kdim=None, vdim=None,
                 batch_first=False, dtype=float32):
        super().__init__()
        if embed_dim % num_heads:
            raise ValueError(f"The init argument 'embed_dim' must be divisible by 'num_heads', but got {embed_dim} and {num_heads}.")
        self.embed_dim, self.num_heads, self.dropout, self.batch_first = embed_dim, num_heads, dropout, batch_first
        self.kdim, self.vdim, self.add_zero_attn = kdim or embed_dim, vdim or embed_dim, add_zero_attn
        self.in_one = self.kdim == self.vdim == embed_dim
        if self.in_one:
            self.in_proj_weight = Parameter(initializer("xavier_uniform", (3 * embed_dim, embed_dim), dtype), name="in_proj_weight")
        else:
            for name, size in (("q_proj_weight", embed_dim), ("k_proj_weight", self.kdim), ("v_proj_weight", self.vdim)):
                setattr(self, name, Parameter(initializer("xavier_uniform", (embed_dim, size), dtype), name=name))
        self.in_proj_bias = Parameter(initializer("zeros", (3 * embed_dim,), dtype), name="in_proj_bias") if has_bias else None
        self.bias_k, self.bias_v = (Parameter(initializer("xavier_normal", (1, 1, embed_dim), dtype), name=name) if add_bias_kv else None
                                    for name in ("bias_k", "bias_v"))
        self.out_proj = Dense(embed_dim, embed_dim, has_bias=has_bias, dtype=dtype)

    def _projected(self, x, part, more=None):
        n = self.embed_dim
        weight = self.in_proj_weight[part * n:(part + 1) * n] if self.in_one else (self.q_proj_weight, self.k_proj_weight, self.v_proj_weight)[part]
        x = _f.dense(x, weight, None if self.in_proj_bias is None else self.in_proj_bias[part * n:(part + 1) * n])
        return x if more is None else _f.concat([x, _core.broadcast_to(more, (x.shape[0], 1, n))], 1)

    def _heads(self, x):
        batch, length = x.shape[:2]
        return _core.transpose(_core.reshape(x, (batch, length, self.num_heads, self.embed_dim // self.num_heads)), (0, 2, 1, 3))

    def _with_zero(self, x):
        """One more key, and value, of zeros."""
        return _f.concat([x, _core.full(tuple(x.shape[:2]) + (1, x.shape[3]), 0, x.dtype)], 2) if self.add_zero_attn else x

    def _for_more(self, mask):
        """What was added is open to all."""
        more = (self.bias_k is not None) + bool(self.add_zero_attn)
        if mask is None or not more:
            return mask
        return _f.concat([mask, _core.full(tuple(mask.shape[:-1]) + (more,), False if mask.element == "bool" else 0, mask.dtype)], -1)

    def construct(self, query, key, value, key_padding_mask=None, need_weights=True, attn_mask=None, average_attn_weights=True):
        if not self.batch_first:
            query, key, value = (_core.swapaxes(v, 0, 1) for v in (query, key, value))
        q = self._heads(self._projected(query, 0))
        k = self._with_zero(self._heads(self._projected(key, 1, self.bias_k)))
        v = self._with_zero(self._heads(self._projected(value, 2, self.bias_v)))
        attn_mask, key_padding_mask = self._for_more(attn_mask), self._for_more(key_padding_mask)
        scores = _core.mul(_core.matmul(q, _core.swapaxes(k, -1, -2)), 1 / _math.sqrt(q.shape[-1]))
        if attn_mask is not None:
            scores = _core.select(attn_mask, -1e30, scores) if attn_mask.element == "bool" else _core.add(scores, attn_mask)
        if key_padding_mask is not None:
            padding = _core.reshape(key_padding_mask, (key_padding_mask.shape[0], 1, 1, key_padding_mask.shape[1]))
            scores = _core.select(padding, -1e30, scores) if padding.element == "bool" else _core.add(scores, padding)
        weights = _f.dropout(_f.softmax(scores, -1), self.dropout, self.training)
        out = _core.transpose(_core.matmul(weights, v), (0, 2, 1, 3))
        out = self.out_proj(_core.reshape(out, query.shape[:2] + (self.embed_dim,)))
        out = out if self.batch_first else _core.swapaxes(out, 0, 1)
        if not need_weights:
            return (out,)
        return out, _f.mean(weights, 1) if average_attn_weights else weights


class TransformerEncoderLayer(Cell):
    def __init__(self, d_model, nhead, dim_feedforward=2048, dropout=0.1, activation="relu", layer_norm_eps=1e-5, batch_first=False,
                 norm_first=False, dtype=float32):
        super().__init__()
        self.self_attn = MultiheadAttention(d_model, nhead, dropout, batch_first=batch_first, dtype=dtype)
        self.linear1, self.linear2 = Dense(d_model, dim_feedforward, dtype=dtype), Dense(dim_feedforward, d_model, dtype=dtype)
        self.norm1, self.norm2 = (LayerNorm((d_model,), epsilon=layer_norm_eps, dtype=dtype) for _ in range(2))
        self.dropout_rate, self.norm_first = dropout, norm_first
        self.activation = {"relu": _f.relu, "gelu": _f.gelu}.get(activation, activation)

    def _attend(self, x, mask, padding):
        return _f.dropout(self.self_attn(x, x, x, padding, False, mask)[0], self.dropout_rate, self.training)

    def _feed(self, x):
        x = _f.dropout(self.activation(self.linear1(x)), self.dropout_rate, self.training)
        return _f.dropout(self.linear2(x), self.dropout_rate, self.training)

    def construct(self, src, src_mask=None, src_key_padding_mask=None):
        if self.norm_first:
            x = _core.add(src, self._attend(self.norm1(src), src_mask, src_key_padding_mask))
            return _core.add(x, self._feed(self.norm2(x)))
        x = self.norm1(_core.add(src, self._attend(src, src_mask, src_key_padding_mask)))
        return self.norm2(_core.add(x, self._feed(x)))


class TransformerEncoder(Cell):
    def __init__(self, encoder_layer, num_layers, norm=None):
        super().__init__()
        import copy
        self.layers = CellList([copy.deepcopy(encoder_layer) for _ in range(num_layers)])
        self.norm = norm

    def construct(self, src, src_mask=None, src_key_padding_mask=None):
        for layer in self.layers:
            src = layer(src, src_mask, src_key_padding_mask)
        return src if self.norm is None else self.norm(src)


_hold_to_rules(globals())
__all__ = [n for n in dir() if not n.startswith("_") and (isinstance(globals()[n], type) and issubclass(globals()[n], Cell) and n != "Cell"
                                                          or n == "get_activation")]
