# SPDX-License-Identifier: Apache-2.0
# LeNet-5 trained by a loop over a dataset, with Momentum and TrainOneStepCell.
import numpy as np
import mindspore as ms
from mindspore import Tensor, nn, ops
from mindspore import dataset as ds

ms.set_context(mode=ms.GRAPH_MODE)


class LeNet5(nn.Cell):
    def __init__(self, num_class=10, num_channel=1):
        super().__init__()
        self.conv1 = nn.Conv2d(num_channel, 6, 5, pad_mode="valid")
        self.conv2 = nn.Conv2d(6, 16, 5, pad_mode="valid")
        self.relu = nn.ReLU()
        self.max_pool2d = nn.MaxPool2d(kernel_size=2, stride=2)
        self.flatten = nn.Flatten()
        self.fc1 = nn.Dense(16 * 5 * 5, 120)
        self.fc2 = nn.Dense(120, 84)
        self.fc3 = nn.Dense(84, num_class)

    def construct(self, x):
        x = self.max_pool2d(self.relu(self.conv1(x)))
        x = self.max_pool2d(self.relu(self.conv2(x)))
        x = self.flatten(x)
        x = self.relu(self.fc1(x))
        x = self.relu(self.fc2(x))
        return self.fc3(x)


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


def wave(shape, k):
    return np.cos(np.arange(np.prod(shape)) * 0.31 * k).reshape(shape).astype(np.float32)


def batches():
    for step in range(10):
        yield wave((8, 1, 32, 32), 1 + step % 2), (np.arange(8) % 10).astype(np.int32)


# By PyTorch, from the same weights and data.
EXPECTED = [2.302419, 2.302305, 2.301914, 2.301035, 2.299779, 2.299092, 2.297961, 2.296537, 2.295388, 2.293454]

net = LeNet5()
fill(net.trainable_params())
loss_fn = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
optimizer = nn.Momentum(net.trainable_params(), learning_rate=0.01, momentum=0.9)
train_net = nn.TrainOneStepCell(nn.WithLossCell(net, loss_fn), optimizer)
train_net.set_train()
losses = []
for data, label in ds.GeneratorDataset(batches, ["data", "label"], shuffle=False).create_tuple_iterator():
    losses.append(float(train_net(data, label).asnumpy()))
check(losses, EXPECTED)
