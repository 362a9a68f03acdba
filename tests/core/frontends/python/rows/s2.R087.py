# SPDX-License-Identifier: Apache-2.0
# s2.R087: builtins on objects of third parties.
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


import numpy as np
@jit
def f(x):
    a = x.asnumpy()
    return isinstance(a, np.ndarray), len(a), int(a[0]), max(a), sum(a), abs(a), hasattr(a, "dtype"), list(a)
out = f(Tensor([-1, 2]))
assert out[0] is True and out[1] == 2 and out[2] == -1 and out[3] == 2 and out[4] == 1 and out[5].tolist() == [1, 2] and out[6] and out[7] == [-1, 2]
