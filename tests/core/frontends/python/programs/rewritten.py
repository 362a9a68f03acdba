# SPDX-License-Identifier: Apache-2.0
"""A file that is written again and imported again is what it is now; a graph of what it was stays what it was."""
import importlib.util
import os
import tempfile
from mindspore import Tensor


def load(path, factor):
    with open(path, "w") as f:
        f.write(f"from mindspore import jit\n@jit\ndef f(x):\n    return x * {factor}\n")
    spec = importlib.util.spec_from_file_location("rewritten", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.f


with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "rewritten.py")
    first = load(path, 2)
    assert first(Tensor([1.0])).asnumpy()[0] == 2
    second = load(path, 30)
    assert second(Tensor([1.0])).asnumpy()[0] == 30
    assert first(Tensor([1.0])).asnumpy()[0] == 2
