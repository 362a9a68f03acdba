# SPDX-License-Identifier: Apache-2.0
"""Images: sampling at places between pixels, boxes, pooling with the places of what it took. Loaded when one of the names is asked for."""
import builtins as _builtins
from mindspore import _amp, _core
from mindspore._core import Tensor, add, sub, mul, div, convert, float32, int64
from mindspore.ops import _array as _a, _elementwise as _e, _gather as _g
from mindspore.ops._neural import _tuple


def affine_grid(theta, size, align_corners=False):
    """Where an affine map of each image takes the places of its result, as grid_sample wants them."""
    size = tuple(int(v) for v in (size.tolist() if isinstance(size, Tensor) else size))
    spaces = size[2:]
    axes = []
    for n in spaces:
        line = [2 * i / (n - 1) - 1 if n > 1 else 0.0 for i in _builtins.range(n)] if align_corners else [(2 * i + 1) / n - 1 for i in _builtins.range(n)]
        axes.append(Tensor(line, float32))
    shape = spaces + (1,)
    columns = [_core.broadcast_to(_core.reshape(axes[d], tuple(n if e == d else 1 for e, n in enumerate(spaces)) + (1,)), shape)
               for d in reversed(_builtins.range(len(spaces)))]
    base = _a.concat(columns + [_core.full(shape, 1, float32)], -1)
    flat = _core.reshape(base, (-1, len(spaces) + 1))
    made = _core.matmul(_core.broadcast_to(_core.reshape(flat, (1,) + flat.shape), (theta.shape[0],) + flat.shape),
                        _core.swapaxes(convert(theta, float32), -1, -2))
    return _core.reshape(made, (theta.shape[0],) + spaces + (len(spaces),))


def _reflected(x, low, high):
    """A coordinate thrown back at both ends."""
    span = high - low
    if span <= 0:
        return mul(x, 0.0)
    x = _e.abs(sub(x, low))
    turns = _e.floor(div(x, span))
    rest = sub(x, mul(turns, span))
    odd = _core.compare("EQ", sub(turns, mul(_e.floor(div(turns, 2.0)), 2.0)), 1.0)
    return add(_core.select(odd, sub(span, rest), rest), low)


def _at(flat, sizes, places):
    """Pixels of [n, c, pixels] at whole coordinates [n, count], one list for each axis; 0 outside."""
    inside, index = None, None
    for size, place in zip(sizes, places):
        fits = _e.logical_and(_core.compare("GE", place, 0.0), _core.compare("LE", place, float(size - 1)))
        inside = fits if inside is None else _e.logical_and(inside, fits)
        whole = convert(_e.clamp(place, 0.0, float(size - 1)), int64)
        index = whole if index is None else add(mul(index, size), whole)
    n, c = flat.shape[:2]
    index = _core.broadcast_to(_core.reshape(index, (n, 1, -1)), (n, c, index.shape[-1]))
    return mul(_g.gather_elements(flat, 2, index), convert(_core.reshape(inside, (n, 1, -1)), flat.dtype))


def grid_sample(input, grid, mode="bilinear", padding_mode="zeros", align_corners=None):
    if mode not in ("bilinear", "nearest"):
        raise ValueError(f"For 'grid_sample', the mode '{mode}' is not supported: bilinear or nearest")
    sizes, count = input.shape[2:], _core._product(grid.shape[1:-1])
    flat = _core.reshape(input, input.shape[:2] + (-1,))
    parts = _core.reshape(grid, (grid.shape[0], count, len(sizes)))
    places = []
    for d, size in enumerate(sizes):
        g = parts[:, :, len(sizes) - 1 - d]
        x = mul(add(g, 1.0), (size - 1) / 2) if align_corners else sub(mul(add(g, 1.0), size / 2), 0.5)
        if padding_mode == "reflection":
            x = _reflected(x, 0.0, float(size - 1)) if align_corners else _reflected(x, -0.5, size - 0.5)
        places.append(x if padding_mode == "zeros" else _e.clamp(x, 0.0, float(size - 1)))
    if mode == "nearest":
        made = _at(flat, sizes, [_e.round(p) for p in places])
    else:
        lows, made = [_e.floor(p) for p in places], None
        for corner in _builtins.range(1 << len(sizes)):
            weight, chosen = None, []
            for d, (place, low) in enumerate(zip(places, lows)):
                part = sub(place, low)
                up = corner >> d & 1
                part = part if up else sub(1.0, part)
                chosen.append(add(low, 1.0) if up else low)
                weight = part if weight is None else mul(weight, part)
            value = mul(_at(flat, sizes, chosen), _core.reshape(weight, (weight.shape[0], 1, -1)))
            made = value if made is None else add(made, value)
    return _core.reshape(made, input.shape[:2] + grid.shape[1:-1])


