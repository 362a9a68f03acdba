# SPDX-License-Identifier: Apache-2.0
# A step of two networks against each other: each has its loss, its gradient and its optimizer.
import numpy as np
import mindspore as ms
from mindspore import Tensor, nn, ops

ms.set_context(mode=ms.GRAPH_MODE)


class Generator(nn.Cell):
    def __init__(self):
        super().__init__()
        self.net = nn.SequentialCell(nn.Dense(4, 16), nn.ReLU(), nn.Dense(16, 8), nn.Tanh())

    def construct(self, z):
        return self.net(z)


class Discriminator(nn.Cell):
    def __init__(self):
        super().__init__()
        self.net = nn.SequentialCell(nn.Dense(8, 16), nn.LeakyReLU(0.2), nn.Dense(16, 1))

    def construct(self, x):
        return self.net(x)


def fill(parameters):
    """The same weights everywhere, without a generator of random numbers."""
    for i, p in enumerate(parameters):
        size = int(np.prod(p.shape))
        if len(p.shape) < 2:
            value = np.ones(size) if "gamma" in p.name else np.zeros(size)
        else:
            value = np.sin(np.arange(size) * 0.7 + i) * np.sqrt(2.0 / np.prod(p.shape[1:]))
        p.set_data(Tensor(value.reshape(p.shape).astype(np.float32)))



def wave(shape, k):
    return np.cos(np.arange(np.prod(shape)) * 0.31 * k).reshape(shape).astype(np.float32)


# By PyTorch, from the same weights and data.
EXPECTED_D = [1.505837, 1.547663, 1.546324, 1.578239, 1.610875, 1.598138, 1.639164, 1.655008, 1.636600, 1.689764]
EXPECTED_G = [0.712097, 0.669157, 0.664924, 0.632771, 0.604171, 0.609984, 0.575752, 0.561684, 0.571203, 0.533318]

generator, discriminator = Generator(), Discriminator()
fill(generator.trainable_params())
fill(discriminator.trainable_params())
optimizer_g = nn.Adam(generator.trainable_params(), learning_rate=0.002, beta1=0.5, beta2=0.999)
optimizer_d = nn.Adam(discriminator.trainable_params(), learning_rate=0.002, beta1=0.5, beta2=0.999)
loss_fn = nn.BCEWithLogitsLoss()
ones, zeros = ops.ones((6, 1), ms.float32), ops.zeros((6, 1), ms.float32)


def loss_d(real, z):
    fake = ops.stop_gradient(generator(z))
    return loss_fn(discriminator(real), ones) + loss_fn(discriminator(fake), zeros)


def loss_g(z):
    return loss_fn(discriminator(generator(z)), ones)


grad_d = ms.value_and_grad(loss_d, None, optimizer_d.parameters)
grad_g = ms.value_and_grad(loss_g, None, optimizer_g.parameters)


@ms.jit
def train_step(real, z):
    value_d, grads = grad_d(real, z)
    optimizer_d(grads)
    value_g, grads = grad_g(z)
    optimizer_g(grads)
    return value_d, value_g


losses_d, losses_g = [], []
for step in range(10):
    value_d, value_g = train_step(Tensor(wave((6, 8), 2) * 0.5), Tensor(wave((6, 4), 1 + step % 3)))
    losses_d.append(float(value_d))
    losses_g.append(float(value_g))
assert np.allclose(losses_d, EXPECTED_D, rtol=1e-4, atol=1e-5), losses_d
assert np.allclose(losses_g, EXPECTED_G, rtol=1e-4, atol=1e-5), losses_g
assert losses_g[-1] < losses_g[0]
