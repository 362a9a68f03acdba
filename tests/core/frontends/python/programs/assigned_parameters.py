# SPDX-License-Identifier: Apache-2.0
"""Gradients where a Parameter is assigned, by integers beside floats, and by one weight."""
import numpy as np
import mindspore as ms
from mindspore import Parameter, ParameterTuple, Tensor, nn, ops
from mindspore.ops import composite as C

ms.set_context(mode=ms.GRAPH_MODE)
both = C.GradOperation(get_all=True, get_by_list=True)


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.w = Parameter(Tensor(3.0), name="w")


class Replaced(Net):
    def construct(self, x):
        y = self.w * x
        self.w = x * 2
        return self.w * x + y


class Scaled(Net):
    def construct(self, x):
        self.w = self.w * x
        return self.w * x


class Added(Net):
    def construct(self, x):
        ops.assign_add(self.w, x)
        return self.w * x


class Chosen(Net):
    def construct(self, x):
        if x > 1:
            self.w = x * 2
        else:
            self.w = x
        return self.w * x


# What is read is the Parameter: no gradient flows through what was assigned to it.
for net, by_x, by_w, now in ((Replaced(), 7, 4, 4), (Scaled(), 6, 2, 6), (Added(), 5, 2, 5), (Chosen(), 4, 2, 4)):
    (x,), (w,) = both(net, ParameterTuple(net.trainable_params()))(Tensor(2.0))
    assert (x, w, net.w.asnumpy()) == (by_x, by_w, now), (type(net).__name__, x, w, net.w.asnumpy())
net = Replaced()
value, grads = ms.value_and_grad(net, 0, net.w)(Tensor(2.0))
assert value == 14 and grads[0] == 7 and grads[1] == 4  # one weight, one gradient


class Counting(nn.Cell):
    def construct(self, a, b, x):
        out = ops.zeros_like(x)
        while a < b:
            a = a + 1
            if a == 2:
                continue
            if a == 5:
                break
            out = out + x * a
        return out


# An integer that a gradient is taken by changes no type.
by_a, by_b, by_x = C.GradOperation(get_all=True)(Counting())(Tensor(0, ms.int32), Tensor(9, ms.int32), Tensor([1.0, 2.0]))
assert by_a.dtype == ms.int32 and by_a == 9 and by_b == 0
assert by_x.dtype == ms.float32 and np.all(by_x.asnumpy() == 8)
assert ops.clip_by_value(Tensor([-4.0, 2.0]), clip_value_min=-1.0).asnumpy().tolist() == [-1, 2]
