# SPDX-License-Identifier: Apache-2.0
# Three steps of each optimizer end where MindSpore 2.7 ends: decay that leaves out beta and gamma where parameters stand in no groups,
# rates and decay by groups, tables and Cells of the step. Momentum with use_nesterov follows the documented formula, which MindSpore's
# kernel for the processor does not.
import numpy as np
import mindspore as ms
from mindspore import Parameter, Tensor, nn

ms.set_context(mode=ms.GRAPH_MODE)


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.weight = Parameter(Tensor(np.array([0.5, -1.0], np.float32)), name="weight")
        self.gamma = Parameter(Tensor(np.array([1.0, 2.0], np.float32)), name="gamma")
        self.beta = Parameter(Tensor(np.array([0.25, -0.5], np.float32)), name="beta")

    def construct(self, x):
        return ((x * self.weight) * self.gamma + self.beta).sum()


class Decay(nn.LearningRateSchedule):
    def construct(self, step):
        return 0.1 / (1 + step.astype(ms.float32))


def plain(net):
    return net.trainable_params()


def groups(net):
    return [{"params": [net.weight], "weight_decay": 0.2, "lr": 0.05}, {"params": [net.gamma, net.beta]}]


def ordered(net):
    return [{"params": [net.beta], "weight_decay": 0.2}, {"params": [net.gamma, net.weight], "lr": 0.01},
            {"order_params": [net.weight, net.gamma, net.beta]}]


def scheduled(net):
    return [{"params": [net.beta], "lr": nn.ExponentialDecayLR(0.1, 0.5, 1)}, {"params": [net.gamma, net.weight]}]


def tabled(net):
    return [{"params": [net.beta], "lr": [0.1, 0.05, 0.01]}, {"params": [net.gamma, net.weight]}]


# What is made, and weight, gamma and beta after three steps.
CASES = [
    (lambda n: nn.SGD(plain(n), 0.1, weight_decay=0.1),
     [[0.3973605, -0.568401], [0.958126, 1.821052], [-0.05, -0.8000001]]),
    (lambda n: nn.SGD(plain(n), 0.1, 0.9, dampening=0.1, weight_decay=0.1),
     [[0.317152, -0.2284248], [0.9246221, 1.671652], [-0.282, -1.032]]),
    (lambda n: nn.SGD(plain(n), 0.1, 0.9, nesterov=True, weight_decay=0.1),
     [[0.2291405, 0.1238191], [0.8937038, 1.579531], [-0.5549, -1.3049]]),
    (lambda n: nn.SGD(groups(n), 0.1, 0.9, weight_decay=0.1),
     [[0.3905415, -0.569893], [0.8638043, 1.525958], [-0.3201152, -1.028399]]),
    (lambda n: nn.Momentum(plain(n), 0.1, 0.9, weight_decay=0.1, loss_scale=4.0),
     [[0.4306078, -0.7511587], [0.9794113, 1.905592], [0.10975, -0.64025]]),
    (lambda n: nn.Momentum(groups(n), 0.1, 0.9, weight_decay=0.1),
     [[0.3905415, -0.569893], [0.8638043, 1.525958], [-0.3201152, -1.028399]]),
    (lambda n: nn.Momentum(ordered(n), 0.1, 0.9, weight_decay=0.1),
     [[0.4804177, -0.9162235], [0.9860373, 1.950057], [-0.329012, -0.9962959]]),
    (lambda n: nn.Momentum(scheduled(n), 0.1, 0.9),
     [[0.3338329, -0.2374339], [0.9201565, 1.653997], [-0.01274999, -0.76275]]),
    (lambda n: nn.Momentum(tabled(n), 0.1, 0.9),
     [[0.3338329, -0.2374339], [0.9201565, 1.653997], [0.02790001, -0.7221001]]),
    (lambda n: nn.Momentum(tabled(n), [0.1, 0.2, 0.3], 0.9),
     [[0.120533, 0.7207261], [0.823159, 1.280022], [0.02790001, -0.7221001]]),
    (lambda n: nn.Adam(plain(n), 0.1, weight_decay=0.1),
     [[0.2019305, -0.7006766], [0.704895, 1.701589], [-0.04999889, -0.7999989]]),
    (lambda n: nn.Adam(groups(n), 0.1, weight_decay=0.1),
     [[0.3507937, -0.8503122], [0.7015876, 1.700625], [-0.04990051, -0.7998922]]),
    (lambda n: nn.Adam(plain(n), 0.1, use_nesterov=True, weight_decay=0.1),
     [[0.05958409, -0.5480402], [0.5854193, 1.556993], [-0.2095305, -0.9595305]]),
    (lambda n: nn.Adam(plain(n), 0.1, use_amsgrad=True, weight_decay=0.1),
     [[0.2019305, -0.7006766], [0.704895, 1.701589], [-0.04999889, -0.7999989]]),
    (lambda n: nn.AdamWeightDecay(plain(n), 0.1, weight_decay=0.1),
     [[-0.6732147, 0.2365567], [0.1299727, 0.8435086], [-0.9861901, -1.73619]]),
    (lambda n: nn.AdamWeightDecay(groups(n), 0.1, weight_decay=0.1),
     [[-0.08867469, -0.3679213], [-0.1772274, 0.735865], [-0.9830731, -1.710797]]),
    (lambda n: nn.RMSProp(plain(n), 0.1, weight_decay=0.1),
     [[0.3877097, -0.6070507], [0.9538885, 1.808374], [-0.05, -0.8000001]]),
    (lambda n: nn.RMSProp(plain(n), 0.1, momentum=0.5, centered=True, weight_decay=0.1),
     [[0.3415852, -0.4219041], [0.9349596, 1.726653], [-0.1825523, -0.9325523]]),
    (lambda n: nn.Adagrad(plain(n), learning_rate=0.1, weight_decay=0.1),
     [[0.3206477, -0.7791368], [0.8944116, 1.79473], [0.02885098, -0.721149]]),
    (lambda n: nn.Momentum(plain(n), 0.1, 0.9, weight_decay=Decay()),
     [[0.3145222, -0.2002912], [0.9207962, 1.656954], [-0.311, -1.061]]),
]


