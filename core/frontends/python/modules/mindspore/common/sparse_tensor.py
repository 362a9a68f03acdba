# SPDX-License-Identifier: Apache-2.0
"""Sparse tensors: tuples of the tensors that they are made of and of their shape, so that they go into graphs and out of them as tuples
do. What two of them have together where they are added is found where their places are known."""
from mindspore import _core, _index
from mindspore._core import Tensor, convert, int32, int64
from mindspore.ops import function as _f


def _shown(tensor):
    """As repr, the elements without commas."""
    head, mark, elements = repr(tensor).partition("value=")
    return head + mark + elements.replace(",", "").lstrip(" ")


class _Sparse(tuple):
    """@_fields: the names of its elements, the shape last."""
    __slots__ = ()
    _fields = ()

    @classmethod
    def _make(cls, parts):
        return tuple.__new__(cls, parts)

    def __getnewargs__(self):
        return tuple(self)

    @property
    def shape(self):
        return self[-1]

    @property
    def values(self):
        return self[-2]

    @property
    def dtype(self):
        return self.values.dtype

    @property
    def size(self):
        return self.values.size

    @property
    def itemsize(self):
        return self.values.itemsize

    @property
    def ndim(self):
        return len(self.shape)

    def _with(self, values):
        return self._make((*self[:-2], values, self.shape))

    def astype(self, dtype):
        return self._with(convert(self.values, _core.as_type(dtype)))

    def abs(self):
        return self._with(_f.abs(self.values))

    def __neg__(self):
        return self._with(_core.neg(self.values))

    def to_tuple(self):
        return tuple(self)

    def _rows_and_columns(self):
        """The places of values in the first two dimensions."""
        raise NotImplementedError

    def to_dense(self):
        places = _f.stack(self._rows_and_columns(), -1)
        return _f.scatter_nd(places, self.values, self.shape)

    def _at_places(self, dense):
        """What a dense tensor, broadcast to this shape, has at the places of the values."""
        if not isinstance(dense, Tensor) or dense.size == 1:
            return dense if not isinstance(dense, Tensor) else _core.reshape(dense, ())
        return _index.get(_core.broadcast_to(dense, self.shape), self._rows_and_columns())

    def __mul__(self, other):
        return self._with(_core.mul(self.values, self._at_places(other)))

    __rmul__ = __mul__

    def __truediv__(self, other):
        return self._with(_core.div(self.values, self._at_places(other)))

    def __len__(self):
        return self.shape[0]

    def __iter__(self):
        return tuple.__iter__(self)

    def __eq__(self, other):
        return self is other

    def __hash__(self):
        return id(self)

    def __repr__(self):
        parts = ", ".join(f"{name}={_shown(tuple.__getitem__(self, i))}" for i, name in enumerate(self._fields[:-1]))
        return f"{type(self).__name__}(shape={list(self.shape)}, dtype={self.dtype}, {parts})"

    __str__ = __repr__


def _checked(name, indices, values, shape, **others):
    for what, part in dict(indices=indices, values=values, **others).items():
        if not isinstance(part, (Tensor, list, tuple)):
            raise TypeError(f"For '{name}', the type of '{what}' must be 'Tensor', but got '{type(part).__name__}'.")
    if not isinstance(shape, tuple):
        raise TypeError(f"For '{name}', the type of 'shape' must be 'tuple', but got '{type(shape).__name__}'.")
    if not all(isinstance(n, int) and n > 0 for n in shape):
        raise ValueError(f"For '{name}', all the elements of 'shape' must be positive int, but got {shape}.")


class COOTensor(_Sparse):
    """A place for each value."""
    _fields = ("indices", "values", "shape")

    def __new__(cls, indices=None, values=None, shape=None, coo_tensor=None):
        if coo_tensor is not None:
            if not isinstance(coo_tensor, COOTensor):
                raise TypeError(f"For 'COOTensor', the type of 'coo_tensor' must be 'COOTensor', but got '{type(coo_tensor).__name__}'.")
            return cls._make(coo_tensor)
        if indices is None or values is None or shape is None:
            raise TypeError("Inputs must follow: COOTensor(indices, values, shape).")
        _checked("COOTensor", indices, values, shape)
        if indices.ndim != 2 or values.ndim != 1 or indices.shape[0] != values.shape[0] or indices.shape[1] != len(shape):
            raise ValueError(f"For 'COOTensor', 'indices' must be of shape (number of values, {len(shape)}) and 'values' of one dimension, "
                             f"but got {indices.shape} and {values.shape}.")
        return cls._make((indices, values, shape))

    @property
    def indices(self):
        return self[0]

    def _rows_and_columns(self):
        return tuple(self.indices[:, d] for d in range(len(self.shape)))

    def coalesce(self):
        return _merged(self.indices, self.values, self.shape)

    def to_csr(self):
        if len(self.shape) != 2:
            raise ValueError("COOTensor must have 2 dimensions")
        rows, columns = self._rows_and_columns()
        order = _f.argsort(_core.add(_core.mul(convert(rows, int64), self.shape[1]), convert(columns, int64)))
        rows, columns, values = (_f.gather(v, order, 0) for v in (rows, columns, self.values))
        indptr = _f.searchsorted(rows, convert(_f.arange(self.shape[0] + 1), rows.dtype))
        return CSRTensor._make((convert(indptr, self.indices.dtype), columns, values, self.shape))

    def add(self, other, thresh):
        made = _merged(_f.concat((self.indices, other.indices), 0), _f.concat((self.values, other.values), 0), self.shape)
        kept = abs(made.values.asnumpy()) >= abs(thresh.asnumpy() if isinstance(thresh, Tensor) else thresh)
        if kept.all():
            return made
        return COOTensor._make((Tensor(made.indices.asnumpy()[kept]), Tensor(made.values.asnumpy()[kept]), self.shape))

    def __add__(self, other):
        if isinstance(other, COOTensor):
            return self.add(other, 0)
        return _f.tensor_scatter_add(_core.broadcast_to(other, self.shape), self.indices, self.values)

    __radd__ = __add__

    def __sub__(self, other):
        return self + (-other if isinstance(other, COOTensor) else _core.neg(other))


