# SPDX-License-Identifier: Apache-2.0
"""Cells around networks: loss, step, evaluation."""
from mindspore import _core
from mindspore.common.parameter import ParameterTuple
from mindspore.nn.cell import Cell
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

    def construct(self, data, label):
        outputs = self._network(data)
        return self._loss_fn(outputs, label), outputs, label


class ForwardValueAndGrad(Cell):
    def __init__(self, network, weights=None, get_all=False, get_by_list=False, sens_param=False):
        super().__init__(auto_prefix=False)
        self.network, self.weights = network, weights
        self.get_all, self.get_by_list = get_all, get_by_list

    def construct(self, *inputs):
        positions = tuple(range(len(inputs))) if self.get_all else (None if self.get_by_list else 0)
        return value_and_grad(self.network, positions, self.weights if self.get_by_list else None)(*inputs)


class TrainOneStepCell(Cell):
    def __init__(self, network, optimizer, sens=1.0, return_grad=False):
        super().__init__(auto_prefix=False)
        self.network, self.optimizer, self.sens, self.return_grad = network, optimizer, sens, return_grad
        self.weights = getattr(optimizer, "parameters", None) or ParameterTuple(network.trainable_params())
        self.network.set_grad()
        self._derive = value_and_grad(self.network, None, self.weights)

    def construct(self, *inputs):
        loss, grads = self._derive(*inputs)
        if self.sens != 1.0:
            grads = tuple(_core.mul(g, self.sens) for g in grads)
        self.optimizer(grads)
        return (loss, grads) if self.return_grad else loss


class TrainOneStepWithLossScaleCell(TrainOneStepCell):
    def __init__(self, network, optimizer, scale_sense):
        super().__init__(network, optimizer)
        self.scale_sense = scale_sense


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


__all__ = ["WithLossCell", "WithEvalCell", "ForwardValueAndGrad", "TrainOneStepCell", "TrainOneStepWithLossScaleCell",
           "MicroBatchInterleaved", "ParameterUpdate"]
