# SPDX-License-Identifier: Apache-2.0
# s2.R096: annotations give the type.
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
def f(x):
    a = Tensor(x.asnumpy())  # @jit.typing: () -> tensor_type[float16]
    # @jit.typing: () -> tensor_type[int32]
    b = Tensor(x.asnumpy())
    return a, b
a, b = f(Tensor([1.0]))
assert a.dtype == ms.float16 and b.dtype == ms.int32
