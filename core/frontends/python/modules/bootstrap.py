# SPDX-License-Identifier: Apache-2.0
"""Finds Gantry's own modules in the program itself, before any that are installed."""
import sys
import _gantry
from importlib.machinery import ModuleSpec


class _Finder:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name.partition(".")[0] not in ("mindspore", "jax", "optax"):
            return None
        base = name.replace(".", "/")
        for file, package in ((base + "/__init__.py", True), (base + ".py", False)):
            text = _gantry.resource(file)
            if text is not None:
                spec = ModuleSpec(name, _Finder, origin="<gantry>/" + file, is_package=package)
                spec.loader_state = text
                spec.has_location = True
                return spec
        return None

    @staticmethod
    def create_module(spec):
        return None

    @staticmethod
    def exec_module(module):
        spec = module.__spec__
        exec(compile(spec.loader_state, spec.origin, "exec", dont_inherit=True), module.__dict__)


sys.meta_path.insert(0, _Finder)
