# SPDX-License-Identifier: Apache-2.0
"""Gradients of functions and Cells."""
import _gantry
from mindspore import _core, _sequences
from mindspore._by_operations import graph_or_operations
from mindspore._core import Tensor, _Context, GRAPH_MODE, is_strict
from mindspore._types import _of_thread
from mindspore.common.parameter import Parameter, hooked


def _positions(grad_position, args):
    if grad_position is None:
        return ()
    positions = (grad_position,) if isinstance(grad_position, int) else tuple(grad_position)
    if not positions:
        raise RuntimeError("For 'grad', the 'grad_position' is an empty tuple: it names no argument; None takes the gradient by weights only.")
    for p in positions:
        if isinstance(p, bool) or not isinstance(p, int):
            raise TypeError(f"For 'grad', the elements of 'grad_position' must be int, but got {type(p).__name__}")
        if p < 0 or p >= len(args):
            raise IndexError(f"Position index {p} is exceed input size {len(args)}.")
    return positions


def _weights(weights):
    if weights is None:
        return None
    if isinstance(weights, Parameter):
        return (weights,)
    return tuple(weights)


def _is_leaf(value):
    """Tensors, and numbers that are variables."""
    return isinstance(value, (Tensor, _core.Scalar))


def _tensors(value):
    if _is_leaf(value):
        return 1
    if isinstance(value, (tuple, list)):
        return sum(_tensors(v) for v in value)
    return sum(_tensors(v) for v in value.values()) if isinstance(value, dict) else 0


def _shaped(value, grads):
    """The gradients in the structure of what they belong to."""
    if _is_leaf(value):
        return next(grads)
    if isinstance(value, (tuple, list)):
        found = [_shaped(v, grads) for v in value if _tensors(v)]
        return found if isinstance(value, list) else tuple(found)
    return {key: _shaped(v, grads) for key, v in value.items() if _tensors(v)} if isinstance(value, dict) else None


def _function_of(fn):
    return fn


class _Derivative:
    """A function that gives gradients; a graph where its function would be one."""

    def __init__(self, fn):
        self.fn = fn
        self._caches = {}
        self._constants = ()  # arguments that are known where it is called from outside of a graph
        self._needs_graph = False  # it met a derivative of one's own, which is part of a graph
        self.__name__ = "grad"

    def _is_graph(self):
        from mindspore.common.api import _Graph
        from mindspore.nn.cell import Cell
        function = getattr(self.fn, "__func__", self.fn)
        if isinstance(function, _Graph) or isinstance(self.fn, _Derivative) and self.fn._is_graph():
            return True
        if isinstance(self.fn, Cell):
            construct = getattr(self.fn.construct, "__func__", self.fn.construct)
            # A derivative of its own is part of a graph.
            return _Context.mode == GRAPH_MODE or isinstance(construct, _Graph) or any(hasattr(c, "bprop") for _, c in self.fn.cells_and_names())
        return _Context.mode == GRAPH_MODE

    def _key(self):
        flags = getattr(self.fn, "_flags_key", None)
        return (flags() if flags is not None else None, _Context.serial, _of_thread.amp)

    def __call__(self, *args, **kwargs):
        inside = _gantry.in_graph() or _gantry.recording()
        # A sequence that a graph is called with is known, and so are the tensors in it, unless it is mutable.
        self._constants = () if inside else tuple(i for i, a in enumerate(args) if isinstance(a, (tuple, list, dict))
                                                  and not getattr(a, "__gantry_mutable__", False))
        if inside:
            return self.compute(args, kwargs)
        if not self._is_graph() and not self._needs_graph:
            try:
                return self.compute(args, kwargs)
            except _core.NeedsGraph:
                self._needs_graph = True
        return graph_or_operations(
            self, lambda: _gantry.graph_call(self.grad, args, kwargs, self._caches, self._key(), is_strict()),
            lambda: self.compute(args, kwargs))

    def grad(self, *args, **kwargs):
        """What is made a graph of, or called where none could be made."""
        return self.compute(args, kwargs)

    def _run(self, args, kwargs, positions, weights, sens, has_aux):
        """@args: those given by name stand behind the others."""
        if sens is not None and not isinstance(sens, tuple):
            sens = (sens,)
        fn = self.fn
        if not _gantry.in_graph() and hasattr(fn, "construct") and not hasattr(fn, "bprop"):
            fn = fn if getattr(fn, "_computes_in", None) else fn.construct
            fn = getattr(fn, "__gantry_function__", fn)
        if kwargs:
            fn = _ByName(fn, tuple(kwargs))
        output, grads, n = _gantry.gradient(fn, tuple(args), None, tuple(positions), tuple(weights or ()), sens, has_aux)
        return output, iter(grads[:n]), tuple(hooked(w, g) for w, g in zip(weights or (), grads[n:]))


