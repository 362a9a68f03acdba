# SPDX-License-Identifier: Apache-2.0
# s2.R069: objects of other classes are refused on STRICT.
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


set_context(jit_syntax_level=ms.STRICT)
class Own:
    a = 1
own = Own()
@jit
def f():
    return own.a
raises(TypeError, "Do not support to convert <class '__main__.Own'> object into graph node.", f)
