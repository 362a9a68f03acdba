# SPDX-License-Identifier: Apache-2.0
"""Programs as users write them: each gives in a graph what it gives in eager mode, or is refused as MindSpore's pages say."""
import math
import numpy as np
from typing import NamedTuple
import mindspore as ms
from mindspore import Parameter, Tensor, jit, jit_class, mutable, nn, ops
from mindspore import constexpr as ms_constexpr
from mindspore.ops import functional as F
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


@case(V)
def list_mutation(x):
    l = [1, 2, 3]
    l.append(4)
    l.insert(1, 9)
    l[0] = x
    l.extend([5, 6])
    a = l.pop()
    l.reverse()
    del_first = l[1:]
    return (l, a, del_first, len(l))


@case(V)
def dict_mutation(x):
    d = {'a': x, 'b': [1, 2]}
    d['c'] = x + 1
    d['a'] = d['a'] * 2
    d.update({'e': 5})
    ks = list(d.keys())
    g = d.get('zz', 7)
    n = 0
    for k, v in d.items():
        if isinstance(v, int):
            n += v
    return (d, ks, g, n, 'a' in d, 'q' not in d)


@case(X)
def slice_assign(x):
    y = x * 1
    y[0] = 9
    y[:, 1] = Tensor([7.0, 8.0], ms.float32)
    y[1, ::2] = -1.0
    return (y, y[..., -1], y[1:, :2], y[None].shape)


@case(V)
def mask_assign(x):
    y = x * 1
    y[y > 1] = 0.0
    return y


@case(V)
def nested_loops(x):
    total = 0
    for i in range(4):
        if i == 1:
            continue
        j = 0
        while True:
            j += 1
            if j > i:
                break
            if j == 2:
                continue
            total = total + x * j
        else:
            total = total + 100
    return total


@case(S)
@case(N)
def while_variable(x):
    n = 0
    while x < 20:
        x = x * x + 1
        n = n + 1
        if n > 5:
            break
    return (x, n)


@case(S)
@case(N)
def return_in_arms(x):
    if x > 2:
        return (x * 2, 1)
    elif x > 0:
        return (x, 2)
    if x < -1:
        y = x - 1
        if y < -2:
            return (y, 3)
    return (x * 0, 4)


@case(V)
def closures(x):
    fs = []
    for i in range(3):

        def f(y, k=i):
            return y * k + x
        fs.append(f)
    g = lambda a, b=2: a + b

    def counter(n):

        def add(v):
            return v + n
        return add
    return (fs[2](x), g(x), g(x, b=3), counter(5)(x))


@case(V)
def comprehension(x):
    a = [x * i for i in range(5) if i % 2 == 0]
    d = {str(i): x + i for i in range(2)}
    e = [i * j for i in range(3) for j in range(2)]
    t = tuple((v + 1 for v in (1, 2)))
    return (a, d, e, t, sum(e))


@case(V, 3, flag=True)
def star_args(*args, **kwargs):
    x, n = args

    def f(a, *rest, key=1, **kw):
        return a * key + len(rest) + kw.get('z', 0)
    t = (1, 2)
    return (f(x, *t, key=n), f(x, 1, z=5), kwargs['flag'], f(*[x], **{'key': 2}))


@case(V)
def isinstances(x):
    r = []
    for v in (x, 1, 1.5, 's', [1], (1,), {'a': 1}, None, True):
        r.append((isinstance(v, Tensor), isinstance(v, (int, float)), isinstance(v, str), isinstance(v, (list,
                tuple)), v is None))
    return r


@case(V, None)
@case(V, Tensor([1.0, 1.0, 1.0, 1.0], ms.float32))
def none_compare(x, m):
    y = None
    if m is not None:
        y = x + m
    if y is None:
        return x
    return y if y is not None else x


@case(V)
def string_format(x):
    s = 'a' + 'b' * 2
    t = '%s-%d' % (s, 3)
    u = f'{s}:{len(t):03d}:{x.shape}'
    return (s, t, u, '{} {name}'.format(1, name='q'), u.split(':'), s.upper(), 'abc'[1:], 'b' in s)


@case(V)
def unpack(x):
    a, *b, c = [x, 1, 2, x + 1]
    (d, e), f = ((1, 2), x)
    a, c = (c, a)
    return (a, b, c, d + e, f)