def trained(make):
    net = Net()
    optimizer = make(net)
    derive = ms.value_and_grad(net, None, optimizer.parameters)
    for _ in range(3):
        _, gradients = derive(Tensor(np.array([0.3, -0.7], np.float32)))
        optimizer(gradients)
    return [p.asnumpy() for p in (net.weight, net.gamma, net.beta)]


for i, (make, expected) in enumerate(CASES):
    have = trained(make)
    assert np.allclose(have, expected, rtol=1e-5, atol=1e-5), f"case {i}: {have}, not {expected}"

# The first step of SGD is not damped, whether a graph is built or not.
for mode in (ms.GRAPH_MODE, ms.PYNATIVE_MODE):
    ms.set_context(mode=mode)
    for decay, expected in ((0.0, [0.9805, 2.0832, 2.8752]), (0.1, [0.93914, 2.0, 2.75169])):
        w = Parameter(Tensor([1.0, 2.0, 3.0], ms.float32), name="w")
        damped = nn.SGD([w], 0.1, momentum=0.9, dampening=0.5, weight_decay=decay)
        for k in range(3):
            damped((Tensor([0.1 * k, -0.2, 0.3], ms.float32),))
        assert np.allclose(w.asnumpy(), expected, rtol=1e-5, atol=1e-5), (mode, decay, w.asnumpy())

for groups_of, error in ((lambda n: [{"params": [n.beta], "grad_centralization": True}], NotImplementedError),
                         (lambda n: [{"params": [n.beta]}, {"params": [n.beta]}], RuntimeError),
                         (lambda n: [{"params": [n.beta]}, n.gamma], TypeError)):
    try:
        nn.Momentum(groups_of(Net()), 0.1, 0.9)
    except error:
        continue
    raise AssertionError(f"no {error.__name__}")
