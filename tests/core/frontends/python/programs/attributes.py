# SPDX-License-Identifier: Apache-2.0
# Attributes and global names that graphs assign: a later call sees what an earlier one left, and so does what runs between them.
import mindspore as ms
from mindspore import nn, ops, Tensor, jit
from mindspore.common.api import JitConfig

ms.set_context(mode=ms.GRAPH_MODE)


def close(a, b):
    assert [float(v) for v in a] == [float(v) for v in b], (a, b)


class Counter(nn.Cell):
    def __init__(self):
        super().__init__()
        self.k, self.rate, self.word, self.flag = 0, 0.5, "a", False

    def construct(self, x):
        self.k = self.k + 1
        self.rate *= 2
        self.word = self.word + "b"
        self.flag = not self.flag
        self.last = x * 2
        return x + self.k if self.flag else x + self.rate


net = Counter()
close([net(Tensor(1.0)) for _ in range(5)], [2, 3, 4, 9, 6])
assert (net.k, net.rate, net.word, net.flag) == (5, 16.0, "abbbbb", True) and float(net.last) == 2
net.k = 10  # as what runs between the calls says
net.flag = False
close([net(Tensor(1.0))], [12])
assert net.k == 11


# A number that becomes a variable where it must be known is known.
class Shape(nn.Cell):
    def __init__(self):
        super().__init__()
        self.k = 0

    def construct(self, x):
        self.k += 1
        if self.k % 2 == 0:
            return x
        return ops.ones((self.k,), ms.float32) * x


net = Shape()
assert [net(Tensor(2.0)).shape for _ in range(4)] == [(1,), (), (3,), ()]


# Tensors, lists of them, and None that becomes one.
class Running(nn.Cell):
    def __init__(self):
        super().__init__()
        self.total, self.mean, self.state = Tensor(0.0), None, [Tensor(0.0), Tensor(1.0)]

    def construct(self, x):
        self.total = self.total + x
        self.mean = x if self.mean is None else 0.5 * self.mean + 0.5 * x
        a, b = self.state
        self.state = [b, a + b]
        return self.total + self.state[1]


net = Running()
close([net(Tensor(float(i))) for i in range(1, 5)], [2, 5, 9, 15])
close([net.total, net.mean, *net.state], [10, 3.125, 3, 5])


# In arms and loops that data decides about.
class Arms(nn.Cell):
    def __init__(self):
        super().__init__()
        self.n, self.t = 0, Tensor(0.0)

    def construct(self, x):
        if x > 1:
            self.n = self.n + 1
            self.t = self.t + x
        return x + self.n + self.t


net = Arms()
close([net(Tensor(v)) for v in (2., 1., 3., 0.)], [5, 4, 10, 7])
assert net.n == 2 and float(net.t) == 5


class Loops(nn.Cell):
    def __init__(self):
        super().__init__()
        self.n = 0

    def construct(self, x):
        while x < 10:
            x = x * 2
            self.n = self.n + 1
        return x + self.n


net = Loops()
close([net(Tensor(v)) for v in (2., 1., 30., 0.5)], [19, 23, 37, 28])
assert net.n == 12


# Properties of the program's own, names that are computed, a tuple of targets.
class Twice(nn.Cell):
    def __init__(self):
        super().__init__()
        self._p, self.a, self.b = 3, 1, Tensor(2.0)

    @property
    def p(self):
        return self._p

    @p.setter
    def p(self, value):
        self._p = value * 2

    def construct(self, x):
        self.p = self.p + 1
        self.a, self.b = self.a + 1, self.b + x
        setattr(self, "dyn", self.a * 2)
        return x + self.p + self.dyn


net = Twice()
close([net(Tensor(1.0)) for _ in range(3)], [13, 25, 47])
assert (net._p, net.a, float(net.b), net.dyn) == (38, 4, 5.0, 8)


