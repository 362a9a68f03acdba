# SPDX-License-Identifier: Apache-2.0
# Operations whose shapes depend on data: on level LAX the run does them, and what is computed with their results.
import numpy as np
import mindspore as ms
from mindspore import Tensor, jit, mutable, ops
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
except ValueError as error:
    assert "the inputs should be constant" in str(error)
else:
    raise AssertionError("nothing was raised")


# So is a slice whose bounds data decides; an assignment to one needs to know them.
@jit
def sliced(x, a, b):
    return x[a:b], x[b:], x[:, None][a:b, 0], x[a]


y = Tensor(np.arange(5))
part = sliced(y, mutable(1), Tensor(3))
assert [v.tolist() for v in part] == [y.tolist()[1:3], y.tolist()[3:], y.tolist()[1:3], y.tolist()[1]], part


@jit
def assigned(x, a):
    x[a:] = 0
    return x


try:
    assigned(x, mutable(1))
except TypeError as error:
    assert type(error) is TypeError and "have to be known" in str(error)
else:
    raise AssertionError("nothing was raised")
