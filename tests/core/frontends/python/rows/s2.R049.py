# SPDX-License-Identifier: Apache-2.0
# s2.R049: tensors made in the graph.
import mindspore as ms
from mindspore import Parameter, Tensor, jit, jit_class, mutable, nn, ops, set_context
from mindspore.common.api import JitConfig
from mindspore.ops.functional import isconstant


def raises(kind, text, call):
    try:
        call()
    except kind as error:
        assert type(error) is kind and text in str(error), repr(error)
    else:
        raise AssertionError("nothing was raised")


@jit
def f():
    return ms.tensor([1, 2], dtype=ms.float32), Tensor([1, 2])
a, b = f()
assert a.dtype == ms.float32 and b.dtype == ms.int64
