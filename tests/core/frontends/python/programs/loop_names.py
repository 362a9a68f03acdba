# SPDX-License-Identifier: Apache-2.0
"""A name that only the body of a loop on data defines is undefined at the entry of the next such loop, whatever it becomes there."""
import mindspore as ms
from mindspore import Tensor, jit


@jit
def f(v, n):
    for w in (v, v + 1):
        c = n * 0
        while c < 2:
            c = c + 1
            pair = (v * w, c)
            v = pair[0] + 1
    return v


# v * 1 + 1 = 2, 2 * 1 + 1 = 3; 3 * 2 + 1 = 7, 7 * 2 + 1 = 15
assert f(Tensor([1.0]), Tensor(1, ms.int32)).asnumpy()[0] == 15
