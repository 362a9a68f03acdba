# SPDX-License-Identifier: Apache-2.0
"""Diagonals, parts of tensors that are set, norms of matrices, and what else is made of a few operations."""
import builtins as _builtins
import math as _math
from mindspore import _amp, _core
from mindspore._core import Tensor, add, sub, mul, div, convert, int64
from mindspore.ops import _array as _a, _elementwise as _e, _gather as _g, _linear as _l, _neural as _n, _reduction as _r, _special as _s
from mindspore.ops._neural import _reduced, _tuple


def _band(k):
    k = k.tolist() if isinstance(k, Tensor) else k
    low, high = (k, k) if isinstance(k, int) else (k[0], k[-1])
    if low > high:
        raise ValueError(f"For 'matrix_diag', the first diagonal of 'k' must not be above the last, but got {k}.")
    return int(low), int(high)


def _places(low, high, rows, columns, align):
    """How long the longest diagonal of a band is, and of each element of the matrix on it (row, column, its place among the diagonals that
    lie under each other, the highest first). @align: at which end those above, and those below, the main diagonal stand."""
    if align not in ("RIGHT_LEFT", "LEFT_RIGHT", "LEFT_LEFT", "RIGHT_RIGHT"):
        raise ValueError(f"For 'matrix_diag', the 'align' must be one of RIGHT_LEFT, LEFT_RIGHT, LEFT_LEFT and RIGHT_RIGHT, but got {align!r}.")
    above, below = align.split("_")
    longest = max((min(rows + min(d, 0), columns - max(d, 0)) for d in range(low, high + 1)), default=0)
    found = []
    for d in range(low, high + 1):
        n = min(rows + min(d, 0), columns - max(d, 0))
        shift = longest - n if (above if d >= 0 else below) == "RIGHT" else 0
        found += [(max(-d, 0) + i, max(d, 0) + i, (high - d) * longest + shift + i) for i in range(max(n, 0))]
    return longest, found


def _picked(x, n_taken, places, count):
    """The elements of the last @n_taken dimensions at @places (target: source) of @count, and a mask of which there are."""
    flat = _core.reshape(x, x.shape[:x.ndim - n_taken] + (-1,))
    source = [places.get(t, 0) for t in range(count)]
    return flat[(Ellipsis, _core.tensor_of(source))], _core.tensor_of([t in places for t in range(count)], _core.bool_)


def _count(n, default):
    n = int(n) if n is not None else -1
    return default if n == -1 else n


def matrix_diag(x, k=0, num_rows=-1, num_cols=-1, padding_value=0, align="RIGHT_LEFT"):
    low, high = _band(k)
    single, longest = low == high, x.shape[-1]
    rows, columns = _count(num_rows, -1), _count(num_cols, -1)
    least = longest - min(high, 0), longest + max(low, 0)
    if rows == columns == -1:
        rows = columns = max(least)
    rows, columns = least[0] if rows == -1 else rows, least[1] if columns == -1 else columns
    _, found = _places(low, high, rows, columns, align)
    values, there = _picked(x, 1 if single else 2, {r * columns + c: at for r, c, at in found}, rows * columns)
    made = _core.select(_core.broadcast_to(there, values.shape), values, convert(_core.tensor_of(padding_value), x.dtype))
    return _core.reshape(made, values.shape[:-1] + (rows, columns))


def matrix_diag_part(x, k, padding_value=0, align="RIGHT_LEFT"):
    low, high = _band(k)
    rows, columns = x.shape[-2:]
    longest, found = _places(low, high, rows, columns, align)
    count = (high - low + 1) * longest
    values, there = _picked(x, 2, {at: r * columns + c for r, c, at in found}, count)
    made = _core.select(_core.broadcast_to(there, values.shape), values, convert(_core.tensor_of(padding_value), x.dtype))
    return made if low == high else _core.reshape(made, values.shape[:-1] + (high - low + 1, longest))


def matrix_set_diag(x, diagonal, k=0, align="RIGHT_LEFT"):
    low, high = _band(k)
    rows, columns = x.shape[-2:]
    _, found = _places(low, high, rows, columns, align)
    values, there = _picked(diagonal, 1 if low == high else 2, {r * columns + c: at for r, c, at in found}, rows * columns)
    flat = _core.reshape(x, x.shape[:-2] + (-1,))
    return _core.reshape(_core.select(_core.broadcast_to(there, flat.shape), values, flat), x.shape)


def diagonal_scatter(input, src, offset=0, dim1=0, dim2=1):
    last = (input.ndim - 2, input.ndim - 1)
    moved = (dim1 % input.ndim, dim2 % input.ndim) != last
    x = _a.movedim(input, (dim1, dim2), (-2, -1)) if moved else input
    rows, columns = x.shape[-2:]
    wide = _a.pad(src, (max(offset, 0), columns - src.shape[-1] - max(offset, 0)))  # one value for each column
    on = _core.compare("EQ", sub(_a._iota((rows, columns), 1), _a._iota((rows, columns), 0)), offset)
    made = _core.select(_core.broadcast_to(on, x.shape), _core.broadcast_to(_core.reshape(wide, wide.shape[:-1] + (1, columns)), x.shape), x)
    return _a.movedim(made, (-2, -1), (dim1, dim2)) if moved else made


def select_scatter(input, src, axis, index):
    from mindspore import _index
    return _index.set(input, (slice(None),) * (axis % input.ndim) + (index,), src)


def slice_scatter(input, src, axis=0, start=None, end=None, step=1):
    from mindspore import _index
    return _index.set(input, (slice(None),) * (axis % input.ndim) + (slice(start, end, step),), src)


