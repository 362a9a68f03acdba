# SPDX-License-Identifier: Apache-2.0
"""Control flow whose bodies are functions of trees. Outside of a graph each is one of its own."""
import _gantry
from jax import _core
from jax._core import asarray
from jax._types import int32
from jax.tree_util import tree_flatten, tree_leaves, tree_map, tree_structure, tree_unflatten


def _arrays(tree):
    leaves, structure = tree_flatten(tree)
    return [asarray(leaf) for leaf in leaves], structure


class _Body:
    """How many bodies of control flow are being written: what is in them has no bytes, also where a gradient records."""
    depth = 0


class _ReadsBatch(Exception):
    """A body reads a batch that stands outside of it: its node is of all examples."""

    def __init__(self, batched):
        widest = max(batched, key=lambda a: a.level)
        self.level, self.size = widest.level, widest.value.shape[0]


def _not_batched(leaves):
    batched = [a for a in leaves if isinstance(a, _core.Batched)]
    if batched:
        raise _ReadsBatch(batched)
    return leaves


def _within(body):
    def run(*values):
        _Body.depth += 1
        try:
            return body(*values)
        finally:
            _Body.depth -= 1
    return run


def _outermost():
    return _gantry.tracing() != 1 and _Body.depth == 0


def _staged(function, trees):
    """Runs @function (trees) as a graph of its own, where nothing is staged; what a gradient records gets its bytes so."""
    from jax._stage import jit

    def known(tree):
        return tree_map(lambda a: _gantry.known(a) if isinstance(a, _gantry.Value) and a.is_variable else a, tree)
    if _gantry.tracing() == 0:
        return jit(function)(*trees)
    _Body.depth += 1
    try:
        result = function(*trees)
    finally:
        _Body.depth -= 1
    values = _gantry.untraced(jit(function), tuple(known(t) for t in trees))
    for variable, value in zip(tree_leaves(result), tree_leaves(values)):
        if variable.is_variable:
            _gantry.attach(variable, value)
    return result


def _same(name, before, after, structure, new_structure):
    """The carry of a loop keeps its types; numbers of Python become what they are with the others."""
    if structure != new_structure:
        raise TypeError(f"{name} function carry input and carry output must have the same pytree structure, but they differ: the input "
                        f"carry has structure {structure} and the output has structure {new_structure}.")
    for a, b in zip(before, after):
        if a.shape != b.shape or a.element != b.element:
            raise TypeError(f"{name} function carry input and carry output must have equal types, but they differ: the input carry has "
                            f"type {a.dtype}{list(a.shape)} but the corresponding output carry component has type "
                            f"{b.dtype}{list(b.shape)}.")


def _strong(leaves, like):
    """Weak leaves as the function gives them."""
    return [_core.convert(a, b.dtype) if a._weak and a.element != b.element else a for a, b in zip(leaves, like)]


def scan(f, init, xs=None, length=None, reverse=False, unroll=1, _split_transpose=False):
    """A scan over the first dimension of xs: (last carry, stacked ys)."""
    carries, carry_structure = _arrays(init)
    slices, x_structure = _arrays(xs)
    sizes = {x.shape[0] if x.shape else None for x in slices}
    if len(sizes) > 1 or None in sizes or not sizes and length is None:
        raise ValueError(f"scan got values with different leading axis sizes: {sorted(str(s) for s in sizes)}.")
    n = sizes.pop() if sizes else length
    if length is not None and length != n:
        raise ValueError(f"scan got `length` argument of {length} which disagrees with leading axis sizes {[n]}.")
    level = max((a.level for a in carries + slices if isinstance(a, _core.Batched)), default=0)
    if level:
        from jax import _batch
        return _batch.scan(scan, f, carries, slices, carry_structure, x_structure, n, reverse, level)
    try:
        return _scan_plain(f, init, xs, n, reverse)
    except _ReadsBatch as batch:
        from jax import _batch
        return _batch.scan(scan, f, carries, slices, carry_structure, x_structure, n, reverse, batch.level, batch.size)


