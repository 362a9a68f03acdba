# SPDX-License-Identifier: Apache-2.0
"""Functions with derivatives of their own. What such a call gave stands in the graph without a derivative, plus zeros by which the gradient
is wanted too: that gradient is the cotangent that the rule is given (core/frontends/python/gradient-private.h)."""
import functools
import inspect
import _gantry
from jax import _batch, _core, _types
from jax._gate import only, passed
from jax.tree_util import tree_flatten, tree_leaves, tree_map, tree_unflatten


class InBody(NotImplementedError):
    """A rule is followed where a graph is made. A body of control flow has no place for that: it is written out instead (_control.py)."""


def in_body(error):
    """@error as what it is: that a rule has no place here, or another."""
    return InBody(str(error)) if str(error).startswith("what has a derivative of its own") else error


class Order:
    """How many derivatives are being taken of each other of what is called now. What is linear, as a forward derivative is in its tangent, is none;
    what a rule calls is differentiated once less than its function, which it may call itself."""
    depth = 0


def _within_rule(function, *args):
    Order.depth -= 1
    try:
        return function(*args)
    finally:
        Order.depth += 1


def _differentiating():
    return Order.depth > 0 and _gantry.differentiating()


def _whole(leaves, levels):
    """Leaves as the graph has them: all examples of the batches of @levels."""
    return _batch.not_batched([_batch.spread_all(a, levels) for a in leaves])


def _examples(leaves, levels):
    return [_batch.example_of(a, levels) for a in leaves]


def _differentiated(forward, backward, leaves):
    """
    @forward (leaves): (leaves of the result, leaves that @backward reads); @backward (those, cotangents): cotangents of @leaves, None where
    there is none. Within a batch both see one example.
    """
    leaves = passed(leaves)
    return _batch.over_batches(lambda levels: _differentiated_of(forward, backward, leaves, levels), leaves)


def _differentiated_of(forward, backward, leaves, levels):
    """Of the examples of the batches of @levels."""
    leaves = _examples(_whole(leaves, levels), levels)
    out, kept = passed(forward(leaves))

    def rule(args, _out, cotangents):
        given = _within_rule(backward, _examples(args[n:], levels), _examples(cotangents, levels))
        if len(given) != n:
            raise TypeError(f"the rule of a custom derivative gave {len(given)} cotangents for {n} leaves of the arguments")
        return tuple([None if g is None else _whole([_core.asarray(g)], levels)[0] for g in given] + [None] * len(kept))
    kept = _whole(kept, levels)
    args = tuple(_whole(leaves, levels) + kept)
    n = len(leaves)
    try:
        with only([]):
            # A result that is known has a derivative by the rule too: it is a node.
            results = tuple(x if x.is_variable else _gantry.lift(x) for x in _whole(out, levels))
            made = _gantry.custom_gradient(lambda *given: rule(given[0], *given[1:]), (args,), sum(k.is_variable for k in kept), results)
    except NotImplementedError as error:
        raise in_body(error) from None
    for new, old in zip(made, out):
        new._weak = old._weak
    return _examples(made, levels)


class _Custom:
    """What both kinds share: a function, its arguments by position, and which of them are no trees of arrays."""

    def __init__(self, fun, nondiff_argnums=()):
        functools.update_wrapper(self, fun)
        self.fun = fun
        numbers = (nondiff_argnums,) if isinstance(nondiff_argnums, int) else nondiff_argnums
        self.nondiff_argnums = tuple(sorted(numbers))

    def __get__(self, instance, _owner=None):
        return self if instance is None else functools.partial(self, instance)

    def _positional(self, args, kwargs):
        try:
            bound = inspect.signature(self.fun).bind(*args, **kwargs)
        except ValueError:
            return args
        bound.apply_defaults()
        if bound.kwargs:
            raise NotImplementedError(f"{self.fun.__name__}: a custom derivative of arguments that are given by name only")
        return bound.args

    def _split(self, args):
        """(fixed, the function of the others' leaves, leaves, structure)"""
        fixed = {i % len(args): args[i] for i in self.nondiff_argnums}
        moving = tuple(a for i, a in enumerate(args) if i not in fixed)
        leaves, structure = tree_flatten(moving)

        def joined(leaves):
            rest = iter(tree_unflatten(structure, leaves))
            return [fixed[i] if i in fixed else next(rest) for i in range(len(args))]
        return [fixed[i] for i in sorted(fixed)], joined, [_core.asarray(a) for a in leaves], structure


def _as_cotangents(given, structure, leaves, name):
    """The leaves of what a rule gave for a tuple of arguments; None may stand for a whole argument."""
    given = tuple(given) if isinstance(given, (tuple, list)) else given
    if not isinstance(given, tuple) or len(given) != len(structure.children):
        raise TypeError(f"Custom VJP rule of {name} must produce a tuple with an entry for each argument: {len(structure.children)}, but "
                        f"got {len(given) if isinstance(given, tuple) else type(given).__name__}.")
    flat = []
    for part, child in zip(given, structure.children):
        parts = [None] * child.num_leaves if part is None else tree_leaves(part, is_leaf=lambda x: x is None)
        if len(parts) != child.num_leaves:
            raise TypeError(f"Custom VJP rule of {name} gave a tree of other structure than the argument: {len(parts)} leaves, not "
                            f"{child.num_leaves}.")
        flat += parts
    for g, leaf in zip(flat, leaves):
        if g is not None and _types.is_float(leaf.dtype) and tuple(_core.asarray(g).shape) != tuple(leaf.shape):
            raise ValueError(f"Custom VJP rule of {name} gave a cotangent of shape {_core.asarray(g).shape} for an argument of shape "
                             f"{leaf.shape}.")
    return [g if _types.is_float(leaf.dtype) else None for g, leaf in zip(flat, leaves)]


