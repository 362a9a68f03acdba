# SPDX-License-Identifier: Apache-2.0
"""Training: Model, callbacks, metrics, checkpoints."""
from mindspore.train.callback import *
from mindspore.train import callback, metrics, serialization
from mindspore.train.metrics import *
from mindspore.train.model import Model
from mindspore.train.serialization import (save_checkpoint, load_checkpoint, load_param_into_net, check_checkpoint, export)
from mindspore.train.loss_scale_manager import LossScaleManager, FixedLossScaleManager, DynamicLossScaleManager


def __getattr__(name):
    from mindspore.ops import _names
    return _names.missing("mindspore.train", name, globals())
