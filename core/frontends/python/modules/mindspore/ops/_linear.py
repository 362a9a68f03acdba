# SPDX-License-Identifier: Apache-2.0
"""Linear algebra, windows, and what only NumPy computes: the latter of known values, and of variables when the graph runs."""
import builtins as _builtins
import functools as _functools
import math as _math
from mindspore import _amp, _core
from mindspore._core import Tensor, _op, _operand, convert, float32, float64, int64
from mindspore.ops import _array as _a, _elementwise as _e, _reduction as _r


# Elimination, column by column: sizes are known, so it is written out, and its derivative comes with it.

def _solve(a, b):
    """a x = b without pivoting between equals: rows are ordered by what is largest, chosen by data."""
    n = a.shape[-1]
    whole = _a.cat((a, b), -1)
    sign = None
    pivots = []
    for k in _builtins.range(n):
        whole, swapped = _with_pivot(whole, k)
        sign = swapped if sign is None else _core.mul(sign, swapped)
        pivot = whole[..., k:k + 1, k:k + 1]
        pivots.append(pivot)
        row = _core.div(whole[..., k:k + 1, :], pivot)
        factor = whole[..., :, k:k + 1]
        mask = Tensor([[0.0 if i == k else 1.0] for i in _builtins.range(n)], whole.dtype)
        here = Tensor([[1.0 if i == k else 0.0] for i in _builtins.range(n)], whole.dtype)
        whole = _core.add(_core.mul(_core.sub(whole, _core.mul(factor, row)), mask), _core.mul(row, here))
    diagonal = _core.reshape(_a.cat(tuple(pivots), -1), a.shape[:-2] + (n,))
    return whole[..., n:], diagonal, _core.reshape(sign, a.shape[:-2])


def _with_pivot(whole, k):
    """Row k changes places with the row below whose element is largest."""
    n = whole.shape[-2]
    column = _e.abs(whole[..., k:, k])
    at = _core.add(_r.argmax(column, -1), k)
    at = _core.reshape(at, at.shape + (1,))
    index = Tensor(list(_builtins.range(n)), int64)
    order = _core.select(_core.compare("EQ", index, k), at, _core.select(_core.compare("EQ", index, at), k, index))
    exchange = convert(_core.compare("EQ", _core.reshape(order, order.shape + (1,)), index), whole.dtype)
    swapped = _core.select(_core.compare("EQ", at, k), 1.0, -1.0)
    return _core.matmul(exchange, whole), convert(swapped, whole.dtype)


def _square(name, x):
    x = _operand(x)
    if x.ndim < 2 or x.shape[-1] != x.shape[-2]:
        raise ValueError(f"For '{name}', the last two dimensions must be equal, but got a tensor of shape {x.shape}.")
    return x if x.dtype.is_float else convert(x, float32)


def inverse(input):
    input = _square("inverse", input)
    n = input.shape[-1]
    return _solve(input, _core.broadcast_to(_a.eye(n, n, input.dtype), input.shape))[0]


matrix_inverse = pinv_square = inverse


def det(input):
    input = _square("det", input)
    _, pivots, sign = _solve(input, input[..., :, :1])
    return _core.mul(sign, _r.prod(pivots, -1))


matrix_determinant = det


def slogdet(input):
    input = _square("slogdet", input)
    _, pivots, sign = _solve(input, input[..., :, :1])
    return _core.mul(sign, _r.prod(_e.sign(pivots), -1)), _r.sum(_e.log(_e.abs(pivots)), -1)


log_matrix_determinant = slogdet


def logdet(input):
    return slogdet(input)[1]


def matrix_solve(matrix, rhs, adjoint=False):
    matrix = _square("matrix_solve", matrix)
    return _solve(_core.swapaxes(matrix, -1, -2) if adjoint else matrix, rhs)[0]


