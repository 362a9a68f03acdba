# SPDX-License-Identifier: Apache-2.0
# s2.R067: STRICT: builtin functions that are no part of a graph; those of Python 2 are names that nobody defined.
import mindspore as ms
from mindspore import Parameter, Tensor, jit, jit_class, mutable, nn, ops, set_context
from mindspore.common.api import JitConfig

STRICT = JitConfig(jit_syntax_level="STRICT")


def raises(kind, text, call):
    try:
        call()
    except kind as error:
        assert type(error) is kind and text in str(error), repr(error)
    else:
        raise AssertionError("nothing was raised")


calls = {
    "bin": "bin(3)", "bytearray": "bytearray(3)", "callable": "callable(x)", "chr": "chr(3)", "compile": "compile('1', 'a', 'eval')",
    "delattr": "delattr(x, 'a')", "dir": "dir(x)", "divmod": "divmod(7, 2)", "eval": "eval('1')", "frozenset": "frozenset([1])",
    "hash": "hash(3)", "hex": "hex(3)", "id": "id(x)", "input": "input()", "issubclass": "issubclass(int, int)", "iter": "iter([1])",
    "locals": "locals()", "memoryview": "memoryview(x)", "next": "next([1])", "object": "object()", "oct": "oct(3)",
    "open": "open('x')", "ord": "ord('a')", "property": "property()", "repr": "repr(3)", "set": "set([1])", "slice": "slice(1)",
    "sorted": "sorted([2, 1])", "vars": "vars()", "__import__": "__import__('os')"}
gone = ("basestring", "cmp", "execfile", "file", "long", "raw_input", "reduce", "reload", "reverse", "unichr", "unicode", "xrange")
import importlib.util
import os
import tempfile


def function_with(body, folder):
    path = os.path.join(folder, f"m{abs(hash(body))}.py")
    with open(path, "w") as file:
        file.write(f"def f(x):\n    return {body}\n")
    spec = importlib.util.spec_from_file_location(os.path.basename(path)[:-3], path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return jit(module.f, jit_config=STRICT)


with tempfile.TemporaryDirectory() as folder:
    for name, body in calls.items():
        raises(RuntimeError, f"The builtin function '{name}' is not supported", lambda: function_with(body, folder)(3))
    for name in gone:
        raises(NameError, f"The name '{name}' is not defined", lambda: function_with(name + "(1)", folder)(3))
