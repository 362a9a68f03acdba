# SPDX-License-Identifier: Apache-2.0
"""Where the names are that few programs ask for: their modules are loaded then."""
_MODULES = ("_image", "_matrix", "_sequence", "_plain", "operations_more", "operations_rare", "operations_late", "_bessel", "mindspore.common.sparse_tensor")


def find(name):
    """What has that name in one of the modules; None where nothing has."""
    if name.startswith("_"):
        return None
    import importlib
    import types
    from mindspore.ops import _refused
    for module in _MODULES:
        found = importlib.import_module(module if "." in module else "mindspore.ops." + module)
        if name in found.__all__:
            late = getattr(found, name)
            return _refused.guarded(late, name) if isinstance(late, types.FunctionType) else late
    return None
