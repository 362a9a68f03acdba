# SPDX-License-Identifier: Apache-2.0
# What a gradient is taken by, what of, and what comes out: integers, numbers, arguments by name, nothing at all.
import numpy as np
import mindspore as ms
from mindspore import Parameter, Tensor, jit, mutable, nn, ops


def raises(kind, call):
    try:
        call()
    except kind:
        return
    raise AssertionError("nothing was raised")


def same(tensor, value, dtype):
    assert isinstance(tensor, Tensor) and tensor.dtype == dtype and np.array_equal(tensor.asnumpy(), np.array(value)), repr(tensor)


class Product(nn.Cell):
    def construct(self, x, y):
        return x * y


class Named(nn.Cell):
    def construct(self, *, a, b):
        return a * b


class Stopped(nn.Cell):
    def __init__(self):
        super().__init__()
        self.w = Parameter(Tensor([1.0, 2.0]), name="w")

    def construct(self, x):
        return (ops.stop_gradient(self.w) * self.w * x).sum()


class All(nn.Cell):
    def __init__(self, net, **options):
        super().__init__()
        self.net, self.operation = net, ops.GradOperation(**options)

    def construct(self, *args, **kwargs):
        return self.operation(self.net)(*args, **kwargs)


whole = Tensor([6], ms.int32)
for mode in (ms.GRAPH_MODE, ms.PYNATIVE_MODE):
    ms.set_context(mode=mode)
    # Integers are differentiated in their own arithmetic, also through conversions.
    same(ops.grad(lambda x: x * x * 2)(whole), [24], ms.int32)
    same(ops.grad(lambda x: x ** 3)(whole), [108], ms.int32)
    same(ops.grad(lambda x: x * 2.5)(whole), [2], ms.int32)
    same(ops.grad(lambda x: x // 4)(whole), [0], ms.int32)
    same(ops.grad(lambda x: x % 4)(whole), [1], ms.int32)
    same(ops.grad(lambda x: ops.abs(x))(Tensor([-6, 3])), [-1, 1], ms.int64)
    same(ops.grad(lambda x: x.astype(ms.int32) * 3)(Tensor([6.5])), [3.0], ms.float32)
    same(ops.grad(lambda x, y: x * y, 1)(whole, Tensor([1.5])), [6.0], ms.float32)
    same(ops.grad(lambda x: ops.stop_gradient(x) * x)(whole), [6], ms.int32)
    stopped = Stopped()
    same(ms.grad(stopped, grad_position=None, weights=stopped.trainable_params())(Tensor([10.0, 20.0]))[0], [10.0, 40.0], ms.float32)
    # What depends on nothing has a gradient of zeros, what is no tensor none.
    same(ops.grad(lambda x: x > 1)(Tensor([2.0])), [0.0], ms.float32)
    same(ops.grad(lambda x: 1.0)(Tensor([2.0, 3.0])), [0.0, 0.0], ms.float32)
    assert All(Product())(3, 4.0) == () and All(Product(), get_all=True)(3, 4.0) == ()
    same(ops.grad(lambda x, d: x * d["a"], (0, 1))(whole, {"a": Tensor([2], ms.int32)}), [2], ms.int32)
    # Arguments by name stand behind the others.
    both = All(Named(), get_all=True)(a=Tensor([3.0]), b=Tensor([2.0]))
    same(both[0], [2.0], ms.float32)
    same(both[1], [3.0], ms.float32)
    same(All(Named())(a=Tensor([3.0]), b=Tensor([2.0])), [2.0], ms.float32)
    same(ops.grad(lambda x, /, y: x * y)(Tensor([3.0]), y=Tensor([2.0])), [2.0], ms.float32)
    raises(IndexError, lambda: ops.grad(lambda x: x, 1)(whole))
    raises(RuntimeError, lambda: ops.grad(lambda x: x, ())(whole))
    # Jacobians have a row for each element of each output.
    def two(x, y):
        return x * y, x + y
    x, y = Tensor([1.0, 2.0]), Tensor([3.0, 4.0])
    found = ops.jacrev(two, (0, 1))(x, y)
    same(found[0][0], [[3.0, 0.0], [0.0, 4.0]], ms.float32)
    same(found[1][1], [[1.0, 0.0], [0.0, 1.0]], ms.float32)
    jacobian, beside = ops.jacfwd(two, has_aux=True)(x, y)
    same(jacobian, [[3.0, 0.0], [0.0, 4.0]], ms.float32)
    same(beside, [4.0, 6.0], ms.float32)
    value, tangent, beside = ops.jvp(two, (x, y), (y, x), has_aux=True)
    same(tangent, [10.0, 20.0], ms.float32)
    same(beside, [4.0, 6.0], ms.float32)

# A number that is a variable has a gradient by its place, of zero.
ms.set_context(mode=ms.GRAPH_MODE)
found = All(Product(), get_all=True)(whole, mutable(4.0))
same(found[0], [4], ms.int32)
assert found[1] == 0


# A method may be made a graph of where it is called.
class Weighted(nn.Cell):
    def __init__(self):
        super().__init__()
        self.w = Parameter(Tensor([2.0]), name="w")

    def construct(self, x):
        return self.w * x


net = Weighted()
net.construct = jit(net.construct)
same(net(Tensor([3.0])), [6.0], ms.float32)
same(All(net)(Tensor([3.0])), [2.0], ms.float32)


@jit
def inner(x):
    return ops.jacrev(lambda a: a * a)(x)


same(inner(Tensor([1.0, 2.0])), [[2.0, 0.0], [0.0, 4.0]], ms.float32)
assert repr(Tensor([1.5, -2.0])) == "Tensor(shape=[2], dtype=Float32, value= [ 1.50000000e+00, -2.00000000e+00])"
assert repr(Tensor(np.arange(14).reshape(2, 7))) == """Tensor(shape=[2, 7], dtype=Int64, value=
[[ 0,  1,  2 ...  4,  5,  6],
 [ 7,  8,  9 ... 11, 12, 13]])"""


# On level LAX what only Python makes of a tensor has no gradient, what stands beside it keeps its own.
@jit
def beside_python(x):
    return x * Tensor(x.asnumpy() * 2, ms.float32) + x


assert ms.grad(beside_python)(Tensor([3.])).asnumpy().tolist() == [7.0]
