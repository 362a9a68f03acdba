# SPDX-License-Identifier: Apache-2.0
"""Levels of mixed precision, the scale of the loss, and the names that parameters have. Types and values are those of MindSpore 2.7.0
(CPU), which has no dynamic scale there."""
import numpy as np
import mindspore as ms
from mindspore import Parameter, Tensor, amp, nn, ops
from mindspore.train import Model

F16, F32 = ms.float16, ms.float32
X = Tensor((np.arange(32).reshape(2, 1, 4, 4) / 70).astype(np.float32))
WEIGHT = np.array([[.1, .2], [.3, .4], [.5, .6]], np.float32)


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.w = Parameter(Tensor(np.full((1, 3), 1.0001, np.float32)), name="w")
        self.conv = nn.Conv2d(1, 2, 3, pad_mode="valid", weight_init="ones")
        self.seq = nn.SequentialCell([nn.BatchNorm2d(2), nn.ReLU()])
        self.fc = nn.Dense(2, 3, weight_init=Tensor(WEIGHT), bias_init="zeros")
        self.mm = ops.MatMul()

    def construct(self, x):
        y = self.seq(self.conv(x))
        z = self.fc(y.mean((2, 3)))
        return z * self.w, self.mm(z, z.T), ops.exp(z), ops.softmax(z), y


class First(nn.Cell):
    def __init__(self):
        super().__init__()
        self.net = Net()

    def construct(self, x):
        return self.net(x)[0]


class Seen(nn.Cell):
    """The types that a network computes in, as it is told."""

    def __init__(self):
        super().__init__()
        self.fc, self.norm, self.own = nn.Dense(2, 2), nn.LayerNorm((2,)), nn.Dense(2, 2).to_float(F32)
        self.mm, self.relu = ops.MatMul(), nn.ReLU()

    def construct(self, x):
        y = self.fc(x)
        return y, self.norm(y), self.mm(x, x), self.relu(x), self.own(x), x + y, ops.log(y * y + 1)


EXPECTED = {
    "O0": ([F32] * 5, ([.2893, .6751, 1.0608], [1.6644, 5.2151, 5.2151], [1.3355, 1.964, 2.8884], [.2158, .3174, .4668], [.6429, .7714, 1.1571])),
    "O1": ([F32] * 5, ([.2891, .6749, 1.0607], [1.6641, 5.2148, 5.2148], [1.3352, 1.9636, 2.8879], [.2158, .3174, .4668], [.6426, .7715, 1.1572])),
    "O2": ([F32] * 5, ([.2891, .6748, 1.0605], [1.6641, 5.2148, 5.2148], [1.335, 1.9639, 2.8887], [.2158, .3174, .4668], [.6426, .7715, 1.1572])),
    "O3": ([F32] * 5, ([.2891, .6748, 1.0605], [1.6641, 5.2109, 5.2109], [1.335, 1.9639, 2.8887], [.2158, .3174, .4668], [.6426, .771, 1.1572])),
    "auto": ([F32, F16, F32, F32, F32],
             ([.2891, .6749, 1.0607], [1.6641, 5.2148, 5.2148], [1.3352, 1.9636, 2.8879], [.2158, .3174, .4668], [.6426, .7715, 1.1572])),
}


def first(value):
    return value.asnumpy().astype(np.float64).ravel()[:3]


def check_levels():
    for level, (types, values) in EXPECTED.items():
        results = amp.auto_mixed_precision(Net(), level)(X)
        assert [r.dtype for r in results] == types, (level, [r.dtype for r in results])
        for result, want in zip(results, values, strict=True):
            assert np.allclose(first(result), want, rtol=1e-3, atol=2e-4), (level, first(result), want)


