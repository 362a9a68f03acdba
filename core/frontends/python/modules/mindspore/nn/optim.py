# SPDX-License-Identifier: Apache-2.0
"""Optimizers: Cells that take the gradients and change the parameters."""
import _gantry
from mindspore import _core
from mindspore._core import Tensor, float32, int32
from mindspore.common.parameter import Parameter, ParameterTuple
from mindspore.nn.cell import Cell
from mindspore.ops import _updates, function as _f
from mindspore._rules import hold as _hold_to_rules


def _value(parameter):
    return _gantry.parameter_value(parameter)


class Optimizer(Cell):
    _computes_in = property(lambda self: "")  # Parameters are updated in the type that they are stored in.

    def __init__(self, learning_rate, parameters, weight_decay=0.0, loss_scale=1.0):
        super().__init__(auto_prefix=False)
        parameters = list(parameters)
        if not parameters:
            raise ValueError("For 'Optimizer', the argument 'parameters' must not be empty.")
        self.is_group = any(isinstance(p, dict) for p in parameters)
        found, decays, rates = _grouped(parameters, weight_decay) if self.is_group else (parameters, {}, {})
        if not all(isinstance(p, Parameter) for p in found):
            raise TypeError("For 'Optimizer', all elements of the argument 'parameters' must be 'Parameter' or 'dict'.")
        self.dynamic_lr = not isinstance(learning_rate, (int, float))
        self._rate = _rate_source(learning_rate)
        self.global_step = Parameter(_core.full((1,), 0, int32), name="global_step", requires_grad=False)
        self.learning_rate = self._number(float(learning_rate) if isinstance(self._rate, float) else 0.0, "learning_rate")
        self.parameters = self._parameters = ParameterTuple(found)
        self.weight_decay = weight_decay
        # Parameters that stand in no group decay by their name: biases and scales of normalizations do not.
        self._decays = [decays[id(p)] if self.is_group else weight_decay if _decays_by_name(p) else 0.0 for p in found]
        self.loss_scale = loss_scale
        self._own_rates = [rates.get(id(p)) for p in found]
        self.enable_tuple_broaden = True  # the gradients are variables, though they come as a tuple

    def _states(self, prefix, value="zeros"):
        return ParameterTuple([Parameter(_core.full(p.shape, 0 if value == "zeros" else value, p.dtype), name=f"{prefix}.{p.name}",
                                         requires_grad=False) for p in self.parameters])

    @staticmethod
    def _number(value, name):
        return Parameter(_core.tensor_of(value, float32), name=name, requires_grad=False)

    def get_lr(self):
        """The rate of what has no rate of its own; the step is counted."""
        rate = _value(self.learning_rate) if isinstance(self._rate, float) else self._at_step(self._rate)
        _core.assign(self.global_step, _core.add(_value(self.global_step), 1))
        return rate

    def _at_step(self, source):
        """A number, a table by steps, or what a Cell makes of the step."""
        if isinstance(source, float):
            return _core.tensor_of(source, float32)
        step = _core.reshape(_value(self.global_step), ())
        if isinstance(source, Cell):
            return source(step)
        from mindspore import _index
        return _index.take_row(source, _f.minimum(step, source.shape[0] - 1))

    def get_lr_parameter(self, param):
        """The rate of a parameter, or those of a list of parameters: a Parameter, or the Cell that makes it of the step."""
        if isinstance(param, list):
            return [self.get_lr_parameter(p) for p in param]
        if not isinstance(param, Parameter):
            raise TypeError(f"For 'get_lr_parameter', the 'param' must be 'Parameter' or 'list' type, but got {type(param)}.")
        own = next((i for i, p in enumerate(self.parameters) if p is param), None)
        if own is None:
            raise ValueError(f"For 'get_lr_parameter', the parameter {param.name} is not in optimizer, please check whether the argument "
                             "'param' is correct.")
        source = self._rate if self._own_rates[own] is None else self._own_rates[own]
        if isinstance(source, Cell):
            return source
        if self._own_rates[own] is None:
            return self.learning_rate
        return Parameter(_core.tensor_of(source, float32), name="learning_rate", requires_grad=False)

    def get_weight_decay(self):
        return self._decay_of(self.weight_decay)

    def _decay_of(self, decay):
        return self._at_step(decay) if isinstance(decay, Cell) else decay

    # What optimizers of a program's own call

    target, unique = "CPU", True

    def flatten_gradients(self, gradients):
        return gradients

    def gradients_centralization(self, gradients):
        return gradients

    def scale_grad(self, gradients):
        return gradients if self.loss_scale == 1.0 else tuple(_core.mul(g, 1.0 / self.loss_scale) for g in gradients)

    def decay_weight(self, gradients):
        return tuple(_core.add(g, _core.mul(_value(p), self._decay_of(decay))) if isinstance(decay, Cell) or decay else g
                     for p, g, decay in zip(self.parameters, gradients, self._decays))

    def _prepared(self, gradients):
        result = []
        for p, g, decay in zip(self.parameters, gradients, self._decays):
            g = _core.convert(g, p.dtype)
            if self.loss_scale != 1.0:
                g = _core.mul(g, 1.0 / self.loss_scale)
            if isinstance(decay, Cell) or decay:
                g = _core.add(g, _core.mul(_value(p), self._decay_of(decay)))
            result.append(g)
        return result

    def _step(self, rates, gradients):
        """@rates: one for each parameter."""
        raise NotImplementedError

    def construct(self, gradients):
        gradients = self._prepared(gradients)
        own = [None if source is None else self._at_step(source) for source in self._own_rates]
        rate = self.get_lr()
        self._step([rate if r is None else r for r in own], gradients)
        return True


