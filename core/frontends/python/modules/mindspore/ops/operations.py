# SPDX-License-Identifier: Apache-2.0
"""Primitives: one line each, over the functions of ops."""
from mindspore import _core
from mindspore._core import Tensor, convert, float32, int32, int64
from mindspore.ops import function as _f
from mindspore.ops._reduction import cumulative as _cumulative
from mindspore.ops._resize import resized
from mindspore.ops._neural import _max_pool, _avg_pool, _pool_pads, _tuple, _conv, conv_transpose as _conv_transpose
from mindspore.ops.primitive import Primitive, primitive_of as _primitive_of, prim_attr_register


def _matmul(a, b, transpose_a, transpose_b):
    if not isinstance(a, Tensor) or not isinstance(b, Tensor):
        raise TypeError("For 'MatMul', the inputs must be tensors.")
    a = _core.swapaxes(a, -1, -2) if transpose_a else a
    b = _core.swapaxes(b, -1, -2) if transpose_b else b
    return _core.matmul(a, b)


def _reduction(function):
    def compute(x, axis=(), keep_dims=False):
        axis = axis.tolist() if isinstance(axis, Tensor) else axis
        return function(x, None if axis in ((), []) else axis, keep_dims)
    return compute


def _unstack(x, axis, num):
    if num is not None and num != x.shape[axis]:
        raise ValueError(f"For 'Unstack', the 'num' must be the size of the axis {axis}, {x.shape[axis]}, but got {num}.")
    return _f.unstack(x, axis)


def _cast(x, dtype):
    return convert(_core._operand(x), _core.as_type(dtype))


def _pool(function):
    def compute(x, kernel_size, strides, pad_mode, data_format):
        kernel, stride = (v[-2:] if len(v) == 4 else v for v in (_tuple(kernel_size, 2), _tuple(strides, 2)))
        return function(x, kernel, stride, _pool_pads(x, kernel, stride, pad_mode.lower(), 0, False))
    return compute


def _avg(x, kernel, stride, pads):
    return _avg_pool(x, kernel, stride, pads, count_include_pad=False)


def _conv2d(x, weight, out_channel, kernel_size, mode, pad_mode, pad, stride, dilation, group, data_format):
    return _conv(x, weight, None, stride, pad_mode, pad, dilation, group)


def _conv_input(dout, weight, size, out_channel, kernel_size, pad_mode, pad, pad_list, mode, stride, dilation, group, data_format):
    return _conv_transpose(dout, weight, None, stride, pad_mode, pad, 0, dilation, group)


def _dropout(x, keep_prob, Seed0, Seed1):
    return _f.dropout(x, 1 - keep_prob, seed=Seed0 or Seed1 or None), _core.full(x.shape, 1, x.dtype)


def _layer_norm(x, gamma, beta, begin_norm_axis, begin_params_axis, epsilon):
    if tuple(x.shape[begin_params_axis:]) != tuple(gamma.shape):
        raise ValueError(f"For 'LayerNorm', the shape of gamma and beta must be that of the input from 'begin_params_axis' on, "
                         f"{tuple(x.shape[begin_params_axis:])}, but it is {tuple(gamma.shape)}.")
    axes = tuple(range(begin_norm_axis % x.ndim, x.ndim))
    mean, var = _f.mean(x, axes, True), _f.var(x, axes, 0, True)
    return _core.add(_core.mul(_core.mul(_core.sub(x, mean), _f.rsqrt(_core.add(var, epsilon))), gamma), beta), mean, var


def _batch_norm(x, scale, bias, mean, variance, is_training, epsilon, momentum, data_format):
    return _f.batch_norm(x, mean, variance, scale, bias, is_training, momentum, epsilon), mean, variance, mean, variance


def _one_hot(indices, depth, on_value, off_value, axis):
    return _f.one_hot(indices, depth, on_value, off_value, axis)


def _split(x, axis, output_num):
    return _f.split(x, axis=axis, output_num=output_num)


def _squeeze(x, axis):
    return _f.squeeze(x, None if axis == () else axis)


def _arg(function):
    def compute(x, axis, output_type):
        return convert(function(x, axis), _core.as_type(output_type))
    return compute


def _cross(x, y):
    loss = _f.softmax_cross_entropy_with_logits(x, y)
    return loss, _core.sub(_f.softmax(x, -1), y)


