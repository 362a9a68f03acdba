# SPDX-License-Identifier: Apache-2.0
"""Primitives that few programs ask for: one line each, over the functions of ops."""
from mindspore import _core
from mindspore._core import convert, float32, int32, int64
from mindspore._text import only
from mindspore.ops import _image, _matrix, _sequence, _updates, function as _f
from mindspore.ops._neural import _avg_pool, _conv, _max_pool, _pool_pads, _tuple, conv_transpose as _conv_transpose
from mindspore.ops._reduction import cumulative as _cumulative
from mindspore.ops.primitive import primitive_of as _primitive_of


def _sizes(value, n):
    value = _tuple(value, n)
    return value[-n:]


def _pool3d(maximum):
    def compute(x, kernel_size, strides, pad_mode, pad_list=0, ceil_mode=False, count_include_pad=True, divisor_override=0, data_format="NCDHW"):
        kernel, stride = _sizes(kernel_size, 3), _sizes(strides, 3)
        pads = _pool_pads(x, kernel, stride, pad_mode.lower(), pad_list, bool(ceil_mode))
        return _max_pool(x, kernel, stride, pads) if maximum else _avg_pool(
            x, kernel, stride, pads, count_include_pad and pad_mode.lower() == "pad", divisor_override or None)
    return compute


def _with_places(x, kernel_size, strides, pad_mode, data_format):
    kernel, stride = _sizes(kernel_size, 2), _sizes(strides, 2)
    value, place = _max_pool(x, kernel, stride, _pool_pads(x, kernel, stride, pad_mode.lower(), 0, False), None, True)
    return value, convert(place, int32)


def _conv3d(x, weight, out_channel, kernel_size, mode, pad_mode, pad, stride, dilation, group, data_format):
    return _conv(x, weight, None, stride, pad_mode, pad, dilation, group)


def _conv3d_transpose(x, weight, in_channel, out_channel, kernel_size, mode, pad_mode, pad, stride, dilation, group, output_padding, data_format):
    return _conv_transpose(x, weight, None, stride, pad_mode, pad, output_padding, dilation, group)


def _plain(*arguments):
    return arguments[0] if len(arguments) == 1 else arguments


def _randperm(n, max_length, pad, dtype):
    n = int(n)
    if n > max_length:
        raise ValueError(f"For 'Randperm', the 'n' must be at most 'max_length', {max_length}, but got {n}.")
    return _f.concat([_f.randperm(n, dtype=dtype), _core.full((max_length - n,), pad, dtype)], 0) if n < max_length else _f.randperm(n, dtype=dtype)


def _median(x, global_median, axis, keep_dims, ignore_nan):
    only("Median", ignore_nan=(ignore_nan, False))
    return _f.median(x, None if global_median else axis, keep_dims)


def _same(x, op, group):
    return x


def _im2col(x, ksizes, strides, dilations, pads):
    kernel = _tuple(ksizes, 2)
    made = _f.unfold(x, kernel, dilations, pads, strides)
    return _core.reshape(made, (x.shape[0], x.shape[1], kernel[0] * kernel[1], -1))


def _invert(x):
    return _f.argsort(x) if isinstance(x, _core.Tensor) else tuple(sorted(range(len(x)), key=lambda i: x[i]))


def _sigmoid_cross(logits, label):
    return _core.sub(_core.add(_f.relu(logits), _f.log1p(_f.exp(_core.neg(_f.abs(logits))))), _core.mul(logits, label))


def _adam_weight_decay(var, m, v, lr, beta1, beta2, epsilon, decay, gradient, use_locking):
    import _gantry
    now = _gantry.parameter_value
    m1 = _core.add(_core.mul(now(m), beta1), _core.mul(gradient, _core.sub(1.0, beta1)))
    v1 = _core.add(_core.mul(now(v), beta2), _core.mul(_f.square(gradient), _core.sub(1.0, beta2)))
    step = _core.add(_core.div(m1, _core.add(_f.sqrt(v1), epsilon)), _core.mul(now(var), decay))
    value = _core.sub(now(var), _core.mul(step, lr))
    for target, new in ((var, value), (m, m1), (v, v1)):
        _core.assign(target, new)
    return value, m1, v1


