# SPDX-License-Identifier: Apache-2.0
"""Element types and their promotion, with 64-bit types switched off as JAX has them by default."""


class _Types(type):
    """dtype ("float32") is the one that there is."""

    def __call__(cls, *args):
        return as_dtype(args[0], canonical=False) if len(args) == 1 else super().__call__(*args)


class dtype(metaclass=_Types):
    """An element type; calling it makes an array of it."""

    def __init__(self, name, element, category, size):
        self.name, self.element, self.category, self.itemsize = name, element, category, size
        self.__name__ = name

    @property
    def dtype(self):
        import numpy
        if self.element == "bf16":
            raise TypeError("NumPy has no bfloat16")
        return numpy.dtype(self.name)

    @property
    def kind(self):
        return {"b16": "V"}.get(self.element[1:], {"bool": "b", "int": "i", "uint": "u", "float": "f"}[self.category])

    @property
    def type(self):
        return self

    def __call__(self, value=0):
        from jax import _core
        return _core.convert(_core.asarray(value), self)

    def __eq__(self, other):
        try:
            return self.element == as_dtype(other, canonical=False).element
        except TypeError:
            return False

    def __hash__(self):
        return hash(self.name)

    def __str__(self):
        return self.name

    def __repr__(self):
        return f"dtype('{self.name}')" if self.element != "bf16" else "dtype(bfloat16)"


bool_ = dtype("bool", "bool", "bool", 1)
int8, int16, int32, int64 = (dtype(f"int{n}", f"i{n}", "int", n // 8) for n in (8, 16, 32, 64))
uint8, uint16, uint32, uint64 = (dtype(f"uint{n}", f"u{n}", "uint", n // 8) for n in (8, 16, 32, 64))
float16, float32, float64 = (dtype(f"float{n}", f"f{n}", "float", n // 8) for n in (16, 32, 64))
bfloat16 = dtype("bfloat16", "bf16", "float", 2)

ALL = (bool_, int8, int16, int32, int64, uint8, uint16, uint32, uint64, float16, bfloat16, float32, float64)
BY_ELEMENT = {t.element: t for t in ALL}
BY_NAME = {t.name: t for t in ALL}
_NARROW = {"f64": float32, "i64": int32, "u64": uint32}


def canonical(t):
    return _NARROW.get(t.element, t)


def element_type(value):
    """That of an array, or the type that is given."""
    return as_dtype(value if isinstance(value, dtype) else getattr(value, "dtype", value))


def as_dtype(value, canonical=True):
    """An element type of what programs name one by."""
    if isinstance(value, dtype):
        found = value
    elif value is bool:
        found = bool_
    elif value is int:
        found = int64
    elif value is float:
        found = float64
    elif isinstance(value, str) and value in BY_NAME:
        found = BY_NAME[value]
    else:
        name = getattr(value, "name", None) or getattr(value, "__name__", None) or str(value)
        found = BY_NAME.get({"bool_": "bool"}.get(name, name)) if isinstance(name, str) else None
        if found is None:
            raise TypeError(f"{value!r} is no element type that arrays have here: {', '.join(BY_NAME)}")
    return _NARROW.get(found.element, found) if canonical else found


def is_float(t):
    return t.category == "float"


def is_integer(t):
    return t.category in ("int", "uint")


_RANK = {"bool": 0, "uint": 1, "int": 1, "float": 2}


def join(a, b):
    """The type that both fit into."""
    if a is b:
        return a
    if _RANK[a.category] != _RANK[b.category]:
        return a if _RANK[a.category] > _RANK[b.category] else b
    if a.category == b.category:
        if {a, b} == {float16, bfloat16}:
            return float32
        return a if a.itemsize >= b.itemsize else b
    unsigned, signed = (a, b) if a.category == "uint" else (b, a)
    size = max(signed.itemsize, min(2 * unsigned.itemsize, 4))
    return {1: int8, 2: int16, 4: int32, 8: int64}[size]


def promote(values):
    """The type of (type, weak) pairs together, and whether that is weak. Weak types are those of Python's numbers."""
    strong = [t for t, weak in values if not weak]
    soft = [t for t, weak in values if weak]
    result, is_soft = None, not strong
    for t in strong:
        result = t if result is None else join(result, t)
    for t in soft:
        if result is None or _RANK[t.category] > _RANK[result.category]:
            result, is_soft = t, True
    return result, is_soft
