# SPDX-License-Identifier: Apache-2.0
"""What is said of a name that is not there."""
import difflib


def missing(module, name, names):
    """AttributeError: what is near, and what there is."""
    if name.startswith("__"):
        return AttributeError(f"module '{module}' has no attribute '{name}'")
    known = sorted(n for n in names if not n.startswith("_"))
    near = difflib.get_close_matches(name, known, 3, 0.6)
    hint = f" Near: {', '.join(near)}." if near else ""
    return AttributeError(f"module '{module}' has no attribute '{name}' in Gantry.{hint} There is: {', '.join(known)}.")
