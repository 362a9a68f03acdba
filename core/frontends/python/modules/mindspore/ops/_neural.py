# SPDX-License-Identifier: Apache-2.0
"""What networks are made of: activations, products, convolutions, pooling, norms, losses."""
import builtins as _builtins
import functools as _functools
import math as _math
import _gantry
from mindspore import _amp, _core
from mindspore._text import only as _only
from mindspore._core import Tensor, _op, _operand, convert, float32, float64, int32, int64, bool_, reduce as _reduce
from mindspore.ops import _elementwise as _e, _reduction as _r, _array as _a, _gather as _g
from mindspore.ops._resize import interpolate, upsample


# Activations

def _of_its_type(function):
    """@function, whose result of integers is of their type."""
    @_functools.wraps(function)
    def call(input, *args, **kwargs):
        result = function(input, *args, **kwargs)
        return result if input.dtype.is_float else convert(result, input.dtype)
    return call


def relu(input):
    if input.element == "bool":
        return input
    return _op("maximum", (input, _core.full(input.shape, 0, input.dtype)))


def relu6(x):
    return _e.clamp(relu(x), max=6.0)


@_of_its_type
def leaky_relu(input, alpha=0.2):
    return (_e.maximum if alpha <= 1 else _e.minimum)(_core.mul(input, alpha), input)


def prelu(x, weight):
    shape = (1, -1) + (1,) * (x.ndim - 2) if x.ndim > 1 else (-1,)
    weight = _core.reshape(weight, tuple(weight.size if d == -1 else d for d in shape))
    return _core.select(_core.compare("GT", x, 0), x, _core.mul(x, weight))


@_of_its_type
def rrelu(input, lower=1.0 / 8, upper=1.0 / 3):
    return leaky_relu(input, (lower + upper) / 2)


def elu(input_x, alpha=1.0):
    positive = _core.compare("GE", input_x, 0)
    return _core.select(positive, input_x, _core.mul(_e.expm1(_core.select(positive, 0.0, input_x)), alpha))


def celu(x, alpha=1.0):
    positive = _core.compare("GE", x, 0)
    return _core.select(positive, x, _core.mul(_e.expm1(_core.div(_core.select(positive, 0.0, x), alpha)), alpha))


@_of_its_type
def selu(input_x):
    return _core.mul(elu(input_x, 1.6732632423543772), 1.0507009873554805)


def gelu(input, approximate="none"):
    if approximate == "tanh":
        inner = _core.mul(_core.add(input, _core.mul(_e.pow(input, 3.0), 0.044715)), _math.sqrt(2 / _math.pi))
        return _core.mul(_core.mul(input, 0.5), _core.add(_e.tanh(inner), 1.0))
    return _core.mul(_core.mul(input, 0.5), _core.add(_e.erf(_core.mul(input, _math.sqrt(0.5))), 1.0))


def fast_gelu(x):
    return _core.mul(x, _e.sigmoid(_core.mul(x, 1.702)))


def silu(input):
    return _core.mul(input, _e.sigmoid(input))


swish = silu


def mish(x):
    return _core.mul(x, _e.tanh(softplus(x)))


def softplus(input, beta=1, threshold=20):
    x = _core.mul(input, float(beta)) if beta != 1 else input
    curved = _core.div(_e.logaddexp(x, _core.full(x.shape, 0, x.dtype)), float(beta))
    return _core.select(_core.compare("GT", x, threshold), input, curved)


def softsign(x):
    return _core.div(x, _core.add(_e.abs(x), 1.0))


def logsigmoid(x):
    return _core.neg(softplus(_core.neg(x)))


log_sigmoid = logsigmoid


@_of_its_type
def hardsigmoid(input):
    x = _core.add(_core.div(input, 6.0), 0.5)
    return _op("clamp", (_core.full(x.shape, 0, x.dtype), x, _core.full(x.shape, 1, x.dtype)))


@_of_its_type
def hardswish(x):
    return _core.mul(x, _core.div(_e.clamp(_core.add(x, 3.0), 0.0, 6.0), 6.0))


@_of_its_type
def hardtanh(input, min_val=-1.0, max_val=1.0):
    return _e.minimum(_e.maximum(input, min_val), max_val)


def hardshrink(x, lambd=0.5):
    return _core.select(_core.compare("GT", _e.abs(x), lambd), x, 0.0)


def softshrink(x, lambd=0.5):
    return _core.select(_core.compare("GT", x, lambd), _core.sub(x, lambd),
                        _core.select(_core.compare("LT", x, -lambd), _core.add(x, lambd), 0.0))


def tanhshrink(input):
    return _core.sub(input, _e.tanh(input))


def threshold(input, thr, value):
    return _core.select(_core.compare("GT", input, thr), input, value)


def glu(x, axis=-1):
    a, b = _a.chunk(x, 2, axis)
    return _core.mul(a, _e.sigmoid(b))


def softmax(input, axis=-1, *, dtype=None):
    if dtype is not None:
        input = convert(input, _core.as_type(dtype))
    axis = axis[0] if isinstance(axis, (tuple, list)) and len(axis) == 1 else axis
    best = _r._gradless(_reduce("max", input, axis, True))
    e = _e.exp(_core.sub(input, best))
    return _core.div(e, _reduce("add", e, axis, True))


