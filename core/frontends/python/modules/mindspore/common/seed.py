# SPDX-License-Identifier: Apache-2.0
"""The seed of initial values and random operations."""
_state = {"seed": None, "next": 0}
_generators = {}  # seed of an operation (0: none of its own) -> Parameter u64[2]: key and counter


def set_seed(seed):
    if not isinstance(seed, int) or isinstance(seed, bool):
        raise TypeError(f"The argument 'seed' must be type of int, but got {type(seed)}.")
    if seed < 0:
        raise ValueError(f"For 'global_seed', the 'seed' must be int and must >= 0, but got '{seed}' with type 'int'.")
    _state["seed"], _state["next"] = seed, 0
    for own, state in _generators.items():
        _begin(state, own)
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


def _first(own):
    """Where a stream starts. Keys with the highest bit are those of operations that have a seed of their own."""
    from mindspore import _core
    if own:
        key = 1 << 63 | own & 0x7fffffffffffffff
    elif _state["seed"] is not None:
        key = _state["seed"] & 0x7fffffffffffffff
    else:
        import os
        key = int.from_bytes(os.urandom(7), "little")
    return _core.tensor_of([key, 0], _core.uint64)


def _begin(state, own):
    import _gantry
    _gantry.assign(state, _first(own))


def generator(own):
    """The state of the generator that operations with this seed draw from, as an input of graphs that moves on."""
    if own not in _generators:
        from mindspore.common.parameter import Parameter
        _generators[own] = Parameter(_first(own), f"random_state_{own}" if own else "random_state", requires_grad=False)
    return _generators[own]


def state_of_model(weights):
    """What a loaded graph draws random numbers from, none or one, and its weights (name, value) without that."""
    if weights and weights[0][0] is None:
        return (generator(0),), weights[1:]
    return (), weights


def manual_seed(seed):
    """Begins the stream of random operations again; initial values are left to set_seed()."""
    _gantry_assign(generator(0), [int(seed) & 0x7fffffffffffffff, 0])


def seed():
    import os
    chosen = int.from_bytes(os.urandom(6), "little")
    manual_seed(chosen)
    return chosen


def initial_seed():
    return generator(0).tolist()[0]


def get_rng_state():
    return generator(0).copy()


def set_rng_state(state):
    _gantry_assign(generator(0), state)


def _gantry_assign(state, value):
    from mindspore import _core
    _core.assign(state, _core.tensor_of(value, _core.uint64))


def _get_graph_seed(op_seed, kernel_name):
    return op_seed, 0
