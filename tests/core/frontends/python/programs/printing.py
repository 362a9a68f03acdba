# SPDX-License-Identifier: Apache-2.0
"""print in a graph is the operation Print: each argument on a line of its own, but for what CPython alone knows."""
import numpy as np
from mindspore import Parameter, Tensor, context, jit, nn, ops

context.set_context(mode=context.GRAPH_MODE)


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.print = ops.Print()
        self.count = Parameter(Tensor(1), name="count")

    def construct(self, x, y):
        self.print("before:", self.count, "y:", y)
        while x < y:
            self.count = x
            x = x + 1
            self.print("x:", x, "count:", self.count)
        return x


@jit
def printed(x, numbers):
    print("x:", x, 3, True, 1.5, None)
    print("numbers:", numbers)
    print("both:", (1, x))
    print(np.array([1, 2]), "together", x)
    print("in NumPy:", x.asnumpy())
    ops.print_("by the function:", 1)


Net()(Tensor(1), Tensor(3))
printed(Tensor([1, 2]), [1, 2])
