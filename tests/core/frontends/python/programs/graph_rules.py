# SPDX-License-Identifier: Apache-2.0
"""Rules of graphs that single programs rely on: lists inside of lists, reduce, a list of Cells by a tensor, what is raised, what is constant."""
from functools import reduce
import mindspore as ms
import mindspore.nn as nn
from mindspore import Tensor, context, jit, mutable
from mindspore.common import JitConfig
from mindspore.ops import composite as C

context.set_context(mode=context.GRAPH_MODE)


@jit
def inner_list():
    x = [[1, 2, 3], [4, 5]]
    alias = x
    y = x[0]
    y.reverse()
    z = y.pop()
    return x, y, z, alias


# What is done in place shows wherever the list is.
assert inner_list() == ([[3, 2], [4, 5]], [3, 2], 1, [[3, 2], [4, 5]])


@jit(jit_config=JitConfig(jit_syntax_level="STRICT"))
def inner_list_strict():
    x = [[1, 2, 3], [4, 5]]
    y = x[0]
    y.reverse()
    return x, y


assert inner_list_strict() == ([[1, 2, 3], [4, 5]], [3, 2, 1])


@jit
def reduced(x):
    return reduce(lambda a, b: a + b, [x, x, x]), reduce(lambda a, b: a * b, (1, 2, 3), 4)


assert reduced(Tensor(2)) == (6, 24)


@jit
def found(x):
    values = [x, 3, x + 1, "a"]
    return values.index(3), values.index("a"), values.index(x)


assert found(Tensor(3)) == (0, 3, 0) and found(Tensor(5)) == (1, 3, 0)


class Times(nn.Cell):
    def __init__(self, factor):
        super().__init__()
        self.factor = factor

    def construct(self, x):
        return self.factor * x


class Chosen(nn.Cell):
    def __init__(self):
        super().__init__()
        self.layers = nn.CellList([Times(4), Times(5), Times(6)])

    def construct(self, t, i):
        out = t
        while i < 3:
            out = out + self.layers[i](t)
            i += 1
        return out


assert Chosen()(Tensor(10.0), Tensor(0)) == 160
assert ms.grad(Chosen())(Tensor(10.0), Tensor(0)) == 16


class Unknown(Exception):
    pass


@jit
def raising(x, kind):
    if x == 1:
        raise kind("one")
    return x


def failure(function, *args):
    try:
        function(*args)
    except Exception as error:
        return type(error), str(error)
    return None, ""


assert failure(raising, 1, ValueError) == (ValueError, "one")
kind, text = failure(raising, 1, Unknown)
assert kind is RuntimeError and text.startswith("Unsupported exception type: Unknown. Raise only support some Python standard exception types:")


@jit
def sliced(x):
    return "ABCDEF"[slice(x, 4.5)]


assert failure(sliced, 1) == (RuntimeError, "Attribute 'stop' of slice(1, 4.5, None) should be int or Tensor with Int type but got 4.5")


@jit
def product(pair, y, n):
    return pair[0] * y + n * 2


# A sequence that a graph is called with is known, and no gradient is taken by it, unless it is mutable.
grads = C.GradOperation(get_all=True)(product)
assert grads((Tensor(3.0), Tensor(2.0)), Tensor(4.0), 4) == (Tensor(3.0),)
assert grads(mutable((Tensor(3.0), Tensor(2.0))), Tensor(4.0), 4) == ((Tensor(4.0), Tensor(0.0)), Tensor(3.0))
assert C.GradOperation(get_all=True)(lambda d: d["a"] * 2)({"a": Tensor(1.0)}) == ()
