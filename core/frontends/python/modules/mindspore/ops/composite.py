# SPDX-License-Identifier: Apache-2.0
"""Functions made of functions."""
import _gantry
from mindspore import _core
from mindspore._core import Tensor
from mindspore.ops.grad import GradOperation


class MultitypeFuncGraph:
    """A function by the types of its arguments."""

    def __init__(self, name, read_value=False):
        self.name, self.read_value = name, read_value  # how the other compiler passes Parameters; here both are one
        self.entries = []

    def register(self, *type_names):
        def add(function):
            self.entries.append((type_names, function))
            return function
        return add

    def __call__(self, *args):
        for types, function in self.entries:
            if len(types) == len(args) and all(_fits(a, t) for a, t in zip(args, types)):
                return _gantry.call(function, args)
        raise ValueError(f"For 'MultitypeFuncGraph', cannot find fn match given args. Got (sig, fn): {self.entries}, and (dtype, "
                        f"args): {tuple(type(a).__name__ for a in args)}.")


def _fits(value, name):
    name = name if isinstance(name, str) else getattr(name, "name", str(name))
    if name in ("Tensor", "TensorType"):
        return isinstance(value, Tensor)
    kinds = {"Number": (int, float), "Int": int, "Float": float, "Bool": bool, "String": str, "Tuple": tuple, "List": list,
             "Dictionary": dict, "Function": object, "None": type(None), "TypeNone": type(None)}
    if isinstance(value, _core.Scalar):
        return name == "Number" or name.lower().startswith(value.number_kind)
    return name in kinds and isinstance(value, kinds[name])


def _check_alike(name, args):
    """What is mapped over together is of one kind, and as long."""
    for kind, word in ((list, "list"), (tuple, "tuple")):
        if not any(isinstance(a, kind) for a in args):
            continue
        if not all(isinstance(a, kind) for a in args):
            raise TypeError(f"For '{name}', the types of arguments in {name} must be consistent, but got {[type(a).__name__ for a in args]}.")
        if len({len(a) for a in args}) > 1:
            raise ValueError(f"For '{name}', the length of {word}s must be the same. The {word}s in {name} should have the same length, "
                             f"but got {[len(a) for a in args]}.")


class HyperMap:
    """Maps a function over structures, all the way down."""

    def __init__(self, ops=None, reverse=False):
        self.ops, self.reverse = ops, reverse

    def __call__(self, *args):
        if len(args) < (1 if self.ops is not None else 2):
            raise TypeError(f"The {type(self).__name__} operator must have at least two arguments.")
        function, args = (self.ops, args) if self.ops is not None else (args[0], args[1:])
        return self._map(function, args)

    def _each(self, function, parts):
        """From the last to the first where it is said: what the function does is done in that order."""
        made = [function(p) for p in (reversed(list(parts)) if self.reverse else parts)]
        return made[::-1] if self.reverse else made

    def _map(self, function, args):
        first = args[0]
        _check_alike("HyperMap", args)
        if isinstance(first, (tuple, list)):
            made = self._each(lambda parts: self._map(function, parts), zip(*args))
            return made if type(first) is list else tuple(made)
        if isinstance(first, dict):
            return {k: self._map(function, tuple(a[k] for a in args)) for k in first}
        return _gantry.call(function, args)


class Map(HyperMap):
    def _map(self, function, args):
        if not all(isinstance(a, (tuple, list)) for a in args):
            raise TypeError(f"Map can only be applied to list, tuple and dictionary, but got {[type(a).__name__ for a in args]}.")
        _check_alike("Map", args)
        return tuple(self._each(lambda parts: _gantry.call(function, parts), zip(*args)))


def core(fn=None, **flags):
    return (lambda f: f) if fn is None else fn


def normal(shape, mean, stddev, seed=None):
    from mindspore.ops import function
    return function.normal(shape, mean, stddev, seed)


def uniform(shape, minval, maxval, seed=None, dtype=_core.float32):
    from mindspore.ops import function
    return function.uniform(shape, minval, maxval, seed, dtype)


def __getattr__(name):
    """The functions that once stood here."""
    from mindspore.ops import function
    return getattr(function, name)
