# SPDX-License-Identifier: Apache-2.0
"""Networks: layers, losses, optimizers, wrappers."""
from mindspore.nn.cell import Cell, GraphCell
from mindspore.nn.layer import *
from mindspore.nn.loss import *
from mindspore.nn.optim import *
from mindspore.nn.wrap import *
from mindspore.nn import layer, loss, optim, wrap
from mindspore import _paths


def __getattr__(name):
    from mindspore.ops._names import missing
    if not name.startswith("_"):
        import importlib
        for late in ("mindspore.nn.optim_more", "mindspore.nn.layer_more", "mindspore.train.metrics", "mindspore.train.metrics_more"):
            module = importlib.import_module(late)
            if name in module.__all__:
                return getattr(module, name)
    return missing("mindspore.nn", name, globals())


for _name in ("layer", "loss", "optim", "wrap"):
    _paths.lend(f"mindspore.nn.{_name}", "mindspore.nn")
