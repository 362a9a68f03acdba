# SPDX-License-Identifier: Apache-2.0
# s2.R018: LAX: methods of lists that work in place.
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


items = [1, 2, 3]


@jit
def f():
    items.reverse()
    items.insert(0, 9)
    last = items.pop()
    items.extend((7, 8))
    return items, last


out, last = f()
assert out is items and items == [9, 3, 2, 7, 8] and last == 1
