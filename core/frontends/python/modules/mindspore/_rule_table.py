# SPDX-License-Identifier: Apache-2.0
"""The rules of arguments of layers, losses, optimizers and schedules, by class or function and parameter, in the order in which they are
asked. A key of several words is several parameters with one rule, a tuple one rule of several parameters."""
from mindspore._core import Tensor
from mindspore._rules import (a_number, at_least, compared, each, flag, in_range, named, number, of, one_of, or_none, refused, unless, unnamed, within)
from mindspore.nn.cell import Cell
from mindspore.ops.primitive import Primitive

_COUNT, _SIZE = number(int, ">", 0), number(int, ">=", 0)
_POSITIVE, _NOT_NEGATIVE = number(float, ">", 0), number(float, ">=", 0)
_TRUTH, _FLOAT, _NUMBER, _INT = of(bool), of(float), of(int, float), of(int)
_SHARE = within("(0.0, 1.0)")


# Layers

def _divided(owner, group, *channels):
    if isinstance(group, int) and group and any(isinstance(c, int) and c % group for c in channels):
        raise ValueError(f"The argument 'group' should be divisible by 'in_channels' and 'out_channels', but got group:{group}, "
                         f"in_channels:{channels[0]}, out_channels:{channels[1]}.")


def _pair(owner, name, value):
    if not isinstance(value, (int, tuple)):
        raise TypeError(f"When expanding an int number to tuple, input type must be integer or tuple[int], but '{name}' is {type(value)}.")
    if isinstance(value, tuple) and len(value) != 2:
        raise TypeError(f"When expanding an int number to tuple, input tuple dimension must be 2, but that of '{name}' is {len(value)}.")
    if isinstance(value, tuple) and not all(isinstance(v, int) for v in value):
        raise TypeError(f"When expanding an int number to tuple, the type of element in input tuple must be an integer, but '{name}' is {value}.")


def _triple(owner, name, value):
    of(int, tuple)(owner, name, value)
    items = value if isinstance(value, tuple) else (value,) * 3
    if len(items) != 3 or not all(isinstance(v, int) and v > 0 for v in items):
        raise ValueError(f"For '{owner}', the parameter '{name}' must be an positive integer or a tuple of three positive integer, but got {value}.")


def _four_pads(owner, name, value):
    if not isinstance(value, (int, tuple)):
        raise TypeError(f"For '{owner}', the type of '{name}' must be int or tuple(int), but got '{type(value).__name__}'.")
    each(_SIZE)(owner, name, value)
    if isinstance(value, tuple):
        number(int, "=", 4)("Conv2D", "pad size", len(value))


def _padded_by_mode(owner, pad_mode, padding):
    if pad_mode != "pad" and padding not in (0, None) and any(padding if isinstance(padding, tuple) else (padding,)):
        raise ValueError(f"For 'Conv2D', the 'pad' must be zero when 'pad_mode' is not 'pad', but got padding {padding} of '{owner}' with pad_mode {pad_mode}.")


def _pads_by_numbers(n):
    def check(owner, name, value):
        of(int, tuple)(owner, name, value)
        if isinstance(value, tuple):
            number(int, "=", n)(owner, f"{name} size", len(value))
        each(_SIZE)(owner, name, value)
    return check


_DENSE = {"in_channels out_channels": _COUNT, "has_bias": flag,
          "activation": unless(lambda v: v is None or isinstance(v, (str, Cell)) or hasattr(v, "add_prim_attr"),
                               refused(lambda v: True, TypeError, "For '{owner}', the '{name}' must be str or Cell or Primitive, but got {kind}."))}
_MODE = one_of("valid", "same", "pad")
_CHANNELS = {"group": _COUNT, ("group", "in_channels", "out_channels"): _divided, "in_channels out_channels": _COUNT}
_PADDED = {("pad_mode", "padding"): _padded_by_mode}
_ITEMS = {"kernel_size stride dilation": _pair, "kernel_size stride dilation ": each(_COUNT), "has_bias": flag}
_ITEMS3D = {"kernel_size stride dilation": _triple, "has_bias": flag}
_CONV = {**_CHANNELS, "data_format": one_of("NCHW", "NHWC", "NCDHW", called="format")}
_CONV1D = {"kernel_size stride padding dilation": _INT, "kernel_size stride ": number(int, ">=", 1), "padding": _SIZE, "dilation": number(int, ">=", 1), **_CHANNELS,
           "has_bias": flag, "pad_mode": _MODE, **_PADDED}


