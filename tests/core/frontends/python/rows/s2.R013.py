# SPDX-License-Identifier: Apache-2.0
# s2.R013: numbers, strings, lists, tuples and dicts.
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
def f(x):
    number, string = 2, "ab"
    items, pair, table = [1, x], (x, "c"), {"k": x, 2: [3]}
    return number, string, items, pair, table["k"], table[2]


out = f(Tensor([5]))
assert out[:2] == (2, "ab") and type(out[2]) is list and type(out[3]) is tuple and out[3][1] == "c" and out[5] == [3]
assert out[2][1].tolist() == out[4].tolist() == [5]
