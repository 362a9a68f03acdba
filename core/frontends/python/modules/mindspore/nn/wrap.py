# SPDX-License-Identifier: Apache-2.0
"""Cells around networks: loss, step, evaluation."""
import _gantry
from mindspore import _core
from mindspore._rules import hold as _hold_to_rules
from mindspore.common.parameter import Parameter, ParameterTuple
from mindspore.nn.cell import Cell
from mindspore.ops import function as _f
from mindspore.ops._plain import mixed_precision_cast
from mindspore.ops.grad import GradOperation, value_and_grad


class WithLossCell(Cell):
    def __init__(self, backbone, loss_fn):
        super().__init__(auto_prefix=False)
        self._backbone, self._loss_fn = backbone, loss_fn

    def construct(self, data, label):
        return self._loss_fn(self._backbone(data), label)

    @property
    def backbone_network(self):
        return self._backbone


class WithEvalCell(Cell):
    def __init__(self, network, loss_fn, add_cast_fp32=False):
        super().__init__(auto_prefix=False)
        self._network, self._loss_fn = network, loss_fn

        self.add_cast_fp32 = add_cast_fp32

    def construct(self, data, label):
        outputs = self._network(data)
        if self.add_cast_fp32:
            outputs, label = _core.cast(outputs, _core.float32), mixed_precision_cast(_core.float32, label)
        return self._loss_fn(outputs, label), outputs, label


class ForwardValueAndGrad(Cell):
    def __init__(self, network, weights=None, get_all=False, get_by_list=False, sens_param=False):
        super().__init__(auto_prefix=False)
        self.network, self.weights = network, weights
        self.get_all, self.get_by_list = get_all, get_by_list
        self._derive = GradOperation(get_all, get_by_list, sens_param)
        self.sens_param = sens_param

    def construct(self, *inputs):
        forward = self.network(*(inputs[:-1] if self.sens_param else inputs))
        return forward, (self._derive(self.network, self.weights) if self.get_by_list else self._derive(self.network))(*inputs)


class TrainOneStepCell(Cell):
    def __init__(self, network, optimizer, sens=None, return_grad=False):
        super().__init__(auto_prefix=False)
        if sens == 0:
            raise ValueError("The input argument of 'sens' can not be 0.")
        self.network, self.optimizer, self.sens, self.return_grad = network, optimizer, 1.0 if sens is None else sens, return_grad
        self.weights = getattr(optimizer, "parameters", None) or ParameterTuple(network.trainable_params())
        self.network.set_grad()
        self._derive = value_and_grad(self.network, None, self.weights)

    def construct(self, *inputs):
        if self.sens != 1.0:
            loss, grads = _scaled_gradients(self.network, self.weights, inputs, _core.tensor_of(self.sens, _core.float32))
        else:
            loss, grads = self._derive(*inputs)
        self.optimizer(grads)
        return (loss, {p.name: g for p, g in zip(self.weights, grads)}) if self.return_grad else loss


def _scaled(loss, scale):
    return _core.mul(loss, _core.convert(scale, loss.dtype)), loss


def _scaled_gradients(network, weights, inputs, scale):
    """The loss, and its gradients times the scale: the loss is scaled first, so that small ones are kept in half precision."""
    loss, grads = value_and_grad(lambda *given: _scaled(network(*given), scale), None, weights, has_aux=True)(*inputs)
    return loss[1], grads


def _step_unless(overflow, optimizer, grads):
    """The optimizer's step, taken back where the gradients overflowed."""
    parameters = [p for _, p in optimizer.parameters_and_names()]
    before = [_core._copied(p) for p in parameters]
    optimizer(grads)
    overflow = _core.tensor_of(overflow)
    overflow = _core.reshape(overflow if overflow.element == "bool" else _core.compare("NE", overflow, 0), ())
    for p, old in zip(parameters, before):
        _core.assign(p, _core.select(overflow, old, _gantry.parameter_value(p)))


