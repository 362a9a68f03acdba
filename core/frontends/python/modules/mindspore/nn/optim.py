# SPDX-License-Identifier: Apache-2.0
"""Optimizers: Cells that take the gradients and change the parameters."""
import _gantry
from mindspore import _core
from mindspore._core import Tensor, float32, int32
from mindspore.common.parameter import Parameter, ParameterTuple
from mindspore.nn.cell import Cell
from mindspore.ops import function as _f


def _value(parameter):
    return _gantry.parameter_value(parameter)


class Optimizer(Cell):
    def __init__(self, learning_rate, parameters, weight_decay=0.0, loss_scale=1.0):
        super().__init__()
        parameters = list(parameters)
        if not parameters:
            raise ValueError("For 'Optimizer', the argument 'parameters' must not be empty.")
        self._group_rates = {}
        decays, found = {}, []
        for p in parameters:
            if isinstance(p, dict):
                for q in p.get("params", ()):
                    found.append(q)
                    decays[id(q)] = p.get("weight_decay", weight_decay)
                    if "lr" in p:
                        self._group_rates[id(q)] = p["lr"]
            else:
                found.append(p)
        if not all(isinstance(p, Parameter) for p in found):
            raise TypeError("For 'Optimizer', all elements of the argument 'parameters' must be 'Parameter' or 'dict'.")
        self.parameters = self._parameters = ParameterTuple(found)
        self.weight_decay = weight_decay
        self._decays = [decays.get(id(p), weight_decay) for p in found]
        self.loss_scale = loss_scale
        self.dynamic_lr = not isinstance(learning_rate, (int, float))
        self._schedule = learning_rate if isinstance(learning_rate, Cell) else None
        if isinstance(learning_rate, (list, tuple)) or isinstance(learning_rate, Tensor) and learning_rate.ndim == 1:
            self._rates = _core.tensor_of(learning_rate, float32)
        else:
            self._rates = None
        rate = 0.0 if self._schedule is not None or self._rates is not None else learning_rate
        self.learning_rate = Parameter(_core.tensor_of(float(rate), float32), name="learning_rate", requires_grad=False)
        self.global_step = Parameter(_core.full((1,), 0, int32), name="global_step", requires_grad=False)

    def _states(self, prefix, value="zeros"):
        return ParameterTuple([Parameter(_core.full(p.shape, 0 if value == "zeros" else value, p.dtype), name=f"{prefix}.{p.name}",
                                         requires_grad=False) for p in self.parameters])

    def get_lr(self):
        if self._schedule is not None:
            rate = self._schedule(_core.reshape(_value(self.global_step), ()))
        elif self._rates is not None:
            from mindspore import _index
            last = self._rates.shape[0] - 1
            rate = _index.take_row(self._rates, _f.minimum(_core.reshape(_value(self.global_step), ()), last))
        else:
            rate = _value(self.learning_rate)
        _core.assign(self.global_step, _core.add(_value(self.global_step), 1))
        return rate

    def get_lr_parameter(self, param):
        return self.learning_rate

    def _prepared(self, gradients):
        result = []
        for p, g, decay in zip(self.parameters, gradients, self._decays):
            g = _core.convert(g, p.dtype)
            if self.loss_scale != 1.0:
                g = _core.mul(g, 1.0 / self.loss_scale)
            if decay:
                g = _core.add(g, _core.mul(_value(p), decay))
            result.append(g)
        return result

    def _step(self, rate, gradients):
        raise NotImplementedError

    def construct(self, gradients):
        rate = self.get_lr()
        self._step(rate, self._prepared(gradients))
        return True


class SGD(Optimizer):
    def __init__(self, params, learning_rate=0.1, momentum=0.0, dampening=0.0, weight_decay=0.0, nesterov=False, loss_scale=1.0):
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        self.momentum, self.dampening, self.nesterov = float(momentum), dampening, nesterov
        self.accum = self._states("accum") if momentum else ()

    def _step(self, rate, gradients):
        for i, (p, g) in enumerate(zip(self.parameters, gradients)):
            if self.momentum:
                m = _core.add(_core.mul(_value(self.accum[i]), self.momentum), _core.mul(g, 1 - self.dampening))
                _core.assign(self.accum[i], m)
                g = _core.add(g, _core.mul(m, self.momentum)) if self.nesterov else m
            _core.assign(p, _core.sub(_value(p), _core.mul(g, rate)))


