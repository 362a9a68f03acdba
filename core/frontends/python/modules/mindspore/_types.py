# SPDX-License-Identifier: Apache-2.0
"""Element types, and what set_context() sets."""
import os
import threading


# Element types

class Type:
    """An element type: mindspore.float32 and its like."""

    def __init__(self, name, element, python, rank):
        self.name, self.element, self.python, self.rank = name, element, python, rank
        self.is_float = python is float

    def __repr__(self):
        return f"mindspore.{self.__reduce__()}"

    def __str__(self):
        return self.name

    def __hash__(self):
        return hash(self.name)

    def __eq__(self, other):
        return self is other

    def __reduce__(self):
        return self.name.lower() + ("_" if self.name == "Bool" else "")

    def __call__(self, value):
        from mindspore._core import Tensor
        return Tensor(value, self)


bool_ = Type("Bool", "bool", bool, 0)
int8 = Type("Int8", "i8", int, 2)
int16 = Type("Int16", "i16", int, 3)
int32 = Type("Int32", "i32", int, 4)
int64 = Type("Int64", "i64", int, 5)
uint8 = Type("UInt8", "u8", int, 1)
uint16 = Type("UInt16", "u16", int, 3)
uint32 = Type("UInt32", "u32", int, 4)
uint64 = Type("UInt64", "u64", int, 5)
float16 = Type("Float16", "f16", float, 6)
bfloat16 = Type("BFloat16", "bf16", float, 6)
float32 = Type("Float32", "f32", float, 7)
float64 = Type("Float64", "f64", float, 8)
_types = (bool_, int8, int16, int32, int64, uint8, uint16, uint32, uint64, float16, bfloat16, float32, float64)
_by_element = {t.element: t for t in _types}
_by_name = {t.name.lower(): t for t in _types}
_by_name["bool_"] = bool_


def as_type(dtype):
    """The Type of a Type, a Python type, a name or a NumPy type."""
    if isinstance(dtype, Type):
        return dtype
    if dtype is bool:
        return bool_
    if dtype is int:
        return int64
    if dtype is float:
        return float32
    name = dtype if isinstance(dtype, str) else getattr(dtype, "name", None) or getattr(dtype, "__name__", str(dtype))
    found = _by_name.get(name.lower()) or _by_element.get(name)
    if found is None:
        raise TypeError(f"unsupported dtype: {dtype!r}")
    return found


# Context

def is_strict(level=None):
    """Whether STRICT holds: $MS_DEV_JIT_SYNTAX_LEVEL counts most, then what the function or Cell was given (@level), then the context."""
    given = os.environ.get("MS_DEV_JIT_SYNTAX_LEVEL", "")
    if given in ("0", "1", "2"):
        return given == "0"
    return (_Context.level if level is None else level) == STRICT


def syntax_level(jit_config):
    """What a JitConfig says, or None."""
    return {"STRICT": STRICT, "COMPATIBLE": COMPATIBLE, "LAX": LAX}.get(str(getattr(jit_config, "jit_syntax_level", "")).upper())


class _Context:
    mode = 1  # PYNATIVE_MODE
    level = 2  # LAX
    serial = 0
    values = {}


class _OfThread(threading.local):
    """What one thread computes in; the others have their own."""
    amp = None  # the type of products under auto_mixed_precision("auto"): see _amp.py


_of_thread = _OfThread()


GRAPH_MODE, PYNATIVE_MODE = 0, 1
STRICT, COMPATIBLE, LAX = 0, 1, 2
