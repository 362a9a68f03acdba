# SPDX-License-Identifier: Apache-2.0
# s2.R085: elements of dicts.
import mindspore as ms
from mindspore import Parameter, Tensor, jit, jit_class, mutable, nn, ops, set_context
from mindspore.common.api import JitConfig
from mindspore.ops.functional import isconstant


def raises(kind, text, call):
    try:
        call()
    except kind as error:
        assert type(error) is kind and text in str(error), repr(error)
    else:
        raise AssertionError("nothing was raised")


d = {"a": 1, "b": Tensor(2)}
@jit
def f():
    y = d["b"]
    d["a"] = (2, 3)
    return d, y
out, y = f()
assert out["a"] == (2, 3) and int(y) == 2
