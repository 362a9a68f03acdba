# SPDX-License-Identifier: Apache-2.0
"""Modes and levels."""
from mindspore._core import _Context, GRAPH_MODE, PYNATIVE_MODE, STRICT, COMPATIBLE, LAX

_LEVELS = {STRICT: STRICT, COMPATIBLE: COMPATIBLE, LAX: LAX, "STRICT": STRICT, "COMPATIBLE": COMPATIBLE, "LAX": LAX}


class ParallelMode:
    STAND_ALONE, DATA_PARALLEL, HYBRID_PARALLEL = "stand_alone", "data_parallel", "hybrid_parallel"
    SEMI_AUTO_PARALLEL, AUTO_PARALLEL = "semi_auto_parallel", "auto_parallel"


def set_context(mode=None, jit_syntax_level=None, **values):
    if mode is not None:
        if mode not in (GRAPH_MODE, PYNATIVE_MODE):
            raise ValueError(f"For 'context.set_context', the argument 'mode' should be context.GRAPH_MODE (0) or "
                             f"context.PYNATIVE_MODE (1), but got {mode}.")
        _Context.mode = mode
    if jit_syntax_level is not None:
        if jit_syntax_level not in _LEVELS:
            raise ValueError(f"For 'context.set_context', the argument 'jit_syntax_level' must be one of [STRICT, LAX], but got "
                             f"{jit_syntax_level}.")
        _Context.level = _LEVELS[jit_syntax_level]
    _Context.values.update(values)


def get_context(name):
    if name == "mode":
        return _Context.mode
    if name == "jit_syntax_level":
        return _Context.level
    return _Context.values.get(name, {"device_target": "CPU", "device_id": 0, "save_graphs": False,
                                      "max_call_depth": 1000, "enable_graph_kernel": False}.get(name))


def set_auto_parallel_context(**values):
    _Context.values.update(values)


def get_auto_parallel_context(name):
    return _Context.values.get(name, {"parallel_mode": ParallelMode.STAND_ALONE, "device_num": 1, "global_rank": 0}.get(name))


def reset_auto_parallel_context():
    pass
