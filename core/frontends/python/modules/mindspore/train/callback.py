# SPDX-License-Identifier: Apache-2.0
"""Callbacks of Model.train."""
import os
import time
import numpy as np
from mindspore._core import Tensor
from mindspore._text import only as _only


class RunContext:
    def __init__(self, original_args):
        if not isinstance(original_args, dict):
            raise TypeError(f"The argument 'original_args' of RunContext should be dict type, but got {type(original_args)}.")
        self._args = original_args
        self._stop = False

    def original_args(self):
        return self._args

    def request_stop(self):
        self._stop = True

    def get_stop_requested(self):
        return self._stop


class _Params(dict):
    def __getattr__(self, name):
        return self.get(name)

    def __setattr__(self, name, value):
        self[name] = value


_MOMENTS = ("begin", "epoch_begin", "epoch_end", "step_begin", "step_end", "end")


class Callback:
    """What is called at the moments of training and evaluation; on_train_X and on_eval_X call X unless they are overridden."""

    def __enter__(self):
        return self

    def __exit__(self, *error):
        return None

    def begin(self, run_context):
        pass

    epoch_begin = epoch_end = step_begin = step_end = end = begin


def _forward(moment):
    def call(self, run_context):
        return getattr(self, moment)(run_context)
    return call


for _moment in _MOMENTS:
    for _phase in ("train", "eval"):
        setattr(Callback, f"on_{_phase}_{_moment}", _forward(_moment))


class CallbackList:
    def __init__(self, callbacks):
        if callbacks is None:
            callbacks = []
        self.callbacks = list(callbacks) if isinstance(callbacks, (list, tuple)) else [callbacks]
        for callback in self.callbacks:
            if not isinstance(callback, Callback):
                raise TypeError(f"When the 'callbacks' is a list, all elements in it must be Callback functions, but got "
                                f"{type(callback)}.")

    def fire(self, phase, moment, context):
        for callback in self.callbacks:
            getattr(callback, f"on_{phase}_{moment}")(context)


def _loss_value(outputs):
    loss = outputs[0] if isinstance(outputs, (tuple, list)) and outputs else outputs
    if isinstance(loss, Tensor):
        return float(np.mean(loss.asnumpy()))
    return loss


class LossMonitor(Callback):
    """Prints the loss of every per_print_times-th step."""

    def __init__(self, per_print_times=1):
        if not isinstance(per_print_times, int) or per_print_times < 0:
            raise ValueError(f"The argument 'per_print_times' must be int and >= 0, but got {per_print_times}")
        self._every = per_print_times

    def step_end(self, run_context):
        params = run_context.original_args()
        loss = _loss_value(params.net_outputs)
        step = (params.cur_step_num - 1) % params.batch_num + 1
        if isinstance(loss, float) and (np.isnan(loss) or np.isinf(loss)):
            raise ValueError(f"In epoch: {params.cur_epoch_num} step: {step}, loss is NAN or INF, training process cannot continue, "
                             "terminating training.")
        if self._every and params.cur_step_num % self._every == 0:
            print(f"epoch: {params.cur_epoch_num} step: {step}, loss is {loss}", flush=True)


class TimeMonitor(Callback):
    def __init__(self, data_size=None, data_time=False):
        _only("TimeMonitor", data_time=(data_time, False))
        self.data_size = data_size

    def epoch_begin(self, run_context):
        self._start = time.time()

    def epoch_end(self, run_context):
        params = run_context.original_args()
        elapsed = (time.time() - self._start) * 1000
        steps = self.data_size or params.batch_num or 1
        print(f"{'Train' if params.mode == 'train' else 'Eval'} epoch time: {elapsed:5.3f} ms, per step time: {elapsed / steps:5.3f} ms",
              flush=True)


