# SPDX-License-Identifier: Apache-2.0
# s2.R076: no element of an array is assigned.
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
@jit
def f():
    x = np.array([1, 2])
    x[0] = 5
    return x
raises(RuntimeError, "For operation 'setitem', current input arguments types are <External, Number, Number>.", f)
