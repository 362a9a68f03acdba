# SPDX-License-Identifier: Apache-2.0
# s2.R021: a global list: itself on LAX, another on STRICT.
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


a, b = [1, 2, 3], [1, 2, 3]
@jit
def lax():
    a.reverse()
    return a
@jit(jit_config=JitConfig(jit_syntax_level="STRICT"))
def strict():
    b.reverse()
    return b
assert lax() is a and a == [3, 2, 1]
out = strict()
assert out == [3, 2, 1] and out is not b and b == [1, 2, 3]