class custom_vjp(_Custom):
    fwd = bwd = None

    def defvjp(self, fwd, bwd, symbolic_zeros=False, optimize_remat=False):
        from jax._names import refuse
        refuse("custom_vjp.defvjp", "symbolic_zeros", symbolic_zeros, False)
        refuse("custom_vjp.defvjp", "optimize_remat", optimize_remat, False)
        self.fwd, self.bwd = fwd, bwd
        return fwd, bwd

    def __call__(self, *args, **kwargs):
        if self.bwd is None:
            raise AttributeError(f"No VJP defined for custom_vjp function {self.fun.__name__} using defvjp.")
        args = self._positional(args, kwargs)
        if not _differentiating():
            return self.fun(*args)
        fixed, joined, leaves, structure = self._split(args)
        made = {}

        def forward(leaves):
            out, kept = _within_rule(self.fwd, *joined(leaves))
            out, made["out"] = tree_flatten(out)
            kept, made["kept"] = tree_flatten(kept)
            made["like"] = leaves
            # What is kept beside arrays, such as shapes, stays as it is.
            made["arrays"] = [isinstance(k, _gantry.Value) for k in kept]
            made["others"] = [k for k, a in zip(kept, made["arrays"]) if not a]
            return [_core.asarray(x) for x in out], [k for k, a in zip(kept, made["arrays"]) if a]

        def backward(kept, cotangents):
            arrays, others = iter(kept), iter(made["others"])
            kept = tree_unflatten(made["kept"], [next(arrays if a else others) for a in made["arrays"]])
            given = self.bwd(*fixed, kept, tree_unflatten(made["out"], cotangents))
            return _as_cotangents(given, structure, made["like"], self.fun.__name__)
        result = _differentiated(forward, backward, leaves)
        return tree_unflatten(made["out"], result)


def pulled_back(function, zeros, cotangents):
    """Of a linear function."""
    from jax._transform import _Pull

    def flat(leaves):
        return [_core.asarray(x) for x in function(*leaves)], []
    return _Pull(flat, zeros, True, True).run([_core.asarray(c) for c in cotangents])[2]


class custom_jvp(_Custom):
    """The rule is linear in the tangents: what pulls that back is the derivative."""
    jvp = None

    def defjvp(self, jvp, symbolic_zeros=False):
        from jax._names import refuse
        refuse("custom_jvp.defjvp", "symbolic_zeros", symbolic_zeros, False)
        self.jvp = jvp
        return jvp

    def defjvps(self, *jvps):
        def rule(primals, tangents):
            import jax.numpy as jnp
            out, total = self(*primals), None
            for f, t in zip(jvps, tangents):
                if f is not None:
                    part = f(t, out, *primals)
                    total = part if total is None else tree_map(jnp.add, total, part)
            return out, tree_map(jnp.zeros_like, out) if total is None else total
        self.jvp = rule

    def __call__(self, *args, **kwargs):
        if self.jvp is None:
            raise AttributeError(f"No JVP defined for custom_jvp function {self.fun.__name__} using defjvp.")
        args = self._positional(args, kwargs)
        if not _differentiating():
            return self.fun(*args)
        fixed, joined, leaves, structure = self._split(args)
        floats = [_types.is_float(a.dtype) for a in leaves]
        made = {}

        def forward(leaves):
            out, made["out"] = tree_flatten(_within_rule(self.fun, *joined(leaves)))
            return [_core.asarray(x) for x in out], list(leaves)

        def backward(kept, cotangents):
            zeros = [_core.full(a.shape, 0, a.dtype) for a in kept]

            def pushed(*moving):
                moving = iter(moving)
                tangents = tree_unflatten(structure, [next(moving) if f else z for f, z in zip(floats, zeros)])
                primals = tuple(tree_unflatten(structure, kept))
                return tree_leaves(self.jvp(*fixed, primals, tuple(tangents))[1])
            pulled = iter(pulled_back(pushed, [z for z, f in zip(zeros, floats) if f], cotangents))
            return [next(pulled) if f else None for f in floats]
        result = _differentiated(forward, backward, leaves)
        return tree_unflatten(made["out"], result)


def zeros_of(value):
    return _core.full(value.shape, 0, value.dtype)


def stopped_plus(value, zeros):
    from jax import lax
    return _core.op("add", (lax.stop_gradient(value), zeros))


def beside(cut, out):
    """What `cut` has beside the value of `out`: nothing, with the derivative of `cut`."""
    from jax import lax
    return _core.op("subtract", (cut, lax.stop_gradient(out)))


def bprop_gradients(arguments, given):
    """What a rule gave for each variable of its arguments."""
    return [g for a, g in zip(arguments[0], given) if a.is_variable]