def pdist(input, p=2.0):
    n = input.shape[-2]
    pairs = [(i, j) for i in _builtins.range(n) for j in _builtins.range(i + 1, n)]
    left, right = (_g.gather(input, Tensor([pair[e] for pair in pairs], int64), input.ndim - 2) for e in (0, 1))
    return _r.vector_norm(sub(left, right), p, -1)


def mvlgamma(input, p):
    made = _s.lgamma(input)
    for j in _builtins.range(2, p + 1):
        made = add(made, _s.lgamma(add(input, (1 - j) / 2)))
    return add(made, p * (p - 1) / 4 * _math.log(_math.pi))


def multilabel_margin_loss(input, target, reduction="mean"):
    single = input.ndim == 1
    x, t = (_core.reshape(v, (1, -1)) if single else v for v in (input, target))
    t = convert(t, int64)
    valid = _core.compare("GE", _core.reduce("min", _core.select(  # until the first -1
        _core.broadcast_to(_core.reshape(_core.compare("LE", _a._iota((t.shape[1],) * 2, 1), _a._iota((t.shape[1],) * 2, 0)),
                                         (1,) + (t.shape[1],) * 2), (t.shape[0],) + (t.shape[1],) * 2),
        _core.broadcast_to(_core.reshape(t, (t.shape[0], 1, t.shape[1])), (t.shape[0],) + (t.shape[1],) * 2), 0), 2), 0)
    at = _e.maximum(t, 0)
    hot = _core.select(_core.reshape(valid, valid.shape + (1,)), convert(_core.compare("EQ", _core.reshape(at, at.shape + (1,)),
                       _core.reshape(_a._iota((x.shape[1],), 0), (1, 1, -1))), x.dtype), 0.0)
    own = _core.compare("GT", _core.reduce("max", hot, 1), 0.0)
    gap = sub(1.0, sub(_core.reshape(_g.gather_elements(x, 1, at), at.shape + (1,)), _core.reshape(x, (x.shape[0], 1, -1))))
    counted = _e.logical_and(_core.reshape(valid, valid.shape + (1,)), _e.logical_not(_core.reshape(own, (own.shape[0], 1, -1))))
    loss = div(_core.reduce("add", _core.select(counted, _e.maximum(gap, 0.0), 0.0), (1, 2)), float(x.shape[1]))
    return _core.reshape(loss, ()) if single else _reduced(loss, reduction)


def fills(x, value):
    return _core.full(x.shape, value, x.dtype)


def eps(x):
    bits = {"f16": 10, "bf16": 7, "f32": 23, "f64": 52}[x.element]
    return _core.full(x.shape, 2.0 ** -bits, x.dtype)


def pows(input, exponent):
    return _e.pow(input, exponent)


def soft_shrink(input, lambd=0.5):
    return _n.softshrink(input, lambd)


def swiglu(x, dim=-1):
    a, b = _a.chunk(x, 2, dim)
    return mul(_n.silu(a), b)


def conv_transpose2d(input, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1):
    return _n.conv_transpose(input, weight, bias, stride, "pad", padding, output_padding, dilation, groups)


def conv3d_transpose(inputs, weight, pad_mode="valid", padding=0, stride=1, dilation=1, group=1, output_padding=0):
    return _n.conv_transpose(inputs, weight, None, stride, pad_mode, padding, output_padding, dilation, group)


def col2im(input_x, output_size, kernel_size, dilation, padding_value, stride):
    kernel = _tuple(kernel_size, 2)
    n, c = input_x.shape[:2]
    return _n.fold(_core.reshape(input_x, (n, c * kernel[0] * kernel[1], -1)), output_size, kernel, dilation, padding_value, stride)


def batch_to_space_nd(input_x, block_shape, crops):
    blocks = [block_shape] * (input_x.ndim - 2) if isinstance(block_shape, int) else list(block_shape)
    m, first = len(blocks), input_x.ndim - len(blocks)
    rest, n = input_x.shape[1:], input_x.shape[0] // _math.prod(blocks)
    x = _core.reshape(input_x, tuple(blocks) + (n,) + rest)
    order = list(_builtins.range(m, m + first))
    for i in _builtins.range(m):
        order += [m + first + i, i]
    shape = (n,) + rest[:first - 1] + tuple(s * b for s, b in zip(input_x.shape[first:], blocks))
    x = _core.reshape(_core.transpose(x, tuple(order)), shape)
    cut = tuple(slice(int(low), size - int(high)) for (low, high), size in zip(crops, shape[first:]))
    return x[(slice(None),) * first + cut]


def mirror_pad(input_x, paddings, mode):
    paddings = paddings.tolist() if isinstance(paddings, Tensor) else paddings
    for axis, (low, high) in enumerate(paddings):
        skip, n = (1 if mode == "REFLECT" else 0), input_x.shape[axis]
        places = [skip + low - 1 - i for i in _builtins.range(low)] + list(_builtins.range(n)) + [n - 1 - skip - i for i in _builtins.range(high)]
        if low or high:
            input_x = _g.gather(input_x, Tensor(places, int64), axis)
    return input_x


_amp.listed(globals())
__all__ = ["matrix_diag", "matrix_diag_part", "matrix_set_diag", "diagonal_scatter", "select_scatter", "slice_scatter",
           "pdist", "mvlgamma", "multilabel_margin_loss", "fills", "eps", "pows", "soft_shrink", "swiglu",
           "conv_transpose2d", "conv3d_transpose", "col2im", "batch_to_space_nd", "mirror_pad"]