def _sparse_cross(logits, labels, is_grad):
    if is_grad:
        hot = convert(_f.one_hot(labels, logits.shape[-1], _core.tensor_of(1.0), _core.tensor_of(0.0)), logits.dtype)
        return _core.div(_core.sub(_f.softmax(logits, -1), hot), float(logits.shape[0]))
    return _f.mean(_f.sparse_softmax_cross_entropy(logits, labels))


def _random(function):
    return lambda shape, seed, seed2: function(shape, seed=seed or None)


def _way(align_corners, half_pixel_centers):
    return "corners" if align_corners else "half" if half_pixel_centers else "corner"


def _resize_bilinear(x, size, align_corners, half_pixel_centers):
    return resized(x, size, "linear", _way(align_corners, half_pixel_centers))


def _resize_nearest(x, size, align_corners, half_pixel_centers):
    if align_corners:
        return resized(x, size, "nearest", "corners", rounded=True)
    return resized(x, size, "nearest", _way(False, half_pixel_centers), rounded=False)


def _pad(x, paddings):
    return _f.pad(x, paddings)


def _mirror_pad(x, paddings, mode):
    return _f.pad(x, paddings, mode="reflect" if mode == "REFLECT" else "symmetric")


def _print(*args):
    _f.print_(*args)


def _weights_of(weight, target, ignored):
    there = _core.compare("NE", target, ignored)
    return _core.select(there, _f.gather(weight, _core.select(there, target, 0), 0), 0.0)


def _update(function):
    return lambda x, indices, updates, use_locking: function(x, indices, updates)


def _eye(n, m, dtype):
    return _f.eye(n, m, dtype)


def _gather(x, indices, axis, batch_dims):
    return _f.gather(x, indices, axis, batch_dims)


def _apply_momentum(variable, accumulation, learning_rate, gradient, momentum, use_nesterov, use_locking, gradient_scale):
    import _gantry
    gradient = gradient if gradient_scale == 1 else _core.mul(gradient, gradient_scale)
    m = _core.add(_core.mul(_gantry.parameter_value(accumulation), momentum), gradient)
    step = _core.add(gradient, _core.mul(m, momentum)) if use_nesterov else m
    value = _core.sub(_gantry.parameter_value(variable), _core.mul(step, learning_rate))
    _core.assign(accumulation, m)
    _core.assign(variable, value)
    return value


def _adam(var, m, v, beta1_power, beta2_power, lr, beta1, beta2, epsilon, gradient, use_locking, use_nesterov):
    import _gantry
    m1 = _core.add(_core.mul(_gantry.parameter_value(m), beta1), _core.mul(gradient, _core.sub(1.0, beta1)))
    v1 = _core.add(_core.mul(_gantry.parameter_value(v), beta2), _core.mul(_f.square(gradient), _core.sub(1.0, beta2)))
    rate = _core.div(_core.mul(lr, _f.sqrt(_core.sub(1.0, beta2_power))), _core.sub(1.0, beta1_power))
    step = _core.add(_core.mul(m1, beta1), _core.mul(gradient, _core.sub(1.0, beta1))) if use_nesterov else m1
    value = _core.sub(_gantry.parameter_value(var), _core.div(_core.mul(step, rate), _core.add(_f.sqrt(v1), epsilon)))
    for target, new in ((var, value), (m, m1), (v, v1)):
        _core.assign(target, new)
    return value, m1, v1


