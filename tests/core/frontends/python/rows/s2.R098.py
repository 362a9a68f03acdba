# SPDX-License-Identifier: Apache-2.0
# s2.R098: what eager Python refuses is refused in a graph too.
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


def text_and_number():
    return "a" + 1


def no_method():
    return [1, 2].missing()


def of_none():
    return None + 1


for function in (text_and_number, no_method, of_none):
    kinds = []
    for call in (function, jit(function)):
        try:
            call()
        except Exception as error:
            kinds.append(type(error))
    assert len(kinds) == 2 and kinds[0] is kinds[1], (function, kinds)
