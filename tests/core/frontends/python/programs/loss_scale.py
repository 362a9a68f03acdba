# SPDX-License-Identifier: Apache-2.0
"""Steps with a scale of the loss, and the optimizers that scale by layer, against NumPy."""
import numpy as np
import mindspore as ms
from mindspore import Parameter, Tensor, nn, ops

W = np.array([[1.0, -2.0], [0.5, 3.0]], np.float32)
X = np.array([[1.0, 2.0], [-1.0, 0.5], [0.3, -0.7]], np.float32)


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.w = Parameter(Tensor(W), name="w")

    def construct(self, x):
        return ops.matmul(x, self.w)


class Squares(nn.Cell):
    def __init__(self, net):
        super().__init__()
        self.net = net

    def construct(self, x):
        return (self.net(x) ** 2).sum()


def gradient(w):
    return 2 * X.T @ (X @ w)


def close(a, b):
    return np.allclose(a, b, rtol=1e-5, atol=1e-5)


def lamb(w, steps, rate=0.1, b1=0.9, b2=0.999, eps=1e-6, decay=0.2):
    m = v = np.zeros_like(w)
    for t in range(1, steps + 1):
        g = gradient(w)
        m, v = b1 * m + (1 - b1) * g, b2 * v + (1 - b2) * g * g
        r = m / (1 - b1 ** t) / (np.sqrt(v / (1 - b2 ** t)) + eps) + decay * w
        w = w - rate * np.linalg.norm(w) / np.linalg.norm(r) * r
    return w


def lars(w, steps, rate=0.1, momentum=0.9, decay=0.1, coefficient=0.02, eps=1e-5, clip=False):
    a = np.zeros_like(w)
    for _ in range(steps):
        g = gradient(w)
        n, k = np.linalg.norm(w), np.linalg.norm(g)
        trust = coefficient * n / (k + decay * n + eps)
        trust = min(trust / rate, 1) if clip else trust
        a = momentum * a + trust * (g + decay * w)
        w = w - rate * a
    return w


def momentum(w, steps):
    a = np.zeros_like(w)
    for _ in range(steps):
        a = 0.9 * a + gradient(w)
        w = w - 0.01 * a
    return w


for mode in (ms.GRAPH_MODE, ms.PYNATIVE_MODE):
    ms.set_context(mode=mode)
    for make, expected in ((lambda p: nn.Lamb(p, 0.1, weight_decay=0.2), lamb(W, 3)),
                           (lambda p: nn.LARS(nn.Momentum(p, 0.1, 0.9, weight_decay=0.1), coefficient=0.02), lars(W, 3)),
                           (lambda p: nn.LARS(nn.Momentum(p, 0.1, 0.9, weight_decay=0.1), coefficient=0.02, use_clip=True), lars(W, 3, clip=True))):
        net = Net()
        step = nn.TrainOneStepCell(Squares(net), make(net.trainable_params()))
        for _ in range(3):
            step(Tensor(X))
        assert close(net.w.asnumpy(), expected), (net.w.asnumpy(), expected)

    # The scale cancels; it doubles after two steps without overflow, and a step that overflows changes nothing but the scale.
    for scale in (nn.FixedLossScaleUpdateCell(128.0), nn.DynamicLossScaleUpdateCell(64.0, 2, 2), Tensor(16.0)):
        net = Net()
        optimizer = nn.Momentum(net.trainable_params(), 0.01, 0.9)
        cell = nn.TrainOneStepWithLossScaleCell(Squares(net), optimizer, scale)
        for i in range(3):
            before = net.w.asnumpy().copy()
            loss, overflow, used = cell(Tensor(X))
            assert close(loss.asnumpy(), ((X @ before) ** 2).sum()) and not overflow.asnumpy(), loss
        assert close(net.w.asnumpy(), momentum(W, 3))
        dynamic = isinstance(scale, nn.DynamicLossScaleUpdateCell)
        assert float(cell.scale_sense) == (128.0 if dynamic or isinstance(scale, nn.FixedLossScaleUpdateCell) else 16.0), cell.scale_sense
        if dynamic:
            kept = net.w.asnumpy().copy(), optimizer.moments[0].asnumpy().copy()
            loss, overflow, used = cell(Tensor(np.full_like(X, np.inf)))
            assert overflow.asnumpy() and float(cell.scale_sense) == 64.0
            assert np.array_equal(kept[0], net.w.asnumpy()) and np.array_equal(kept[1], optimizer.moments[0].asnumpy())

# Names that a program takes from where it finds them, and an array handed over without its copy.
assert nn.Accuracy is ms.train.Accuracy is ms.Accuracy and ms.EarlyStopping is ms.train.EarlyStopping
array = np.arange(6, dtype=np.float32).reshape(2, 3)
assert np.array_equal(ms.from_numpy(array).asnumpy(), array) and ms.is_tensor(ms.from_numpy(array)) and not ms.is_tensor(array)
tensor = ms.from_numpy(array)
assert np.shares_memory(tensor.asnumpy(), array) and tensor.shape == (2, 3) and np.shares_memory(tensor.asnumpy(), tensor.asnumpy())
doubled = ms.jit(lambda x: x * 2)
assert np.array_equal(doubled(tensor).asnumpy(), array * 2)
array[0, 0] = 7
assert tensor.asnumpy()[0, 0] == 7 and doubled(tensor).asnumpy()[0, 0] == 14
assert not np.shares_memory(Tensor(array).asnumpy(), array)
turned = ms.from_numpy(array.T)
assert not np.shares_memory(turned.asnumpy(), array) and np.array_equal(turned.asnumpy(), array.T) and turned.shape == (3, 2)
assert ms.from_numpy(np.zeros((0, 3), np.float32)).shape == (0, 3)
del array, turned
assert tensor.asnumpy()[1, 2] == 5
ms.manual_seed(4)
state, first = ms.get_rng_state(), ops.rand(3).asnumpy()
ms.set_rng_state(state)
assert ms.initial_seed() == 4 and np.array_equal(ops.rand(3).asnumpy(), first)