def _sgd(parameter, gradient, learning_rate, accum, momentum, stat, dampening, weight_decay, nesterov):
    import _gantry
    now = _gantry.parameter_value
    g = _core.add(gradient, _core.mul(now(parameter), weight_decay)) if weight_decay else gradient
    damped = _core.mul(g, _core.sub(1.0, _core.mul(_core.sub(1.0, now(stat)), dampening))) if dampening else g
    m = _core.add(_core.mul(now(accum), momentum), damped)
    value = _core.sub(now(parameter), _core.mul(_core.add(g, _core.mul(m, momentum)) if nesterov else m, learning_rate))
    for target, new in ((accum, m), (stat, _core.full(stat.shape, 0, stat.dtype)), (parameter, value)):
        _core.assign(target, new)
    return value


def _elements(x):
    return tuple(x.tolist()) if not x.is_variable or x.has_data else tuple(x[i] for i in range(x.shape[0]))


def _of_elements(x, dtype=None):
    known = all(isinstance(v, (bool, int, float)) for v in x)
    made = _core.tensor_of(list(x)) if known else _f.stack([v if isinstance(v, _core.Tensor) else _core.tensor_of(v) for v in x])
    return made if dtype is None else convert(made, dtype)


_POOL3 = "kernel_size strides pad_mode pad_list ceil_mode"
_LOCK = ("use_locking", (False,))