def _window(owner, name, value):
    of(int, tuple)(owner, name, value)
    for item in value if isinstance(value, tuple) else (value,):
        if not isinstance(item, int) or item <= 0:
            raise ValueError(f"For '{owner}', the '{name}' must be an positive int number or a tuple, but got {value}.")


_POOL_MODE = {"pad_mode": of(str), "pad_mode ": unless(lambda v: v.upper() in ("VALID", "SAME", "PAD"), one_of("VALID", "SAME", "PAD"))}
_POOL = {**_POOL_MODE, "data_format": one_of("NCHW", "NHWC", called="format"), "kernel_size stride": _window}
_PADS = {"padding": of(int, tuple, list), "padding ": unless(lambda v: isinstance(v, int), each(_SIZE, "{name}[{i}]"))}
_POOL1D = {**_POOL, "kernel_size stride ": number(int, ">=", 1), **_PADS}
_AVERAGE = {"ceil_mode count_include_pad": named("AvgPool3D", _TRUTH)}


def _only_padded(owner, pad_mode, padding, dilation, return_indices, ceil_mode):
    if pad_mode.upper() != "PAD" and (padding != 0 or dilation != 1 or return_indices or ceil_mode):
        raise ValueError(f"For {owner}, the parameter 'padding', 'dilation', 'return_indices', 'ceil_mode' can not be set to non-default value when "
                         f"pad_mode is not 'pad', but got pad_mode: {pad_mode}.")


_PLAIN = {("pad_mode", "padding", "dilation", "return_indices", "ceil_mode"): _only_padded}
_BATCH_NORM = {"affine": refused(lambda v: not isinstance(v, bool), TypeError, "The argument `requires_grad` must be bool type, but '{name}' is {value}."), "num_features": of(int), "num_features ": at_least(1), "momentum": in_range("[0, 1]"), "data_format": one_of("NCHW", "NHWC", called="format"),
               "use_batch_statistics": refused(lambda v: v is not None and not isinstance(v, bool), ValueError,
                                               "For '{owner}', the '{name}' must be a boolean value or None, but got {value}.")}
_INSTANCE_NORM = {"num_features": of(int), "eps momentum": _FLOAT, "affine": _TRUTH, "num_features ": at_least(1), "momentum": in_range("[0, 1]")}
_RECURRENT = {"hidden_size input_size num_layers": _COUNT, "dropout": a_number(float), "has_bias batch_first bidirectional": _TRUTH,
              "dropout ": in_range("[0, 1)", " representing the probability of an element being zeroed")}
_RECURRENT_CELL = {"has_bias": _TRUTH, "hidden_size input_size": _COUNT}
_CHANNEL_DROPOUT = {"p": _FLOAT, "p ": in_range("[0, 1]")}


def _pad_sizes(most):
    def check(owner, name, value):
        if not isinstance(value, (int, tuple)):
            raise TypeError(f"For '{owner}', the type of parameter '{name}' must be in [int, tuple], but got {type(value)}.")
        if isinstance(value, tuple) and (len(value) % 2 or len(value) > most):
            raise ValueError(f"For '{owner}', the length of parameter '{name}' with tuple type must "
                             + ("be a multiple of 2" if len(value) % 2 else f"no more than {most}") + f", but got {len(value)}.")
    return check


def _is_float_or_int(owner, name, value):
    if not isinstance(value, (int, float)):
        raise TypeError(f"For '{owner}', the type of parameter '{name}' must be in [int, float], but got {type(value)}.")


def _border(owner, name, value):
    """The pads of a reflection or replication."""
    if not isinstance(value, (int, tuple)):
        raise TypeError(f"For '{owner}' the input '{name}' must be an integer or tuple, but got {type(value).__name__}.")
    sizes = value if isinstance(value, tuple) else ()
    if len(sizes) % 2:
        raise ValueError(f"For '{owner}' the length of input '{name}' must be divisible by 2, but got padding of length {len(sizes)}.")
    if not all(isinstance(v, int) for v in sizes):
        raise TypeError(f"For '{owner}' every element in '{name}' must be integer, but got {value}.")


