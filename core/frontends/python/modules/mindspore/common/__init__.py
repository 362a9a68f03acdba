# SPDX-License-Identifier: Apache-2.0
"""Tensors, parameters, types and what makes graphs of functions."""
from mindspore.common import dtype
from mindspore.common.dtype import *
from mindspore.common.tensor import Tensor, tensor
from mindspore.common.parameter import Parameter, ParameterTuple
from mindspore.common.api import (jit, ms_function, jit_class, ms_class, jit_ignore, constexpr, mutable, isconstant, ms_memory_recycle,
                                  _cell_graph_executor)
from mindspore.common.seed import set_seed, get_seed
from mindspore.common.initializer import initializer
