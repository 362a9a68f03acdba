# SPDX-License-Identifier: Apache-2.0
"""Dicts, lists, tuples, strings, operators, errors, Cells, classes, functions over structures."""
import numpy as np
import mindspore as ms
from mindspore import Tensor, context, jit
from mindspore import ops, nn, Parameter, mutable, jit_class, ParameterTuple
from mindspore.ops import operations as P, functional as F, composite as C
from functools import partial, reduce
context.set_context(mode=context.GRAPH_MODE)

DIFFERS = {
    "l1": "index and count are numbers",
    "s1": "MindSpore ignores the format of an f-string",
    "b1": "MindSpore finds no function inside of itself",
    "b3": "item of a tensor with an index",
    "b5": "minus True is -1, as in Python",
    "b8": "shifts of tensors by numbers are taken",
    "e5": "the exception of MatMul, for all products",
    "e11": "the exception of Python",
    "e13": "MindSpore takes the first two",
    "e14": "the exception of Python",
    "c5": "a class made of a variable is taken",
    "g7": "float64 by the document, where no annotation says otherwise",
    "m3": "the exception of version 2.2",
    "m7": "MindSpore has isconstant elsewhere",
}


def run(f, *args):
    return jit(f)(*args)


def T(v, d=ms.float32):
    return Tensor(v, d)


def I(v):
    return Tensor(v, ms.int32)


def d1(x):
    d = {"a": x, "b": 2}
    d.update({"c": x + 1})
    return list(d.keys()), list(d.values()), d.get("z", 5), d.get("a"), len(d), "a" in d


def case_d1():
    return run(d1, T(1.0))


def d2(x):
    d = {}
    for i in range(3):
        d[f"k{i}"] = x * i
    s = 0
    for k, v in d.items():
        s = s + v
    return s, d["k1"]


def case_d2():
    return run(d2, T(1.0))


def d3(x):
    d = {"a": x, "b": x + 1}
    d.clear()
    return len(d)


def case_d3():
    return run(d3, T(1.0))


def d4(x):
    d = dict(a=1, b=2)
    e = {k: v + x for k, v in d.items() if v > 1}
    return e["b"]


def case_d4():
    return run(d4, T(1.0))


def d5(x):
    return {"a": x, "b": 2}


def case_d5():
    return run(d5, T(1.0))


def d6(x):
    d = {"a": x}
    return d["b"]


def case_d6():
    return run(d6, T(1.0))


def d7(x):
    d = {1: x, (1, 2): x + 1, "s": [x, x]}
    return d[1] + d[(1, 2)] + d["s"][1]


def case_d7():
    return run(d7, T(1.0))


def d8(x):
    d = {"a": x, "b": x}
    d2 = d.fromkeys(["p", "q"], 3)
    return d2["p"], d.has_key("a")


def case_d8():
    return run(d8, T(1.0))


def d9(d, x):
    d["a"] = x
    return d["a"] + d["b"]


def case_d9():
    return run(d9, {"a": T(5.0), "b": T(7.0)}, T(1.0))


def l1(x):
    l = [1, 2, 3]
    l.append(x); l.insert(0, 7); l.reverse(); l.extend([4, 5]); a = l.pop(); b = l.pop(0)
    return l, a, b, len(l), l.index(2), l.count(2)


def case_l1():
    return run(l1, T(1.0))


def l2(x):
    l = [x, 2, "s", (1, x)]
    l[1] = l[0] + 1
    l[-1] = 5
    return l[1], l[-1], l[0:2], l[::-1][0], l * 2 == l + l


def case_l2():
    return run(l2, T(1.0))


def l3(x):
    l = [3, 1, 2]
    return sorted(l), max(l), min(l), sum(l), list(reversed(l)), list(map(lambda a: a * 2, l)), list(filter(lambda a: a > 1, l)), list(zip(l, (x, x, x)))


def case_l3():
    return run(l3, T(1.0))


def l4(x):
    a = [i * x for i in range(4) if i % 2 == 0]
    b = tuple([i for i in (1, 2, 3)])
    c = [(i, j) for i, j in enumerate((x, x))]
    return a, b, c