def _decays_by_name(parameter):
    return "beta" not in parameter.name and "gamma" not in parameter.name


def _grouped(groups, weight_decay):
    """The parameters of groups, and by their id what each decays by and the rates of groups that have their own."""
    found, decays, rates, order = [], {}, {}, None
    for group in groups:
        if not isinstance(group, dict):
            raise TypeError("For 'Optimizer', all elements of the argument 'parameters' must be 'dict' where one is.")
        for key in group:
            if key not in ("params", "weight_decay", "lr", "order_params"):
                raise NotImplementedError(f"For 'Optimizer', the key '{key}' of a group of parameters is not supported")
        if "order_params" in group:
            order = list(group["order_params"])
            continue
        rate = _rate_source(group["lr"]) if "lr" in group else None
        for p in group["params"]:
            if id(p) in decays:
                raise RuntimeError(f"The parameter '{p.name}' stands in more than one group.")
            found.append(p)
            decays[id(p)] = group.get("weight_decay", weight_decay)
            if rate is not None:
                rates[id(p)] = rate
    if order is not None:
        if {id(p) for p in order} != set(decays):
            raise ValueError("For 'Optimizer', 'order_params' must hold the parameters of the groups.")
        found = order
    return found, decays, rates


def _rate_source(rate):
    """A float, a table of rates by steps, or a Cell that makes one of the step."""
    if isinstance(rate, Cell):
        return rate
    if isinstance(rate, (list, tuple)) or isinstance(rate, Tensor) and rate.ndim == 1:
        return _core.tensor_of(rate, float32)
    return float(rate)


class SGD(Optimizer):
    def __init__(self, params, learning_rate=0.1, momentum=0.0, dampening=0.0, weight_decay=0.0, nesterov=False, loss_scale=1.0):
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        self._moves, self.dampening, self.nesterov = float(momentum) != 0.0, dampening, nesterov
        self.momentum = self._number(momentum, "momentum")
        self.accum = self._states("accum") if self._moves else ()
        # 1 before the first step, which is not damped: 0 is written though nothing is damped here, for what reads the checkpoint.
        self.stat = self._states("stat", 1) if self._moves else ()

    def _damped(self, g, i):
        first = _value(self.stat[i])  # the Parameter itself where no graph is built: read before it is assigned
        damped = _core.mul(g, _core.sub(1.0, _core.mul(_core.sub(1.0, first), self.dampening))) if self.dampening else g
        _core.assign(self.stat[i], _core.full(first.shape, 0, first.dtype))
        return damped

    def _step(self, rates, gradients):
        for i, (p, g, rate) in enumerate(zip(self.parameters, gradients, rates)):
            if self._moves:
                momentum = _core.convert(_value(self.momentum), g.dtype)
                m = _core.add(_core.mul(_value(self.accum[i]), momentum), self._damped(g, i))
                _core.assign(self.accum[i], m)
                g = _core.add(g, _core.mul(m, momentum)) if self.nesterov else m
            _core.assign(p, _core.sub(_value(p), _core.mul(g, rate)))


