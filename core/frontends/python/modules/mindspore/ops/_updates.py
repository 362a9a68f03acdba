# SPDX-License-Identifier: Apache-2.0
"""Rules by which optimizers change a parameter and its states, for those that Apply... primitives and Cells of nn share. Each takes
Parameters and assigns them; what it gives is what it assigned."""
import _gantry
from mindspore import _core
from mindspore._core import add, sub, mul, div
from mindspore.ops import _elementwise as _e, _reduction as _r


def _now(parameter):
    return _gantry.parameter_value(parameter)


def _assigned(*pairs):
    for parameter, value in pairs:
        _core.assign(parameter, value)
    return tuple(value for _, value in pairs) if len(pairs) > 1 else pairs[0][1]


def _mixed(before, keep, new):
    """keep * before + (1 - keep) * new"""
    return add(mul(before, keep), mul(new, sub(1.0, keep)))


def adadelta(var, accum, accum_update, lr, rho, epsilon, grad):
    a, before = _mixed(_now(accum), rho, _e.square(grad)), _now(accum_update)
    step = mul(div(_e.sqrt(add(before, epsilon)), _e.sqrt(add(a, epsilon))), grad)
    return _assigned((var, sub(_now(var), mul(step, lr))), (accum, a), (accum_update, _mixed(before, rho, _e.square(step))))


def ada_max(var, m, v, beta1_power, lr, beta1, beta2, epsilon, grad):
    m1, v1 = _mixed(_now(m), beta1, grad), _e.maximum(mul(_now(v), beta2), _e.abs(grad))
    step = mul(div(lr, sub(1.0, beta1_power)), div(m1, add(v1, epsilon)))
    return _assigned((var, sub(_now(var), step)), (m, m1), (v, v1))


def adagrad(var, accum, lr, grad, update_slots=True):
    a = add(_now(accum), _e.square(grad)) if update_slots else _now(accum)
    return _assigned((var, sub(_now(var), div(mul(grad, lr), _e.sqrt(a)))), (accum, a))


def ftrl(var, accum, linear, grad, lr, l1, l2, lr_power):
    w, a = _now(var), _now(accum)
    a1 = add(a, _e.square(grad))
    power, power1 = _e.pow(a, -lr_power), _e.pow(a1, -lr_power)
    z = sub(add(_now(linear), grad), mul(div(sub(power1, power), lr), w))
    w1 = div(sub(mul(_e.sign(z), l1), z), add(div(power1, lr), mul(2.0, l2)))
    w1 = _core.select(_core.compare("GT", _e.abs(z), l1), w1, 0.0)
    return _assigned((var, w1), (accum, a1), (linear, z))


def _shrunk(value, rate, l1, l2):
    """The proximal step of l1 and l2."""
    small = _e.maximum(sub(_e.abs(value), mul(rate, l1)), 0.0)
    return div(mul(_e.sign(value), small), add(1.0, mul(rate, l2)))


def gradient_descent(var, alpha, delta):
    return _assigned((var, sub(_now(var), mul(delta, alpha))))


def proximal_gradient_descent(var, alpha, l1, l2, delta):
    return _assigned((var, _shrunk(sub(_now(var), mul(delta, alpha)), alpha, l1, l2)))


def proximal_adagrad(var, accum, lr, l1, l2, grad):
    a = add(_now(accum), _e.square(grad))
    rate = div(lr, _e.sqrt(a))
    return _assigned((var, _shrunk(sub(_now(var), mul(grad, rate)), rate, l1, l2)), (accum, a))


def rms_prop(var, mean_square, moment, lr, grad, decay, momentum, epsilon, mean_gradient=None):
    s = _mixed(_now(mean_square), decay, _e.square(grad))
    spread, pairs = s, []
    if mean_gradient is not None:
        g = _mixed(_now(mean_gradient), decay, grad)
        spread, pairs = sub(s, _e.square(g)), [(mean_gradient, g)]
    m = add(mul(_now(moment), momentum), div(mul(grad, lr), _e.sqrt(add(spread, epsilon))))
    return _assigned((var, sub(_now(var), m)), (mean_square, s), (moment, m), *pairs)[0]


def lamb(var, m, v, lr, beta1, beta2, epsilon, decay, step, grad):
    """You and others, Large batch optimization for deep learning, 2020. @step counts from 1."""
    m1, v1 = _mixed(_now(m), beta1, grad), _mixed(_now(v), beta2, _e.square(grad))
    w = _now(var)
    ratio = div(div(m1, sub(1.0, _e.pow(beta1, step))), add(_e.sqrt(div(v1, sub(1.0, _e.pow(beta2, step)))), epsilon))
    ratio = add(ratio, mul(w, decay))
    norms = _e.sqrt(_r.sum(_e.square(w))), _e.sqrt(_r.sum(_e.square(ratio)))
    both = _e.logical_and(_core.compare("GT", norms[0], 0.0), _core.compare("GT", norms[1], 0.0))
    trust = _core.select(both, div(norms[0], _core.select(both, norms[1], 1.0)), 1.0)
    return _assigned((var, sub(w, mul(ratio, mul(trust, lr)))), (m, m1), (v, v1))


def lars(weight, gradient, decay, lr, epsilon, coefficient, use_clip):
    """The gradient as layer-wise adaptive rates scale it: You and others, Large batch training of convolutional networks, 2017."""
    w, g = _e.sqrt(_r.sum(_e.square(weight))), _e.sqrt(_r.sum(_e.square(gradient)))
    both = _e.logical_and(_core.compare("GT", w, 0.0), _core.compare("GT", g, 0.0))
    trust = div(mul(w, coefficient), add(add(g, mul(w, decay)), epsilon))
    if use_clip:
        trust = _e.minimum(div(trust, lr), 1.0)
    return mul(add(gradient, mul(weight, decay)), _core.select(both, trust, 1.0))