def cholesky(input_x, upper=False):
    x = _square("cholesky", input_x)
    n = x.shape[-1]
    columns = []
    for j in _builtins.range(n):
        rest = x[..., :, j:j + 1]
        for c in columns:
            rest = _core.sub(rest, _core.mul(c, c[..., j:j + 1, :]))
        column = _core.div(rest, _e.sqrt(rest[..., j:j + 1, :]))
        columns.append(_core.mul(column, Tensor([[0.0 if i < j else 1.0] for i in _builtins.range(n)], x.dtype)))
    lower = _a.cat(tuple(columns), -1)
    return _core.swapaxes(lower, -1, -2) if upper else lower


def cholesky_inverse(input_x, upper=False):
    lower = _core.swapaxes(input_x, -1, -2) if upper else input_x
    return inverse(_core.matmul(lower, _core.swapaxes(lower, -1, -2)))


def cholesky_solve(input, input2, upper=False):
    lower = _a.tril(_core.swapaxes(input2, -1, -2) if upper else input2)
    return _solve(_core.matmul(lower, _core.swapaxes(lower, -1, -2)), input)[0]


def _weighted_cov(x, correction, counts, weights):
    """Of the rows of @x, whose columns were seen @counts times each and count @weights."""
    if counts is None and weights is None:
        centred = _core.sub(x, _r.mean(x, 1, True))
        return _core.div(_core.matmul(centred, _core.swapaxes(centred, 0, 1)), float(x.shape[1] - correction))
    w = _core.full((x.shape[1],), 1, x.dtype)
    for given in (counts, weights):
        w = w if given is None else _core.mul(w, convert(_operand(given), x.dtype))
    total = _r.sum(w)
    centred = _core.sub(x, _core.div(_r.sum(_core.mul(x, w), 1, True), total))
    lost = correction if weights is None else _core.div(_core.mul(_r.sum(_core.mul(w, convert(_operand(weights), x.dtype))), float(correction)), total)
    return _core.div(_core.matmul(centred, _core.swapaxes(_core.mul(centred, w), 0, 1)), _core.sub(total, lost))


def cov(input, *, correction=1, fweights=None, aweights=None):
    x = _operand(input)
    x = _core.reshape(x, (1,) + x.shape) if x.ndim < 2 else x
    x = convert(x, _core.float32) if x.element in ("f16", "bf16") or not x.dtype.is_float else x
    product = _weighted_cov(x, correction, fweights, aweights)
    return _core.reshape(product, ()) if product.size == 1 else product


def diag_embed(input, offset=0, dim1=-2, dim2=-1):
    x = _operand(input)
    n = x.shape[-1] + _builtins.abs(offset)
    first = _builtins.max(0, -offset)
    wide = _a.cat(tuple(p for p in (_core.full(x.shape[:-1] + (first,), 0, x.dtype), x,
                                    _core.full(x.shape[:-1] + (n - first - x.shape[-1],), 0, x.dtype)) if p.shape[-1]), -1)
    mask = Tensor([[j == i + offset for j in _builtins.range(n)] for i in _builtins.range(n)])
    made = _core.select(mask, _core.reshape(wide, wide.shape + (1,)), _core.full((), 0, x.dtype))
    rank = made.ndim
    return made if (dim1 % rank, dim2 % rank) == (rank - 2, rank - 1) else _a.movedim(made, (-2, -1), (dim1, dim2))


def diagflat(input, offset=0):
    return diag_embed(_core.reshape(_operand(input), (-1,)), offset)


def vecdot(x, y, *, axis=-1):
    return _r.sum(_core.mul(x, y), axis)


def ldexp(x, other):
    x = _operand(x)
    return _core.mul(x, _core.pow_(2.0, convert(_operand(other), x.dtype if x.dtype.is_float else float32)))


def real(input):
    return _operand(input)


conj = adjoint_real = real


def adjoint(x):
    return _core.swapaxes(x, -1, -2)


def type_as(input, other):
    return convert(input, other.dtype)


def reverse_sequence(x, seq_lengths, seq_dim, batch_dim=0):
    x = _operand(x)
    n = x.shape[seq_dim]
    index = _op("iota", (), {"to": ("i64", x.shape), "iota_dimension": seq_dim % x.ndim})
    shape = [1] * x.ndim
    shape[batch_dim] = x.shape[batch_dim]
    lengths = _core.reshape(convert(_operand(seq_lengths), int64), tuple(shape))
    turned = _core.select(_core.compare("LT", index, lengths), _core.sub(_core.sub(lengths, 1), index), index)
    from mindspore.ops._gather import gather_elements
    return gather_elements(x, seq_dim, turned)


