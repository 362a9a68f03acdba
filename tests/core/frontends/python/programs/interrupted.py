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
def stays(x):
    while x < 10:
        x = x + 0
    return x


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

# A loop that changes nothing has no end either, whoever reads what it gives.
signal.setitimer(signal.ITIMER_REAL, 0.05)
try:
    stays(Tensor(3.0, ms.float32))
except Late:
    pass
else:
    raise AssertionError("the loop ended")
assert float(stays(Tensor(30.0, ms.float32))) == 30

signal.signal(signal.SIGALRM, count)
signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
while Count.n < 3:
    assert float(down(Tensor(20000.0, ms.float32), Tensor(0.0, ms.float32))) == 0

child = os.fork()
if child == 0:
    os._exit(0 if endless() else 1)
assert os.waitpid(child, 0)[1] == 0
assert endless()

# A handler that returned, and raises at its third call.
Count.n = 0


def third(number, frame):
    count(number, frame)
    if Count.n == 3:
        raise Late(number)


signal.signal(signal.SIGALRM, third)
signal.setitimer(signal.ITIMER_REAL, 0.05, 0.05)
try:
    down(Tensor(0.0, ms.float32), Tensor(float("-inf"), ms.float32))
except Late:
    assert Count.n == 3
else:
    raise AssertionError("the loop ended")

# Another thread's graph leaves the handlers to the main thread; so does the first graph of a process.
import subprocess
import sys
import tempfile
import textwrap

text = """
    import os, signal, threading
    import mindspore as ms
    from mindspore import Tensor, jit

    @jit
    def down(x, y):
        while x > y:
            x = x - 1
        return x

    class Late(Exception):
        pass

    def late(number, frame):
        raise Late(number)

    signal.signal(signal.SIGALRM, late)
    threading.Thread(target=lambda: down(Tensor(0.0, ms.float32), Tensor(float("-inf"), ms.float32)), daemon=True).start()
    signal.setitimer(signal.ITIMER_REAL, 0.1)
    try:
        threading.Event().wait()
    except Late:
        print("late", flush=True)
        os._exit(0)
"""
with tempfile.NamedTemporaryFile("w", suffix=".py") as file:
    file.write(textwrap.dedent(text))
    file.flush()
    cli = os.path.join(os.environ.get("GANTRY_BUILD_ROOT", "build"), "app", "gantry-cli")
    if os.path.exists(cli):
        assert subprocess.run([cli, "python", file.name], capture_output=True, timeout=60).stdout == b"late\n"
