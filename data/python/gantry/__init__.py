# SPDX-License-Identifier: Apache-2.0
"""Shows a function of JAX, or a model of PyTorch, in Gantry's window.

    import gantry
    gantry.show (f, *arguments)

Nothing is run but the tracing that the framework itself does: a function of JAX is lowered to StableHLO, with names, locations and
shardings, a model of PyTorch goes through torch.export. Only the standard library is imported; JAX and torch are those of the program.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

__all__ = ["show", "save", "Error"]


class Error (Exception):
    """What was given cannot be shown, or nothing can show it; the message says why and what to do."""


# Frameworks. A module that the program has not imported did not make what it gives here.

def _is_instance (value, module, *names):
    module = sys.modules.get (module)
    return module is not None and any (isinstance (value, getattr (module, name)) for name in names if hasattr (module, name))


def _leaves (value):
    if isinstance (value, dict):
        value = list (value.values ())
    if isinstance (value, (list, tuple)):
        for element in value:
            yield from _leaves (element)
    else:
        yield value


def _is_torch (f, leaves):
    return (_is_instance (f, "torch.nn", "Module") or _is_instance (f, "torch.export", "ExportedProgram")
            or any (_is_instance (leaf, "torch", "Tensor") for leaf in leaves))


def _is_jax (f, leaves):
    return (hasattr (f, "lower") or hasattr (f, "as_text") or _is_instance (f, "jax.export", "Exported")
            or any (_is_instance (leaf, "jax", "Array", "ShapeDtypeStruct") for leaf in leaves)
            or (callable (f) and "jax" in sys.modules and "torch" not in sys.modules))


def _kind (f, arguments, keywords):
    leaves = list (_leaves ((arguments, keywords)))
    if _is_torch (f, leaves):
        return "torch"
    if _is_jax (f, leaves):
        return "jax"
    known = [name for name in ("jax", "torch") if name in sys.modules]
    for name in ("tensorflow", "mindspore", "mlx", "tinygrad"):
        if name in sys.modules and not known:
            raise Error ("gantry.show takes functions of JAX and models of PyTorch, and this program uses %s; "
                         "save its model as ONNX or StableHLO and open that" % name)
    if not callable (f):
        raise Error ("gantry.show takes a function and its arguments, not %s" % type (f).__name__)
    raise Error ("nothing says whether %s is of JAX or of PyTorch: %s"
                 % (getattr (f, "__name__", type (f).__name__),
                    "give it arrays of one of them" if known else "the program has imported neither"))


def _jax_text (f, arguments, keywords):
    if _is_instance (f, "jax.export", "Exported"):
        return f.mlir_module ()
    if not hasattr (f, "as_text"):
        if not hasattr (f, "lower"):
            f = sys.modules["jax"].jit (f)
        f = f.lower (*arguments, **keywords)
    try:
        return f.as_text (dialect="stablehlo", debug_info=True)
    except TypeError:
        # Before JAX 0.4.36: the same, asked of MLIR.
        return f.compiler_ir (dialect="stablehlo").operation.get_asm (enable_debug_info=True)


def _write_torch (f, arguments, keywords, path):
    import torch

    if not _is_instance (f, "torch.export", "ExportedProgram"):
        if not isinstance (f, torch.nn.Module):
            function = f

            class Function (torch.nn.Module):
                def forward (self, *arguments, **keywords):
                    return function (*arguments, **keywords)
            Function.__qualname__ = getattr (f, "__name__", "Function")
            f = Function ()
        f = torch.export.export (f, arguments, keywords or None)
    torch.export.save (f, path)


def _name (f):
    name = getattr (f, "__name__", None) or type (f).__name__
    return re.sub (r"[^A-Za-z0-9_.-]+", "_", name).strip ("._") or "function"


def _write (kind, f, arguments, keywords, path):
    """All of the file or none of it: a window that shows the one before takes up the new one."""
    folder = os.path.dirname (os.path.abspath (path))
    os.makedirs (folder, exist_ok=True)
    handle, part = tempfile.mkstemp (suffix=os.path.splitext (path)[1], dir=folder)
    os.close (handle)
    try:
        if kind == "torch":
            _write_torch (f, arguments, keywords, part)
        else:
            with open (part, "w", encoding="utf-8") as file:
                file.write (_jax_text (f, arguments, keywords))
        os.replace (part, path)
    finally:
        if os.path.exists (part):
            os.unlink (part)
    return path


def save (path, f, *arguments, **keywords):
    """Writes what show () would open: StableHLO (.mlir) of JAX, an archive (.pt2) of PyTorch. An ending that path lacks is
    added. Returns the path."""
    kind = _kind (f, arguments, keywords)
    path, ending = os.fspath (path), ".pt2" if kind == "torch" else ".mlir"
    return _write (kind, f, arguments, keywords, path if path.endswith (ending) else path + ending)


# Where it is shown

def _program ():
    """The window's program: $GANTRY, that of the build or installation which this file is of, or the one in $PATH."""
    here = os.path.dirname (os.path.abspath (__file__))
    candidates = [os.environ.get ("GANTRY"),
                  os.path.join (here, "..", "..", "..", "..", "bin", "gantry"),
                  os.path.join (here, "..", "..", "..", "app", "gantry"),
                  shutil.which ("gantry")]
    for candidate in candidates:
        if candidate and os.path.isfile (candidate) and os.access (candidate, os.X_OK):
            return os.path.normpath (candidate)
    raise Error ("the program gantry is not found: install it, put it in $PATH, or say where it is by $GANTRY")


def _folder ():
    cache = os.environ.get ("XDG_CACHE_HOME") or os.path.join (os.path.expanduser ("~"), ".cache")
    return os.path.join (cache, "gantry", "shown")


def _unique (folder, name):
    """One name for each function that a program shows: the same at its next run, so that the window takes it up again."""
    number = _shown[name] = _shown.get (name, 0) + 1
    return os.path.join (folder, name if number == 1 else "%s-%d" % (name, number))


_shown = {}


def show (f, *arguments, **keywords):
    """Opens f, called with these arguments, in the window: in the one that is open, else in a new one. f is a function of JAX (jitted or
    not), what it lowers to, a module or function of PyTorch, or an exported program. With $GANTRY_SHOW set the file is only written to that
    folder. Returns the path of the file."""
    kind = _kind (f, arguments, keywords)
    script = os.path.splitext (os.path.basename (getattr (sys.modules.get ("__main__"), "__file__", None) or "python"))[0]
    only = os.environ.get ("GANTRY_SHOW")
    path = _unique (only or _folder (), "%s-%s" % (script, _name (f))) + (".pt2" if kind == "torch" else ".mlir")
    if only:
        return _write (kind, f, arguments, keywords, path)
    program = _program ()
    _write (kind, f, arguments, keywords, path)
    if sys.platform.startswith ("linux") and not os.environ.get ("DISPLAY") and not os.environ.get ("WAYLAND_DISPLAY"):
        raise Error ("there is no display to open a window on; %s is written: `gantry-cli info` and all commands read it, and "
                     "gantry.save (path, f, ...) only writes" % path)
    subprocess.Popen ([program, path], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, start_new_session=True)
    return path
