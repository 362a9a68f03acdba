# SPDX-License-Identifier: Apache-2.0
"""The functions of ops under their older place."""
from mindspore.ops.function import *
from mindspore.ops.grad import grad, value_and_grad, vjp, jvp, stop_gradient, GradOperation, get_grad, jacfwd, jacrev
from mindspore.ops.composite import HyperMap, Map, MultitypeFuncGraph
from mindspore.common.api import isconstant
from functools import partial


def __getattr__(name):
    from mindspore.ops._names import missing
    return missing("mindspore.ops.functional", name, globals())