class Momentum(Optimizer):
    def __init__(self, params, learning_rate, momentum, weight_decay=0.0, loss_scale=1.0, use_nesterov=False):
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        if isinstance(momentum, float) and momentum < 0.0:
            raise ValueError(f"For 'Momentum', the argument 'momentum' must be at least 0.0, but got {momentum}.")
        self.momentum, self.use_nesterov = self._number(momentum, "momentum"), use_nesterov
        self.moments = self._states("moments")

    def _step(self, rates, gradients):
        for p, g, state, rate in zip(self.parameters, gradients, self.moments, rates):
            momentum = _core.convert(_value(self.momentum), g.dtype)
            m = _core.add(_core.mul(_value(state), momentum), g)
            _core.assign(state, m)
            step = _core.add(g, _core.mul(m, momentum)) if self.use_nesterov else m
            _core.assign(p, _core.sub(_value(p), _core.mul(step, rate)))


class Adam(Optimizer):
    _decoupled = False

    def __init__(self, params, learning_rate=1e-3, beta1=0.9, beta2=0.999, eps=1e-8, use_locking=False, use_nesterov=False,
                 weight_decay=0.0, loss_scale=1.0, use_amsgrad=False, **kwargs):
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        if not {"use_lazy", "use_offload"}.issuperset(kwargs):
            raise KeyError("For 'Adam', invalid keys are passed as kwargs, supported keys are 'use_lazy' and'use_offload', "
                           f"but got {kwargs.keys()}.")
        if kwargs.get("use_lazy") or kwargs.get("use_offload"):
            raise NotImplementedError("For 'Adam', 'use_lazy' and 'use_offload' are not supported")
        self.beta1, self.beta2, self.eps, self.use_nesterov = beta1, beta2, eps, use_nesterov
        self.beta1_power, self.beta2_power = self._number(1.0, "beta1_power"), self._number(1.0, "beta2_power")
        self.moment1, self.moment2 = self._states("moment1"), self._states("moment2")
        self.vhat = self._states("vhat") if use_amsgrad else ()

    def _step(self, rates, gradients):
        b1, b2 = _core.mul(_value(self.beta1_power), self.beta1), _core.mul(_value(self.beta2_power), self.beta2)
        _core.assign(self.beta1_power, b1)
        _core.assign(self.beta2_power, b2)
        correction = _core.div(_f.sqrt(_core.sub(1.0, b2)), _core.sub(1.0, b1))
        for i, (p, g, s1, s2, rate) in enumerate(zip(self.parameters, gradients, self.moment1, self.moment2, rates)):
            m = _core.add(_core.mul(_value(s1), self.beta1), _core.mul(g, 1 - self.beta1))
            v = _core.add(_core.mul(_value(s2), self.beta2), _core.mul(_f.square(g), 1 - self.beta2))
            _core.assign(s1, m)
            _core.assign(s2, v)
            if self.vhat:
                v = _f.maximum(_value(self.vhat[i]), v)
                _core.assign(self.vhat[i], v)
            if self.use_nesterov:
                m = _core.add(_core.mul(m, self.beta1), _core.mul(g, 1 - self.beta1))
            step = _core.div(_core.mul(m, _core.mul(rate, correction)), _core.add(_f.sqrt(v), self.eps))
            _core.assign(p, _core.sub(_value(p), step))


class AdamWeightDecay(Optimizer):
    def __init__(self, params, learning_rate=1e-3, beta1=0.9, beta2=0.999, eps=1e-6, weight_decay=0.0):
        super().__init__(learning_rate, params, weight_decay)
        self.beta1, self.beta2, self.eps = beta1, beta2, eps
        self.moments1, self.moments2 = self._states("adam_m"), self._states("adam_v")

    def _prepared(self, gradients):
        return [_core.convert(g, p.dtype) for p, g in zip(self.parameters, gradients)]

    def _step(self, rates, gradients):
        for p, g, s1, s2, decay, rate in zip(self.parameters, gradients, self.moments1, self.moments2, self._decays, rates):
            m = _core.add(_core.mul(_value(s1), self.beta1), _core.mul(g, 1 - self.beta1))
            v = _core.add(_core.mul(_value(s2), self.beta2), _core.mul(_f.square(g), 1 - self.beta2))
            _core.assign(s1, m)
            _core.assign(s2, v)
            step = _core.div(m, _core.add(_f.sqrt(v), self.eps))
            if isinstance(decay, Cell) or decay:
                step = _core.add(step, _core.mul(_value(p), self._decay_of(decay)))
            _core.assign(p, _core.sub(_value(p), _core.mul(step, rate)))


