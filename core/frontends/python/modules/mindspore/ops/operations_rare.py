# SPDX-License-Identifier: Apache-2.0
"""Primitives that very few programs ask for, over the functions of ops."""
import functools
from mindspore import _core
from mindspore._core import add, sub, mul, div, convert, bool_, float32, int32, int64
from mindspore.ops import _image, _linear, _matrix, _updates, function as _f
from mindspore.ops.primitive import Primitive, primitive_of as _primitive_of


def _known(x, name):
    if x.is_variable and not x.has_data:
        raise _core.NeedsData(f"For '{name}', the shape of the result depends on the values of its input, which have to be known")
    return x.tolist()


def _count(n):
    if isinstance(n, _core.Tensor):
        n = _known(n, "window")
    return int(n[0] if isinstance(n, list) else n)


def _euclidean(x, axes=(), keep_dims=False):
    axes = tuple(axes) if isinstance(axes, (tuple, list)) else _known(axes, "EuclideanNorm") if isinstance(axes, _core.Tensor) else axes
    return _f.sqrt(_f.reduce_sum(_f.square(x), tuple(axes) if isinstance(axes, list) else axes, keep_dims))


def _histogram_fixed(x, bounds, nbins, dtype):
    low, high = bounds[0], bounds[1]
    place = _f.clamp(convert(_f.floor(mul(div(sub(x, low), sub(high, low)), nbins)), int32), 0, nbins - 1)
    hit = _core.compare("EQ", _core.reshape(place, (-1, 1)), _core.reshape(_f.arange(nbins), (1, -1)))
    return convert(_f.reduce_sum(convert(hit, int32), 0), _core.as_type(dtype))


def _bounds(right):
    def compute(sorted_x, values, out_type):
        return convert(_f.searchsorted(sorted_x, values, right=right), out_type)
    return compute


def _segment(kind):
    """The segments lie in order; one that has no element is 0, of a product 1."""
    def compute(x, ids):
        known = _known(ids, "Segment" + kind)
        n = known[-1] + 1 if known else 0
        if kind == "Mean":
            count = _f.unsorted_segment_sum(_core.full(ids.shape, 1, x.dtype), ids, n)
            total = _f.unsorted_segment_sum(x, ids, n)
            return div(total, _core.reshape(_f.maximum(count, _core.tensor_of(1, x.dtype)), (n,) + (1,) * (x.ndim - 1)))
        made = getattr(_f, "unsorted_segment_" + kind.lower())(x, ids, n)
        if kind not in ("Max", "Min"):
            return made
        there = [i in set(known) for i in range(n)]
        there = _core.reshape(_core.tensor_of(there, bool_), (n,) + (1,) * (x.ndim - 1))
        return _core.select(_core.broadcast_to(there, made.shape), made, _core.full(made.shape, 0, x.dtype))
    return compute


def _pad_v3(x, paddings, value=None, mode="constant", paddings_contiguous=True):
    pads = [int(p) for p in (_known(paddings, "PadV3") if isinstance(paddings, _core.Tensor) else paddings)]
    if not paddings_contiguous:
        half = len(pads) // 2
        pads = [p for pair in zip(pads[:half], pads[half:]) for p in pair]
    return _f.pad(x, pads, {"edge": "replicate", "wrap": "circular"}.get(mode, mode), value) if mode != "constant" \
        else _f.pad(x, pads, mode, 0 if value is None else value)


def _split(x, size_splits, split_dim, num_split):
    sizes, rest = list(size_splits), x.shape[split_dim]
    return _f.split(x, [s if s >= 0 else rest - sum(n for n in sizes if n >= 0) for s in sizes], split_dim)


def _unravel(indices, dims):
    result, n = [], _known(dims, "UnravelIndex") if isinstance(dims, _core.Tensor) else list(dims)
    for size in n[::-1]:
        result.append(_f.floor_mod(indices, size))
        indices = _f.floor_divide(indices, size)
    return _f.stack(result[::-1], 0)


def _fill_diagonal(x, fill_value, wrap):
    rows, columns = x.shape[0], x.shape[1]
    if x.ndim > 2:
        mask = None
        first = _core._op("iota", (), {"to": ("i32", x.shape), "iota_dimension": 0})
        for d in range(1, x.ndim):
            same = _core.compare("EQ", first, _core._op("iota", (), {"to": ("i32", x.shape), "iota_dimension": d}))
            mask = same if mask is None else _f.logical_and(mask, same)
    else:
        row, column = (_core._op("iota", (), {"to": ("i32", x.shape), "iota_dimension": d}) for d in (0, 1))
        mask = _core.compare("EQ", _f.floor_mod(row, columns + 1) if wrap and rows > columns else row, column)
    return _core.select(mask, _core.full(x.shape, fill_value, x.dtype), x)


def _index_add(var, indices, updates, axis):
    value = _f.index_add(_updates._now(var) if getattr(var, "_is_parameter", False) else var, indices, updates, axis)
    return _updates._assigned((var, value)) if getattr(var, "_is_parameter", False) else value


