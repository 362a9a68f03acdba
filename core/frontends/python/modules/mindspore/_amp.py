# SPDX-License-Identifier: Apache-2.0
"""The types that operations compute in while a network runs that auto_mixed_precision() made with the level "auto"."""
import functools
from mindspore import _core
from mindspore._types import _of_thread

# What MindSpore's page of auto_mixed_precision() lists, by the names of the functions that compute it. What is not listed computes in the
# types that its operands have.
LOW = ("_conv", "conv_transpose", "prelu", "einsum", "dense", "addmm", "addmv", "addbmm", "baddbmm", "mv", "mm", "bmm", "matmul",
       "batch_matmul", "tensor_dot", "dot")
FULL = ("pow", "acos", "asin", "arccos", "arcsin", "cosh", "erfinv", "exp", "expm1", "log", "log10", "log1p", "log2", "reciprocal", "rsqrt",
        "sinh", "tan", "softplus", "layer_norm", "batch_norm", "group_norm", "norm", "kl_div", "smooth_l1_loss", "multilabel_margin_loss",
        "soft_margin_loss", "triplet_margin_loss", "multi_margin_loss", "binary_cross_entropy_with_logits", "pdist", "cdist", "renorm",
        "prod", "softmax", "log_softmax", "cumprod", "cumsum", "nll_loss")
WIDEST = ("addcdiv", "addcmul", "cross", "grid_sample", "bias_add", "addn", "concat", "cat")
_CHOOSES = {"f16", "bf16", "f32"}


def as_type(value, dtype):
    """@value with the tensors of half and single precision in it as @dtype; Parameters as they are stored."""
    if isinstance(value, _core.Tensor):
        return _core.cast(value, dtype) if value.element in _CHOOSES and value.element != dtype.element else value
    if isinstance(value, (tuple, list)) and not hasattr(value, "_fields"):
        return type(value)(as_type(v, dtype) for v in value)
    return value


def _widest(values):
    found = [_core._by_element[v.element] for value in values for v in (value if isinstance(value, (tuple, list)) else (value,))
             if isinstance(v, _core.Tensor) and v.element in _CHOOSES]
    return _core._common(found) if found else None


class computing_in:
    """Within it operations of the lists compute in @dtype or in float32; None: each as its operands say."""

    def __init__(self, dtype):
        self.dtype = dtype

    def __enter__(self):
        self.before, _of_thread.amp = _of_thread.amp, self.dtype

    def __exit__(self, *error):
        _of_thread.amp = self.before


def _choosing(function, choose):
    @functools.wraps(function)
    def call(*args, **kwargs):
        if _of_thread.amp is None:
            return function(*args, **kwargs)
        dtype = choose(args)
        if dtype is not None:
            args, kwargs = tuple(as_type(v, dtype) for v in args), {n: as_type(v, dtype) for n, v in kwargs.items()}
        with computing_in(None):
            return function(*args, **kwargs)
    return call


def listed(names):
    """Makes the functions among @names, of a module, choose their types; one function under several names stays one."""
    made = {}
    for list_, choose in ((LOW, lambda args: _of_thread.amp), (FULL, lambda args: _core.float32), (WIDEST, _widest)):
        for name in list_:
            function = names.get(name)
            if function is not None and not isinstance(function, type):
                if function not in made:
                    made[function] = _choosing(function, choose)
                names[name] = made[function]


_core.matmul = _choosing(_core.matmul, lambda args: _of_thread.amp)
_core.pow_ = _choosing(_core.pow_, lambda args: _core.float32)
