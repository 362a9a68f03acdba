# SPDX-License-Identifier: Apache-2.0
"""Functions that see gradients on their way and give others in their place: of a tensor, of a primitive, of a Cell. The values are
MindSpore's, whose Cells call hooks in eager mode alone."""
import numpy as np
import mindspore as ms
from mindspore import Tensor, jit, nn, ops


def double(gradient):
    return gradient * 2


def of_tensor(x, y):
    z = x * y
    z.register_hook(double)
    return z * y


hook = ops.HookBackward(lambda gradients: gradients[0] * 2 if isinstance(gradients, tuple) else gradients * 2)
insert = ops.InsertGradientOf(double)


def of_primitive(x, y):
    return hook(x * y) * y


def of_function(x, y):
    return insert(x * y) * y


class Inner(nn.Cell):
    def construct(self, x, y):
        return x * y


class Outer(nn.Cell):
    def __init__(self):
        super().__init__()
        self.inner = Inner()

    def construct(self, x, y):
        return self.inner(x, y) * y


def see(cell, inputs, outputs):
    assert len(inputs) == 2 and len(outputs) == 1
    return inputs[0] * 10, inputs[1]


def values(pair):
    return [float(v) for v in pair]


x, y = Tensor(1.0, ms.float32), Tensor(2.0, ms.float32)
ms.set_context(mode=ms.PYNATIVE_MODE)
for f in (of_tensor, of_primitive, of_function):
    assert float(f(x, y)) == 4
    assert values(ms.grad(f, (0, 1))(x, y)) == [8, 6], f.__name__
assert values(jit(ms.grad(of_function, (0, 1)))(x, y)) == [8, 6]

net = Outer()
handle = net.inner.register_backward_hook(see)
assert values(ms.grad(net, (0, 1))(x, y)) == [40, 4]
handle.remove()
assert values(ms.grad(net, (0, 1))(x, y)) == [4, 4]
net.inner.register_backward_pre_hook(lambda cell, outputs: outputs[0] * 3)
assert values(ms.grad(net, (0, 1))(x, y)) == [12, 8]
net.inner.register_forward_hook(lambda cell, inputs, output: output + 1)
assert values(ms.grad(net, (0, 1))(x, y)) == [12, 9] and float(net(x, y)) == 6
try:
    ops.HookBackward(3)
except TypeError:
    pass
else:
    raise AssertionError("a hook that is no function")
