# SPDX-License-Identifier: Apache-2.0
# s2.R022: lists as inputs: of what a graph takes, nested.
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
    return x[0] + x[1][0], x[1][1], x[2]["k"], x[3]


out = f([1, [2, "s"], {"k": (3, None)}, Tensor([4])])
assert out[:3] == (3, "s", (3, None)) and out[3].tolist() == [4]
