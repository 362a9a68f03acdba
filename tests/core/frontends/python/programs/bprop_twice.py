# SPDX-License-Identifier: Apache-2.0
"""Second and third derivatives through Cells that have a derivative of their own, alone and within others, as graphs and in eager mode. A
rule counts as the derivative of its Cell wherever it is differentiated: MindSpore 2.7 gives the same."""
import numpy as np
import mindspore as ms
from mindspore import Parameter, Tensor, nn, ops


class Cube(nn.Cell):
    """Its rule is the derivative."""

    def construct(self, x):
        return x * x * x

    def bprop(self, x, out, dout):
        return (3 * x * x * dout,)


class Odd(nn.Cell):
    """Its rule is not."""

    def construct(self, x):
        return x * x

    def bprop(self, x, out, dout):
        return (10 * x * dout,)


class Exponential(nn.Cell):
    """Its rule reads the result."""

    def construct(self, x):
        return ops.exp(x)

    def bprop(self, x, out, dout):
        return (out * dout,)


class Outer(nn.Cell):
    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def construct(self, x):
        return (ops.sin(x) * self.inner(x * 2)).sum()


class Gradient(nn.Cell):
    def __init__(self, cell):
        super().__init__()
        self.cell, self.derive = cell, ops.GradOperation()

    def construct(self, x):
        return self.derive(self.cell)(x)


X = Tensor([0.7, -0.4])
# First, second and third derivative of the Cell, then first and second of Outer: what MindSpore gives.
EXPECTED = {
    Cube: ([1.47, 0.48], [4.2, -2.4], [6, 6], [9.6747265, -1.9669497], [37.86707, 14.351198]),
    Odd: ([7, -4], [10, 10], [0, 0], [19.537186, 6.8201723], [67.337204, -44.801456]),
    Exponential: ([2.013753, 0.670320], [2.013753, 0.670320], [2.013753, 0.670320], [8.326454, 0.06390548], [20.243654, 1.1305065]),
}


def twice(cell):
    return ms.grad(lambda v: ms.grad(Outer(cell))(v).sum())


for mode in (ms.GRAPH_MODE, ms.PYNATIVE_MODE):
    ms.set_context(mode=mode)
    for kind, expected in EXPECTED.items():
        cell = kind()
        found = (ms.grad(cell)(X), ms.grad(ms.grad(cell))(X), ms.grad(ms.grad(ms.grad(cell)))(X), ms.grad(Outer(cell))(X), twice(cell)(X))
        for order, (have, want) in enumerate(zip(found, expected)):
            assert np.allclose(have.asnumpy(), want, rtol=1e-4, atol=1e-5), (mode, kind.__name__, order, have, want)
    assert np.allclose(Gradient(Gradient(Odd()))(X).asnumpy(), 10)

    # A rule within what a training step differentiates counts in eager mode as well.
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.w, self.odd = Parameter(Tensor([2.0]), name="w"), Odd()

        def construct(self, x):
            return self.odd(self.w * x)

    net = Net()
    step = ms.value_and_grad(lambda x: net(x).sum(), None, net.trainable_params())
    for _ in range(2):
        loss, (grad,) = step(Tensor([3.0]))
        assert float(loss) == 36 and float(grad[0]) == 180, (mode, loss, grad)
