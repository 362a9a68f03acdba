# SPDX-License-Identifier: Apache-2.0
"""A parameter that only one arm touches, first of all, is written where that arm is taken, and read as it is there."""
import mindspore as ms
from mindspore import Parameter, Tensor, nn, ops


class Assigned(nn.Cell):
    def __init__(self):
        super().__init__()
        self.w = Parameter(Tensor(1.0, ms.float32), name="w")

    def construct(self, x):
        if x < 0:
            ops.assign(self.w, x)
        return x


class Computed(Assigned):
    def construct(self, x):
        if x < 0:
            ops.assign(self.w, x * 2)
        return x


class Added(Assigned):
    def construct(self, x):
        if x < 0:
            self.w = self.w + x
        return x


class Returned(Assigned):
    def construct(self, x):
        if x < 0:
            ops.assign(self.w, x)
            return self.w
        return x


class Pair(Assigned):
    def construct(self, x):
        if x < 0:
            ops.assign(self.w, x)
            return self.w, x
        return x, self.w


class Broken(Assigned):
    def construct(self, x):
        for _ in range(2):
            if x > 0:
                break
            self.w = self.w + x
        return x


def numbers(value):
    return [float(v.asnumpy()) for v in value] if isinstance(value, tuple) else float(value.asnumpy())


for kind, after, results in ((Assigned, [1, -3], [5, -3]), (Computed, [1, -6], [5, -3]), (Added, [1, -2], [5, -3]),
                             (Returned, [1, -3], [5, -3]), (Pair, [1, -3], [[5, 1], [-3, -3]]), (Broken, [1, -5], [5, -3])):
    cell = kind()
    cell.compile_graph = ms.jit(cell.construct)
    for x, w, result in zip((5.0, -3.0), after, results):
        got = numbers(cell.compile_graph(Tensor(x, ms.float32)))
        assert got == result and float(cell.w.asnumpy()) == w, (kind.__name__, x, got, float(cell.w.asnumpy()))
