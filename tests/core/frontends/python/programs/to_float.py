# SPDX-License-Identifier: Apache-2.0
"""Cells that compute in a type of their own. Types and values are those of MindSpore 2.7.0 (CPU)."""
import numpy as np
import mindspore as ms
from mindspore import Parameter, Tensor, nn, ops

X = Tensor(np.array([1.0001, 2.0002, 3.0003], np.float32))
N = Tensor([1, 2, 3], ms.int32)
Y = Tensor(np.array([1.0001, 2.0003], np.float32))


class Inner(nn.Cell):
    def __init__(self):
        super().__init__()
        self.w = Parameter(Tensor(np.array([1.0001, 2.0003, 3.0005], np.float32)), name="w")
        self.d = nn.Dense(3, 2, weight_init="ones", bias_init="ones")

    def construct(self, x, n):
        return self.d(x * self.w), x, n, self.w * 2.0


class Outer(nn.Cell):
    def __init__(self, inner):
        super().__init__()
        self.inner = inner
        self.v = Parameter(Tensor(np.array([0.1], np.float32)), name="v")

    def construct(self, x, n):
        a, b, c, d = self.inner(x + self.v, n)
        return a, b, c, d, x, self.v + x


class Kinds(nn.Cell):
    """Constants, methods, keywords and conversions that are written."""

    def __init__(self):
        super().__init__()
        self.t = Tensor([1.5001, 2.5001], ms.float32)
        self.w = Parameter(Tensor(np.array([1.0001, 2.0003], np.float32)), name="w")

    def construct(self, x, k=None):
        return self.helper(x), x + self.t, x * 1.00001, ops.cast(self.w, ms.float32), None if k is None else k * 1.0

    def helper(self, x):
        return x * self.w


class Assigns(nn.Cell):
    def __init__(self):
        super().__init__()
        self.w = Parameter(Tensor(np.array([5.0, 6.0], np.float32)), name="w")

    def construct(self, x):
        ops.assign(self.w, x)
        return self.w + 1


class Plain(nn.Cell):
    """What no Cell with a type of its own is made of is not converted."""

    def construct(self, x):
        return x * 1.0


class Carried(nn.Cell):
    def __init__(self):
        super().__init__()
        self.w = Parameter(Tensor(np.array([1.0001, 2.0003], np.float32)), name="w")

    def construct(self, x):
        z = self.w
        while z.sum() < 20:
            z = z + x
        return z


def outer(own=None, inner=None, dense=None):
    """The outermost first: it takes the Cells in it along, and the last call counts."""
    net = Outer(Inner())
    for cell, dtype in ((net, own), (net.inner, inner), (net.inner.d, dense)):
        if dtype is not None:
            assert cell.to_float(dtype) is cell
    return net


def check(label, results, expected):
    for result, want in zip(results, expected, strict=True):
        if want is None:
            assert result is None, (label, result)
            continue
        dtype, values = want
        assert result.dtype == dtype, (label, result.dtype, dtype)
        assert np.array_equal(result.asnumpy(), np.array(values, result.asnumpy().dtype)), (label, result, values)


F16, F32, I32 = ms.float16, ms.float32, ms.int32
NETWORKS = [
    ({}, ms.float32, [(F32, [15.603689, 15.603689]), (F32, [1.1001, 2.1002, 3.1003]), (I32, [1, 2, 3]),
                      (F32, [2.0002, 4.0006, 6.001]), (F32, [1.0001, 2.0002, 3.0003]), (F32, [1.1001, 2.1002, 3.1003])]),
    ({"own": F16}, F16, [(F16, [15.59375, 15.59375]), (F16, [1.09961, 2.09961, 3.09961]), (I32, [1, 2, 3]),
                         (F16, [2, 4, 6]), (F16, [1, 2, 3]), (F16, [1.09961, 2.09961, 3.09961])]),
    ({"inner": F16}, F32, [(F16, [15.59375, 15.59375]), (F16, [1.10059, 2.09961, 3.09961]), (I32, [1, 2, 3]),
                           (F16, [2, 4, 6]), (F32, [1.0001, 2.0002, 3.0003]), (F32, [1.1001, 2.1002, 3.1003])]),
    ({"own": F16, "inner": F32}, F16, [
        (F32, [15.599946, 15.599946]), (F32, [1.0996094, 2.0996094, 3.0996094]), (I32, [1, 2, 3]),
        (F32, [2.0002, 4.0006, 6.001]), (F16, [1, 2, 3]), (F16, [1.09961, 2.09961, 3.09961])]),
    ({"dense": F16}, F32, [(F16, [15.6015625, 15.6015625]), (F32, [1.1001, 2.1002, 3.1003]), (I32, [1, 2, 3]),
                           (F32, [2.0002, 4.0006, 6.001]), (F32, [1.0001, 2.0002, 3.0003]), (F32, [1.1001, 2.1002, 3.1003])]),
]


