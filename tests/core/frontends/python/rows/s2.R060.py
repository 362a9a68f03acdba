# SPDX-License-Identifier: Apache-2.0
# s2.R060: subscripts of tuple, list, dict, Tensor.
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
    return (1, 2)[0], [3, 4][1], {"k": 5}["k"], x[1], x[0, 1], x[:, 0], x[..., None].shape
a, b, c, d, e, g, h = f(Tensor([[1, 2], [3, 4]]))
assert (a, b, c, d.tolist(), int(e), g.tolist(), h) == (1, 4, 5, [3, 4], 2, [1, 3], (2, 2, 1))
