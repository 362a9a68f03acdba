# SPDX-License-Identifier: Apache-2.0
"""Networks: layers, losses, optimizers, wrappers."""
from mindspore.nn.cell import Cell, GraphCell
from mindspore.nn.layer import *
from mindspore.nn.loss import *
from mindspore.nn.optim import *
from mindspore.nn.wrap import *
from mindspore.nn import layer, loss, optim, wrap


def __getattr__(name):
    from mindspore.ops import _names
    return _names.missing("mindspore.nn", name, globals())
