# SPDX-License-Identifier: Apache-2.0
"""Element types under all their names."""
from mindspore import _core
from mindspore._core import (bool_, int8, int16, int32, int64, uint8, uint16, uint32, uint64, float16, bfloat16, float32, float64,
                             Type, as_type as _as_type)

bool = bool_
byte, short, int, intc, intp, long = int8, int16, int64, int32, int64, int64
ubyte, ushort, uint, uintc, uintp = uint8, uint16, uint64, uint32, uint64
int_, uint_ = int64, uint64
half, float, double, single = float16, float32, float64, float32
float_ = float32
number_type = (int8, int16, int32, int64, uint8, uint16, uint32, uint64, float16, float32, float64)
int_type = (int8, int16, int32, int64)
uint_type = (uint8, uint16, uint32, uint64)
float_type = (float16, float32, float64)
implicit_conversion_seq = {t: i for i, t in enumerate(_core._types)}


class _Other:
    def __init__(self, name):
        self.name = name

    def __repr__(self):
        return self.name

    def __getitem__(self, item):
        return _Other(f"{self.name}[{item}]")


tensor_type, list_, tuple_, string, type_none, number, slice = (
    _Other(n) for n in ("Tensor", "List", "Tuple", "String", "TypeNone", "Number", "Slice"))
TensorType = tensor_type


def dtype_to_nptype(type_):
    import numpy
    return getattr(numpy, _as_type(type_).name.lower() if type_ is not bool_ else "bool_")


def dtype_to_pytype(type_):
    return _as_type(type_).python


def pytype_to_dtype(obj):
    return _as_type(obj)


def get_py_obj_dtype(obj):
    return _core.tensor_of(obj).dtype


def issubclass_(type_, dtype):
    group = {"Number": number_type}.get(getattr(dtype, "name", None))
    return type_ in group if group else type_ is dtype


__all__ = ["bool_", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "bfloat16", "float32",
           "float64", "byte", "short", "intc", "intp", "int_", "ubyte", "ushort", "uintc", "uintp", "uint", "uint_", "half", "double",
           "single", "float_", "tensor_type", "list_", "tuple_", "string", "type_none", "number", "number_type", "int_type",
           "float_type", "uint_type", "dtype_to_nptype", "dtype_to_pytype", "pytype_to_dtype", "get_py_obj_dtype", "TensorType"]
