# SPDX-License-Identifier: Apache-2.0
"""Runs the cases of a file and prints what each gives in one line. Usage: show.py FILE [CASE...]"""
import importlib.util
import sys
import numpy as np


def show(value):
    if isinstance(value, (tuple, list)):
        return ("(" if isinstance(value, tuple) else "[") + ", ".join(show(v) for v in value) + "]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{k}: {show(v)}" for k, v in value.items()) + "}"
    if hasattr(value, "asnumpy"):
        return f"{value.dtype}" + array(value.asnumpy().astype(np.float64) if str(value.dtype) == "BFloat16" else value.asnumpy())
    if isinstance(value, np.ndarray):
        return f"numpy.{value.dtype}" + array(value)
    if type(value).__module__.startswith("mindspore"):
        return str(value)
    if isinstance(value, float):
        return f"{value:.4g}f"
    return f"{type(value).__name__}:{value}"


def array(values):
    if values.dtype.kind == "f":
        values = np.where(np.abs(values) < 5e-5, 0.0, values) + 0.0
    text = np.array2string(values, precision=3, suppress_small=True, separator=",", threshold=60, floatmode="fixed")
    return f"{tuple(values.shape)}" + "".join(text.split())


def main():
    spec = importlib.util.spec_from_file_location("cases", sys.argv[1])
    module = importlib.util.module_from_spec(spec)
    sys.modules["cases"] = module
    spec.loader.exec_module(module)
    names = sys.argv[2:] or [n for n in vars(module) if n.startswith("case_")]
    for name in names:
        print(f"@@{name} ", end="", flush=True)
        try:
            text = show(getattr(module, name)())
        except Exception as error:
            text = f"!{type(error).__name__}: " + " ".join(str(error).split())[:160]
        print("\n@=" + text.replace("\n", " "), flush=True)


main()
