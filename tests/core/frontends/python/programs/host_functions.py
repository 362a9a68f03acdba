# SPDX-License-Identifier: Apache-2.0
# Functions that a graph makes and CPython calls when it runs: what CPython gives for the same program without a graph.
import functools
from mindspore import Parameter, Tensor, jit

OFFSET, COUNT, HIDDEN = 7, 0, 100


def rebound(x):
    a, k = x.asnumpy(), 1
    first = list(map(lambda v: v + k, a))
    k = 10
    return first, list(map(lambda v: v + k, a))


def in_loop(x):
    a, out = x.asnumpy(), []
    for k in range(3):
        out.append(sorted(a, key=lambda v: v * (1 if k % 2 else -1)))
    return out


def with_default(x):
    a, k = x.asnumpy(), 3

    def f(v, n=k):
        return v * n
    k = 100
    return list(map(f, a))


def with_keyword_default(x):
    a, k = x.asnumpy(), 3

    def f(v, *, n=k, m=k + 1):
        return v * n + m
    k = 100
    return list(map(f, a))


def read_later(x):
    a, k = x.asnumpy(), 1
    m = map(lambda v: v + k, a)
    k = 10
    return list(m)


def unpacked_later(x):
    k, j = 1, 2
    m = map(lambda v: (v + k) * j, x.asnumpy())
    k, j = j, k
    return list(m)


def augmented(x):
    a = x.asnumpy()
    k = a[0]
    k += 1
    first = list(map(lambda v: v + k, a))
    k += 1
    return first, list(map(lambda v: v + k, a))


def defined_again(x):
    def g(v):
        return v + 1
    m = map(lambda v: g(v), x.asnumpy())

    def g(v):
        return v + 100
    return list(m)


def nested(x, y):
    return list(map(lambda v: (lambda w: w + y)(v), x.asnumpy()))


def in_list(x, y):
    n = [y]
    return list(map(lambda v: v + n[0], x.asnumpy()))


def tensor_default(x, y):
    def f(v, n=y):
        return v + n
    return list(map(f, x.asnumpy()))


def recursive(x):
    def fact(n):
        return 1 if n <= 1 else n * fact(n - 1)
    return list(map(fact, x.asnumpy()))


def mutual(x):
    def even(n):
        return True if n == 0 else odd(n - 1)

    def odd(n):
        return False if n == 0 else even(n - 1)
    return list(map(even, x.asnumpy())), list(filter(odd, x.asnumpy()))


def calls(x):
    k = 2

    def g(v):
        return v * k

    def f(v):
        return g(v) + 1
    first = list(map(f, x.asnumpy()))
    k = 5
    return first, list(map(f, x.asnumpy()))


def of_two_levels(x):
    def outer(k):
        def inner(a):
            return list(map(lambda v: v + k + j, a))
        return inner
    j = 100
    return outer(1)(x.asnumpy()), outer(2)(x.asnumpy())


def in_comprehension(x):
    a = x.asnumpy()
    return [sorted(a, key=lambda v: v * s) for s in (1, -1)]


def after_comprehension(x):
    a, k = x.asnumpy(), 5
    m = map(lambda v: v + k, a)
    inside = [list(map(lambda v: v * k, a)) for k in (1, 2)]
    later = [map(lambda v: v * k + j, a) for j in (1, 2)]
    k = 7
    return list(m), inside, [list(v) for v in later]


def of_comprehension(x):
    k = 5
    f, made = lambda v: v + k, [lambda v: v * k for k in (1, 2)]
    return [list(map(f, x.asnumpy())) + [f(1)] for k in (1, 2)], list(map(made[0], x.asnumpy())), made[0](1)


def least(x):
    a, k = x.asnumpy(), 3
    first = min(a, key=lambda v: abs(v - k))
    k = 9
    return first, max(a, key=lambda v: abs(v - k)), min(a, key=lambda v: abs(v - k))


def filtered(x):
    a, k = x.asnumpy(), 3
    first = list(filter(lambda v: v > k, a))
    k = 0
    return first, list(filter(lambda v: v > k, a))


def reduced(x):
    a, k = x.asnumpy(), 2
    first = functools.reduce(lambda p, q: p * k + q, a)
    k = 3
    return first, functools.reduce(lambda p, q: p * k + q, a, 1)


def reads_global(x):
    return list(map(lambda v: v + OFFSET, x.asnumpy()))