def _scan_plain(f, init, xs, n, reverse):
    """A scan over what is of no batch; _ReadsBatch where its body reads one."""
    if _outermost():
        return _staged(lambda c, x: _scan_plain(f, c, x, n, reverse), (init, xs))
    carries, carry_structure = _arrays(init)
    slices, x_structure = _arrays(xs)
    made = {}

    def body(*values):
        for v, like in zip(values, carries + slices):
            v._kind, v._weak = like._kind, like._weak
        carry, y = f(tree_unflatten(carry_structure, values[:len(carries)]), tree_unflatten(x_structure, values[len(carries):]))
        after, structure = _arrays(carry)
        after = _strong(after, carries)
        _same("scan", carries, after, carry_structure, structure)
        ys, made["ys"] = _arrays(y)
        return _not_batched(after + ys)
    if not carries and not slices:
        raise ValueError("scan takes a carry or what it scans over")
    result = _gantry.scan(_within(body), carries, slices, n, reverse)
    for r, like in zip(result, carries):
        r._weak = like._weak
    return tree_unflatten(carry_structure, result[:len(carries)]), tree_unflatten(made["ys"], result[len(carries):])


def while_loop(cond_fun, body_fun, init_val):
    values, structure = _arrays(init_val)
    level = max((v.level for v in values if isinstance(v, _core.Batched)), default=0)
    if level:
        return _while_of_batch(cond_fun, body_fun, values, structure, level)
    try:
        return _while_plain(cond_fun, body_fun, init_val)
    except _ReadsBatch as batch:
        return _while_of_batch(cond_fun, body_fun, values, structure, batch.level, batch.size)


def _while_plain(cond_fun, body_fun, init_val):
    """A loop over what is of no batch; _ReadsBatch where it reads one."""
    if _outermost():
        return _staged(lambda v: _while_plain(cond_fun, body_fun, v), (init_val,))
    values, structure = _arrays(init_val)

    def condition(*now):
        verdict = asarray(cond_fun(tree_unflatten(structure, now)))
        if verdict.shape or verdict.element != "bool":
            raise TypeError(f"cond_fun must return a boolean scalar, but got pytree {verdict.dtype}{list(verdict.shape)}.")
        return _not_batched([verdict])

    def body(*now):
        after, new_structure = _arrays(body_fun(tree_unflatten(structure, now)))
        after = _strong(after, values)
        _same("while_loop body", values, after, structure, new_structure)
        return _not_batched(after)
    return tree_unflatten(structure, _gantry.loop(_within(condition), _within(body), values)[:len(values)])


def _while_of_batch(cond_fun, body_fun, values, structure, level, size=None):
    """Runs as long as one example does; those that have ended keep what they have."""
    from jax import _batch
    size = size or next(v.value.shape[0] for v in values if isinstance(v, _core.Batched) and v.level == level)

    def examples(whole):
        return [_batch.BatchedArray(w, level) for w in whole]

    def running(whole):
        return _batch.spread(cond_fun(tree_unflatten(structure, examples(whole))), level, size)

    def body(whole):
        goes = _batch.BatchedArray(running(whole), level)
        after, new_structure = _arrays(body_fun(tree_unflatten(structure, examples(whole))))
        after = _strong(after, values)
        _same("while_loop body", values, after, structure, new_structure)
        return [_batch.spread(_core.select(goes, a, b), level, size) for a, b in zip(after, examples(whole))]
    whole = [_batch.spread(v, level, size) for v in values]
    final = while_loop(lambda w: _core.reduce("or", running(w), (0,)), body, whole)
    return tree_unflatten(structure, examples(final))


