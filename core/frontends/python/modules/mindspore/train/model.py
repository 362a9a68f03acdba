# SPDX-License-Identifier: Apache-2.0
"""Model: a network with its loss, optimizer and metrics, trained over a dataset."""
import os
from mindspore._core import Tensor
from mindspore.nn.cell import Cell
from mindspore.train.callback import CallbackList, RunContext, _Params
from mindspore.train.metrics import get_metrics, Loss


def _amp(network, level):
    if level in ("O2", "O3"):
        from mindspore._core import float16
        network.to_float(float16)


class Model:
    def __init__(self, network, loss_fn=None, optimizer=None, metrics=None, eval_network=None, eval_indexes=None, amp_level="O0",
                 boost_level="O0", **options):
        if not isinstance(network, Cell):
            raise TypeError(f"For 'Model', the argument 'network' must be a Cell, but got {type(network)}.")
        if metrics is not None and loss_fn is None and eval_network is None:
            raise ValueError("For Model.init, if 'metrics' is given, 'loss_fn' or 'eval_network' is needed.")
        self._network, self._loss_fn, self._optimizer = network, loss_fn, optimizer
        self._metric_fns, self._eval_network, self._eval_indexes = get_metrics(metrics), eval_network, eval_indexes
        self._scale = options.get("loss_scale_manager")
        self._train_network = self._built()

    def _built(self):
        from mindspore.nn.wrap import WithLossCell, TrainOneStepCell
        network = self._network
        if self._loss_fn is not None:
            network = WithLossCell(network, self._loss_fn)
        if self._optimizer is not None:
            network = TrainOneStepCell(network, self._optimizer)
        return network

    train_network = property(lambda self: self._train_network)
    predict_network = property(lambda self: self._network)

    @property
    def eval_network(self):
        return self._eval_network

    # Training

    def train(self, epoch, train_dataset, callbacks=None, dataset_sink_mode=False, sink_size=-1, initial_epoch=0):
        if isinstance(epoch, bool) or not isinstance(epoch, int) or epoch < 1:
            raise ValueError(f"For 'Model.train', the argument 'epoch' must be a positive int, but got {epoch}.")
        self._train(epoch, train_dataset, callbacks, initial_epoch, None, 1)

    def fit(self, epoch, train_dataset, valid_dataset=None, valid_frequency=1, callbacks=None, dataset_sink_mode=False,
            valid_dataset_sink_mode=False, sink_size=-1, initial_epoch=0):
        self._train(epoch, train_dataset, callbacks, initial_epoch, valid_dataset, valid_frequency)

    def _train(self, epochs, dataset, callbacks, initial_epoch, valid_dataset, valid_frequency):
        self._train_network.set_train(True)
        params = _Params(train_network=self._train_network, network=self._network, epoch_num=epochs, batch_num=dataset.get_dataset_size(),
                         mode="train", loss_fn=self._loss_fn, optimizer=self._optimizer, parallel_mode="stand_alone", device_number=1,
                         train_dataset=dataset, list_callback=callbacks, cur_step_num=0, dataset_sink_mode=False, cur_epoch_num=0)
        calls, context = CallbackList(callbacks), RunContext(params)
        params.eval_results = {}
        calls.fire("train", "begin", context)
        for epoch in range(initial_epoch, epochs):
            params.cur_epoch_num = epoch + 1
            calls.fire("train", "epoch_begin", context)
            for row in dataset.create_tuple_iterator(num_epochs=1):
                params.cur_step_num += 1
                params.train_dataset_element = row
                calls.fire("train", "step_begin", context)
                params.net_outputs = self._train_network(*row)
                calls.fire("train", "step_end", context)
                if context.get_stop_requested():
                    break
            if valid_dataset is not None and (epoch + 1) % valid_frequency == 0:
                params.eval_results = {f"eval_{n}": v for n, v in self.eval(valid_dataset, callbacks).items()}
                self._train_network.set_train(True)
            calls.fire("train", "epoch_end", context)
            if context.get_stop_requested():
                break
        calls.fire("train", "end", context)

    # Evaluation

    def eval(self, valid_dataset, callbacks=None, dataset_sink_mode=False):
        from mindspore.nn.wrap import WithEvalCell
        if not self._metric_fns:
            raise ValueError("For Model.eval, the model argument 'metrics' can not be None or empty, you should set the argument "
                             "'metrics' for model.")
        network = self._eval_network or WithEvalCell(self._network, self._loss_fn)
        network.set_train(False)
        for metric in self._metric_fns.values():
            metric.clear()
        params = _Params(eval_network=network, network=self._network, batch_num=valid_dataset.get_dataset_size(), mode="eval",
                         cur_step_num=0, cur_epoch_num=1, metrics={}, list_callback=callbacks)
        calls, context = CallbackList(callbacks), RunContext(params)
        calls.fire("eval", "begin", context)
        calls.fire("eval", "epoch_begin", context)
        for row in valid_dataset.create_tuple_iterator(num_epochs=1):
            params.cur_step_num += 1
            calls.fire("eval", "step_begin", context)
            params.net_outputs = outputs = network(*row)
            calls.fire("eval", "step_end", context)
            for metric in self._metric_fns.values():
                self._measure(metric, outputs)
        params.metrics = params.eval_results = {name: metric.eval() for name, metric in self._metric_fns.items()}
        calls.fire("eval", "epoch_end", context)
        calls.fire("eval", "end", context)
        return params.metrics

    def _measure(self, metric, outputs):
        if self._eval_network is not None and self._eval_indexes is None:
            metric.update(*outputs)
        elif isinstance(metric, Loss):
            metric.update(outputs[self._eval_indexes[0] if self._eval_indexes else 0])
        else:
            at = self._eval_indexes or (0, 1, 2)
            metric.update(outputs[at[1]], outputs[at[2]])

    def predict(self, *predict_data, backend=None, config=None):
        self._network.set_train(False)
        return self._network(*predict_data)

    def build(self, train_dataset=None, valid_dataset=None, sink_size=-1, epoch=1):
        if train_dataset is not None:
            row = next(iter(train_dataset.create_tuple_iterator(num_epochs=1)))
            self._train_network.set_train(True)
            self._train_network.compile(*row)

    def infer_predict_layout(self, *data):
        return {}
