# SPDX-License-Identifier: Apache-2.0
"""Handlers of signals are called while a graph runs, and one that raises ends it, also where the loop has no end; one that does not lets
the graph go on. A graph of a fork is interrupted likewise."""
import os
import signal

import mindspore as ms
from mindspore import Tensor, jit


class Late(Exception):
    pass


class Count:
    n = 0


def late(number, frame):
    raise Late(number)


def count(number, frame):
    Count.n += 1
    if Count.n == 3:
        signal.setitimer(signal.ITIMER_REAL, 0)


@jit
def down(x, y):
    while x > y:
        x = x - 1
    return x


def endless():
    """Ends by the handler alone."""
    signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, 0.05)
    try:
        down(Tensor(0.0, ms.float32), Tensor(float("-inf"), ms.float32))
    except Late as e:
        return e.args == (signal.SIGALRM,)
    return False


assert float(down(Tensor(5.0, ms.float32), Tensor(0.0, ms.float32))) == 0
assert endless()

signal.signal(signal.SIGALRM, count)
signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
while Count.n < 3:
    assert float(down(Tensor(20000.0, ms.float32), Tensor(0.0, ms.float32))) == 0

child = os.fork()
if child == 0:
    os._exit(0 if endless() else 1)
assert os.waitpid(child, 0)[1] == 0
assert endless()
