# SPDX-License-Identifier: Apache-2.0
# s2.R063: builtin functions.
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
    return (len(x), max((1, 3)), min([2, 1]), sum([1, 2], 3), abs(-2), pow(2, 3), round(2.6), list(map(lambda a: a + 1, (1, 2))),
            zip((1, 2), "ab"), range(3), enumerate(("a",)), all([1, 0]), any([0, 1]), isinstance(x, Tensor), hasattr(x, "shape"),
            filter(lambda a: a > 1, (1, 2)), tuple([1]), dict(a=1), str(1))
assert f(Tensor([1, 2])) == (2, 3, 1, 6, 2, 8, 3, [2, 3], ((1, "a"), (2, "b")), (0, 1, 2), ((0, "a"),), False, True, True, True, [2],
                            (1,), {"a": 1}, "1")