def case_l4():
    return run(l4, T(1.0))


def l5(x):
    l = [1, 2]
    return l[5]


def case_l5():
    return run(l5, T(1.0))


def l6(x):
    l = [[1, 2], [3, x]]
    l[0][1] = 9
    l[1].append(4)
    return l


def case_l6():
    return run(l6, T(1.0))


def l7(l, x):
    l.append(x)
    return l, len(l)


def case_l7():
    return run(l7, [1, 2], T(1.0))


def l8(x):
    l = [1, 2, 3, 4]
    l[1:3] = [7, 8, 9]
    del l[0]
    return l


def case_l8():
    return run(l8, T(1.0))


def l9(x):
    a, *b = (1, 2, x)
    (c, d), e = (1, 2), x
    return a, b, c, d, e


def case_l9():
    return run(l9, T(1.0))


def t1(x):
    t = (1, x, "a", None, True)
    return t[1], t[-1], t[1:3], len(t), t + (1,), 1 in t, t[3] is None, t * 2


def case_t1():
    return run(t1, T(1.0))


def t2(x):
    a = (1, 2) < (1, 3); b = (1, 2) == (1, 2); c = [1] != [2]
    return a, b, c


def case_t2():
    return run(t2, T(1.0))


def s1(x):
    s = "abc"
    return s + "d", s[1], s * 2, s.upper(), len(s), "b" in s, "%s-%d" % ("a", 3), "{}:{}".format(1, 2), f"{s}!{3:03d}", s == "abc", s.split("b"), s.replace("a", "z"), s.startswith("ab"), "".join(["x", "y"])


def case_s1():
    return run(s1, T(1.0))


def b1(x):
    return isinstance(x, Tensor), isinstance(1, int), isinstance((1,), (list, tuple)), type(1), callable(b1), hasattr(x, "shape"), getattr(x, "shape"), getattr(x, "nothing", 5)


def case_b1():
    return run(b1, T([1.0]))


def b2(x):
    return abs(-3), round(2.6), pow(2, 3), divmod(7, 2), bool(0), int("3"), float("2.5"), str(3), int(2.9), all([1, 0]), any((0, 1)), sum([1, 2], 3), max(1, 2, 3), min((4, 2))


def case_b2():
    return run(b2, T([1.0]))


def b3(x):
    return abs(x), pow(x, 2), round(x), max(x), min(x), sum(x), len(x), bool(x.sum() > 0), int(x[0]), float(x[1]), x.item(0) if x.size > 0 else 0


def case_b3():
    return run(b3, T([-1.0, 2.5]))


def b4(x):
    return list(x), tuple(x), list(range(3)), tuple("ab"), list((1, x)), list({"a": 1})


def case_b4():
    return run(b4, T([-1.0, 2.5]))


def b5(x):
    return 7 // 2, 7 % 3, -7 // 2, 2 ** 3, 7 / 2, 1 << 3, 8 >> 1, 6 & 3, 6 | 1, 6 ^ 2, ~5, not 1, -True, 1 if x.shape[0] else 2


def case_b5():
    return run(b5, T([-1.0, 2.5]))


def b6(x):
    return 1 and 2, 0 or 3, None or 4, [] or 5, "" and 1, not [], 1 is 1, None is not None, 2 not in (1, 3)


def case_b6():
    return run(b6, T([-1.0, 2.5]))


def b7(x, y):
    return x + y, x - 1, 2 - x, x * y, x / 2, 5 // y, x % 2, x ** 2, -x, x > y, x == 2, x != y, x <= 1, 2 ** y


def case_b7():
    return run(b7, T([1.0, 2.5]), I([2, 3]))


def b8(x, y):
    return x & y, x | y, x ^ y, ~x, x << 1, y >> 1


def case_b8():
    return run(b8, I([6, 3]), I([2, 5]))


def b9(x):
    return x @ x.T, x.T.shape, (x @ x.T)[0, 0]
def case_b9():
    return run(b9, T([[1.0, 2.5], [2.0, 3.0]]))


def e1(x):
    return x + "a"


def case_e1():
    return run(e1, T([1.0]))


