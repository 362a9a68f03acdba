# SPDX-License-Identifier: Apache-2.0
"""Sparse tensors, made and taken apart inside of graphs and outside, as arguments and results, and their gradients. The values are MindSpore's."""
import numpy as np
import mindspore as ms
from mindspore import COOTensor, CSRTensor, Tensor, jit, nn, ops

indptr, columns = Tensor([0, 1, 2, 4], ms.int32), Tensor([0, 3, 1, 2], ms.int32)
values, shape = Tensor([1.0, -2.0, 3.0, 4.0], ms.float32), (3, 4)
DENSE = np.array([[1, 0, 0, 0], [0, 0, 0, -2], [0, 3, 4, 0]], np.float32)


@jit
def made(values):
    x = CSRTensor(indptr, columns, values, shape)
    return x.values + 1, x.indptr, x.shape, x.ndim, x.size, x.dtype


@jit
def through(x):
    return x.abs()


@jit
def dense_of(x):
    return x.to_dense(), x.to_coo()


@jit
def products(x, dense, vector):
    return ops.csr_mv(x, vector) if hasattr(ops, "csr_mv") else x.mv(vector), x.mm(dense), x.sum(1), x * 2


@jit
def coo(indices, values):
    x = COOTensor(indices, values, (3, 4))
    return x.to_csr(), ops.coo_relu(x).values


class Net(nn.Cell):
    def construct(self, values, vector):
        return CSRTensor(indptr, columns, values, shape).mv(vector)


def main():
    plus, pointers, size, rank, count, dtype = made(values)
    assert plus.asnumpy().tolist() == [2, -1, 4, 5] and pointers.asnumpy().tolist() == [0, 1, 2, 4]
    assert size == (3, 4) and rank == 2 and count == 4 and dtype == ms.float32

    x = CSRTensor(indptr, columns, values, shape)
    y = through(x)
    assert isinstance(y, CSRTensor) and y.values.asnumpy().tolist() == [1, 2, 3, 4] and y.shape == shape

    dense, c = dense_of(x)
    assert (dense.asnumpy() == DENSE).all() and isinstance(c, COOTensor)
    assert c.indices.asnumpy().tolist() == [[0, 0], [1, 3], [2, 1], [2, 2]]

    m = np.arange(8, dtype=np.float32).reshape(4, 2)
    v, mm, total, twice = products(x, Tensor(m), Tensor(m[:, :1]))
    assert (v.asnumpy() == DENSE @ m[:, :1]).all() and (mm.asnumpy() == DENSE @ m).all()
    assert (total.asnumpy() == DENSE.sum(1, keepdims=True)).all() and twice.values.asnumpy().tolist() == [2, -4, 6, 8]

    csr, relu = coo(Tensor([[2, 1], [0, 3], [2, 0]], ms.int32), Tensor([1.0, 2.0, -3.0], ms.float32))
    assert csr.indptr.asnumpy().tolist() == [0, 1, 1, 3] and csr.indices.asnumpy().tolist() == [3, 0, 1]
    assert csr.values.asnumpy().tolist() == [2, -3, 1] and relu.asnumpy().tolist() == [1, 2, 0]

    for mode in (ms.GRAPH_MODE, ms.PYNATIVE_MODE):
        ms.set_context(mode=mode)
        grads = ms.grad(Net(), (0, 1))(values, Tensor(m[:, :1]))
        assert grads[0].asnumpy().tolist() == [0, 6, 2, 4], grads[0]
        assert grads[1].asnumpy().ravel().tolist() == [1, 3, 4, -2], grads[1]

    both = COOTensor(Tensor([[0, 1], [1, 2]]), Tensor([1, 2]), (3, 4)) + COOTensor(Tensor([[1, 2], [0, 0]]), Tensor([3, 4]), (3, 4))
    assert both.indices.asnumpy().tolist() == [[0, 0], [0, 1], [1, 2]] and both.values.asnumpy().tolist() == [4, 1, 5]
    assert repr(both.values) == "Tensor(shape=[3], dtype=Int64, value= [4, 1, 5])" and "values=Tensor(shape=[3], dtype=Int64, value=[4 1 5])" in repr(both)
    for wrong, kind in ((lambda: CSRTensor(indptr, columns, values, [3, 4]), TypeError),
                        (lambda: COOTensor(Tensor([[0, 1]]), values, (3, 4)), ValueError)):
        try:
            wrong()
        except kind:
            continue
        raise AssertionError(kind)


main()