def _not_negative(owner, name, value):
    if any(v < 0 for v in (value if isinstance(value, tuple) else (value,))):
        raise ValueError(f"For '{owner}' every element in '{name}' must be >= 0, but got {value}.")


def _patches(owner, name, value):
    of(tuple, list)(owner, name, value)
    one = name[:-1]
    if len(value) != 4 or value[0] != 1 or value[3] != 1:
        raise ValueError(f"For '{owner}' the format of '{name}' must be [1, {one}_row, {one}_col, 1], but got {value}.")
    if not all(isinstance(v, int) and v >= 1 for v in value[1:3]):
        raise ValueError(f"For '{owner}' the {one}_row and {one}_col in '{name}' must be an positive integer number, but got {value}.")


_LAYERS = {
    "Dense": _DENSE, "BiDense": {"in1_channels in2_channels out_channels": _COUNT, "has_bias": flag},
    "Conv2dBnAct": {"has_bn after_fake": flag, "activation": _DENSE["activation"]},
    "DenseBnAct": {"has_bn after_fake": flag, "activation": _DENSE["activation"]},
    "LRN": {"depth_radius": _INT, "bias alpha beta": _FLOAT, "norm_region": of(str)}, "Norm": {"keep_dims": _TRUTH, "axis": of(int, tuple)},
    "Moments": {"axis": or_none(of(int, tuple)), "keep_dims": or_none(_TRUTH)}, "ReduceLogSumExp": {"axis": of(int, tuple, list), "keep_dims": _TRUTH},
    "ClipByNorm": {"axis": or_none(of(int, tuple))}, "Softmax": {"axis": of(int, tuple)},
    "HShrink": {"lambd": of(int, bool, float)}, "SoftShrink": {"lambd": of(int, bool, float)},
    "ChannelShuffle": {"groups": refused(lambda v: not isinstance(v, int), TypeError, "For {owner}, the param `{name}` must be int, but got {type}.")},
    "TimeDistributed": {"layer": refused(lambda v: not isinstance(v, (Cell, Primitive)), TypeError,
                                         "For '{owner}', the '{name}' must be Cell or Primitive instance, but got {kind}."),
                        "time_axis reshape_with_axis": or_none(a_number(int))},
    **{name: {"activation": refused(lambda v: not isinstance(v, (str, Cell)) and not callable(v), ValueError,
                                    "The argument '{name}' must be str, callable or Cell instance, but got {value}.")}
       for name in ("TransformerEncoderLayer", "TransformerDecoderLayer", "Transformer")},
    "Conv1d": _CONV1D,
    "Conv2d": {**_CONV, "kernel_size stride dilation": _pair, "padding": _four_pads, **_ITEMS, "pad_mode": named("Conv2D", of(str)),
               "pad_mode ": named("Conv2D", _MODE), **_PADDED},
    "Conv3d": {**_CONV, "padding": _pads_by_numbers(6), **_ITEMS3D, "pad_mode": named("Conv3D", of(str)), "pad_mode ": named("Conv3D", _MODE), **_PADDED},
    "Conv1dTranspose": _CONV1D,
    "Conv2dTranspose": {"padding": _pads_by_numbers(4), "output_padding": of(int, tuple), **_CHANNELS, **_ITEMS, "pad_mode": _MODE},
    "Conv3dTranspose": {**_CONV, "padding": _pads_by_numbers(6), "output_padding": of(int, tuple), **_ITEMS3D,
                        "pad_mode": named("Conv3DTranspose", of(str)), "pad_mode ": named("Conv3DTranspose", _MODE)},
    "MaxPool1d": {**_POOL1D, **_PLAIN}, "AvgPool1d": {**_POOL1D, **_AVERAGE}, "MaxPool2d": {**_POOL, **_PLAIN, **_PADS},
    "AvgPool2d": {**_POOL, **_PADS, **_AVERAGE}, "MaxPool3d": {**_POOL, **_PADS}, "AvgPool3d": {**_POOL, **_PADS, **_AVERAGE},
    "AdaptiveAvgPool1d": {"output_size": _INT, "output_size ": number(int, ">=", 1)},
    **{f"AdaptiveAvgPool{n}d": {"output_size": named(f"AdaptiveAvgPool{n}D", of(int, tuple))} for n in (2, 3)},
    "AdaptiveMaxPool1d": {"output_size": number(int, ">=", 1)},
    **{f"BatchNorm{n}d": _BATCH_NORM for n in (1, 2, 3)}, **{f"InstanceNorm{n}d": _INSTANCE_NORM for n in (1, 2, 3)},
    "LayerNorm": {"normalized_shape": refused(lambda v: not isinstance(v, (tuple, list)), TypeError,
                                              "For '{owner}', the type of '{name}' must be tuple[int] or list[int], but got {value} and the "
                                              "type is {type}."),
                  "normalized_shape ": refused(lambda v: not v, ValueError, "Expected {name} to be at least 1-dimensional, but got {value}.")},
    "GroupNorm": {"num_groups num_channels": _COUNT, "eps": _FLOAT, "affine": flag},
    "Dropout": {"keep_prob": _FLOAT, "keep_prob ": in_range("(0, 1]"), "p": or_none(of(float, int)), "p ": or_none(in_range("[0, 1)"))},
    **{f"Dropout{n}d": _CHANNEL_DROPOUT for n in (1, 2, 3)},
    "RNN": _RECURRENT, "GRU": _RECURRENT, "LSTM": _RECURRENT,
    "RNNCell": {**_RECURRENT_CELL, "nonlinearity": of(str), "nonlinearity ": one_of("tanh", "relu")}, "GRUCell": _RECURRENT_CELL,
    "LSTMCell": _RECURRENT_CELL,
    "Embedding": {"vocab_size embedding_size": _INT, "use_one_hot": _TRUTH}, "L1Regularizer": {"scale": of(int, float)},
    "PReLU": {"channel": _COUNT, "w": refused(lambda v: not isinstance(v, (float, list, Tensor)), TypeError,
                                             "For '{owner}', the '{name}' only supported float, list and tensor, but got {kind}.")}, "GELU": {"approximate": flag}, "RReLU": {"upper lower": of(float, int)},
    "Roll": {"shift axis": of(int, tuple, list)},
    "Unflatten": {"axis": a_number(int), "unflattened_size": of(list, tuple)},
    **{f"ConstantPad{n}d": {"padding": _pad_sizes(2 * n), "value": _is_float_or_int} for n in (1, 2, 3)},
    "ZeroPad2d": {"padding": _pad_sizes(4)},
    **{f"ReflectionPad{n}d": {"padding": _border, "padding ": _not_negative} for n in (1, 2, 3)},
    **{f"ReplicationPad{n}d": {"padding": _border} for n in (1, 2, 3)},
    "Pad": {"paddings": refused(lambda v: not isinstance(v, tuple), TypeError, "For '{owner}', the type of '{name}' must be tuple, but got {kind}."), "mode": one_of("CONSTANT", "REFLECT", "SYMMETRIC")},
    "Unfold": {"ksizes strides rates": _patches},
    "SSIM": {"max_val": of(int, float), "max_val ": compared(">", 0.0), "filter_size": number(int, ">=", 1), "filter_sigma": _POSITIVE, "k1 k2": _FLOAT},
    "PSNR": {"max_val": of(int, float), "max_val ": compared(">", 0.0)},
}

