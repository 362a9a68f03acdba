# SPDX-License-Identifier: Apache-2.0
"""Operations."""
from mindspore.ops.primitive import (Primitive, PrimitiveWithInfer, PrimitiveWithCheck, prim_attr_register, prim_arg_register)
from mindspore.ops.function import *
from mindspore.ops import function
from mindspore.ops.grad import (grad, value_and_grad, get_grad, vjp, jvp, jacfwd, jacrev, GradOperation, stop_gradient)
from mindspore.ops.operations import *
from mindspore.ops import operations
from mindspore.ops import functional
from mindspore.ops import composite
from mindspore.ops.composite import HyperMap, Map, MultitypeFuncGraph, normal, uniform, core
from mindspore.common.api import constexpr
from functools import partial


def __getattr__(name):
    from mindspore.ops._names import missing
    return missing("mindspore.ops", name, globals())