class _ByName:
    """A function whose last arguments are given to it by name."""

    def __init__(self, fn, names):
        self.fn, self.names = fn, names

    def __call__(self, *args):
        n = len(args) - len(self.names)
        return _gantry.call(self.fn, args[:n], dict(zip(self.names, args[n:])))


class _Grad(_Derivative):
    def __init__(self, fn, grad_position=0, weights=None, has_aux=False, return_ids=False, with_value=False):
        super().__init__(fn)
        self.grad_position, self.weights, self.has_aux = grad_position, _weights(weights), has_aux
        self.single_weight = isinstance(weights, Parameter)
        self.return_ids, self.with_value = return_ids, with_value

    def compute(self, args, kwargs):
        args += tuple(kwargs.values())
        positions = _positions(self.grad_position, args)
        # A dict that is given from outside is known, unless it is mutable: no gradient is taken by it.
        wanted = tuple(p for p in positions if not (p in self._constants and isinstance(args[p], dict)))
        output, inner, by_weights = self._run(args, kwargs, wanted, self.weights, None, self.has_aux)
        found = tuple(_shaped(args[p], inner) if p in wanted and _tensors(args[p]) else None for p in positions)
        by_position = tuple(g for g in found if g is not None)
        if self.return_ids:
            by_position = tuple((p, g) for p, g in zip(positions, by_position))
            by_weights = tuple((w.name, g) for w, g in zip(self.weights or (), by_weights))
        if self.single_weight:
            by_weights = by_weights[0]
        single = isinstance(self.grad_position, int) or len(positions) > 1 and len(by_position) == 1
        result = by_position[0] if single and by_position else by_position
        if self.weights is not None:
            result = by_weights if self.grad_position is None else (result, by_weights)
        if self.has_aux and not self.with_value:
            return result, output[1:]
        return (output, result) if self.with_value else result


def _check_position(grad_position, weights):
    if grad_position is None and weights is None:
        raise ValueError("`grad_position` and `weights` can not be None at the same time.")
    if grad_position is not None and not isinstance(grad_position, (int, tuple)):
        raise TypeError(f"For 'F.grad', the 'grad_position' must be int or tuple, but got {type(grad_position)}.")


def grad(fn, grad_position=0, weights=None, has_aux=False, return_ids=False):
    _check_position(grad_position, weights)
    return _Grad(fn, grad_position, weights, has_aux, return_ids)


def value_and_grad(fn, grad_position=0, weights=None, has_aux=False, return_ids=False):
    _check_position(grad_position, weights)
    return _Grad(fn, grad_position, weights, has_aux, return_ids, with_value=True)


def get_grad(gradients, identifier):
    identifier = identifier.name if isinstance(identifier, Parameter) else identifier
    for pair in _pairs(gradients):
        if pair[0] == identifier:
            return pair[1]
    raise RuntimeError(f"the gradients do not contain one of {identifier}")


def _pairs(value):
    if isinstance(value, tuple) and len(value) == 2 and isinstance(value[0], (int, str)):
        yield value
    elif isinstance(value, tuple):
        for v in value:
            yield from _pairs(v)


class _GradOperation(_Derivative):
    def __init__(self, fn, options, weights):
        super().__init__(fn)
        self.options, self.weights = options, weights

    def compute(self, args, kwargs):
        sens = None
        if self.options.sens_param:
            args, sens = args[:-1], args[-1]
        args += tuple(kwargs.values())
        weights = _weights(self.weights) if self.options.get_by_list else None
        by_position = self.options.get_all or not self.options.get_by_list
        positions = ((0,) if by_position and args else ()) if not self.options.get_all else \
            tuple(i for i in range(len(args)) if i not in self._constants)
        if self.options.get_by_list and weights is None:
            weights = tuple(self.fn.trainable_params())
        if not positions and not weights:
            return ()
        _, inner, by_weights = self._run(args, kwargs, positions, weights, sens, False)
        found = tuple(g for g in (_shaped(args[p], inner) if _tensors(args[p]) else None for p in positions) if g is not None)
        result = found if self.options.get_all else (found[0] if found else ())
        if not self.options.get_by_list:
            return result
        if isinstance(self.weights, Parameter):
            by_weights = by_weights[0]
        return (result, by_weights) if self.options.get_all else by_weights


class GradOperation:
    def __init__(self, get_all=False, get_by_list=False, sens_param=False):
        for name, value in (("get_all", get_all), ("get_by_list", get_by_list), ("sens_param", sens_param)):
            if not isinstance(value, bool):
                raise TypeError(f"For 'GradOperation', the '{name}' should be bool, but got {type(value).__name__}")
        self.get_all, self.get_by_list, self.sens_param = get_all, get_by_list, sens_param
        self._made = {}

    def __call__(self, fn, weights=None):
        key = (id(fn), id(weights))
        if key not in self._made:
            self._made[key] = (_GradOperation(fn, self, weights), fn, weights)
        return self._made[key][0]


