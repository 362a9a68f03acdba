# SPDX-License-Identifier: Apache-2.0
"""What public functions say of arguments that they do not take. Within them such arguments meet CPython's own operators: what these say
is turned into the exceptions that MindSpore has, for arguments of a wrong kind a TypeError."""
import re
import types

from mindspore._core import NeedsData, Scalar, Tensor

_NO_TENSOR = re.compile(r"'(int|float|bool|str|tuple|list|dict|NoneType|function|builtin_function_or_method)' object has no attribute ")
_NO_NUMBER = re.compile(r"Only integer tensors of a single element|only one element tensors can be converted|The tensor should have only one element|"
                        r"invalid literal for int\(\)|could not convert string to float")
_NO_PLACE = ("tuple index out of range", "list index out of range", "list assignment index out of range")
# The first arguments of functions of tensors, by the names that they have.
_TENSORS = {"input", "x", "input_x", "self", "tensor", "logits", "target", "labels", "weight", "bias", "running_mean", "running_var", "mat1", "mat2",
            "batch1", "batch2", "vec", "vec1", "vec2", "input2", "x2", "other", "end", "min", "max", "tensor1", "tensor2"}
_WRONG = (str, list, tuple, dict, types.FunctionType)


def _wrong_argument(function, args, kwargs):
    """The name of an argument and what was given for it, where that is of a wrong kind. (nullable)"""
    code = function.__code__
    named = list(zip(code.co_varnames[:code.co_argcount], args)) + list(kwargs.items())
    for name, value in named:
        if isinstance(value, dict):
            return name, value
        if name in _TENSORS and not isinstance(value, (Tensor, Scalar)):
            if isinstance(value, _WRONG) or named and name == named[0][0]:
                return name, value
    return None


def _said(name, function, args, kwargs, error):
    """The exception that stands for @error, or @error."""
    text, kind = str(error), type(error)
    if kind is AttributeError and _NO_TENSOR.match(text):
        return TypeError(f"For '{name}', an argument must be a Tensor, but got {_NO_TENSOR.match(text).group(1)}.")
    if kind is ZeroDivisionError or kind is IndexError and text in _NO_PLACE:
        return ValueError(f"For '{name}', the tensors have too few dimensions or elements.")
    if kind is not ValueError:
        return error
    if _NO_NUMBER.match(text):
        return TypeError(f"For '{name}', an argument must be a number: {text}")
    wrong = _wrong_argument(function, args, kwargs)
    if wrong is not None:
        return TypeError(f"For '{name}', the argument '{wrong[0]}' cannot be {type(wrong[1]).__name__}.")
    return error


def _is_ours(error):
    """Whether it was raised in these modules, and not by a function of the program that one of them calls."""
    last = error.__traceback__
    while last.tb_next is not None:
        last = last.tb_next
    return last.tb_frame.f_code.co_filename.startswith("<gantry>")


def inspected(function):
    """The function that @function is made around."""
    while hasattr(function, "__wrapped__"):
        function = function.__wrapped__
    return function


def guarded(function, name=None):
    """@function, which programs call @name, with the exceptions that MindSpore has."""
    name = name or function.__name__

    def call(*args, **kwargs):
        try:
            return function(*args, **kwargs)
        except (AttributeError, ValueError, ZeroDivisionError, IndexError) as error:
            if isinstance(error, NeedsData) or not _is_ours(error):
                raise
            said = _said(name, inspected(function), args, kwargs, error)
            if said is error:
                raise
            raise said from None
    call.__dict__.update(function.__dict__)
    call.__name__, call.__module__, call.__doc__, call.__wrapped__ = function.__name__, function.__module__, function.__doc__, function
    return call


def guard(names, listed):
    """Puts them in place in the dict of a module; one function under several names stays one."""
    made = {}
    for name in listed:
        function = names.get(name)
        if isinstance(function, types.FunctionType):
            if function not in made:
                made[function] = guarded(function, name)
            names[name] = made[function]
