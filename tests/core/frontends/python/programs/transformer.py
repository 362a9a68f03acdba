# SPDX-License-Identifier: Apache-2.0
# An encoder of two layers that learns the next token.
import numpy as np
import mindspore as ms
from mindspore import Tensor, nn, ops

ms.set_context(mode=ms.GRAPH_MODE)


class EncoderLayer(nn.Cell):
    def __init__(self, width=16, heads=4, inner=32):
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value, self.out = (nn.Dense(width, width) for _ in range(4))
        self.norm1, self.norm2 = nn.LayerNorm((width,), epsilon=1e-5), nn.LayerNorm((width,), epsilon=1e-5)
        self.dense1, self.dense2 = nn.Dense(width, inner), nn.Dense(inner, width)
        self.gelu = nn.GELU()

    def split(self, x):
        b, n, d = x.shape
        return x.view(b, n, self.heads, d // self.heads).transpose(0, 2, 1, 3)

    def construct(self, x):
        q, k, v = self.split(self.query(x)), self.split(self.key(x)), self.split(self.value(x))
        scores = ops.matmul(q, k.swapaxes(2, 3)) / q.shape[-1] ** 0.5
        mixed = ops.matmul(ops.softmax(scores, axis=-1), v).transpose(0, 2, 1, 3).reshape(x.shape)
        x = self.norm1(x + self.out(mixed))
        return self.norm2(x + self.dense2(self.gelu(self.dense1(x))))


class Model(nn.Cell):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(20, 16)
        self.layers = nn.SequentialCell([EncoderLayer(), EncoderLayer()])
        self.head = nn.Dense(16, 20)

    def construct(self, tokens):
        return self.head(self.layers(self.embedding(tokens)))


def fill(parameters):
    """The same weights everywhere, without a generator of random numbers."""
    for i, p in enumerate(parameters):
        size = int(np.prod(p.shape))
        if len(p.shape) < 2:
            value = np.ones(size) if "gamma" in p.name else np.zeros(size)
        else:
            value = np.sin(np.arange(size) * 0.7 + i) * np.sqrt(2.0 / np.prod(p.shape[1:]))
        p.set_data(Tensor(value.reshape(p.shape).astype(np.float32)))


def check(losses, expected):
    assert np.allclose(losses, expected, rtol=1e-4, atol=1e-5), (losses, expected)
    assert losses[-1] < losses[0]


# By PyTorch, from the same weights and data.
EXPECTED = [2.052243, 1.836846, 1.707295, 1.647811, 1.613255, 1.593791, 1.571595, 1.553949, 1.534160, 1.514468]

net = Model()
fill(net.trainable_params())
optimizer = nn.Adam(net.trainable_params(), learning_rate=0.003)
tokens = (np.arange(24) * 7 % 20).reshape(4, 6).astype(np.int32)


def forward_fn(tokens, targets):
    return ops.cross_entropy(net(tokens).view(-1, 20), targets.view(-1))


grad_fn = ops.value_and_grad(forward_fn, None, optimizer.parameters)
losses = []
for _ in range(10):
    loss, grads = grad_fn(Tensor(tokens), Tensor((tokens + 1) % 20))
    optimizer(grads)
    losses.append(float(loss))
check(losses, EXPECTED)