def e2(x):
    return x + None


def case_e2():
    return run(e2, T([1.0]))


def e3(x):
    return undefined_thing(x)


def case_e3():
    return run(e3, T([1.0]))


def e4(x):
    return x.no_such()


def case_e4():
    return run(e4, T([1.0]))


def e5(x):
    return ops.matmul(x, x)


def case_e5():
    return run(e5, T(np.ones((2, 3))))


def e6(x):
    return x + T(np.ones((4,)))


def case_e6():
    return run(e6, T(np.ones((3,))))


def e7(x, y):
    return x


def case_e7():
    return run(e7, T(np.ones((3,))))


def e8(x):
    try:
        x = x + 1
    except ValueError:
        x = x - 1
    return x


def case_e8():
    return run(e8, T(np.ones((3,))))


def e9(x):
    return (1, 2) + [3]


def case_e9():
    return run(e9, T(np.ones((3,))))


def e10(x):
    return [1, 2] < 3


def case_e10():
    return run(e10, T(np.ones((3,))))


def e11(x):
    return len(5)


def case_e11():
    return run(e11, T(np.ones((3,))))


def e12(x):
    for i in 5:
        x = x + i
    return x


def case_e12():
    return run(e12, T(np.ones((3,))))


def e13(x):
    a, b = (1, 2, 3)
    return a


def case_e13():
    return run(e13, T(np.ones((3,))))


def e14(x):
    return 1 / 0


def case_e14():
    return run(e14, T(np.ones((3,))))


def e15(x):
    raise TypeError("bad " + str(x.shape))


def case_e15():
    return run(e15, T(np.ones((3,))))


def e16(x):
    raise NotImplementedError


def case_e16():
    return run(e16, T(np.ones((3,))))


def e17(x):
    return int("abc")


def case_e17():
    return run(e17, T(np.ones((3,))))


def e18(x):
    return ops.reshape(x, (2, 2))


def case_e18():
    return run(e18, T(np.ones((3,))))


def e19(x):
    return ops.concat((x, T(np.ones((2, 2)))), 0)


def case_e19():
    return run(e19, T(np.ones((3,))))


def e20(x):
    return x.reshape((7,))


def case_e20():
    return run(e20, T(np.ones((3,))))


class Base(nn.Cell):
    def __init__(self, k):
        super().__init__()
        self.k = k
        self.w = Parameter(T([1.0, 2.0]), name="w")
        self.ops = [P.Add(), P.Mul()]
        self.flag = True
        self.t = (1, 2, 3)
        self.d = {"a": 1}
    def helper(self, x, y=2, *args, **kwargs):
        return x * y + len(args) + kwargs.get("z", 0)
    def construct(self, x):
        return self.w * x + self.k


class Derived(Base):
    def construct(self, x):
        y = super().construct(x)
        if self.flag:
            y = self.ops[0](y, self.t[1])
        for o in self.ops:
            y = o(y, x)
        return self.helper(y, 3, 1, 2, z=4) + self.d["a"]


def case_c1():
    return Derived(3)(T([1.0, 2.0]))


class Assign(nn.Cell):
    def __init__(self):
        super().__init__()
        self.p = Parameter(T(0.0), name="p"); self.q = Parameter(T([1.0, 1.0]), name="q")
    def construct(self, x):
        self.p = self.p + 1
        self.q[0] = x
        ops.assign_add(self.q, T([1.0, 1.0]))
        self.p += x
        return self.p, self.q


def case_c2():
    n = Assign()
    a = n(T(3.0)); b = n(T(4.0))
    return b, n.p.value(), [p.name for p in n.trainable_params()]


class Seq(nn.Cell):
    def __init__(self):
        super().__init__()
        self.s = nn.SequentialCell(nn.ReLU(), nn.Sigmoid()); self.l = nn.CellList([nn.ReLU(), nn.Tanh()])
        self.l.append(nn.Sigmoid())
    def construct(self, x):
        for i, c in enumerate(self.l):
            x = c(x) + i
        return self.s(x), len(self.l), self.l[-1](x), self.l[0:2][1](x)