# A Cell inside, which its own construct reads; and a gradient.
class Outer(nn.Cell):
    def __init__(self):
        super().__init__()
        self.inner, self.w, self.calls, self.seen = Arms(), ms.Parameter(Tensor(2.0), name="w"), 0, None

    def construct(self, x):
        self.calls += 1
        self.seen = [x * self.w, x]
        return self.seen[0] * self.seen[0] + self.inner(x)


net = Outer()
step = ms.value_and_grad(net, None, net.trainable_params())
results = [step(Tensor(v)) for v in (2., 3.)]
close([r[0] for r in results], [21, 46])
close([r[1][0] for r in results], [16, 36])
close([net.calls, net.inner.n, *net.seen], [2, 2, 6, 3])


# Objects of classes of the program's own, global names, and what another graph assigns.
class Held:
    pass


held = Held()
held.v, held.t, count = 1, Tensor(1.0), 0


@jit
def change(x):
    global count
    held.v = held.v + 1
    held.t = held.t + x
    count = count + 1
    return x * held.v + held.t + count


@jit
def read(x):
    return x + held.v + count


close([read(Tensor(1.0))], [2])
close([change(Tensor(1.0)) for _ in range(3)], [5, 8, 11])
assert held.v == 4 and float(held.t) == 4 and count == 3
close([read(Tensor(1.0))], [8])
held.v, count = 10, 20
close([read(Tensor(1.0)), change(Tensor(1.0))], [31, 37])


# What CPython does in the graph sees what stands before it, in order.
seen = []


@ms.jit_ignore
def note(value):
    seen.append((held.v, float(value)))
    return value


@jit
def ordered(x):
    held.v = 100
    y = Tensor(float(note(x.asnumpy())), ms.float32)
    held.v = 101
    return y + held.v


held.v = 1
close([ordered(Tensor(1.0)), ordered(Tensor(2.0))], [102, 103])
assert seen == [(100, 1.0), (100, 2.0)] and held.v == 101, seen


# Lists and dicts that are changed in place are what the call before left.
items, table = [1, 2, 3], {"a": 1}


@jit
def turned(x):
    items.reverse()
    items.extend([x])
    table["a"] = table["a"] + 1
    return x + table["a"]


close([turned(Tensor(1.0)) for _ in range(3)], [3, 4, 5])
assert [float(i) for i in items] == [1, 3, 2, 1, 1, 1], items
assert table == {"a": 4}


# What the document says of a Cell in the graph: what is read of it before it is assigned is a constant.
class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.inner = Counter()

    def construct(self):
        a = self.inner.k
        self.inner.k = a + 1


net = Net()
net(), net()
assert net.inner.k == 1


# A copy of a Cell that has run has its own attributes and makes its own graphs.
import copy
net = Counter()
net(Tensor(1.0))
other = copy.deepcopy(net)
close([other(Tensor(1.0)), other(Tensor(1.0)), net(Tensor(1.0))], [3, 4, 3])
assert (net.k, other.k) == (2, 3)


# Level STRICT refuses it.
@jit(jit_config=JitConfig(jit_syntax_level="STRICT"))
def strict(x):
    held.v = 3
    return x


for call in (lambda: strict(Tensor(1.0)),):
    try:
        call()
    except (TypeError, AttributeError) as e:
        assert "v" in str(e) or "Held" in str(e), e
    else:
        raise AssertionError("nothing was raised")


# An object that is made where another one stood is another object: the graph that was made for the one before does not hold.
class Box:
    def __init__(self, v):
        self.v = v


boxes = [Box(0)]


@jit
def next_of_box(x):
    boxes[0].v = boxes[0].v + 1
    return x + boxes[0].v


for i in range(12):
    boxes[0] = None
    boxes[0] = Box(i * 10 if i % 3 else Tensor([i]))
    wanted = (i * 10 if i % 3 else i) + 1
    assert next_of_box(Tensor([0])).asnumpy().tolist() == [wanted] and int(boxes[0].v) == wanted, i