def crop_and_resize(image, boxes, box_indices, crop_size, method="bilinear", extrapolation_value=0.0):
    """Crops of images [n, h, w, c] by boxes [y1, x1, y2, x2] in parts of the image."""
    if method not in ("bilinear", "nearest"):
        raise ValueError(f"For 'crop_and_resize', the method '{method}' is not supported: bilinear or nearest")
    n, m = boxes.shape[0], image.shape[-1]
    picked = _core.transpose(_g.gather(image, box_indices, 0), (0, 3, 1, 2))
    flat, sizes, crop = _core.reshape(picked, (n, m, -1)), picked.shape[2:], _tuple(crop_size, 2)
    lines = []
    for d, (size, out) in enumerate(zip(sizes, crop)):
        first, last = boxes[:, d:d + 1], boxes[:, d + 2:d + 3]
        if out > 1:
            step = mul(sub(last, first), (size - 1) / (out - 1))
            lines.append(add(mul(first, float(size - 1)), mul(step, Tensor([[float(i) for i in _builtins.range(out)]], float32))))
        else:
            lines.append(mul(add(first, last), (size - 1) / 2))
    shape = (n,) + tuple(crop)
    y = _core.reshape(_core.broadcast_to(_core.reshape(lines[0], (n, crop[0], 1)), shape), (n, -1))
    x = _core.reshape(_core.broadcast_to(_core.reshape(lines[1], (n, 1, crop[1])), shape), (n, -1))
    outside = _e.logical_or(_e.logical_or(_core.compare("LT", y, 0.0), _core.compare("GT", y, float(sizes[0] - 1))),
                            _e.logical_or(_core.compare("LT", x, 0.0), _core.compare("GT", x, float(sizes[1] - 1))))
    if method == "nearest":
        made = _at(flat, sizes, [_e.round(y), _e.round(x)])
    else:
        made, low = None, (_e.floor(y), _e.floor(x))
        for down, right in ((0, 0), (0, 1), (1, 0), (1, 1)):
            wy, wx = sub(y, low[0]), sub(x, low[1])
            weight = mul(wy if down else sub(1.0, wy), wx if right else sub(1.0, wx))
            value = mul(_at(flat, sizes, [add(low[0], float(down)), add(low[1], float(right))]), _core.reshape(weight, (n, 1, -1)))
            made = value if made is None else add(made, value)
    made = _core.select(_core.broadcast_to(_core.reshape(outside, (n, 1, -1)), made.shape), float(extrapolation_value), made)
    return _core.transpose(_core.reshape(made, (n, m) + tuple(crop)), (0, 2, 3, 1))


# Pooling with places

