# SPDX-License-Identifier: Apache-2.0
# s2.R068: third parties are refused on STRICT.
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


import numpy as np
set_context(jit_syntax_level=ms.STRICT)
@jit
def f(x):
    return Tensor(np.abs(x.asnumpy()))
raises(AttributeError, "In JIT strict mode, cannot get attributes asnumpy", lambda: f(Tensor([1])))