def intopk(x1, x2, k):
    x2 = _operand(x2)
    from mindspore.ops._gather import gather_elements
    own = gather_elements(x1, 1, _core.reshape(convert(x2, int64), (-1, 1)))
    better = _r.sum(convert(_core.compare("GT", x1, own), int64), 1)
    return _core.compare("LT", better, k)


def multi_margin_loss(input, target, p=1, margin=1, weight=None, reduction="mean"):
    from mindspore.ops._gather import gather, gather_elements
    target = _core.reshape(convert(_operand(target), int64), (-1, 1))
    own = gather_elements(input, 1, target)
    gap = _e.maximum(_core.add(_core.sub(input, own), float(margin)), 0.0)
    gap = _core.mul(gap, gap) if p == 2 else gap
    if weight is not None:
        gap = _core.mul(gap, gather(weight, target, 0))
    columns = _op("iota", (), {"to": ("i64", input.shape), "iota_dimension": 1})
    gap = _core.select(_core.compare("EQ", columns, target), 0.0, gap)
    loss = _core.div(_r.sum(gap, 1), float(input.shape[1]))
    return _r.mean(loss) if reduction == "mean" else _r.sum(loss) if reduction == "sum" else loss


def iou(anchor_boxes, gt_boxes, mode="iou"):
    a, g = (_core.reshape(_operand(v), shape) for v, shape in ((anchor_boxes, (1, -1, 4)), (gt_boxes, (-1, 1, 4))))

    def area(b):
        return _core.mul(_core.add(_core.sub(b[..., 2], b[..., 0]), 1.0), _core.add(_core.sub(b[..., 3], b[..., 1]), 1.0))
    # Both corners belong to a box.
    w = _core.add(_core.sub(_e.minimum(a[..., 2], g[..., 2]), _e.maximum(a[..., 0], g[..., 0])), 1.0)
    h = _core.add(_core.sub(_e.minimum(a[..., 3], g[..., 3]), _e.maximum(a[..., 1], g[..., 1])), 1.0)
    common = _core.mul(_e.maximum(w, 0.0), _e.maximum(h, 0.0))
    whole = area(g) if mode == "iof" else _core.sub(_core.add(area(a), area(g)), common)
    return _core.div(common, whole)


