# SPDX-License-Identifier: Apache-2.0
# s2.R066: no complex numbers, no sets.
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


@jit
def number(x):
    return x + 1j


@jit
def of_set(x):
    return {1, 2}


@jit(jit_config=STRICT)
def made():
    return set([1])


@jit(jit_config=STRICT)
def made_complex():
    return complex(1, 2)


raises(TypeError, "Unsupported Constant type", lambda: number(Tensor([1.])))
raises(RuntimeError, "Unsupported expression 'Set'.", lambda: of_set(1))
raises(RuntimeError, "'set' is not supported", made)
raises(RuntimeError, "'complex' is not supported", made_complex)
