# SPDX-License-Identifier: Apache-2.0
# s2.R004: STRICT: what it compiles can be exported.
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


import os
import tempfile


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.dense = nn.Dense(3, 2)

    @jit(jit_config=STRICT)
    def construct(self, x):
        return ops.relu(self.dense(x))


with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "net")
    ms.export(Net(), Tensor([[1., 2., 3.]]), file_name=path, file_format="GANTRY")
    with open(path + ".gir") as file:
        text = file.read()
assert "dot_general" in text and "host_call" not in text
