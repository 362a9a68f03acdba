# SPDX-License-Identifier: Apache-2.0
"""Other sizes of pictures: each axis by itself, by weights that are known while compiling."""
import builtins as _builtins
import math as _math
from mindspore import _core
from mindspore.ops import _gather as _g

__all__ = ["interpolate", "upsample"]


def _places(size, out, way, scale=None):
    """Where each point of the result lies among those of the axis. @way: how the two are laid over each other."""
    step = size / out if scale is None else 1.0 / scale
    if way == "corners":
        return [i * (size - 1) / _builtins.max(out - 1, 1) for i in _builtins.range(out)]
    return [(i + 0.5) * step - 0.5 if way == "half" else i * step for i in _builtins.range(out)]


def _nearest(x, axis, places, rounded=False):
    size = x.shape[axis]
    at = [_builtins.max(0, _builtins.min(_math.floor(p + 0.5 if rounded else p), size - 1)) for p in places]
    return _g.gather(x, _core.tensor_of(at), axis)


def _weighted(x, axis, taps):
    """@taps: for each point pairs of a place, held to the axis, and a weight."""
    size, shape = x.shape[axis], tuple(len(taps) if d == axis else 1 for d in _builtins.range(x.ndim))
    total = None
    for pairs in zip(*taps):
        at = [_builtins.max(0, _builtins.min(p, size - 1)) for p, _ in pairs]
        part = _core.mul(_g.gather(x, _core.tensor_of(at), axis), _core.reshape(_core.tensor_of([w for _, w in pairs], x.dtype), shape))
        total = part if total is None else _core.add(total, part)
    return total


def _linear(x, axis, places):
    taps = []
    for p in places:
        p = _builtins.max(p, 0.0)
        low = _builtins.min(int(p), x.shape[axis] - 1)
        taps.append([(low, 1.0 - (p - low)), (low + 1, p - low)])
    return _weighted(x, axis, taps)


def _cubic(x, axis, places, of_centers):
    """As MindSpore has it: what lies over the centers of pixels is smoother, and takes nothing from beyond the edge."""
    a, size = (-0.5 if of_centers else -0.75), x.shape[axis]

    def weight(d):
        d = abs(d)
        return ((a + 2) * d - (a + 3)) * d * d + 1 if d <= 1 else ((a * d - 5 * a) * d + 8 * a) * d - 4 * a
    taps = []
    for p in places:
        low = _math.floor(p)
        pairs = [(low + k, weight(p - low - k)) for k in (-1, 0, 1, 2)]
        if of_centers:
            pairs = [(at, w if 0 <= at < size else 0.0) for at, w in pairs]
            total = sum(w for _, w in pairs)
            pairs = [(at, w / total) for at, w in pairs]
        taps.append(pairs)
    return _weighted(x, axis, taps)


def resized(x, sizes, kind, way, scales=None, rounded=False):
    """@kind: nearest, linear or cubic; @way: corners, half (centers of pixels) or corner (of the first pixel); @rounded: the nearest of
    two, not the one before."""
    make = {"nearest": lambda *places: _nearest(*places, rounded), "linear": _linear,
            "cubic": lambda *places: _cubic(*places, way == "half")}[kind]
    first = x.ndim - len(sizes)
    for i, out in enumerate(sizes):
        if x.shape[first + i] != out:
            x = make(x, first + i, _places(x.shape[first + i], int(out), way, None if scales is None else scales[i]))
    return x


_KINDS = {"nearest": ("nearest", (3, 4, 5)), "nearest-exact": ("exact", (3, 4)), "linear": ("linear", (3,)), "bilinear": ("linear", (4,)),
          "trilinear": ("linear", (5,)), "bicubic": ("cubic", (4,)), "area": ("area", (3, 4, 5))}


def _refuse(what, mode, ndim):
    raise ValueError(f"For 'interpolate', '{what}' option cannot currently be set with the mode = {mode} and dim = {ndim}D.")


def _sizes(input, size, scale_factor, n):
    from mindspore.ops._neural import _tuple
    if (size is None) == (scale_factor is None):
        raise ValueError("For 'interpolate', 'size' and 'scale_factor' cannot be set simultaneously" if size is not None else
                         "For 'interpolate', 'size' and 'scale_factor' cannot be both empty.")
    if size is not None:
        return tuple(int(s) for s in _tuple(size, n)), None
    scales = _tuple(scale_factor, n)
    return tuple(_math.floor(d * f) for d, f in zip(input.shape[2:], scales)), scales


def interpolate(input, size=None, scale_factor=None, mode="nearest", align_corners=None, recompute_scale_factor=None):
    if mode not in _KINDS:
        raise ValueError(f"For 'interpolate', the 'mode' must be one of {list(_KINDS)}, but got {mode}.")
    (kind, ranks), ndim = _KINDS[mode], input.ndim
    if ndim not in ranks:
        raise ValueError(f"For 'interpolate', the input of mode '{mode}' must have {' or '.join(map(str, ranks))} dimensions, but got {ndim}.")
    if align_corners and kind not in ("linear", "cubic"):
        raise ValueError(f"For 'interpolate', 'align_corners' option cannot currently be set with the mode = {mode}, and dim = {ndim}D")
    if scale_factor is not None and not recompute_scale_factor and kind != "area" and ndim != 5:
        _refuse("scale_factor", mode, ndim)
    sizes, scales = _sizes(input, size, scale_factor, ndim - 2)
    if kind == "area":
        from mindspore.ops import _neural
        return (_neural.adaptive_avg_pool1d, _neural.adaptive_avg_pool2d, _neural.adaptive_avg_pool3d)[ndim - 3](
            input, sizes[0] if ndim == 3 else sizes)
    if kind == "exact":
        for i, out in enumerate(sizes):
            input = _nearest(input, 2 + i, _places(input.shape[2 + i], out, "half"), True)
        return input
    way = "corners" if align_corners else "corner" if kind == "nearest" else "half"
    return resized(input, sizes, kind, way, None if recompute_scale_factor else scales)


upsample = interpolate
