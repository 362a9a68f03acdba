# SPDX-License-Identifier: Apache-2.0
"""The seed of initial values and random operations."""
_state = {"seed": None, "next": 0}


def set_seed(seed):
    if not isinstance(seed, int) or isinstance(seed, bool):
        raise TypeError("The argument 'seed' must be type of int.")
    if seed < 0:
        raise ValueError("The argument 'seed' must be a non-negative integer.")
    _state["seed"], _state["next"] = seed, 0
    try:
        import numpy
        numpy.random.seed(seed)
    except ImportError:
        pass


def get_seed():
    return _state["seed"]


def fresh_seed():
    """Another seed at each call; the same row of them after the same set_seed()."""
    _state["next"] += 1
    if _state["seed"] is None:
        import os
        return int.from_bytes(os.urandom(4), "little")
    return (_state["seed"] * 1000003 + _state["next"]) & 0xffffffff


def _get_graph_seed(op_seed, kernel_name):
    return op_seed, 0
