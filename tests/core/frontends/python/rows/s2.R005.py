# SPDX-License-Identifier: Apache-2.0
# s2.R005: LAX: a graph with calls of Python is not exported; the error names their lines.
import mindspore as ms
from mindspore import Parameter, Tensor, jit, jit_class, mutable, nn, ops, set_context
from mindspore.common.api import JitConfig

STRICT = JitConfig(jit_syntax_level="STRICT")


def raises(kind, text, call):
    try:
        call()
    except kind as error:
        assert type(error) is kind and text in str(error), repr(error)
    else:
        raise AssertionError("nothing was raised")


import numpy as np
import os
import tempfile


class Net(nn.Cell):
    def construct(self, x):
        y = x + 1
        return Tensor(np.sin(y.asnumpy()))


with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "net")
    for what in ("MINDIR", "ONNX", "GANTRY"):
        raises(RuntimeError, f"{os.path.basename(__file__)}:27", lambda: ms.export(Net(), Tensor([1.]), file_name=path, file_format=what))
    assert not os.listdir(folder)
assert np.allclose(Net()(Tensor([1.])).asnumpy(), np.sin(2.))