# name: (function, "attributes", defaults)
_table = {
    "MatMul": (_matmul, "transpose_a transpose_b", (False, False)),
    "BatchMatMul": (_matmul, "transpose_a transpose_b", (False, False)),
    "ReduceSum": (_reduction(_f.sum), "keep_dims", (False,)), "ReduceMean": (_reduction(_f.mean), "keep_dims", (False,)),
    "ReduceProd": (_reduction(_f.prod), "keep_dims", (False,)), "ReduceMax": (_reduction(_f.amax), "keep_dims", (False,)),
    "ReduceMin": (_reduction(_f.amin), "keep_dims", (False,)), "ReduceAll": (_reduction(_f.all), "keep_dims", (False,)),
    "ReduceAny": (_reduction(_f.any), "keep_dims", (False,)),
    "ReduceStd": (lambda x, axis, unbiased, keep_dims: (_f.std(x, axis or None, int(unbiased), keep_dims), _f.mean(x, axis or None, keep_dims)), "axis unbiased keep_dims", ((), True, False)),
    "LpNorm": (lambda x, axis, p, keep_dims, epsilon: _f.maximum(_f.vector_norm(x, p, axis, keep_dims), epsilon), "axis p keep_dims epsilon", (2, False, 1e-12)),
    "Cast": (_cast, "", ()), "Softmax": (lambda x, axis: _f.softmax(x, axis), "axis", (-1,)),
    "LogSoftmax": (lambda x, axis: _f.log_softmax(x, axis), "axis", (-1,)),
    "MaxPool": (_pool(_max_pool), "kernel_size strides pad_mode data_format", (1, 1, "valid", "NCHW")),
    "AvgPool": (_pool(_avg), "kernel_size strides pad_mode data_format", (1, 1, "valid", "NCHW")),
    "Conv2D": (_conv2d, "out_channel kernel_size mode pad_mode pad stride dilation group data_format", (1, "valid", 0, 1, 1, 1, "NCHW")),
    "Conv2DBackpropInput": (_conv_input, "out_channel kernel_size pad_mode pad pad_list mode stride dilation group data_format", ("valid", 0, None, 1, 1, 1, 1, "NCHW")),
    "Conv2DTranspose": (_conv_input, "out_channel kernel_size pad_mode pad pad_list mode stride dilation group data_format", ("valid", 0, None, 1, 1, 1, 1, "NCHW")),
    "BiasAdd": (lambda x, b, data_format: _f.bias_add(x, b), "data_format", ("NCHW",)),
    "Dropout": (_dropout, "keep_prob Seed0 Seed1", (0.5, 0, 0)),
    "Dropout2D": (lambda x, keep_prob: (_f.dropout2d(x, 1 - keep_prob), _core.full(x.shape, True, _core.bool_)), "keep_prob", (0.5,)),
    "LayerNorm": (_layer_norm, "begin_norm_axis begin_params_axis epsilon", (1, 1, 1e-7)),
    "BatchNorm": (_batch_norm, "is_training epsilon momentum data_format", (False, 1e-5, 0.1, "NCHW")),
    "OneHot": (_one_hot, "axis", (-1,)), "Split": (_split, "axis output_num", (0, 1)),
    "Concat": (lambda x, axis: _f.concat(x, axis), "axis", (0,)), "Stack": (lambda x, axis: _f.stack(x, axis), "axis", (0,)),
    "Pack": (lambda x, axis: _f.stack(x, axis), "axis", (0,)),
    "Unstack": (_unstack, "axis num", (0, None)), "Unpack": (_unstack, "axis num", (0, None)),
    "Squeeze": (_squeeze, "axis", ((),)), "ExpandDims": (_f.expand_dims, "", ()), "Reshape": (_f.reshape, "", ()),
    "Transpose": (_f.transpose, "", ()), "Flatten": (_f.flatten, "", ()), "Tile": (_f.tile, "", ()),
    "BroadcastTo": (lambda x, shape: _f.broadcast_to(x, shape), "shape", ()),
    "Slice": (_f.slice, "", ()),
    "StridedSlice": (lambda x, begin, end, strides, **masks: _f.strided_slice(x, begin, end, strides, **masks), "begin_mask end_mask ellipsis_mask new_axis_mask shrink_axis_mask", (0, 0, 0, 0, 0)),
    "Gather": (lambda x, indices, axis, batch_dims: _f.gather(x, indices, axis, batch_dims), "batch_dims", (0,)),
    "GatherV2": (lambda x, indices, axis: _f.gather(x, indices, axis), "", ()),
    "GatherNd": (_f.gather_nd, "", ()), "GatherD": (_f.gather_d, "", ()),
    "ScatterNd": (_f.scatter_nd, "", ()), "TensorScatterUpdate": (_f.tensor_scatter_update, "", ()),
    "TensorScatterAdd": (_f.tensor_scatter_add, "", ()), "TensorScatterMax": (_f.tensor_scatter_max, "", ()),
    "TensorScatterMin": (_f.tensor_scatter_min, "", ()), "TensorScatterSub": (_f.tensor_scatter_sub, "", ()),
    "TensorScatterMul": (_f.tensor_scatter_mul, "", ()), "TensorScatterDiv": (_f.tensor_scatter_div, "", ()),
    "ScatterAdd": (_update(_f.scatter_add), "use_locking", (False,)), "ScatterUpdate": (_update(_f.scatter_update), "use_locking", (True,)),
    "ScatterSub": (_update(_f.scatter_sub), "use_locking", (False,)), "ScatterMax": (_update(_f.scatter_max), "use_locking", (False,)),
    "ScatterMin": (_update(_f.scatter_min), "use_locking", (False,)), "ScatterMul": (_update(_f.scatter_mul), "use_locking", (False,)),
    "ScatterDiv": (_update(_f.scatter_div), "use_locking", (False,)),
    "ScatterNdUpdate": (_update(_f.scatter_nd_update), "use_locking", (True,)), "ScatterNdAdd": (_update(_f.scatter_nd_add), "use_locking", (False,)),
    "ScatterNdSub": (_update(_f.scatter_nd_sub), "use_locking", (False,)),
    "UnsortedSegmentSum": (_f.unsorted_segment_sum, "", ()), "UnsortedSegmentMax": (_f.unsorted_segment_max, "", ()),
    "UnsortedSegmentMin": (_f.unsorted_segment_min, "", ()),
    "Argmax": (_arg(_f.argmax), "axis output_type", (-1, int32)), "Argmin": (_arg(_f.argmin), "axis output_type", (-1, int32)),
    "ArgMaxWithValue": (lambda x, axis, keep_dims: _f.argmax_with_value(x, axis, keep_dims), "axis keep_dims", (0, False)),
    "ArgMinWithValue": (lambda x, axis, keep_dims: _f.argmin_with_value(x, axis, keep_dims), "axis keep_dims", (0, False)),
    "TopK": (lambda x, k, sorted: _f.topk(x, k), "sorted", (True,)),
    "Sort": (lambda x, axis, descending: _f.sort(x, axis, descending), "axis descending", (-1, False)),
    "CumSum": (_cumulative(_f.cumsum, 0), "exclusive reverse", (False, False)), "CumProd": (_cumulative(_f.cumprod, 1), "exclusive reverse", (False, False)),
    "SoftmaxCrossEntropyWithLogits": (_cross, "", ()),
    "SparseSoftmaxCrossEntropyWithLogits": (_sparse_cross, "is_grad", (False,)),
    "SmoothL1Loss": (lambda x, y, beta, reduction: _f.smooth_l1_loss(x, y, beta, reduction), "beta reduction", (1.0, "none")),
    "L2Loss": (_f.l2_loss, "", ()), "L2Normalize": (lambda x, axis, epsilon: _f.l2_normalize(x, axis, epsilon), "axis epsilon", (0, 1e-4)),
    "BinaryCrossEntropy": (lambda x, y, weight=None, reduction="mean": _f.binary_cross_entropy(x, y, weight, reduction), "reduction", ("mean",)),
    "BCEWithLogitsLoss": (lambda x, y, w, p, reduction: _f.binary_cross_entropy_with_logits(x, y, w, p, reduction), "reduction", ("mean",)),
    "KLDivLoss": (lambda x, y, reduction: _f.kl_div(x, y, reduction), "reduction", ("mean",)),
    "NLLLoss": (lambda x, t, w, reduction, ignore_index: (_f.nll_loss(x, t, w, ignore_index, reduction), _f.sum(_weights_of(w, t, ignore_index))), "reduction ignore_index", ("mean", -100)),
    "StandardNormal": (_random(_f.standard_normal), "seed seed2", (0, 0)), "UniformReal": (_random(lambda shape, seed: _f.uniform(shape, 0.0, 1.0, seed)), "seed seed2", (0, 0)),
    "UniformInt": (lambda shape, minval, maxval, seed, seed2: _f.randint(int(minval), int(maxval), shape, seed or None, dtype=int32), "seed seed2", (0, 0)),
    "ResizeBilinear": (_resize_bilinear, "size align_corners half_pixel_centers", (False, False)),
    "ResizeNearestNeighbor": (_resize_nearest, "size align_corners half_pixel_centers", (False, False)),
    "Pad": (_pad, "paddings", ()), "MirrorPad": (_mirror_pad, "mode", ("REFLECT",)),
    "SpaceToDepth": (lambda x, block_size: _f.space_to_depth(x, block_size), "block_size", ()),
    "DepthToSpace": (lambda x, block_size: _f.depth_to_space(x, block_size), "block_size", ()),
    "ReverseV2": (lambda x, axis: _f.flip(x, axis), "axis", ()),
    "LRN": (lambda x, depth_radius, bias, alpha, beta, norm_region: _f.lrn(x, depth_radius, bias, alpha, beta, norm_region), "depth_radius bias alpha beta norm_region", (5, 1.0, 1.0, 0.5, "ACROSS_CHANNELS")),
    "Elu": (lambda x, alpha: _f.elu(x, alpha), "alpha", (1.0,)), "PReLU": (_f.prelu, "", ()),
    "Select": (_f.select, "", ()), "Print": (_print, "", ()), "Eye": (_eye, "", ()), "Fill": (_f.fill, "", ()),
    "LinSpace": (_f.linspace, "", ()), "Range": (lambda start, limit, delta, maxlen: _f.arange(start, limit, delta), "maxlen", (1000000,)),
    "ApplyMomentum": (_apply_momentum, "use_nesterov use_locking gradient_scale", (False, False, 1.0)),
    "Adam": (_adam, "use_locking use_nesterov", (False, False)),
    "AddN": (_f.addn, "", ()), "AccumulateNV2": (_f.addn, "", ()), "Einsum": (lambda xs, equation: _f.einsum(equation, *xs), "equation", ()),
    "Meshgrid": (lambda xs, indexing: _f.meshgrid(*xs, indexing=indexing), "indexing", ("xy",)),
    "GeLU": (lambda x: _f.gelu(x, "tanh"), "", ()), "Gelu": (lambda x: _f.gelu(x, "tanh"), "", ()), "SeLU": (_f.selu, "", ()),
    "ReLU6": (_f.relu6, "", ()), "HSigmoid": (_f.hardsigmoid, "", ()), "HSwish": (_f.hardswish, "", ()),
    "Xdivy": (_f.xdivy, "", ()), "Xlogy": (_f.xlogy, "", ()), "DivNoNan": (_f.div_no_nan, "", ()),
    "ApproximateEqual": (lambda x, y, tolerance: _f.approximate_equal(x, y, tolerance), "tolerance", (1e-5,)),
    "IsClose": (lambda x, y, rtol, atol, equal_nan: _f.isclose(x, y, rtol, atol, equal_nan), "rtol atol equal_nan", (1e-5, 1e-8, True)),
    "RealDiv": (_f.div, "", ()), "BNTrainingReduce": (_f.identity, "", ()), "Depend": (_f.depend, "", ()),
    "Size": (_f.size, "", ()), "Rank": (_f.rank, "", ()), "Shape": (_f.shape, "", ()), "DType": (_f.dtype, "", ()),
    "TensorShape": (_f.dyn_shape, "", ()), "ScalarToTensor": (_f.scalar_to_tensor, "", ()), "TupleToArray": (_f.tuple_to_array, "", ()),
    "IndexAdd": (lambda x, i, y, axis, use_lock, check_index_bound: _f.index_add(x, i, y, axis), "axis use_lock check_index_bound", (True, True)),
    "InplaceAdd": (lambda x, v, indices: _f.inplace_add(x, v, indices), "indices", ()),
    "InplaceSub": (lambda x, v, indices: _f.inplace_sub(x, v, indices), "indices", ()),
    "InplaceUpdate": (lambda x, v, indices: _f.inplace_update(x, v, indices), "indices", ()),
    "EmbeddingLookup": (_f.embedding_lookup, "", ()), "Unique": (_f.unique, "", ()), "MaskedFill": (_f.masked_fill, "", ()),
    "MaskedSelect": (_f.masked_select, "", ()), "RandpermV2": (lambda n, seed, offset, dtype: _f.randperm(n, seed, dtype=dtype), "seed offset dtype", (0, 0, int64)),
    "Identity": (_f.identity, "", ()), "TensorAdd": (_f.add, "", ()), "Zeros": (_f.zeros, "", ()), "Ones": (_f.ones, "", ()),
    "Cross": (lambda x, y, dim: _f.cross(x, y, None if dim == -65530 else dim), "dim", (-65530,)), "Logit": (lambda x, eps: _f.logit(x, None if eps < 0 else eps), "eps", (-1.0,)),
    "Cummax": (lambda x, axis: _f.cummax(x, axis), "axis", ()), "Cummin": (lambda x, axis: _f.cummin(x, axis), "axis", ()),
    "Tril": (lambda x, diagonal: _f.tril(x, diagonal), "diagonal", (0,)), "Triu": (lambda x, diagonal: _f.triu(x, diagonal), "diagonal", (0,)),
    "Roll": (lambda x, shift, axis: _f.roll(x, shift, axis), "shift axis", ()), "MatrixBandPart": (_f.matrix_band_part, "", ()),
}

