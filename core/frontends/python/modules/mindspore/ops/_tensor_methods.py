# SPDX-License-Identifier: Apache-2.0
"""Methods of tensors whose arguments differ from those of the function of their name."""
from mindspore import _core
from mindspore._core import Tensor, convert
from mindspore.ops import function as _f


def all(self, axis=None, keep_dims=False, out=None):
    """@out: NumPy's functions ask for it by name."""
    return _f.all(self, axis, keep_dims)


def any(self, axis=None, keep_dims=False, out=None):
    return _f.any(self, axis, keep_dims)


def sum(self, axis=None, dtype=None, keepdims=False, initial=None, *, dim=None, keepdim=False):
    axis, keepdims = _chosen(axis, dim), keepdims or keepdim
    result = _f.sum(self, axis, keepdims, dtype=dtype)
    return result if initial is None else _core.add(result, initial)


def mean(self, axis=None, keep_dims=False, **kw):
    return _f.mean(self, axis, keep_dims, **kw)


def _chosen(axis, dim):
    return axis if dim is None else dim


def prod(self, axis=None, keep_dims=False, dtype=None, *, dim=None, keepdim=False):
    axis, keep_dims = _chosen(axis, dim), keep_dims or keepdim
    return _f.prod(self, axis, keep_dims, dtype)


def max(self, axis=None, keepdims=False, *, initial=None, where=True, return_indices=False):
    return _extreme(self, axis, keepdims, initial, where, return_indices, _f.amax, _f.max)


def min(self, axis=None, keepdims=False, *, initial=None, where=True, return_indices=False):
    return _extreme(self, axis, keepdims, initial, where, return_indices, _f.amin, _f.min)


def _extreme(x, axis, keepdims, initial, where, return_indices, best, with_index):
    if return_indices:
        return with_index(x, axis, keepdims)
    return best(x, axis, keepdims, initial=initial, where=None if where is True else where)


def var(self, axis=None, ddof=0, keepdims=False):
    return _f.var(self, axis, ddof, keepdims)


def std(self, axis=None, ddof=0, keepdims=False):
    return _f.std(self, axis, ddof, keepdims)


def argmax(self, axis=None, keepdims=False):
    return _f.argmax(self, axis, keepdims)


def argmin(self, axis=None, keepdims=False):
    return _f.argmin(self, axis, keepdims)


def argmax_with_value(self, axis=0, keep_dims=False):
    return _f.max(self, axis, keep_dims)


def argmin_with_value(self, axis=0, keep_dims=False):
    return _f.min(self, axis, keep_dims)


def squeeze(self, axis=None):
    return _f.squeeze(self, axis)


def flatten(self, order="C", *, start_dim=0, end_dim=-1):
    return _f.flatten(self, order, start_dim=start_dim, end_dim=end_dim)


def fill(self, value):
    return _core.full(self.shape, value, self.dtype)


def repeat(self, repeats, axis=None):
    return _f.repeat_interleave(self, repeats, axis)


def split(self, split_size_or_sections, axis=0, *, dim=None):
    return _f.split(self, split_size_or_sections, _chosen(axis, dim))


def chunk(self, chunks, axis=0, *, dim=None):
    return _f.chunk(self, chunks, _chosen(axis, dim))


def diagonal(self, offset=0, dim1=0, dim2=1, *, axis1=None, axis2=None):
    return _f.diagonal(self, offset, _chosen(dim1, axis1), _chosen(dim2, axis2))


def trace(self, offset=0, axis1=0, axis2=1, dtype=None):
    along = _f.diagonal(self, offset, axis1, axis2)
    if dtype is None and not along.dtype.is_float and along.element != "bool":
        dtype = _core.int64
    along = along if dtype is None else convert(along, _core.as_type(dtype))
    return _core.reduce("or" if along.element == "bool" else "add", along, -1)


def sub(self, other, *, alpha=1):
    return _f.subtract(self, other, alpha=alpha)


def add(self, other, *, alpha=1):
    return _f.add(self, other if alpha == 1 else _f.mul(other, alpha))


def tile(self, *multiples):
    return _f.tile(self, _core._shape_arguments(multiples))


def broadcast_to(self, *shape):
    return _core.broadcast_to(self, _core._shape_arguments(shape))


expand = broadcast_to


def expand_as(self, x):
    return _core.broadcast_to(self, x.shape)


def view_as(self, other):
    return _core.reshape(self, other.shape)


def reshape_as(self, other):
    return _core.reshape(self, other.shape)


def swapaxes(self, axis0, axis1):
    return _core.swapaxes(self, axis0, axis1)


def where(self, condition, y):
    return _core.select(condition, self, y)


def select(self, condition, y):
    return _core.select(condition, self, y)


def type_as(self, other):
    return convert(self, other.dtype)


def type(self, dtype=None):
    return str(self.dtype) if dtype is None else convert(self, dtype)


def bool(self):
    return convert(self, _core.bool_)


def int(self):
    return convert(self, _core.int32)


def long(self):
    return convert(self, _core.int64)


def short(self):
    return convert(self, _core.int16)


def half(self):
    return convert(self, _core.float16)


def float(self):
    return convert(self, _core.float32)


def double(self):
    return convert(self, _core.float64)


def byte(self):
    return convert(self, _core.uint8)


def new_zeros(self, size, *, dtype=None):
    return _f.zeros(size, dtype or self.dtype)


def new_ones(self, size, *, dtype=None):
    return _f.ones(size, dtype or self.dtype)


def new_full(self, size, fill_value, *, dtype=None):
    return _f.full(size, fill_value, dtype=dtype or self.dtype)