def _list_diff(x, y, out_idx):
    given, other = _known(x, "ListDiff"), set(_known(y, "ListDiff"))
    left = [(v, i) for i, v in enumerate(given) if v not in other]
    return _core.tensor_of([v for v, _ in left], x.dtype), _core.tensor_of([i for _, i in left], out_idx)


def _masked_scatter(x, mask, updates):
    mask = _core.broadcast_to(mask, x.shape)
    flat = _core.reshape(mask, (-1,))
    place = _f.clamp(sub(_f.cumsum(convert(flat, int32), 0), 1), 0, updates.size - 1)
    return _core.select(mask, _core.reshape(_core.reshape(updates, (-1,))[place], x.shape), x)


def _hsv_to_rgb(x):
    h, s, v = x[..., 0], x[..., 1], x[..., 2]
    parts = []
    for n in (5.0, 3.0, 1.0):
        k = _f.floor_mod(add(mul(h, 6.0), n), 6.0)
        parts.append(sub(v, mul(mul(v, s), _f.clamp(_f.minimum(k, sub(4.0, k)), 0.0, 1.0))))
    return _f.stack(parts, -1)


def _rgb_to_hsv(x):
    r, g, b = x[..., 0], x[..., 1], x[..., 2]
    most, least = _f.maximum(_f.maximum(r, g), b), _f.minimum(_f.minimum(r, g), b)
    span, zero = sub(most, least), _core.full(r.shape, 0, x.dtype)
    safe = _core.select(_core.compare("EQ", span, 0), _core.full(r.shape, 1, x.dtype), span)
    h = _core.select(_core.compare("EQ", most, r), _f.floor_mod(div(sub(g, b), safe), 6.0),
                     _core.select(_core.compare("EQ", most, g), add(div(sub(b, r), safe), 2.0), add(div(sub(r, g), safe), 4.0)))
    whole = _core.select(_core.compare("EQ", most, 0), _core.full(r.shape, 1, x.dtype), most)
    return _f.stack([_core.select(_core.compare("EQ", span, 0), zero, div(h, 6.0)), div(span, whole), most], -1)


def _layout(names):
    def compute(x, src_format="NHWC", dst_format="NCHW"):
        order = [src_format.index(c) for c in dst_format]
        if names:
            table = _core.tensor_of([src_format.index(c) for c in dst_format], x.dtype)
            return table[_f.floor_mod(x, len(src_format))]
        if x.shape[0] == 2:  # sizes of the image alone
            order = [[c for c in src_format if c in "HW"].index(c) for c in dst_format if c in "HW"]
        return _f.stack([x[i] for i in order], 0)
    return compute


# Optimizers

def _add_sign(var, m, lr, alpha, sign_decay, beta, grad, use_locking):
    new = _updates._mixed(_updates._now(m), beta, grad)
    change = mul(add(alpha, mul(sign_decay, mul(_f.sign(grad), _f.sign(new)))), grad)
    return _updates._assigned((var, sub(_updates._now(var), mul(lr, change))), (m, new))


def _power_sign(var, m, lr, logbase, sign_decay, beta, grad, use_locking):
    new = _updates._mixed(_updates._now(m), beta, grad)
    change = mul(_f.exp(mul(mul(logbase, sign_decay), mul(_f.sign(grad), _f.sign(new)))), grad)
    return _updates._assigned((var, sub(_updates._now(var), mul(lr, change))), (m, new))


def _adagrad_v2(var, accum, lr, grad, epsilon, update_slots):
    sums = add(_updates._now(accum), mul(grad, grad)) if update_slots else _updates._now(accum)
    return _updates._assigned((var, sub(_updates._now(var), div(mul(lr, grad), add(_f.sqrt(sums), epsilon)))), (accum, sums))


def _keras_momentum(var, accum, lr, grad, momentum, use_locking, use_nesterov):
    new = sub(mul(_updates._now(accum), momentum), mul(lr, grad))
    step = sub(mul(new, momentum), mul(lr, grad)) if use_nesterov else new
    return _updates._assigned((var, add(_updates._now(var), step)), (accum, new))


def _amsgrad(var, m, v, vhat, beta1_power, beta2_power, lr, grad, beta1, beta2, epsilon, use_locking):
    first = _updates._mixed(_updates._now(m), beta1, grad)
    second = _updates._mixed(_updates._now(v), beta2, mul(grad, grad))
    most = _f.maximum(_updates._now(vhat), second)
    rate = div(mul(lr, _f.sqrt(sub(1.0, beta2_power))), sub(1.0, beta1_power))
    value = sub(_updates._now(var), div(mul(rate, first), add(_f.sqrt(most), epsilon)))
    return _updates._assigned((var, value), (m, first), (v, second), (vhat, most))