def space_to_batch_nd(input_x, block_size, paddings):
    n = input_x.shape[0]
    blocks = [block_size] * (input_x.ndim - 2) if isinstance(block_size, int) else list(block_size)
    first = input_x.ndim - len(blocks)
    x = _a.pad(input_x, [w for pair in reversed(list(paddings)) for w in pair]) if _builtins.any(w for p in paddings for w in p) else input_x
    shape = list(x.shape[:first])
    for size, block in zip(x.shape[first:], blocks):
        shape += [size // block, block]
    x = _core.reshape(x, tuple(shape))
    moved = [first + 2 * i + 1 for i in _builtins.range(len(blocks))]
    order = moved + list(_builtins.range(first)) + [first + 2 * i for i in _builtins.range(len(blocks))]
    x = _core.transpose(x, tuple(order))
    return _core.reshape(x, (n * _math.prod(blocks),) + tuple(x.shape[len(blocks) + 1:]))


# Windows

def _window(value, element=float32):
    def make(window_length, periodic=True, *, dtype=None, **more):
        n = int(window_length)
        steps = n if periodic else _builtins.max(n - 1, 1)
        return Tensor([value(i, steps, **more) if n > 1 else 1.0 for i in _builtins.range(n)], _core.as_type(dtype) if dtype is not None else element)
    return make


bartlett_window = _window(lambda i, n: 1 - _builtins.abs(2 * i / n - 1))
blackman_window = _window(lambda i, n: 0.42 - 0.5 * _math.cos(2 * _math.pi * i / n) + 0.08 * _math.cos(4 * _math.pi * i / n))
hann_window = _window(lambda i, n: 0.5 - 0.5 * _math.cos(2 * _math.pi * i / n), float64)
_hamming = _window(lambda i, n, alpha=0.54, beta=0.46: alpha - beta * _math.cos(2 * _math.pi * i / n))


def hamming_window(window_length, periodic=True, alpha=0.54, beta=0.46, *, dtype=None):
    return _hamming(window_length, periodic, dtype=dtype, alpha=alpha, beta=beta)


def _bessel(x):
    total = term = 1.0
    for k in _builtins.range(1, 60):
        term *= (x / (2 * k)) ** 2
        total += term
    return total


_kaiser = _window(lambda i, n, beta=12.0: _bessel(beta * _math.sqrt(_builtins.max(0.0, 1 - (2 * i / n - 1) ** 2))) / _bessel(beta), float64)


def kaiser_window(window_length, periodic=True, beta=12.0, *, dtype=None):
    return _kaiser(window_length, periodic, dtype=dtype, beta=beta)


# By NumPy

def _by_numpy(function):
    """Of known values at once; of variables when the graph runs, on level LAX."""
    @_functools.wraps(function)
    def call(*args, **kwargs):
        import numpy
        if _core._has_variable(list(args)):
            raise _core.NeedsData(f"'{function.__name__}' is computed by NumPy, which has to know its operands")
        result = function(numpy, *(a.asnumpy() if isinstance(a, Tensor) else a for a in args), **kwargs)
        return tuple(Tensor(r) for r in result) if isinstance(result, tuple) else Tensor(result)
    return call


@_by_numpy
def gcd(np, input, other):
    return np.gcd(input, other)


@_by_numpy
def lcm(np, input, other):
    return np.lcm(input, other)


@_by_numpy
def nextafter(np, input, other):
    return np.nextafter(input, other)


@_by_numpy
def quantile(np, input, q, axis=None, keepdims=False):
    return np.quantile(input, q, axis=axis, keepdims=keepdims).astype(input.dtype)


@_by_numpy
def nanquantile(np, input, q, axis=None, keepdims=False):
    return np.nanquantile(input, q, axis=axis, keepdims=keepdims).astype(input.dtype)


@_by_numpy
def svd(np, input, full_matrices=False, compute_uv=True):
    if not compute_uv:
        return np.linalg.svd(input, compute_uv=False)
    u, s, v = np.linalg.svd(input, full_matrices=full_matrices)
    return s, u, np.swapaxes(v, -1, -2)


@_by_numpy
def qr(np, input, mode="reduced"):
    return tuple(np.linalg.qr(input, mode=mode))


@_by_numpy
def pinv(np, x, *, atol=None, rtol=None, hermitian=False):
    most = np.abs(np.linalg.svd(x, compute_uv=False)).max(axis=-1, keepdims=False)
    if rtol is None:
        rtol = np.finfo(x.dtype).eps * _builtins.max(x.shape[-2:]) if atol is None else 0.0
    # What is not above the larger of both bounds counts as zero.
    least = np.maximum(np.asarray(0.0 if atol is None else atol), np.asarray(rtol) * most)
    return np.linalg.pinv(x, least / np.where(most > 0, most, 1), hermitian=hermitian).astype(x.dtype)


@_by_numpy
def matrix_exp(np, input):
    total = term = np.broadcast_to(np.eye(input.shape[-1]), input.shape).astype(np.float64)
    scale = 2.0 ** _builtins.max(0, int(np.ceil(np.log2(np.abs(input).sum(-1).max() + 1e-30))))
    for k in _builtins.range(1, 25):
        term = term @ (input / scale) / k
        total = total + term
    for _ in _builtins.range(int(np.log2(scale))):
        total = total @ total
    return total.astype(input.dtype)


@_by_numpy
def lstsq(np, input, A):
    return np.linalg.lstsq(input, A, rcond=None)[0].astype(input.dtype)


_amp.listed(globals())
__all__ = [n for n, v in list(globals().items()) if callable(v) and not n.startswith("_") and n not in ("Tensor", "convert")
           and getattr(v, "__module__", "") != "mindspore._core"]
