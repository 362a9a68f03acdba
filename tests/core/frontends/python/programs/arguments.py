# SPDX-License-Identifier: Apache-2.0
"""Arguments and attributes that change what is computed: none is taken and left out. The values are MindSpore's."""
import numpy as np
import mindspore as ms
import mindspore.numpy as mnp
from mindspore import Parameter, Tensor, ops

NAN, INF = float("nan"), float("inf")


def F(*values):
    return Tensor(np.array(values, np.float32))


def I(*values):
    return Tensor(np.array(values, np.int32))


def same(found, expected):
    found = found.asnumpy() if isinstance(found, Tensor) else np.array(found)
    assert np.allclose(found, expected, 1e-4, 1e-5, equal_nan=True) and found.shape == np.shape(expected), (found, expected)


X = F(1, 2, 3)
for exclusive, reverse, product, total in ((False, False, [1, 2, 6], [1, 3, 6]), (True, False, [1, 1, 2], [0, 1, 3]),
                                           (False, True, [6, 6, 3], [6, 5, 3]), (True, True, [6, 3, 1], [5, 3, 0])):
    same(ops.CumProd(exclusive, reverse)(X, 0), product)
    same(ops.CumSum(exclusive, reverse)(X, 0), total)
same(ops.CumulativeLogsumexp(True, False)(X, Tensor(0, ms.int32))[1:], [1, 2.3132617])
same(ops.CumulativeLogsumexp(False, True)(X, Tensor(0, ms.int32)), [3.407606, 3.3132617, 3])
same(ops.Mod()(F(-4, 5, 6), F(3, 2, -4)), [-1, 1, 2])
same(ops.EmbeddingLookup()(F([8, 9], [10, 11], [12, 13]), I([5, 2], [8, 5]), 4), [[[10, 11], [0, 0]], [[0, 0], [10, 11]]])
loss, weight = ops.NLLLoss(reduction="mean")(F([0.5, 0.2], [0.1, 0.9], [0.3, 0.4]), I(0, 1, 1), F(0.5, 2.0))
same(loss, -2.85 / 4.5)
same(weight, 4.5)

M = F([0, 2], [1, 1], [2, 0])
same(ops.cov(F([0, 1, 2], [2, 1, 1]), fweights=I(1, 2, 3)), np.cov([[0, 1, 2], [2, 1, 1]], fweights=[1, 2, 3]))
same(mnp.cov(F([0, 1, 2], [2, 1, 1]), aweights=F(1, 2, 3)), np.cov([[0, 1, 2], [2, 1, 1]], aweights=[1, 2, 3]))
same(mnp.cov(F(0, 1, 2), y=F(2, 1, 5)), np.cov([0, 1, 2], [2, 1, 5]))
same(mnp.corrcoef(F(0, 1, 2), y=F(2, 1, 5)), np.corrcoef([0, 1, 2], [2, 1, 5]))
same(mnp.amax(M, 1, initial=-1, where=M < 2), [0, 1, 0])
same(mnp.amin(M, initial=-3), -3)
same(mnp.prod(F(1, 2, 3), initial=2), 12)
same(mnp.meshgrid(F(1, 2, 3), F(4, 5), sparse=True)[1], [[4], [5]])
same(mnp.average(F([1, 2], [3, 4]), axis=0, weights=F(1, 3), returned=True)[1], [4, 4])
same(mnp.clip(F(0, 5, 9), 1, 8, where=Tensor([True, False, True])), [1, 5, 8])
same(mnp.take(F(1, 2, 3), I(4, -1), mode="wrap"), [2, 3])
same(mnp.take(F(1, 2, 3), I(4, -1)), [3, 1])
same(mnp.take_along_axis(F([1, 2], [3, 4]), I([0]), 1), [[1], [3]])
same(mnp.searchsorted(F(3, 1, 2), F(1.5), sorter=I(1, 2, 0)), [1])
same(mnp.bincount(I(1, 2, 2), length=5), [0, 1, 2, 0, 0])
same(mnp.ediff1d(F(1, 2, 4), to_end=F(9), to_begin=F(0)), [0, 1, 2, 9])
assert bool(mnp.array_equal(F(1, NAN), F(1, NAN), equal_nan=True)) and not bool(mnp.array_equal(F(1, NAN), F(1, NAN)))
same(mnp.isclose(F(INF, INF, NAN, 1), F(-INF, INF, NAN, 1)), [False, True, False, True])
A = F(1, 2, 3, 4, 5)
for mode, options in (("maximum", {}), ("minimum", dict(stat_length=2)), ("mean", dict(stat_length=((2, 3),))), ("linear_ramp", dict(end_values=(10, 0))),
                      ("reflect", dict(reflect_type="odd")), ("symmetric", dict(reflect_type="odd")), ("median", {})):
    same(mnp.pad(A, (3, 2), mode, **options), np.pad(A.asnumpy(), (3, 2), mode, **options))
same(mnp.pad(M, ((1, 0), (2, 1)), "mean"), np.pad(M.asnumpy(), ((1, 0), (2, 1)), "mean"))

same(F([1, 2, 3], [4, 5, 6]).index_put((I(0, 1, 1), I(1, 2, 2)), F(1, 1, 2), accumulate=True), [[1, 3, 3], [4, 5, 9]])
assert ops.mean(I(1, 2, 6)).dtype == ms.int32 and int(ops.mean(I(1, 2, 6))) == 3
assert ops.bernoulli(I(1, 2), 0.5).dtype == ms.int32 and ops.multinomial(F(0.5, 0.5), 2).dtype == ms.int32

# What operations that assign give is a tensor.
for operation, value in ((ops.Assign(), [7, 7]), (ops.AssignAdd(), [8, 9]), (ops.ScatterUpdate(), [7, 2])):
    parameter = Parameter(F(1, 2), name="p")
    given = operation(parameter, I(0), F(7)) if isinstance(operation, ops.ScatterUpdate) else operation(parameter, F(7, 7))
    assert not isinstance(given, Parameter), operation
    same(given, value)
