# SPDX-License-Identifier: Apache-2.0
# s2.R046: fromkeys.
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
def g():
    d = {}
    return d.fromkeys("ab", 1), d.fromkeys([1, 2])
assert g() == ({"a": 1, "b": 1}, {1: None, 2: None})
