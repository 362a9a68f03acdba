# SPDX-License-Identifier: Apache-2.0
"""Random operations draw from one stream that each call moves on: in graphs, in eager mode, in gradients of both."""
import numpy as np
import mindspore as ms
from mindspore import Parameter, Tensor, nn, ops
from mindspore.common.initializer import TruncatedNormal, initializer

X = Tensor(np.ones(1000, np.float32))


def near(a, b, tolerance=1e-4):
    return np.allclose(a, b, rtol=tolerance, atol=tolerance)


# A dropout mask is another one at each call, and set_seed begins the stream again.
ms.set_context(mode=ms.GRAPH_MODE)
drop = nn.Dropout(p=0.25).set_train()
ms.set_seed(11)
first, second = drop(X).asnumpy(), drop(X).asnumpy()
assert not np.array_equal(first, second)
ms.set_seed(11)
assert np.array_equal(drop(X).asnumpy(), first) and np.array_equal(drop(X).asnumpy(), second)
assert set(np.unique(first)) == {np.float32(0), np.float32(1 / 0.75)} and abs((first == 0).mean() - 0.25) < 0.06

# Eager mode goes on where a graph stopped.
ms.set_seed(11)
ms.set_context(mode=ms.PYNATIVE_MODE)
assert np.array_equal(drop(X).asnumpy(), first)
ms.set_context(mode=ms.GRAPH_MODE)
assert np.array_equal(drop(X).asnumpy(), second)

# An operation with a seed of its own has a stream of its own.
ms.set_seed(1)
own = [ops.standard_normal((4,), seed=5).asnumpy() for _ in range(2)]
assert not np.array_equal(own[0], own[1])
ms.set_seed(2)
assert np.array_equal(ops.standard_normal((4,), seed=5).asnumpy(), own[0])


# In loops and branches on data.
@ms.jit
def walk(n, x):
    at, total = Tensor(0), ops.zeros((3,), ms.float32)
    while at < n:
        if x > 0:
            total = total + ops.standard_normal((3,))
        else:
            total = total + 1
        at = at + 1
    return total


ms.set_seed(3)
sums = [walk(Tensor(3), Tensor(1.0)).asnumpy(), walk(Tensor(2), Tensor(-1.0)).asnumpy(), walk(Tensor(1), Tensor(1.0)).asnumpy()]
ms.set_seed(3)
drawn = [ops.standard_normal((3,)).asnumpy() for _ in range(4)]
assert near(sums[0], drawn[0] + drawn[1] + drawn[2]) and near(sums[1], 2) and near(sums[2], drawn[3])


# A gradient is that of the mask which its own call drew.
def masked(w):
    return ops.dropout(w, 0.3).sum()


for wrap in (ms.jit, lambda f: f):
    step = wrap(ms.value_and_grad(masked))
    values = []
    for _ in range(3):
        value, grad = step(X)
        assert near(value.asnumpy(), grad.asnumpy().sum())
        values.append(float(value))
    assert len(set(values)) == 3


# A Parameter that the function reads and then assigns: its gradient is by what was read.
class Counter(nn.Cell):
    def __init__(self):
        super().__init__()
        self.p = Parameter(Tensor([2.0]), name="p")

    def construct(self, x):
        y = x * self.p
        ops.assign(self.p, self.p + 5)
        return y * y


for mode in (ms.GRAPH_MODE, ms.PYNATIVE_MODE):
    ms.set_context(mode=mode)
    counter = Counter()
    by_x = ms.grad(counter)
    assert near(by_x(Tensor([3.0])).asnumpy(), 24) and near(by_x(Tensor([3.0])).asnumpy(), 294)

# Training with dropout gives the same losses as a graph and eagerly.
losses = []
for mode in (ms.GRAPH_MODE, ms.PYNATIVE_MODE):
    ms.set_context(mode=mode)
    ms.set_seed(7)
    net = nn.SequentialCell(nn.Dense(4, 32), nn.Dropout(p=0.5), nn.Dense(32, 1)).set_train()
    step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), nn.SGD(net.trainable_params(), 0.05)).set_train()
    x, y = Tensor(np.ones((8, 4), np.float32)), Tensor(np.full((8, 1), 2.0, np.float32))
    losses.append([float(step(x, y)) for _ in range(12)])
assert near(losses[0], losses[1], 1e-3) and np.mean(losses[0][-3:]) < np.mean(losses[0][:3])

# Moments.
ms.set_context(mode=ms.PYNATIVE_MODE)
ms.set_seed(5)
n = 40000
for sample, mean, deviation in ((ops.standard_normal((n,)), 0, 1), (ops.rand(n), 0.5, 12 ** -0.5),
                                (ops.normal((n,), Tensor(2.0), Tensor(3.0)), 2, 3),
                                (ops.laplace((n,), Tensor(1.0), Tensor(2.0)), 1, 2 * 2 ** 0.5),
                                (ops.bernoulli(Tensor(np.full(n, 0.3, np.float32)), 0.3), 0.3, 0.21 ** 0.5)):
    values = sample.asnumpy()
    assert abs(values.mean() - mean) < 6 * deviation / n ** 0.5 and abs(values.std() / deviation - 1) < 0.05

# A normal distribution cut at values, and not at sigmas: mean and deviation by its formula, within the bounds, few on them.
for arguments, mean, deviation in (((0.02,), 0, 0.02), ((1.0,), 0, 0.87963), ((2.0,), 0, 1.07922), ((1.0, 5.0), 1.71690, 0.26563),
                                   ((1.0, 0.0, 3.0, 4.0), 3.26045, 0.22199), ((0.01, 0.0, 0.05, 0.1), 0.05187, 0.001808)):
    low, high = (arguments + (0.0, -2.0, 2.0)[len(arguments) - 1:])[2:]
    values = initializer(TruncatedNormal(*arguments), (n,)).asnumpy()
    assert low <= values.min() and values.max() <= high and (values == values.max()).sum() < 4, arguments
    assert abs(values.mean() - mean) < 6 * deviation / n ** 0.5 and abs(values.std() / deviation - 1) < 0.05, arguments