class Momentum(Optimizer):
    def __init__(self, params, learning_rate, momentum, weight_decay=0.0, loss_scale=1.0, use_nesterov=False):
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        if isinstance(momentum, float) and momentum < 0.0:
            raise ValueError(f"For 'Momentum', the argument 'momentum' must be at least 0.0, but got {momentum}.")
        self.momentum, self.use_nesterov = momentum, use_nesterov
        self.moments = self._states("moments")

    def _step(self, rate, gradients):
        for p, g, state in zip(self.parameters, gradients, self.moments):
            m = _core.add(_core.mul(_value(state), self.momentum), g)
            _core.assign(state, m)
            step = _core.add(g, _core.mul(m, self.momentum)) if self.use_nesterov else m
            _core.assign(p, _core.sub(_value(p), _core.mul(step, rate)))


class Adam(Optimizer):
    _decoupled = False

    def __init__(self, params, learning_rate=1e-3, beta1=0.9, beta2=0.999, eps=1e-8, use_locking=False, use_nesterov=False,
                 weight_decay=0.0, loss_scale=1.0, use_amsgrad=False, **kwargs):
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        self.beta1, self.beta2, self.eps, self.use_nesterov = beta1, beta2, eps, use_nesterov
        self.moment1, self.moment2 = self._states("moment1"), self._states("moment2")
        self.beta1_power = Parameter(_core.tensor_of(1.0, float32), name="beta1_power", requires_grad=False)
        self.beta2_power = Parameter(_core.tensor_of(1.0, float32), name="beta2_power", requires_grad=False)

    def _step(self, rate, gradients):
        b1, b2 = _core.mul(_value(self.beta1_power), self.beta1), _core.mul(_value(self.beta2_power), self.beta2)
        _core.assign(self.beta1_power, b1)
        _core.assign(self.beta2_power, b2)
        scaled = _core.div(_core.mul(rate, _f.sqrt(_core.sub(1.0, b2))), _core.sub(1.0, b1))
        for p, g, s1, s2 in zip(self.parameters, gradients, self.moment1, self.moment2):
            m = _core.add(_core.mul(_value(s1), self.beta1), _core.mul(g, 1 - self.beta1))
            v = _core.add(_core.mul(_value(s2), self.beta2), _core.mul(_f.square(g), 1 - self.beta2))
            _core.assign(s1, m)
            _core.assign(s2, v)
            if self.use_nesterov:
                m = _core.add(_core.mul(m, self.beta1), _core.mul(g, 1 - self.beta1))
            _core.assign(p, _core.sub(_value(p), _core.div(_core.mul(m, scaled), _core.add(_f.sqrt(v), self.eps))))


class AdamWeightDecay(Optimizer):
    def __init__(self, params, learning_rate=1e-3, beta1=0.9, beta2=0.999, eps=1e-6, weight_decay=0.0):
        super().__init__(learning_rate, params, weight_decay)
        self.beta1, self.beta2, self.eps = beta1, beta2, eps
        self.moments1, self.moments2 = self._states("adam_m"), self._states("adam_v")

    def _prepared(self, gradients):
        return [_core.convert(g, p.dtype) for p, g in zip(self.parameters, gradients)]

    def _step(self, rate, gradients):
        for p, g, s1, s2, decay in zip(self.parameters, gradients, self.moments1, self.moments2, self._decays):
            m = _core.add(_core.mul(_value(s1), self.beta1), _core.mul(g, 1 - self.beta1))
            v = _core.add(_core.mul(_value(s2), self.beta2), _core.mul(_f.square(g), 1 - self.beta2))
            _core.assign(s1, m)
            _core.assign(s2, v)
            step = _core.div(m, _core.add(_f.sqrt(v), self.eps))
            if decay:
                step = _core.add(step, _core.mul(_value(p), decay))
            _core.assign(p, _core.sub(_value(p), _core.mul(step, rate)))


class RMSProp(Optimizer):
    def __init__(self, params, learning_rate=0.1, decay=0.9, momentum=0.0, epsilon=1e-10, use_locking=False, centered=False,
                 loss_scale=1.0, weight_decay=0.0):
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        self.decay, self.momentum, self.epsilon, self.centered = decay, momentum, epsilon, centered
        self.ms, self.moment, self.mg = self._states("mean_square", 1), self._states("rms_moment"), self._states("mean_grad")

    def _step(self, rate, gradients):
        for p, g, ms, mom, mg in zip(self.parameters, gradients, self.ms, self.moment, self.mg):
            s = _core.add(_core.mul(_value(ms), self.decay), _core.mul(_f.square(g), 1 - self.decay))
            _core.assign(ms, s)
            if self.centered:
                a = _core.add(_core.mul(_value(mg), self.decay), _core.mul(g, 1 - self.decay))
                _core.assign(mg, a)
                s = _core.sub(s, _f.square(a))
            m = _core.add(_core.mul(_value(mom), self.momentum), _core.div(_core.mul(g, rate), _f.sqrt(_core.add(s, self.epsilon))))
            _core.assign(mom, m)
            _core.assign(p, _core.sub(_value(p), m))


