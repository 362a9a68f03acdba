# SPDX-License-Identifier: Apache-2.0
"""Gradients of loops that data ends: the graph has none, what ran has one; on level STRICT the loop is refused."""
import numpy as np
import mindspore as ms
from mindspore import Parameter, ParameterTuple, Tensor, context, jit, nn, ops

context.set_context(mode=context.GRAPH_MODE)


def rises(x, n):
    s = x
    while n > 0:
        s = s * x if s > 5 else s + x * n
        n = n - 1
    return s


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.w = Parameter(Tensor([2.0, 3.0], ms.float32), name="w")

    def construct(self, x, n):
        while n > 0:
            x = x * self.w
            n = n - 1
        return x.sum()


class Gradient(nn.Cell):
    def __init__(self, net):
        super().__init__()
        self.net, self.weights, self.grad = net, ParameterTuple(net.trainable_params()), ops.GradOperation(get_all=True, get_by_list=True)

    def construct(self, x, n):
        return self.grad(self.net, self.weights)(x, n)


three, x = Tensor(3, ms.int32), Tensor([1.0, -2.0], ms.float32)
for value, expected in ((0.5, 7.0), (2.0, 48.0)):
    given = Tensor(value, ms.float32)
    assert ops.grad(rises)(given, three).asnumpy() == expected
    assert jit(ops.grad(rises))(given, three).asnumpy() == expected
net = Net()
for _ in range(2):
    by_input, by_weights = Gradient(net)(x, three)
    assert by_input[0].asnumpy().tolist() == [8, 27] and by_weights[0].asnumpy().tolist() == [12, -54], (by_input, by_weights)
assert context.get_context("mode") == context.GRAPH_MODE
context.set_context(jit_syntax_level=ms.STRICT)
try:
    ops.grad(lambda x, n: rises(x, n))(Tensor(0.5, ms.float32), three)
except RuntimeError as error:
    assert "cannot be walked back" in str(error), error
else:
    raise AssertionError("a gradient of a loop of any number of trips on level STRICT")
