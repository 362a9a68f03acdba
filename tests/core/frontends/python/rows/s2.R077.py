# SPDX-License-Identifier: Apache-2.0
# s2.R077: own classes.
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


class Own:
    def __init__(self, a):
        self.a = a
    def more(self, b):
        return self.a + b
@jit
def f(x):
    own = Own(2)
    return own.more(x), own.a
y, a = f(Tensor(1))
assert int(y) == 3 and a == 2
