# SPDX-License-Identifier: Apache-2.0
# s2.R016: conversions of constants and variables.
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
    return int(11.1), float(3), bool(0), int(x), float(x), bool(x)
assert f(Tensor(2)) == (11, 3.0, False, 2, 2.0, True)