# Losses

_REDUCTION = one_of("none", "mean", "sum")
_LOSSES = {
    "SoftmaxCrossEntropyWithLogits": {"sparse": flag}, "DiceLoss": {"smooth": unnamed(_POSITIVE)}, "FocalLoss": {"gamma": unnamed(_FLOAT), "weight": or_none(refused(lambda v: not isinstance(v, Tensor), TypeError,
                                                                     "For '{owner}', the type of '{name}' must be a Tensor, but got {kind}."))},
    "MultiClassDiceLoss": {"weights": or_none(unnamed(of(Tensor))), "ignore_indiex": or_none(unnamed(_INT))},
    "MultiMarginLoss": {"p": _INT, "margin": _FLOAT}, "SmoothL1Loss": {"beta": of(int, bool, float)},
    "TripletMarginWithDistanceLoss": {"margin": a_number(float), "swap": flag},
    "CosineEmbeddingLoss": {"margin": _FLOAT, "margin ": within("[-1.0, 1.0]")},
    "NLLLoss": {"ignore_index": _INT, "weight": or_none(of(Tensor))},
    "CrossEntropyLoss": {"ignore_index": _INT, "label_smoothing": _FLOAT, "label_smoothing ": within("[0.0, 1.0]"), "weight": or_none(of(Tensor))},
    "GaussianNLLLoss": {"eps": within("(0, inf)"), "full": _TRUTH, "reduction": named("gaussian_nll_loss", _REDUCTION)},
    "HingeEmbeddingLoss": {"margin": of(float, int), "reduction": _REDUCTION},
}