_table = {
    "Bucketize": (lambda x, boundaries: convert(_f.bucketize(x, list(boundaries), right=True), int32), "boundaries", ()),
    "EuclideanNorm": (_euclidean, "keep_dims", (False,)), "HistogramFixedWidth": (_histogram_fixed, "nbins dtype", ("int32",)),
    "Histogram": (lambda x, bins, min, max: _f.histc(x, bins, min, max), "bins min max", (100, 0.0, 0.0)),
    "LowerBound": (_bounds(False), "out_type", (int32,)), "UpperBound": (_bounds(True), "out_type", (int32,)),
    **{"Segment" + kind: (_segment(kind), "", ()) for kind in ("Max", "Mean", "Min", "Prod", "Sum")},
    "MatrixExp": (lambda x: _linear.matrix_exp(x), "", ()), "MatrixSolve": (lambda a, b, adjoint: _linear.matrix_solve(a, b, adjoint), "adjoint", (False,)),
    "Padding": (lambda x, pad_dim_size: _f.padding(x, pad_dim_size), "pad_dim_size", (8,)), "PadV3": (_pad_v3, "mode paddings_contiguous", ("constant", True)),
    "SplitV": (_split, "size_splits split_dim num_split", ()), "UnravelIndex": (_unravel, "", ()), "UniqueWithPad": (_f.unique_with_pad, "", ()),
    "ChannelShuffle": (lambda x, group: _f.channel_shuffle(x, group), "group", ()), "FillDiagonal": (_fill_diagonal, "fill_value wrap", (False,)),
    "InplaceUpdateV2": (lambda x, i, v: _f.inplace_update(x, v, i), "", ()), "InplaceIndexAdd": (_index_add, "axis", ()),
    "ListDiff": (_list_diff, "out_idx", (int32,)), "LerpScalar": (_f.lerp, "", ()), "MaskedScatter": (_masked_scatter, "", ()),
    "TripletMarginLoss": (lambda a, p1, n, margin, p, swap, eps, reduction: _f.triplet_margin_loss(a, p1, n, margin, p, eps, swap, reduction),
                          "p swap eps reduction", (2, False, 1e-6, "mean")),
    "NthElement": (lambda x, n, reverse: _f.sort(x, -1, reverse)[0][..., int(n)], "reverse", (False,)),
    "EqualCount": (lambda x, y: convert(_core.reshape(_f.reduce_sum(convert(_core.compare("EQ", x, y), float32)), (1,)), x.dtype), "", ()),
    "HSVToRGB": (_hsv_to_rgb, "", ()), "RGBToHSV": (_rgb_to_hsv, "", ()),
    "DataFormatDimMap": (_layout(True), "src_format dst_format", ("NHWC", "NCHW")),
    "DataFormatVecPermute": (_layout(False), "src_format dst_format", ("NHWC", "NCHW")),
    "BatchToSpaceNDV2": (lambda x, block, crops: _matrix.batch_to_space_nd(x, list(block), [list(c) for c in crops]), "", ()),
    "MaxUnpool2D": (lambda x, places, ksize, strides, pads, output_shape, data_format: _image.max_unpool2d(
        x, places, ksize, strides or None, pads, tuple(output_shape) or None), "ksize strides pads output_shape data_format", (0, 0, (), "NCHW")),
    "BartlettWindow": (lambda n, periodic, dtype: _f.bartlett_window(_count(n), periodic, dtype=dtype), "periodic dtype", (True, float32)),
    "BlackmanWindow": (lambda n, periodic, dtype: _f.blackman_window(_count(n), periodic, dtype=dtype), "periodic dtype", (True, float32)),
    "HammingWindow": (lambda n, periodic, alpha, beta, dtype: _f.hamming_window(_count(n), periodic, alpha, beta, dtype=dtype),
                      "periodic alpha beta dtype", (True, 0.54, 0.46, float32)),
    "ApplyAddSign": (_add_sign, "use_locking", (False,)), "ApplyPowerSign": (_power_sign, "use_locking", (False,)),
    "ApplyAdagradV2": (_adagrad_v2, "epsilon update_slots", (True,)), "ApplyKerasMomentum": (_keras_momentum, "use_locking use_nesterov", (False, False)),
    "ApplyAdamWithAmsgrad": (_amsgrad, "beta1 beta2 epsilon use_locking", (0.9, 0.999, 1e-8, False)),
}
for _kind in ("Max", "Min", "Mul", "Div"):
    _table["ScatterNd" + _kind] = (lambda x, i, u, use_locking, kind=_kind.lower(): getattr(_f, "scatter_nd_" + kind)(x, i, u, use_locking), "use_locking", (True,))

for _name, (_function, _attributes, _defaults) in _table.items():
    globals()[_name] = _primitive_of(_name, _function, tuple(_attributes.split()), _defaults)


class Partial(Primitive):
    """A function with its first arguments given."""

    def compute(self, function, *args):
        return functools.partial(function, *args)


def masked_scatter(input, mask, source):
    return _masked_scatter(input, mask, source)


def deepcopy(input_x):
    return convert(input_x, input_x.dtype)


__all__ = [*_table, "Partial", "masked_scatter", "deepcopy"]
