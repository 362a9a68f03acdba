# SPDX-License-Identifier: Apache-2.0
"""Cells of mindspore.mint.nn against the formulas of their documentation, in eager mode and as graphs, and a network of them that learns."""
import numpy as np
import mindspore as ms
from mindspore import Tensor, mint, nn, ops

rng = np.random.RandomState(2)
x = rng.randn(2, 4, 6, 6).astype(np.float32)
t = Tensor(x)


def close(a, b, tolerance=1e-4):
    assert a.shape == np.shape(b) and np.allclose(a.asnumpy(), b, atol=tolerance), (a, b)


def windows(a, k, s):
    n = (a.shape[-1] - k) // s + 1
    return np.stack([a[..., i * s:i * s + k, j * s:j * s + k].reshape(a.shape[:2] + (-1,)) for i in range(n) for j in range(n)], -2).reshape(
        a.shape[:2] + (n, n, k * k))


def convolved(cell, a, padding):
    w, b = cell.weight.asnumpy(), cell.bias.asnumpy()
    a = np.pad(a, ((0, 0), (0, 0), (padding, padding), (padding, padding)))
    k, n = w.shape[-1], a.shape[-1] - w.shape[-1] + 1
    return np.stack([[np.einsum("bcij,ocij->bo", a[:, :, i:i + k, j:j + k], w) for j in range(n)] for i in range(n)]).transpose(2, 3, 0, 1) + b[:, None, None]


for mode in (ms.GRAPH_MODE, ms.PYNATIVE_MODE):
    ms.set_context(mode=mode)
    conv = mint.nn.Conv2d(4, 3, 3, padding=1)
    close(conv(t), convolved(conv, x, 1))
    close(mint.nn.functional.conv2d(t, conv.weight, conv.bias, 1, 1), convolved(conv, x, 1))
    assert mint.nn.Conv2d(4, 3, 3, padding="same", bias=False)(t).shape == (2, 3, 6, 6) and mint.nn.Conv2d(4, 3, 3, padding=(1, 0))(t).shape == (2, 3, 6, 4)
    assert mint.nn.Conv2d(4, 6, 3, stride=2, groups=2).weight.shape == (6, 2, 3, 3)

    norm = mint.nn.BatchNorm2d(4)
    norm.set_train()
    mean, variance = x.mean((0, 2, 3)), x.var((0, 2, 3))
    close(norm(t), (x - mean[:, None, None]) / np.sqrt(variance + 1e-5)[:, None, None])
    close(norm.running_mean, 0.1 * mean)
    close(norm.running_var, 0.9 + 0.1 * variance * 72 / 71)
    norm.set_train(False)
    close(norm(t), (x - 0.1 * mean[:, None, None]) / np.sqrt(0.9 + 0.1 * variance * 72 / 71 + 1e-5)[:, None, None])

    close(mint.nn.AvgPool2d(2)(t), windows(x, 2, 2).mean(-1))
    close(mint.nn.MaxPool2d(3, 1)(t), windows(x, 3, 1).max(-1))
    close(mint.nn.LayerNorm(6)(t), (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5))
    groups = x.reshape(2, 2, -1)
    close(mint.nn.GroupNorm(2, 4)(t), ((groups - groups.mean(-1, keepdims=True)) / np.sqrt(groups.var(-1, keepdims=True) + 1e-5)).reshape(x.shape))
    linear = mint.nn.Linear(6, 5)
    close(linear(t), x @ linear.weight.asnumpy().T + linear.bias.asnumpy())
    table = mint.nn.Embedding(7, 3, padding_idx=2)
    close(table(Tensor([1, 2], ms.int32)), [table.weight.asnumpy()[1], np.zeros(3)])
    close(mint.nn.GELU()(t), ops.gelu(t, approximate="none").asnumpy())
    close(mint.nn.Softmax(1)(t), np.exp(x) / np.exp(x).sum(1, keepdims=True))
    close(mint.nn.SmoothL1Loss("mean", 2.0)(t, t * 3), np.where(abs(2 * x) < 2, x ** 2, abs(2 * x) - 1).mean())
    close(mint.nn.BCEWithLogitsLoss(None, "sum")(t, ops.ones_like(t)), np.log1p(np.exp(-x)).sum(), 1e-2)
    target = np.log(np.exp(x) / np.exp(x).sum(1, keepdims=True))
    close(mint.nn.KLDivLoss("sum", True)(t, Tensor(target)), (np.exp(target) * (target - x)).sum(), 1e-2)
    close(mint.nn.PReLU()(t), np.where(x > 0, x, 0.25 * x))

for call in (lambda: mint.nn.MaxPool2d(), lambda: mint.nn.GELU(wrong=1), lambda: mint.nn.Conv2d(4, 3, 3, groups=3)):
    try:
        call()
    except (TypeError, ValueError):
        continue
    raise AssertionError(call)


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.conv, self.norm, self.pool = mint.nn.Conv2d(4, 8, 3, padding=1), mint.nn.BatchNorm2d(8), mint.nn.MaxPool2d(2)
        self.head, self.relu = mint.nn.Linear(8 * 9, 3), mint.nn.ReLU()

    def construct(self, images):
        y = self.pool(self.relu(self.norm(self.conv(images))))
        return self.head(mint.flatten(y, 1))


ms.set_context(mode=ms.GRAPH_MODE)
ms.set_seed(1)
net = Net()
step = nn.TrainOneStepCell(nn.WithLossCell(net, mint.nn.CrossEntropyLoss()), nn.Momentum(net.trainable_params(), 0.05, 0.9))
step.set_train()
labels = Tensor([0, 2], ms.int32)
losses = [float(step(t, labels)) for _ in range(12)]
assert losses[-1] < 0.3 * losses[0], losses
assert float(net.norm.num_batches_tracked) == 12
