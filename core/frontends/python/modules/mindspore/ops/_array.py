# SPDX-License-Identifier: Apache-2.0
"""Shapes, joining, gathering, sorting, making."""
import builtins as _builtins
import _gantry
from mindspore import _amp, _core, _index
from mindspore._core import Tensor, _op, _operand, convert, float32, float64, int32, int64, bool_, reduce as _reduce
from mindspore.ops import _elementwise as _e
from mindspore._text import need_tensor


def _ints(value):
    if isinstance(value, Tensor):
        value = value.tolist()
    if isinstance(value, (tuple, list)):
        return tuple(int(v) for v in value)
    return (int(value),)


def _gathered(x, indices, axis):
    from mindspore.ops._gather import gather
    return gather(x, indices, axis)


def _iota(shape, axis, element="i64"):
    return _op("iota", (), {"to": (element, tuple(shape)), "iota_dimension": axis})


# Making

def zeros(size, dtype=float32):
    return _core.full(_ints(size), 0, _core.as_type(dtype) if dtype is not None else float32)


def ones(shape, dtype=float32):
    return _core.full(_ints(shape), 1, _core.as_type(dtype) if dtype is not None else float32)


def full(size, fill_value, *, dtype=None):
    if dtype is None:
        dtype = _core.tensor_of(fill_value).dtype
    return _core.full(_ints(size), fill_value, _core.as_type(dtype))


def fill(type, shape, value):
    return _core.full(_ints(shape), value, _core.as_type(type))


def zeros_like(input, *, dtype=None):
    return _core.full(_operand(input).shape, 0, _core.as_type(dtype) if dtype is not None else _operand(input).dtype)


def ones_like(input, *, dtype=None):
    return _core.full(_operand(input).shape, 1, _core.as_type(dtype) if dtype is not None else _operand(input).dtype)


def full_like(input, fill_value, *, dtype=None):
    return _core.full(input.shape, fill_value, _core.as_type(dtype) if dtype is not None else input.dtype)


