# SPDX-License-Identifier: Apache-2.0
"""Optimizers that are used less often than those of optim.py, over the rules of ops/_updates.py."""
from mindspore import _core
from mindspore._core import float32
from mindspore.common.parameter import ParameterTuple
from mindspore.nn.cell import Cell
from mindspore.nn.optim import Adam, Optimizer, _value
from mindspore.ops import _updates, function as _f
from mindspore._rules import hold as _hold_to_rules


class Adadelta(Optimizer):
    def __init__(self, params, learning_rate=1.0, rho=0.9, epsilon=1e-6, loss_scale=1.0, weight_decay=0.0):
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        self.rho, self.epsilon = rho, epsilon
        self.accum, self.accum_update = self._states("accum"), self._states("accum_update")

    def _step(self, rates, gradients):
        for p, g, a, u, rate in zip(self.parameters, gradients, self.accum, self.accum_update, rates):
            _updates.adadelta(p, a, u, rate, self.rho, self.epsilon, g)


class AdaMax(Optimizer):
    def __init__(self, params, learning_rate=0.001, beta1=0.9, beta2=0.999, eps=1e-8, weight_decay=0.0, loss_scale=1.0):
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        self.beta1, self.beta2, self.eps = beta1, beta2, eps
        self.beta1_power = self._number(1.0, "beta1_power")
        self.moment1, self.moment2 = self._states("moment1"), self._states("moment2")

    def _step(self, rates, gradients):
        power = _core.mul(_value(self.beta1_power), self.beta1)
        _core.assign(self.beta1_power, power)
        for p, g, m, v, rate in zip(self.parameters, gradients, self.moment1, self.moment2, rates):
            _updates.ada_max(p, m, v, power, rate, self.beta1, self.beta2, self.eps, g)


class FTRL(Optimizer):
    def __init__(self, params, initial_accum=0.1, learning_rate=0.001, lr_power=-0.5, l1=0.0, l2=0.0, use_locking=False,
                 loss_scale=1.0, weight_decay=0.0):
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        self.lr_power, self.l1, self.l2 = lr_power, l1, l2
        self.moments, self.linear = self._states("moments", initial_accum), self._states("linear")

    def _step(self, rates, gradients):
        for p, g, a, z, rate in zip(self.parameters, gradients, self.moments, self.linear, rates):
            _updates.ftrl(p, a, z, g, rate, self.l1, self.l2, self.lr_power)


class ProximalAdagrad(Optimizer):
    def __init__(self, params, accum=0.1, learning_rate=0.001, l1=0.0, l2=0.0, use_locking=False, loss_scale=1.0, weight_decay=0.0):
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        self.l1, self.l2 = l1, l2
        self.accum = self._states("accum", accum)

    def _step(self, rates, gradients):
        for p, g, a, rate in zip(self.parameters, gradients, self.accum, rates):
            _updates.proximal_adagrad(p, a, rate, self.l1, self.l2, g)


class LazyAdam(Adam):
    """Adam: gradients are dense here, and by those it does not differ."""

    def __init__(self, params, learning_rate=1e-3, beta1=0.9, beta2=0.999, eps=1e-8, use_locking=False, use_nesterov=False,
                 weight_decay=0.0, loss_scale=1.0):
        super().__init__(params, learning_rate, beta1, beta2, eps, use_locking, use_nesterov, weight_decay, loss_scale)


class Lamb(Optimizer):
    def __init__(self, params, learning_rate, beta1=0.9, beta2=0.999, eps=1e-6, weight_decay=0.0):
        super().__init__(learning_rate, params, weight_decay)
        self.beta1, self.beta2, self.eps = beta1, beta2, eps
        self.moments1, self.moments2 = self._states("lamb_m"), self._states("lamb_v")

    def _prepared(self, gradients):
        return [_core.convert(g, p.dtype) for p, g in zip(self.parameters, gradients)]

    def _step(self, rates, gradients):
        step = _core.convert(_core.reshape(_value(self.global_step), ()), float32)
        for p, g, m, v, decay, rate in zip(self.parameters, gradients, self.moments1, self.moments2, self._decays, rates):
            _updates.lamb(p, m, v, rate, self.beta1, self.beta2, self.eps, self._decay_of(decay), step, g)


