# SPDX-License-Identifier: Apache-2.0
"""Where the names are that few programs ask for: their modules are loaded then."""
_MODULES = ("_image", "_matrix", "_sequence", "_plain", "operations_more", "operations_rare", "operations_late", "_bessel", "mindspore.common.sparse_tensor")


def find(name):
    """What has that name in one of the modules; None where nothing has."""
    if name.startswith("_"):
        return None
    import importlib
    for module in _MODULES:
        found = importlib.import_module(module if "." in module else "mindspore.ops." + module)
        if name in found.__all__:
            return getattr(found, name)
    return None
