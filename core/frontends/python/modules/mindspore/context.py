# SPDX-License-Identifier: Apache-2.0
"""Modes and levels."""
from mindspore._rules import check, refused
from mindspore._core import _Context, GRAPH_MODE, PYNATIVE_MODE, STRICT, COMPATIBLE, LAX

_LEVELS = {STRICT: STRICT, COMPATIBLE: COMPATIBLE, LAX: LAX, "STRICT": STRICT, "COMPATIBLE": COMPATIBLE, "LAX": LAX}


class ParallelMode:
    STAND_ALONE, DATA_PARALLEL, HYBRID_PARALLEL = "stand_alone", "data_parallel", "hybrid_parallel"
    SEMI_AUTO_PARALLEL, AUTO_PARALLEL = "semi_auto_parallel", "auto_parallel"


_TYPED = {
    bool: "precompile_only enable_reduce_precision enable_auto_mixed_precision enable_graph_kernel reserve_class_name_in_scope check_bprop save_compile_cache "
          "load_compile_cache grad_for_scalar pynative_synchronize disable_format_transform jit_enable_inplace_ops enable_compile_cache",
    int: "mode device_id inter_op_parallel_num max_call_depth runtime_num_threads op_timeout debug_level",
    str: "device_target save_graphs_path aoe_tune_mode variable_memory_max_size max_device_memory print_file_path env_config_path graph_kernel_flags "
         "mempool_block_size deterministic",
    dict: "aoe_config ascend_config gpu_config jit_config", (bool, int): "save_graphs",
}
# What may be set too, of whatever type.
_OTHERS = frozenset("compile_cache_path exec_order infer_boost jit_level jit_syntax_level memory_offload memory_optimize_level precision_mode profiling_options "
                    "enable_profiling save_dump_path enable_dump op_precision_mode jit_compile topo_order conv_allow_tf32 matmul_allow_tf32 conv_allow_hf32 "
                    "matmul_allow_hf32".split())
_ONE_OF = "For 'context.set_context', the argument '{name}' must be one of {words}, but got {value}."


def _among(*words):
    return refused(lambda v: v not in words, ValueError, _ONE_OF.replace("{words}", str(list(words))))


_RULES = {
    **{names: refused(lambda v, kinds=kinds: not isinstance(v, kinds), TypeError, "The parameter '{name}' must be " + str(kinds) + ", but got {type}.")
       for kinds, names in _TYPED.items()},
    "device_target ": _among("CPU", "GPU", "Ascend", "Davinci"), "memory_optimize_level": _among("O0", "O1"), "memory_offload deterministic ": _among("ON", "OFF"),
    "device_id ": refused(lambda v: not 0 <= v <= 4095, ValueError, "For 'context.set_context', the argument '{name}' must be in range [0, 4095], but got {value}."),
    "max_call_depth ": refused(lambda v: v <= 0, ValueError, "For 'context.set_context', the argument '{name}' must be greater than 0, but got {value}."),
    "save_graphs ": refused(lambda v: v > 3, ValueError, "value for {name} should be 0-3 but got '{value}'."),
    "jit_syntax_level": refused(lambda v: v not in _LEVELS, ValueError, "For '{name}', the value should be context.STRICT or context.LAX, but got {value}."),
    "mode ": refused(lambda v: v not in (GRAPH_MODE, PYNATIVE_MODE), ValueError,
                     "For 'context.set_context', the argument '{name}' should be context.GRAPH_MODE (0) or context.PYNATIVE_MODE (1), but got {value}."),
    "runtime_num_threads ": refused(lambda v: v < 0, ValueError, "The num of thread must bigger than or equal to 0, but '{name}' is {value}."),
}
_NAMES = _OTHERS | frozenset(" ".join(_TYPED.values()).split())


def set_context(*args, **values):
    if args:
        raise TypeError("too many positional arguments: settings are given by name.")
    check(_RULES, "context.set_context", values, values)
    for name in values:
        if name not in _NAMES:
            raise ValueError(f"For 'context.set_context', the keyword argument {name} is not recognized! There are {', '.join(sorted(_NAMES))}.")
    values = dict(values)
    _Context.mode = values.pop("mode", _Context.mode)
    if "jit_syntax_level" in values:
        _Context.level = _LEVELS[values.pop("jit_syntax_level")]
    _Context.values.update(values)


def get_context(attr_key):
    if not isinstance(attr_key, str):
        raise TypeError(f"attribute name must be string, not '{type(attr_key).__name__}'")
    if attr_key == "mode":
        return _Context.mode
    if attr_key == "jit_syntax_level":
        return _Context.level
    if attr_key not in _NAMES:
        raise ValueError(f"For 'context.get_context', the argument {attr_key} is not recognized! There are {', '.join(sorted(_NAMES))}.")
    return _Context.values.get(attr_key, {"device_target": "CPU", "device_id": 0, "save_graphs": False,
                                          "max_call_depth": 1000, "enable_graph_kernel": False}.get(attr_key))


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
