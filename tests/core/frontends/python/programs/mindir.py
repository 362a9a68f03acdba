# SPDX-License-Identifier: Apache-2.0
"""MindIR: what is exported is loaded again, in a graph and alone, opens as a model, and names the lines that call Python."""
import os
import subprocess
import tempfile

import numpy as np
import mindspore as ms
from mindspore import Tensor, nn, ops

ms.set_context(mode=ms.GRAPH_MODE)
ms.set_seed(3)


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.conv, self.norm, self.pool = nn.Conv2d(2, 3, 3, has_bias=True), nn.BatchNorm2d(3), nn.MaxPool2d(2, 2)
        self.table, self.dense, self.lstm = nn.Embedding(5, 4), nn.Dense(27, 4), nn.LSTM(4, 4, batch_first=True)

    def construct(self, x, tokens):
        y = self.dense(self.pool(ops.relu(self.norm(self.conv(x)))).reshape(2, -1))
        z, _ = self.lstm(self.table(tokens), (ops.zeros((1, 2, 4), ms.float32), ops.zeros((1, 2, 4), ms.float32)))
        return ops.softmax(y), ops.gelu(z[:, -1]) + y, ops.argmax(y, 1), y.cumsum(1)


class Control(nn.Cell):
    def construct(self, x, n):
        i = ops.zeros((), ms.int32)
        while i < n:
            x = x * 1.5
            i = i + 1
            if x.sum() > 9:
                x = x - 1
        return x


class Host(nn.Cell):
    def construct(self, x):
        return Tensor(np.sin(x.asnumpy()))


class Around(nn.Cell):
    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def construct(self, x, n):
        return self.inner(x + 1, n) * 2


def fails(kind, call):
    try:
        call()
    except kind as error:
        return str(error)
    raise AssertionError(f"no {kind.__name__}")


cli = os.path.join(os.environ.get("GANTRY_BUILD_ROOT", "build"), "app", "gantry-cli")
rng = np.random.RandomState(1)
image, tokens = Tensor(rng.randn(2, 2, 6, 6).astype(np.float32)), Tensor(np.array([[0, 4, 2], [1, 1, 3]], np.int32))
with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "net")
    net = Net()
    net.set_train(False)
    expected = net(image, tokens)
    ms.export(net, image, tokens, file_name=path, file_format="MINDIR")
    assert os.listdir(folder) == ["net.mindir"], os.listdir(folder)
    for mode in (ms.GRAPH_MODE, ms.PYNATIVE_MODE):
        ms.set_context(mode=mode)
        for value, other in zip(nn.GraphCell(ms.load(path + ".mindir"))(image, tokens), expected):
            assert value.dtype == other.dtype and np.allclose(value.asnumpy(), other.asnumpy(), rtol=1e-5, atol=1e-5)
    ms.set_context(mode=ms.GRAPH_MODE)
    told = subprocess.run([cli, "info", path + ".mindir"], check=True, capture_output=True, text=True).stdout
    assert "MindIR" in told and "unsupported   none" in told, told
    # Control on data; as a part of another graph, and its gradient there.
    x = Tensor(np.array([[1, 2], [-1, 0.5]], np.float32))
    ms.export(Control(), x, Tensor(3, ms.int32), file_name=os.path.join(folder, "control"), file_format="MINDIR")
    graph = ms.load(os.path.join(folder, "control.mindir"))
    for n in (0, 1, 5):
        n = Tensor(n, ms.int32)
        assert np.allclose(nn.GraphCell(graph)(x, n).asnumpy(), Control()(x, n).asnumpy()), n
        assert np.allclose(Around(nn.GraphCell(graph))(x, n).asnumpy(), Around(Control())(x, n).asnumpy()), n
    assert "has to be f32[2,2], but got f32[3]" in fails(ValueError, lambda: nn.GraphCell(graph)(Tensor(np.ones(3, np.float32)), Tensor(1, ms.int32)))
    assert "takes 2 arguments" in fails(TypeError, lambda: nn.GraphCell(graph)(x))
    # What calls Python names its line; what is not there, or no MindIR, is said.
    told = fails(RuntimeError, lambda: ms.export(Host(), x, file_name=os.path.join(folder, "host"), file_format="MINDIR"))
    assert "mindir.py:40" in told, told
    assert not os.path.exists(os.path.join(folder, "host.mindir"))
    assert "does not exist" in fails(ValueError, lambda: ms.load(os.path.join(folder, "none.mindir")))
    assert "should end with '.mindir'" in fails(ValueError, lambda: ms.load("net.onnx"))

