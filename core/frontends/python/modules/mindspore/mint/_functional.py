# SPDX-License-Identifier: Apache-2.0
"""Functions of mindspore.mint that take other arguments than those of mindspore.ops under the same name, or give something else."""
from mindspore import _core
from mindspore._core import Tensor, as_type, convert, int64
from mindspore.ops import function as _f
from mindspore.ops import _refused


def _plus(a, b, alpha, function):
    return function(a, b if alpha == 1 else _f.mul(b, alpha))


def add(input, other, *, alpha=1):
    return _plus(input, other, alpha, _f.add)


def sub(input, other, *, alpha=1):
    return _plus(input, other, alpha, _f.sub)


def transpose(input, dim0, dim1):
    return _core.swapaxes(input, dim0, dim1)


def gather(input, dim, index):
    return _f.gather_elements(input, dim, index)


def cat(tensors, dim=0):
    return _f.cat(tensors, dim)


concat = cat


def chunk(input, chunks, dim=0):
    return _f.chunk(input, chunks, dim)


def split(tensor, split_size_or_sections, dim=0):
    return _f.split(tensor, split_size_or_sections, dim)


def argmax(input, dim=None, keepdim=False):
    return _f.argmax(input, dim, keepdim)


def argmin(input, dim=None, keepdim=False):
    return _f.argmin(input, dim, keepdim, output_type=int64)


def argsort(input, dim=-1, descending=False, stable=False):
    """@stable: equal elements stand in their order either way."""
    return convert(_f.argsort(input, dim, descending), int64)


def sort(input, *, dim=-1, descending=False, stable=False):
    """@stable: equal elements stand in their order either way."""
    values, places = _f.sort(input, dim, descending)
    return values, convert(places, int64)


def _extreme(whole, pair, of_two):
    def function(input, *args, **kwargs):
        if not args and not kwargs:
            return whole(input)
        other = args[0] if args else kwargs.get("other")
        if isinstance(other, Tensor):
            return of_two(input, other)
        return _along(pair, input, *args, **kwargs)
    return function


def _along(pair, input, dim, keepdim=False):
    return pair(input, dim, keepdim)


max, min = _extreme(_f.amax, _f.max, _f.maximum), _extreme(_f.amin, _f.min, _f.minimum)
max.__name__, min.__name__ = "max", "min"


def diag(input, diagonal=0):
    if input.ndim == 2:
        return _f.diagonal(input, diagonal)
    if input.ndim != 1:
        raise ValueError(f"For 'diag', the input must have one dimension or two, but got {input.ndim}.")
    from mindspore import numpy
    return numpy.diag(input, diagonal)


