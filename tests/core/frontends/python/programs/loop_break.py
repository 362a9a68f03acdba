# SPDX-License-Identifier: Apache-2.0
"""A while whose count is known and that a break may end on data: no trip more than its condition allows."""
import mindspore as ms
from mindspore import Tensor, jit


def counted(t, n, trips):
    c = 0
    while c < trips:
        c = c + 1
        if n != 4:
            t = t + 1
        else:
            break
        t = t * 2
    return t


def returned(t, n, trips):
    c = 0
    while c < trips:
        c = c + 1
        if n == 4:
            return t - 1
        t = t * 2
    return t


def on_data(t, n):
    c = 0
    while t < 3:
        c = c + 1
        if n == 4:
            break
        t = t * 2
    return t


def nested(t, n):
    a = 0
    while a < 2:
        a = a + 1
        b = 0
        while b < 1:
            b = b + 1
            if n > 3:
                break
            t = t + b
        t = t * 2
    return t


for f in (lambda t, n: counted(t, n, 1), lambda t, n: counted(t, n, 2), lambda t, n: counted(t, n, 3),
          lambda t, n: returned(t, n, 1), lambda t, n: returned(t, n, 2), on_data, nested):
    for n in (3, 4):
        arguments = (Tensor(1.25, ms.float32), Tensor(n, ms.int32))
        as_graph, as_python = jit(f)(*arguments), f(*arguments)
        assert as_graph.asnumpy() == as_python.asnumpy(), (f, n, as_graph, as_python)
