# SPDX-License-Identifier: Apache-2.0
"""Arguments by all of their names, states of Cells, loops and bands as primitives, Bessel functions. The values are MindSpore's."""
import numpy as np
import mindspore as ms
import mindspore.numpy as mnp
from mindspore import Parameter, Tensor, jit, nn, ops


def F(*values):
    return Tensor(np.array(values, np.float32))


def same(found, expected):
    found = found.asnumpy() if isinstance(found, Tensor) else np.array(found)
    assert found.shape == np.shape(expected) and np.allclose(found, expected, 1e-4, 1e-5), (found, expected)


X = F([1.0, 2.0], [3.0, 5.0])
same(mnp.add(x1=X, x2=1.0), [[2, 3], [4, 6]])
same(mnp.exp(x=F(0.0)), [1])
same(mnp.cross(F([1, 2, 3]), F([4, 5, 6]), axisc=0), [[-3], [6], [-3]])
same(ops.logsumexp(X, dim=1, keepdim=True), [[2.3132617], [5.126928]])
same(ops.round(F(1.2345), decimals=2), [1.23])
same(ops.subtract(X, 1.0, alpha=2), [[-1, 0], [1, 3]])
same(ops.searchsorted(F(1, 3, 5), F(3), side="right"), [2])
same(ops.unsqueeze(X, dim=0), [[[1, 2], [3, 5]]])
same(ops.Cross(dim=1)(F([1, 2, 3]), F([4, 5, 6])), [[-3, 6, -3]])
same(ops.Cummax(axis=0)(F(1, 3, 2))[0], [1, 3, 3])
same(ops.Tril(diagonal=-1)(X), [[0, 0], [3, 0]])

same(ops.bessel_j0(F(0.5, 5)), [0.93846981, -0.17759677])
same(ops.bessel_j1(F(-0.5, 5)), [-0.24226846, -0.32757914])
same(ops.bessel_y0(F(0.5, 5)), [-0.44451873, -0.30851763])
same(ops.bessel_y1(F(0.5, 5)), [-1.47147239, 0.14786314])
same(ops.bessel_k0(F(0.5, 3)), [0.92441907, 0.03473950])
same(ops.bessel_k1(F(0.5, 3)), [1.65644112, 0.04015643])
same(ops.bessel_k0e(F(0.5, 3)), [1.52410939, 0.69776160])
same(ops.BesselK1e()(F(0.5, 3)), [2.73100971, 0.80656348])
same(ms.grad(ops.bessel_j0)(F(0.5, 5)), [-0.24226846, 0.32757914])

D = F([8, 9, 0], [1, 2, 3], [0, 4, 5])
same(ops.matrix_diag(D, Tensor([-1, 1], ms.int32), padding_value=F(11)[0], align="LEFT_RIGHT"), [[1, 8, 11], [4, 2, 9], [11, 5, 3]])
M = F([1, 2, 3, 4], [5, 6, 7, 8], [9, 8, 7, 6])
same(ops.matrix_diag_part(M, Tensor([1, 3], ms.int32), F(9)[0]), [[9, 9, 4], [9, 3, 8], [2, 7, 6]])
same(ops.matrix_set_diag(ops.zeros((2, 3), ms.float32), F([7, 8], [1, 2]), Tensor([0, 1], ms.int32), "RIGHT_LEFT"), [[1, 7, 0], [0, 2, 8]])
same(ops.AdaptiveMaxPool2D((1, 2))(F([[1, 5, 2, 9], [3, 4, 8, 7]])), [[[5, 9]]])


@jit
def loops(x):
    a = ops.ForiLoop()(0, 4, lambda i, v: v + i, x)
    b, partial = ops.Scan()(lambda carry, el: (carry + el, carry), x, [1, 2, 3])
    return a, b, partial[2]


a, b, c = loops(F(1.0))
same(a, [7])
same(b, [7])
same(c, [4])
assert ops.WhileLoop()(lambda v: v < 100, lambda v: v * 2, 10) == 160


class Inner(nn.Cell):
    def __init__(self):
        super().__init__()
        self.register_buffer("scale", F(2.0))
        self.register_buffer("hidden", F(0.0), persistent=False)
        self.weight = Parameter(F(3.0), name="weight")

    def construct(self, x):
        return x * self.scale + self.weight


class Outer(nn.Cell):
    def __init__(self):
        super().__init__()
        self.inner = Inner()

    def construct(self, x):
        return self.inner(x)


for mode in (ms.GRAPH_MODE, ms.PYNATIVE_MODE):
    ms.set_context(mode=mode)
    net = Outer()
    assert [n for n, _ in net.named_buffers()] == ["inner.scale", "inner.hidden"] and len(list(net.buffers(recurse=False))) == 0
    assert list(net.state_dict()) == ["inner.weight", "inner.scale"] and net.get_sub_cell("inner") is net.inner
    same(net(F(5.0)), [13])
    net.inner.register_buffer("scale", F(4.0))
    same(net(F(5.0)), [23])
    missing, unexpected = net.load_state_dict({"inner.weight": F(1.0), "inner.scale": F(10.0)})
    assert not missing and not unexpected
    same(net(F(5.0)), [51])
    try:
        net.load_state_dict({"inner.weight": F(1.0), "other": F(1.0)})
    except RuntimeError as error:
        assert "inner.scale" in str(error) and "other" in str(error)
    else:
        raise AssertionError("names that do not fit")
    net.set_inputs(Tensor(shape=[None], dtype=ms.float32))
    same(net(F(1.0, 2.0)), [11, 21])


class Own(nn.Optimizer):
    def __init__(self, params, rate):
        super().__init__(rate, params, weight_decay=0.5)
        self.moments = self.parameters.clone(prefix="moments", init="zeros")
        self.apply_momentum = ops.ApplyMomentum()

    def construct(self, gradients):
        rate = self.get_lr()
        gradients = self.scale_grad(self.gradients_centralization(self.decay_weight(self.flatten_gradients(gradients))))
        for p, m, g in zip(self.parameters, self.moments, gradients):
            self.apply_momentum(p, m, rate, g, 0.9)
        return True


net = Outer()
own = Own(net.trainable_params(), 0.1)
assert own.target == "CPU" and own.unique
own((F(1.0),))
same(net.inner.weight, [3.0 - 0.1 * 2.5])
