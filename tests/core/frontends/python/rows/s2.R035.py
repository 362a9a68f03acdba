# SPDX-License-Identifier: Apache-2.0
# s2.R035: an index of int32 among Cells: from -n to n - 1.
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


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.layers = (nn.ReLU(), nn.Tanh(), nn.Sigmoid())

    @jit
    def construct(self, x, index):
        return self.layers[index](x)


import numpy as np
net, x = Net(), Tensor([-1., 2.])
expected = [np.maximum(x.asnumpy(), 0), np.tanh(x.asnumpy()), 1 / (1 + np.exp(-x.asnumpy()))]
for i in range(-3, 3):
    assert np.allclose(net(x, Tensor(i, ms.int32)).asnumpy(), expected[i], 1e-5), i
raises(ValueError, "switch_layer index must be an int32, but got Float32", lambda: net(x, Tensor(1.0, ms.float32)))


@jit
def known():
    return (1, 2, 3)[Tensor(3, ms.int32)]


raises(IndexError, "index", known)
raises(ValueError, "switch_layer index must be an int32, but got Int64", lambda: net(x, Tensor(1)))
raises(ValueError, "switch_layer index must be a 0 dimension tensor", lambda: net(x, Tensor([1, 0], ms.int32)))
