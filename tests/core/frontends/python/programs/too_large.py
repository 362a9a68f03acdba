# SPDX-License-Identifier: Apache-2.0
# Tensors that no machine has the memory for are exceptions that say how much it would be, and the program goes on.
import mindspore as ms
from mindspore import Tensor, jit, ops


@jit
def result(x):
    return ops.zeros((1 << 20, 1 << 20), ms.float32) + x


def argument():
    return ops.ones((1 << 20, 1), ms.float32) * ops.ones((1, 1 << 20), ms.float32)


def read():
    return ops.zeros((1 << 20, 1 << 20), ms.float32).asnumpy()


for make in (lambda: result(Tensor(3.0)), argument, read):
    try:
        make()
    except (RuntimeError, MemoryError) as e:
        assert "4.00 TiB" in str(e), str(e)
    else:
        raise AssertionError("4 TiB were there")
assert (Tensor([1.0, 2.0]) * 2).asnumpy().tolist() == [2, 4]