def _conv(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    mode = padding if isinstance(padding, str) else "pad"
    return _f.conv2d(input, weight, bias, stride, mode, 0 if isinstance(padding, str) else padding, dilation, groups)


def conv1d(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    return _conv(input, weight, bias, stride, padding, dilation, groups)


conv2d = conv3d = conv1d


def _pooled(pool, n):
    """Windows that do not overlap unless a stride is given."""
    def function(input, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True, divisor_override=None):
        more = () if n == 1 else (0 if divisor_override is None else divisor_override,)
        return pool(input, kernel_size, kernel_size if stride is None else stride, padding, ceil_mode, count_include_pad, *more)
    function.__name__ = pool.__name__
    return function


avg_pool1d, avg_pool2d, avg_pool3d = _pooled(_f.avg_pool1d, 1), _pooled(_f.avg_pool2d, 2), _pooled(_f.avg_pool3d, 3)


def max_pool2d(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False):
    return _f.max_pool2d(input, kernel_size, stride, padding, dilation, return_indices, ceil_mode)


def binary_cross_entropy_with_logits(input, target, weight=None, reduction="mean", pos_weight=None):
    return _f.binary_cross_entropy_with_logits(input, target, weight, pos_weight, reduction)


def smooth_l1_loss(input, target, reduction="mean", beta=1.0):
    return _f.smooth_l1_loss(input, target, beta, reduction) if beta else _f.l1_loss(input, target, reduction)


def clone(input, **options):
    return input.copy()


def empty(*size, dtype=None):
    """Zeros: what is not written before it is read has no value of its own."""
    return _f.zeros(_core._shape_arguments(size), dtype)


def empty_like(input, *, dtype=None):
    return _f.zeros_like(input, dtype=dtype)


def flatten(input, start_dim=0, end_dim=-1):
    return _f.flatten(input, start_dim=start_dim, end_dim=end_dim)


def diff(input, n=1, dim=-1, prepend=None, append=None):
    return _f.diff(input, n, dim, prepend, append)


def index_add(input, dim, index, source, *, alpha=1):
    return _f.index_add(input, index, source if alpha == 1 else _f.mul(source, alpha), dim)


def norm(input, p="fro", dim=None, keepdim=False, *, dtype=None):
    return _f.vector_norm(input, 2 if p in ("fro", None) else p, dim, keepdim, dtype=dtype)


def normal(mean=0.0, std=1.0, size=None):
    shape = size if size is not None else _core.broadcast_shapes(*(v.shape if isinstance(v, Tensor) else () for v in (mean, std)))
    return _core.add(_core.mul(_f.randn(tuple(shape)), std), mean)


def repeat_interleave(input, repeats, dim=None, *, output_size=None):
    result = _f.repeat_interleave(input, repeats, dim)
    if output_size is not None and result.shape[0 if dim is None else dim] != output_size:
        raise ValueError(f"For 'repeat_interleave', the repeats give {result.shape[0 if dim is None else dim]} elements, and 'output_size' is {output_size}.")
    return result


def var(input, dim=None, *, correction=1, keepdim=False):
    return _f.var(input, dim, correction, keepdim)


def std(input, dim=None, *, correction=1, keepdim=False):
    return _f.std(input, dim, correction, keepdim)


def var_mean(input, dim=None, *, correction=1, keepdim=False):
    return var(input, dim, correction=correction, keepdim=keepdim), _f.mean(input, dim, keepdim)


def std_mean(input, dim=None, *, correction=1, keepdim=False):
    return std(input, dim, correction=correction, keepdim=keepdim), _f.mean(input, dim, keepdim)


def allclose(input, other, rtol=1e-05, atol=1e-08, equal_nan=False):
    return _f.all(_f.isclose(input, other, rtol, atol, equal_nan)).item()


def _old_axis(input, dim):
    return dim if dim is not None else 0 if input.ndim in (0, 1, 3) else 1


def softmax(input, dim=None, *, dtype=None):
    return _f.softmax(input, -1 if dim is None else dim, dtype=dtype)


def log_softmax(input, dim=None, *, dtype=None):
    return _f.log_softmax(input if dtype is None else convert(input, as_type(dtype)), _old_axis(input, dim))


def one_hot(tensor, num_classes=-1):
    n = num_classes if num_classes != -1 else int(_f.amax(tensor)) + 1
    return _f.one_hot(tensor, n, _core.tensor_of(1, int64), _core.tensor_of(0, int64))


def batch_norm(input, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.1, eps=1e-5):
    n, dtype = input.shape[1], input.dtype
    weight = _core.full((n,), 1, dtype) if weight is None else weight
    bias = _core.full((n,), 0, dtype) if bias is None else bias
    return _f.batch_norm(input, running_mean, running_var, weight, bias, training, momentum, eps)


def kl_div(input, target, reduction="mean", log_target=False):
    if not log_target:
        return _f.kl_div(input, target, reduction)
    loss = _core.mul(_f.exp(target), _core.sub(target, input))
    if reduction == "none":
        return loss
    total = _f.sum(loss)
    return total if reduction == "sum" else _core.div(total, float(input.shape[0] if reduction == "batchmean" else loss.size))


def glu(input, dim=-1):
    return _f.glu(input, dim)


def leaky_relu(input, negative_slope=0.01):
    return _f.leaky_relu(input, negative_slope)


def unique(input, sorted=True, return_inverse=False, return_counts=False, dim=None):
    """The elements (along @dim the slices) in order; @sorted: in order either way."""
    array = input.asnumpy()
    import numpy
    values, inverse, counts = numpy.unique(array, return_inverse=True, return_counts=True, axis=dim)
    inverse = inverse.reshape(array.shape if dim is None else (-1,))
    found = (_core.tensor_of(values, input.dtype),) + ((_core.tensor_of(inverse, int64),) if return_inverse else ()) \
        + ((_core.tensor_of(counts, int64),) if return_counts else ())
    return found if len(found) > 1 else found[0]


def adaptive_max_pool1d(input, output_size, return_indices=False):
    if return_indices:
        raise NotImplementedError("For 'adaptive_max_pool1d', 'return_indices' is not supported.")
    return _f.adaptive_max_pool1d(input, output_size)


def _may_be_in_place(function):
    """An activation with the argument `inplace`."""
    def call(input, *args, inplace=False, **kwargs):
        result = function(input, *args, **kwargs)
        if not inplace:
            return result
        input[...] = result
        return input
    call.__name__ = function.__name__
    return call


relu, relu6, silu, elu, hardtanh, threshold, dropout = (
    _may_be_in_place(f) for f in (_f.relu, _f.relu6, _f.silu, _f.elu, _f.hardtanh, _f.threshold, _f.dropout))

_refused.guard(globals(), [n for n in dir() if not n.startswith("_")])
