# SPDX-License-Identifier: Apache-2.0
# s2.R083: extend, pop, reverse and insert are in place.
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


a, b, c, d = [1, 2], [1, 2], [1, 2], [1, 2]
@jit
def f():
    a.extend([3])
    b.pop()
    c.reverse()
    d.insert(0, 9)
f()
assert (a, b, c, d) == ([1, 2, 3], [1], [2, 1], [9, 1, 2])
