# SPDX-License-Identifier: Apache-2.0
"""Element types and what they become together."""
from jax import _core, _types
from jax._types import bfloat16


def canonicalize_dtype(dtype, allow_extended_dtype=False):
    return _types.as_dtype(dtype)


def result_type(*values, return_weak_type_flag=False):
    from jax._names import refuse
    refuse("result_type", "return_weak_type_flag", return_weak_type_flag, False)
    pairs = []
    for v in values:
        if isinstance(v, (_types.dtype, str, type)):
            pairs.append((_types.as_dtype(v), False))
        else:
            array = _core.asarray(v)
            pairs.append((array.dtype, array._weak))
    return _types.promote(pairs)[0]


class extended:
    """Element types that are no numbers: those of typed keys."""


class prng_key(extended):
    pass


class key_dtype:
    """The type of what jax.random.key gives."""
    name, itemsize, category = "key<fry>", 8, "key"

    def __repr__(self):
        return self.name

    __str__ = __repr__

    def __eq__(self, other):
        return isinstance(other, key_dtype) or other == self.name

    def __hash__(self):
        return hash(self.name)


def issubdtype(a, b):
    if isinstance(a, key_dtype) or b in (extended, prng_key):
        return isinstance(a, key_dtype) and (b in (extended, prng_key) or getattr(b, "__name__", "") == "generic" or a == b)
    category = _types.as_dtype(a).category
    name = getattr(b, "__name__", str(b))
    kinds = {"floating": ("float",), "inexact": ("float",), "integer": ("int", "uint"), "signedinteger": ("int",),
             "unsignedinteger": ("uint",), "number": ("int", "uint", "float"), "bool": ("bool",), "bool_": ("bool",),
             "generic": ("bool", "int", "uint", "float"), "complexfloating": ()}
    return category in kinds[name] if name in kinds else _types.as_dtype(a) == _types.as_dtype(b)