def log_softmax(logits, axis=-1):
    shifted = _core.sub(logits, _r._gradless(_reduce("max", logits, axis, True)))
    return _core.sub(shifted, _e.log(_reduce("add", _e.exp(shifted), axis, True)))


def softmin(x, axis=-1, *, dtype=None):
    return softmax(_core.neg(x), axis, dtype=dtype)


def dropout(input, p=0.5, training=True, seed=None):
    from mindspore.ops._random import _unit
    if not training or p == 0:
        return input
    if p == 1:
        return _core.full(input.shape, 0, input.dtype)
    keep = _core.compare("GE", _unit(input.shape, seed), p)
    return _core.select(keep, _core.mul(input, 1.0 / (1.0 - p)), 0.0)


def _channel_dropout(input, p, training):
    from mindspore.ops._random import _unit
    if not training or p == 0:
        return input
    shape = input.shape[:2] + (1,) * (input.ndim - 2)
    keep = _core.compare("GE", _unit(shape), p)
    return _core.select(keep, _core.mul(input, 1.0 / (1.0 - p)), 0.0)


def dropout1d(input, p=0.5, training=True):
    return _channel_dropout(input, p, training)


def dropout2d(input, p=0.5, training=True):
    return _channel_dropout(input, p, training)


def dropout3d(input, p=0.5, training=True):
    return _channel_dropout(input, p, training)


# Products

def matmul(input, other):
    return _core.matmul(input, other)


def mm(input, mat2):
    return _core.matmul(input, mat2)


def mv(mat, vec):
    return _core.matmul(mat, vec)


def bmm(input_x, mat2):
    return _core.matmul(input_x, mat2)


batch_matmul = bmm


def dot(input, other):
    if input.ndim < 2 or other.ndim < 2:
        raise ValueError(f"For 'dot', the inputs x1, x2 should have 'dimension >= 2', but got {input.ndim} and {other.ndim}.")
    if input.ndim == 0 or other.ndim == 0:
        return _core.mul(input, other)
    if other.ndim == 1:
        return _core.matmul(input, other)
    return tensor_dot(input, other, ((input.ndim - 1,), (other.ndim - 2,)))


def vdot(x, y):
    return _reduce("add", _core.mul(_core.reshape(x, (-1,)), _core.reshape(y, (-1,))))


def inner(input, other):
    if input.ndim == 0 or other.ndim == 0:
        return _core.mul(input, other)
    return tensor_dot(input, other, ((input.ndim - 1,), (other.ndim - 1,)))


def outer(input, vec2):
    return _core.mul(_core.reshape(input, (-1, 1)), _core.reshape(vec2, (1, -1)))


ger = outer


def tensor_dot(x1, x2, axes):
    if isinstance(axes, int):
        axes = (tuple(_builtins.range(x1.ndim - axes, x1.ndim)), tuple(_builtins.range(axes)))
    left, right = (tuple(a) if isinstance(a, (tuple, list)) else (a,) for a in axes)
    x1, x2 = _core._pair(x1, x2)
    return _op("dot_general", (x1, x2), {"lhs_contracting_dimensions": tuple(a % x1.ndim for a in left),
                                         "rhs_contracting_dimensions": tuple(a % x2.ndim for a in right)})


tensordot = tensor_dot


def batch_dot(x1, x2, axes=None):
    a, b = (x1.ndim - 1, _builtins.max(x2.ndim - 2, 1)) if axes is None else ((axes, axes) if isinstance(axes, int) else axes)
    made = _op("dot_general", (x1, x2), {"lhs_batching_dimensions": (0,), "rhs_batching_dimensions": (0,),
                                         "lhs_contracting_dimensions": (a % x1.ndim,), "rhs_contracting_dimensions": (b % x2.ndim,)})
    return _core.reshape(made, made.shape + (1,)) if made.ndim == 1 else made


def addmm(input, mat1, mat2, *, beta=1, alpha=1):
    return _core.add(_core.mul(input, beta), _core.mul(_core.matmul(mat1, mat2), alpha))


def addmv(input, mat, vec, *, beta=1, alpha=1):
    return addmm(input, mat, vec, beta=beta, alpha=alpha)


def addr(x, vec1, vec2, *, beta=1, alpha=1):
    return _core.add(_core.mul(x, beta), _core.mul(outer(vec1, vec2), alpha))


def addbmm(input, batch1, batch2, *, beta=1, alpha=1):
    return _core.add(_core.mul(input, beta), _core.mul(_reduce("add", bmm(batch1, batch2), 0), alpha))


def baddbmm(input, batch1, batch2, beta=1, alpha=1):
    return addmm(input, batch1, batch2, beta=beta, alpha=alpha)


def chain_matmul_unused(*args):
    raise NotImplementedError


def kron(x, y):
    n = _builtins.max(x.ndim, y.ndim)
    x, y = (_core.reshape(v, (1,) * (n - v.ndim) + v.shape) for v in (x, y))
    a = _core.reshape(x, tuple(d for s in x.shape for d in (s, 1)))
    b = _core.reshape(y, tuple(d for s in y.shape for d in (1, s)))
    return _core.reshape(_core.mul(a, b), tuple(p * q for p, q in zip(x.shape, y.shape)))


