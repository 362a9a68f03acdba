# SPDX-License-Identifier: Apache-2.0
# s2.R079: LAX: lists, dicts and None.
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


table, items = {"a": 1}, [3, 1]


@jit
def f(x=None):
    items.extend([4])
    found = {"x": x, "list": items, "none": None}
    found["more"] = table["a"]
    return found


out = f()
assert out == {"x": None, "list": [3, 1, 4], "none": None, "more": 1} and items == [3, 1, 4]
