# SPDX-License-Identifier: Apache-2.0
# Operations whose shapes depend on data: on level LAX the run does them, and what is computed with their results.
import numpy as np
import mindspore as ms
from mindspore import Tensor, jit, ops
from mindspore.common.api import JitConfig

x = Tensor(np.arange(9).reshape(3, 3))


@jit
def f(x):
    chosen = x[x > 3]
    return chosen, chosen + 1, ops.nonzero(x > 6), chosen.sum() * 2, not x[0, 0], x[0, 0] in [Tensor(0)], 0 <= x[0, 1] < 2


out = f(x)
assert out[0].tolist() == [4, 5, 6, 7, 8] and out[1].tolist() == [5, 6, 7, 8, 9]
assert out[2].tolist() == [[2, 1], [2, 2]] and int(out[3]) == 60
assert all(isinstance(v, Tensor) and bool(v) for v in out[4:])


@jit(jit_config=JitConfig(jit_syntax_level="STRICT"))
def g(x):
    return x[x > 3]


try:
    g(x)
except TypeError as error:
    assert "depends on data" in str(error)
else:
    raise AssertionError("nothing was raised")
