# SPDX-License-Identifier: Apache-2.0
"""Finds Gantry's own modules in the program itself, before any that are installed."""
import marshal
import sys
import _gantry
from _frozen_importlib import ModuleSpec  # what importlib gives under another name, without its own imports
from _frozen_importlib_external import MAGIC_NUMBER


class _Compiled:
    """The code of modules, made when Gantry was built; nothing where this is another version of CPython."""

    def __init__(self):
        data = _gantry.resource("compiled.bin")
        at = len(MAGIC_NUMBER) + 4
        end = at + int.from_bytes(data[at - 4:at], "little")
        self.index = marshal.loads(data[at:end]) if data[:len(MAGIC_NUMBER)] == MAGIC_NUMBER else {}
        self.code = data[end:]

    def get(self, file):
        at = self.index.get(file)
        return marshal.loads(self.code[at[0]:at[1]]) if at is not None else None


class _Arrays:
    """What loads NumPy: as its own loader does, and then its arrays are made where a graph can read them in place."""

    def __init__(self, loader):
        self.loader = loader

    def __getattr__(self, name):
        return getattr(self.loader, name)

    def create_module(self, spec):
        return self.loader.create_module(spec)

    def exec_module(self, module):
        module.__spec__.loader = module.__loader__ = self.loader
        self.loader.exec_module(module)
        for name in ("numpy._core._multiarray_umath", "numpy.core._multiarray_umath"):
            if name in sys.modules:
                _gantry.align_arrays(sys.modules[name]._ARRAY_API)
                break

    @staticmethod
    def spec_of(name, path, target):
        for finder in sys.meta_path:
            spec = finder.find_spec(name, path, target) if finder is not _Finder else None
            if spec is not None:
                if spec.loader is not None:
                    spec.loader = _Arrays(spec.loader)
                return spec
        return None


class _Finder:
    compiled = None

    @staticmethod
    def find_spec(name, path=None, target=None):
        if name == "numpy":
            return _Arrays.spec_of(name, path, target)
        if name.partition(".")[0] not in ("mindspore", "jax", "optax"):
            return None
        base = name.replace(".", "/")
        for file, package in ((base + "/__init__.py", True), (base + ".py", False)):
            text = _gantry.resource(file)
            if text is not None:
                # What others have in several modules is one here: it is a package too, whose paths lead to itself.
                spec = ModuleSpec(name, _Finder, origin="<gantry>/" + file, is_package=package or name.startswith("mindspore."))
                spec.loader_state = text
                spec.has_location = True
                return spec
        if name.startswith("mindspore."):
            from mindspore import _paths
            places = _paths.places_of(name)
            if places is not None:
                spec = ModuleSpec(name, _Finder, origin="<gantry>/" + base, is_package=True)
                spec.loader_state = places
                return spec
        return None

    @staticmethod
    def create_module(spec):
        return None

    @staticmethod
    def exec_module(module):
        spec = module.__spec__
        if isinstance(spec.loader_state, tuple):
            from mindspore import _paths
            return _paths.fill(module, spec.loader_state)
        if _Finder.compiled is None:
            _Finder.compiled = _Compiled()
        code = _Finder.compiled.get(spec.origin.removeprefix("<gantry>/"))
        exec(code if code is not None else compile(spec.loader_state, spec.origin, "exec", dont_inherit=True), module.__dict__)


sys.meta_path.insert(0, _Finder)
