# SPDX-License-Identifier: Apache-2.0
"""Gantry's own `mindspore`: programs written for it become graphs of Gantry."""
import sys as _sys
import _gantry
from mindspore._core import (
    Tensor, bool_, int8, int16, int32, int64, uint8, uint16, uint32, uint64, float16, bfloat16, float32, float64,
    GRAPH_MODE, PYNATIVE_MODE, STRICT, COMPATIBLE, LAX)
from mindspore import context, common
from mindspore.common.parameter import Parameter, ParameterTuple
from mindspore.common.api import (jit, ms_function, jit_class, ms_class, jit_ignore, constexpr, mutable, isconstant, ms_memory_recycle,
                                  JitConfig, lazy_inline, no_inline, recompute)
from mindspore.common import dtype
from mindspore.common import dtype as mstype
from mindspore.common.dtype import *
from mindspore.common.seed import set_seed, get_seed, manual_seed, seed, initial_seed, get_rng_state, set_rng_state
from mindspore.context import (set_context, get_context, set_auto_parallel_context, get_auto_parallel_context, ParallelMode,
                               reset_auto_parallel_context, set_recursion_limit, set_device, set_deterministic, set_algo_parameters,
                               get_algo_parameters, reset_algo_parameters, set_ps_context, get_ps_context, reset_ps_context,
                               set_offload_context, get_offload_context)
from mindspore.nn.cell import Cell as _Cell, GraphCell
from mindspore.ops.primitive import Primitive as _Primitive
from mindspore._core import Scalar as _Scalar, External as _External
from mindspore._hooks import hooks as _hooks

_gantry.register(tensor=Tensor, scalar=_Scalar, external=_External, parameter=Parameter, cell=_Cell, primitive=_Primitive,
                 hooks=_hooks)

from mindspore import ops, nn
from mindspore.common.tensor import tensor, from_numpy, is_tensor
from mindspore.ops.grad import grad, value_and_grad, vjp, jvp, get_grad, jacfwd, jacrev
from mindspore.ops.function import vmap

__version__ = "2.2.14"

_LAZY = {"numpy", "dataset", "train", "amp", "boost", "export", "load", "save_checkpoint", "load_checkpoint",
         "load_param_into_net", "Model", "FixedLossScaleManager", "DynamicLossScaleManager", "LossScaleManager", "LossMonitor",
         "TimeMonitor", "Callback", "ModelCheckpoint", "CheckpointConfig", "RunContext", "scipy", "log", "communication",
         "parallel", "profiler", "rewrite", "experimental", "mint", "ReduceLROnPlateau", "Perplexity", "BleuScore", "CosineSimilarity",
         "Dice", "ROC", "auc", "HausdorffDistance", "MeanSurfaceDistance", "RootMeanSquareDistance", "ConfusionMatrixMetric",
         "OcclusionSensitivity"}
_ABSENT = {"SummaryRecord", "MapParameter"}
_SPARSE = {"COOTensor", "CSRTensor", "SparseTensor", "RowTensor"}


def __getattr__(name):
    if name in _LAZY:
        import importlib
        for place in ("mindspore." + name, "mindspore.train"):
            try:
                module = importlib.import_module(place)
            except ModuleNotFoundError:
                continue
            if place == "mindspore." + name:
                return module
            if hasattr(module, name):
                return getattr(module, name)
    elif name in ("complex64", "complex128"):
        raise AttributeError(f"complex numbers are not supported: there is no mindspore.{name}")
    elif name == "bool":
        return bool_
    elif name in _SPARSE:
        from mindspore.common import sparse_tensor
        return getattr(sparse_tensor, name)
    elif name in _ABSENT:
        from mindspore import _paths
        return _paths.absent("mindspore." + name)
    elif not name.startswith("_"):
        from mindspore import train
        if name in train.__all__:
            return getattr(train, name)
    near = [n for n in globals() if n.lower().startswith(name.lower()[:4]) and not n.startswith("_")]
    raise AttributeError(f"module 'mindspore' has no attribute '{name}'"
                         + (f"; there are: {', '.join(sorted(near)[:8])}" if near else ""))