# name: (function, "attributes", defaults)
_table = {
    "TensorToTuple": (_elements, "", ()), "TensorToList": (lambda x: list(_elements(x)), "", ()), "TensorToScalar": (lambda x: x.item(), "", ()),
    "TupleToTensor": (_of_elements, "", ()), "ListToTensor": (_of_elements, "", ()),
    "ACos": (_f.acos, "", ()), "AdaptiveAvgPool2D": (lambda x, output_size: _f.adaptive_avg_pool2d(x, output_size), "output_size", ()),
    "AdaptiveAvgPool3D": (lambda x, output_size: _f.adaptive_avg_pool3d(x, output_size), "output_size", ()),
    "AdaptiveMaxPool2D": (lambda x, output_size: _f.adaptive_max_pool2d(x, output_size), "output_size", ()),
    "AffineGrid": (lambda theta, size, align_corners: _image.affine_grid(theta, size, align_corners), "align_corners", (False,)),
    "AvgPool3D": (_pool3d(False), _POOL3 + " count_include_pad divisor_override data_format", (1, 1, "valid", 0, False, True, 0, "NCDHW")),
    "MaxPool3D": (_pool3d(True), _POOL3 + " data_format", (1, 1, "VALID", 0, None, "NCDHW")),
    "MaxPoolWithArgmax": (_with_places, "kernel_size strides pad_mode data_format", (1, 1, "valid", "NCHW")),
    "Conv3D": (_conv3d, "out_channel kernel_size mode pad_mode pad stride dilation group data_format", (1, "valid", 0, 1, 1, 1, "NCDHW")),
    "Conv3DTranspose": (_conv3d_transpose, "in_channel out_channel kernel_size mode pad_mode pad stride dilation group output_padding data_format",
                        (1, "valid", 0, 1, 1, 1, 0, "NCDHW")),
    "Im2Col": (_im2col, "ksizes strides dilations pads", (1, 1, 0)),
    "Col2Im": (lambda x, size, kernel_size, dilation, padding, stride: _matrix.col2im(x, size, kernel_size, dilation, padding, stride),
               "kernel_size dilation padding stride", (1, 0, 1)),
    "GridSampler2D": (lambda x, grid, interpolation_mode, padding_mode, align_corners: _image.grid_sample(x, grid, interpolation_mode, padding_mode, align_corners), "interpolation_mode padding_mode align_corners", ("bilinear", "zeros", False)),
    "CropAndResize": (lambda x, b, i, s, method, extrapolation_value: _image.crop_and_resize(x, b, i, s, method, extrapolation_value),
                      "method extrapolation_value", ("bilinear", 0.0)),
    "BoundingBoxEncode": (lambda a, g, means, stds: _image.bounding_box_encode(a, g, means, stds), "means stds", ((0.0,) * 4, (1.0,) * 4)),
    "BoundingBoxDecode": (lambda a, d, max_shape, means, stds, wh_ratio_clip: _image.bounding_box_decode(a, d, max_shape, means, stds, wh_ratio_clip),
                          "max_shape means stds wh_ratio_clip", ((0.0,) * 4, (1.0,) * 4, 0.016)),
    "CheckValid": (_image.check_valid, "", ()), "IOU": (lambda a, g, mode: _f.iou(a, g, mode), "mode", ("iou",)),
    "Dropout3D": (lambda x, keep_prob: (_f.dropout3d(x, 1 - keep_prob), _core.full(x.shape, True, _core.bool_)), "keep_prob", (0.5,)),
    "CeLU": (lambda x, alpha: _f.celu(x, alpha), "alpha", (1.0,)), "GLU": (lambda x, axis: _f.glu(x, axis), "axis", (-1,)),
    "FastGelu": (_f.fast_gelu, "", ()), "Dense": (lambda x, w, b=None: _f.dense(x, w, b), "", ()),
    "RmsNorm": (lambda x, gamma, epsilon: _f.rms_norm(x, gamma, epsilon), "epsilon", (1e-6,)),
    "Cdist": (lambda x, y, p: _f.cdist(x, y, p), "p", (2.0,)), "Pdist": (lambda x, p: _matrix.pdist(x, p), "p", (2.0,)),
    "Cholesky": (lambda x, upper: _f.cholesky(x, upper), "upper", (False,)), "MatrixInverse": (lambda x, adjoint: _f.inverse(_core.swapaxes(x, -1, -2) if adjoint else x), "adjoint", (False,)),
    "MatrixDeterminant": (_f.det, "", ()), "LogMatrixDeterminant": (_f.slogdet, "", ()),
    "MatrixPower": (lambda x, n: _f.matrix_power(x, n), "n", ()), "MatrixDiagV3": (lambda x, k, r, c, p, align: _matrix.matrix_diag(x, k, r, c, p, align), "align", ("RIGHT_LEFT",)),
    "MatrixDiagPartV3": (lambda x, k, p, align: _matrix.matrix_diag_part(x, k, p, align), "align", ("RIGHT_LEFT",)),
    "MatrixSetDiagV3": (lambda x, d, k, align: _matrix.matrix_set_diag(x, d, k, align), "align", ("RIGHT_LEFT",)),
    "CountNonZero": (lambda x, dims: _f.count_nonzero(x, dims), "dims", (None,)),
    "CumulativeLogsumexp": (_cumulative(_f.logcumsumexp, -3.4028234663852886e38), "exclusive reverse", (False, False)),
    "FillV2": (lambda shape, value: _core.full(tuple(shape), value, value.dtype), "", ()), "Fills": (_matrix.fills, "", ()), "Eps": (_matrix.eps, "", ()),
    "Fmax": (_f.fmax, "", ()), "Fmin": (_f.fmin, "", ()), "Gcd": (_f.gcd, "", ()), "Lcm": (_f.lcm, "", ()),
    "LeftShift": (_f.bitwise_left_shift, "", ()), "RightShift": (_f.bitwise_right_shift, "", ()),
    "IdentityN": (lambda xs: tuple(xs), "", ()), "InTopK": (lambda x, y, k: _f.intopk(x, y, k), "k", ()),
    "InvertPermutation": (_invert, "", ()), "IndexFill": (lambda x, d, i, v: _f.index_fill(x, int(d), i, v), "", ()),
    "LogSpace": (lambda start, end, steps, base, dtype: _f.logspace(start, end, steps, base, dtype=dtype), "steps base dtype", (10, 10, float32)),
    "Median": (_median, "global_median axis keep_dims ignore_nan", (False, 0, False, False)),
    "Multinomial": (lambda x, n, seed, seed2, dtype: convert(_f.multinomial(x, int(n), True, seed or None), dtype), "seed seed2 dtype", (0, 0, int32)),
    "Mvlgamma": (lambda x, p: _matrix.mvlgamma(x, p), "p", ()), "NextAfter": (_f.nextafter, "", ()),
    "Renorm": (lambda x, p, dim, maxnorm: _f.renorm(x, p, dim, maxnorm), "p dim maxnorm", ()),
    "ReverseSequence": (lambda x, n, seq_dim, batch_dim: _f.reverse_sequence(x, n, seq_dim, batch_dim), "seq_dim batch_dim", (0,)),
    "SearchSorted": (lambda s, v, dtype, right: convert(_f.searchsorted(s, v, right=right), dtype), "dtype right", (int64, False)),
    "SigmoidCrossEntropyWithLogits": (_sigmoid_cross, "", ()),
    "SoftMarginLoss": (lambda x, y, reduction: _f.soft_margin_loss(x, y, reduction), "reduction", ("mean",)),
    "MultiMarginLoss": (lambda x, y, w=None, p=1, margin=1.0, reduction="mean": _f.multi_margin_loss(x, y, p, margin, w, reduction), "p margin reduction", (1, 1.0, "mean")),
    "RandomCategorical": (lambda x, n, seed, dtype: _sequence.random_categorical(x, int(n), seed, dtype), "dtype", (int64,)),
    "RandomChoiceWithMask": (lambda x, count, seed, seed2: _sequence.choice_with_mask(x, count, seed or None), "count seed seed2", (256, 0, 0)),
    "RandomShuffle": (lambda x, seed, seed2: _f.shuffle(x, seed), "seed seed2", (0, 0)),
    "RandomGamma": (lambda shape, alpha, seed, seed2: _sequence.random_gamma(shape, alpha, seed or None), "seed seed2", (0, 0)),
    "Gamma": (lambda shape, a, b, seed, seed2: _sequence.gamma(shape, a, b, seed or None), "seed seed2", (0, 0)),
    "StandardLaplace": (lambda shape, seed, seed2: _sequence.standard_laplace(shape, seed or None), "seed seed2", (0, 0)),
    "Randperm": (_randperm, "max_length pad dtype", (1, -1, int32)),
    "TensorScatterElements": (lambda x, i, u, axis, reduction: _f.tensor_scatter_elements(x, i, u, axis, reduction), "axis reduction", (0, "none")),
    "TrilIndices": (lambda row, col, offset, dtype: _f.tril_indices(row, col, offset, dtype=dtype), "row col offset dtype", (0, int32)),
    "TriuIndices": (lambda row, col, offset, dtype: _f.triu_indices(row, col, offset, dtype=dtype), "row col offset dtype", (0, int32)),
    "UnsortedSegmentProd": (_f.unsorted_segment_prod, "", ()), "UniqueConsecutive": (lambda x, return_inverse, return_counts, axis: _f.unique_consecutive(x, return_inverse, return_counts, axis), "return_inverse return_counts axis", (False, False, None)),
    "BatchToSpace": (lambda x, block_size, crops: _matrix.batch_to_space_nd(x, block_size, crops), "block_size crops", ()),
    "SpaceToBatch": (lambda x, block_size, paddings: _f.space_to_batch_nd(x, block_size, paddings), "block_size paddings", ()),
    "BatchToSpaceND": (lambda x, block_shape, crops: _matrix.batch_to_space_nd(x, block_shape, crops), "block_shape crops", ()),
    "SpaceToBatchND": (lambda x, block_shape, paddings: _f.space_to_batch_nd(x, block_shape, paddings), "block_shape paddings", ()),
    "Expand": (lambda x, shape: _f.broadcast_to(x, tuple(shape.tolist())), "", ()), "Real": (_f.real, "", ()),
    "AllReduce": (_same, "op group", ("sum", "")), "Broadcast": (lambda x, root_rank, group: x, "root_rank group", ("",)),
    "AllGather": (lambda x, group: x, "group", ("",)), "ReduceScatter": (_same, "op group", ("sum", "")), "Barrier": (_plain, "", ()),
    "AdamWeightDecay": (_adam_weight_decay, *_LOCK), "SGD": (_sgd, "dampening weight_decay nesterov", (0.0, 0.0, False)),
    "ApplyAdadelta": (_updates.adadelta, "", ()), "ApplyAdaMax": (_updates.ada_max, "", ()),
    "ApplyAdagrad": (lambda var, accum, lr, grad, update_slots: _updates.adagrad(var, accum, lr, grad, update_slots), "update_slots", (True,)),
    "ApplyFtrl": (lambda var, a, z, g, lr, l1, l2, power, use_locking: _updates.ftrl(var, a, z, g, lr, l1, l2, power), *_LOCK),
    "ApplyGradientDescent": (_updates.gradient_descent, "", ()), "ApplyProximalGradientDescent": (_updates.proximal_gradient_descent, "", ()),
    "ApplyProximalAdagrad": (lambda var, a, lr, l1, l2, g, use_locking: _updates.proximal_adagrad(var, a, lr, l1, l2, g), *_LOCK),
    "ApplyRMSProp": (lambda var, s, m, lr, g, decay, momentum, epsilon, use_locking: _updates.rms_prop(var, s, m, lr, g, decay, momentum, epsilon), *_LOCK),
    "ApplyCenteredRMSProp": (lambda var, a, s, m, g, lr, decay, momentum, epsilon, use_locking: _updates.rms_prop(var, s, m, lr, g, decay, momentum, epsilon, a), *_LOCK),
}

for _name, (_function, _attributes, _defaults) in _table.items():
    globals()[_name] = _primitive_of(_name, _function, tuple(_attributes.split()), _defaults)


class ReduceOp:
    SUM, MAX, MIN, PROD = "sum", "max", "min", "prod"


__all__ = [*_table, "ReduceOp"]
