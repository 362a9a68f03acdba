# SPDX-License-Identifier: Apache-2.0
# s2.R028: extend takes tuple, list and Tensor.
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
    x = [1]
    x.extend((2, "a"))
    x.extend([3])
    x.extend(Tensor([4, 5]))
    return x
out = f()
assert out[:4] == [1, 2, "a", 3] and [v.shape for v in out[4:]] == [(1,), (1,)]
