# SPDX-License-Identifier: Apache-2.0
"""s2.R086: what is None on one way only is an object of the run on level LAX, and a graph gives what eager mode gives; lambdas that share
a line, and functions with some of their arguments."""
import functools
import mindspore as ms
from mindspore import Tensor, jit, ops


def chosen(x):
    y = None
    if x > 0:
        y = x * 2
    if y is not None:
        return y
    return x


def falls_through(x):
    if x > 0:
        return x * 2


def number(x):
    y = None
    if x > 0:
        y = 3
    return y, x


def becomes_none(x):
    y = "s"
    if x > 0:
        y = None
    return y is None


def in_while(x):
    y = None
    i = 0
    while i < 3:
        if x > i:
            y = x + i
        i += 1
    return y


def in_dict(x):
    d = {"k": None}
    if x > 0:
        d["k"] = x
    return d


def filled(x):
    y = None
    if x > 0:
        y = x
    if y is None:
        y = x * 10
    return y + 1


def a_list(x):
    y = None
    if x > 0:
        y = [x, 1]
    return y


def before_break(x):
    y = None
    for i in range(3):
        if x > i:
            y = i
            break
    return y


def partly(x):
    f = functools.partial(lambda a, b, c=1: a * b + c, x)
    g = functools.partial(f, c=x)
    return f(2), f(3, c=4), g(2), ops.partial(ops.add, x)(1), functools.partial(lambda: x)()


def run(function):
    return function()


ms.set_context(mode=ms.GRAPH_MODE)
for function in (chosen, falls_through, number, becomes_none, in_while, in_dict, filled, a_list, before_break, partly):
    for data in (2.5, -1.5):
        given = Tensor(data, ms.float32)
        graph, plain = jit(function)(given), function(given)
        assert str(graph) == str(plain), (function.__name__, data, graph, plain)
t = Tensor([1., 2.])
assert run(lambda: jit(lambda v: v * 3)(t)).asnumpy().tolist() == [3, 6]
assert jit(lambda a: (lambda b: b + a)(a))(t).asnumpy().tolist() == [2, 4]
assert [f(t).asnumpy().tolist() for f in (jit(lambda q: q - 1), jit(lambda a, f=lambda z: z * 5: f(a)))] == [[0, 1], [5, 10]]
ms.set_context(jit_syntax_level=ms.STRICT)
for function in (chosen, falls_through, in_while):
    try:
        jit(function)(Tensor(2.5, ms.float32))
    except TypeError as error:
        assert "AbstractNone" in str(error) and "Cannot join" in str(error), error
    else:
        raise AssertionError(function.__name__)