class FixedLossScaleUpdateCell(Cell):
    """A scale of the loss that stays; it tells whether the gradients overflowed."""

    def __init__(self, loss_scale_value):
        super().__init__()
        self.loss_scale_value = loss_scale_value

    def get_loss_scale(self):
        return self.loss_scale_value

    def construct(self, loss_scale, overflow):
        return overflow


class DynamicLossScaleUpdateCell(Cell):
    """A scale of the loss that grows after @scale_window steps without overflow and shrinks with each overflow."""

    def __init__(self, loss_scale_value, scale_factor, scale_window):
        super().__init__()
        self.loss_scale_value, self.scale_factor, self.scale_window = loss_scale_value, float(scale_factor), int(scale_window)
        self.cur_iter = Parameter(_core.tensor_of(1, _core.int32), name="current_iterator_step", requires_grad=False)
        self.last_overflow_iter = Parameter(_core.tensor_of(0, _core.int32), name="last_overflow_iterator_step", requires_grad=False)

    def get_loss_scale(self):
        return self.loss_scale_value

    def construct(self, loss_scale, overflow):
        now, last = _gantry.parameter_value(self.cur_iter), _gantry.parameter_value(self.last_overflow_iter)
        scale, overflow = _gantry.parameter_value(loss_scale), _core.tensor_of(overflow)
        over = _core.reshape(_core.compare("NE", overflow, 0) if overflow.element != "bool" else overflow, ())
        grow = _core.compare("GE", _core.sub(now, last), self.scale_window)
        less = _f.maximum(_core.div(scale, self.scale_factor), 1.0)
        _core.assign(loss_scale, _core.select(over, less, _core.select(grow, _core.mul(scale, self.scale_factor), scale)))
        _core.assign(self.last_overflow_iter, _core.select(_f.logical_or(over, grow), now, last))
        _core.assign(self.cur_iter, _core.add(now, 1))
        return overflow


class TrainOneStepWithLossScaleCell(TrainOneStepCell):
    """Gives the loss, whether the gradients overflowed, and the scale; a step that overflows changes no parameter."""

    def __init__(self, network, optimizer, scale_sense):
        super().__init__(network, optimizer)
        self.loss_scaling_manager = scale_sense if isinstance(scale_sense, Cell) else None
        value = scale_sense.get_loss_scale() if isinstance(scale_sense, Cell) else scale_sense
        self.scale_sense = Parameter(_core.reshape(_core.tensor_of(value, _core.float32), ()), name="scale_sense", requires_grad=False)

    def set_sense_scale(self, sens):
        self.scale_sense.set_data(_core.reshape(_core.tensor_of(sens, _core.float32), ()))

    def construct(self, *inputs):
        scale = _gantry.parameter_value(self.scale_sense)
        loss, grads = _scaled_gradients(self.network, self.weights, inputs, scale)
        grads = tuple(_core.div(g, _core.convert(scale, g.dtype)) for g in grads)
        overflow = _f.logical_not(_f.all_finite(grads))
        # The manager sees the scale as it was; what is given is that too.
        held = _core._copied(scale)
        if self.loss_scaling_manager is not None:
            overflow = self.loss_scaling_manager(self.scale_sense, overflow)
        _step_unless(overflow, self.optimizer, grads)
        return loss, overflow, held


class MicroBatchInterleaved(Cell):
    def __init__(self, network, interleave_num=2):
        super().__init__(auto_prefix=False)
        self.network = network

    def construct(self, *inputs):
        return self.network(*inputs)


class ParameterUpdate(Cell):
    def __init__(self, param):
        super().__init__(auto_prefix=False)
        self._param = param

    def construct(self, x):
        _core.assign(self._param, x)
        return x


class GetNextSingleOp(Cell):
    pass


_hold_to_rules(globals())
__all__ = ["WithLossCell", "WithEvalCell", "ForwardValueAndGrad", "TrainOneStepCell", "TrainOneStepWithLossScaleCell",
           "FixedLossScaleUpdateCell", "DynamicLossScaleUpdateCell", "MicroBatchInterleaved", "ParameterUpdate"]
