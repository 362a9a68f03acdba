# SPDX-License-Identifier: Apache-2.0
"""What is said of a name that is not there."""
import difflib


def refuse(function, argument, value, *same):
    """An argument that is not followed is an error, unless it is one of @same, which say what is done anyway."""
    if not any(value is s or type(value) is type(s) and value == s for s in same):
        raise NotImplementedError(f"{function}: {argument}={value!r} is not there in Gantry; leave {argument} out")


_COMPLEX = ("fft", "complex", "complex64", "complex128", "complex_", "csingle", "cdouble", "complexfloating", "ifft", "rfft", "irfft")


def missing(module, name, names):
    """AttributeError: what is near, and what there is."""
    if name.startswith("__"):
        return AttributeError(f"module '{module}' has no attribute '{name}'")
    if name in _COMPLEX:
        return AttributeError(f"module '{module}' has no attribute '{name}' in Gantry: complex numbers are not there; write a number as its real and "
                              "its imaginary part. A program that has them, as StableHLO of the real JAX, opens for viewing")
    known = sorted(n for n in names if not n.startswith("_"))
    near = difflib.get_close_matches(name, known, 3, 0.6)
    hint = f" Near: {', '.join(near)}." if near else ""
    return AttributeError(f"module '{module}' has no attribute '{name}' in Gantry.{hint} There is: {', '.join(known)}.")
