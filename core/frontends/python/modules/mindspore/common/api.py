# SPDX-License-Identifier: Apache-2.0
"""jit and its like."""
import functools
import types
import _gantry
from mindspore._core import _Context, STRICT, Tensor, Scalar, is_strict, syntax_level
from mindspore._types import _of_thread
from mindspore import _core
from mindspore._by_operations import graph_or_operations


class _Graph:
    """A function that runs as a graph, one for each signature."""

    def __init__(self, function, level=None):
        functools.update_wrapper(self, function)
        self.__gantry_function__ = function
        self._level = level
        self._caches = {}
        self._by_operations = False

    def __get__(self, instance, owner=None):
        return self if instance is None else types.MethodType(self, instance)

    def __call__(self, *args, **kwargs):
        if not self._by_operations:
            try:
                return self._run(args, kwargs, False)
            except _core.NoDerivative:
                pass
        return graph_or_operations(self, lambda: self._run(args, kwargs, False), lambda: self.__gantry_function__(*args, **kwargs))

    def compile(self, *args, **kwargs):
        return self._run(args, kwargs, True)

    def _run(self, args, kwargs, only_compile):
        function = self.__gantry_function__
        if args and isinstance(args[0], _cell_class()):
            instance, args = args[0], args[1:]
            # Kept by the Cell: its parameters and its graphs end together.
            cache = instance.__dict__.setdefault("_graph_caches", {}).setdefault(id(self), {})
            if not cache:
                instance._name_parameters()
            function = types.MethodType(function, instance)
            extra = (instance.training, _Context.serial, _of_thread.amp)
        else:
            cache, extra = self._caches, (_Context.serial, _of_thread.amp)
        return _gantry.graph_call(function, args, kwargs, cache, extra, is_strict(self._level), only_compile)


def _cell_class():
    from mindspore.nn.cell import Cell
    return Cell


def jit(fn=None, mode="PSJit", input_signature=None, hash_args=None, jit_config=None, compile_once=False, capture_mode=None,
        jit_level=None, dynamic=0, fullgraph=False, backend="", function=None, **options):
    """@fullgraph: as level STRICT; @function: as @fn"""
    level = syntax_level(jit_config) if jit_config is not None else STRICT if fullgraph else None
    fn = function if fn is None else fn

    def decorate(function):
        if isinstance(function, _Graph):
            return function
        return _Graph(function, level)
    return decorate if fn is None else decorate(fn)


ms_function = jit


class JitConfig:
    def __init__(self, jit_level="O1", exc_mode="auto", jit_syntax_level="", **options):
        self.jit_level, self.jit_syntax_level, self.options = jit_level, jit_syntax_level, options


def jit_class(cls):
    if not isinstance(cls, type):
        raise TypeError(f"Decorator jit_class can only be used for class type, but got {cls}.")
    if issubclass(cls, _cell_class()):
        raise TypeError(f"Decorator jit_class is used for user-defined classes and cannot be used for nn.Cell: {cls}.")
    cls.__jit_class__ = True
    return cls


ms_class = jit_class


def jit_ignore(function=None, **options):
    def decorate(function):
        function.__jit_ignore__ = True
        return function
    return decorate if function is None else decorate(function)


def constexpr(fn=None, get_instance=True, name=None, reuse_result=True, check=True):
    """A function that is computed while compiling."""
    def decorate(function):
        return _Constant(function)
    return decorate if fn is None else decorate(fn)


class _Constant:
    def __init__(self, function):
        functools.update_wrapper(self, function)
        self.function = function

    def __call__(self, *args, **kwargs):
        if _core._has_variable(args):
            raise TypeError(f"The arguments of constexpr function '{self.__name__}' have to be known while compiling.")
        return self.function(*args, **kwargs)


class _List(list):
    __gantry_mutable__ = True


class _Tuple(tuple):
    __gantry_mutable__ = True


class _Dict(dict):
    __gantry_mutable__ = True


class _Int(int):
    __gantry_mutable__ = True


class _Float(float):
    __gantry_mutable__ = True


def _graph_mutable(value):
    if isinstance(value, (list, tuple)):
        return type(value)(_graph_mutable(v) for v in value)
    if isinstance(value, dict):
        return {k: _graph_mutable(v) for k, v in value.items()}
    return _gantry.variable(value)


def mutable(input_data, dynamic_len=False):
    """A constant of a graph as a variable."""
    if not isinstance(input_data, (Tensor, Scalar, int, float, list, tuple, dict)) or isinstance(input_data, bool) and dynamic_len:
        raise TypeError(f"For 'mutable', the 'input_data' should be one of (bool, int, float, Tensor, tuple, list, dict) or their "
                        f"nested structures, but got {input_data}")
    if dynamic_len and not isinstance(input_data, (list, tuple)):
        raise TypeError(f"For 'mutable', when the 'dynamic_len' is True, the 'input_data' should be list or tuple, but got "
                        f"{input_data}.")
    if _gantry.in_graph():
        return _graph_mutable(input_data)
    if isinstance(input_data, Tensor):
        input_data._is_mutable = True
        return input_data
    for plain, own in ((list, _List), (tuple, _Tuple), (dict, _Dict), (float, _Float)):
        if isinstance(input_data, plain):
            return own(input_data)
    return _Int(input_data)


def isconstant(value):
    """Whether a value is known while compiling."""
    if isinstance(value, Tensor) and value._is_parameter:
        return not _gantry.in_graph()
    return not (_core._has_variable(value) if not isinstance(value, dict) else _core._has_variable(list(value.values())))


def ms_memory_recycle():
    pass


class _CellGraphExecutor:
    def compile(self, obj, *args, phase="", **kwargs):
        obj.compile(*args, **kwargs)
        return phase, True

    def __call__(self, obj, *args, phase="", **kwargs):
        return obj(*args, **kwargs)


_cell_graph_executor = _CellGraphExecutor()
_executor = _cell_graph_executor


def _pynative_executor_sync():
    pass


class _PynativeExecutor:
    """What a program waits for in eager mode: every operation has ended when it returns."""

    def sync(self):
        pass

    def set_grad_flag(self, flag):
        pass


_pynative_executor = _PynativeExecutor()


def lazy_inline(fn=None, attrs=None, policy=None):
    """Graphs are not cut at Cells: __init__ stays as it is."""
    return (lambda function: function) if fn is None else fn


def no_inline(fn=None):
    return (lambda function: function) if fn is None else fn


def recompute(block, *args, **kwargs):
    """What @block gives; where its values are kept or computed again, placements say."""
    return block(*args, **kwargs)


class _CompileConfig:
    """Switches of another compiler: each may be set, and is empty before."""

    def __getattr__(self, name):
        return ""


compile_config = _CompileConfig()


def cell_attr_register(fn=None, attrs=None):
    """An initializer stays as it is."""
    return (lambda function: function) if fn is None else fn


def ms_compile_cache(*args, **kwargs):
    return None


def deprecated(version, substitute, use_substitute_name=False):
    def decorate(function):
        @functools.wraps(function)
        def warned(*args, **kwargs):
            from mindspore import log
            log.warning(f"'{function.__name__}' is deprecated from version {version} and will be removed in a future version, use "
                        f"'{substitute}' instead.")
            return function(*args, **kwargs)
        return warned
    return decorate


class security:
    """What a library of MindSpore's answers of its build."""

    @staticmethod
    def enable_security():
        return False
