# SPDX-License-Identifier: Apache-2.0
"""What a program does beside what it computes: jax.debug.print, and Python that is called without a result. Where a graph is written the values that
it reads become results of that graph, and it is done when these are known: in the order of the program, for each step of a scan and each
example of a batch, and for the arm of a branch that was taken."""
import itertools
import warnings
import _gantry
from jax import _batch, _core
from jax.tree_util import tree_flatten, tree_unflatten


class _Notes:
    """One for each graph or body that is being written, the innermost last; None where what is noted is lost."""
    stack = []
    warned = expected = False


class noting:
    """Within it effects are noted: they are of the `with`'s value."""

    def __enter__(self):
        self.noted = []
        _Notes.stack.append(self)
        return self

    def __exit__(self, *error):
        _Notes.stack.pop()

    @property
    def values(self):
        """What the graph has to give for them."""
        return [v for effect in self.noted for v in effect.values]

    def happen(self, values):
        """@values are known: a graph was run."""
        _happen(self.noted, values)

    def again(self, values):
        """The same effects of @values, which the graph around has in place of those of this one."""
        for effect, own in _shares(self.noted, values):
            _add(effect.of(own))


class silent:
    """What is written once more, as a derivative does with its function, has no effects."""

    def __init__(self, warns=False):
        self.warns = warns

    def __enter__(self):
        _Notes.stack.append(self)

    def __exit__(self, *error):
        _Notes.stack.pop()


class InLoop(Exception):
    """A loop whose end data decides does something that is seen, and could be run step by step."""


class expecting:
    """Within it such a loop raises InLoop, where otherwise it warns."""

    def __enter__(self):
        self.before, _Notes.expected = _Notes.expected, True

    def __exit__(self, *error):
        _Notes.expected = self.before


def _add(effect):
    notes = _Notes.stack[-1] if _Notes.stack else None
    if isinstance(notes, noting):
        notes.noted.append(effect)
    elif notes is None:
        effect.happen([v._numpy() for v in effect.values])
    elif notes.warns and _Notes.expected:
        raise InLoop
    elif notes.warns and not _Notes.warned:
        _Notes.warned = True
        warnings.warn("jax.debug.print and callbacks in a loop whose end data decides do nothing: how often they would is not known before it has run")


def _shares(effects, values):
    at = 0
    for effect in effects:
        yield effect, values[at:at + len(effect.values)]
        at += len(effect.values)


def _happen(effects, values):
    for effect, own in _shares(effects, values):
        effect.happen(own)


class _Call:
    """@function (values) for each example of the batches, of @sizes, that the values are of."""

    def __init__(self, function, values, sizes):
        self.function, self.values, self.sizes = function, values, sizes

    def of(self, values):
        return _Call(self.function, values, self.sizes)

    def happen(self, values):
        for place in itertools.product(*map(range, self.sizes)):
            self.function([v[place] for v in values])


class _Steps:
    """What the steps of a scan do; the values are stacked."""

    def __init__(self, effects, values, n, reverse):
        self.effects, self.values, self.n, self.reverse = effects, values, n, reverse

    def of(self, values):
        return _Steps(self.effects, values, self.n, self.reverse)

    def happen(self, values):
        for i in reversed(range(self.n)) if self.reverse else range(self.n):
            _happen(self.effects, [v[i] for v in values])


class _Arm:
    """What the arms of a branch do, of which the first of @values says which was taken; then come the values of each."""

    def __init__(self, arms, values):
        self.arms, self.values = arms, values

    def of(self, values):
        return _Arm(self.arms, values)

    def happen(self, values):
        at = 1
        for k, effects in enumerate(self.arms):
            n = sum(len(e.values) for e in effects)
            if k == int(values[0]):
                _happen(effects, values[at:at + n])
            at += n


def call(function, *args, **kwargs):
    """@function (*args, **kwargs), once what it is given is known."""
    leaves, structure = tree_flatten((args, kwargs))
    is_value = [isinstance(leaf, _gantry.Value) for leaf in leaves]

    def given(values):
        values = iter(values)
        own, named = tree_unflatten(structure, [_core.asarray(next(values)) if v else leaf for leaf, v in zip(leaves, is_value)])
        function(*own, **named)
    arrays = [leaf for leaf, v in zip(leaves, is_value) if v]
    levels = sorted(_batch.levels_of(arrays).items(), reverse=True)
    arrays = [_batch.spread_all(a, levels) for a in arrays]
    effect = _Call(given, arrays, [size for _, size in reversed(levels)])
    if _gantry.tracing() != 1 and all(a.has_data for a in arrays):
        effect.happen([a._numpy() for a in arrays])
    else:
        _add(effect)


def steps(notes, values, n, reverse):
    """A scan was written, whose body noted that; @values are what it stacked for it."""
    if notes.noted:
        _add(_Steps(notes.noted, values, n, reverse))


def arms(noted, values):
    """A branch was written: what its arms noted, and its results for that."""
    _add(_Arm(noted, values))
