# SPDX-License-Identifier: Apache-2.0
"""Optimizers, schedules of rates, loss scales, metrics, Model: a few steps of each, compared by what they leave."""
import numpy as np
import mindspore as ms
from mindspore import Parameter, Tensor, nn, ops
from mindspore import dataset as ds
from mindspore.train import Model

ms.set_context(mode=ms.GRAPH_MODE)
R = np.random.RandomState(3)
W = R.randn(3, 2).astype(np.float32)
B = R.randn(2).astype(np.float32)
X = Tensor(R.randn(5, 3).astype(np.float32))
Y = Tensor(R.randn(5, 2).astype(np.float32))

DIFFERS = {
    "ftrl_l1": "its kernel adds l1 where its own formula subtracts it: a negative linear term",
    "adagrad_slots": "its kernel for the processor updates the slots all the same",
}

CASES = [
    "sgd", "sgd_nesterov", "momentum", "adam", "adam_amsgrad", "adamw", "rmsprop", "rmsprop_centered", "adagrad",
    "adagrad_slots", "adadelta", "adadelta_decay", "adamax", "ftrl", "ftrl_l1", "proximal", "proximal_l1", "lazyadam",
    "lamb", "lamb_decay", "lars", "asgd", "asgd_t0", "rprop", "schedules", "tables", "scale_fixed", "scale_dynamic", "scale_overflow",
    "accuracy", "accuracy_multi", "mae", "mse", "topk", "precision", "recall", "f1", "loss", "confusion", "eval"]


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.w, self.b = Parameter(Tensor(W), name="w"), Parameter(Tensor(B), name="b")

    def construct(self, x):
        return ops.tanh(ops.matmul(x, self.w) + self.b)


def _trained(make, steps=4):
    net = Net()
    step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), make(list(net.get_parameters()))).set_train()
    losses = [step(X, Y) for _ in range(steps)]
    return [l.asnumpy() for l in losses], net.w.asnumpy(), net.b.asnumpy()


def _scaled(scale, steps=4, factor=1.0):
    net = Net()
    cell = nn.TrainOneStepWithLossScaleCell(nn.WithLossCell(net, nn.MSELoss()), nn.Momentum(list(net.get_parameters()), 0.1, 0.9), scale)
    cell.set_train()
    result = []
    for i in range(steps):
        loss, overflow, now = cell(X * (factor if i == 1 else 1.0), Y)
        result.append((loss.asnumpy(), bool(overflow.asnumpy()), now.asnumpy()))
    return result, cell.scale_sense.asnumpy(), net.w.asnumpy()


def _measured(metric, *batches):
    metric.clear()
    for batch in batches:
        metric.update(*batch)
    return metric.eval()


P2 = Tensor(np.array([[0.2, 0.5, 0.3], [0.3, 0.1, 0.6], [0.9, 0.05, 0.05]], np.float32))
T2 = Tensor(np.array([1, 0, 0], np.int32))


class _Scored(nn.Cell):
    def construct(self, x):
        return x * 1.0


def _evaluated():
    rows = ds.NumpySlicesDataset({"x": P2.asnumpy(), "y": T2.asnumpy()}, shuffle=False).batch(2)
    model = Model(_Scored(), loss_fn=nn.CrossEntropyLoss(), metrics={"acc": nn.Accuracy(), "loss": nn.Loss(), "top": nn.Top1CategoricalAccuracy()})
    found = model.eval(rows)
    return {k: float(found[k]) for k in sorted(found)}


def _make(text):
    return lambda: eval(text, globals())