@case(V)
def chained_compare(x):
    n = 5
    return (1 < n <= 5 < 7, not (n == 5 and n > 6), n > 3 or x, n and 0, 1 if n else 2)


@case(S)
@case(N)
def bool_ops(x):
    a = x > 0 and x < 3
    b = x > 5 or x < 0
    return (a, b, not a, (x > 0) == (x < 3))


class P(NamedTuple):
    a: int
    b: object


@case(V)
def named_tuple(x):
    p = P(1, x)
    q = P(p.a + 1, p.b * 2)
    return (p.a, q.b, q[0], len(p))


@jit_class
class Acc:

    def __init__(self, k):
        self.k = k
        self.names = ['x', 'y']

    def scale(self, v):
        return v * self.k

    def __call__(self, v):
        return self.scale(v) + 1


ACC = Acc(3)


@case(V)
def jit_classes(x):
    return (ACC.scale(x), ACC(x), ACC.k, len(ACC.names), Acc(2)(x))


@ms_constexpr
def shape_prod(s):
    n = 1
    for d in s:
        n *= d
    return n


@case(X)
def constexprs(x):
    return (x.reshape((shape_prod(x.shape),)), shape_prod((2, 3)))


class Base(nn.Cell):

    def __init__(self, k):
        super().__init__()
        self.k = k
        self.w = Parameter(Tensor([1.0, 2.0, 3.0], ms.float32), name='w')

    def helper(self, x):
        return x + self.k

    @property
    def double(self):
        return self.k * 2

    @staticmethod
    def stat(a, b):
        return a - b

    def construct(self, x):
        return self.helper(x) * self.w


class Derived(Base):

    def __init__(self):
        super().__init__(4)
        self.layers = nn.CellList([nn.ReLU(), nn.Tanh()])
        self.table = {'r': 1.5}

    def helper(self, x):
        return super().helper(x) * 2

    def construct(self, x):
        y = super().construct(x)
        for l in self.layers:
            y = l(y)
        return (y, self.double, self.stat(5, 3), self.table['r'] * x)


@case(X)
def inheritance(x):
    return Derived()(x)


class Update(nn.Cell):

    def __init__(self):
        super().__init__()
        self.n = Parameter(Tensor(0, ms.int32), name='n')
        self.w = Parameter(Tensor([1.0, 1.0], ms.float32), name='w')

    def construct(self, x, k):
        for i in range(k):
            self.n += 1
            self.w = self.w * 2 + x
        if self.n > 2:
            self.w[0] = 0.0
        ops.assign_add(self.n, Tensor(10, ms.int32))
        return (self.w + 0, self.n + 0)


@case(Tensor([1.0, 2.0], ms.float32), 2)
@case(Tensor([1.0, 2.0], ms.float32), 3)
def param_update(x, k):
    u = UPDATES.pop()
    r = u(x, k)
    return (r, u.w + 0, u.n + 0)


UPDATES = []


@case(V)
def dict_out(x):
    return {'a': x, 'b': {'c': (x + 1, [1, 2])}, 3: 's'}


@case(V)
def enumerate_zip(x):
    r = 0
    names = []
    for i, (a, b) in enumerate(zip([1, 2, 3], (x, x + 1, x + 2))):
        r = r + a * b * i
        names.append(i)
    for k in reversed([1, 2]):
        names.append(k)
    for p in sorted([3, 1, 2]):
        names.append(p)
    return (r, names, list(map(lambda v: v + 1, names)), list(filter(lambda v: v > 1, names)), max(names),
            min(names), any([0, 1]), all([1, 1]))


@case(V)
def for_tensor(x):
    r = []
    for v in x:
        r.append(v * 2)
    s = 0
    for i in range(x.shape[0]):
        s = s + x[i]
    return (r, s)


@case(V)
def tensor_methods(x):
    return (x.sum(), x.max(), x.argmax(), x.astype(ms.int32), x.reshape(2, 2).T, x.abs().mean(), x.view(4,
            1).squeeze(), x.expand_dims(0).shape, x.size, x.ndim, x.dtype == ms.float32)


