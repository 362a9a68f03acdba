# SPDX-License-Identifier: Apache-2.0
"""Mixed precision: levels, and scales of the loss for steps that are written by hand."""
from mindspore import _core, ops
from mindspore.common.api import jit_class
from mindspore.common.parameter import Parameter
from mindspore.ops.function import all_finite
from mindspore.train.amp import (auto_mixed_precision, build_train_network, custom_mixed_precision, get_black_list, get_white_list)
from mindspore.train.loss_scale_manager import DynamicLossScaleManager, FixedLossScaleManager, LossScaleManager


def _each(function, inputs):
    return tuple(_each(function, v) for v in inputs) if isinstance(inputs, (tuple, list)) else function(inputs)


def _check_scale(value):
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(f"The argument 'scale_value' should be float or int, but got {type(value).__name__}.")
    if value < 1.0:
        raise ValueError(f"The argument 'scale_value' must be > 1, but got {value}")


def _check_positive(name, value):
    if isinstance(value, bool) or not isinstance(value, int) or value <= 0:
        raise ValueError(f"The '{name}' must be int and must > 0, but got '{value}' with type '{type(value).__name__}'.")


@jit_class
class LossScaler:
    """Scales a loss, unscales its gradients, and adjusts the scale to whether they were finite."""

    def scale(self, inputs):
        raise NotImplementedError

    def unscale(self, inputs):
        raise NotImplementedError

    def adjust(self, grads_finite):
        raise NotImplementedError


@jit_class
class StaticLossScaler(LossScaler):
    def __init__(self, scale_value):
        _check_scale(scale_value)
        self.scale_value = Parameter(_core.tensor_of(scale_value, _core.float32), name="scale_value")

    def scale(self, inputs):
        return _each(lambda x: _core.mul(x, _core.cast(self.scale_value, x.dtype)), inputs)

    def unscale(self, inputs):
        back = ops.reciprocal(self.scale_value)
        return _each(lambda x: _core.mul(x, _core.convert(back, x.dtype)), inputs)

    def adjust(self, grads_finite):
        return False


@jit_class
class DynamicLossScaler(StaticLossScaler):
    """A scale that grows after so many steps with finite gradients and shrinks after each without."""

    def __init__(self, scale_value, scale_factor, scale_window):
        super().__init__(scale_value)
        _check_positive("scale_window", scale_window)
        _check_positive("scale_factor", scale_factor)
        self.scale_window, self.scale_factor = scale_window, scale_factor
        self.counter = Parameter(_core.tensor_of(0, _core.int32), name="counter")

    def adjust(self, grads_finite):
        finite, scale, counter = _core.tensor_of(grads_finite), _core.tensor_of(self.scale_value), _core.tensor_of(self.counter)
        larger = _core.mul(scale, self.scale_factor)
        grown = _core.select(_core.bitwise("and", _core.compare("EQ", counter, self.scale_window - 1), ops.isfinite(larger)), larger, scale)
        _core.assign(self.scale_value, _core.select(finite, grown, ops.maximum(_core.div(scale, self.scale_factor), 1.0)))
        next_ = _core.floor_mod(_core.add(counter, 1), self.scale_window)
        _core.assign(self.counter, _core.mul(next_, _core.convert(finite, _core.int32)))
        return True


__all__ = ["DynamicLossScaleManager", "LossScaleManager", "FixedLossScaleManager", "build_train_network", "DynamicLossScaler",
           "StaticLossScaler", "LossScaler", "auto_mixed_precision", "all_finite", "custom_mixed_precision", "get_white_list",
           "get_black_list"]
