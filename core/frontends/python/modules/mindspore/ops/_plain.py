# SPDX-License-Identifier: Apache-2.0
"""Python's own operators under the names that mindspore.ops.functional has for them."""
import operator as _operator
from mindspore import _core
from mindspore._core import Tensor, Scalar


def typeof(x):
    return _core.tensor_of(x).dtype if isinstance(x, (Tensor, Scalar)) else type(x)


def make_tuple(*items):
    return items


def make_list(*items):
    return list(items)


def make_dict(keys, values):
    return dict(zip(keys, values))


def tuple_reversed(x):
    return tuple(reversed(x))


def tuple_setitem(x, index, value):
    return x[:index] + (value,) + x[index + 1:] if index != -1 else x[:-1] + (value,)


def list_setitem(x, index, value):
    made = list(x)
    made[index] = value
    return made


def dict_setitem(x, key, value):
    return {**x, key: value}


def in_dict(key, x):
    return key in x


def not_in_dict(key, x):
    return key not in x


def shape_mul(shape):
    return _core._product(shape)


def is_(x, y):
    return x is y


def is_not(x, y):
    return x is not y


def bool_and(x, y):
    return x and y


def bool_or(x, y):
    return x or y


def scalar_log(x):
    import math
    return math.log(x)


def scalar_max(x, y):
    return max(x, y)


def scalar_min(x, y):
    return min(x, y)


def mixed_precision_cast(dst_type, value):
    """@value with all float tensors in it of @dst_type."""
    if isinstance(value, Tensor):
        return _core.cast(value, dst_type) if value.dtype.is_float else value
    if isinstance(value, dict):
        return {k: mixed_precision_cast(dst_type, v) for k, v in value.items()}
    if isinstance(value, (tuple, list)):
        return type(value)(mixed_precision_cast(dst_type, v) for v in value)
    return value


_SAME = {"scalar_add": "add", "scalar_sub": "sub", "scalar_mul": "mul", "scalar_div": "truediv", "scalar_floordiv": "floordiv",
         "scalar_mod": "mod", "scalar_pow": "pow", "scalar_eq": "eq", "scalar_ne": "ne", "scalar_lt": "lt", "scalar_le": "le",
         "scalar_gt": "gt", "scalar_ge": "ge", "scalar_uadd": "pos", "scalar_usub": "neg", "bool_not": "not_", "bool_eq": "eq",
         "string_eq": "eq", "string_concat": "add", "tuple_getitem": "getitem", "list_getitem": "getitem", "dict_getitem": "getitem",
         "tuple_equal": "eq", "list_equal": "eq"}
for _name, _same in _SAME.items():
    globals()[_name] = getattr(_operator, _same)
tuple_len = list_len = len
make_slice = slice

__all__ = [*_SAME, "typeof", "make_tuple", "make_list", "make_dict", "make_slice", "tuple_len", "list_len", "tuple_reversed",
           "tuple_setitem", "list_setitem", "dict_setitem", "in_dict", "not_in_dict", "shape_mul", "is_", "is_not", "bool_and", "bool_or",
           "scalar_log", "scalar_max", "scalar_min", "mixed_precision_cast"]
