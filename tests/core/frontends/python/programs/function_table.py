# SPDX-License-Identifier: Apache-2.0
"""Functions of ops, mint and numpy and methods of tensors on small tensors, in eager mode and as graphs: types, shapes and values as MindSpore
2.7.0 computes them on a processor, and the types of its exceptions. Each row of function_table.txt is `call | tensors | what it gives`; a
tensor is element type, sizes, kind and seed."""
import importlib.util
import os
import re
import tempfile

import numpy as np
import mindspore as ms
from mindspore import Tensor, ops

TYPES = {"f32": np.float32, "f16": np.float16, "f64": np.float64, "i32": np.int32, "i64": np.int64, "i16": np.int16, "i8": np.int8,
         "u8": np.uint8, "b": np.bool_, "bf": np.float32}
HEAD = """import mindspore as ms
from mindspore import ops, mint
from mindspore.mint import linalg as lin, special as spe
from mindspore.mint.nn import functional as F
import mindspore.numpy as mnp
inf = float('inf')
"""


def tensor(text):
    name, sizes, kind, seed = text.split(":")
    shape, rng = tuple(int(n) for n in sizes.split("x") if n), np.random.RandomState(int(seed))
    floats = name.startswith("f") or name == "bf"
    if kind == "i":
        values = rng.randint(0, 2, shape)
    elif name == "b":
        values = rng.rand(*shape) > 0.5
    elif kind == "p":
        values = rng.rand(*shape) * 0.8 + 0.1 if floats else rng.randint(1, 6, shape)
    elif floats:
        values = rng.randn(*shape) * 2
    else:
        values = rng.randint(0, 9, shape) if name == "u8" else rng.randint(-4, 6, shape)
    made = Tensor(np.asarray(values).astype(TYPES[name]))
    return made.astype(ms.bfloat16) if name == "bf" else made


def shown(value):
    if isinstance(value, Tensor):
        array = (value.astype(ms.float32) if str(value.dtype) == "BFloat16" else value).asnumpy()
        return f"{value.dtype} {tuple(array.shape)} [{', '.join('%.4g' % v if isinstance(v, float) else str(v) for v in array.reshape(-1).tolist())}]"
    if isinstance(value, (tuple, list)):
        return "(" + "; ".join(shown(v) for v in value) + ")"
    return f"{type(value).__name__} {value}"


NUMBER = re.compile(r"-?\d+\.?\d*(?:e[+-]?\d+)?")


def agree(a, b):
    x, y = ([float(v) for v in NUMBER.findall(t)] for t in (a, b))
    near = len(x) == len(y) and all(abs(p - q) <= 4e-3 * max(1, abs(p)) for p, q in zip(x, y))
    return near and NUMBER.sub("#", a) == NUMBER.sub("#", b)


def given(function, tensors):
    try:
        return shown(function(*tensors))
    except Exception as error:
        return "!" + next(t.__name__ for t in type(error).__mro__ if t.__module__ == "builtins")


here = os.path.dirname(os.path.abspath(__file__))
rows = [[part.strip() for part in line.split("|")] for line in open(os.path.join(here, "function_table.txt")) if line.strip()]
assert len(rows) > 200, len(rows)
with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "calls.py")
    with open(path, "w") as file:  # a graph is made of the source
        file.write(HEAD + "".join(f"\n\ndef call_{i}({', '.join(f'a{k}' for k in range(len(t.split())))}):\n    return {call}\n"
                                  for i, (call, t, _) in enumerate(rows)))
    spec = importlib.util.spec_from_file_location("calls", path)
    calls = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(calls)
    wrong = []
    for i, (call, tensors, expected) in enumerate(rows):
        function = getattr(calls, f"call_{i}")
        for mode, made in (("eager", function), ("graph", ms.jit(function))):
            found = given(made, [tensor(t) for t in tensors.split()])
            if not agree(expected, found):
                wrong.append(f"{call} {tensors} ({mode}): {found}, not {expected}")
assert not wrong, "\n" + "\n".join(wrong)


# What a function of the program raises is its own, whoever calls it.
def unknown(x):
    return (3).missing + x


try:
    ops.vmap(unknown)(Tensor(np.ones((2, 3), np.float32)))
except AttributeError as error:
    assert "'int' object has no attribute 'missing'" in str(error), error
else:
    raise AssertionError("no AttributeError")
