# SPDX-License-Identifier: Apache-2.0
"""Lists that hold themselves, or one list many times, lie beside one that is changed in place; a gradient is asked for with them."""
import mindspore as ms
from mindspore import Tensor, jit, ops

ITSELF = [1, 2]
ITSELF.append(ITSELF)
ENTRIES = {'itself': ITSELF}
ENTRIES['entries'] = ENTRIES
SHARED = [1]
for _ in range(60):
    SHARED = [SHARED, SHARED]
DEEP = [1]
for _ in range(1000000):
    DEEP = [DEEP]


@jit
def beside(x):
    itself, entries, shared = ITSELF, ENTRIES, SHARED
    numbers = [1, 2]
    pair = (numbers, {'numbers': numbers}, [itself, numbers])
    numbers.extend([3])
    numbers.insert(0, 7)
    last = numbers.pop()
    numbers.reverse()
    return x * len(numbers) + len(pair[0]) * 10 + len(pair[1]['numbers']) * 100 + len(pair[2][1]) * 1000 + last


# Three numbers under every name.
assert beside(Tensor(2.5, ms.float32)).asnumpy() == 2.5 * 3 + 3330 + 3


@jit
def unhashable(x):
    return x * len({}.fromkeys([[1]]))


try:
    unhashable(Tensor(1.0))
    raise SystemExit('a list became a key')
except TypeError as e:
    assert 'unhashable' in str(e), e


def squared(x, more):
    return x * x


# The list is no tensor: nothing is differentiated by it.
for more in (SHARED, ITSELF, ENTRIES, DEEP):
    try:
        assert ops.grad(squared)(Tensor(3.0), more).asnumpy() == 6, more
    except RecursionError:
        assert more is DEEP


@jit
def graded(x):
    return ops.grad(squared)(x, ITSELF)


assert graded(Tensor(3.0)).asnumpy() == 6