class _Vjp(_Derivative):
    def __init__(self, fn, weights, has_aux):
        super().__init__(fn)
        self.weights, self.has_aux = _weights(weights), has_aux

    def compute(self, args, kwargs):
        sens, args = args[-1], args[:-1]
        output, inner, by_weights = self._run(args, {}, range(len(args)), self.weights, sens, self.has_aux)
        found = tuple(g for g in (_shaped(a, inner) if _tensors(a) else None for a in args) if g is not None)
        return output, found, by_weights


def vjp(fn, *inputs, weights=None, has_aux=False):
    derivative = _Vjp(fn, weights, has_aux)

    def pull_back(*sens):
        sens = sens if len(sens) != 1 else sens[0]
        _, found, by_weights = derivative(*inputs, sens)
        return (found, by_weights) if weights is not None else found
    if not inputs:
        return lambda *args: vjp(fn, *args, weights=weights, has_aux=has_aux)
    output = _gantry.call(fn, inputs)
    return (output[0], pull_back, _rest(output)) if has_aux else (output, pull_back)


def _rest(output):
    """What a function gives beside the value that is differentiated."""
    return output[1] if len(output) == 2 else output[1:]


class _First:
    """The value of a function that is differentiated, without what it gives beside."""

    def __init__(self, fn):
        self.fn = fn

    def __call__(self, *args):
        return _gantry.call(self.fn, args)[0]


class _Jvp(_Derivative):
    """The forward derivative as a derivative of the backward one, which is linear in its cotangent."""

    def __init__(self, fn, has_aux):
        super().__init__(fn)
        self.has_aux = has_aux

    def compute(self, args, kwargs):
        half = len(args) // 2
        inputs, tangents = args[:half], args[half:]
        output = _gantry.call(self.fn, inputs)
        rest = (_rest(output),) if self.has_aux else ()
        fn, output = (_First(self.fn), output[0]) if self.has_aux else (self.fn, output)
        outputs = output if isinstance(output, tuple) else (output,)

        def backward(*cotangents):
            _, grads, _ = _gantry.gradient(fn, tuple(inputs), None, tuple(range(half)), (), tuple(cotangents), False)
            return tuple(grads)
        seeds = tuple(_core.full(o.shape, 0, o.dtype) for o in outputs)
        _, result, _ = _gantry.gradient(backward, seeds, None, tuple(range(len(seeds))), (), tuple(tangents), False)
        return (output, tuple(result) if len(result) > 1 else result[0]) + rest


def jvp(fn, inputs, v, has_aux=False):
    inputs = inputs if isinstance(inputs, tuple) else (inputs,)
    v = v if isinstance(v, tuple) else (v,)
    return _Jvp(fn, has_aux)(*inputs, *v)


class _Jacobian(_Derivative):
    """A gradient for each element of the outputs."""

    def __init__(self, fn, grad_position, has_aux):
        super().__init__(fn)
        self.grad_position, self.has_aux = grad_position, has_aux

    def compute(self, args, kwargs):
        args += tuple(kwargs.values())
        positions = _positions(self.grad_position, args)
        output = _gantry.call(_ByName(self.fn, tuple(kwargs)), args)
        main, rest = (output[0], (_rest(output),)) if self.has_aux else (output, ())
        outputs = main if isinstance(main, tuple) else (main,)
        found = tuple(self._of_output(args, kwargs, positions, outputs, o) for o in range(len(outputs)))
        result = found if isinstance(main, tuple) else found[0]
        return (result,) + rest if rest else result

    def _of_output(self, args, kwargs, positions, outputs, which):
        output, rows = outputs[which], []
        for i in range(output.size):
            seeds = tuple(_core.reshape(_one_hot_row(i, o.size, o.dtype), o.shape) if o is output else _core.full(o.shape, 0, o.dtype)
                          for o in outputs)
            rows.append(list(self._run(args, kwargs, positions, None, seeds, self.has_aux)[1]))
        columns = tuple(_core.reshape(_sequences.stacked(list(column), None), output.shape + column[0].shape) for column in zip(*rows))
        return columns[0] if isinstance(self.grad_position, int) else columns


def jacrev(fn, grad_position=0, has_aux=False):
    return _Jacobian(fn, grad_position, has_aux)


jacfwd = jacrev


def _one_hot_row(i, n, dtype):
    return _core.convert(_core.compare("EQ", _core._op("iota", (), {"to": ("i32", (n,)), "iota_dimension": 0}), i), dtype)


def stop_gradient(value):
    """The same value, through which no gradient flows."""
    if isinstance(value, (tuple, list)):
        return type(value)(stop_gradient(v) for v in value)
    if not isinstance(value, Tensor) or value.element == "bool" or not (value.is_variable or value._is_parameter):
        return value
    return _core._op("stop_gradient", (value,))
