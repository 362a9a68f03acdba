# SPDX-License-Identifier: Apache-2.0
"""What is said of a name that is not there."""
import difflib


def refuse(function, argument, value, *same):
    """An argument that is not followed is an error, unless it is one of @same, which say what is done anyway."""
    if not any(value is s or type(value) is type(s) and value == s for s in same):
        raise NotImplementedError(f"{function}: {argument}={value!r} is not there in Gantry; leave {argument} out")


def missing(module, name, names):
    """AttributeError: what is near, and what there is."""
    if name.startswith("__"):
        return AttributeError(f"module '{module}' has no attribute '{name}'")
    known = sorted(n for n in names if not n.startswith("_"))
    near = difflib.get_close_matches(name, known, 3, 0.6)
    hint = f" Near: {', '.join(near)}." if near else ""
    return AttributeError(f"module '{module}' has no attribute '{name}' in Gantry.{hint} There is: {', '.join(known)}.")
