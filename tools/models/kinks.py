# SPDX-License-Identifier: Apache-2.0
"""Which relus and max pools a rounding decides, and what the gradients are where some of them are decided the other way.

A relu passes its gradient or does not, and a max pool gives it to one element of its window: the gradient jumps where an argument
passes 0 or one element passes another. Where the argument is as near to that as rounding moves it, each order of summation decides
it for itself, and none of the decisions is wrong. So gradients are right that agree with the reference for one choice of the
decisions which are open; that choice is searched for here, and nothing else is allowed to them."""
import dataclasses

import numpy as np

import bounds
from reference import EPSILON, PERTURBATIONS, largest, moved

# How many of the nearest decisions are tried first, and how many if none of these are it. Each is a computation of the gradients.
FIRST = (12, 50, 200)
# Elements of each weight that the choice is searched with; what was found is judged by all elements.
ELEMENTS = 512
# An argument that is moved ends this part of itself on the other side.
BEYOND = 2.0 ** -40


def _breaks():
    """{function: (arguments) -> where its slope jumps}."""
    import torch
    import torch.nn.functional as F
    table = {f: lambda *_, **__: (0.0,) for f in (F.relu, F.relu_, torch.relu, torch.relu_, torch.Tensor.relu, torch.Tensor.relu_, F.leaky_relu,
                                                  F.leaky_relu_, F.prelu, torch.prelu, torch.abs, torch.Tensor.abs)}
    table[F.relu6] = lambda *_, **__: (0.0, 6.0)
    table[F.hardswish] = table[F.hardsigmoid] = lambda *_, **__: (-3.0, 3.0)
    table[F.hardtanh] = lambda x, min_val=-1.0, max_val=1.0, *_, **__: (min_val, max_val)
    return table


def _pools():
    """{function: its dimensions}."""
    import torch.nn.functional as F
    return {F.max_pool1d: 1, F.max_pool2d: 2, F.max_pool3d: 3}


def _each(value, n):
    return tuple(value) if isinstance(value, (tuple, list)) else (value,) * n


def _window(n, kernel_size, stride=None, padding=0, dilation=1, *_, **__):
    kernel, padding, dilation = (_each(v, n) for v in (kernel_size, padding, dilation))
    return kernel, _each(stride, n) if stride else kernel, padding, dilation


def two_largest(x, shape, kernel, stride, padding, dilation):
    """The largest element of each window of a max pool and the next one, and where both are in @x (-1: nowhere). @shape: of the pool's
    result, whose last dimensions, as many as the @kernel has, are those of the windows."""
    n = len(kernel)
    ends = [max((o - 1) * s + (k - 1) * d + 1 - p - size, 0) for o, s, k, d, p, size in
            zip(shape[-n:], stride, kernel, dilation, padding, x.shape[-n:])]
    edges = [(0, 0)] * (x.ndim - n) + list(zip(padding, ends))
    values = np.pad(x, edges, constant_values=-np.inf)
    places = np.pad(np.arange(x.size).reshape(x.shape), edges, constant_values=-1)
    first, second, at, next_at = (np.full(shape, v) for v in (-np.inf, -np.inf, -1, -1))
    for offset in np.ndindex(*kernel):
        part = (..., *(slice(i * d, i * d + (o - 1) * s + 1, s) for i, d, o, s in zip(offset, dilation, shape[-n:], stride)))
        v, p = values[part], places[part]
        over, between = v > first, (v <= first) & (v > second)
        second, next_at = (np.where(over, old, np.where(between, new, kept)) for old, new, kept in ((first, v, second), (at, p, next_at)))
        first, at = np.where(over, v, first), np.where(over, p, at)
    return first, second, at, next_at


def near(samples, at, allowed):
    """Where the first of @samples is so near to @at that rounding decides. What is @at whatever is rounded is no matter of rounding."""
    return (np.abs(samples[0] - at) <= allowed) & np.any([s != at for s in samples], axis=0)


def near_ties(samples, allowed, *window):
    """As two_largest () of the first of @samples, whether rounding decides between both being a fifth."""
    found = [two_largest(s, *window) for s in samples]
    first, second, at, next_at = found[0]
    with np.errstate(invalid="ignore"):
        undecided = (next_at >= 0) & (first - second <= 2 * allowed) & np.any([f != s for f, s, _, _ in found], axis=0)
    return first, second, at, next_at, undecided


@dataclasses.dataclass
class Open:
    """A decision that rounding may take either way."""
    call: int       # of the functions that have kinks, in the order of the computation
    name: str       # of that function
    element: int    # of its argument, counted through
    shape: tuple    # of its argument
    distance: float  # of the argument from where the slope jumps
    allowed: float  # by how much that argument may differ
    move: float     # what takes the argument to the other side

    def __str__(self):
        index = ", ".join(str(i) for i in np.unravel_index(self.element, self.shape))
        return "%s %d [%s] is %.2g from its kink, and may be off by %.2g" % (self.name, self.call, index, self.distance, self.allowed)