def _known(tensor, what):
    if not tensor.has_data:
        raise _core.NeedsData(f"For '{what}', the places of the values have to be known.")
    return tensor.asnumpy()


def _merged(indices, values, shape):
    """Values of one place are added, places are in order."""
    import numpy
    places, inverse = numpy.unique(_known(indices, "coalesce"), axis=0, return_inverse=True)
    total = _f.unsorted_segment_sum(values, Tensor(inverse.reshape(-1).astype("int32")), len(places))
    return COOTensor._make((Tensor(places), total, shape))


class CSRTensor(_Sparse):
    """The columns of values, row by row."""
    _fields = ("indptr", "indices", "values", "shape")

    def __new__(cls, indptr=None, indices=None, values=None, shape=None, csr_tensor=None):
        if csr_tensor is not None:
            if not isinstance(csr_tensor, CSRTensor):
                raise TypeError(f"For 'CSRTensor', the type of 'csr_tensor' must be 'CSRTensor', but got '{type(csr_tensor).__name__}'.")
            return cls._make(csr_tensor)
        if indptr is None or indices is None or values is None or shape is None:
            raise TypeError("Inputs must follow: CSRTensor(tensor, tensor, tensor, tuple).")
        _checked("CSRTensor", indices, values, shape, indptr=indptr)
        if indptr.ndim != 1 or indices.ndim != 1 or indptr.shape[0] != shape[0] + 1 or indices.shape[0] != values.shape[0]:
            raise ValueError(f"For 'CSRTensor', 'indptr' must have {shape[0] + 1} elements and 'indices' as many as 'values', but got "
                             f"{indptr.shape}, {indices.shape} and {values.shape}.")
        return cls._make((indptr, indices, values, shape))

    @property
    def indptr(self):
        return self[0]

    @property
    def indices(self):
        return self[1]

    def _rows(self):
        at = convert(_f.arange(self.indices.shape[0]), self.indptr.dtype)
        return convert(_core.sub(_f.searchsorted(self.indptr, at, right=True), 1), self.indices.dtype)

    def _rows_and_columns(self):
        return self._rows(), self.indices

    def to_coo(self):
        return COOTensor._make((_f.stack(self._rows_and_columns(), 1), self.values, self.shape))

    def mv(self, dense_vector):
        return self.mm(dense_vector)

    def mm(self, matrix):
        if isinstance(matrix, CSRTensor):
            return dense_to_sparse_csr(_core.matmul(self.to_dense(), matrix.to_dense()))
        rows, columns = self._rows_and_columns()
        parts = _core.mul(_core.reshape(self.values, (-1, 1)), _f.gather(matrix, columns, 0))
        return _f.unsorted_segment_sum(parts, rows, self.shape[0])

    def sum(self, axis):
        if axis not in (1, -1):
            raise ValueError(f"For 'sum', the axis of a CSRTensor must be 1, but got {axis}.")
        total = _f.unsorted_segment_sum(self.values, self._rows(), self.shape[0])
        return _core.reshape(total, (self.shape[0], 1) + self.shape[2:])

    def add(self, b, alpha, beta):
        mine, other = self.to_coo(), b.to_coo()
        return _merged(_f.concat((mine.indices, other.indices), 0),
                       _f.concat((_core.mul(mine.values, alpha), _core.mul(other.values, beta)), 0), self.shape).to_csr()

    def __add__(self, other):
        one = _core.full((), 1, self.dtype)
        return self.add(other, one, one)

    def __sub__(self, other):
        return self + (-other)


class RowTensor(_Sparse):
    """Some rows of a tensor."""
    _fields = ("indices", "values", "dense_shape")

    def __new__(cls, indices=None, values=None, shape=None, row_tensor=None):
        if row_tensor is not None:
            return cls._make(row_tensor)
        if indices is None or values is None or shape is None:
            raise TypeError("Inputs must follow: RowTensor(indices, values, shape).")
        _checked("RowTensor", indices, values, shape)
        return cls._make((indices, values, shape))

    indices = property(lambda self: self[0])
    dense_shape = property(lambda self: self[2])
    RowTensorInner = property(lambda self: type(self))


