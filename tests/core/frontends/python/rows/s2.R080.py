# SPDX-License-Identifier: Apache-2.0
# s2.R080: LAX: a list that is a global is the object itself.
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


items = [1, [2, 3]]


@jit
def f():
    return items


assert f() is items and f() is items