class LARS(Cell):
    """Scales the gradients by layer and hands them to another optimizer, whose weight decay it takes over."""

    def __init__(self, optimizer, epsilon=1e-5, coefficient=0.001, use_clip=False,
                 lars_filter=lambda x: "LayerNorm" not in x.name and "bias" not in x.name):
        super().__init__(auto_prefix=False)
        if not isinstance(optimizer, Optimizer):
            raise TypeError(f"For 'LARS', the argument 'optimizer' must be an Optimizer, but got {type(optimizer).__name__}.")
        self.opt, self.epsilon, self.coefficient, self.use_clip = optimizer, epsilon, coefficient, use_clip
        self.parameters = optimizer.parameters
        self._flags = [bool(lars_filter(p)) for p in self.parameters]
        self._decays, optimizer._decays = optimizer._decays, [0.0] * len(self.parameters)
        self.enable_tuple_broaden = optimizer.enable_tuple_broaden

    def construct(self, gradients):
        gradients = self.opt._prepared(gradients)
        own = [None if source is None else self.opt._at_step(source) for source in self.opt._own_rates]
        decays = [self.opt._decay_of(decay) for decay in self._decays]
        rate = self.opt.get_lr()
        rates = [rate if r is None else r for r in own]
        scaled = [_updates.lars(_value(p), g, decay, r, self.epsilon, self.coefficient, self.use_clip) if flag else g
                  for p, g, decay, r, flag in zip(self.parameters, gradients, decays, rates, self._flags)]
        self.opt._step(rates, scaled)
        return True


class ASGD(Optimizer):
    def __init__(self, params, learning_rate=0.1, lambd=1e-4, alpha=0.75, t0=1e6, weight_decay=0.0):
        super().__init__(learning_rate, params, weight_decay)
        self.lambd, self.alpha, self.t0 = lambd, alpha, t0
        self.mu, self.eta = (ParameterTuple([self._number(value, f"{prefix}_{p.name}") for p in self.parameters])
                             for prefix, value in (("mu", 1.0), ("eta", 0.0)))
        self.ax = self._states("ax_")

    def _step(self, rates, gradients):
        step = _core.convert(_core.reshape(_value(self.global_step), ()), float32)
        first = _core.compare("EQ", step, 1.0)
        for p, g, ax, mu, eta, rate in zip(self.parameters, gradients, self.ax, self.mu, self.eta, rates):
            e = _core.select(first, rate, _value(eta))
            w = _core.sub(_core.mul(_value(p), _core.sub(1.0, _core.mul(e, self.lambd))), _core.mul(g, e))
            mean = _core.add(_value(ax), _core.mul(_core.sub(w, _value(ax)), _value(mu)))
            _core.assign(p, w)
            _core.assign(ax, mean)
            _core.assign(eta, _core.div(rate, _f.pow(_core.add(1.0, _core.mul(_core.mul(rate, self.lambd), step)), self.alpha)))
            _core.assign(mu, _core.div(1.0, _f.maximum(_core.sub(step, float(self.t0)), 1.0)))


class Rprop(Optimizer):
    def __init__(self, params, learning_rate=0.1, etas=(0.5, 1.2), step_sizes=(1e-6, 50.0), weight_decay=0.0):
        super().__init__(learning_rate, params, weight_decay)
        if not isinstance(etas, tuple) or not isinstance(step_sizes, tuple):
            raise TypeError("For 'Rprop', 'etas' and 'step_sizes' must be tuples.")
        if len(etas) != 2 or len(step_sizes) != 2 or not 0 < etas[0] < 1 < etas[1]:
            raise ValueError("For 'Rprop', 'etas' must be two numbers around 1 and 'step_sizes' the least and the most.")
        self.etas, self.limits = etas, step_sizes
        self.prev, self.step_size = self._states("prev"), self._states("step_size")

    def _step(self, rates, gradients):
        first = _core.compare("EQ", _core.reshape(_value(self.global_step), ()), 1)
        for p, g, prev, size, rate in zip(self.parameters, gradients, self.prev, self.step_size, rates):
            turn = _core.mul(g, _value(prev))
            back = _core.compare("LT", turn, 0.0)
            factor = _core.select(back, self.etas[0], _core.select(_core.compare("GT", turn, 0.0), self.etas[1],
                                                                   _core.full(g.shape, 1.0, g.dtype)))
            s = _core.select(first, _core.mul(_core.full(g.shape, 1.0, g.dtype), rate), _value(size))
            s = _f.clamp(_core.mul(s, factor), *self.limits)
            g = _core.select(back, 0.0, g)
            _core.assign(p, _core.sub(_value(p), _core.mul(_f.sign(g), s)))
            _core.assign(prev, g)
            _core.assign(size, s)


AdamOffload = type("AdamOffload", (LazyAdam,), {"__doc__": "Adam; where its states lie is said by placements."})

_hold_to_rules(globals())
__all__ = ["Adadelta", "AdaMax", "FTRL", "ProximalAdagrad", "LazyAdam", "AdamOffload", "Lamb", "LARS", "ASGD", "Rprop"]
