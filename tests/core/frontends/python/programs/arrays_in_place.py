# SPDX-License-Identifier: Apache-2.0
# NumPy's arrays lie where a graph reads them in place: however they were made, and after they grew.
import numpy as np
from mindspore import Tensor, jit


def resident_mib():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS")) // 1024


for n in (0, 1, 3, 15, 16, 17, 100, 1000, 4096, 100_000, 3_000_000):
    made = [np.empty(n, np.int8), np.zeros(n, np.float32), np.arange(n), np.ones(n, np.float16), np.zeros((n, 3), bool)]
    assert all(a.ctypes.data % 64 == 0 for a in made), n
    assert not made[1].any() and made[2].sum() == n * (n - 1) // 2

grown = np.arange(7, dtype=np.int64)
for n in (8, 9, 50, 1000, 20, 1_000_000, 3):
    kept = min(n, len(grown))
    grown.resize(n, refcheck=False)
    assert grown.ctypes.data % 64 == 0
    assert (grown[:min(kept, 7)] == np.arange(min(kept, 7))).all() and not grown[kept:].any()
    if n > 7:
        grown[7:] = 0
text = np.array(["a", "bc"], dtype=object)
assert text[1] + text[0] == "bca"


@jit
def corner(x):
    return x[:, :4].sum()


@jit
def more(x):
    return x + 1


# 128 MiB, of which there is one copy: the array, which the tensor and the graph read.
array = np.ones((1 << 21, 16), np.float32)
corner(Tensor(np.ones((8, 16), np.float32)))  # the compiler is loaded
before = resident_mib()
tensor = Tensor.from_numpy(array)
assert np.shares_memory(tensor.asnumpy(), array)
assert float(corner(tensor)) == 1 << 23
assert resident_mib() - before < 64, resident_mib() - before
# A result is one more, and its array is the same memory.
result = more(tensor)
view = result.asnumpy()
assert np.shares_memory(view, result.asnumpy()) and view[3, 3] == 2
assert resident_mib() - before < 128 + 64, resident_mib() - before