def itemset(self, *args):
    index, value = args[:-1], args[-1]
    from mindspore import _index
    flat = _core.reshape(self, (-1,))
    index = index[0] if len(index) == 1 else index
    changed = _index.set(flat, index, value) if isinstance(index, int_) else _index.set(self, tuple(index), value)
    return _core.reshape(changed, self.shape)


int_ = __builtins__["int"] if isinstance(__builtins__, dict) else __builtins__.int


def masked_fill(self, mask, value):
    return _f.masked_fill(self, mask, value)


def clip(self, min=None, max=None):
    return _f.clamp(self, min, max)


def cumsum(self, axis=None, dtype=None):
    if dtype is None and self.element in ("i8", "u8", "i16", "bool"):
        dtype = _core.int32
    if axis is None:
        return _f.cumsum(_core.reshape(self, (-1,)), 0, dtype)
    return _f.cumsum(self, axis, dtype)


def gather(self, input_indices, axis, batch_dims=0):
    if isinstance(input_indices, int_):  # gather (dim, index)
        return _f.gather_elements(self, input_indices, axis)
    return _f.gather(self, input_indices, axis, batch_dims)


def take(self, indices, axis=None, mode="clip"):
    return _f.take(self, indices, axis, mode)


def choose(self, choices, mode="clip"):
    result = _core.tensor_of(choices[0])
    for i, c in enumerate(choices):
        result = _core.select(_core.compare("EQ", self, i), c, result)
    return result


def sort(self, axis=-1, descending=False, *, dim=None):
    return _f.sort(self, _chosen(axis, dim), descending)


def topk(self, k, dim=None, largest=True, sorted=True):
    return _f.topk(self, k, dim, largest, sorted)


def resize(self, *new_shape):
    shape = _core._shape_arguments(new_shape)
    flat, n = _core.reshape(self, (-1,)), _core._product(shape)
    if n > flat.size:
        flat = _f.pad(flat, ((0, n - flat.size),))
    return _core.reshape(flat[:n], shape)


def item_(self, index=None):
    return self.item(index)


def sum_to_size(self, *size):
    size = _core._shape_arguments(size)
    x = _f.sum(self, tuple(range(self.ndim - len(size)))) if self.ndim > len(size) else self
    axes = tuple(d for d, n in enumerate(size) if n == 1 and x.shape[d] != 1)
    return _f.sum(x, axes, True) if axes else x


def dot(self, other):
    return _f.dot(self, other)


def norm(self, ord=None, dim=None, keepdim=False, *, dtype=None):
    return _f.norm(self, ord, dim, keepdim, dtype=dtype)


def softmax(self, axis=-1, *, dtype=None):
    return _f.softmax(self, axis, dtype=dtype)


def searchsorted(self, v, side="left", sorter=None):
    return _f.searchsorted(self, v, out_int32=True, side=side, sorter=sorter)


def index_put(self, indices, values, accumulate=False):
    from mindspore import _index
    if not accumulate:
        return _index.set(self, tuple(indices), values)
    places = _f.stack([_core.convert(i, _core.int64) for i in _broadcast(indices)], -1)
    shape = places.shape[:-1] + self.shape[len(indices):]
    return _f.tensor_scatter_add(self, places, _core.broadcast_to(_core.convert(values, self.dtype), shape))


def _broadcast(tensors):
    shape = _core.broadcast_shapes(*(t.shape for t in tensors))
    return [_core.broadcast_to(t, shape) for t in tensors]


def asin_(self):
    return _f.asin(self)


def nonzero(self, *, as_tuple=False):
    return _f.nonzero(self, as_tuple)


def ptp(self, axis=None, keepdims=False):
    return _f.ptp(self, axis, keepdims)


def scatter(self, axis, index, src):
    return _f.scatter(self, axis, index, src)


def scatter_add(self, *args, **kwargs):
    """As (indices, updates), and as (dim, index, src)."""
    if len(args) + len(kwargs) == 3:
        return _f.tensor_scatter_elements(self, *_bound(("dim", "index", "src"), args, kwargs, (1, 2, 0)), reduction="add")
    indices, updates = _bound(("indices", "updates"), args, kwargs, (0, 1))
    return _f.tensor_scatter_add(self, indices, updates)


def _bound(names, args, kwargs, order):
    values = dict(zip(names, args), **kwargs)
    missing = [n for n in names if n not in values]
    if missing or len(values) > len(names):
        raise TypeError(f"the arguments are {', '.join(names)}")
    return [values[names[i]] for i in order]


def scatter_sub(self, indices, updates):
    return _f.tensor_scatter_sub(self, indices, updates)


def scatter_mul(self, indices, updates):
    return _f.tensor_scatter_mul(self, indices, updates)


def scatter_div(self, indices, updates):
    return _f.tensor_scatter_div(self, indices, updates)


def scatter_max(self, indices, updates):
    return _f.tensor_scatter_max(self, indices, updates)


def scatter_min(self, indices, updates):
    return _f.tensor_scatter_min(self, indices, updates)


def stride(self, dim=None):
    steps = tuple(s // self.itemsize for s in self.strides)
    return steps if dim is None else steps[dim]


def storage_offset(self):
    return 0


def get_bytes(self):
    return self.asnumpy().tobytes()


def set_const_arg(self, const_arg=True):
    return None


def bfloat16(self):
    return convert(self, _core.bfloat16)


def register_hook(self, hook):
    """The gradient by this tensor goes through @hook."""
    from mindspore.nn.hook import passing
    if self.is_variable and not self._is_parameter:
        before = Tensor.__new__(Tensor)
        before._take(self)
        self._take(passing(hook)(before))
