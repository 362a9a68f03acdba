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
    for name in ("parallel_mode", "device_num", "global_rank"):
        _Context.values.pop(name, None)


def set_recursion_limit(recursion_limit=1000):
    if isinstance(recursion_limit, bool) or not isinstance(recursion_limit, int):
        raise TypeError(f"For 'set_recursion_limit', the argument 'recursion_limit' must be int, but got {type(recursion_limit).__name__}.")
    if recursion_limit <= 0:
        raise ValueError(f"For 'set_recursion_limit', the argument 'recursion_limit' must be greater than 0, but got {recursion_limit}.")
    set_context(max_call_depth=recursion_limit)


def set_device(device_target, device_id=None):
    if device_target not in ("CPU", "GPU", "Ascend"):
        raise ValueError(f"For 'set_device', the argument 'device_target' must be one of ['CPU', 'GPU', 'Ascend'], but got {device_target}.")
    set_context(device_target=device_target, device_id=device_id or 0)


def set_deterministic(deterministic):
    """Kernels of Gantry sum in a fixed order: nothing changes."""
    if not isinstance(deterministic, bool):
        raise TypeError(f"For 'set_deterministic', the argument 'deterministic' must be bool, but got {type(deterministic).__name__}.")


def _settings(name, *words):
    """What a program sets and asks for again; one process on one processor has no use for it."""
    def set_(**values):
        unknown = [word for word in values if words and word not in words]
        if unknown:
            raise ValueError(f"For '{name}', the key word '{unknown[0]}' is not recognized.")
        _Context.values.update({(name, word): value for word, value in values.items()})

    def get(attr_key):
        return _Context.values.get((name, attr_key))

    def reset():
        for key in [k for k in _Context.values if isinstance(k, tuple) and k[0] == name]:
            del _Context.values[key]
    return set_, get, reset


set_algo_parameters, get_algo_parameters, reset_algo_parameters = _settings("algo_parameters")
set_ps_context, get_ps_context, reset_ps_context = _settings("ps_context")
set_offload_context, get_offload_context, _ = _settings("offload_context")
