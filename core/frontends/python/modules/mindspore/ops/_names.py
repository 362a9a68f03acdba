# SPDX-License-Identifier: Apache-2.0
"""What to do for a name that is not there: where modules come late, it may be in one of them."""


def missing(module, name, names):
    if name.startswith("_"):  # importlib asks so for each module of a package before it imports it
        raise AttributeError(f"module '{module}' has no attribute '{name}'")
    if module.startswith("mindspore.ops"):
        from mindspore.ops._late import find
        found = find(name)
        if found is not None:
            return found
    import difflib  # late: it takes longer than all modules here
    near = difflib.get_close_matches(name, [n for n in names if not n.startswith("_")], 4, 0.6)
    raise AttributeError(f"module '{module}' has no attribute '{name}': Gantry does not have it"
                         + (f"; near are {', '.join(near)}" if near else ""))
