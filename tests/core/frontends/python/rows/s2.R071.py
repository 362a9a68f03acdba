# SPDX-License-Identifier: Apache-2.0
# s2.R071: LAX: libraries of site-packages are called by Python.
import mindspore as ms
from mindspore import Parameter, Tensor, jit, jit_class, mutable, nn, ops, set_context
from mindspore.common.api import JitConfig

STRICT = JitConfig(jit_syntax_level="STRICT")


def raises(kind, text, call):
    try:
        call()
    except kind as error:
        assert type(error) is kind and text in str(error), repr(error)
    else:
        raise AssertionError("nothing was raised")


import numpy as np


@jit
def f(x):
    return np.cumsum(x.asnumpy()), np.ones((2,)).shape


@jit(jit_config=STRICT)
def g(x):
    return np.cumsum(x.asnumpy())


out = f(Tensor([1, 2, 3]))
assert type(out[0]) is np.ndarray and out[0].tolist() == [1, 3, 6] and out[1] == (2,)
raises(AttributeError, "In JIT strict mode, cannot get attributes asnumpy", lambda: g(Tensor([1, 2, 3])))
