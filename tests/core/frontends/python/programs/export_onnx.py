# SPDX-License-Identifier: Apache-2.0
"""A Cell exported as ONNX is a model that computes what the Cell does: weights are in it, a branch on data is one. What cannot be
written leaves no file."""
import os
import subprocess
import tempfile
import numpy as np
import mindspore as ms
from mindspore import Tensor, nn, ops


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.dense = nn.Dense(4, 3)
        self.conv = nn.Conv2d(1, 2, 3)

    def construct(self, x, y):
        z = ops.relu(self.dense(x))
        for i in range(3):
            z = z + i
        if ops.reduce_sum(z) > 0:
            z = z * 2
        else:
            z = z - 1
        return z, self.conv(y)


class Host(nn.Cell):
    def construct(self, x):
        return Tensor(np.sin(x.asnumpy()))


def fails(kind, call):
    try:
        call()
    except kind as error:
        return str(error)
    raise AssertionError("nothing was raised")


cli = os.path.join(os.environ.get("GANTRY_BUILD_ROOT", "build"), "app", "gantry-cli")
net = Net()
x = Tensor(np.linspace(-1, 1, 8).reshape(2, 4).astype(np.float32))
y = Tensor(np.arange(25).reshape(1, 1, 5, 5).astype(np.float32))
with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "net")
    ms.export(net, x, y, file_name=path, file_format="ONNX")
    assert os.listdir(folder) == ["net.onnx"], os.listdir(folder)
    arguments = []
    for name, value in (("x", x), ("y", y)):
        np.save(os.path.join(folder, name + ".npy"), value.asnumpy())
        arguments += ["-i", f"{name}={folder}/{name}.npy"]
    subprocess.run([cli, "run", "--runs=1", "--output-dir", folder, *arguments, path + ".onnx"], check=True, stdout=subprocess.DEVNULL)
    for i, value in enumerate(net(x, y)):
        assert np.allclose(np.load(f"{folder}/output_{i}.npy"), value.asnumpy(), rtol=1e-5, atol=1e-5), i
    assert b"weight" in open(path + ".onnx", "rb").read()
    missing = os.path.join(folder, "nowhere", "net.onnx")
    fails(OSError, lambda: ms.export(net, x, y, file_name=missing, file_format="ONNX"))
    told = fails(RuntimeError, lambda: ms.export(Host(), x, file_name=os.path.join(folder, "host"), file_format="ONNX"))
    assert "export_onnx.py:31" in told, told
    assert not os.path.exists(os.path.join(folder, "host.onnx"))
    told = fails(NotImplementedError, lambda: ms.export(net, x, y, file_name=os.path.join(folder, "other"), file_format="AIR"))
    assert "writes no AIR" in told and "file_format='ONNX'" in told and "other.onnx" in told, told
    assert "'file_format' must be one of" in fails(ValueError, lambda: ms.export(net, x, y, file_name="other", file_format="TXT"))
    assert not [name for name in os.listdir(folder) if name.startswith("other")]
    # A network of mixed precision is exported as it computes.
    low = ms.amp.auto_mixed_precision(nn.Dense(4, 3), "auto")
    ms.export(low, x, file_name=os.path.join(folder, "low"), file_format="ONNX")
    told = subprocess.run([cli, "info", os.path.join(folder, "low.onnx")], check=True, capture_output=True, text=True).stdout
    assert "f16[2,3]" in told, told