def check_networks(graph):
    for types, own, expected in NETWORKS:
        results = list(outer(**types)(X, N))
        wanted = list(expected)
        if not graph:
            # Operation by operation it is the operands that are converted: what goes through as it came keeps its type.
            for i, came in ((1, own), (4, F32)):
                assert results[i].dtype == came, (types, i, results[i].dtype)
                del results[i:i + 1], wanted[i:i + 1]
                results.insert(i, None), wanted.insert(i, None)
        for result, want in zip(results, wanted, strict=True):
            if want is not None:
                assert result.dtype == want[0], (types, result.dtype, want)
                assert np.allclose(result.asnumpy(), np.array(want[1]), rtol=4e-6 if want[0] == F32 else 4e-4, atol=0), (types, result, want)


def check_gradients():
    """Of Parameters and inputs in the type that these have."""
    for types, v, w, weight in ((dict(own=F16), [12.0], [4.19921875, 6.19921875, 8.19921875], [1.099609375, 4.19921875, 9.296875]),
                                (dict(inner=F16), [12.0], [4.201171875, 6.19921875, 8.19921875], [1.1005859375, 4.19921875, 9.296875])):
        net = outer(**types)

        def loss(x, n):
            a, _, _, d, _, _ = net(x, n)
            return a.sum() * 1.0 + d.sum()

        value, (by_x, by_weights) = ms.value_and_grad(loss, 0, weights=net.trainable_params())(X, N)
        check(types, (value, by_x), ((F16, 43.1875), (F32, [2, 4, 6])))
        of = {p.name: g for p, g in zip(net.trainable_params(), by_weights, strict=True)}
        check(types, (of["v"], of["inner.w"], of["inner.d.weight"], of["inner.d.bias"]),
              ((F32, v), (F32, w), (F32, [weight, weight]), (F32, [1, 1])))


def check_kinds(graph):
    net = Kinds().to_float(F16)
    check("kinds", net(Y), ((F16, [1, 4]), (F16, [2.5, 4.5]), (F16, [1, 2]), (F32, [1.0001, 2.0003]), None))
    check("keyword", net(Y, k=Y)[4:], ((F16, [1, 2]),))
    check("afterwards", (net.w, Plain()(Y)), ((F32, [1.0001, 2.0003]), (F32, [1.0001, 2.0003])))
    assigns = Assigns().to_float(F16)
    check("assigned", (assigns(Y), assigns.w), ((F16, [2, 3]), (F32, [1, 2])))
    if graph:
        check("carried", (Carried().to_float(F16)(Y),), ((F16, [7, 14]),))
    net = Plain()
    check("changed", (net(Y), net.to_float(F16)(Y), net.to_float(F32)(Y)), ((F32, [1.0001, 2.0003]), (F16, [1, 2]), (F32, [1.0001, 2.0003])))


def check_batch_norm():
    """Its statistics are collected in the type that they are stored in."""
    net = nn.BatchNorm2d(2).to_float(F16)
    net.set_train()
    result = net(Tensor(np.arange(8).reshape(1, 2, 2, 2).astype(np.float32)))
    assert result.dtype == F16 and net.moving_mean.dtype == F32
    assert np.array_equal(result.asnumpy()[0, 0], np.array([[-1.341796875, -0.447265625], [0.447265625, 1.341796875]], np.float16))
    assert np.allclose(net.moving_mean.asnumpy(), [0.15, 0.55], rtol=1e-6)


def check_step():
    """A step updates what is stored, also where the whole of it computes in float16."""
    for whole in (False, True):
        net = nn.Dense(2, 1, weight_init="ones", bias_init="zeros").to_float(F16)
        net.weight.set_data(Tensor(np.array([[1.0001, 0.50001]], np.float32)))
        step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), nn.SGD(net.trainable_params(), 0.001))
        if whole:
            step.to_float(F16)
        for _ in range(3):
            loss = step(Y.reshape(1, 2), Tensor([[1.0]], F32))
        assert loss.dtype == (F16 if whole else F32) and net.weight.dtype == F32
        assert np.allclose(loss.asnumpy(), 0.9527, atol=2e-3), loss
        assert np.allclose(net.weight.asnumpy(), [[0.99417, 0.48815]], atol=1e-5), net.weight.asnumpy()


def check_refused():
    for dtype in (ms.int32, ms.float64):
        try:
            nn.ReLU().to_float(dtype)
        except ValueError as error:
            assert str(error).startswith("For 'to_float', the argument 'dst_type' must be mstype.float32, mstype.float16 or"), error
        else:
            raise AssertionError(dtype)
    assert nn.ReLU().to_float(F16).get_flags() == {"fp16": True, "fp32": False, "bf16": False}


for mode in (ms.GRAPH_MODE, ms.PYNATIVE_MODE):
    ms.set_context(mode=mode)
    check_networks(mode == ms.GRAPH_MODE)
    # MindSpore's CPU has no kernel of float16 for some of these gradients in eager mode; the graph's values hold there too.
    check_gradients()
    check_kinds(mode == ms.GRAPH_MODE)
    check_batch_norm()
    check_step()
check_refused()