class CheckpointConfig:
    def __init__(self, save_checkpoint_steps=1, save_checkpoint_seconds=0, keep_checkpoint_max=5, keep_checkpoint_per_n_minutes=0,
                 integrated_save=True, async_save=False, saved_network=None, append_info=None, enc_key=None, enc_mode="AES-GCM",
                 exception_save=False, **options):
        _only("CheckpointConfig", enc_key=(enc_key, None), exception_save=(exception_save, False),
              **{n: (v, {"format": "ckpt", "crc_check": False, "remove_redundancy": False}.get(n)) for n, v in options.items()})
        self.save_checkpoint_steps, self.save_checkpoint_seconds = save_checkpoint_steps, save_checkpoint_seconds
        self.keep_checkpoint_max, self.keep_checkpoint_per_n_minutes = keep_checkpoint_max, keep_checkpoint_per_n_minutes
        self.saved_network, self.append_info = saved_network, append_info or []


class ModelCheckpoint(Callback):
    def __init__(self, prefix="CKP", directory=None, config=None):
        self._prefix, self._config = prefix, config or CheckpointConfig()
        self._directory = directory or "."
        self._files, self._saved, self._saved_at, self._minute = [], None, time.time(), time.time()

    def step_end(self, run_context):
        params = run_context.original_args()
        steps, seconds = self._config.save_checkpoint_steps, self._config.save_checkpoint_seconds
        if steps and params.cur_step_num % steps == 0 or not steps and seconds and time.time() - self._saved_at >= seconds:
            self._save(params)

    def end(self, run_context):
        params = run_context.original_args()
        if self._saved != params.cur_step_num:
            self._save(params)

    def _infos(self, params):
        """What stands beside the parameters: by name, or as the program gives it."""
        known = {"epoch_num": params.cur_epoch_num, "step_num": params.cur_step_num}
        found = {}
        for info in self._config.append_info:
            found.update(info if isinstance(info, dict) else {info: known[info]})
        return found

    def _save(self, params):
        from mindspore.train.serialization import save_checkpoint
        step = (params.cur_step_num - 1) % params.batch_num + 1
        path = os.path.join(self._directory, f"{self._prefix}-{params.cur_epoch_num}_{step}.ckpt")
        save_checkpoint(self._config.saved_network or params.train_network, path, append_dict=self._infos(params))
        self._saved, self._saved_at = params.cur_step_num, time.time()
        minutes, most = self._config.keep_checkpoint_per_n_minutes, self._config.keep_checkpoint_max
        if not most and minutes and self._files and time.time() - self._minute < 60 * minutes:
            most = 1  # of these minutes the last one
        elif minutes:
            self._files, self._minute = [], time.time()
        self._files = [f for f in self._files if f != path] + [path]
        while most and len(self._files) > most:
            old = self._files.pop(0)
            if os.path.exists(old):
                os.remove(old)

    @property
    def latest_ckpt_file_name(self):
        return self._files[-1] if self._files else ""


class LambdaCallback(Callback):
    def __init__(self, **functions):
        for name, function in functions.items():
            if function is not None:
                setattr(self, name, function)


class History(Callback):
    def begin(self, run_context):
        self.epoch = {"epoch": []}
        params = run_context.original_args()
        self.history = {}
        if params.network is not None:
            params.network.__dict__.setdefault("history", self)

    def epoch_end(self, run_context):
        params = run_context.original_args()
        self.epoch["epoch"].append(params.cur_epoch_num)
        self.history.setdefault("net_output", []).append(_loss_value(params.net_outputs))


class LearningRateScheduler(Callback):
    def __init__(self, learning_rate_function):
        self.learning_rate_function = learning_rate_function

    def step_end(self, run_context):
        params = run_context.original_args()
        rate = params.optimizer.learning_rate
        rate.set_data(Tensor(float(self.learning_rate_function(float(rate.asnumpy()), params.cur_step_num)), rate.dtype))


_SMALLER_IS_BETTER = ("hausdorff_distance", "mae", "mse", "loss", "perplexity", "mean_surface_distance", "root_mean_square_distance",
                      "eval_loss")


def _is_maximized(mode, monitor):
    if mode not in ("auto", "min", "max"):
        raise ValueError(f"mode should be 'auto', 'min' or 'max', but got {mode}.")
    return mode == "max" or mode == "auto" and monitor not in _SMALLER_IS_BETTER