def list_changed(x):
    n = [1, 2]
    first = list(map(lambda v: v + n[0], x.asnumpy()))
    n[0] = 5
    n.append(3)
    return first, list(map(lambda v: v + n[0] + len(n), x.asnumpy()))


def list_read_later(x):
    n = [1, 2]
    m = map(lambda v: v + n[0] + len(n), x.asnumpy())
    n[0] = 5
    n.append(3)
    return list(m)


def shadowed(x):
    k = 1

    def f(v, k=5):
        return [v + k for k in (k, k + 1)]
    return list(map(f, x.asnumpy())), k


def of_branches(x, y):
    a, k = x.asnumpy(), 1
    if y > 0:
        first = map(lambda v: v + k, a)
        k = 10
    else:
        first = map(lambda v: v - k, a)
        k = 20
    return list(first), list(map(lambda v: v + k, a))


def of_unknown_length(x, y):
    a, k, i, total = x.asnumpy(), 1, 0, 0
    while i < y:
        total = total + sum(map(lambda v: v * k, a))
        k = k + 1
        i = i + 1
    return total, k


def plain(value):
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    value = value.asnumpy() if isinstance(value, Tensor) else value
    return value.tolist() if hasattr(value, "tolist") else value


x = Tensor([3, 4])
for f in (rebound, in_loop, with_default, with_keyword_default, read_later, unpacked_later, augmented, defined_again, recursive, mutual, calls,
          of_two_levels, in_comprehension, after_comprehension, of_comprehension, least, filtered, reduced, reads_global, list_changed,
          list_read_later, shadowed):
    assert plain(jit(f)(x)) == plain(f(x)), (f.__name__, jit(f)(x), f(x))
for f in (nested, in_list, tensor_default, of_branches, of_unknown_length):
    graph = jit(f)
    for y in (Tensor(3), Tensor(-1), Tensor(1)):
        assert plain(graph(x, y)) == plain(f(x, y)), (f.__name__, graph(x, y), f(x, y))
assert rebound(Tensor([1, 2])) == ([2, 3], [11, 12])


# Each run has variables of its own.
@jit
def not_read_yet(x, k):
    k = k + 1
    return {"later": map(lambda v: v + k, x.asnumpy())}


first, second = not_read_yet(x, Tensor(1)), not_read_yet(x, Tensor(5))
assert plain(list(first["later"])) == [5, 6] and plain(list(second["later"])) == [9, 10]


# What the graph would not see is refused by name.
def counts(x):
    def f(v):
        global COUNT
        COUNT = COUNT + 1
        return v
    return list(map(f, x.asnumpy()))


def counts_here(x):
    n = 0

    def f(v):
        nonlocal n
        n += 1
        return v
    return list(map(f, x.asnumpy())), n


def collects(x):
    seen = []
    list(map(lambda v: seen.append(v), x.asnumpy()))
    return seen


def writes(x, y):
    def f(v):
        y[0] = v
    return list(map(f, x.asnumpy())), y


class Counter:
    def __init__(self, count):
        self.count = count


def counts_in_object(x):
    c = Counter(0)

    def f(v):
        c.count = v
    return list(map(f, x.asnumpy())), c.count


weight = Parameter(Tensor([1.0]), name="weight")


def reads_assigned(x):
    weight.set_data(weight + 1)
    return list(map(lambda v: v + weight[0], x.asnumpy()))


def in_partial(x):
    return list(map(functools.partial(lambda a, b: a + b, 1), x.asnumpy()))


def not_bound_yet(x):
    out = list(map(lambda v: v + HIDDEN, x.asnumpy()))
    HIDDEN = 1
    return out


for f, args, error, words in (
        (counts, (x,), RuntimeError, "assigns 'COUNT', which it declares global"),
        (counts_here, (x,), RuntimeError, "assigns 'n', which it declares nonlocal"),
        (collects, (x,), RuntimeError, "may change 'seen', a list of the graph"),
        (writes, (x, Tensor([5])), RuntimeError, "may change 'y', a Tensor of the graph"),
        (counts_in_object, (x,), RuntimeError, "may change 'c', a Counter of the graph"),
        (reads_assigned, (x,), RuntimeError, "reads 'weight', of whose Parameters"),
        (in_partial, (x,), RuntimeError, "cannot be called outside of it"),
        (not_bound_yet, (x,), NameError, "free variable 'HIDDEN'")):
    try:
        jit(f)(*args)
    except error as raised:
        assert words in str(raised), (f.__name__, raised)
    else:
        raise AssertionError(f.__name__)
assert COUNT == 0