def case_c3():
    return Seq()(T([-1.0, 2.0]))


@jit_class
class JC:
    v = 5
    def __init__(self, n): self.n = n
    def add(self, x): return x + self.n
    def __call__(self, x): return x * self.n
    @property
    def twice(self): return self.n * 2
    @staticmethod
    def st(x): return x - 1
    @classmethod
    def cl(cls, x): return x + cls.v


def jc(x):
    o = JC(3)
    return o.add(x), o(x), o.twice, JC.st(x), o.v


def case_c4():
    return run(jc, T(2.0))


@jit_class
class JD:
    def __init__(self, x): self.x = x
    def __add__(self, o): return JD(self.x + o.x)
    def __getitem__(self, i): return self.x * i
    def __len__(self): return 7
    def __bool__(self): return False
    def __eq__(self, o): return True


def jd(x):
    a = JD(x) + JD(x)
    return a.x, a[3], len(a), a == 1, bool(a)


def case_c5():
    return run(jd, T(2.0))


G = 5


def g1(x):
    global G
    return x + G


def case_g1():
    return run(g1, T(2.0))


def g2(x, *, k=3, **kw):
    return x * k + kw["m"]


def g2c(x):
    return g2(x, m=4), g2(x, k=1, **{"m": 2})


def case_g2():
    return run(g2c, T(2.0))


def g3(x):
    def fact(n):
        return 1 if n <= 1 else n * fact(n - 1)
    return x * fact(5)


def case_g3():
    return run(g3, T(2.0))


def g4(x):
    def outer(a):
        def inner(b):
            return a + b
        return inner
    return outer(x)(3), (lambda *a: a[1])(1, x)


def case_g4():
    return run(g4, T(2.0))


def g5(x):
    p = partial(g2, m=1, k=2)
    return p(x)


def case_g5():
    return run(g5, T(2.0))


def g6(x):
    return x.shape, x.dtype, x.ndim, x.size, x.itemsize, x.nbytes, x.strides, x.T


def case_g6():
    return run(g6, T([[2.0, 1.0]]))


def g7(x):
    y = x.asnumpy()
    return Tensor(y + 1)


def case_g7():
    return run(g7, T([2.0, 1.0]))


def g8(x):
    a = np.array([1, 2, 3])
    b = np.sum(a)
    return x + Tensor(b), Tensor(a).sum()


def case_g8():
    return run(g8, T([2.0, 1.0]))


def g9(x):
    print("x", x.shape)
    with_it = [x for _ in range(2)]
    return ops.concat(with_it)


def case_g9():
    return run(g9, T([2.0, 1.0]))


mt = C.MultitypeFuncGraph("mt")


@mt.register("Tensor", "Tensor")
def _a(x, y):
    return x + y


@mt.register("Number", "Number")
def _b(x, y):
    return x * y


@mt.register("Tuple", "Tuple")
def _c(x, y):
    return x


def m1(x):
    return mt(x, x), mt(3, 4), mt((1,), (2,))


def case_m1():
    return run(m1, T([2.0, 1.0]))


hm = C.HyperMap(mt)


def m2(x):
    return hm((x, 2, x), (x, 3, x)), C.HyperMap()(F.partial(mt, x), (x, x)), C.Map()(mt, (x, 1), (x, 2))


def case_m2():
    return run(m2, T([2.0, 1.0]))


def m3(x):
    return mt("a", x)


def case_m3():
    return run(m3, T([2.0, 1.0]))


@ms.constexpr
def ce(a, b):
    return a + b


def m4(x):
    return x * ce(2, 3)


def case_m4():
    return run(m4, T([2.0, 1.0]))


def m5(x):
    return ce(x, 3)


def m6(t, x):
    return t[0] + x, len(t), isinstance(t, tuple)


def case_m6():
    return run(m6, mutable((T(1.0), 2)), T([2.0, 1.0]))


def m7(x):
    return ms.isconstant(x), ms.isconstant(3), ms.isconstant((1, x)), F.isconstant(x.shape) if hasattr(F, "isconstant") else None


def case_m7():
    return run(m7, T([2.0, 1.0]))
