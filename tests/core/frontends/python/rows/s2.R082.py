# SPDX-License-Identifier: Apache-2.0
# s2.R082: methods in place: in LAX only.
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


def change(items):
    items.extend([5])
    items.reverse()
    items.insert(1, 7)
    items.pop()
    return items


lax_items, strict_items = [1, 2, 3], [1, 2, 3]


@jit
def lax():
    lax_items.extend([5])
    lax_items.reverse()
    lax_items.insert(1, 7)
    lax_items.pop()
    return lax_items


@jit(jit_config=STRICT)
def strict():
    strict_items.extend([5])
    strict_items.reverse()
    strict_items.insert(1, 7)
    strict_items.pop()
    return strict_items


assert lax() is lax_items and lax_items == change([1, 2, 3])
assert strict() == change([1, 2, 3]) and strict_items == [1, 2, 3]
