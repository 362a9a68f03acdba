# SPDX-License-Identifier: Apache-2.0
"""Training: Model, callbacks, metrics, checkpoints."""
from mindspore.train.callback import *
from mindspore import _paths
from mindspore.train import callback, metrics, serialization
from mindspore.train.amp import build_train_network, auto_mixed_precision, custom_mixed_precision, get_white_list, get_black_list
from mindspore.train.metrics import *
from mindspore.train.model import Model
from mindspore.train.serialization import (save_checkpoint, load_checkpoint, load_param_into_net, check_checkpoint, export,
                                           load)
from mindspore.train.loss_scale_manager import LossScaleManager, FixedLossScaleManager, DynamicLossScaleManager

__all__ = [*callback.__all__, *metrics.__all__, "Model", "build_train_network", "auto_mixed_precision", "custom_mixed_precision",
           "get_white_list", "get_black_list", "save_checkpoint", "load_checkpoint", "load_param_into_net", "check_checkpoint",
           "export", "load", "LossScaleManager", "FixedLossScaleManager", "DynamicLossScaleManager"]


def __getattr__(name):
    from mindspore.ops._names import missing
    if not name.startswith("_"):
        import importlib
        metrics_more = importlib.import_module("mindspore.train.metrics_more")
        if name in metrics_more.__all__:
            return getattr(metrics_more, name)
    return missing("mindspore.train", name, globals())


_paths.lend("mindspore.train.metrics", "mindspore.train")
