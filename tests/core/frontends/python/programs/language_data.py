# SPDX-License-Identifier: Apache-2.0
"""Programs whose control depends on data, gradients, Cells and Parameters: a graph gives what eager mode gives."""
import math
import numpy as np
import mindspore as ms
from mindspore import Parameter, Tensor, jit, mutable, nn, ops
from compare.graph_eager import check

CASES = []


def case(*args, **kw):
    def keep(function):
        CASES.append((function, args, kw))
        return function
    return keep


X = Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], ms.float32)
V = Tensor([3.0, -1.0, 2.0, 0.0], ms.float32)
I = Tensor([2, 0, 1], ms.int32)
S = Tensor(2.5, ms.float32)
N = Tensor(-1.5, ms.float32)
T0 = Tensor([0.5, 2.0, -3.0], ms.float32)
B = Tensor(True)


@case(S)
@case(N)
def for_var_range(x):
    n = 0
    for i in range(10):
        if i > x:
            break
        n += i
    return n


@case(V, Tensor(2, ms.int32))
def index_var(x, i):
    return (x[i], x[i - 1], x[-i])


@case(V, Tensor(2, ms.int32))
def setitem_var(x, i):
    y = x * 1
    y[i] = 100.0
    y[i - 2] = y[i] + 1
    return y


@case(mutable((1, 2.5)), V)
def mutable_tuple(t, x):
    a, b = t
    return (a + b, x * a, t[0] * 2, a > b)


@case(mutable({'a': V, 'b': 2}))
def mutable_dict(d):
    s = d['a'] * d['b']
    for k in d.keys():
        s = s + 1
    return (s, d['b'] + 1)


@case(V, k=mutable(2), name='abc')
def kw_args(x, k=1, name='z', other=None):
    if name == 'abc':
        x = x * k
    if other is None:
        x = x + 1
    return (x, name)


@case(B)
@case(Tensor(False))
def if_tensor(b):
    x = 1
    if b:
        x = 2
    if not b:
        x += 10
    return x


@case(S)
@case(N)
def while_and(x):
    i = 0
    while i < 10 and x < 50:
        x = x * 2 if x > 0 else x - 10
        i += 1
        if x < -30:
            break
    return (x, i)


@case(V)
def nested_fn_return(x):

    def f(v, n):
        for i in range(n):
            if i == 2:
                return v * i
            v = v + 1
        return v
    return (f(x, 2), f(x, 5))


@case(S)
@case(N)
def nested_fn_return_var(x):

    def f(v):
        for i in range(4):
            if v > 3:
                return v * 10
            v = v + i
        return v
    y = f(x)
    if y > 5:
        y = f(y - 6)
    return y


@case(S)
@case(N)
def tuple_in_arm(x):
    if x > 0:
        a, b = (x, (1, [2, x]))
    else:
        a, b = (-x, (3, [4, x * 2]))
    return (a, b)


@case(S)
@case(N)
def undefined_in_arm(x):
    if x > 0:
        y = x
    return y


@case(S)
@case(N)
def type_mismatch(x):
    if x > 0:
        y = Tensor([1, 2], ms.int32)
    else:
        y = Tensor([1.0, 2.0], ms.float32)
    return y


@case(S)
@case(N)
def none_in_arm(x):
    y = None
    if x > 0:
        y = x * 2
    if y is not None:
        return y
    return x


@case(V)
def grad_aux(x):

    def f(a):
        b = a * a
        return (b.sum(), b)
    return ms.value_and_grad(f, has_aux=True)(x)


@case(V)
def grad_positions(x):

    def f(a, b):
        return (a * b).sum()
    return (ms.grad(f, (0, 1))(x, x + 1), ms.grad(f, 1)(x, x * 2))


@case(V)
def grad_control(x):

    def f(a):
        s = a.sum()
        if s > 100:
            return s
        for i in range(3):
            s = s + (a * i).sum()
        return s * s
    return ms.grad(f)(x)


@case(V)
def second_grad(x):
    f = lambda a: (a ** 3).sum()
    g = lambda a: ms.grad(f)(a).sum()
    return ms.grad(g)(x)


@case(V)
def stop_grad(x):
    return ms.grad(lambda a: (a * ops.stop_gradient(a)).sum())(x)


@case(V)
def vjp_jvp(x):
    f = lambda a: a * a
    out, fn = ms.vjp(f, x)
    return (out, fn(x), ms.jvp(f, x, x))


class Bp(nn.Cell):

    def construct(self, x, y):
        return x * y

    def bprop(self, x, y, out, dout):
        return (dout * 10, dout * 20)


BP = Bp()


@case(V)
def custom_bprop(x):
    return ms.grad(lambda a, b: BP(a, b).sum(), (0, 1))(x, x)


