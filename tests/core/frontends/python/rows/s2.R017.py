# SPDX-License-Identifier: Apache-2.0
# s2.R017: strings.
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
def f():
    a = 'abcd'
    return a + "e", a[1:3], a[0], str(123), "b" in a, "z" not in a, "x %s" % a, "{}-{}".format(a, 1)
assert f() == ("abcde", "bc", "a", "123", True, True, "x abcd", "abcd-1")
