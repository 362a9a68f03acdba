# SPDX-License-Identifier: Apache-2.0
# A classifier of sequences: embedding, LSTM, Adam.
import numpy as np
import mindspore as ms
from mindspore import Tensor, nn, ops

ms.set_context(mode=ms.GRAPH_MODE)


class Classifier(nn.Cell):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(20, 8)
        self.lstm = nn.LSTM(8, 16, batch_first=True)
        self.fc = nn.Dense(16, 3)

    def construct(self, tokens):
        output, _ = self.lstm(self.embedding(tokens))
        return self.fc(output[:, -1])


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
EXPECTED = [0.897315, 0.826968, 0.755903, 0.685906, 0.618766, 0.555731, 0.497296, 0.443123, 0.392437, 0.344884]

net = Classifier()
fill(net.trainable_params())
step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.CrossEntropyLoss()), nn.Adam(net.trainable_params(), learning_rate=0.01))
tokens = Tensor((np.arange(24) * 7 % 20).reshape(4, 6).astype(np.int32))
label = Tensor((np.arange(4) % 3).astype(np.int32))
check([float(step(tokens, label)) for _ in range(10)], EXPECTED)