def arange(start=0, end=None, step=1, *, dtype=None):
    if end is None:
        start, end = 0, start
    start, end, step = (v.item() if isinstance(v, Tensor) else v for v in (start, end, step))
    if step == 0:
        raise ValueError("For 'arange', the argument 'step' cannot be zero.")
    whole = _builtins.all(isinstance(v, int) for v in (start, end, step))
    n = _builtins.max(0, -int(-(end - start) // step))
    dtype = _core.as_type(dtype) if dtype is not None else (int64 if whole else float32)
    if whole:
        return convert(_core.add(_core.mul(_iota((n,), 0), step), start), dtype)
    return convert(_core.add(_core.mul(_iota((n,), 0, "f64"), step), start), dtype)


def range(start, end, step, maxlen=1000000):
    return arange(start, end, step)


def linspace(start, end, steps):
    if steps == 1:
        return _core.reshape(convert(_core.tensor_of(start), float32), (1,))
    t = _core.div(_iota((steps,), 0, "f32"), float(steps - 1))
    return _core.add(_core.mul(t, _core.sub(_core.tensor_of(end, float32), _core.tensor_of(start, float32))), start)


def logspace(start, end, steps, base=10, *, dtype=float32):
    return convert(_e.pow(float(base), linspace(start, end, steps)), dtype)


def eye(n, m=None, dtype=float32):
    shape = (n, n if m is None else m)
    return convert(_core.compare("EQ", _iota(shape, 0), _iota(shape, 1)), _core.as_type(dtype) if dtype is not None else float32)


def one_hot(indices, depth, on_value=1, off_value=0, axis=-1):
    indices = _operand(indices)
    axis = indices.ndim if axis == -1 else axis
    shape = indices.shape[:axis] + (int(depth),) + indices.shape[axis:]
    spread = _core.reshape(indices, indices.shape[:axis] + (1,) + indices.shape[axis:])
    hit = _core.compare("EQ", _core.broadcast_to(spread, shape), _iota(shape, axis, indices.element))
    return _core.select(hit, on_value, off_value)


def tril(input, diagonal=0):
    return _band(input, diagonal, "LE")


def triu(input, diagonal=0):
    return _band(input, diagonal, "GE")


def _band(x, diagonal, direction):
    rows, columns = _iota(x.shape, x.ndim - 2), _iota(x.shape, x.ndim - 1)
    keep = _core.compare(direction, columns, _core.add(rows, int(diagonal)))
    return _core.select(keep, x, _core.full((), 0, x.dtype))


def matrix_band_part(x, lower, upper):
    result = x
    if int(lower) >= 0:
        result = triu(result, -int(lower))
    return tril(result, int(upper)) if int(upper) >= 0 else result


def tril_indices(row, col, offset=0, *, dtype=int64):
    pairs = [(i, j) for i in _builtins.range(row) for j in _builtins.range(col) if j <= i + offset]
    return convert(_core.transpose(_core.reshape(_core.tensor_of([list(p) for p in pairs]), (len(pairs), 2)), (1, 0)), dtype)


def triu_indices(row, col, offset=0, *, dtype=int64):
    pairs = [(i, j) for i in _builtins.range(row) for j in _builtins.range(col) if j >= i + offset]
    return convert(_core.transpose(_core.reshape(_core.tensor_of([list(p) for p in pairs]), (len(pairs), 2)), (1, 0)), dtype)


def diag(input):
    """A vector on a diagonal; a tensor of more dimensions on that of a tensor with each of them twice."""
    input = _operand(input)
    n = input.size
    row = _core.broadcast_to(_core.reshape(input, (1, n)), (n, n))
    return _core.reshape(_core.select(eye(n, n, bool_), row, _core.full((n, n), 0, input.dtype)), input.shape * 2)


def diagonal(input, offset=0, dim1=0, dim2=1):
    order = [d for d in _builtins.range(input.ndim) if d not in (dim1 % input.ndim, dim2 % input.ndim)]
    x = _core.transpose(input, order + [dim1 % input.ndim, dim2 % input.ndim])
    rows, columns = x.shape[-2:]
    first, second = _builtins.max(0, -offset), _builtins.max(0, offset)
    n = _builtins.max(0, _builtins.min(rows - first, columns - second))
    at = _core.add(_iota((n,), 0), first), _core.add(_iota((n,), 0), second)
    return _index.get(x, (Ellipsis,) + at)


def trace(input):
    return _reduce("add", diagonal(input))


def meshgrid(*inputs, indexing="xy"):
    tensors = inputs[0] if len(inputs) == 1 and isinstance(inputs[0], (tuple, list)) else inputs
    shape = tuple(t.shape[0] if t.ndim else 1 for t in tensors)
    grids = [_op("broadcast_in_dim", (_core.reshape(t, (-1,)),), {"shape": shape, "broadcast_dimensions": (i,)})
             for i, t in enumerate(tensors)]
    if indexing == "xy" and len(grids) > 1:
        grids = [_core.swapaxes(g, 0, 1) for g in grids]
    return tuple(grids)


def scalar_to_tensor(input_x, dtype=float32):
    return _core.tensor_of(input_x, dtype)


def tuple_to_array(input_x):
    return _core.tensor_of(input_x)


def scalar_cast(input_x, input_y):
    return _core.as_type(input_y).python(input_x)


def make_row_tensor(*args):
    raise NotImplementedError("row tensors are not supported")


# Shapes

def _calling(name):
    return f'Failed calling {name} with "input_x={{word}}". The valid calling should be: "input_x=<Tensor>".'


def shape(input_x):
    return need_tensor(input_x, _calling("Shape"), "For primitive[Shape], the input argument must be Tensor, but got {kind}.").shape


def dyn_shape(input_x):
    return _core.tensor_of(list(input_x.shape), int64)


tensor_shape = dyn_shape


def rank(input_x):
    return need_tensor(input_x, _calling("Rank"), "the input x must be Tensor!").ndim


def size(input_x):
    text = "For 'Size', input must be a Tensor, but got: {word}."
    return need_tensor(input_x, text, text).size


def numel(input):
    return input.size


def dtype(input_x):
    if _gantry.in_graph() and _core._scalar_kind(input_x) is not None:
        return _core.float32 if _core._scalar_kind(input_x) == "float" else _core._SCALAR_TYPES[_core._scalar_kind(input_x)]
    text = "For Primitive[DType], the input argument[input_x] must be a Tensor, CSRTensor or COOTensor, but got "
    return need_tensor(input_x, text + "{word}.", text + "{kind}.").dtype


def reshape(input, shape):
    return _core.reshape(_operand(input), _ints(shape))


def reshape_(x, *shape):
    return reshape(x, shape)


def transpose(input, input_perm):
    perm = _ints(input_perm)
    return _core.transpose(input, tuple(p % input.ndim for p in perm))


permute = transpose


def swapaxes(input, axis0, axis1):
    return _core.swapaxes(input, axis0, axis1)


swapdims = swapaxes


def movedim(x, source, destination):
    source, destination = _ints(source), _ints(destination)
    source, destination = [s % x.ndim for s in source], [d % x.ndim for d in destination]
    order = [d for d in _builtins.range(x.ndim) if d not in source]
    for d, s in sorted(zip(destination, source)):
        order.insert(d, s)
    return _core.transpose(x, order)


moveaxis = movedim


def t(input):
    return _core.swapaxes(input, 0, 1) if input.ndim == 2 else input


def expand_dims(input_x, axis):
    x = _operand(input_x)
    for a in _ints(axis):
        a = a if a >= 0 else a + x.ndim + 1
        if not 0 <= a <= x.ndim:
            raise ValueError(f"For 'ExpandDims', the axis {axis} is out of the range [{-x.ndim - 1}, {x.ndim}].")
        x = _core.reshape(x, x.shape[:a] + (1,) + x.shape[a:])
    return x


unsqueeze = expand_dims


def squeeze(input, axis=None):
    if axis is None or axis == ():
        return _core.reshape(input, tuple(n for n in input.shape if n != 1))
    axes = [_core.normal_axes(a, input.ndim)[0] for a in _ints(axis)] if input.ndim else []
    axes = [a for a in axes if input.shape[a] == 1]  # others stay
    return _core.reshape(input, tuple(n for d, n in enumerate(input.shape) if d not in axes))


def flatten(input, order="C", *, start_dim=1, end_dim=-1):
    if order == "F":
        input = _core.transpose(input, tuple(reversed(_builtins.range(input.ndim))))
    if input.ndim == 0:
        return _core.reshape(input, (1,))
    if input.ndim == 1 and start_dim == 1:
        return input
    start, end = start_dim % input.ndim, end_dim % input.ndim
    return _core.reshape(input, input.shape[:start] + (_core._product(input.shape[start:end + 1]),) + input.shape[end + 1:])


def ravel(input):
    return _core.reshape(input, (-1,))


def unflatten(input, axis, shape):
    axis %= input.ndim
    return _core.reshape(input, input.shape[:axis] + _sized(shape, input.shape[axis]) + input.shape[axis + 1:])


def _sized(shape, n):
    known = _core._product(d for d in shape if d != -1)
    return tuple(n // known if d == -1 else d for d in shape)


def broadcast_to(input, shape):
    return _core.broadcast_to(_operand(input), _ints(shape))


expand = broadcast_to


def expand_as(input, other):
    return _core.broadcast_to(input, other.shape)


def broadcast_tensors(*tensors):
    shape = ()
    for x in tensors:
        shape = _core.broadcast_shapes(shape, x.shape)
    return tuple(_core.broadcast_to(x, shape) for x in tensors)


def view_as(input, other):
    return _core.reshape(input, other.shape)


def atleast_1d(inputs):
    return _over(lambda x: _core.reshape(x, (1,)) if x.ndim == 0 else x, inputs)


def atleast_2d(inputs):
    return _over(lambda x: _core.reshape(x, (1,) * (2 - x.ndim) + x.shape) if x.ndim < 2 else x, inputs)


def atleast_3d(inputs):
    def lift(x):
        x = atleast_2d(x) if x.ndim < 2 else x
        return _core.reshape(x, x.shape + (1,)) if x.ndim == 2 else x
    return _over(lift, inputs)


def _over(function, inputs):
    return tuple(function(x) for x in inputs) if isinstance(inputs, (tuple, list)) else function(inputs)


# Joining and parting

def concat(tensors, axis=0):
    tensors = [_operand(v) for v in tensors]
    common = _core._common([x.dtype for x in tensors])
    axis = int(axis) % _builtins.max(tensors[0].ndim, 1)
    for x in tensors[1:]:
        if x.ndim != tensors[0].ndim or _builtins.any(a != b for d, (a, b) in enumerate(zip(x.shape, tensors[0].shape)) if d != axis):
            raise ValueError(f"For 'Concat', the shapes {[list(v.shape) for v in tensors]} differ in more than the dimension {axis}.")
    return _op("concatenate", [convert(x, common) for x in tensors], {"dimension": axis}) if len(tensors) > 1 else tensors[0]


cat = concat


def stack(tensors, axis=0):
    tensors = [_operand(v) for v in tensors]
    if not tensors:
        raise ValueError("For 'Stack', the 'len of input_x' must be int and must >= 1, but got '0' with type 'int'.")
    return concat([expand_dims(x, axis) for x in tensors], axis)


def unstack(input_x, axis=0):
    axis %= input_x.ndim
    return tuple(squeeze(_part(input_x, axis, i, i + 1), axis) for i in _builtins.range(input_x.shape[axis]))


unbind = unstack


def _part(x, axis, start, stop, step=1):
    return _op("slice", (x,), {"start_indices": tuple(start if d == axis else 0 for d in _builtins.range(x.ndim)),
                               "limit_indices": tuple(stop if d == axis else n for d, n in enumerate(x.shape)),
                               "strides": tuple(step if d == axis else 1 for d in _builtins.range(x.ndim))})


def split(tensor, split_size_or_sections=None, axis=0, output_num=None):
    axis %= tensor.ndim
    n = tensor.shape[axis]
    if output_num is not None:
        split_size_or_sections = n // output_num
    if isinstance(split_size_or_sections, int):
        sizes = [_builtins.min(split_size_or_sections, n - i) for i in _builtins.range(0, n, split_size_or_sections)]
    else:
        sizes = list(split_size_or_sections)
        if _builtins.sum(sizes) != n:
            raise ValueError(f"For 'split', the sections {sizes} do not add up to the dimension {n}.")
    parts, at = [], 0
    for s in sizes:
        parts.append(_part(tensor, axis, at, at + s))
        at += s
    return tuple(parts)


def chunk(input, chunks, axis=0):
    n = input.shape[axis % input.ndim]
    return split(input, -(-n // chunks), axis) if n else (input,)


def tensor_split(input, indices_or_sections, axis=0):
    axis %= input.ndim
    n = input.shape[axis]
    if isinstance(indices_or_sections, int):
        q, r = _builtins.divmod(n, indices_or_sections)
        return split(input, [q + (i < r) for i in _builtins.range(indices_or_sections)], axis)
    bounds = [0] + [_builtins.min(i, n) for i in indices_or_sections] + [n]
    return tuple(_part(input, axis, a, _builtins.max(a, b)) for a, b in zip(bounds, bounds[1:]))


def hsplit(input, indices_or_sections):
    return tensor_split(input, indices_or_sections, 0 if input.ndim == 1 else 1)


def vsplit(input, indices_or_sections):
    return tensor_split(input, indices_or_sections, 0)


def dsplit(input, indices_or_sections):
    return tensor_split(input, indices_or_sections, 2)


def hstack(tensors):
    tensors = [atleast_1d(x) for x in tensors]
    return concat(tensors, 0 if tensors[0].ndim == 1 else 1)


def vstack(inputs):
    return concat([atleast_2d(x) for x in inputs], 0)


def dstack(inputs):
    return concat([atleast_3d(x) for x in inputs], 2)


def column_stack(tensors):
    return concat([_core.reshape(x, (-1, 1)) if x.ndim < 2 else x for x in tensors], 1)


row_stack = vstack


def tile(input, multiples):
    multiples = _ints(multiples)
    shape = (1,) * (len(multiples) - input.ndim) + input.shape
    multiples = (1,) * (len(shape) - len(multiples)) + multiples
    spread, target = [], []
    for m, n in zip(multiples, shape):
        spread += [1, n]
        target += [m, n]
    x = _core.broadcast_to(_core.reshape(input, tuple(spread)), tuple(target))
    return _core.reshape(x, tuple(m * n for m, n in zip(multiples, shape)))


def repeat_elements(x, rep, axis=0):
    axis %= x.ndim
    spread = _core.reshape(x, x.shape[:axis + 1] + (1,) + x.shape[axis + 1:])
    spread = _core.broadcast_to(spread, x.shape[:axis + 1] + (rep,) + x.shape[axis + 1:])
    return _core.reshape(spread, x.shape[:axis] + (x.shape[axis] * rep,) + x.shape[axis + 1:])


def repeat_interleave(input, repeats, axis=None):
    if axis is None:
        input, axis = _core.reshape(input, (-1,)), 0
    if isinstance(repeats, int):
        return repeat_elements(input, repeats, axis)
    return concat([repeat_elements(_part(input, axis % input.ndim, i, i + 1), r, axis) for i, r in enumerate(_ints(repeats)) if r], axis)


def slice(input_x, begin, size):
    begin, size = _ints(begin), _ints(size)
    stop = tuple(n if s == -1 else b + s for b, s, n in zip(begin, size, input_x.shape))
    return _op("slice", (input_x,), {"start_indices": begin, "limit_indices": stop, "strides": (1,) * input_x.ndim})


def strided_slice(input_x, begin, end, strides, begin_mask=0, end_mask=0, ellipsis_mask=0, new_axis_mask=0, shrink_axis_mask=0):
    parts = []
    for d, (b, e, s) in enumerate(zip(begin, end, strides)):
        if ellipsis_mask >> d & 1:
            parts.append(Ellipsis)
        elif new_axis_mask >> d & 1:
            parts.append(None)
        elif shrink_axis_mask >> d & 1:
            parts.append(int(b))
        else:
            parts.append(_builtins.slice(None if begin_mask >> d & 1 else int(b), None if end_mask >> d & 1 else int(e), int(s)))
    return _index.get(input_x, tuple(parts))


def narrow(input, axis, start, length):
    return _part(input, axis % input.ndim, start, start + length)


def flip(input, dims):
    return _op("reverse", (input,), {"dimensions": tuple(d % input.ndim for d in _ints(dims))})


reverse = flip


def flipud(input):
    return flip(input, (0,))


def fliplr(input):
    return flip(input, (1,))


def rot90(input, k, dims):
    a, b = (d % input.ndim for d in dims)
    for _ in _builtins.range(k % 4):
        input = flip(_core.swapaxes(input, a, b), (a,))
    return input


def roll(input, shifts, dims=None):
    if dims is None:
        return _core.reshape(roll(_core.reshape(input, (-1,)), shifts, 0), input.shape)
    for s, d in zip(_ints(shifts), _ints(dims)):
        n = input.shape[d]
        s %= _builtins.max(n, 1)
        if s:
            input = concat((_part(input, d % input.ndim, n - s, n), _part(input, d % input.ndim, 0, n - s)), d)
    return input


def _pads(padding, rank):
    """Pairs from the last dimension on, or a pair for each dimension."""
    if isinstance(padding, Tensor):
        padding = padding.tolist()
    if padding and isinstance(padding[0], (tuple, list)):
        return [tuple(int(v) for v in p) for p in padding]
    pairs = [(0, 0)] * rank
    for i in _builtins.range(len(padding) // 2):
        pairs[rank - 1 - i] = (int(padding[2 * i]), int(padding[2 * i + 1]))
    return pairs


def pad(input_x, padding, mode="constant", value=None):
    pairs = _pads(padding, input_x.ndim)
    if mode == "constant":
        fill_value = _core.reshape(_core.tensor_of(0 if value is None else value, input_x.dtype), ())
        return _op("pad", (input_x, fill_value), {"edge_padding_low": tuple(p[0] for p in pairs),
                                                  "edge_padding_high": tuple(p[1] for p in pairs)})
    for d, (low, high) in enumerate(pairs):
        n = input_x.shape[d]
        if low or high:
            places = []
            for i in _builtins.range(-low, n + high):
                if mode == "reflect":
                    period = 2 * (n - 1) or 1
                    i = _builtins.abs((i + n - 1) % period - (n - 1))
                elif mode in ("replicate", "edge"):
                    i = _builtins.min(_builtins.max(i, 0), n - 1)
                elif mode == "symmetric":
                    i %= 2 * n
                    i = i if i < n else 2 * n - 1 - i
                else:
                    i %= n
                places.append(i)
            input_x = _gathered(input_x, _core.tensor_of(places), d)
    return input_x


def padding(x, pad_dim_size=8):
    return pad(x, ((0, 0),) * (x.ndim - 1) + ((0, pad_dim_size - x.shape[-1]),))


# Sorting

def sort(input_x, axis=-1, descending=False):
    x = _operand(input_x)
    axis %= _builtins.max(x.ndim, 1)
    places = _op("iota", (), {"to": ("i32", x.shape), "iota_dimension": axis})
    values, places = _op("sort", (x, places), {"dimension": axis, "descending": int(descending), "stable": 1})
    return values, places


def argsort(input, axis=-1, descending=False):
    return sort(input, axis, descending)[1]


def msort(input):
    return sort(input, 0)[0]


def topk(input, k, dim=None, largest=True, sorted=True):
    axis = input.ndim - 1 if dim is None else dim % input.ndim
    values, places = sort(input, axis, largest)
    return _part(values, axis, 0, int(k)), _part(places, axis, 0, int(k))


top_k = topk


def unique(input):
    values, places, at = [], [], {}
    for v in _index._flat(input.tolist()):
        if v not in at:
            at[v] = len(values)
            values.append(v)
        places.append(at[v])
    return _core.tensor_of(values, input.dtype), _core.reshape(_core.tensor_of(places, int32), input.shape)


def unique_with_pad(x, pad_num):
    values, places = unique(x)
    return pad(values, ((0, x.size - values.size),), value=pad_num), places


def unique_consecutive(input, return_idx=False, return_counts=False, axis=None):
    values, places, counts = [], [], []
    along = None if axis is None else axis % input.ndim
    for v in _index._flat(input.tolist()) if along is None else _core.swapaxes(input, 0, along).tolist():
        if not values or values[-1] != v:
            values.append(v)
            counts.append(0)
        counts[-1] += 1
        places.append(len(values) - 1)
    made = _core.tensor_of(values, input.dtype)
    result = (made if along is None else _core.swapaxes(made, 0, along),)
    if return_idx:
        places = _core.tensor_of(places, int64)
        result += (_core.reshape(places, input.shape) if along is None else places,)
    if return_counts:
        result += (_core.tensor_of(counts, int64),)
    return result if len(result) > 1 else result[0]


def _in_order_of(x, places):
    from mindspore.ops import _gather
    return _gather.gather_elements(x, -1, places)


def searchsorted(sorted_sequence, values, *, out_int32=False, right=False, side=None, sorter=None):
    right = right if side is None else side == "right"
    sorted_sequence = sorted_sequence if sorter is None else _in_order_of(sorted_sequence, sorter)
    values = _operand(values)
    last = sorted_sequence.ndim - 1
    a = _core.reshape(sorted_sequence, sorted_sequence.shape[:last] + (1,) * (1 if last else values.ndim) + sorted_sequence.shape[last:])
    hits = _core.compare("LE" if right else "LT", a, _core.reshape(values, values.shape + (1,)))
    return _reduce("add", convert(hits, int32 if out_int32 else int64), hits.ndim - 1)


def bucketize(input, boundaries, *, right=False):
    return convert(searchsorted(_core.tensor_of(boundaries), input, right=not right if False else right), int32)


def sequence_mask(lengths, maxlen=None):
    maxlen = int(_reduce("max", lengths)) if maxlen is None else int(maxlen)
    return _core.compare("LT", _op("iota", (), {"to": (lengths.element, (maxlen,)), "iota_dimension": 0}), expand_dims(lengths, -1))


def isin(x, values):
    values = _core.tensor_of(values)
    return _reduce("or", _core.compare("EQ", _core.reshape(x, x.shape + (1,)), _core.reshape(values, (-1,))), x.ndim)


def space_to_depth(x, block_size):
    n, c, h, w = x.shape
    b = block_size
    x = _core.transpose(_core.reshape(x, (n, c, h // b, b, w // b, b)), (0, 3, 5, 1, 2, 4))
    return _core.reshape(x, (n, c * b * b, h // b, w // b))


def depth_to_space(x, block_size):
    n, c, h, w = x.shape
    b = block_size
    x = _core.transpose(_core.reshape(x, (n, b, b, c // (b * b), h, w)), (0, 3, 4, 1, 5, 2))
    return _core.reshape(x, (n, c // (b * b), h * b, w * b))


def pixel_shuffle(input, upscale_factor):
    *batch, c, h, w = input.shape
    b = upscale_factor
    x = _core.reshape(input, (-1, c // (b * b), b, b, h, w))
    return _core.reshape(_core.transpose(x, (0, 1, 4, 2, 5, 3)), tuple(batch) + (c // (b * b), h * b, w * b))


def pixel_unshuffle(input, downscale_factor):
    *batch, c, h, w = input.shape
    b = downscale_factor
    x = _core.reshape(input, (-1, c, h // b, b, w // b, b))
    return _core.reshape(_core.transpose(x, (0, 1, 3, 5, 2, 4)), tuple(batch) + (c * b * b, h // b, w // b))


def channel_shuffle(x, groups):
    n, c = x.shape[:2]
    return _core.reshape(_core.swapaxes(_core.reshape(x, (n, groups, c // groups) + x.shape[2:]), 1, 2), x.shape)


def vander(x, N=None):
    n = x.shape[0] if N is None else N
    return _core.pow_(_core.reshape(x, (-1, 1)), convert(_core.sub(n - 1, _iota((n,), 0)), x.dtype))


def combinations(input, r=2, with_replacement=False):
    import itertools
    pick = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    rows = [list(p) for p in pick(_builtins.range(input.shape[0]), r)]
    return _gathered(input, _core.tensor_of(rows), 0)


def cartesian_prod(*inputs):
    grids = meshgrid(*inputs, indexing="ij")
    return stack([_core.reshape(g, (-1,)) for g in grids], 1)


def block_diag(*inputs):
    inputs = [atleast_2d(x) for x in inputs]
    width, rows, at = _builtins.sum(x.shape[1] for x in inputs), [], 0
    for x in inputs:
        rows.append(pad(x, ((0, 0), (at, width - at - x.shape[1]))))
        at += x.shape[1]
    return concat(rows, 0)


def diff(x, n=1, axis=-1, prepend=None, append=None):
    parts = [p for p in (prepend, x, append) if p is not None]
    x = concat(parts, axis) if len(parts) > 1 else x
    for _ in _builtins.range(n):
        size = x.shape[axis]
        x = _core.sub(_part(x, axis % x.ndim, 1, size), _part(x, axis % x.ndim, 0, size - 1))
    return x


def trapz(y, x=None, *, dx=1.0, dim=-1):
    n = y.shape[dim]
    pairs = _core.add(_part(y, dim % y.ndim, 1, n), _part(y, dim % y.ndim, 0, n - 1))
    width = dx if x is None else diff(x, 1, -1)
    return _reduce("add", _core.mul(pairs, _core.mul(width, 0.5)), dim)


def is_nonzero(input):
    return bool(_core.compare("NE", input, 0))


def zeros_like_tensor(x):
    return zeros_like(x)


_amp.listed(globals())
__all__ = [n for n in dir() if not n.startswith("_") and callable(globals()[n])
           and n not in ("Tensor", "convert", "need_tensor", "bool_", "float32", "float64", "int32", "int64")]