for _name, _text in (
        ("sgd", "_trained(lambda p: nn.SGD(p, 0.1, 0.9, 0.1))"),
        ("sgd_nesterov", "_trained(lambda p: nn.SGD(p, 0.1, 0.9, 0.0, 0.01, True))"),
        ("momentum", "_trained(lambda p: nn.Momentum(p, 0.1, 0.9, weight_decay=0.01))"),
        ("adam", "_trained(lambda p: nn.Adam(p, 0.1))"),
        ("adam_amsgrad", "_trained(lambda p: nn.Adam(p, 0.1, use_amsgrad=True))"),
        ("adamw", "_trained(lambda p: nn.AdamWeightDecay(p, 0.1, weight_decay=0.1))"),
        ("rmsprop", "_trained(lambda p: nn.RMSProp(p, 0.1, momentum=0.5))"),
        ("rmsprop_centered", "_trained(lambda p: nn.RMSProp(p, 0.01, centered=True, epsilon=0.1))"),
        ("adagrad", "_trained(lambda p: nn.Adagrad(p, learning_rate=0.1))"),
        ("adagrad_slots", "_trained(lambda p: nn.Adagrad(p, learning_rate=0.1, update_slots=False))"),
        ("adadelta", "_trained(lambda p: nn.Adadelta(p, 1.0))"),
        ("adadelta_decay", "_trained(lambda p: nn.Adadelta(p, 0.5, 0.8, 1e-4, weight_decay=0.1))"),
        ("adamax", "_trained(lambda p: nn.AdaMax(p, 0.1))"),
        ("ftrl", "_trained(lambda p: nn.FTRL(p, learning_rate=0.1))"),
        ("ftrl_l1", "_trained(lambda p: nn.FTRL(p, learning_rate=0.1, l1=0.05, l2=0.1))"),
        ("proximal", "_trained(lambda p: nn.ProximalAdagrad(p, learning_rate=0.1))"),
        ("proximal_l1", "_trained(lambda p: nn.ProximalAdagrad(p, learning_rate=0.1, l1=0.3, l2=0.4))"),
        ("lazyadam", "_trained(lambda p: nn.LazyAdam(p, 0.1))"),
        ("lamb", "_trained(lambda p: nn.Lamb(p, 0.1))"),
        ("lamb_decay", "_trained(lambda p: nn.Lamb(p, 0.1, weight_decay=0.2))"),
        ("lars", "_trained(lambda p: nn.LARS(nn.Momentum(p, 0.1, 0.9), coefficient=0.02))"),
        ("asgd", "_trained(lambda p: nn.ASGD(p, 0.1))"),
        ("asgd_t0", "_trained(lambda p: nn.ASGD(p, 0.1, 0.1, 0.5, 1.0, 0.01))"),
        ("rprop", "_trained(lambda p: nn.Rprop(p, 0.05), 7)"),
        ("schedules", "[[s(Tensor(t, ms.int32)).asnumpy() for t in (0, 3, 9)] for s in (nn.NaturalExpDecayLR(0.1, 0.9, 4), "
                      "nn.NaturalExpDecayLR(0.1, 0.9, 4, True), nn.InverseDecayLR(0.1, 0.9, 4), nn.InverseDecayLR(0.1, 0.9, 4, True))]"),
        ("tables", "[nn.natural_exp_decay_lr(0.1, 0.9, 6, 2, 2, True), nn.inverse_decay_lr(0.1, 0.5, 6, 1, 1), "
                   "nn.polynomial_decay_lr(0.1, 0.01, 6, 2, 2, 0.5), nn.polynomial_decay_lr(0.1, 0.01, 8, 1, 3, 2.0, True)]"),
        ("scale_fixed", "_scaled(nn.FixedLossScaleUpdateCell(128.0))"),
        ("scale_dynamic", "_scaled(nn.DynamicLossScaleUpdateCell(64.0, 2, 2))"),
        ("scale_overflow", "_scaled(nn.DynamicLossScaleUpdateCell(64.0, 2, 100), factor=float('inf'))[1:]"),
        ("accuracy", "_measured(nn.Accuracy(), (P2, T2), (P2, T2))"),
        ("accuracy_multi", "_measured(nn.Accuracy('multilabel'), (Tensor([[0, 1, 1], [1, 0, 0]]), Tensor([[0, 1, 1], [1, 1, 0]])))"),
        ("mae", "_measured(nn.MAE(), (X, X * 2))"),
        ("mse", "_measured(nn.MSE(), (X, X * 2))"),
        ("topk", "_measured(nn.TopKCategoricalAccuracy(2), (P2, T2))"),
        ("precision", "_measured(nn.Precision(), (P2, T2))"),
        ("recall", "_measured(nn.Recall(), (P2, T2))"),
        ("f1", "_measured(nn.F1(), (P2, T2))"),
        ("loss", "_measured(nn.Loss(), (Tensor(2.0),), (Tensor(4.0),))"),
        ("confusion", "_measured(nn.ConfusionMatrix(3), (Tensor([0, 1, 2, 1]), Tensor([0, 2, 2, 1])))"),
        ("eval", "_evaluated()"),
):
    globals()["case_" + _name] = _make(_text)
