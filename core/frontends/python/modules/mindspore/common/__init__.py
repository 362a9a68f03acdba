# SPDX-License-Identifier: Apache-2.0
"""Tensors, parameters, types and what makes graphs of functions."""
from mindspore.common import dtype
from mindspore.common.dtype import *
from mindspore.common.tensor import Tensor, tensor
from mindspore.common.parameter import Parameter, ParameterTuple
from mindspore.common.api import (jit, ms_function, jit_class, ms_class, jit_ignore, constexpr, mutable, isconstant, ms_memory_recycle,
                                  _cell_graph_executor)
from mindspore.common.seed import set_seed, get_seed
from mindspore.common import initializer


def __getattr__(name):
    if name in ("JitConfig", "lazy_inline", "no_inline", "from_numpy", "is_tensor", "recompute", "set_recursion_limit", "dump", "get_rng_state",
                "set_rng_state", "manual_seed", "initial_seed"):
        import mindspore
        return getattr(mindspore, name)
    raise AttributeError(f"module 'mindspore.common' has no attribute '{name}'")
