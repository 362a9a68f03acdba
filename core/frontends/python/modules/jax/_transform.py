# SPDX-License-Identifier: Apache-2.0
"""Transformations: derivatives, checkpointing, batches."""
import contextlib
import functools
import _gantry
from jax import _batch, _core, _effects, _types, errors
from jax._array import Array
from jax._custom import in_body, Order
from jax._gate import only, passed
from jax._names import refuse
from jax._stage import note_policy
from jax.tree_util import tree_flatten, tree_leaves, tree_map, tree_unflatten


def _wanted(argnums, n):
    numbers = (argnums,) if isinstance(argnums, int) else tuple(argnums)
    for i in numbers:
        if not -n <= i < n:
            raise ValueError(f"differentiating with respect to argnums={argnums} requires at least {max(numbers) + 1} positional "
                             f"arguments to be passed by the caller, but got only {n} positional arguments.")
    return tuple(i % n for i in numbers)


def _floats(leaves):
    arrays = [_core.asarray(leaf) for leaf in leaves]
    for a in arrays:
        if not _types.is_float(a.dtype):
            raise TypeError(f"grad requires real- or complex-valued inputs (input dtype that is a sub-dtype of np.inexact), but got "
                            f"{a.dtype}.")
    return arrays


class _Pull:
    """One pass of reverse mode over a function of leaves: (outputs, auxiliary leaves) and the gradients of the leaves."""

    def __init__(self, function, leaves, linear=False, silent=False):
        self.function, self.leaves, self.linear, self.silent = function, passed(leaves), linear, silent

    def run(self, cotangents=None):
        return _batch.over_batches(lambda levels: self._run_of(cotangents, levels), list(self.leaves) + list(cotangents or ()))

    def _run_of(self, cotangents, levels):
        if levels:
            return self._run_batched(cotangents, levels)
        if _gantry.tracing() == 0:
            return self._run_staged(cotangents)
        return self._run_plain(cotangents)

    def _run_staged(self, cotangents):
        """As a graph of one run. A function that decides by values is recorded while it runs instead."""
        from jax._stage import Once

        def function(leaves, given):
            return _Pull(self.function, leaves, self.linear, self.silent)._run_plain(given)
        try:
            return Once(function)(list(self.leaves), None if cotangents is None else list(cotangents))
        except (errors.ConcretizationTypeError, errors.TracerArrayConversionError):
            return self._run_plain(cotangents)

    def _run_plain(self, cotangents):
        sens = tuple(cotangents) if cotangents is not None else None
        Order.depth += not self.linear
        try:
            with only([]) as gates:
                def call(leaves):
                    with only(gates):
                        return self._call(leaves)
                (main, rest), grads, n = _gantry.gradient(call, (list(self.leaves),), None, (0,), (), sens, True)
        except NotImplementedError as error:
            raise in_body(error)
        finally:
            Order.depth -= not self.linear
        seen = len(self.effects.values)
        self.effects.again(rest[len(rest) - seen:])
        rest = rest[:len(rest) - seen]
        for g, leaf in zip(grads, self.leaves):
            g._weak = leaf._weak
        return main, rest, grads[:n]

    def _call(self, leaves):
        for new, old in zip(leaves, self.leaves):
            new._weak, new._kind = old._weak, old._kind
        with _effects.noting() as self.effects, _effects.silent() if self.silent else contextlib.nullcontext():
            main, rest = self.function(leaves)
        _batch.not_batched(list(main) + list(rest))
        return [_differentiable(x) for x in main], rest + self.effects.values

    def _run_batched(self, cotangents, levels):
        """The examples of a batch do not depend on each other: the gradient of all is that of each."""
        (level, size), outer = levels[0], levels[1:]
        whole = [_batch.spread(a, level, size) for a in self.leaves]
        shapes = {}

        def function(leaves):
            main, rest = passed(self.function([_batch.BatchedArray(x, level) for x in leaves]))
            shapes["main"] = [_batch.is_of(x, level) for x in rest]
            return ([_batch.spread(x, level, size) for x in main],
                    [x.value if b else x for x, b in zip(rest, shapes["main"])])
        given = None if cotangents is None else [_batch.spread(c, level, size) for c in cotangents]
        main, rest, grads = _Pull(function, whole, self.linear, self.silent)._run_of(given, outer)
        return ([_batch.BatchedArray(x, level) for x in main],
                [_batch.BatchedArray(x, level) if b else x for x, b in zip(rest, shapes["main"])],
                [_batch.BatchedArray(g, level) for g in grads])


def _differentiable(x):
    """A result that is known does not depend on what the gradient is taken by; it is a node all the same."""
    return x if x.is_variable else _gantry.lift(x)