# Optimizers

_MOMENTS = {"beta1 beta2 eps": _FLOAT, "beta1 beta2 ": _SHARE, "eps ": _POSITIVE}
_ADAM = {**_MOMENTS, "use_locking use_nesterov use_amsgrad": _TRUTH}
_LEAST = {"momentum dampening": unless(lambda v: isinstance(v, int),
                                       refused(lambda v: not isinstance(v, float), TypeError,
                                               "For '{owner}', the argument '{name}' must be float type, but got {type}.")),
          "momentum dampening ": at_least(0.0, "the argument '{name}'")}


def _as_float(rule):
    """An integer stands for the float that it is."""
    return lambda owner, name, value: rule(owner, name, float(value) if isinstance(value, int) else value)


def _rate(owner, name, value):
    if isinstance(value, (int, float)):
        _NOT_NEGATIVE(owner, "learning rate", float(value))
    elif not isinstance(value, (Tensor, Cell)) and not hasattr(type(value), "__iter__"):
        raise TypeError("For 'Optimizer', the argument 'learning_rate' must be int, float, Tensor, Iterable or LearningRateSchedule, but got "
                        f"{type(value)}.")


def _decay(owner, name, value):
    if not isinstance(value, (int, float, Cell)):
        raise TypeError(f"For 'Optimizer', the argument 'Weight_decay' must be int, float or Cell, but got {type(value)}.")
    if not isinstance(value, Cell):
        _NOT_NEGATIVE(owner, name, float(value))


def _given_parameters(owner, name, value):
    if value is None:
        raise ValueError("For 'Optimizer', the argument parameters can not be None.")
    if not hasattr(type(value), "__iter__"):
        raise TypeError(f"For 'Optimizer', the argument parameters must be Iterable type, but got {type(value)}.")


_NESTEROV = "For 'SGD', if 'nesterov' is true, 'momentum' must be > 0.0 and 'dampening' must equal to 0.0, but got"


def _moves_on(owner, nesterov, momentum, dampening):
    if nesterov and (momentum <= 0 or dampening != 0):
        raise ValueError(f"{_NESTEROV} 'momentum' {momentum}, 'dampening' {dampening}.")


_OPTIMIZERS = {
    "Optimizer": {"parameters": _given_parameters, "loss_scale": _as_float(_FLOAT), "loss_scale ": _as_float(_POSITIVE), "weight_decay": _decay,
                  "learning_rate": _rate},
    "SGD": {**_LEAST, "nesterov": _TRUTH, ("nesterov", "momentum", "dampening"): _moves_on},
    "Momentum": {"momentum": _FLOAT, "momentum ": at_least(0.0, "the argument '{name}'"), "use_nesterov": flag},
    "Adam": _ADAM, "LazyAdam": _ADAM, "AdamOffload": _ADAM, "AdamWeightDecay": _MOMENTS, "AdaMax": _MOMENTS, "Lamb": _MOMENTS,
    "RMSProp": {"decay": _FLOAT, "decay ": _NOT_NEGATIVE, "momentum": _FLOAT, "momentum ": _NOT_NEGATIVE, "epsilon": _FLOAT, "epsilon ": _POSITIVE,
                "use_locking centered": _TRUTH},
    "Adagrad": {"accum": _FLOAT, "update_slots": _TRUTH, "accum ": _NOT_NEGATIVE},
    "Adadelta": {"rho epsilon": _FLOAT, "rho ": within("[0.0, 1.0]"), "epsilon ": _NOT_NEGATIVE},
    "FTRL": {"initial_accum": _FLOAT, "initial_accum ": compared(">=", 0.0), "learning_rate": _FLOAT, "learning_rate ": _POSITIVE, "lr_power": _FLOAT,
             "lr_power ": compared("<=", 0.0), "l1 l2": _FLOAT, "l1 l2 ": compared(">=", 0.0), "use_locking": _TRUTH},
    "ProximalAdagrad": {"accum l1 l2": _FLOAT, "use_locking": _TRUTH, "accum l1 l2 ": _NOT_NEGATIVE},
    "LARS": {"epsilon coefficient": _FLOAT, "use_clip": _TRUTH}, "ASGD": {"lambd alpha t0": _FLOAT},
}

