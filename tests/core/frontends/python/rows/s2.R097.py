# SPDX-License-Identifier: Apache-2.0
# s2.R097: Tensor without annotation is float64; tensor has its dtype.
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
def f(x, y):
    return (Tensor(x.asnumpy() + y.asnumpy(), dtype=ms.float32), ms.tensor(x.asnumpy() + y.asnumpy(), dtype=ms.float32))
a, b = f(Tensor([1], ms.int32), Tensor([1.0]))
assert a.dtype == ms.float64 and b.dtype == ms.float32