def fori_loop(lower, upper, body_fun, init_val, unroll=None):
    """A scan where the bounds are known, so that it has a derivative; else a loop."""
    known = [v for v in (lower, upper) if not isinstance(v, _gantry.Value) or v.has_data and not v.is_variable]
    if len(known) == 2:
        low, n = int(lower), max(int(upper) - int(lower), 0)
        if n == 0:
            return tree_map(asarray, init_val)
        final, _ = scan(lambda c, _: ((c[0] + 1, body_fun(c[0], c[1])), None), (asarray(low, int32), init_val), None, n)
        return final[1]
    result = while_loop(lambda c: c[0] < c[1], lambda c: (c[0] + 1, c[1], body_fun(c[0], c[2])),
                        (asarray(lower, int32), asarray(upper, int32), init_val))
    return result[2]


def cond(pred, true_fun, false_fun, *operands, operand=None, linear=None):
    if operand is not None:
        operands = (operand,)
    pred = asarray(pred)
    if pred.shape:
        raise TypeError(f"Pred must be a scalar, got {pred} of shape {pred.shape}.")
    pred = _core.compare("NE", pred, 0) if pred.element != "bool" else pred
    if not pred.is_variable and pred.has_data and not isinstance(pred, _core.Batched) and _gantry.tracing() == 0:
        return tree_map(asarray, (true_fun if bool(pred) else false_fun)(*operands))
    if isinstance(pred, _core.Batched):
        a, b = true_fun(*operands), false_fun(*operands)
        return tree_map(lambda x, y: _core.select(pred, x, y), a, b)
    if _outermost() and pred.has_data:
        return (true_fun if bool(pred) else false_fun)(*operands)
    made = {}

    def arm(name, function):
        def run():
            leaves, made[name] = _arrays(function(*operands))
            made[name, "types"] = [(a.element, a.shape) for a in leaves]
            return [_core.convert(a, a.dtype) for a in _not_batched(leaves)]
        return run
    try:
        _not_batched(tree_leaves(operands))
        result = _gantry.branch(pred, _within(arm("true", true_fun)), _within(arm("false", false_fun)))
    except _ReadsBatch:
        a, b = true_fun(*operands), false_fun(*operands)
        return tree_map(lambda x, y: _core.select(pred, x, y), a, b)
    if made["true"] != made["false"] or made["true", "types"] != made["false", "types"]:
        raise TypeError("true_fun and false_fun output must have identical types, got "
                        f"{made['true', 'types']} and {made['false', 'types']}.")
    return tree_unflatten(made["true"], result)


def switch(index, branches, *operands, operand=None):
    operands = operands if operand is None else (operand,)
    index = _core.convert(asarray(index), int32)
    last = len(branches) - 1
    if last == 0:
        return branches[0](*operands)

    def choose(i):
        if i == last:
            return lambda *values: branches[last](*values)
        return lambda *values: cond(_core.compare("LE", index, i), branches[i], choose(i + 1), *values)
    return choose(0)(*operands)


def map(f, xs, *, batch_size=None):
    return scan(lambda _, x: (None, f(x)), None, xs)[1] if tree_leaves(xs) else xs


def associative_scan(fn, elems, reverse=False, axis=0):
    """Log-depth prefixes: at distance 1, 2, 4, ... each element takes in the one that stands so far before it."""
    import jax.numpy as jnp
    leaves, structure = tree_flatten(elems)
    if reverse:
        leaves = [jnp.flip(x, axis) for x in leaves]
    n, step = leaves[0].shape[axis], 1

    def part(x, start, limit):
        return x[(slice(None),) * (axis % x.ndim) + (slice(start, limit),)]
    while step < n:
        head = [part(x, 0, step) for x in leaves]
        before = [part(x, 0, n - step) for x in leaves]
        after = [part(x, step, n) for x in leaves]
        joined = tree_leaves(fn(tree_unflatten(structure, before), tree_unflatten(structure, after)))
        leaves = [jnp.concatenate([h, j], axis) for h, j in zip(head, joined)]
        step *= 2
    return tree_unflatten(structure, [jnp.flip(x, axis) for x in leaves] if reverse else leaves)
