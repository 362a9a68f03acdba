# SPDX-License-Identifier: Apache-2.0
"""Derivatives of the arms of a branch that are all run, because a batch decides between them (_branch.py)."""
import _gantry
from jax import _core, _types
from jax.tree_util import tree_map


class Gate:
    """
    What an arm reads passes through unchanged; a derivative by it goes to the examples that took the arm and to no others. In those the arm
    was run all the same, where its derivative may be infinite or no number: times the zero that comes back from the choice that is no number
    either. JAX does the same.
    """

    def __init__(self, predicate):
        self.predicate = predicate

    def __enter__(self):
        self.stack = _core.Gates.stack
        if _gantry.differentiating():
            _core.Gates.stack = self.stack + [self]

    def __exit__(self, *error):
        _core.Gates.stack = self.stack

    def passed(self, x):
        from jax import lax
        if not x.is_variable or not _types.is_float(x.dtype) or x._kind != _core.DEVICE:
            return x
        made = _core.select(self.predicate, x, lax.stop_gradient(x))
        made._weak = x._weak
        return made


class only:
    """Within it @stack are the gates: none for what is no operation of the arm, such as the making of a derivative."""

    def __init__(self, stack):
        self.stack = stack

    def __enter__(self):
        self.before, _core.Gates.stack = _core.Gates.stack, self.stack
        return self.before

    def __exit__(self, *error):
        _core.Gates.stack = self.before


def passed(tree):
    """What is read as the arms that are being run read it: what they made themselves as it is."""
    return tree_map(_passed, tree) if _core.Gates.stack else tree


def _passed(x):
    if not isinstance(x, _gantry.Value):
        return x
    with only([]) as stack:
        for gate in stack[stack.index(x._gate) + 1 if x._gate in stack else 0:]:
            x = gate.passed(x)
    made_inside([x])
    return x


def made_inside(values):
    """Marks what is the arm's own: an example, and all examples of it."""
    for x in values if _core.Gates.stack else ():
        x._gate = _core.Gates.stack[-1]
        if isinstance(x, _core.Batched):
            made_inside([x.value])


def op_within(run, name, operands, attrs):
    """An operation of an arm. The rules of a batch apply others in turn, which are the operation's own."""
    operands = tuple(_passed(x) for x in operands)
    with only([]):
        result = run(name, operands, attrs)
    made_inside(result if isinstance(result, tuple) else (result,))
    return result
