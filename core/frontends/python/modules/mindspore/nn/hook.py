# SPDX-License-Identifier: Apache-2.0
"""Functions that see gradients on their way, and may give others in their place: a derivative of one's own (bprop) around the value."""
import _gantry
from mindspore.nn.cell import Cell


class _Passing(Cell):
    def __init__(self, function):
        super().__init__(auto_prefix=False)
        self.function = function

    def construct(self, *values):
        return values if len(values) > 1 else values[0]

    def bprop(self, *given):
        values, cotangents = given[:-2], given[-1]
        cotangents = cotangents if len(values) > 1 else (cotangents,)
        changed = _gantry.call(self.function, cotangents)
        return cotangents if changed is None else changed if isinstance(changed, tuple) else (changed,)


def passing(function):
    """A Cell that gives what it is given, whose gradient is @function's of the gradient; None: as it is."""
    return _Passing(function)


class Hooking:
    """What a Cell with backward hooks computes in a graph that a gradient is taken of. Its hooks are called in eager mode alone, and so
    are those before and behind it."""

    def __init__(self, cell, construct):
        self.cell, self.construct, self.outputs = cell, construct, ()

    def _before(self, *gradients):
        """Of the outputs: they are known first."""
        for pre, hook in self.cell._backward_hooks.values():
            if pre:
                changed = _gantry.call(hook, (self.cell, gradients))
                gradients = gradients if changed is None else changed if isinstance(changed, tuple) else (changed,)
        self.outputs = gradients
        return gradients

    def _behind(self, *gradients):
        for pre, hook in self.cell._backward_hooks.values():
            if not pre:
                changed = _gantry.call(hook, (self.cell, gradients, self.outputs))
                gradients = gradients if changed is None else changed if isinstance(changed, tuple) else (changed,)
        return gradients

    def _forward(self, hooks, *given):
        value = given[-1]
        for hook in self.cell.__dict__.get(hooks, {}).values():
            changed = _gantry.call(hook, (self.cell, *given[:-1], value))
            value = value if changed is None else changed
        return value

    def __call__(self, *args, **kwargs):
        args = self._forward("_pre_hooks", args)
        args = args if isinstance(args, tuple) else (args,)
        args = passing(self._behind)(*args) if args else args
        args = args if isinstance(args, tuple) else (args,)
        output = self._forward("_hooks", args, _gantry.call(self.construct, args, kwargs))
        return passing(self._before)(*(output if isinstance(output, tuple) else (output,)))
