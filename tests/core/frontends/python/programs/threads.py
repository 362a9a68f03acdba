# SPDX-License-Identifier: Apache-2.0
"""Threads: while one makes a graph, others compute, make graphs of their own and differentiate, as if it were not there; and what a
Cell of one thread computes in is nothing to the others."""
import threading

import numpy as np
import mindspore as ms
from mindspore import Tensor, nn, ops

making, done = threading.Event(), threading.Event()
x = Tensor(np.array([1, 2, 3], np.float32))


@ms.constexpr
def meanwhile():
    """Within the making of a graph: waits until the other threads have computed."""
    making.set()
    assert done.wait(60)
    return 2.0


@ms.jit
def slow(y):
    z = y + 1
    return z * meanwhile()


@ms.jit
def other(y):
    return ops.exp(y).sum()


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.dense = nn.Dense(3, 2, weight_init="ones", has_bias=False)

    def construct(self, y):
        return self.dense(y) * 2


found = {}


def compute():
    try:
        assert making.wait(60)
        eager = x * 10 + x
        found["eager"] = (eager.asnumpy().tolist(), eager.is_variable)
        found["graph"] = float(other(x))
        ms.set_context(mode=ms.PYNATIVE_MODE)
        found["cell"] = Net()(x.reshape(1, 3)).asnumpy().tolist()
        found["gradient"] = ms.grad(lambda v: (v ** 3).sum())(x).asnumpy().tolist()
    except BaseException as error:
        found["error"] = error
    finally:
        done.set()


thread = threading.Thread(target=compute)
thread.start()
result = slow(x)
thread.join()
assert "error" not in found, found["error"]
assert result.asnumpy().tolist() == [4, 6, 8], result
assert found["eager"] == ([11, 22, 33], False), found
assert abs(found["graph"] - np.exp([1, 2, 3]).sum()) < 1e-3, found
assert found["cell"] == [[12, 12]] and found["gradient"] == [3, 12, 27], found

# Many at once, each with graphs and gradients of its own.
wrong = []


def many(n):
    try:
        function = ms.jit(lambda v: ops.tanh(v * n).sum())
        for i in range(5):
            v = Tensor(np.full(3 + n % 3, 0.1 * i, np.float32))
            assert np.allclose(float(function(v)), np.tanh(v.asnumpy() * n).sum(), atol=1e-5)
            assert np.allclose(ms.grad(function)(v).asnumpy(), n / np.cosh(v.asnumpy() * n) ** 2, atol=1e-4)
    except BaseException as error:
        wrong.append((n, error))


threads = [threading.Thread(target=many, args=(n,)) for n in range(1, 7)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert not wrong, wrong

# While a Cell runs that computes in a type of its own, other threads compute in theirs: begun before it, within it, and ended after it.
from mindspore.amp import auto_mixed_precision

square = Tensor(np.ones((3, 3), np.float32))


class Waiting(nn.Cell):
    """Computes, says that it runs, waits, and computes again."""

    def __init__(self):
        super().__init__()
        self.runs, self.goes_on = threading.Event(), threading.Event()

    def types(self):
        return (x * 2).dtype, ops.matmul(square, square).dtype

    def construct(self):
        before = self.types()
        self.runs.set()
        assert self.goes_on.wait(60)
        return before, self.types()


def in_turns(first, second):
    """@first begins, @second begins, @first ends, @second ends; what each computed in, and what another thread meanwhile and afterwards."""
    given = {}

    def start(cell):
        def work():
            try:
                given[cell] = cell(), cell.types()
            except BaseException as error:
                given[cell] = error
                cell.runs.set()
        worker = threading.Thread(target=work)
        worker.start()
        assert cell.runs.wait(60)
        return worker

    workers = [start(first), start(second)]
    meanwhile_types = first.types()
    for cell, worker in zip((first, second), workers):
        cell.goes_on.set()
        worker.join()
    return given[first], given[second], meanwhile_types, first.types()


plain = (ms.float32, ms.float32)
lower, bf16 = Waiting().to_float(ms.float16), Waiting().to_float(ms.bfloat16)
assert in_turns(lower, bf16) == ((((ms.float16,) * 2,) * 2, plain), (((ms.bfloat16,) * 2,) * 2, plain), plain, plain)
mixed, other_mixed = (auto_mixed_precision(Waiting(), "auto", dtype) for dtype in (ms.float16, ms.bfloat16))
assert in_turns(mixed, other_mixed) == ((((ms.float32, ms.float16),) * 2, plain), (((ms.float32, ms.bfloat16),) * 2, plain), plain, plain)


# A graph of a Cell with a type of its own, while other threads compute.
class Staged(nn.Cell):
    def construct(self, y):
        return y * meanwhile()


making.clear()
done.clear()
found.clear()
thread = threading.Thread(target=compute)
thread.start()
ms.set_context(mode=ms.GRAPH_MODE)
result = Staged().to_float(ms.float16)(x)
thread.join()
assert "error" not in found, found["error"]
assert result.dtype == ms.float16 and result.asnumpy().tolist() == [2, 4, 6], result
assert found["eager"] == ([11, 22, 33], False) and found["gradient"] == [3, 12, 27], found


# Threads that train one Parameter by compiled graphs: each step is of what the one before it left.
class Counter(nn.Cell):
    def __init__(self, step):
        super().__init__()
        self.step = step
        self.total = total

    def construct(self):
        self.total = self.total + self.step
        return self.total


total = ms.Parameter(Tensor([0.0] * 64, ms.float32), name="total")
ms.set_context(mode=ms.GRAPH_MODE)
counters, TIMES = [Counter(1.0), Counter(3.0)], 300


def count(cell):
    for _ in range(TIMES):
        cell()


threads = [threading.Thread(target=count, args=(cell,)) for cell in counters * 2]
for cell in counters:
    cell()
for thread in threads:
    thread.start()
count(counters[0])
for thread in threads:
    thread.join()
assert total.asnumpy().tolist() == [4.0 + TIMES * (1 + 3 + 1 + 3 + 1)] * 64, total.asnumpy()[0]