class Mode(nn.Cell):

    def __init__(self):
        super().__init__()
        self.d = nn.Dropout(p=0.5)
        self.seq = nn.SequentialCell(nn.ReLU(), nn.Sigmoid())
        self.acts = [nn.ReLU(), nn.Tanh()]
        self.k = 3
        self.flag = False

    def construct(self, x, *rest, scale=1):
        if self.training:
            x = self.d(x)
        else:
            x = x + 1
        for a in self.acts:
            x = a(x)
        if len(rest) > 0:
            x = x + rest[0]
        if self.flag:
            x = x * 100
        return (self.seq(x) * scale, self.k)


@case(V)
def mode_cell(x):
    m = MODE
    m.set_train(False)
    a = m(x)
    return a


MODE = Mode()


MODE.set_train(False)


@case(V)
def cell_kwargs(x):
    return MODE(x, x, scale=2)


class PT(nn.Cell):

    def __init__(self):
        super().__init__()
        self.a = Parameter(Tensor([1.0], ms.float32), name='a')
        self.b = Parameter(Tensor([2.0], ms.float32), name='b')
        self.ps = ms.ParameterTuple([self.a, self.b])

    def construct(self, x):
        s = 0
        for p in self.ps:
            s = s + p * x
        ops.assign(self.a, self.a + 1)
        self.b += self.a
        return (s, self.a + 0, self.b * 1)


@case(Tensor([3.0], ms.float32))
def param_tuple(x):
    p = PT()
    r = p(x)
    return (r, p(x))


class Cond(nn.Cell):

    def __init__(self):
        super().__init__()
        self.n = Parameter(Tensor(0.0, ms.float32), name='n')
        self.cnt = 0

    def construct(self, x):
        while self.n < 3:
            self.n += x
            if self.n > 2:
                break
        if x > 0.7:
            ops.assign(self.n, x * 100)
        return self.n + 0


@case(Tensor(0.6, ms.float32))
@case(Tensor(0.9, ms.float32))
def param_loop(x):
    c = Cond()
    return (c(x), c.n + 0)


class SetA(nn.Cell):

    def __init__(self):
        super().__init__()
        self.v = 1
        self.t = Tensor([1.0, 2.0], ms.float32)

    def construct(self, x):
        self.v = 5
        self.t = x
        return x * self.v + self.t


@case(Tensor([1.0, 2.0], ms.float32))
def set_self(x):
    c = SetA()
    r = c(x)
    return (r, c.v, c.t)


class SetArm(nn.Cell):

    def __init__(self):
        super().__init__()
        self.v = 1.0

    def construct(self, x):
        if x > 0:
            self.v = x
        return x * 2


@case(S)
@case(N)
def set_self_arm(x):
    c = SetArm()
    return (c(x), c.v)


@case(V)
def numpy_in(x):
    a = np.array([1, 2, 3, 4])
    b = x.asnumpy() + 1
    return (Tensor(a.sum()), Tensor(b.astype(np.float32)), np.prod((2, 3)))


@case(V)
def str_arg_dispatch(x):
    table = {'relu': ops.relu, 'neg': lambda v: -v}
    return (table['relu'](x), table['neg'](x), [f(x) for f in table.values()])


@case(V)
def fn_as_value(x):

    def apply(f, n, v):
        for _ in range(n):
            v = f(v)
        return v
    return (apply(lambda q: q + 1, 3, x), apply(ops.abs, 1, x))


@case(V)
def deep_closure(x):

    def a(n):

        def b(m):

            def c(k):
                return n * m + k + x
            return c
        return b
    return a(2)(3)(4)


@case(S)
@case(N)
def closure_from_arm(x):
    f = lambda v: v + 1
    if x > 0:
        y = f(x)
    else:
        y = f(f(x))
    g = lambda v: v * 2
    return g(y)


@case(S)
@case(N)
def fn_from_arm(x):
    if x > 0:
        f = ops.abs
    else:
        f = ops.neg
    return f(x)


@case(X)
def iter_rows(x):
    out = []
    for i, row in enumerate(x):
        out.append(row.sum() * i)
    return (out, [r[0] for r in x])


@case(X)
def shapes(x):
    b, c = x.shape
    y = x.reshape(-1, b).swapaxes(0, 1)
    return (y, ops.shape(x), x.shape[0] * x.shape[-1], len(x), ops.rank(x), ops.size(x))


@case(V)
def tensor_in(x):
    return (3 in [1, 2, 3], 'a' in {'a': 1}, 1)


@case(V)
def int_of(x):
    return (x[0].astype(ms.int32), float(3), bool(x.shape), str(1.5))


@case(V)
def create(x):
    return (ops.zeros((2, 2), ms.float32), ops.ones_like(x), Tensor([1, 2]), Tensor(3.0), ms.tensor([1.0, 2.0]),
            ops.arange(3), ops.full((2,), 7, dtype=ms.float32), ops.eye(2, 2, ms.float32), ops.linspace(0.0, 1.0, 3))


