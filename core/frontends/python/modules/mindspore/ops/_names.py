# SPDX-License-Identifier: Apache-2.0
"""What to say of a name that is not there."""
import difflib


def missing(module, name, names):
    if name.startswith("__"):
        raise AttributeError(name)
    near = difflib.get_close_matches(name, [n for n in names if not n.startswith("_")], 4, 0.6)
    raise AttributeError(f"module '{module}' has no attribute '{name}': Gantry does not have it"
                         + (f"; near are {', '.join(near)}" if near else ""))
