# SPDX-License-Identifier: Apache-2.0
# s2.R084: LAX: a dict is returned from the outermost graph.
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
    return {"x": x, "n": {"k": (1, None)}}


@jit(jit_config=STRICT)
def g(x):
    return {"x": x, "n": 2}


out = f(Tensor([1]))
assert type(out) is dict and list(out) == ["x", "n"] and out["x"].tolist() == [1] and out["n"] == {"k": (1, None)}
out = g(Tensor([1]))
assert type(out) is tuple and out[0].tolist() == [1] and out[1] == 2