def _refuse_options(name, holomorphic=False, allow_int=False, reduce_axes=()):
    for argument, value in (("holomorphic", holomorphic), ("allow_int", allow_int)):
        refuse(f"jax.{name}", argument, value, False)
    refuse(f"jax.{name}", "reduce_axes", reduce_axes, ())


def value_and_grad(fun, argnums=0, has_aux=False, holomorphic=False, allow_int=False, reduce_axes=()):
    _refuse_options("value_and_grad", holomorphic, allow_int, reduce_axes)

    @functools.wraps(fun)
    def wrapped(*args, **kwargs):
        numbers = _wanted(argnums, len(args))
        flat = [tree_flatten(args[i]) for i in numbers]
        leaves = _floats([leaf for part, _ in flat for leaf in part])
        made = {}

        def function(inner):
            own, at = list(args), 0
            for i, (part, structure) in zip(numbers, flat):
                own[i] = tree_unflatten(structure, inner[at:at + len(part)])
                at += len(part)
            result = fun(*own, **kwargs)
            value, aux = result if has_aux else (result, None)
            value = _core.asarray(value)
            if value.shape:
                raise TypeError(f"Gradient only defined for scalar-output functions. Output had shape: {value.shape}.")
            if not _types.is_float(value.dtype):
                raise TypeError(f"grad requires real- or complex-valued outputs (output dtype that is a sub-dtype of np.inexact), but "
                                f"got {value.dtype}.")
            rest, made["aux"] = tree_flatten(aux)
            return [value], [_core.asarray(x) for x in rest]
        main, rest, grads = _Pull(function, leaves).run()
        parts, at = [], 0
        for part, structure in flat:
            parts.append(tree_unflatten(structure, grads[at:at + len(part)]))
            at += len(part)
        grad_value = parts[0] if isinstance(argnums, int) else tuple(parts)
        return ((main[0], tree_unflatten(made["aux"], rest)) if has_aux else main[0]), grad_value
    return wrapped


def grad(fun, argnums=0, has_aux=False, holomorphic=False, allow_int=False, reduce_axes=()):
    both = value_and_grad(fun, argnums, has_aux, holomorphic, allow_int, reduce_axes)

    @functools.wraps(fun)
    def wrapped(*args, **kwargs):
        value, gradient = both(*args, **kwargs)
        return (gradient, value[1]) if has_aux else gradient
    return wrapped


def _flat_function(fun, structure, made, has_aux=False):
    def function(inner):
        result = fun(*tree_unflatten(structure, inner))
        value, aux = result if has_aux else (result, None)
        leaves, made["out"] = tree_flatten(value)
        rest, made["aux"] = tree_flatten(aux)
        return [_core.asarray(x) for x in leaves], [_core.asarray(x) for x in rest]
    return function


def vjp(fun, *primals, has_aux=False, reduce_axes=()):
    refuse("jax.vjp", "reduce_axes", reduce_axes, ())
    leaves, structure = tree_flatten(primals)
    leaves, made = _floats(leaves), {}
    function = _flat_function(fun, structure, made, has_aux)
    main, rest = function(leaves)

    def pull(cotangent):
        given = [_core.convert(_core.asarray(c), m.dtype) for c, m in zip(tree_leaves(cotangent), main)]
        if [c.shape for c in given] != [m.shape for m in main]:
            raise ValueError("Tree structure of cotangent input does not match the output of the function.")
        return tree_unflatten(structure, _Pull(function, leaves, silent=True).run(given)[2])
    out = tree_unflatten(made["out"], main)
    return (out, pull, tree_unflatten(made["aux"], rest)) if has_aux else (out, pull)


def jvp(fun, primals, tangents, has_aux=False):
    """Forward mode by reverse mode twice: the pull-back is linear in its cotangent, and what pulls that back pushes forward."""
    leaves, structure = tree_flatten(tuple(primals))
    leaves, made = _floats(leaves), {}
    given = [_core.convert(_core.asarray(t), a.dtype) for t, a in zip(tree_leaves(tuple(tangents)), leaves)]
    function = _flat_function(fun, structure, made, has_aux)
    main, rest = function(leaves)
    zeros = [_core.full(m.shape, 0, m.dtype) for m in main]

    def back(cotangents):
        return _Pull(function, leaves, silent=True).run(cotangents)[2], []
    pushed = _Pull(back, zeros, True).run(given)[2]
    out, tangent = tree_unflatten(made["out"], main), tree_unflatten(made["out"], pushed)
    return (out, tangent, tree_unflatten(made["aux"], rest)) if has_aux else (out, tangent)


def linearize(fun, *primals):
    return fun(*primals), lambda *tangents: jvp(fun, primals, tangents)[1]


def _basis(leaf):
    """One example for each element of a leaf."""
    import jax.numpy as jnp
    return jnp.reshape(jnp.eye(leaf.size, dtype=leaf.dtype), (leaf.size,) + leaf.shape)