def _monitored(name, monitor, params):
    found = params.eval_results or {}
    now = _loss_value(params.net_outputs) if monitor == "loss" else found.get(monitor)
    if now is None:
        from mindspore import log
        log.warning(f"{name} is conditioned on {monitor}, which is not available. Available choices are: {sorted({'loss', *found})}")
        return None
    if getattr(now, "shape", ()) not in ((), (1,)):
        raise ValueError(f"{name} only supports scalar monitor now.")
    return float(now) or None


class ReduceLROnPlateau(Callback):
    """Makes the rate @factor of what it was after @patience epochs that were no better."""

    def __init__(self, monitor="eval_loss", factor=0.1, patience=10, verbose=False, mode="auto", min_delta=1e-4, cooldown=0, min_lr=0):
        if not 0 < factor < 1:
            raise ValueError(f"For 'ReduceLROnPlateau', the 'factor' must be in range of (0, 1), but got {factor}.")
        self.monitor, self.factor, self.patience, self.verbose = monitor, factor, patience, verbose
        self.maximize, self.min_delta, self.cooldown, self.min_lr = _is_maximized(mode, monitor), abs(min_delta), cooldown, min_lr
        self.on_train_begin(None)

    def on_train_begin(self, run_context):
        self.best, self.wait, self.rest = None, 0, 0

    def on_train_epoch_end(self, run_context):
        params = run_context.original_args()
        rate = params.optimizer.learning_rate
        if not isinstance(rate, Tensor):
            raise ValueError("ReduceLROnPlateau does not support dynamic learning rate and group learning rate now.")
        now = _monitored("ReduceLROnPlateau", self.monitor, params)
        if now is None:
            return
        if self.rest > 0:
            self.rest, self.wait = self.rest - 1, 0
        better = self.best is None or (now > self.best + self.min_delta if self.maximize else now < self.best - self.min_delta)
        if better:
            self.best, self.wait = now, 0
        elif self.rest <= 0:
            self.wait += 1
        if self.wait < self.patience or better:
            return
        value = float(rate.asnumpy())
        if value > self.min_lr:
            value = max(value * self.factor, self.min_lr)
            rate.set_data(Tensor(value, rate.dtype))
            if self.verbose:
                print(f"Epoch {params.cur_epoch_num:05d}: ReduceLROnPlateau reducing learning rate to {value}.", flush=True)
        self.rest, self.wait = self.cooldown, 0


class EarlyStopping(Callback):
    def __init__(self, monitor="eval_loss", min_delta=0, patience=0, verbose=False, mode="auto", baseline=None,
                 restore_best_weights=False):
        self.monitor, self.min_delta, self.patience, self.baseline = monitor, abs(min_delta), patience, baseline
        self.verbose, self.restore_best_weights, self.weights = verbose, restore_best_weights, None
        self.maximize = _is_maximized(mode, monitor)
        self.best, self.wait = baseline, 0

    def on_train_begin(self, run_context):
        self.best, self.wait, self.weights = self.baseline, 0, None

    def on_train_epoch_end(self, run_context):
        params = run_context.original_args()
        now = _monitored(type(self).__name__, self.monitor, params)
        if now is None:
            return
        better = self.best is None or (now - self.min_delta > self.best if self.maximize else now + self.min_delta < self.best)
        self.wait = 0 if better else self.wait + 1
        self.best = now if better else self.best
        if better and self.restore_best_weights:
            self.weights = [(p, p.asnumpy().copy()) for p in params.train_network.get_parameters()]
        if self.wait < self.patience or better:
            return
        run_context.request_stop()
        if self.verbose:
            print(f"Epoch {params.cur_epoch_num:05d}: early stopping.", flush=True)
        for parameter, value in self.weights or ():
            parameter.set_data(Tensor(value, parameter.dtype))


__all__ = ["Callback", "RunContext", "LossMonitor", "TimeMonitor", "CheckpointConfig", "ModelCheckpoint", "LambdaCallback", "History",
           "LearningRateScheduler", "EarlyStopping", "ReduceLROnPlateau"]
