# SPDX-License-Identifier: Apache-2.0
# s2.R038: of equal keys the last counts; kinds of keys and values.
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


@jit
def f(x):
    return {"a": 1, "a": 2, 3: (x, 4), (1, "k"): [None]}
out = f(Tensor(7))
assert out["a"] == 2 and int(out[3][0]) == 7 and out[(1, "k")] == [None]
