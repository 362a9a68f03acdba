# SPDX-License-Identifier: Apache-2.0
"""Parameters that tuples hold are parameters of the Cell, the state of optimizers among them: training goes on from a checkpoint as if it
had not ended. Names and their order are those of MindSpore 2.7."""
import os
import tempfile
import numpy as np
import mindspore as ms
from mindspore import Parameter, ParameterTuple, Tensor, nn


class Weights(nn.Cell):
    def __init__(self):
        super().__init__()
        self.k = Parameter(Tensor([1.0]))
        self.ws = ParameterTuple([Parameter(Tensor([2.0])), Parameter(Tensor([3.0]), name="own")])
        self.last = Parameter(Tensor([4.0]), requires_grad=False)
        self.again = ParameterTuple([self.k])

    def construct(self, x):
        return x * self.ws[0] + self.ws[1]


class Outer(nn.Cell):
    def __init__(self):
        super().__init__()
        self.u = Weights()


def names(cell):
    return [p.name for p in cell.get_parameters()]


assert names(Weights()) == ["k", "Parameter$1", "own", "last"], names(Weights())
assert list(Outer().parameters_dict()) == [n for n, _ in Outer().parameters_and_names()] == ["u.k", "u.Parameter$1", "u.own", "u.last"]
assert [p.name for p in Outer().trainable_params()] == ["u.k", "u.Parameter$1", "u.own"]
net = Weights()
net.ws = net.again = None
assert names(net) == ["k", "last"] and net.ws is None
net.ws = ParameterTuple([Parameter(Tensor(1.0), name="late")])
assert names(net)[-1] == "late"
del net.ws
assert names(net) == ["k", "last"] and not hasattr(net, "ws")
try:
    net.ws = ParameterTuple([Parameter(Tensor(1.0), name="a"), Parameter(Tensor(2.0), name="a")])
    raise SystemExit("two parameters of a tuple have one name")
except ValueError as error:
    assert "its name 'a' already exists" in str(error), error

# What optimizers hold beside the step, the rate and the parameters.
OPTIMIZERS = (
    ("SGD", {"momentum": 0.9}, "momentum accum.a accum.b stat.a stat.b"),
    ("SGD", {"momentum": 0.9, "dampening": 0.5}, "momentum accum.a accum.b stat.a stat.b"),
    ("Momentum", {"momentum": 0.9}, "momentum moments.a moments.b"),
    ("Adam", {"use_amsgrad": True}, "beta1_power beta2_power moment1.a moment1.b moment2.a moment2.b vhat.a vhat.b"),
    ("LazyAdam", {}, "beta1_power beta2_power moment1.a moment1.b moment2.a moment2.b"),
    ("AdamWeightDecay", {}, "adam_m.a adam_m.b adam_v.a adam_v.b"),
    ("RMSProp", {"momentum": 0.5}, "mean_square.a mean_square.b moment.a moment.b"),
    ("RMSProp", {"centered": True}, "mean_grad.a mean_grad.b mean_square.a mean_square.b moment.a moment.b"),
    ("Adagrad", {}, "accum.a accum.b"),
    ("Adadelta", {}, "accum.a accum.b accum_update.a accum_update.b"),
    ("AdaMax", {}, "beta1_power moment1.a moment1.b moment2.a moment2.b"),
    ("FTRL", {}, "moments.a moments.b linear.a linear.b"),
    ("ProximalAdagrad", {}, "accum.a accum.b"),
    ("Lamb", {}, "lamb_m.a lamb_m.b lamb_v.a lamb_v.b"),
    ("ASGD", {"t0": 1.0}, "mu_a mu_b eta_a eta_b ax_.a ax_.b"),
    ("Rprop", {}, "prev.a prev.b step_size.a step_size.b"),
)


class Line(nn.Cell):
    def __init__(self):
        super().__init__()
        self.a, self.b = Parameter(Tensor([1.0, -1.0]), name="a"), Parameter(Tensor(0.5), name="b")

    def construct(self, x):
        return (x * self.a).sum(-1) + self.b


X, Y = Tensor(np.array([[1.0, 2.0], [3.0, 4.0]], np.float32)), Tensor(np.array([1.0, 0.0], np.float32))


def made(name, options):
    net = Line()
    optimizer = getattr(nn, name)(net.trainable_params(), learning_rate=0.02, **options)
    return optimizer, nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), optimizer)


def resumed(name, options, path):
    """The losses of four steps, and of the last two after a checkpoint."""
    _, step = made(name, options)
    losses = [float(step(X, Y).asnumpy()) for _ in range(2)]
    ms.save_checkpoint(step, path)
    losses += [float(step(X, Y).asnumpy()) for _ in range(2)]
    _, step = made(name, options)
    missing, unknown = ms.load_param_into_net(step, ms.load_checkpoint(path))
    assert not missing and not unknown, (name, missing, unknown)
    return losses, [float(step(X, Y).asnumpy()) for _ in range(2)]


with tempfile.TemporaryDirectory() as folder:
    for mode in (ms.GRAPH_MODE, ms.PYNATIVE_MODE):
        ms.set_context(mode=mode)
        for name, options, states in OPTIMIZERS:
            held = names(made(name, options)[0])
            assert held == ["global_step", "learning_rate", "a", "b"] + states.split(), (name, held)
            losses, after = resumed(name, options, os.path.join(folder, "a.ckpt"))
            assert after == losses[2:], (name, options, losses, after)
            assert len(set(losses)) == 4, (name, losses)

# One Cell that names its parts anew: the weights are named by the last part that holds them.
net = Line()


class Step(nn.Cell):
    def __init__(self):
        super().__init__()
        self.net, self.opt = net, nn.Momentum(net.trainable_params(), 0.1, 0.9)


whole = Step()
assert len(names(whole)) == 7 and all(n.startswith("opt.") for n in names(whole)[2:]), names(whole)
