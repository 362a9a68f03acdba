# SPDX-License-Identifier: Apache-2.0
"""s2.039: objects of classes of the user's own on level LAX, data classes among them: a graph gives what eager mode gives. On level
STRICT they are refused by name."""
import dataclasses
from dataclasses import dataclass, field
import numpy as np
import mindspore as ms
from mindspore import Tensor, jit, jit_class, nn, ops


@dataclass
class Config:
    scale: float = 2.0
    shift: int = 1
    names: tuple = ("a", "b")

    def apply(self, x):
        return x * self.scale + self.shift


@dataclass
class Pair:
    first: Tensor
    second: Tensor = None
    count: int = 0
    items: list = field(default_factory=list)

    def total(self):
        return self.first + self.second

    def grow(self):
        self.first = self.first * 2
        self.count += 1

    @property
    def largest(self):
        if self.first.sum() > 4:
            return self.first
        return self.first * 100

    @largest.setter
    def largest(self, value):
        self.first = value


@dataclass(frozen=True)
class Frozen:
    n: int = 3


class Node:
    def __init__(self, value):
        self.value = value
        self.inner = Pair(value, value)


class Circle:
    def __init__(self, value):
        self.value, self.me = value, self


@jit_class
class Counter:
    def __init__(self, n):
        self.n = n

    def more(self):
        self.n = self.n + 1


CONFIG, FROZEN = Config(), Frozen(4)


def attribute(x):
    return x * CONFIG.scale + len(CONFIG.names) + FROZEN.n


def method(x):
    return CONFIG.apply(x)


def made(x):
    return Config(scale=5.0).apply(x) + Config(shift=7).apply(x)


def holds(x):
    p = Pair(x, x + 1)
    return p.first * p.second + p.total()


def assigned(x):
    p = Pair(x, x * 2)
    q = p
    q.second = x * 3
    p.first += 1
    return p.second, q.first, p.total()


def replaced(x):
    return x * dataclasses.replace(CONFIG, scale=7.0).scale + dataclasses.asdict(CONFIG)["shift"]


def in_arm(x):
    p = Pair(x)
    if x.sum() > 2:
        p.first = x * 10
        p.count = p.count + 3
    return p.first, p.count


def in_both_arms(x):
    if x.sum() > 2:
        p = Pair(x, x)
    else:
        p = Pair(x * 2, x)
    return p.first


def in_loop(x):
    p = Pair(x)
    while p.first.sum() < 50:
        p.grow()
    return p.first, p.count


def unrolled(x):
    p = Pair(x, x)
    for i in range(3):
        p = Pair(p.total(), x, i)
    return p.first, p.count


def by_property(x):
    p = Pair(x)
    y = p.largest
    p.largest = x * 50
    return y, p.largest, p.first


def nested(x):
    n = Node(x)
    n.inner.second = x * 3
    if x.sum() > 2:
        n.inner.first = n.value * 4
    return n.inner.first, n.inner.second


def marked(x):
    c = Counter(x)
    for _ in range(2):
        c.more()
    return c.n


def circle(x):
    return Circle(x)


def refused(x):
    Frozen(1).n = 2
    return x


FUNCTIONS = (attribute, method, made, holds, assigned, replaced, in_arm, in_both_arms, in_loop, unrolled, by_property, nested, marked)


def plain(value):
    if isinstance(value, tuple):
        return tuple(plain(v) for v in value)
    return value.asnumpy().tolist() if isinstance(value, Tensor) else value


def returned(x):
    p = Pair(x * 2, [x, Pair(x + 1, None, 1)])
    p.count = 5
    return p, {"k": Node(x)}, Config(3.0)


def check_returned():
    for function in (returned, jit(returned)):
        p, d, c = function(Tensor([1., 2.], ms.float32))
        assert type(p) is Pair and p.first.asnumpy().tolist() == [2, 4] and p.count == 5 and p.items == []
        assert p.second[0].asnumpy().tolist() == [1, 2] and type(p.second[1]) is Pair and p.second[1].first.asnumpy().tolist() == [2, 3]
        assert type(d["k"]) is Node and d["k"].inner.first.asnumpy().tolist() == [1, 2] and c == Config(3.0)
    p = jit(lambda x: Pair(x, x))(Tensor([1.], ms.float32))
    p.first += 1
    assert p.total().asnumpy().tolist() == [3.0] and p.second.asnumpy().tolist() == [1.0]


def seen(p):
    return float((p.first * 2).asnumpy().sum()) + p.count


def check_host():
    """What CPython is given are objects with the values of the run."""
    def function(x):
        p = Pair(x, x)
        if x.sum() > 2:
            p.first = x * 10
        return Tensor(np.array(np.add(0, 1) + p.count)) + x, p.first

    @jit
    def graph(x):
        p = Pair(x + 1, x, 3)
        if x.sum() > 2:
            p.count = 4
        return Tensor(np.float32(seen(p)), ms.float32)
    assert graph(Tensor([1., 0.])).asnumpy() == 9 and graph(Tensor([3., 0.])).asnumpy() == 14
    assert plain(jit(function)(Tensor([3.], ms.float32)))[1] == [30.0]


def check_gradient():
    def loss(x):
        p = Pair(x, x * x)
        p.grow()
        if x.sum() > 2:
            p.second = p.second * 3
        return p.total().sum()
    for x, want in ((1.0, 4.0), (3.0, 20.0)):
        ms.set_context(mode=ms.GRAPH_MODE)
        assert float(ms.grad(loss)(Tensor([x], ms.float32))[0]) == want
        ms.set_context(mode=ms.PYNATIVE_MODE)
        assert float(ms.grad(loss)(Tensor([x], ms.float32))[0]) == want
    ms.set_context(mode=ms.GRAPH_MODE)


def fails(kind, text, call):
    try:
        call()
    except kind as error:
        assert text in str(error), error
    else:
        raise AssertionError("nothing was raised")


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.config = Config(scale=3.0)

    def construct(self, x):
        return self.config.apply(x)


ms.set_context(mode=ms.GRAPH_MODE)
for function in FUNCTIONS:
    graph = jit(function)
    for data in ([1., 0.5], [3., 2.]):
        x = Tensor(data, ms.float32)
        assert plain(graph(x)) == plain(function(x)), (function.__name__, data, plain(graph(x)), plain(function(x)))
assert plain(Net()(Tensor([1.], ms.float32))) == [4.0]
check_returned()
check_host()
check_gradient()
fails(dataclasses.FrozenInstanceError, "cannot assign to field 'n'", lambda: jit(refused)(Tensor([1.])))
fails(RecursionError, "in an object that holds itself", lambda: jit(circle)(Tensor([1.])))
ms.set_context(jit_syntax_level=ms.STRICT)
for function in (attribute, made, holds):
    fails(TypeError, "Do not support to convert <class '__main__.", lambda: jit(function)(Tensor([1., 2.])))