# Those that have the name and the arguments of a function.
for _name, _function in {
        "Abs": "abs", "Acos": "acos", "Acosh": "acosh", "Add": "add", "Asin": "asin", "Asinh": "asinh", "Assign": "assign",
        "AssignAdd": "assign_add", "AssignSub": "assign_sub", "Atan": "atan", "Atan2": "atan2", "Atanh": "atanh",
        "BesselI0": "i0", "BesselI0e": "bessel_i0e", "BesselI1": "i1", "BesselI1e": "bessel_i1e", "BitwiseAnd": "bitwise_and",
        "BitwiseOr": "bitwise_or", "BitwiseXor": "bitwise_xor", "Ceil": "ceil", "Cos": "cos", "Cosh": "cosh", "Diag": "diag",
        "DiagPart": "diagonal", "Digamma": "digamma", "Div": "div", "Equal": "equal", "Erf": "erf", "Erfc": "erfc", "Erfinv": "erfinv",
        "Exp": "exp", "Expm1": "expm1", "FastGeLU": "fast_gelu", "Floor": "floor", "FloorDiv": "floor_div", "FloorMod": "floor_mod",
        "Greater": "greater", "GreaterEqual": "greater_equal", "HShrink": "hardshrink", "Heaviside": "heaviside", "Hypot": "hypot",
        "Inv": "inv", "Invert": "invert", "IsFinite": "isfinite", "IsInf": "isinf", "IsNan": "isnan", "Lerp": "lerp", "Less": "less",
        "LessEqual": "less_equal", "Lgamma": "lgamma", "Igamma": "igamma", "Igammac": "igammac", "Polygamma": "polygamma", "Zeta": "zeta", "Log": "log", "Log1p": "log1p", "LogicalAnd": "logical_and",
        "LogicalNot": "logical_not", "LogicalOr": "logical_or", "LogicalXor": "logical_xor", "Maximum": "maximum", "Minimum": "minimum",
        "Mish": "mish", "Mod": "truncate_mod", "Mul": "mul", "MulNoNan": "mul_no_nan", "NanToNum": "nan_to_num", "Neg": "neg",
        "NotEqual": "not_equal", "OnesLike": "ones_like", "PopulationCount": "population_count", "Pow": "pow", "ReLU": "relu",
        "Reciprocal": "reciprocal", "Rint": "rint", "Round": "round", "Rsqrt": "rsqrt", "Sigmoid": "sigmoid", "Sign": "sign", "Sin": "sin",
        "Sinc": "sinc", "Sinh": "sinh", "SoftShrink": "softshrink", "Softplus": "softplus", "Softsign": "softsign", "Sqrt": "sqrt",
        "Square": "square", "SquareSumAll": "square_sum_all", "SquaredDifference": None, "Sub": "sub", "Tan": "tan", "Tanh": "tanh",
        "Trace": "trace", "Trunc": "trunc", "TruncateDiv": "truncate_div",
        "TruncateMod": "truncate_mod", "ZerosLike": "zeros_like", "Addcdiv": "addcdiv", "Addcmul": "addcmul", "BatchToSpace": None,
        "Ger": "ger", "NonZero": "nonzero"}.items():
    if _function is not None:
        _table[_name] = (getattr(_f, _function), "", ())