@case(X, I)
def fancy_index(x, i):
    return (x[:, i], x[1][i], x[(0, 1), (1, 2)], x[..., None, 0], x[Tensor([1, 0], ms.int32)], x[1, 2], x[-1])


@case(S)
@case(N)
def ternary_chain(x):
    y = 1 if x > 2 else 2 if x > 0 else 3
    z = x if x > 0 else -x
    return (y * z, z)


@case(S)
@case(N)
def arms_containers(x):
    l = [1, 2]
    d = {'k': x}
    if x > 0:
        l.append(3)
        d['k'] = x * 2
    else:
        l.append(4)
        d['k'] = x * 3
    return (l[2] + 0, d['k'])


@case(S)
@case(N)
def loop_return(x):
    for i in range(5):
        x = x + 1
        if x > 4:
            return (x, i)
    return (x, -1)


@case(S)
@case(N)
def nested_while(x):
    a = 0
    i = 0
    while i < 3:
        j = 0
        while j < i:
            if x > 0:
                a = a + j + 1
            else:
                a = a - 1
            j += 1
        i += 1
    return (a, x * a)


@case(mutable(3), V)
def mutable_int(n, x):
    r = x
    for _ in range(2):
        r = r + n
    if n > 2:
        r = r * 2
    return (r, n + 1, n * 2.5)


@case(mutable([V, V + 1]))
def mutable_list(l):
    s = l[0]
    for v in l[1:]:
        s = s + v
    return (s, len(l))


@case(V)
def scalar_math(x):
    return (7 // 2, -7 // 2, -7 % 3, 2 ** 3, 2 ** (-1), 7 / 2, 5 & 3, 5 | 3, 5 ^ 3, 1 << 3, ~5, abs(-3), round(2.5),
            (3, 1), int(3.7), float(2), bool(0), math.pi > 3)


