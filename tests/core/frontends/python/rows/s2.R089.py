# SPDX-License-Identifier: Apache-2.0
# s2.R089: attributes of objects are set when the graph runs.
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
    x = 0
own = Own()
@jit
def f(v):
    own.x = v
    return own.x
f(3)
assert own.x == 3
own.x = 0
f(3)
assert own.x == 3