def check_types():
    x = Tensor(np.eye(2, dtype=np.float32))
    for level, types in (("O1", [F32] * 7), ("O2", [F32] * 7), ("auto", [F16, F32, F16, F32, F32, F32, F32])):
        assert [r.dtype for r in amp.auto_mixed_precision(Seen(), level)(x)] == types, level
    # Within another Cell, and of a function; what is around it computes as before.
    inner = amp.auto_mixed_precision(nn.Dense(2, 2), "auto", ms.bfloat16)
    outer = nn.SequentialCell(nn.ReLU(), inner)
    assert outer(x).dtype == ms.bfloat16 and ops.matmul(x, x).dtype == F32
    product = amp.auto_mixed_precision(lambda a: ops.matmul(a, a), "auto")
    assert product(x).dtype == F16 and ms.jit(lambda a: product(a))(x).dtype == F16 and ops.matmul(x, x).dtype == F32
    listed = amp.custom_mixed_precision(Seen(), white_list=[nn.Dense])
    assert listed.fc.dtype == F32 and listed.fc._backbone.get_flags()["fp16"] and not listed.norm.get_flags()
    listed = amp.custom_mixed_precision(Seen(), black_list=[nn.ReLU])
    assert listed._backbone.norm.get_flags()["fp16"] and listed._backbone.relu._backbone.get_flags()["fp32"]
    # Normalizations of the list keep their type however deep they stand.
    net = amp.auto_mixed_precision(nn.SequentialCell(nn.SequentialCell(nn.BatchNorm2d(2), nn.Conv2d(2, 2, 1))), "O2")._backbone
    assert net[0][0]._backbone.get_flags()["fp32"] and net[0][1].get_flags()["fp16"]


def trained(level, scale=1.0, **settings):
    net = First()
    optimizer = nn.Momentum(net.trainable_params(), 0.1, 0.9, loss_scale=scale)
    model = Model(net, nn.MSELoss(), optimizer, metrics={"loss"}, amp_level=level, **settings)
    results = [model.train_network(X * 10, Tensor(np.ones((2, 3), np.float32))) for _ in range(3)]
    return model, net, results[-1]


def check_steps():
    for level in ("O2", "O3"):
        for scale, settings in ((1.0, {"loss_scale_manager": None}), (1024.0, {"loss_scale_manager": ms.FixedLossScaleManager(1024.0, False)}),
                                (1.0, {"keep_batchnorm_fp32": level == "O3", "loss_scale_manager": None})):
            model, net, loss = trained(level, scale, **settings)
            assert loss.dtype == F32 and abs(float(loss) - 0.4154) < 1e-3, (level, loss)
            assert all(p.dtype == F32 for p in net.get_parameters())
            assert np.allclose(net.net.w.asnumpy(), [[1.0495, 1.04065, .98476]], atol=5e-4), (level, net.net.w)
            assert np.allclose(net.net.fc.bias.asnumpy(), [.29499, .22914, .16389], atol=1e-3)
            kept = settings.get("keep_batchnorm_fp32", level == "O2")
            assert (type(net.net.seq[0]).__name__ == "_OutputTo16") == kept
            assert model.predict(X).dtype == F16
            data = ms.dataset.NumpySlicesDataset((X.asnumpy(), np.ones((2, 3), np.float32)), shuffle=False).batch(2)
            assert np.isfinite(model.eval(data)["loss"])
    # The scale that O2 begins with is too large for these gradients: it is halved, and nothing else changes until it fits.
    model, net, (loss, overflow, scale) = trained("O2")
    assert bool(overflow) and float(scale) == 2.0 ** 22 and np.array_equal(net.net.fc.weight.asnumpy(), WEIGHT)
    manager = ms.DynamicLossScaleManager(1024, 2, 2)
    model, net, (loss, overflow, scale) = trained("O2", loss_scale_manager=manager)
    assert not bool(overflow) and float(scale) == 2048 and np.allclose(net.net.w.asnumpy(), [[1.0495, 1.04065, .98476]], atol=5e-4)
    # Gradients too small for float16 arrive when the loss is scaled first.
    for sens, moved in ((None, False), (65536.0, True)):
        net = nn.Dense(1, 1, weight_init="ones", has_bias=False).to_float(F16)
        step = nn.TrainOneStepCell(nn.SequentialCell(net, nn.ReLU()), nn.SGD(net.trainable_params(), 1.0), sens)
        step(Tensor([[2.0 ** -26]], F32) if sens is None else Tensor([[2.0 ** -20]], F32))
        assert (float(net.weight.asnumpy()[0, 0]) != 1.0) == moved
    named = nn.TrainOneStepCell(First(), nn.SGD(First().trainable_params(), 1.0), return_grad=True)
    assert named.weights[0].name == "net.w"


