# SPDX-License-Identifier: Apache-2.0
"""Parameters: tensors that a program trains."""
import _gantry
from mindspore import _core
from mindspore._core import Tensor


class Parameter(Tensor):
    def __init__(self, default_input, name=None, requires_grad=True, layerwise_parallel=False, parallel_optimizer=True,
                 storage_format="", device=None):
        if isinstance(default_input, str):
            raise TypeError(f"The type of the argument 'default_input' must be in ['Tensor', 'int', 'float', 'numpy.ndarray', "
                            f"'list']. But got type {type(default_input)}.")
        if name is not None and not isinstance(name, str):
            raise ValueError(f"The type of the Parameter's name should be 'string' or 'None', but got {type(name)}.")
        if not isinstance(requires_grad, bool):
            raise TypeError(f"The argument `requires_grad` must be bool type, but got {type(requires_grad)}.")
        value = _core._copied(default_input) if isinstance(default_input, Tensor) else _core.tensor_of(default_input)
        if isinstance(default_input, Tensor) and default_input.has_data:
            value = _gantry.value_from(memoryview(default_input)) if default_input.element != "bf16" else value
        self._take(value)
        self._is_parameter = True
        self.name = name if name is not None else "Parameter"
        self.requires_grad = requires_grad
        self.layerwise_parallel, self.parallel_optimizer = layerwise_parallel, parallel_optimizer
        self.comm_fusion, self.sliced, self.unique, self.cache_enable, self.key = 1, False, False, False, None

    def __repr__(self):
        return f"Parameter (name={self.name}, shape={tuple(self.shape)}, dtype={self.dtype}, requires_grad={self.requires_grad})"

    def __str__(self):
        if _gantry.in_graph():
            return repr(self)
        return repr(self)

    def __hash__(self):
        return id(self)

    @property
    def data(self):
        return self

    @property
    def is_init(self):
        return True

    @property
    def parameter_shape(self):
        return self.shape

    def set_data(self, data, slice_shape=False):
        value = _core.tensor_of(data)
        if value.shape != self.shape and not slice_shape:
            raise ValueError(f"Can not change the shape of Parameter which has been initialized. Current shape is {self.shape}, and "
                             f"incoming is {value.shape}.")
        _gantry.assign(self, _gantry.stored(value))
        return self

    def assign_value(self, value):
        return self.set_data(value)

    def value(self):
        return _core._copied(self)

    def register_hook(self, hook):
        """Each gradient by this parameter is what @hook makes of it, where that is not None."""
        if _gantry.in_graph():
            raise ValueError("Register hook for Parameter inside graph is not supported.")
        if not callable(hook):
            raise TypeError(f"For 'register_hook', the hook must be a function, but got {type(hook).__name__}.")
        hooks = self.__dict__.setdefault("_hooks", {})
        return HookHandle(hooks, hook)

    def init_data(self, layout=None, set_sliced=False):
        return self

    def clone(self, init="same"):
        if init == "same":
            made = Parameter(_core._copied(self), self.name, self.requires_grad)
        else:
            from mindspore.common.initializer import initializer
            made = Parameter(initializer(init, self.shape, self.dtype), self.name, self.requires_grad)
        return made

    def copy(self):
        return _core._copied(self)

    def __deepcopy__(self, memo):
        made = Parameter(_core._copied(self), self.name, self.requires_grad)
        memo[id(self)] = made
        return made

    def __reduce__(self):
        return _restored, (self.tolist(), self.dtype.name.lower(), self.name, self.requires_grad)


def _restored(data, dtype, name, requires_grad):
    return Parameter(Tensor(data, _core.as_type(dtype)), name, requires_grad)


class HookHandle:
    """What takes a hook away again. Graphs that were made with it are not those without."""

    def __init__(self, hooks, hook):
        self.hooks, self.key = hooks, object()
        hooks[self.key] = hook
        _core._Context.serial += 1

    def remove(self):
        if self.hooks.pop(self.key, None) is not None:
            _core._Context.serial += 1


def hooked(parameter, gradient):
    """A gradient by @parameter, with what its hooks make of it."""
    for hook in getattr(parameter, "_hooks", {}).values():
        changed = _gantry.call(hook, (gradient,))
        gradient = gradient if changed is None else changed
    return gradient


class ParameterTuple(tuple):
    def __new__(cls, iterable):
        parameters = list(iterable)
        if not all(isinstance(p, Parameter) for p in parameters):
            raise TypeError(f"For ParameterTuple initialization, ParameterTuple input should be 'Parameter' collection, but got a {type(iterable)}.")
        return tuple.__new__(cls, parameters)

    def clone(self, prefix, init="same"):
        made = []
        for parameter in self:
            copy = parameter.clone(init)
            copy.name = prefix + "." + parameter.name
            made.append(copy)
        return ParameterTuple(made)