def _columns(function, leaves):
    """Forward: for each leaf of the result its derivatives by each of @leaves."""
    import jax.numpy as jnp
    columns = []
    for k, leaf in enumerate(leaves):
        pushed = vmap(lambda t, k=k: jvp(function, leaves, [t if j == k else jnp.zeros_like(u) for j, u in enumerate(leaves)])[1])(_basis(leaf))
        columns.append([jnp.reshape(jnp.moveaxis(x, 0, -1), x.shape[1:] + leaf.shape) for x in pushed])
    return [list(row) for row in zip(*columns)]


def _rows(function, leaves):
    """The same backward."""
    import jax.numpy as jnp
    out, pull = vjp(function, *leaves)
    rows = []
    for k, leaf in enumerate(out):
        pulled = vmap(lambda c, k=k: pull([c if j == k else jnp.zeros_like(o) for j, o in enumerate(out)]))(_basis(leaf))
        rows.append([jnp.reshape(p, leaf.shape + p.shape[1:]) for p in pulled])
    return rows


def _jacobian(fun, argnums, forward, has_aux=False):
    """For each leaf of the result a tree like the arguments."""
    @functools.wraps(fun)
    def wrapped(*args, **kwargs):
        numbers = _wanted(argnums, len(args))
        leaves, structure = tree_flatten(tuple(args[i] for i in numbers))
        leaves, made = _floats(leaves), {}

        def function(*values):
            own = list(args)
            for i, v in zip(numbers, tree_unflatten(structure, values)):
                own[i] = v
            result = fun(*own, **kwargs)
            result, made["aux"] = result if has_aux else (result, None)
            flat, made["out"] = tree_flatten(result)
            return [_core.asarray(x) for x in flat]
        if has_aux:
            function(*leaves)
            aux = made["aux"]
        parts = [tree_unflatten(structure, row) for row in (_columns if forward else _rows)(function, leaves)]
        found = tree_unflatten(made["out"], [p[0] if isinstance(argnums, int) else p for p in parts])
        return (found, aux) if has_aux else found
    return wrapped


def jacrev(fun, argnums=0, has_aux=False, holomorphic=False, allow_int=False):
    _refuse_options("jacrev", holomorphic, allow_int)
    return _jacobian(fun, argnums, False, has_aux)


def jacfwd(fun, argnums=0, has_aux=False, holomorphic=False):
    _refuse_options("jacfwd", holomorphic)
    return _jacobian(fun, argnums, True, has_aux)


jacobian = jacrev


def hessian(fun, argnums=0, has_aux=False, holomorphic=False):
    return jacrev(jacrev(fun, argnums, has_aux, holomorphic), argnums, has_aux, holomorphic)


# Checkpointing

class _Scope:
    """The scope of what is traced inside of a `with`."""

    def __init__(self, name):
        self.name = name

    def __enter__(self):
        before = _gantry.set_scope("")
        self.before = before
        _gantry.set_scope(f"{before}/{self.name}" if before else self.name)
        return self

    def __exit__(self, *error):
        _gantry.set_scope(self.before)


class named_scope(_Scope):
    def __call__(self, function):
        @functools.wraps(function)
        def wrapped(*args, **kwargs):
            with _Scope(self.name):
                return function(*args, **kwargs)
        return wrapped


def checkpoint(fun=None, *, prevent_cse=True, policy=None, static_argnums=(), concrete=False):
    """What may be saved of the function is a policy of the plan: see docs/policies.md. Common subexpressions are never found again
    between a value and its recomputation, whatever prevent_cse says: a plan recomputes, not the graph."""
    refuse("jax.checkpoint", "concrete", concrete, False)
    if fun is None:
        return functools.partial(checkpoint, prevent_cse=prevent_cse, policy=policy, static_argnums=static_argnums)
    from jax import checkpoint_policies
    if policy is not None and not isinstance(policy, checkpoint_policies.Policy):
        raise TypeError("a policy is one of jax.checkpoint_policies: functions of one's own are not taken")
    text = (policy or checkpoint_policies.nothing_saveable).text

    @functools.wraps(fun)
    def wrapped(*args, **kwargs):
        if _gantry.tracing() != 1:
            return fun(*args, **kwargs)
        name = f"checkpoint.{_gantry.scope_number()}"
        note_policy(f"policy {text} in **/{name}")
        with _Scope(name):
            return fun(*args, **kwargs)
    return wrapped


def remat(fun=None, **options):
    return checkpoint(fun, **options)


def checkpoint_name(x, name):
    return tree_map(lambda leaf: _core.op("checkpoint_name", (_core.asarray(leaf),), {"name": name}), x)


# Batches

def vmap(fun, in_axes=0, out_axes=0, axis_name=None, axis_size=None, spmd_axis_name=None):
    return _batch.vmap(fun, in_axes, out_axes, axis_size, axis_name)