_table["SquaredDifference"] = (lambda x, y: _f.square(_core.sub(x, y)), "", ())

for _name, (_function, _attributes, _defaults) in _table.items():
    globals()[_name] = _primitive_of(_name, _function, tuple(_attributes.split()), _defaults)


class StopGradient(Primitive):
    def compute(self, x):
        from mindspore.ops.grad import stop_gradient
        return stop_gradient(x)


class InsertGradientOf(Primitive):
    """The same value, whose gradient goes through a function."""

    def __init__(self, f):
        super().__init__(type(self).__name__)
        self.f, self._passing = f, None

    def compute(self, *values):
        from mindspore.nn.hook import passing
        if self._passing is None:
            self._passing = passing(self.f)
        return self._passing(*values)


class HookBackward(InsertGradientOf):
    def __init__(self, hook_fn, cell_id=""):
        if not callable(hook_fn):
            raise TypeError(f"For 'HookBackward', the type of 'hook_fn' must be function, but got {type(hook_fn)}.")
        super().__init__(hook_fn)


class ScalarSummary(Primitive):
    def compute(self, *args):
        return None


TensorSummary = ImageSummary = HistogramSummary = ScalarSummary

__all__ = sorted(list(_table) + ["StopGradient", "InsertGradientOf", "HookBackward", "ScalarSummary", "TensorSummary", "ImageSummary", "HistogramSummary"])


def __getattr__(name):
    from mindspore.ops._names import missing
    return missing("mindspore.ops.operations", name, globals())
