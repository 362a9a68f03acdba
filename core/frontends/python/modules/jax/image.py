# SPDX-License-Identifier: Apache-2.0
"""jax.image: other sizes of pictures."""
import math
from jax import _core, _types
from jax._names import missing as _missing, refuse as _refuse

_KERNELS = {
    "linear": lambda x: max(0.0, 1.0 - x),
    "cubic": lambda x: ((1.5 * x - 2.5) * x) * x + 1.0 if x < 1 else ((-0.5 * x + 2.5) * x - 4.0) * x + 2.0 if x < 2 else 0.0,
}
_NAMES = {"nearest": "nearest", "linear": "linear", "bilinear": "linear", "trilinear": "linear", "triangle": "linear", "cubic": "cubic",
          "bicubic": "cubic", "tricubic": "cubic"}


def _weights(n, wanted, kernel, antialias):
    """What each of @n elements adds to each of @wanted: pixels are centred at halves, a smaller picture has a wider kernel."""
    scale = n / wanted
    width = max(scale, 1.0) if antialias else 1.0
    columns = []
    for i in range(wanted):
        at = (i + 0.5) * scale - 0.5
        column = [kernel(abs(at - k) / width) for k in range(n)]
        total = sum(column)
        columns.append([w / total if abs(total) > 1e-4 else 0.0 for w in column])
    return _core.asarray(columns, _types.float32)


def resize(image, shape, method, antialias=True, precision=None):
    """@method: nearest, linear (bilinear) or cubic (bicubic)."""
    image, shape = _core.asarray(image), tuple(int(n) for n in shape)
    if len(shape) != len(image.shape):
        raise ValueError(f"shape must have length equal to the number of dimensions of x; {shape} vs {image.shape}")
    if method not in _NAMES:
        _refuse("jax.image.resize", "method", method)
    method = _NAMES[method]
    if method != "nearest":
        image = _core.promoted(image, to_float=True)[0]
    element = image.dtype
    for d, (n, wanted) in enumerate(zip(image.shape, shape)):
        if n == wanted:
            continue
        if method == "nearest":
            places = _core.asarray([min(math.floor((i + 0.5) * n / wanted), n - 1) for i in range(wanted)])
            image = image[(slice(None),) * d + (places,)]
            continue
        weights = _core.convert(_weights(n, wanted, _KERNELS[method], antialias), element)
        rank = len(image.shape)
        moved = _core.dot_general(image, weights, (((d,), (1,)), ((), ())))
        image = _core.transpose(moved, tuple(range(d)) + (rank - 1,) + tuple(range(d, rank - 1)))
    return image


def __getattr__(name):
    raise _missing("jax.image", name, globals())