RowTensorInner = RowTensor


class SparseTensor(COOTensor):
    """What COOTensor was called."""
    dense_shape = property(lambda self: self[2])


def dense_to_sparse_coo(tensor):
    import numpy
    found = _known(tensor, "to_coo")
    places = numpy.argwhere(found)
    return COOTensor._make((Tensor(places), _f.gather_nd(tensor, Tensor(places)), tensor.shape))


def dense_to_sparse_csr(tensor):
    made = dense_to_sparse_coo(tensor)
    return COOTensor._make((convert(made.indices, int32), made.values, made.shape)).to_csr()


# ops.coo_... and ops.csr_...

def _of_values(function):
    def call(x):
        return x._with(function(x.values))
    return call


for _name in ("abs acos acosh asin asinh atan atanh ceil cos cosh exp expm1 floor inv isfinite isinf isnan log log1p neg relu relu6 round "
              "sigmoid sin sinh softsign sqrt square tan tanh").split():
    globals()["coo_" + _name] = globals()["csr_" + _name] = _of_values(getattr(_f, _name))


def coo_add(x1, x2, thresh):
    return x1.add(x2, thresh)


def coo_concat(sp_input, concat_dim=0):
    offset, indices, first = 0, [], sp_input[0]
    concat_dim %= len(first.shape)
    for part in sp_input:
        shift = _core.tensor_of([offset if d == concat_dim else 0 for d in range(len(first.shape))], part.indices.dtype)
        indices.append(_core.add(part.indices, shift))
        offset += part.shape[concat_dim]
    shape = tuple(offset if d == concat_dim else n for d, n in enumerate(first.shape))
    indices, values = _f.concat(indices, 0), _f.concat([part.values for part in sp_input], 0)
    keys = _f.ravel_index(indices, shape) if hasattr(_f, "ravel_index") else _key(indices, shape)
    order = _f.argsort(keys)
    return COOTensor._make((_f.gather(indices, order, 0), _f.gather(values, order, 0), shape))


def _key(indices, shape):
    key = None
    for d, n in enumerate(shape):
        at = convert(indices[:, d], int64)
        key = at if key is None else _core.add(_core.mul(key, n), at)
    return key


def csr_add(a, b, alpha, beta):
    return a.add(b, alpha, beta)


def csr_softmax(logits, dtype):
    rows, n = logits._rows(), logits.shape[0]
    x = convert(logits.values, _core.as_type(dtype))
    x = _f.exp(_core.sub(x, _f.gather(_f.unsorted_segment_max(x, rows, n), rows, 0)))
    return logits._with(_core.div(x, _f.gather(_f.unsorted_segment_sum(x, rows, n), rows, 0)))


def csr_gather(indptr, indices, dense, shape):
    tensor = CSRTensor._make((indptr, indices, indices, tuple(shape)))
    return _index.get(dense, tensor._rows_and_columns())


def csr_to_coo(tensor):
    return tensor.to_coo()


def csr_to_dense(csr_tensor):
    return csr_tensor.to_dense()


coo_to_dense = csr_to_dense


def coo_to_csr(tensor):
    return tensor.to_csr()


def csr_mv(csr_tensor, dense):
    return csr_tensor.mv(dense)


def csr_mm(a, b, trans_a=False, trans_b=False, adjoint_a=False, adjoint_b=False):
    b = _core.swapaxes(b, 0, 1) if trans_b or adjoint_b else b
    return _core.matmul(_core.swapaxes(a.to_dense(), 0, 1), b) if trans_a or adjoint_a else a.mm(b)


def csr_reduce_sum(csr_tensor, axis):
    return csr_tensor.sum(axis)


def csr_mul(x, y):
    return (x * y).values


def csr_div(x, y):
    return (x / y).values


def make_coo_tensor(indices, values, dense_shape):
    return COOTensor(indices, values, tuple(dense_shape))


def make_csr_tensor(indptr, indices, values, dense_shape):
    return CSRTensor(indptr, indices, values, tuple(dense_shape))


def make_row_tensor(indices, values, dense_shape):
    return RowTensor(indices, values, tuple(dense_shape))


make_sparse_tensor, make_row_tensor_inner = make_coo_tensor, make_row_tensor


def row_tensor_get_indices(x):
    return x.indices


def row_tensor_get_values(x):
    return x.values


def row_tensor_get_dense_shape(x):
    return x.dense_shape


def row_tensor_add(x, y):
    return RowTensor._make((_f.concat((x.indices, y.indices), 0), _f.concat((x.values, y.values), 0), x.dense_shape))


coo_tensor_get_indices = row_tensor_get_indices
coo_tensor_get_values = row_tensor_get_values


def coo_tensor_get_dense_shape(x):
    return x.shape


__all__ = [n for n in globals() if n.startswith(("coo_", "csr_", "make_", "row_tensor", "dense_to_sparse"))]