# Rates

_DECAYING = {"decay_steps": _COUNT, "learning_rate decay_rate": _POSITIVE, "is_stair": _TRUTH}
# The texts of functions do not say which it was.
_ANY_COUNT, _ANY_POSITIVE, _ANY_LEAST = unnamed(_COUNT), unnamed(_POSITIVE), unnamed(_NOT_NEGATIVE)
_STEPS = {"total_step step_per_epoch decay_epoch": _ANY_COUNT}


def _a_float(owner, name, value):
    if not isinstance(value, float):
        raise TypeError(f"For '{owner}', the argument '{name}' must be type of float, but got {type(value)}.")


def _rising(owner, low, high):
    if low >= high:
        raise ValueError(f"For '{owner}', the 'max_lr' must be greater than the 'min_lr', but got 'max_lr' {high}, 'min_lr' {low}.")


_SCHEDULES = {
    **{name: _DECAYING for name in ("ExponentialDecayLR", "NaturalExpDecayLR", "InverseDecayLR")},
    "CosineDecayLR": {"min_lr": _a_float, "min_lr ": _NOT_NEGATIVE, "max_lr": _POSITIVE, "decay_steps": _COUNT, ("min_lr", "max_lr"): _rising},
    "PolynomialDecayLR": {"learning_rate": unnamed(_POSITIVE), "end_learning_rate": _a_float, "end_learning_rate ": _NOT_NEGATIVE, "decay_steps": unnamed(_COUNT),
                          "update_decay_steps": _TRUTH, "power": _POSITIVE},
    "WarmUpLR": {"learning_rate": _a_float, "learning_rate ": _NOT_NEGATIVE, "warmup_steps": _COUNT},
}
_RATES = {
    "piecewise_constant_lr": {"milestone learning_rates": unnamed(of(tuple, list)), "milestone": each(_ANY_COUNT, "{name}[{i}]"),
                              "learning_rates": each(unnamed(a_number(float)), "{name}[{i}]")},
    **{name: {**_STEPS, "learning_rate decay_rate": _ANY_POSITIVE, "is_stair": unnamed(_TRUTH)} for name in ("exponential_decay_lr", "natural_exp_decay_lr", "inverse_decay_lr")},
    "cosine_decay_lr": {"min_lr": _a_float, "min_lr ": _ANY_LEAST, "max_lr": _ANY_POSITIVE, **_STEPS, ("min_lr", "max_lr"): _rising},
    "polynomial_decay_lr": {"learning_rate": _ANY_POSITIVE, "end_learning_rate": _a_float, "end_learning_rate ": _ANY_LEAST, "power": _ANY_POSITIVE, **_STEPS,
                            "update_decay_epoch": unnamed(_TRUTH)},
    "warmup_lr": {"learning_rate": _a_float, "learning_rate ": _ANY_LEAST, "warmup_epoch total_step step_per_epoch": _ANY_COUNT},
}

_WRAPPERS = {"WithEvalCell": {"add_cast_fp32": _TRUTH}}

TABLE = {**_LAYERS, **_LOSSES, **_OPTIMIZERS, **_SCHEDULES, **_RATES, **_WRAPPERS}