class Watch:
    """Sees every call of a function that has kinks while a network computes. Keeps their arguments, or moves some."""

    def __init__(self, moves=(), keep=False):
        self.breaks, self.pools = _breaks(), _pools()
        self.keep, self.kept, self.calls = keep, [], 0
        self.moves = {}
        for one in moves:
            self.moves.setdefault(one.call, []).append(one)

    def argument(self, func, args, kwargs):
        """The arguments to use instead."""
        if func not in self.breaks and func not in self.pools:
            return args
        x, call = args[0], self.calls
        self.calls += 1
        if self.keep:
            self.kept.append((func, x.detach().double().numpy().copy(), args[1:], dict(kwargs)))
        if call not in self.moves:
            return args
        by = np.zeros(x.numel())
        for one in self.moves[call]:
            by[one.element] = one.move
        import torch
        return (x + torch.from_numpy(by.reshape(x.shape)), *args[1:])


def _open_breaks(call, func, args, kwargs, samples, allowed):
    exact = samples[0]
    inplace = {k: v for k, v in kwargs.items() if k != "inplace"}
    for at in Watch().breaks[func](exact, *args, **inplace):
        for i in np.flatnonzero(near(samples, at, allowed)):
            x = float(exact.flat[i])
            beyond = max(abs(x - at) * BEYOND, abs(at) * BEYOND, 1e-30)
            yield Open(call, func.__name__, int(i), exact.shape, abs(x - at), allowed, at - x + (-beyond if x > at else beyond))


def _open_ties(call, func, args, kwargs, samples, allowed):
    import torch
    shape = tuple(func(torch.from_numpy(samples[0]), *args, **kwargs).shape)
    window = _window(Watch().pools[func], *args, **kwargs)
    first, second, _, next_at, undecided = near_ties(samples, allowed, shape, *window)
    for i in np.flatnonzero(undecided):
        gap = float(first.flat[i] - second.flat[i])
        move = gap + max(abs(first.flat[i]) * BEYOND, 1e-30)
        yield Open(call, func.__name__, int(next_at.flat[i]), samples[0].shape, gap, 2 * allowed, move)


def undecided(reference, compute, inputs, weights):
    """All decisions that are open, the nearest first. COMPUTE (inputs, weights, double) as in reference.spread ()."""
    def arguments(values, double):
        reference.watch = Watch(keep=True)
        try:
            compute(values[:len(inputs)], values[len(inputs):], double)
            return reference.watch.kept
        finally:
            reference.watch = None

    every = [*inputs, *weights]
    runs = [arguments(every, True), arguments(every, False)]
    for i in range(PERTURBATIONS):
        runs.append(arguments(moved([np.asarray(a, np.float64) if a.dtype.kind == "f" else a for a in every], i, EPSILON), True))
    found, pools = [], Watch().pools
    for call, each in enumerate(zip(*runs)):
        func, exact, args, kwargs = each[0]
        samples = [s for _, s, _, _ in each]
        allowed = bounds.allowed(max(largest(s - exact) for s in samples), largest(exact))
        find = _open_ties if func in pools else _open_breaks
        found.extend(find(call, func, args, kwargs, samples, allowed))
    # A tie between several elements, or of an element in several windows, is one argument that is moved.
    unique = {}
    for one in sorted(found, key=lambda o: o.distance / o.allowed):
        unique.setdefault((one.call, one.element), one)
    return list(unique.values())


class Search:
    """Finds the choice of open decisions for which the reference has the gradients that were computed."""

    def __init__(self, reference, compute, inputs, weights, moves):
        self.reference, self.compute, self.inputs, self.weights = reference, compute, inputs, weights
        self.exact = self.gradients([])
        self.scales = [bounds.allowed(move, largest(g)) or 1.0 for g, move in zip(self.exact, moves)]
        random = np.random.default_rng(0)
        self.parts = [random.permutation(g.size)[:ELEMENTS] for g in self.exact]
        self.begin = self.sample(self.exact)
        self.open = undecided(reference, compute, inputs, weights)
        self.changes = []  # by each decision of the first of these, taken otherwise

    def gradients(self, chosen):
        """Loss and gradients where the @chosen decisions are taken the other way."""
        self.reference.watch = Watch(chosen)
        try:
            return [np.asarray(g, np.float64) for g in self.compute(self.inputs, self.weights, True)]
        finally:
            self.reference.watch = None

    def sample(self, gradients):
        """Some elements of all, in units of what is allowed; NaN of a tensor that is None."""
        return np.concatenate([np.full(part.shape, np.nan) if g is None else g.reshape(-1)[part] / scale
                               for g, part, scale in zip(gradients, self.parts, self.scales)])

    def nearest(self, found):
        """The decisions that bring the reference nearest to the sample @found: one after the other, each that which helps most."""
        rest, chosen = found - self.begin, []
        known = np.isfinite(rest)
        while True:
            left = [np.square(rest[known] - change[known]).sum() for change in self.changes]
            best = int(np.argmin(left)) if left else None
            if best is None or best in chosen or left[best] >= np.square(rest[known]).sum():
                return [self.open[i] for i in chosen]
            chosen.append(best)
            rest = rest - self.changes[best]

    def explain(self, found, agree):
        """@found: loss and gradients, None where none was computed. AGREE (gradients) says whether they agree with what was computed.
        The decisions to take otherwise so that they do, or None."""
        wanted = self.sample(found)
        for n in FIRST:
            for one in self.open[len(self.changes):n]:
                self.changes.append(self.sample(self.gradients([one])) - self.begin)
            chosen = self.nearest(wanted)
            if chosen and agree(self.gradients(chosen)):
                return chosen
        return None