@case(V)
def while_append_var(x):
    out = [x]
    i = Tensor(0, ms.int32)
    while i < 3:
        x = x + 1
        i = i + 1
    out.append(x)
    return out


@case(V)
def multi_assign(x):
    a = b = x + 1
    a += 1
    c, d = ([1, 2], {'k': [3]})
    c[0], d['k'] = (5, 6)
    c[0] += 2
    return (a, b, c, d)


@case(V)
def del_name(x):
    y = x + 1
    z = y * 2
    del y
    return z


@case(V)
def pass_ellipsis(x):
    if x.ndim == 1:
        pass
    ...
    return x[...]


@case(V)
def conditional_import(x):
    n = math.sqrt(16) + math.floor(2.7)
    return (x * n, math.e > 2)


@case(V)
def string_loop(x):
    r = ''
    for c in 'abc':
        r = r + c.upper() + '-'
    return (r, [c for c in 'xy'])


@case(V)
def dict_nested_update(x):
    d = {'a': {'b': {'c': 1}}}
    d['a']['b']['c'] = x
    d['a']['n'] = [1]
    d['a']['n'].append(2)
    return d


@case(V)
def list_of_list(x):
    m = [[0, 0], [0, 0]]
    for i in range(2):
        for j in range(2):
            m[i][j] = i * 2 + j
    m[0][1] = x
    return m


@case(V)
def sort_key(x):
    return ([1, 2], sum([1, 2, 3]), sum((x, x)), pow(2, 3), max(1, 2.5), min(x.shape), abs(-1.5), len({'a': 1}),
            range(3)[1], list(range(0, 6, 2)), tuple([1]))


@case(S)
@case(N)
def max_var(x):
    return (max(x, 1.0), min(x, Tensor(0.0)), abs(x), sum([x, 1]))


@case(V)
def slice_obj(x):
    s = slice(1, 3)
    return (x[s], [1, 2, 3, 4][s], (1, 2, 3)[0:2])


@case(V)
def neg_step(x):
    return ([1, 2, 3][::-1], (1, 2, 3)[-2:], 'abc'[::-1], x[::2], x[-3:-1])


@case(X)
def bool_index(x):
    return (ops.where(x > 2, x, ops.zeros_like(x)), (x > 2).sum(), ops.masked_fill(x, x > 4, 0.0))


@case(X)
def slice_var_bounds(x):
    n = x.shape[1] - 1
    return (x[:, :n], x[:, n:], x[0:x.shape[0]:1, 1])


@case(V)
def cast_chain(x):
    return (x.astype('int32').astype(ms.float16), x.to(ms.int64), ops.cast(x, ms.bool_), x.int(), x.float())


@case(V)
def jit_calls_jit(x):
    return inner_jit(x) + inner_jit(x * 2)


@jit
def inner_jit(x):
    return x * 3 + 1


@case(V)
def while_no_progress(x):
    n = 3
    while n:
        n -= 1
        x = x + n
    return x


@case(S)
@case(N)
def int_var_arith(x):
    n = 0
    if x > 0:
        n = 3
    m = n * 2 + 1
    return (m, m // 2, m % 3, m / 2, x * m, n == 3, -n, n > 1 and m < 10)


@case(S)
@case(N)
def list_index_var(x):
    i = 0
    if x > 0:
        i = 1
    l = [10, 20]
    return Tensor([10, 20])[i]


@case(Tensor(1, ms.int32))
def seq_tensor_index(i):
    t = (1, 2, 3)
    l = [Tensor([1.0]), Tensor([2.0])]
    return l[i]


# What no graph is made of, with the words that say so.
REFUSED = {
    'del_name': "Unsupported statement 'Delete'",
    'while_and': 'Cannot join',
    'undefined_in_arm': 'is not defined in',
    'type_mismatch': 'Cannot join',
    'fn_from_arm': 'Cannot join',
}
# They call Cells, whose construct is the graph.
CELLS = ('param_loop', 'set_self', 'set_self_arm', 'param_tuple', 'mode_cell', 'cell_kwargs')
# What is other in a graph: the larger of two is a variable.
OTHERWISE = {
    "max_var": ["(('T', 'Float32', (), 1.0), ('T', 'Float32', (), -1.5), ('T', 'Float32', (), 1.5), ('T', 'Float32', (), -0.5))",
                "(('T', 'Float32', (), 2.5), ('T', 'Float32', (), 0.0), ('T', 'Float32', (), 2.5), ('T', 'Float32', (), 3.5))"],
}


def PREPARE():
    ms.set_seed(1)


check(CASES, CELLS, REFUSED, OTHERWISE, PREPARE)