def check_scalers():
    scaler = amp.DynamicLossScaler(scale_value=2 ** 10, scale_factor=2, scale_window=2)
    loss, grads = Tensor([1.5], F32), (Tensor([1.5, 1.0], F16), Tensor([1.2], F16))
    assert scaler.scale(loss).asnumpy()[0] == 1536
    assert np.allclose(scaler.unscale(grads)[0].asnumpy(), [1.4648e-03, 9.7656e-04], rtol=1e-3)
    for finite, want in ((True, 1024), (True, 2048), (False, 1024), (True, 1024), (False, 512)):
        assert scaler.adjust(Tensor(finite)) is True and float(scaler.scale_value) == want, (finite, scaler.scale_value)
    assert bool(amp.all_finite(grads)) and not bool(amp.all_finite((Tensor([np.inf], F32),)))
    assert amp.StaticLossScaler(8).adjust(True) is False and amp.StaticLossScaler(8).scale((loss,))[0].asnumpy()[0] == 12
    assert ms.FixedLossScaleManager(2.0, False).get_update_cell() is None
    manager = ms.DynamicLossScaleManager(4, 2, 1)
    for overflow, want in ((True, 2), (True, 1), (True, 1), (False, 2)):
        manager.update_loss_scale(overflow)
        assert manager.get_loss_scale() == want


def check_refused():
    net, optimizer = First(), nn.SGD(First().trainable_params(), 0.1)
    for error, text, call in (
            (ValueError, "Auto mixed precision will not work because 'optimizer' is None", lambda: Model(net, amp_level="O2")),
            (ValueError, "The argument in 'kwargs' should be 'loss_scale_manager'", lambda: Model(net, optimizer=optimizer, other=1)),
            (ValueError, "The argument 'optimizer' can not be None when set 'loss_scale_manager'",
             lambda: Model(net, loss_scale_manager=ms.FixedLossScaleManager())),
            (ValueError, "The level must be in [O0, O1, O2, O3, auto], but got O4", lambda: Model(net, None, optimizer, amp_level="O4")),
            (ValueError, "The amp level O4 is not supported", lambda: amp.auto_mixed_precision(net, "O4")),
            (TypeError, "For amp_level 'O2', the network type should be Cell", lambda: amp.auto_mixed_precision(len, "O2")),
            (ValueError, "The dtype should be one of (mstype.float16, mstype.bfloat16), but got", lambda: amp.auto_mixed_precision(net, "O2", F32)),
            (ValueError, "For custom_mixed_precision, one of white_list and black_list", lambda: amp.custom_mixed_precision(net)),
            (TypeError, "The type of white_list should be list", lambda: amp.custom_mixed_precision(net, white_list=(nn.Dense,))),
            (ValueError, "The input argument of 'sens' can not be 0", lambda: nn.TrainOneStepCell(net, optimizer, 0))):
        try:
            call()
        except error as got:
            assert str(got).startswith(text), got
        else:
            raise AssertionError(text)


class Part(nn.Cell):
    def __init__(self):
        super().__init__()
        self.p = Parameter(Tensor(np.ones(2, np.float32)), name="given")
        self.l = nn.CellList([nn.Dense(1, 1), nn.SequentialCell(nn.BatchNorm2d(1))])
        self.l.append(nn.Dense(1, 1))


class Whole(nn.Cell):
    def __init__(self):
        super().__init__()
        self.own = Parameter(Tensor(np.ones(2, np.float32)), name="mine")
        self.a = Part()
        self.a.l.append(nn.Dense(1, 1))
        self.same = self.a.l[0]


def check_names():
    net = Whole()
    names = ["mine", "a.p", "same.weight", "same.bias", "a.l.1.0.moving_mean", "a.l.1.0.moving_variance", "a.l.1.0.gamma", "a.l.1.0.beta",
             "a.l.2.weight", "a.l.2.bias", "a.l.3.weight", "a.l.3.bias"]
    assert [p.name for p in net.get_parameters()] == names, [p.name for p in net.get_parameters()]
    assert [p.name for p in nn.WithLossCell(net, nn.MSELoss()).get_parameters()] == names
    assert [p.name for p in amp.auto_mixed_precision(net, "O2").get_parameters()] == names


for mode in (ms.GRAPH_MODE, ms.PYNATIVE_MODE):
    ms.set_context(mode=mode)
    check_levels()
    check_types()
    check_steps()
    check_scalers()
check_refused()
check_names()
