# SPDX-License-Identifier: Apache-2.0
# Lists and dicts from outside of a graph are themselves inside and when they come out; what sequences with variables in them answer.
import os
import numpy as np
import mindspore as ms
from mindspore import Parameter, Tensor, jit, mutable, nn, ops, mint
from mindspore.common.api import JitConfig
from mindspore.nn.probability import distribution


def raises(kind, call):
    try:
        call()
    except kind:
        return
    raise AssertionError("nothing was raised")


nested = [1, [2, [3, 4]], {"a": [5]}]
table = {"a": 1, "b": [1, 2]}


@jit
def inner_list():
    return nested[1][1], nested, nested[2]["a"]


a, b, c = inner_list()
assert a is nested[1][1] and b is nested and c is nested[2]["a"]


@jit
def reverse_inner():
    x = nested[1]
    x.reverse()
    return x


assert reverse_inner() is nested[1] and nested[1] == [[3, 4], 2]


@jit
def set_item(x):
    table["c"] = x
    table.update({"d": 4})
    return table


assert set_item(Tensor([3])) is table and table["c"].tolist() == [3] and table["d"] == 4


class Net(nn.Cell):
    def __init__(self, table):
        super().__init__()
        self.table = table

    def construct(self):
        self.table["x"] = 7
        return self.table


ms.set_context(mode=ms.GRAPH_MODE)
own = {"x": 1}
net = Net(own)
assert net() is own and own == {"x": 7} and net.table is own


@jit
def sequences(x, y):
    m = ((x, y), (x + 1, y), (x, y), "text")
    n = [x, y, 2]
    return m.count((x, y)), m.index((x, y)), n.count(3), x in n, y in [x, 2], (x, 1) == (x, 1), (x, y) != (y, x), 7 in n


assert sequences(Tensor([3]), Tensor([4])) == (2, 0, 1, True, False, True, True, False)
assert sequences(Tensor([4]), Tensor([4])) == (2, 0, 0, True, True, True, False, False)


@jit
def unlike(i):
    m = [Tensor([1, 2]), "b", (3, 4)]
    return m[i], m[i:], [1, 2] * i


one, rest, twice = unlike(mutable(1))
assert one == "b" and rest == ["b", (3, 4)] and twice == [1, 2]


@jit
def identity(x):
    return int(x) is 3, int(x) is not 3


assert identity(Tensor([3])) == (True, False)


# Whose level counts: the environment's, the Cell's or function's own, the context's.
class Returned(nn.Cell):
    def construct(self):
        return {"a": 1}


strict, lax = Returned(), Returned()
strict.set_jit_config(JitConfig(jit_syntax_level="STRICT"))
assert strict() == (1,) and lax() == {"a": 1}
assert jit(function=lambda: {"a": 1}, fullgraph=True)() == (1,)
os.environ["MS_DEV_JIT_SYNTAX_LEVEL"] = "0"
assert lax() == (1,)
del os.environ["MS_DEV_JIT_SYNTAX_LEVEL"]


# Hooks of parameters; a name that is bound to one is no assignment to it.
class Weighted(nn.Cell):
    def __init__(self):
        super().__init__()
        self.w = Parameter(Tensor([2.0]), name="w")

    def construct(self, x):
        p = self.w
        p += x
        return p * self.w


for mode in (ms.GRAPH_MODE, ms.PYNATIVE_MODE):
    ms.set_context(mode=mode)
    net = Weighted()
    assert net(Tensor([1.0])).tolist() == [6.0] and net.w.asnumpy().tolist() == [2.0]
    by_weight = ops.GradOperation(get_by_list=True)(net, net.trainable_params())
    assert by_weight(Tensor([1.0]))[0].tolist() == [5.0]
    handles = net.w.register_hook(lambda g: g * 2), net.w.register_hook(lambda g: g + 1)
    assert by_weight(Tensor([1.0]))[0].tolist() == [11.0]
    handles[1].remove()
    assert by_weight(Tensor([1.0]))[0].tolist() == [10.0]

# Gradients have the structure of what they are taken by.
found = ops.grad(lambda d, l: d["a"] * l[0], (0, 1))(mutable({"a": Tensor([2.0])}), mutable([Tensor([3.0])]))
assert found[0]["a"].tolist() == [3.0] and isinstance(found[1], list) and found[1][0].tolist() == [2.0]

# Names of other versions can be imported; what is not there says so where it is called.
assert mint.add(Tensor([1]), Tensor([2])).tolist() == [3]
raises(NotImplementedError, lambda: distribution.Bernoulli(0.5))
assert np.all(Tensor([True, True])) and not isinstance(Tensor(1), ms.COOTensor)

# What is mapped over together is of one kind and as long.
both = ops.HyperMap(ops.add)
assert both((Tensor([1]), [Tensor([2])]), (Tensor([3]), [Tensor([4])]))[1][0].tolist() == [6]
raises(TypeError, lambda: both((Tensor([1]),), [Tensor([1])]))
raises(ValueError, lambda: both((Tensor([1]),), (Tensor([1]), Tensor([2]))))
raises(RuntimeError, jit(lambda: zip()))


# Level STRICT raises a known exception where data says so.
@jit(jit_config=JitConfig(jit_syntax_level="STRICT"))
def checked(x, y):
    if x > y:
        raise ValueError("x is bigger than y")
    return x + y


assert checked(Tensor([1]), Tensor([2])).tolist() == [3]
raises(ValueError, lambda: checked(Tensor([2]), Tensor([1])))


# A number that is a variable takes the type of the tensor beside it, on either side.
@jit
def mixed(x, n):
    return x * n, n * x, n - x, n < x


kinds = [v.dtype for v in mixed(Tensor([1], ms.int32), mutable(3))]
assert kinds == [ms.int32, ms.int32, ms.int32, ms.bool_], kinds
assert [v.dtype for v in mixed(Tensor([1.0], ms.float16), mutable(2.5))][:3] == [ms.float16] * 3
