# SPDX-License-Identifier: Apache-2.0
"""Branches: one arm is run, or, where a batch decides, all are, and each example has what its own gave."""
import _gantry
from jax import _batch, _core, _custom, _effects, _types
from jax._control import arrays_of, outermost, type_text, unlike, within
from jax._core import asarray
from jax._gate import Gate, passed
from jax._types import int32
from jax.tree_util import keystr, tree_leaves_with_path, tree_map, tree_unflatten


class _Arms:
    """
    The arms of a branch: that of the first of @tests that holds is taken, else the last. All give the same structure and types, whichever
    is taken; numbers of Python's are weak in the result where they are so in arm @weak_of.
    """

    def __init__(self, name, labels, tests, functions, operands, weak_of):
        self.name, self.labels, self.tests, self.functions, self.operands, self.weak_of = name, labels, tests, functions, operands, weak_of
        self.made = {}

    def run(self, k, operands=None):
        leaves, structure = arrays_of(self.functions[k](*(self.operands if operands is None else operands)))
        if k == self.weak_of:
            self.weak = [a._weak for a in leaves]
        self.made[k] = structure, leaves
        for other in self.made if 0 in self.made else ():
            self._compare(other)
        return leaves

    def _compare(self, k):
        (own, expected), (structure, leaves) = self.made[0], self.made[k]
        one, other = self.labels[0], self.labels[k]
        if structure != own:
            raise TypeError(f"{self.name} branch outputs must have the same pytree structure, but they differ: that of {one} has structure {own} "
                            f"and that of {other} {structure}.")
        lines = []
        for (path, a), b in zip(tree_leaves_with_path(tree_unflatten(own, expected)), leaves):
            at = f" at path {keystr(path)}" if path else ""
            if unlike(a, b):
                lines.append(f"The output of {one}{at} has type {type_text(a)} but the corresponding output of {other} has type {type_text(b)}, "
                             f"so the {unlike(a, b)} do not match.")
        if lines:
            raise TypeError(f"{self.name} branches must have equal output types but they differ.\n\n" + "\n".join(lines) +
                            f"\n\nRevise {one} and/or {other} so that all output types match.")

    def taken(self):
        """The leaves of the result, and their structure."""
        if any(isinstance(t, _core.Batched) for t in self.tests):
            leaves = self._all()
        elif outermost() and all(t.has_data for t in self.tests):
            leaves = self._known()
        else:
            try:
                leaves = _batch.over_batches(self._one, [])
            except _custom.InBody:
                leaves = self._all()
        leaves = [_core.copy_of(a) for a in leaves]
        for a, weak in zip(leaves, self.weak):
            a._weak = weak
        return tree_unflatten(self.made[0][0], leaves)

    def _known(self):
        """The others are not run, and traced for their types."""
        from jax import _stage
        k = next((i for i, t in enumerate(self.tests) if bool(t)), len(self.tests))
        leaves = self.run(k)
        if not _stage.Jitted.disabled:
            for other in range(len(self.functions)):
                if other != k:
                    _gantry.untraced(_stage.trace, (lambda *operands, other=other: self.run(other, operands), self.operands))
        else:
            self.weak, self.made[0] = [a._weak for a in leaves], self.made[k]
        return leaves

    def _all(self):
        made, free = [], None
        for k in range(len(self.functions)):
            test = self.tests[k] if k < len(self.tests) else None
            mine = test if free is None else free if test is None else _core.bitwise("and", free, test)
            with Gate(mine):
                made.append(self.run(k))
            if test is not None:
                free = _core.unary("not", test) if free is None else _core.bitwise("and", free, _core.unary("not", test))
        result = made.pop()
        for test, leaves in zip(reversed(self.tests), reversed(made)):
            result = [_core.select(test, a, b) for a, b in zip(leaves, result)]
        return result

    def _one(self, levels):
        """A branch of the graph. @levels: (level, size) of the batches that the arms read, the innermost first"""
        def whole(a):
            a = _batch.spread_all(a, levels)
            return _core.convert(a, a.dtype)

        noted = {}

        def arm(k, seen):
            def leaves():
                with _effects.noting() as notes:
                    made = [whole(a) for a in passed(self.run(k))]
                noted[k] = notes.noted
                return _batch.not_batched(made + seen(k, notes.values))
            if k == len(self.tests):
                return leaves
            return lambda: list(_gantry.branch(self.tests[k], within(leaves), within(arm(k + 1, seen))))

        def told(k, values):
            """Which arm was taken, and the values of each: of the others any."""
            return [asarray(k)] + [x for j in range(len(first)) for x in (values if j == k else [_core.full(*spec) for spec in first[j]])]
        result = arm(0, lambda k, values: [])()
        if not any(noted.values()):
            return [_batch.example_of(a, levels) for a in result]
        first = [[(v.shape, 0, v.dtype) for effect in noted[k] for v in effect.values] for k in range(len(self.functions))]
        result = arm(0, told)()
        n = len(result) - 1 - sum(map(len, first))
        _effects.arms([noted[k] for k in range(len(first))], result[n:])
        return [_batch.example_of(a, levels) for a in result[:n]]


_NONE = object()


def cond(pred, true_fun, false_fun, *operands, operand=_NONE, linear=None):
    if operand is not _NONE:
        operands = (operand,)
    if not _core.is_scalar(pred) and not hasattr(pred, "dtype"):
        raise TypeError(f"Pred must be a scalar, got {pred} of type {type(pred)}")
    pred = asarray(pred)
    if pred.shape:
        raise TypeError(f"Pred must be a scalar, got {pred} of shape {pred.shape}.")
    pred = _core.compare("NE", pred, 0) if pred.element != "bool" else pred
    return _Arms("cond", ("true_fun", "false_fun"), [pred], (true_fun, false_fun), operands, 1).taken()


def switch(index, branches, *operands, operand=_NONE):
    if operand is not _NONE:
        operands = (operand,)
    if not branches:
        raise ValueError("Empty branch sequence")
    index = asarray(index)
    if index.shape:
        raise TypeError(f"Branch index must be scalar, got {index} of shape {index.shape}.")
    if not _types.is_integer(index.dtype):
        raise TypeError(f"Index type must be an integer, got {index} as {index.dtype}")
    if len(branches) == 1:
        return tree_map(asarray, branches[0](*operands))
    index = _core.convert(index, int32)
    tests = [_core.compare("LE", index, i) for i in range(len(branches) - 1)]
    return _Arms("switch", [f"branch {i}" for i in range(len(branches))], tests, branches, operands, 0).taken()
