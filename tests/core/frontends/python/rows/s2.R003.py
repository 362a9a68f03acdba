# SPDX-License-Identifier: Apache-2.0
# s2.R003: the level is STRICT or LAX.
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
set_context(jit_syntax_level=ms.LAX)
raises(ValueError, "jit_syntax_level", lambda: set_context(jit_syntax_level=7))