@case(V)
def tensor_scalar_ops(x):
    return (x // 2, x % 2, x ** 2, 2 - x, 1 / (x + 5), -x, x == 2, x != 2, x >= 0, 2 ** x, 7 // (x + 4))


@case(Tensor([1, 2, 3], ms.int32), Tensor([1.5, 2.5, 3.5], ms.float32))
def promotion(i, f):
    return (i + f, i * 2.5, i / 2, i // 2, f + 1, i + True, (i > 1) + 1, i ** 2, (i > 1) & (f > 2))


@case(V)
def lambdas_in_list(x):
    fs = [lambda v: v + 1, lambda v: v * 2]
    for f in fs:
        x = f(x)
    return (x, (lambda *a: len(a))(1, 2, 3), (lambda **k: k['z'])(z=4))


@case(V)
def partials(x):
    f = F.partial(lambda a, b, c: a * b + c, x)
    return f(2, 3)


@case(V)
def while_list(x):
    i = 0
    out = []
    while i < 3:
        out.append(x * i)
        i += 1
    return (ops.stack(out), out[-1])


@case(5)
def recursion(n):

    def fact(k):
        return 1 if k <= 1 else k * fact(k - 1)
    return fact(n)


@case(V)
def with_else(x):
    for i in range(3):
        if i == 5:
            break
    else:
        x = x + 10
    while False:
        pass
    else:
        x = x * 2
    return x


@case(V)
def global_read(x):
    return x * GLOBALS['k'] + len(GLOBAL_LIST)


GLOBALS = {'k': 3}
GLOBAL_LIST = [1, 2]


@case(V)
def tuple_ops(x):
    t = (1, 2) + (x,)
    u = t * 2
    return (t, u[3:], t[::-1], (1, 2) < (1, 3), (1, 2) == (1, 2), 2 in (1, 2), t[-1], 0)


@case(V)
def list_ops(x):
    a = [1, 2] + [3]
    b = a * 2
    a2 = a[:]
    a2[1] = x
    c = list((1, 2))
    c += [3]
    return (a, b, a2, c, a == [1, 2, 3], 3 in a, 0, [[0] * 2 for _ in range(2)])


@case(V)
def asserts(x):
    assert x.ndim == 1, 'rank'
    assert len(x.shape) == 1
    return x


@case(S)
@case(N)
def raise_in_arm(x):
    if x < 0:
        raise ValueError(f'negative {1}')
    return x


@case(V)
def grad_inside(x):

    def f(a):
        return (a * a * 3).sum()
    return (ms.grad(f)(x), ops.GradOperation()(f)(x))


@case(V)
def hypermap(x):
    return (ops.HyperMap()(lambda a, b: a + b, (x, (x, x)), (1, (2, 3))), ops.Map()(lambda a: a * 2, (x, x)))


@case(V)
def starred_out(x):
    a = [x, 1]
    return ((*a, 2), [*a, *(3, 4)], {**{'a': 1}, 'b': 2})


@case(X)
def deep_nest(x):
    d = {'l': [x, {'t': (x + 1, [x * 2])}]}
    d['l'][1]['t'] = d['l'][1]['t'] + (5,)
    d['l'][0] = 3
    return (d, d['l'][1]['t'][1][0])


@case(S)
@case(N)
def try_fin(x):
    k = 0
    for i in range(3):
        k = k + (i if x > 0 else -i)
    return k


@case(V)
def type_checks(x):
    return (type(1) == int, type(x) is Tensor, 'str', True, hasattr(x, 'shape'), getattr(ACC, 'k'), getattr(ACC,
            'zz', 9))


@case(X)
def reduce_loops(x):
    h, w = x.shape
    out = ops.zeros((w, h), ms.float32)
    for i in range(h):
        for j in range(w):
            out[j, i] = x[i, j] * (i + 1)
    return out


@case(V)
def set_ops(x):
    s = {1, 2, 3}
    return (len(s), 2 in s, sorted(s))


@case(S)
@case(N)
def early_break(x):
    i = 0
    while i < 10:
        i = i + 1
        if x * i > 5:
            break
        if i == 3:
            continue
        x = x + 0.5
    return (x, i)


@case(V)
def kwonly(x):

    def f(a, /, b, *, c=2):
        return a + b * c
    return (f(x, 1), f(x, b=2, c=3))


@case(V)
def dict_iter(x):
    d = {'b': 1, 'a': x}
    out = []
    for k in d:
        out.append(k)
    return (out, list(d.values()), [k for k, v in d.items() if isinstance(v, int)], len(d))


@case(V)
def global_list_mut(x):
    l = [1, x]
    m = l
    m.append(2)
    return (l, m, 0)


@case(V)
def walrus(x):
    if (n := x.shape[0]) > 3:
        return x * n
    return x


@case(V)
def str_methods(x):
    return (','.join(['a', 'b']), 'a-b'.replace('-', '+'), ' q '.strip(), 'abc'.startswith('a'), 'abc'.find('c'),
            'x' * 3 == 'xxx', 'a' < 'b', str(12), int('7'), len('four'))


@case(V)
def nonlocal_like(x):
    total = [0]

    def add(v):
        return total[0] + v
    return (add(x), add(1))


@case(V)
def inplace(x):
    y = x
    y = y + 0
    y += 1
    y *= 2
    y -= 0.5
    y /= 2
    return (y, x)


# What no graph is made of, with the words that say so.
REFUSED = {
    'nested_loops': "'while...else...' statement",
    'comprehension': 'supports one `comprehension`',
    'with_else': "'for...else...' statement",
    'set_ops': "Unsupported expression 'Set'",
    'walrus': "Unsupported expression 'NamedExpr'",
}
# They call Cells, whose construct is the graph.
CELLS = ('param_update', 'inheritance')
# What is other in a graph: not of a variable is one, and a list that is changed is another one than its second name's.
OTHERWISE = {
    "bool_ops": ["(('T', 'Bool', (), 0.0), ('T', 'Bool', (), 1.0), ('T', 'Bool', (), 1.0), ('T', 'Bool', (), 0.0))",
                 "(('T', 'Bool', (), 1.0), ('T', 'Bool', (), 0.0), ('T', 'Bool', (), 0.0), ('T', 'Bool', (), 1.0))"],
    "global_list_mut": ["([1, ('T', 'Float32', (4,), [3.0, -1.0, 2.0, 0.0])], [1, ('T', 'Float32', (4,), [3.0, -1.0, 2.0, 0.0]), 2], 0)"],
}


def PREPARE():
    UPDATES[:] = [Update()]


check(CASES, CELLS, REFUSED, OTHERWISE, PREPARE)