def pool_with_places(x, kernel, stride, pads, dilation):
    """The greatest of each window and where it lies in the flat image: the first of several. @pads: low and high of each axis"""
    n = len(kernel)
    reach = tuple(d * (k - 1) + 1 for k, d in zip(kernel, dilation))
    sizes = x.shape[-n:]
    lead, places = x.shape[:-n], Tensor(list(_builtins.range(_core._product(sizes))), int64)
    places = _core.broadcast_to(_core.reshape(places, sizes), x.shape)
    wide = [(0, 0)] * len(lead) + [(pads[2 * i], pads[2 * i + 1]) for i in _builtins.range(n)]
    low, high = tuple(p for p, _ in wide), tuple(p for _, p in wide)

    def padded(v, value):
        return _core._op("pad", (v, _core.full((), value, v.dtype)),
                         {"edge_padding_low": low, "edge_padding_high": high, "interior_padding": (0,) * v.ndim})
    values, places = padded(x, -3.0e38 if x.dtype.is_float else -2 ** 31), padded(places, 0)
    best = at = None
    outs = tuple((s + p[0] + p[1] - r) // t + 1 for s, p, r, t in zip(sizes, wide[len(lead):], reach, stride))
    for step in _builtins.range(_core._product(kernel)):
        offset, rest = [], step
        for k, d in zip(reversed(kernel), reversed(dilation)):
            offset.append(rest % k * d)
            rest //= k
        begin = (0,) * len(lead) + tuple(reversed(offset))
        end = lead + tuple(b + (o - 1) * t + 1 for b, o, t in zip(begin[len(lead):], outs, stride))
        cut = {"start_indices": begin, "limit_indices": end, "strides": (1,) * len(lead) + stride}
        value, place = _core._op("slice", (values,), cut), _core._op("slice", (places,), cut)
        if best is None:
            best, at = value, place
        else:
            better = _core.compare("GT", value, best)
            best, at = _core.select(better, value, best), _core.select(better, place, at)
    return best, at


def _unpool(x, indices, sizes, n):
    lead = x.shape[:-n]
    flat = _core.full(lead + (_core._product(sizes),), 0, x.dtype)
    made = _g.tensor_scatter_elements(flat, convert(_core.reshape(indices, lead + (-1,)), int64), _core.reshape(x, lead + (-1,)),
                                      len(lead))
    return _core.reshape(made, lead + tuple(sizes))


def _max_unpool(x, indices, kernel_size, stride, padding, output_size, n):
    kernel = _tuple(kernel_size, n)
    stride, padding = kernel if stride in (None, 0) else _tuple(stride, n), _tuple(padding, n)
    if output_size:
        sizes = tuple(output_size)[-n:]
    else:
        sizes = tuple((s - 1) * t - 2 * p + k for s, t, p, k in zip(x.shape[-n:], stride, padding, kernel))
    return _unpool(x, indices, sizes, n)


def max_unpool1d(x, indices, kernel_size, stride=None, padding=0, output_size=None):
    return _max_unpool(x, indices, kernel_size, stride, padding, output_size, 1)


def max_unpool2d(x, indices, kernel_size, stride=None, padding=0, output_size=None):
    return _max_unpool(x, indices, kernel_size, stride, padding, output_size, 2)


def max_unpool3d(x, indices, kernel_size, stride=None, padding=0, output_size=None):
    return _max_unpool(x, indices, kernel_size, stride, padding, output_size, 3)


# Boxes

def _centre(box):
    low, high = box[..., 0:2], box[..., 2:4]
    return mul(add(low, high), 0.5), add(sub(high, low), 1.0)


def bounding_box_encode(anchor_box, groundtruth_box, means=(0.0, 0.0, 0.0, 0.0), stds=(1.0, 1.0, 1.0, 1.0)):
    (at, size), (to, wanted) = _centre(anchor_box), _centre(groundtruth_box)
    deltas = _a.concat([div(sub(to, at), size), _e.log(div(wanted, size))], -1)
    return div(sub(deltas, Tensor(list(means), float32)), Tensor(list(stds), float32))


def bounding_box_decode(anchor_box, deltas, max_shape, means=(0.0, 0.0, 0.0, 0.0), stds=(1.0, 1.0, 1.0, 1.0), wh_ratio_clip=0.016):
    import math
    deltas = add(mul(deltas, Tensor(list(stds), float32)), Tensor(list(means), float32))
    at, size = _centre(anchor_box)
    most = _builtins.abs(math.log(wh_ratio_clip))
    to = add(at, mul(size, deltas[..., 0:2]))
    half = sub(mul(mul(size, _e.exp(_e.clamp(deltas[..., 2:4], -most, most))), 0.5), 0.5)
    limit = Tensor([float(max_shape[1]), float(max_shape[0])] * 2, float32)
    return _e.minimum(_e.maximum(_a.concat([sub(to, half), add(to, half)], -1), 0.0), limit)


def check_valid(bboxes, img_metas):
    """Whether boxes lie inside of the image, whose height, width and scale are given."""
    limit = sub(mul(img_metas[0:2], img_metas[2]), 1.0)
    low = _core.compare("GE", bboxes[:, 0:2], 0.0)
    high = _core.compare("LE", bboxes[:, 2:4], _core.reshape(_a.flip(limit, (0,)), (1, 2)))
    return _core.reduce("and", _a.concat([low, high], 1), 1)


_amp.listed(globals())
__all__ = ["affine_grid", "grid_sample", "crop_and_resize", "max_unpool1d", "max_unpool2d", "max_unpool3d", "bounding_box_encode",
           "bounding_box_decode", "check_valid"]