def cross(input, other, dim=None):
    input, other = _core._pair(input, other)
    if dim is None:
        dim = next(d for d, n in enumerate(input.shape) if n == 3)
    a, b = (_a.unbind(v, dim) for v in (input, other))
    parts = [_core.sub(_core.mul(a[(i + 1) % 3], b[(i + 2) % 3]), _core.mul(a[(i + 2) % 3], b[(i + 1) % 3])) for i in _builtins.range(3)]
    return _a.stack(parts, dim)


def einsum(equation, *operands):
    """Products of pairs over the letters that no later operand or the result needs."""
    if len(operands) == 1 and isinstance(operands[0], (tuple, list)):
        operands = operands[0]
    left, _, right = equation.replace(" ", "").partition("->")
    terms = left.split(",")
    if len(terms) != len(operands):
        raise ValueError(f"For 'einsum', the equation '{equation}' has {len(terms)} operands, but {len(operands)} are given.")
    terms = [_letters(t, x.ndim) for t, x in zip(terms, operands)]
    if "->" not in equation:
        every = "".join(terms)
        right = "".join(sorted(c for c in set(every) if every.count(c) == 1 and c.islower() or every.count(c) == 1))
    else:
        right = right.replace("...", "".join(sorted({c for t in terms for c in t if c.isdigit()})))
    operands = [_diagonals(t, x) for t, x in zip(terms, operands)]
    terms, operands = [t for t, _ in operands], [x for _, x in operands]
    while len(operands) > 1:
        rest = set("".join(terms[2:]) + right)
        term, value = _contract(terms[0], operands[0], terms[1], operands[1], rest)
        terms, operands = [term] + terms[2:], [value] + operands[2:]
    term, value = terms[0], operands[0]
    gone = tuple(i for i, c in enumerate(term) if c not in right)
    if gone:
        value = _reduce("add", value, gone)
        term = "".join(c for c in term if c in right)
    return _core.transpose(value, [term.index(c) for c in right])


def _letters(term, rank):
    if "..." not in term:
        return term
    n = rank - (len(term) - 3)
    return term.replace("...", "".join(str(i) for i in _builtins.range(9 - n + 1, 10)))


def _diagonals(term, x):
    for c in term:
        while term.count(c) > 1:
            i = term.index(c)
            j = term.index(c, i + 1)
            x = _a.diagonal(x, 0, i, j)
            term = term[:i] + term[i + 1:j] + term[j + 1:] + c
    return term, x


def _contract(ta, a, tb, b, rest):
    a, b = _core._pair(a, b)
    batch = [c for c in ta if c in tb and c in rest]
    over = [c for c in ta if c in tb and c not in rest]
    result = _op("dot_general", (a, b), {
        "lhs_batching_dimensions": tuple(ta.index(c) for c in batch), "rhs_batching_dimensions": tuple(tb.index(c) for c in batch),
        "lhs_contracting_dimensions": tuple(ta.index(c) for c in over), "rhs_contracting_dimensions": tuple(tb.index(c) for c in over)})
    term = "".join(batch) + "".join(c for c in ta if c not in batch and c not in over)
    return term + "".join(c for c in tb if c not in batch and c not in over), result


def dense(input, weight, bias=None):
    result = _core.matmul(input, _core.swapaxes(weight, 0, 1) if weight.ndim == 2 else weight)
    return result if bias is None else _core.add(result, bias)


linear = dense


def bias_add(input_x, bias):
    return _core.add(input_x, _core.reshape(bias, (1, bias.size) + (1,) * (input_x.ndim - 2)))


def bidense(input1, input2, weight, bias=None):
    result = einsum("...i,oij,...j->...o", input1, weight, input2)
    return result if bias is None else _core.add(result, bias)


def matrix_power(input, n):
    result = _core.broadcast_to(_a.eye(input.shape[-1], None, input.dtype), input.shape)
    for _ in _builtins.range(n):
        result = _core.matmul(result, input)
    return result


# Convolutions

def _tuple(value, n):
    if isinstance(value, (tuple, list)):
        return tuple(value)[-n:] if len(value) != 1 else tuple(value) * n
    return (value,) * n


