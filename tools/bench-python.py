#!/usr/bin/env python3
"""What a Python program costs beside its kernels: its start, without and with NumPy and with Gantry's mindspore; a loop that is unrolled
1,000 times and a transformer of 48 layers, from the call to the first result; a step of a compiled graph, called 10,000 times, the
kernel of 16 additions included; and whether arrays of NumPy and tensors share memory.

Prints figures as tools/bench wants them: NAME VALUE UNIT MIN..MAX PEER. The peer of a start is the same program under the interpreter itself,
of one with mindspore the program without it. cpu is what the processor did (user and system), which other work beside it hardly
changes. $GANTRY_PEER_NUMPY names a Python 3.11 that has NumPy where the system's has none.
Usage: tools/bench-python.py GANTRY-CLI [--runs N]
"""
# SPDX-License-Identifier: Apache-2.0

import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time

EMPTY = "pass\n"
NUMPY = "import numpy\n"
MINDSPORE = "import mindspore\nfrom mindspore import Tensor, jit, nn, ops\n"
BOTH = NUMPY + MINDSPORE

UNROLLED = """
import time
import mindspore as ms
from mindspore import Tensor, jit, ops

@jit
def f(x):
    for i in range(1000):
        x = ops.sin(x) + i
    return x

x = Tensor([0.5, 1.5], ms.float32)
begin, cpu = time.perf_counter(), time.process_time()
f(x).asnumpy()
print(1000 * (time.perf_counter() - begin), 1000 * (time.process_time() - cpu))
"""

TRANSFORMER = """
import time
import mindspore as ms
from mindspore import Tensor, nn, ops

class Block(nn.Cell):
    def __init__(self, width, heads):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm((width,)), nn.LayerNorm((width,))
        self.qkv, self.out = nn.Dense(width, 3 * width), nn.Dense(width, width)
        self.up, self.down = nn.Dense(width, 4 * width), nn.Dense(4 * width, width)
        self.heads, self.gelu = heads, nn.GELU()

    def construct(self, x):
        b, n, w = x.shape
        q, k, v = ops.split(self.qkv(self.norm1(x)), w, axis=2)
        q, k, v = (t.reshape(b, n, self.heads, -1).transpose(0, 2, 1, 3) for t in (q, k, v))
        a = ops.softmax(ops.matmul(q, k.swapaxes(2, 3)) / 8.0)
        x = x + self.out(ops.matmul(a, v).transpose(0, 2, 1, 3).reshape(b, n, w))
        return x + self.down(self.gelu(self.up(self.norm2(x))))

class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.blocks = nn.CellList([Block(64, 4) for _ in range(48)])

    def construct(self, x):
        for block in self.blocks:
            x = block(x)
        return x

ms.set_context(mode=ms.GRAPH_MODE)
net, x = Net(), ops.ones((2, 8, 64), ms.float32)
begin, cpu = time.perf_counter(), time.process_time()
net(x).asnumpy()
print(1000 * (time.perf_counter() - begin), 1000 * (time.process_time() - cpu))
"""

STEP = """
import time
import mindspore as ms
from mindspore import Tensor, jit, ops

@jit
def f(x):
    return x + 1

x = Tensor([1.0] * 16, ms.float32)
for _ in range(1000):
    f(x)
times = []
for _ in range(20):
    begin, cpu = time.perf_counter(), time.process_time()
    for _ in range(500):
        f(x)
    times.append((1e6 * (time.perf_counter() - begin) / 500, 1e6 * (time.process_time() - cpu) / 500))
print(*(sorted(part)[10] for part in zip(*times)))
"""

SHARED = """
import numpy as np
from mindspore import Tensor
array = np.zeros(1 << 20, np.float32)
tensor = Tensor.from_numpy(array)
array[5] = 7
back = tensor.asnumpy()
print(float(tensor[5].asnumpy() == 7 and np.shares_memory(array, back)))
"""


def run(command, text, folder):
    path = os.path.join(folder, "program.py")
    with open(path, "w") as file:
        file.write(text)
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run([*command, path], capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
    took, after = 1000 * (time.perf_counter() - begin), resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = 1000 * (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    if done.returncode != 0:
        raise RuntimeError((done.stderr.strip().splitlines() or ["exit status %d" % done.returncode])[-1])
    return took, cpu, [float(word) for word in done.stdout.split()]


def figure(name, values, unit, peer):
    print("%s %.4g %s %.4g..%.4g %s" % (name, statistics.median(values), unit, min(values), max(values), peer), flush=True)


def main():
    cli, runs = sys.argv[1], int(sys.argv[3]) if sys.argv[2:3] == ["--runs"] else 21
    numpy = os.environ.get("GANTRY_PEER_NUMPY", "/usr/bin/python3.11")
    ours = [cli, "python", "--python", numpy]
    with tempfile.TemporaryDirectory() as folder:
        starts = {"start": (ours, EMPTY), "start-numpy": (ours, NUMPY), "start-mindspore": (ours, MINDSPORE), "start-mindspore-numpy": (ours, BOTH),
                  "peer": ([numpy], EMPTY), "peer-numpy": ([numpy], NUMPY)}
        taken = {name: [] for name in starts}
        for name in list(starts) * runs:  # by turns, so that all see the same machine
            try:
                taken[name].append(run(*starts[name], folder)[:2])
            except (OSError, RuntimeError) as error:
                print("%s: %s" % (name, error), file=sys.stderr)
        for name in starts:
            peer = taken["peer-numpy" if "numpy" in name else "peer"]
            for which, suffix in enumerate(("", "-cpu")):
                if taken[name] and not name.startswith("peer"):
                    figure("python/" + name + suffix, [t[which] for t in taken[name]], "ms",
                           "%.4g" % statistics.median(t[which] for t in peer) if peer else "not measured")
        for name, text, unit in (("unrolled-1000", UNROLLED, "ms"), ("transformer-48", TRANSFORMER, "ms"), ("step", STEP, "us")):
            told = [run(ours, text, folder)[2] for _ in range(max(runs // 3, 1))]
            for which, suffix in enumerate(("", "-cpu")):
                figure("python/" + name + suffix, [t[which] for t in told], unit, "not measured")
        figure("python/shared-memory", run(ours, SHARED, folder)[2], "of_1", "not measured")


main()