# Weights of a loaded graph are parameters: read, assigned, given anew and differentiated. MindSpore made the file: tests/fixtures/mindspore/make.py.
path = os.path.join(os.path.dirname(__file__), *[os.pardir] * 4, "fixtures", "mindspore", "assigned.mindir")
x = Tensor(np.array([5, 7], np.float32))
for mode in (ms.GRAPH_MODE, ms.PYNATIVE_MODE):
    ms.set_context(mode=mode)
    cell = nn.GraphCell(ms.load(path))
    assert [(p.name, p.requires_grad) for p in cell.get_parameters()] == [("count", False), ("step", True), ("weight", True)]
    for count, first in ((5, [11, 23]), (7, [15, 35])):
        y, z = cell(x)
        assert y.asnumpy().tolist() == first and z.asnumpy().tolist() == [10, 28], (y, z)
        assert int(cell.count) == count and cell.step.asnumpy().tolist() == [5, 14]
    cell = nn.GraphCell(ms.load(path), {"weight": Tensor(np.array([10, 20], np.float32))})
    assert cell(x)[0].asnumpy().tolist() == [51, 142]
    gradients = ms.grad(lambda v: cell(v)[0].sum(), None, cell.trainable_params())(x)
    assert [g.asnumpy().tolist() for g in gradients] == [[1, 1], [5, 7]], gradients
    assert "takes 1 arguments, but got 2" in fails(TypeError, lambda: cell(x, x))

# What draws random numbers goes on in the program's own stream.
path = os.path.join(os.path.dirname(path), "random.mindir")
ones = ops.ones((2, 8, 16, 16), ms.float32)
cell, alone = nn.GraphCell(ms.load(path)), ms.load(path)
assert [p.name for p in cell.get_parameters()] == ["scale"]
for draw in (cell, alone):
    for mode in (ms.GRAPH_MODE, ms.PYNATIVE_MODE):
        ms.set_context(mode=mode)
        ms.set_seed(4)
        first, second = draw(ones), draw(ones)
        ms.set_seed(4)
        third = draw(ones)
        assert len(first) == 6 and str(first[3].dtype) == "Int32" and set(np.unique(first[3].asnumpy())) == set(range(-2, 5))
        assert all((a.asnumpy() == b.asnumpy()).all() and (a.asnumpy() != c.asnumpy()).any() for a, b, c in zip(first, third, second))

# A training step that MindSpore differentiated: its loss falls, its parameters are the Cell's.
step = nn.GraphCell(ms.load(os.path.join(os.path.dirname(path), "step.mindir")))
x, y = Tensor(rng.randn(2, 4).astype(np.float32)), Tensor([0, 2], ms.int32)
losses = [float(step(x, y)) for _ in range(30)]
assert losses[-1] < 0.2 * losses[0], losses


# A weight that is called as the state of random numbers is the model's own.
class Called(nn.Cell):
    def __init__(self):
        super().__init__()
        self.own = ms.Parameter(Tensor([2.0, 3.0], ms.float32), name="random_state")

    def construct(self, x):
        return x * self.own


with tempfile.TemporaryDirectory() as folder:
    called = os.path.join(folder, "called.mindir")
    ms.export(Called(), Tensor([1.0, 1.0], ms.float32), file_name=called, file_format="MINDIR")
    cell = nn.GraphCell(ms.load(called))
    assert [(p.name, p.asnumpy().tolist()) for p in cell.get_parameters()] == [("random_state", [2, 3])]
    assert cell(Tensor([1.0, 1.0], ms.float32)).asnumpy().tolist() == [2, 3]
    assert ms.load(called)(Tensor([1.0, 1.0], ms.float32)).asnumpy().tolist() == [2, 3]
