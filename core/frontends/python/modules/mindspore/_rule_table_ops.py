# SPDX-License-Identifier: Apache-2.0
"""The rules of attributes of primitives, as those of _rule_table.py are written."""
from mindspore._core import Tensor
from mindspore._types import Type
from mindspore._rules import flag, in_range, number, of, one_of, or_none, refused

_COUNT, _SIZE = number(int, ">", 0), number(int, ">=", 0)
_TRUTH, _FLOAT, _INT = of(bool), of(float), of(int)
_AXIS = of(int, tuple)
_WORD = refused(lambda v: not isinstance(v, str), TypeError, "For '{owner}', the input '{name}' should be a str, but got {type}.")
_ELEMENT = refused(lambda v: not isinstance(v, Type), TypeError, "For '{owner}', the input '{name}' should be mindspore dtype, but got {value}.")
_SEEDS = {"seed seed2": _SIZE}


def _sizes(text):
    def check(owner, name, value):
        of(int, tuple)(owner, name, value)
        items = value if isinstance(value, tuple) else (value,)
        if not items or not all(isinstance(v, int) and v > 0 for v in items):
            raise ValueError(text.format(owner=owner, name=name) + f", but got {value}.")
    return check


def _plane(owner, name, value):
    _sizes("For '{owner}' attr '{name}' must be an positive int number or a tuple of two or four positive int numbers")(owner, name, value)
    if isinstance(value, tuple) and len(value) not in (2, 4):
        raise ValueError(f"For '{owner}' attr '{name}' must be an positive int number or a tuple of two or four positive int numbers, but got {value}.")


def _space(owner, name, value):
    _sizes("For '{owner}', the parameter '{name}' must be an positive integer or a tuple of three or five positive integer")(owner, name, value)
    if isinstance(value, tuple) and len(value) not in (3, 5):
        raise ValueError(f"For '{owner}', the parameter '{name}' must be an positive integer or a tuple of three or five positive integer, but got {value}.")


def _pads(n):
    def check(owner, name, value):
        of(int, tuple)(owner, name, value)
        if isinstance(value, tuple) and len(value) != n:
            if n == 6:
                raise ValueError(f"For '{owner}', attr '{name}' must be an positive int number or a tuple of six positive int numbers, but got {value}.")
            number(int, "=", n)(owner, f"{name} size", len(value))
    return check


def _mode(*words):
    return {"pad_mode": of(str), "pad_mode ": refused(lambda v: v.lower() not in words, ValueError,
                                                      "For '{owner}', the '{name}' must be str and must be in '" + str(list(words)) + "', but got '{value}'.")}


_CONV = {"mode": _INT, "out_channel": _COUNT, "group": _COUNT, **_mode("valid", "same", "pad")}
_CONV2D = {"kernel_size": _plane, "stride dilation": _plane, "pad": _pads(4), **_CONV, "data_format": one_of("NCHW", "NHWC", called="format")}
_POOL3D = {"kernel_size strides": _space, **_mode("same", "valid", "pad")}
_LRN = {"depth_radius": _INT, "bias alpha beta": _FLOAT, "norm_region": of(str)}

PRIMITIVES = {
    "Conv2D": _CONV2D, "Conv2DTranspose": _CONV2D,
    "Conv3D": {"kernel_size stride dilation": _space, "pad": _pads(6), **_CONV, "group": _INT, "data_format": one_of("NCDHW")},
    "MaxPool": {"kernel_size strides": _plane, **_mode("valid", "same"), "data_format": one_of("NCHW", "NHWC", called="format")},
    "MaxPool3D": {**_POOL3D, "pad_list": _pads(6), "ceil_mode": or_none(_TRUTH), "data_format": one_of("NCDHW")},
    "AvgPool3D": {**_POOL3D, "ceil_mode count_include_pad": _TRUTH, "divisor_override": _SIZE, "data_format": one_of("NCDHW", called="format")},
    "AvgPool": {"pad_mode data_format": _WORD}, "BatchNorm": {"data_format": _WORD},
    "MirrorPad": {"mode": one_of("REFLECT", "SYMMETRIC")}, "Pad": {"paddings": of(tuple)},
    "KLDivLoss": {"reduction": one_of("none", "mean", "batchmean", "sum")},
    **{name: {"reduction": _WORD} for name in ("BinaryCrossEntropy", "NLLLoss")},
    "SmoothL1Loss": {"beta": of(int, bool, float), "reduction": _WORD},
    "Multinomial": {**_SEEDS, "dtype": refused(lambda v: not isinstance(v, Type), TypeError, "For '{owner}', the type of '{name}' should be 'Type', but got {kind}.")},
    "StandardNormal": _SEEDS, "UniformReal": _SEEDS, "Bernoulli": {"seed": _INT}, "RandomChoiceWithMask": {"count seed seed2": _INT, "count ": _COUNT},
    "Argmax": {"output_type": _ELEMENT}, "TopK": {"sorted": _TRUTH}, "LRN": _LRN,
    "Adam": {"use_locking use_nesterov": _TRUTH}, "ApplyMomentum": {"use_nesterov use_locking": flag, "gradient_scale": _FLOAT},
    "SGD": {"nesterov": _TRUTH}, "ApplyRMSProp": {"use_locking": _TRUTH}, "Sort": {"axis": _INT, "descending": _TRUTH},
    "CTCLoss": {"preprocess_collapse_repeated ctc_merge_repeated ignore_longer_outputs_than_inputs": _TRUTH},
    "LpNorm": {"p": _INT, "axis": of(int, tuple, list), "keep_dims": _TRUTH, "epsilon": _FLOAT},
    "Median": {"global_median": _TRUTH, "axis": _INT, "keep_dims ignore_nan": _TRUTH},
    "Meshgrid": {"indexing": _WORD}, "GridSampler2D": {"interpolation_mode padding_mode": _WORD},
    "Stack": {"axis": _INT}, "Unstack": {"axis": _INT, "num": or_none(_INT)}, "Softmax": {"axis": _AXIS}, "Squeeze": {"axis": _AXIS},
    "DepthToSpace": {"block_size": _INT, "block_size ": number(int, ">=", 2)}, "SpaceToDepth": {"block_size": _INT, "block_size ": number(int, ">=", 2)},
    "BatchToSpace": {"block_size": _INT, "block_size ": number(int, ">=", 2), "crops": of(list, tuple)},
    "SpaceToBatch": {"block_size": _INT, "block_size ": number(int, ">=", 2), "paddings": of(list, tuple)},
    "ReverseSequence": {"seq_dim batch_dim": _INT}, "Assert": {"summarize": _INT},
    "Dropout2D": {"keep_prob": _FLOAT, "keep_prob ": in_range("[0, 1]")}, "Dropout3D": {"keep_prob": _FLOAT, "keep_prob ": in_range("[0, 1]")},
    "Renorm": {"dim": _INT, "maxnorm": _FLOAT}, "Tril": {"diagonal": _INT}, "Triu": {"diagonal": of(int, Tensor)},
    "ResizeNearestNeighbor": {"size": of(list, tuple)}, "ReverseV2": {"axis": of(list, tuple)}, "L2Normalize": {"axis": of(list, tuple, int), "epsilon": of(int, float)},
    "AdaptiveAvgPool2D": {"output_size": of(int, tuple)},
}
