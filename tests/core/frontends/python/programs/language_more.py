# SPDX-License-Identifier: Apache-2.0
"""Further programs as users write them, with structures, numbers and operations: a graph gives what eager mode gives."""
import numpy as np
from dataclasses import dataclass
import mindspore as ms
from mindspore import Tensor, jit, mutable, nn, ops
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


class Hooked(nn.Cell):

    def __init__(self):
        super().__init__()
        self.fc = nn.Dense(2, 2, weight_init='ones', bias_init='zeros')

    def construct(self, x):
        return self.fc(x)


@case(Tensor([[1.0, 2.0]], ms.float32))
def hooks(x):
    c = Hooked()
    seen = []
    h = c.register_forward_pre_hook(lambda cell, inp: (inp[0] * 2,))
    c.register_forward_hook(lambda cell, inp, out: out + 1)
    a = c(x)
    h.remove()
    return (a, c(x))


@case(Tensor([[1.0, 2.0]], ms.float32))
def multi_cell(x):
    return Multi()(x)


@case(S)
@case(N)
def continue_else(x):
    t = 0
    for i in range(4):
        for j in range(4):
            if j == i:
                continue
            if j > 2:
                break
            t = t + (i * j if x > 0 else -1)
        if t > 8:
            break
    return t


@case(S)
@case(N)
def while_continue(x):
    i = 0
    s = 0
    while i < 6:
        i += 1
        if i % 2 == 0:
            continue
        if x * i > 10:
            break
        s += i
    return (s, i)


@case(V)
def recursive_struct(x):

    def total(t):
        if isinstance(t, (list, tuple)):
            r = 0
            for e in t:
                r = r + total(e)
            return r
        return t
    return total([x, (1, [2, x])])


@case(V)
def fib(x):

    def f(n):
        return n if n < 2 else f(n - 1) + f(n - 2)
    return x * f(7)


@case(V, [1, 2, 3], {'a': 4})
def const_args(x, l, d):
    l2 = l + [4]
    return (x * l2[-1] + d['a'], l2)


@case((V, (V, 2)))
def nested_arg(t):
    a, (b, c) = t
    return a + b * c


@case(mutable((V, [S, S])))
def mutable_nested(t):
    return (t[0].sum() + t[1][0] * t[1][1], len(t[1]))


@case(V)
def default_tensor(x, y=Tensor([1.0, 1.0, 1.0, 1.0], ms.float32), *, z=2):
    return x + y * z


@case(X)
def setitem_ops(x):
    y = ops.zeros((3, 3), ms.float32)
    y[0] = x[0]
    y[1:, 0] = 5
    y[2, 2] = x[1, 2]
    y[:, 1] += 1
    y[Tensor([0, 2], ms.int32)] = 7.0
    return y


@case(X)
def index_tuple_list(x):
    return (x[[0, 1], [1, 2]], x[[1, 0]], x[:, [True, False, True]], x[Tensor([True, False])])


@case(X)
def newaxis(x):
    return (x[:, None].shape, x[None, ..., 0].shape, x[..., ::2])


@case(V)
def aug_list(x):
    l = [x] * 2
    l += [1]
    l *= 2
    t = (1,)
    t += (2,)
    s = 'a'
    s += 'b'
    return (l, t, s)


@case(V)
def nested_dict_loop(x):
    d = {'a': {'x': 1, 'y': 2}, 'b': {'x': 3}}
    t = 0
    for k, v in d.items():
        for kk in v:
            t += v[kk]
    return (t * x, list(d))


@case(V)
def filter_map(x):
    return ([v for v in map(lambda a: a * 2, [1, 2, 3])], sum(map(lambda a: a, (1, 2))), list(zip([1, 2], 'ab')),
            dict(zip(['a'], [x])), dict(a=1, b=x), list(enumerate('ab')))


@case(V)
def any_all(x):
    return (any((v > 2 for v in [1, 2, 3])), all([v > 0 for v in [1, 2]]), (x > 0).any(), (x > -5).all())


@case(V)
def gen_expr(x):
    return (sum((i * i for i in range(4))) * x, tuple((i for i in range(3))), max((i for i in [1, 5, 2])))


@case(V)
def slices_list(x):
    l = [0, 1, 2, 3, 4]
    l[1] = 9
    a = l[1:4:2]
    b = l[-2:]
    c = l[:]
    c[0] = x
    return (a, b, c, l)


@case(V)
def comparisons(x):
    return ([1, 2] == [1, 2], {'a': 1} == {'a': 1}, (1, 'a') != (1, 'b'), None is None, 'a' in 'abc', 1 not in [2],
            1 == 1.0, True == 1)


@case(V)
def num_formats(x):
    return (f"{3.14159:.2f}|{7:>4}|{True!r}|{'q':<3}|", '%5.1f' % 2.25, str((1, 2)), f'{[1, 2]}')