class RMSProp(Optimizer):
    def __init__(self, params, learning_rate=0.1, decay=0.9, momentum=0.0, epsilon=1e-10, use_locking=False, centered=False,
                 loss_scale=1.0, weight_decay=0.0):
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        self.decay, self.momentum, self.epsilon, self.centered = decay, momentum, epsilon, centered
        self.mg = self._states("mean_grad") if centered else (None,) * len(self.parameters)
        self.ms, self.moment = self._states("mean_square", 1), self._states("moment")

    def _step(self, rates, gradients):
        for p, g, ms, mom, mg, rate in zip(self.parameters, gradients, self.ms, self.moment, self.mg, rates):
            _updates.rms_prop(p, ms, mom, rate, g, self.decay, self.momentum, self.epsilon, mg)


class Adagrad(Optimizer):
    def __init__(self, params, accum=0.1, learning_rate=0.001, update_slots=True, loss_scale=1.0, weight_decay=0.0):
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        self.update_slots = update_slots
        self.accum = self._states("accum", accum)

    def _step(self, rates, gradients):
        for p, g, state, rate in zip(self.parameters, gradients, self.accum, rates):
            _updates.adagrad(p, state, rate, g, self.update_slots)


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
        self.update_decay_steps = update_decay_steps
        self.start, self.end, self.steps, self.power = learning_rate, end_learning_rate, decay_steps, power

    def construct(self, global_step):
        step, steps = _core.convert(global_step, float32), float(self.steps)
        if self.update_decay_steps:
            steps = _core.mul(_f.maximum(_f.ceil(_core.div(step, steps)), 1.0), steps)
        p = _core.div(_f.minimum(step, steps), steps)
        return _core.add(_core.mul(_f.pow(_core.sub(1.0, p), self.power), self.start - self.end), self.end)


class WarmUpLR(LearningRateSchedule):
    def __init__(self, learning_rate, warmup_steps):
        super().__init__()
        self.rate, self.steps = learning_rate, warmup_steps

    def construct(self, global_step):
        return _core.mul(_f.minimum(_core.div(_core.convert(global_step, float32), float(self.steps)), 1.0), self.rate)


class NaturalExpDecayLR(LearningRateSchedule):
    def __init__(self, learning_rate, decay_rate, decay_steps, is_stair=False):
        super().__init__()
        self.rate, self.decay, self.steps, self.stair = learning_rate, decay_rate, decay_steps, is_stair

    def construct(self, global_step):
        p = _core.convert(global_step, float32)
        if self.stair:
            p = _core.mul(_f.floor(_core.div(p, float(self.steps))), float(self.steps))
        return _core.mul(_f.exp(_core.mul(p, -self.decay)), self.rate)


class InverseDecayLR(NaturalExpDecayLR):
    def construct(self, global_step):
        p = _core.div(_core.convert(global_step, float32), float(self.steps))
        return _core.div(self.rate, _core.add(1.0, _core.mul(_f.floor(p) if self.stair else p, self.decay)))


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


def natural_exp_decay_lr(learning_rate, decay_rate, total_step, step_per_epoch, decay_epoch, is_stair=False):
    import math
    epochs = [i // step_per_epoch for i in range(total_step)]
    return [learning_rate * math.exp(-decay_rate * (e // decay_epoch * decay_epoch if is_stair else e)) for e in epochs]


def inverse_decay_lr(learning_rate, decay_rate, total_step, step_per_epoch, decay_epoch, is_stair=False):
    import math
    epochs = [i // step_per_epoch / decay_epoch for i in range(total_step)]
    return [learning_rate / (1 + decay_rate * (math.floor(e) if is_stair else e)) for e in epochs]


def polynomial_decay_lr(learning_rate, end_learning_rate, total_step, step_per_epoch, decay_epoch, power, update_decay_epoch=False):
    import math
    result = []
    for i in range(total_step):
        epoch, last = i // step_per_epoch, decay_epoch
        if update_decay_epoch:
            last = decay_epoch * math.ceil(epoch / decay_epoch) if epoch else decay_epoch
        result.append((learning_rate - end_learning_rate) * (1 - min(epoch, last) / last) ** power + end_learning_rate)
    return result


_hold_to_rules(globals())
__all__ = ["Optimizer", "SGD", "Momentum", "Adam", "AdamWeightDecay", "RMSProp", "Adagrad", "LearningRateSchedule", "ExponentialDecayLR",
           "CosineDecayLR", "PolynomialDecayLR", "WarmUpLR", "piecewise_constant_lr", "exponential_decay_lr", "cosine_decay_lr", "warmup_lr",
           "NaturalExpDecayLR", "InverseDecayLR", "natural_exp_decay_lr", "inverse_decay_lr", "polynomial_decay_lr"]