class Adagrad(Optimizer):
    def __init__(self, params, accum=0.1, learning_rate=0.001, update_slots=True, loss_scale=1.0, weight_decay=0.0):
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        self.accum = self._states("accum", accum)

    def _step(self, rate, gradients):
        for p, g, state in zip(self.parameters, gradients, self.accum):
            a = _core.add(_value(state), _f.square(g))
            _core.assign(state, a)
            _core.assign(p, _core.sub(_value(p), _core.div(_core.mul(g, rate), _f.sqrt(a))))


# Rates that change with the step

class LearningRateSchedule(Cell):
    def construct(self, global_step):
        raise NotImplementedError


class ExponentialDecayLR(LearningRateSchedule):
    def __init__(self, learning_rate, decay_rate, decay_steps, is_stair=False):
        super().__init__()
        self.rate, self.decay, self.steps, self.stair = learning_rate, decay_rate, decay_steps, is_stair

    def construct(self, global_step):
        p = _core.div(_core.convert(global_step, float32), float(self.steps))
        return _core.mul(_f.pow(self.decay, _f.floor(p) if self.stair else p), self.rate)


class CosineDecayLR(LearningRateSchedule):
    def __init__(self, min_lr, max_lr, decay_steps):
        super().__init__()
        self.low, self.high, self.steps = min_lr, max_lr, decay_steps

    def construct(self, global_step):
        import math
        p = _core.div(_f.minimum(_core.convert(global_step, float32), float(self.steps)), float(self.steps))
        return _core.add(_core.mul(_core.add(_f.cos(_core.mul(p, math.pi)), 1.0), 0.5 * (self.high - self.low)), self.low)


class PolynomialDecayLR(LearningRateSchedule):
    def __init__(self, learning_rate, end_learning_rate, decay_steps, power, update_decay_steps=False):
        super().__init__()
        self.start, self.end, self.steps, self.power = learning_rate, end_learning_rate, decay_steps, power

    def construct(self, global_step):
        p = _core.div(_f.minimum(_core.convert(global_step, float32), float(self.steps)), float(self.steps))
        return _core.add(_core.mul(_f.pow(_core.sub(1.0, p), self.power), self.start - self.end), self.end)


class WarmUpLR(LearningRateSchedule):
    def __init__(self, learning_rate, warmup_steps):
        super().__init__()
        self.rate, self.steps = learning_rate, warmup_steps

    def construct(self, global_step):
        return _core.mul(_f.minimum(_core.div(_core.convert(global_step, float32), float(self.steps)), 1.0), self.rate)


def piecewise_constant_lr(milestone, learning_rates):
    rates, at = [], 0
    for end, rate in zip(milestone, learning_rates):
        rates += [rate] * (end - at)
        at = end
    return rates


def exponential_decay_lr(learning_rate, decay_rate, total_step, step_per_epoch, decay_epoch, is_stair=False):
    result = []
    for i in range(total_step):
        e = i // step_per_epoch
        result.append(learning_rate * decay_rate ** (e // decay_epoch if is_stair else e / decay_epoch))
    return result


def cosine_decay_lr(min_lr, max_lr, total_step, step_per_epoch, decay_epoch):
    import math
    return [min_lr + 0.5 * (max_lr - min_lr) * (1 + math.cos(math.pi * min(i // step_per_epoch, decay_epoch) / decay_epoch))
            for i in range(total_step)]


def warmup_lr(learning_rate, total_step, step_per_epoch, warmup_epoch):
    return [learning_rate * min(i // step_per_epoch, warmup_epoch) / warmup_epoch for i in range(total_step)]


__all__ = ["Optimizer", "SGD", "Momentum", "Adam", "AdamWeightDecay", "RMSProp", "Adagrad", "LearningRateSchedule", "ExponentialDecayLR",
           "CosineDecayLR", "PolynomialDecayLR", "WarmUpLR", "piecewise_constant_lr", "exponential_decay_lr", "cosine_decay_lr", "warmup_lr"]