def _conv_padding(pad_mode, padding, sizes, kernel, stride, dilation):
    n = len(kernel)
    if pad_mode == "valid":
        return (0, 0) * n
    if pad_mode == "same":
        result = []
        for size, k, s, d in zip(sizes, kernel, stride, dilation):
            total = _builtins.max((-(-size // s) - 1) * s + d * (k - 1) + 1 - size, 0)
            result += [total // 2, total - total // 2]
        return tuple(result)
    if isinstance(padding, (tuple, list)) and len(padding) == 2 * n:
        return tuple(padding)
    return tuple(p for v in _tuple(padding, n) for p in (v, v))


def _conv(input, weight, bias, stride, pad_mode, padding, dilation, groups):
    n = weight.ndim - 2
    stride, dilation = _tuple(stride, n), _tuple(dilation, n)
    pads = _conv_padding(pad_mode, padding, input.shape[2:], weight.shape[2:], stride, dilation)
    result = _op("convolution", (input, weight), {"window_strides": stride, "padding": pads, "rhs_dilation": dilation,
                                                  "feature_group_count": groups})
    return result if bias is None else bias_add(result, bias)


def conv1d(input, weight, bias=None, stride=1, pad_mode="valid", padding=0, dilation=1, groups=1):
    return _conv(input, weight, bias, stride, pad_mode, padding, dilation, groups)


conv2d = conv3d = conv1d


def conv_transpose(input, weight, bias, stride, pad_mode, padding, output_padding, dilation, groups):
    """The derivative of a convolution by its input; weight [in, out / groups, ...]."""
    n = weight.ndim - 2
    stride, dilation, extra = _tuple(stride, n), _tuple(dilation, n), _tuple(output_padding, n)
    kernel = weight.shape[2:]
    if pad_mode == "same":
        pads = []
        for k, s, d in zip(kernel, stride, dilation):
            total = _builtins.max(d * (k - 1) + 1 - s, 0)
            pads += [total // 2, total - total // 2]
        pads = tuple(pads)
    else:
        pads = _conv_padding(pad_mode, padding, (), kernel, stride, dilation)
    low = [d * (k - 1) - p for d, k, p in zip(dilation, kernel, pads[0::2])]
    high = [d * (k - 1) - p + o for d, k, p, o in zip(dilation, kernel, pads[1::2], extra)]
    if pad_mode == "same":
        high = [h + _builtins.max(0, s - (d * (k - 1) + 1)) for h, s, d, k in zip(high, stride, dilation, kernel)]
    turned = _op("reverse", (weight,), {"dimensions": tuple(_builtins.range(2, weight.ndim))})
    i, o = weight.shape[:2]
    turned = _core.reshape(turned, (groups, i // groups, o) + kernel)
    turned = _core.reshape(_core.swapaxes(turned, 1, 2), (groups * o, i // groups) + kernel)
    result = _op("convolution", (input, turned), {"window_strides": (1,) * n, "lhs_dilation": stride, "rhs_dilation": dilation,
                                                  "padding": tuple(v for p in zip(low, high) for v in p), "feature_group_count": groups})
    return result if bias is None else bias_add(result, bias)


def deformable_conv2d_unavailable(*args):
    raise NotImplementedError


def unfold(input, kernel_size, dilation=1, padding=0, stride=1):
    k, d, s = (_tuple(v, 2) for v in (kernel_size, dilation, stride))
    pads = _conv_padding("pad", padding, (), k, s, d)
    x = _a.pad(input, ((0, 0), (0, 0), pads[:2], pads[2:]))
    n, c, h, w = x.shape
    rows = (h - d[0] * (k[0] - 1) - 1) // s[0] + 1
    columns = (w - d[1] * (k[1] - 1) - 1) // s[1] + 1
    parts = []
    for i in _builtins.range(k[0]):
        for j in _builtins.range(k[1]):
            part = _op("slice", (x,), {"start_indices": (0, 0, i * d[0], j * d[1]),
                                       "limit_indices": (n, c, i * d[0] + (rows - 1) * s[0] + 1, j * d[1] + (columns - 1) * s[1] + 1),
                                       "strides": (1, 1) + s})
            parts.append(_core.reshape(part, (n, c, 1, rows * columns)))
    return _core.reshape(_a.concat(parts, 2), (n, c * k[0] * k[1], rows * columns))


def fold(input, output_size, kernel_size, dilation=1, padding=0, stride=1):
    """What unfold took apart, added up where pieces overlap."""
    k, d, s = (_tuple(v, 2) for v in (kernel_size, dilation, stride))
    size = tuple(int(v) for v in (output_size.tolist() if isinstance(output_size, Tensor) else _tuple(output_size, 2)))
    top, bottom, left, right = _conv_padding("pad", padding, (), k, s, d)
    height, width = size[0] + top + bottom, size[1] + left + right
    rows, columns = ((n - d[i] * (k[i] - 1) - 1) // s[i] + 1 for i, n in enumerate((height, width)))
    n, c = input.shape[0], input.shape[1] // (k[0] * k[1])
    if input.shape[1] % (k[0] * k[1]) or input.shape[2] != rows * columns:
        raise ValueError(f"For 'fold', an input of shape {input.shape} does not fit the output size {size}: {rows * columns} blocks of "
                         f"{k[0]} x {k[1]} are needed.")
    parts, total = _core.reshape(input, (n, c, k[0] * k[1], rows, columns)), None
    for i in _builtins.range(k[0]):
        for j in _builtins.range(k[1]):
            at, corner = i * k[1] + j, (i * d[0], j * d[1])
            part = _op("slice", (parts,), {"start_indices": (0, 0, at, 0, 0), "limit_indices": (n, c, at + 1, rows, columns),
                                           "strides": (1,) * 5})
            high = tuple(length - first - (count - 1) * step - 1
                         for length, first, count, step in zip((height, width), corner, (rows, columns), s))
            part = _op("pad", (_core.reshape(part, (n, c, rows, columns)), _core.full((), 0, input.dtype)), {
                "edge_padding_low": (0, 0) + corner, "edge_padding_high": (0, 0) + high, "interior_padding": (0, 0, s[0] - 1, s[1] - 1)})
            total = part if total is None else _core.add(total, part)
    return _op("slice", (total,), {"start_indices": (0, 0, top, left), "limit_indices": (n, c, top + size[0], left + size[1]),
                                   "strides": (1,) * 4})


# Pooling

def _pool_window(x, kernel, stride, pads, dilation=None):
    n = len(kernel)
    lead = x.ndim - n
    return {"window_dimensions": (1,) * lead + kernel, "window_strides": (1,) * lead + stride,
            "padding": (0, 0) * lead + tuple(pads), "window_dilations": (1,) * lead + (dilation or (1,) * n)}


def _max_pool(x, kernel, stride, pads, dilation=None, with_places=False):
    if with_places:
        from mindspore.ops._image import pool_with_places
        return pool_with_places(x, kernel, stride, pads, dilation or (1,) * len(kernel))
    return _op("reduce_window", (x,), {"kind": "max", **_pool_window(x, kernel, stride, pads, dilation)})


def _avg_pool(x, kernel, stride, pads, count_include_pad=True, divisor=None):
    total = _op("reduce_window", (x,), {"kind": "add", **_pool_window(x, kernel, stride, pads)})
    if divisor:
        return _core.div(total, float(divisor))
    if count_include_pad or not _builtins.any(pads):
        return _core.div(total, float(_core._product(kernel)))
    ones = _core.full((1,) * (x.ndim - len(kernel)) + x.shape[-len(kernel):], 1, x.dtype)
    return _core.div(total, _op("reduce_window", (ones,), {"kind": "add", **_pool_window(ones, kernel, stride, pads)}))


def _ceil_pads(x, kernel, stride, pads, ceil_mode):
    if not ceil_mode:
        return tuple(pads)
    pads = list(pads)
    for i, (k, s) in enumerate(zip(kernel, stride)):
        size = x.shape[x.ndim - len(kernel) + i] + pads[2 * i] + pads[2 * i + 1]
        pads[2 * i + 1] += -(size - k) % s
    return tuple(pads)


def _pool_pads(x, kernel, stride, pad_mode, padding, ceil_mode):
    n = len(kernel)
    if pad_mode in ("same", "valid"):
        return _conv_padding(pad_mode, 0, x.shape[-n:], kernel, stride, (1,) * n)
    return _ceil_pads(x, kernel, stride, _conv_padding("pad", padding, (), kernel, stride, (1,) * n), ceil_mode)


def max_pool2d(x, kernel_size, stride=None, padding=0, dilation=1, return_indices=False, ceil_mode=False):
    kernel = _tuple(kernel_size, 2)
    stride = kernel if stride is None else _tuple(stride, 2)
    pads = _ceil_pads(x, kernel, stride, _conv_padding("pad", padding, (), kernel, stride, (1, 1)), ceil_mode)
    return _max_pool(x, kernel, stride, pads, _tuple(dilation, 2), return_indices)


def max_pool3d(x, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False):
    kernel = _tuple(kernel_size, 3)
    stride = kernel if stride is None else _tuple(stride, 3)
    return _max_pool(x, kernel, stride, _ceil_pads(x, kernel, stride, _conv_padding("pad", padding, (), kernel, stride, (1,) * 3), ceil_mode),
                     _tuple(dilation, 3), return_indices)


def avg_pool1d(input_x, kernel_size=1, stride=1, padding=0, ceil_mode=False, count_include_pad=True):
    kernel, stride = _tuple(kernel_size, 1), _tuple(stride, 1)
    return _avg_pool(input_x, kernel, stride, _pool_pads(input_x, kernel, stride, "pad", padding, ceil_mode), count_include_pad)


def avg_pool2d(input_x, kernel_size=1, stride=1, padding=0, ceil_mode=False, count_include_pad=True, divisor_override=0):
    kernel, stride = _tuple(kernel_size, 2), _tuple(stride, 2)
    return _avg_pool(input_x, kernel, stride, _pool_pads(input_x, kernel, stride, "pad", padding, ceil_mode), count_include_pad,
                     divisor_override)


def avg_pool3d(input_x, kernel_size=1, stride=1, padding=0, ceil_mode=False, count_include_pad=True, divisor_override=0):
    kernel, stride = _tuple(kernel_size, 3), _tuple(stride, 3)
    return _avg_pool(input_x, kernel, stride, _pool_pads(input_x, kernel, stride, "pad", padding, ceil_mode), count_include_pad,
                     divisor_override)


def _adaptive(x, output_size, n, reduce):
    sizes = _tuple(output_size, n)
    for i, out in enumerate(sizes):
        axis = x.ndim - n + i
        size = x.shape[axis]
        if out is None or out == size:
            continue
        parts = [_reduce(reduce, _a._part(x, axis, j * size // out, -(-(j + 1) * size // out)), axis, True) for j in _builtins.range(out)]
        if reduce == "add":
            parts = [_core.div(p, float(-(-(j + 1) * size // out) - j * size // out)) for j, p in enumerate(parts)]
        x = _a.concat(parts, axis)
    return x


def adaptive_avg_pool1d(input, output_size):
    return _adaptive(input, output_size, 1, "add")


def adaptive_avg_pool2d(input, output_size):
    return _adaptive(input, output_size, 2, "add")


def adaptive_avg_pool3d(input, output_size):
    return _adaptive(input, output_size, 3, "add")


def adaptive_max_pool1d(input, output_size):
    return _adaptive(input, output_size, 1, "max")


def _adaptive_max(input, output_size, n, return_indices):
    value = _adaptive(input, output_size, n, "max")
    if not return_indices:
        return value
    # The place of each value in its plane: the largest place of those that are as large, of the same windows.
    sizes = tuple(o or s for o, s in zip(_tuple(output_size, n), input.shape[-n:]))
    wide = value
    for i, out in enumerate(sizes):
        axis, size = input.ndim - n + i, input.shape[input.ndim - n + i]
        if out != size and size % out:
            raise NotImplementedError(f"For 'adaptive_max_pool{n}d', 'return_indices' needs sizes that divide: {size} into {out}")
        wide = _a.repeat_elements(wide, size // out, axis)
    count = _core._product(input.shape[-n:])
    places = _core.reshape(_a._iota((count,), 0), input.shape[-n:])
    mine = _core.select(_core.compare("EQ", input, wide), _core.broadcast_to(places, input.shape), count)
    return value, convert(_adaptive(mine, output_size, n, "min"), int64)


def adaptive_max_pool2d(input, output_size, return_indices=False):
    return _adaptive_max(input, output_size, 2, return_indices)


def adaptive_max_pool3d(input, output_size, return_indices=False):
    return _adaptive_max(input, output_size, 3, return_indices)


def _lp_pool(x, norm_type, kernel_size, stride, ceil_mode, n):
    kernel = _tuple(kernel_size, n)
    stride = kernel if stride is None else _tuple(stride, n)
    # A window that reaches over the edge counts as a whole one of the mean that is in it.
    mean = _avg_pool(_e.pow(_e.abs(x), float(norm_type)), kernel, stride, _ceil_pads(x, kernel, stride, (0, 0) * n, ceil_mode), False)
    return _e.pow(_core.mul(mean, float(_core._product(kernel))), 1.0 / norm_type)


def lp_pool1d(x, norm_type, kernel_size, stride=None, ceil_mode=False):
    return _lp_pool(x, norm_type, kernel_size, stride, ceil_mode, 1)


def lp_pool2d(x, norm_type, kernel_size, stride=None, ceil_mode=False):
    return _lp_pool(x, norm_type, kernel_size, stride, ceil_mode, 2)


# Norms

def batch_norm(input_x, running_mean, running_var, weight, bias, training=False, momentum=0.1, eps=1e-5):
    shape = (1, -1) + (1,) * (input_x.ndim - 2)
    fit = lambda v: _core.reshape(v, tuple(v.size if d == -1 else d for d in shape))
    if training:
        axes = (0,) + tuple(_builtins.range(2, input_x.ndim))
        mean, var = _r.mean(input_x, axes), _r.var(input_x, axes)
        n = input_x.size // input_x.shape[1]
        for running, now in ((running_mean, mean), (running_var, _core.mul(var, n / _builtins.max(n - 1, 1)))):
            if running._is_parameter:
                from mindspore.ops.grad import stop_gradient
                old = _gantry.parameter_value(_gantry.stored(running))
                now = _core.convert(now, old.dtype)
                _core.assign(running, stop_gradient(_core.add(_core.mul(old, 1 - momentum), _core.mul(now, momentum))))
    else:
        mean, var = running_mean, running_var
    scale = _core.mul(fit(_e.rsqrt(_core.add(var, eps))), fit(weight))
    return _core.add(_core.mul(_core.sub(input_x, fit(mean)), scale), fit(bias))


def layer_norm(input, normalized_shape, weight=None, bias=None, eps=1e-5):
    axes = tuple(_builtins.range(input.ndim - len(_a._ints(normalized_shape)), input.ndim))
    mean, var = _r.mean(input, axes, True), _r.var(input, axes, 0, True)
    result = _core.mul(_core.sub(input, mean), _e.rsqrt(_core.add(var, eps)))
    result = result if weight is None else _core.mul(result, weight)
    return result if bias is None else _core.add(result, bias)


def group_norm(input, num_groups, weight=None, bias=None, eps=1e-5):
    x = _core.reshape(input, (input.shape[0], num_groups, -1))
    x = _core.reshape(layer_norm(x, (x.shape[-1],), eps=eps), input.shape)
    shape = (1, input.shape[1]) + (1,) * (input.ndim - 2)
    x = x if weight is None else _core.mul(x, _core.reshape(weight, shape))
    return x if bias is None else _core.add(x, _core.reshape(bias, shape))


def instance_norm(input, weight=None, bias=None, eps=1e-5):
    return group_norm(input, input.shape[1], weight, bias, eps)


def rms_norm(x, gamma, epsilon=1e-6):
    factor = _e.rsqrt(_core.add(_r.mean(_e.square(x), -1, True), epsilon))
    return _core.mul(_core.mul(x, factor), gamma), factor


def lrn(x, depth_radius=5, bias=1.0, alpha=1.0, beta=0.5, norm_region="ACROSS_CHANNELS"):
    if norm_region != "ACROSS_CHANNELS":
        raise ValueError(f"For 'LRN', the 'norm_region' must be 'ACROSS_CHANNELS', but got {norm_region!r}.")
    n = 2 * depth_radius + 1
    total = _op("reduce_window", (_e.square(x),), {"kind": "add", "window_dimensions": (1, n, 1, 1),
                                                   "padding": (0, 0, depth_radius, depth_radius, 0, 0, 0, 0)})
    return _core.div(x, _e.pow(_core.add(_core.mul(total, alpha), bias), beta))


def normalize(input, p=2.0, dim=1, eps=1e-12):
    return _core.div(input, _e.maximum(_r.vector_norm(input, p, dim, True), eps))


# Losses

def _reduced(loss, reduction):
    if reduction == "mean":
        return _r.mean(loss)
    return _reduce("add", loss) if reduction == "sum" else loss


def mse_loss(input, target, reduction="mean"):
    difference = _core.sub(input, target)
    return _reduced(_e.square(difference if difference.dtype.is_float else convert(difference, _core.float32)), reduction)


def l1_loss(input, target, reduction="mean"):
    return _reduced(_e.abs(_core.sub(input, target)), reduction)


def smooth_l1_loss(input, target, beta=1.0, reduction="none"):
    d = _e.abs(_core.sub(input, target))
    return _reduced(_core.select(_core.compare("LT", d, beta), _core.div(_core.mul(_e.square(d), 0.5), beta), _core.sub(d, 0.5 * beta)), reduction)


def huber_loss(input, target, reduction="mean", delta=1.0):
    d = _e.abs(_core.sub(input, target))
    return _reduced(_core.select(_core.compare("LE", d, delta), _core.mul(_e.square(d), 0.5), _core.mul(_core.sub(d, 0.5 * delta), delta)), reduction)


def nll_loss(inputs, target, weight=None, ignore_index=-100, reduction="mean", label_smoothing=0.0):
    classes = inputs.shape[1] if inputs.ndim > 1 else inputs.shape[0]
    axis = 1 if inputs.ndim > 1 else 0
    hot = convert(_a.one_hot(target, classes, _core.tensor_of(1.0), _core.tensor_of(0.0), axis), inputs.dtype)
    if label_smoothing:
        hot = _core.add(_core.mul(hot, 1 - label_smoothing), label_smoothing / classes)
    valid = convert(_core.compare("NE", target, ignore_index), inputs.dtype)
    if weight is not None:
        shape = tuple(classes if d == axis else 1 for d in _builtins.range(inputs.ndim))
        sample = _reduce("add", _core.mul(convert(_a.one_hot(target, classes, _core.tensor_of(1.0), _core.tensor_of(0.0), axis), inputs.dtype), _core.reshape(weight, shape)), axis)
        hot = _core.mul(hot, _core.reshape(weight, shape))
    else:
        sample = _core.full(target.shape, 1, inputs.dtype)
    loss = _core.mul(_core.neg(_reduce("add", _core.mul(hot, inputs), axis)), valid)
    if reduction == "mean":
        return _core.div(_reduce("add", loss), _reduce("add", _core.mul(sample, valid)))
    return _reduced(loss, reduction)


def cross_entropy(input, target, weight=None, ignore_index=-100, reduction="mean", label_smoothing=0.0):
    axis = 1 if input.ndim > 1 else 0
    logs = log_softmax(input, axis)
    if target.dtype.is_float:
        if label_smoothing:
            target = _core.add(_core.mul(target, 1 - label_smoothing), label_smoothing / input.shape[axis])
        weighted = logs
        if weight is not None:
            weighted = _core.mul(logs, _core.reshape(weight, tuple(input.shape[axis] if d == axis else 1 for d in _builtins.range(input.ndim))))
        loss = _core.neg(_reduce("add", _core.mul(target, weighted), axis))
        return _core.div(_reduce("add", loss), float(input.size // input.shape[axis])) if reduction == "mean" else _reduced(loss, reduction)
    return nll_loss(logs, target, weight, ignore_index, reduction, label_smoothing)


def softmax_cross_entropy_with_logits(logits, labels):
    return _core.neg(_reduce("add", _core.mul(labels, log_softmax(logits, -1)), logits.ndim - 1))


def sparse_softmax_cross_entropy(logits, labels):
    hot = convert(_a.one_hot(labels, logits.shape[-1], _core.tensor_of(1.0), _core.tensor_of(0.0)), logits.dtype)
    return softmax_cross_entropy_with_logits(logits, hot)


def binary_cross_entropy(logits, labels, weight=None, reduction="mean"):
    low = 1e-12
    loss = _core.neg(_core.add(_core.mul(labels, _e.log(_e.maximum(logits, low))),
                               _core.mul(_core.sub(1.0, labels), _e.log(_e.maximum(_core.sub(1.0, logits), low)))))
    return _reduced(loss if weight is None else _core.mul(loss, weight), reduction)


def binary_cross_entropy_with_logits(logits, label, weight=None, pos_weight=None, reduction="mean"):
    positive = _core.mul(label, logsigmoid(logits))
    if pos_weight is not None:
        positive = _core.mul(positive, pos_weight)
    loss = _core.neg(_core.add(positive, _core.mul(_core.sub(1.0, label), logsigmoid(_core.neg(logits)))))
    return _reduced(loss if weight is None else _core.mul(loss, weight), reduction)


def kl_div(logits, labels, reduction="mean"):
    counts = _core.compare("GT", labels, 0)
    loss = _core.mul(labels, _core.sub(_e.log(_core.select(counts, labels, 1.0)), logits))
    loss = _core.select(counts, loss, 0.0)
    if reduction == "batchmean":
        return _core.div(_reduce("add", loss), float(logits.shape[0]))
    return _reduced(loss, reduction)


def hinge_embedding_loss(inputs, targets, margin=1.0, reduction="mean"):
    return _reduced(_core.select(_core.compare("EQ", targets, 1), inputs, _e.maximum(_core.sub(margin, inputs), 0.0)), reduction)


def cosine_embedding_loss(input1, input2, target, margin=0.0, reduction="mean"):
    similarity = _r.cosine_similarity(input1, input2, input1.ndim - 1)
    return _reduced(_core.select(_core.compare("EQ", target, 1), _core.sub(1.0, similarity), _e.maximum(_core.sub(similarity, margin), 0.0)), reduction)


def margin_ranking_loss(input1, input2, target, margin=0.0, reduction="mean"):
    return _reduced(_e.maximum(_core.add(_core.neg(_core.mul(target, _core.sub(input1, input2))), margin), 0.0), reduction)


def soft_margin_loss(input, target, reduction="mean"):
    return _reduced(_e.log1p(_e.exp(_core.neg(_core.mul(target, input)))), reduction)


def multilabel_soft_margin_loss(input, target, weight=None, reduction="mean"):
    loss = _core.neg(_core.add(_core.mul(target, logsigmoid(input)), _core.mul(_core.sub(1.0, target), logsigmoid(_core.neg(input)))))
    loss = loss if weight is None else _core.mul(loss, weight)
    return _reduced(_r.mean(loss, input.ndim - 1), reduction)


def triplet_margin_loss(anchor, positive, negative, margin=1.0, p=2, eps=1e-06, swap=False, reduction="mean"):
    near, far = _r.pairwise_distance(anchor, positive, p, eps), _r.pairwise_distance(anchor, negative, p, eps)
    if swap:
        far = _e.minimum(far, _r.pairwise_distance(positive, negative, p, eps))
    return _reduced(_e.maximum(_core.add(_core.sub(near, far), margin), 0.0), reduction)


def gaussian_nll_loss(x, target, var, full=False, eps=1e-6, reduction="mean"):
    var = _e.maximum(var, eps)
    loss = _core.mul(_core.add(_e.log(var), _core.div(_e.square(_core.sub(x, target)), var)), 0.5)
    return _reduced(_core.add(loss, 0.5 * _math.log(2 * _math.pi)) if full else loss, reduction)


def l2_loss(input_x):
    return _core.div(_reduce("add", _e.square(input_x)), 2.0)


# Attention

def scaled_dot_product_attention(query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, is_training=True):
    scores = _core.mul(_core.matmul(query, _core.swapaxes(key, -1, -2)), 1.0 / _math.sqrt(query.shape[-1]))
    if is_causal:
        n, m = scores.shape[-2:]
        scores = _core.select(_core.compare("GE", _a._iota((n, m), 0), _a._iota((n, m), 1)), scores, -1e30)
    if attn_mask is not None:
        scores = _core.select(attn_mask, scores, -1e30) if attn_mask.element == "bool" else _core.add(scores, attn_mask)
    weights = dropout(softmax(scores, -1), dropout_p, is_training)
    return _core.matmul(weights, value)


def embedding(input, weight, padding_idx=None, max_norm=None, norm_type=2.0, scale_grad_by_freq=False):
    _only("embedding", max_norm=(max_norm, None), norm_type=(norm_type, 2.0), scale_grad_by_freq=(scale_grad_by_freq, False))
    found = _g.gather(weight, input, 0)
    if padding_idx is None:
        return found
    from mindspore.ops.grad import stop_gradient
    is_padding = _core.compare("EQ", _core.reshape(input, tuple(input.shape) + (1,)), padding_idx % weight.shape[0])
    return _core.select(_core.broadcast_to(is_padding, found.shape), stop_gradient(found), found)


# Higher order

def vmap(fn, in_axes=0, out_axes=0):
    """One call for each slice along the mapped axes, joined."""
    def mapped(*args):
        axes = in_axes if isinstance(in_axes, (tuple, list)) else (in_axes,) * len(args)
        n = next(a.shape[x] for a, x in zip(args, axes) if x is not None)
        results = []
        for i in _builtins.range(n):
            results.append(_gantry.call(fn, tuple(a if x is None else _a.squeeze(_a._part(a, x % a.ndim, i, i + 1), x)
                                                  for a, x in zip(args, axes))))
        if isinstance(results[0], tuple):
            return tuple(_a.stack(list(parts), out_axes) for parts in zip(*results))
        return _a.stack(results, out_axes)
    return mapped


def cond(condition, true_fn, false_fn, *inputs):
    a, b = _gantry.call(true_fn, inputs), _gantry.call(false_fn, inputs)
    return _core.select(condition, a, b)


def all_finite(inputs):
    result = None
    for x in inputs if isinstance(inputs, (tuple, list)) else (inputs,):
        finite = _reduce("and", _e.isfinite(x))
        result = finite if result is None else _op("and", (result, finite))
    return result


_amp.listed(globals())
__all__ = [n for n in dir() if not n.startswith("_") and not n.endswith(("_unavailable", "_unused")) and callable(globals()[n])
           and n not in ("Tensor", "convert", "bool_", "float32", "float64", "int32", "int64")]
