# SPDX-License-Identifier: Apache-2.0
"""Model: a network with its loss, optimizer and metrics, trained over a dataset."""
import os
from mindspore._core import Tensor
from mindspore._text import only as _only
from mindspore.nn.cell import Cell
from mindspore.train.callback import CallbackList, RunContext, _Params
from mindspore.train.metrics import get_metrics, Loss


_PRECISION = ("loss_scale_manager", "keep_batchnorm_fp32")


class Model:
    def __init__(self, network, loss_fn=None, optimizer=None, metrics=None, eval_network=None, eval_indexes=None, amp_level="O0",
                 boost_level="O0", **options):
        if not isinstance(network, Cell):
            raise TypeError(f"For 'Model', the argument 'network' must be a Cell, but got {type(network)}.")
        if metrics is not None and loss_fn is None and eval_network is None:
            raise ValueError("For Model.init, if 'metrics' is given, 'loss_fn' or 'eval_network' is needed.")
        self._network, self._loss_fn, self._optimizer = network, loss_fn, optimizer
        self._metric_fns, self._eval_network, self._eval_indexes = get_metrics(metrics), eval_network, eval_indexes
        self._scale, self._amp_level = options.get("loss_scale_manager"), amp_level
        self._check(options)
        self._train_network = self._built(boost_level, {n: options[n] for n in _PRECISION if n in options})

    def _check(self, options):
        if self._optimizer is None and self._amp_level != "O0":
            raise ValueError("Auto mixed precision will not work because 'optimizer' is None.Please set amp_level='O0' to disable auto mixed "
                             "precision or set 'optimizer' not be None to use auto mixed precision.")
        for name in options:
            if name not in (*_PRECISION, "boost_config_dict", "acc_level"):
                raise ValueError("The argument in 'kwargs' should be 'loss_scale_manager' or 'keep_batchnorm_fp32' or 'boost_config_dict' or "
                                 f"'acc_level', but got '{name}'.")
        if self._scale is not None and self._optimizer is None:
            raise ValueError("The argument 'optimizer' can not be None when set 'loss_scale_manager'.")

    def _built(self, boost_level, settings):
        from mindspore.nn.wrap import WithLossCell
        from mindspore.train.amp import build_train_network
        if self._optimizer is not None:
            return build_train_network(self._network, self._optimizer, self._loss_fn, self._amp_level, boost_level, **settings)
        return self._network if self._loss_fn is None else WithLossCell(self._network, self._loss_fn)

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
                         mode="train", loss_fn=self._loss_fn, loss_scale_mananger=self._scale, optimizer=self._optimizer, parallel_mode="stand_alone", device_number=1,
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
                params.eval_results = self._evaluated(valid_dataset, callbacks)
                self._train_network.set_train(True)
            calls.fire("train", "epoch_end", context)
            if context.get_stop_requested():
                break
        calls.fire("train", "end", context)

    def _evaluated(self, dataset, callbacks):
        """The metrics by their names, and the loss, which a callback may wait for."""
        own, self._metric_fns = self._metric_fns, dict(self._metric_fns)
        if self._loss_fn is not None and self._eval_network is None:
            self._metric_fns["eval_loss"] = Loss()
        try:
            return dict(self.eval(dataset, callbacks))
        finally:
            self._metric_fns = own

    # Evaluation

    def eval(self, valid_dataset, callbacks=None, dataset_sink_mode=False):
        from mindspore.nn.wrap import WithEvalCell
        if not self._metric_fns:
            raise ValueError("For Model.eval, the model argument 'metrics' can not be None or empty, you should set the argument "
                             "'metrics' for model.")
        network = self._eval_network or WithEvalCell(self._network, self._loss_fn, self._amp_level in ("O2", "O3", "auto"))
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
        _only("Model.predict", backend=(backend, None), config=(config, None))
        self._network.set_train(False)
        return self._network(*predict_data)

    def build(self, train_dataset=None, valid_dataset=None, sink_size=-1, epoch=1):
        if train_dataset is not None:
            row = next(iter(train_dataset.create_tuple_iterator(num_epochs=1)))
            self._train_network.set_train(True)
            self._train_network.compile(*row)

    def infer_predict_layout(self, *data):
        return {}
