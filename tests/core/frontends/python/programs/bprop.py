# SPDX-License-Identifier: Apache-2.0
# A Cell with a derivative of its own: at the end, in the middle of a network, twice, with a tuple as its result, in eager mode.
import mindspore as ms
from mindspore import Tensor, nn, ops


class Product(nn.Cell):
    def construct(self, x, y):
        return x * y

    def bprop(self, x, y, out, dout):
        return x + 10 * dout, y + 20 * out


class Outer(nn.Cell):
    def __init__(self):
        super().__init__()
        self.first, self.second = Product(), Product()

    def construct(self, x, y):
        z = self.first(x * 2, y)
        return self.second(z, z) * 3


class Pair(nn.Cell):
    def construct(self, x):
        return x * 2, x * 3

    def bprop(self, x, out, dout):
        return (dout[0] + 100 * dout[1],)


class OfPair(nn.Cell):
    def __init__(self):
        super().__init__()
        self.pair = Pair()

    def construct(self, x):
        a, b = self.pair(x)
        return a * 5 + b * 7


for mode in (ms.GRAPH_MODE, ms.PYNATIVE_MODE):
    ms.set_context(mode=mode)
    dx, dy = ops.grad(Product(), (0, 1))(Tensor(1.0), Tensor(2.0))
    assert (float(dx), float(dy)) == (11.0, 42.0)
ms.set_context(mode=ms.GRAPH_MODE)
dx, dy = ops.grad(Outer(), (0, 1))(Tensor(1.0), Tensor(2.0))
assert float(Outer()(Tensor(1.0), Tensor(2.0))) == 48.0
assert (float(dx), float(dy)) == (2 * (2 + 10 * 358), 2 + 20 * 4)
assert float(ops.grad(OfPair())(Tensor(1.0))) == 705.0