@case(V)
def int_float_mix(x):
    n = 3
    f = 2.0
    return (n / f, n // f, n ** f, n % f, x * n / f, -n // 2, int(f) * n, n * 'ab', [0] * n, round(7.567, 1))


@case(Tensor(3, ms.int32), Tensor(2, ms.int64))
def int_tensors(a, b):
    return (a + b, a / b, a // b, a % b, a ** b, a * 2.5, a > b, -a, ops.abs(-a), a)


@case(Tensor([1.5, -2.5], ms.float16))
def half(x):
    return (x * 2, x + 1.5, x.astype(ms.float32) + x, x / 3, x ** 2, x > 0, x.sum())


@case(Tensor([True, False]), Tensor([True, True]))
def bools(a, b):
    return (a & b, a | b, a ^ b, ops.logical_not(a), a == b, a.astype(ms.int32) + 1, a.any(), ops.logical_and(a, b))


@case(V)
def shadow(x):
    len_ = len([1])
    sum_ = 0
    for x2 in [1, 2]:
        sum_ = sum_ + x2
    x = x + sum_

    def f(x):
        return x * 2
    return f(x) + len_


@case(V)
def inner_class_use(x):
    class_list = [ops.ReLU(), ops.Neg()]
    y = x
    for op in class_list:
        y = op(y)
    return (y, ops.Add()(x, 1), ops.ReduceSum(keep_dims=True)(x, 0), ops.Concat(0)((x, x)).shape)


@case(V)
def prim_attr(x):
    cast = ops.Cast()
    sh = ops.Shape()
    return (cast(x, ms.int32), sh(x), ops.Reshape()(x, (2, 2)), ops.Transpose()(x.reshape(2, 2), (1, 0)))


@case(V)
def multi_return_fn(x):

    def f(v):
        return (v, v + 1, {'k': v * 2})
    a, b, c = f(x)
    *d, e = f(x)
    return (a + b + c['k'], e['k'], len(d))


@case(S)
@case(N)
def arm_nested_return(x):

    def f(v):
        if v > 0:
            if v > 2:
                return 1
            else:
                return 2
        return 3
    return f(x) * 10 + f(x - 1)


@case(S)
@case(N)
def ternary_structs(x):
    a = (x, 1) if x > 0 else (x * 2, 2)
    b = {'k': x} if x > 1 else {'k': -x}
    c = [x, x] if x > 0 else [x + 1, x]
    return (a, b, c)


@case(S)
@case(N)
def flag_accumulate(x):
    found = False
    n = 0
    for i in range(5):
        if not found and x + i > 3:
            found = True
            n = i
    return (found, n)


@case(S)
@case(N)
def str_in_arm(x):
    s = 'pos' if x > 0 else 'neg'
    return (s, x)


@case(S)
@case(N)
def while_dict(x):
    d = {'v': x, 'n': 0}
    while d['n'] < 3:
        d['v'] = d['v'] * 2
        d['n'] = d['n'] + 1
    return d


@case(S)
@case(N)
def while_var_dict(x):
    d = {'v': x, 'n': 0}
    while d['v'] < 10:
        d['v'] = d['v'] + 3
        d['n'] += 1
    return d


@case(S)
@case(N)
def while_var_tuple(x):
    a, b = (x, (0, x))
    while a < 8:
        a, b = (a + b[1] * 0 + 2, (b[0] + 1, a))
    return (a, b)


@case(V)
def tensor_iter_unpack(x):
    a, b, c, d = x
    return (a + d, b * c, [*x][0])


@case(V)
def method_chain(x):
    return (x.reshape(2, 2).sum(axis=0).expand_dims(1).tile((1, 2)).astype(ms.int32).max(axis=1), x.clip(0, 2),
            x.cumsum(0), x.prod(), x.std() > 0, x.var() > 0)


@case(V)
def topk_sort(x):
    return (ops.topk(x, 2), ops.sort(x), 1, 2)


@case(X)
def einsum_bmm(x):
    return (ops.matmul(x, x.T), ops.tensor_dot(x, x, ((1,), (1,))), x @ x.T, ops.dot(x, x.T), ops.outer(x[0], x[1]),
            ops.bmm(x[None], x.T[None]))


@case(X)
def stack_split(x):
    return (ops.stack([x, x], 1).shape, ops.split(x, 1, axis=0), ops.concat([x, x], -1).shape, ops.unstack(x),
            ops.chunk(x, 3, 1)[2], ops.tile(x, (1, 2)), ops.flip(x, (0,)), ops.roll(x, 1, 0))


@case(V)
def while_break_else_val(x):
    k = None
    for i, v in enumerate([3, 5, 7]):
        if v == 5:
            k = i
            break
    return (k, x)


@case(V)
def lists_compare_loop(x):
    acc = []
    for a, b in [(1, 'x'), (2, 'y')]:
        acc.append((b, a * x))
    return (acc, dict((('a', 1),)), [b for b, _ in acc])


GL = 3


@case(V)
def uses_global(x):
    return x * GL + helper_global(x, n=2)


def helper_global(v, n=1, *rest):
    return v * n + len(rest)


@dataclass
class Cfg:
    k: int = 3

    def f(self, v):
        return v * self.k


CFG = Cfg()


@case(V)
def cfg_use(x):
    return CFG.f(x) + CFG.k


@case(V)
def cond_expr_call(x):
    return ((ops.abs if GL > 2 else ops.neg)(x), [ops.abs, ops.neg][1](x), {'f': ops.exp}['f'](x * 0))


@case(S)
@case(N)
def assert_var(x):
    assert x > 0, 'must be positive'
    return x


@case(S)
@case(N)
def raise_types(x):
    if x > 100:
        raise TypeError('too large', 1)
    if x < 0:
        raise RuntimeError('negative')
    return x


@case(V)
def zeros_like_args(x):
    return (ops.zeros_like(x), ops.ones(3, ms.int32), ops.full_like(x, 3), 0, ms.Tensor(np.ones((2, 2)), ms.float32),
            1)


@case(V)
def norm_fns(x):
    return (ops.norm(x), x.mean(), ops.softmax(x), ops.log_softmax(x), ops.relu(x), ops.sigmoid(x), ops.gelu(x),
            ops.tanh(x))


# What no graph is made of, with the words that say so.
REFUSED = {
    'flag_accumulate': 'Cannot join',
}
# They call Cells, whose construct is the graph.
CELLS = ('hooks', 'multi_cell')
# What is other in a graph.
OTHERWISE = {}


def PREPARE():
    ms.set_seed(1)


check(CASES, CELLS, REFUSED, OTHERWISE, PREPARE)
