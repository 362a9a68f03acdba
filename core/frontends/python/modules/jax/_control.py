# SPDX-License-Identifier: Apache-2.0
"""Control flow whose bodies are functions of trees. Outside of a graph each is one of its own."""
import inspect
import _gantry
from jax import _batch, _core, _custom, _effects, _types
from jax._core import asarray
from jax._gate import made_inside, passed
from jax._types import int32
from jax.tree_util import keystr, tree_flatten, tree_leaves, tree_leaves_with_path, tree_map, tree_structure, tree_unflatten


_MOST_WRITTEN_OUT = 1024


def arrays_of(tree):
    leaves, structure = tree_flatten(tree)
    return [asarray(leaf) for leaf in leaves], structure


class _Body:
    """How many bodies of control flow are being written: what is in them has no bytes, also where a gradient records."""
    depth = 0


def within(body):
    def run(*values):
        _Body.depth += 1
        try:
            with _effects.silent(warns=True):
                return body(*values)
        finally:
            _Body.depth -= 1
    return run


def outermost():
    return _gantry.tracing() != 1 and _Body.depth == 0


def _written_only():
    """Whether jax.disable_jit says that nothing is a graph."""
    from jax._stage import Jitted
    return Jitted.disabled


def _staged(function, trees):
    """Runs @function (trees) as a graph of its own, where nothing is staged; what a gradient records gets its bytes so."""
    from jax._stage import jit

    def known(leaf):
        if not isinstance(leaf, _gantry.Value) or not leaf.is_variable:
            return leaf
        value = _gantry.known(leaf)
        value._weak = leaf._weak
        return value
    if _gantry.tracing() == 0:
        return jit(function)(*trees)
    _Body.depth += 1
    try:
        with _effects.silent():
            result = function(*trees)
    finally:
        _Body.depth -= 1
    values = _gantry.untraced(jit(function), tuple(tree_map(known, t) for t in trees))
    for variable, value in zip(tree_leaves(result), tree_leaves(values)):
        if variable.is_variable:
            _gantry.attach(variable, value)
    return result


# Carries

class _Wider(Exception):
    """A body makes of a number of Python's what has another type: the loop is to begin with that."""

    def __init__(self, dtypes, error):
        self.dtypes, self.error = dtypes, error


def _promoting(run, carries):
    """@run (carries), where a body decides the types of numbers of Python's by one more trace of it, as in JAX."""
    try:
        return run(carries)
    except _Wider as wider:
        promoted = [_core.convert(c, d) if c.element != d.element else c for c, d in zip(carries, wider.dtypes)]
    try:
        return run(promoted)
    except _Wider as again:
        raise again.error from None


def type_text(a):
    return f"{a.dtype}[{','.join(str(d) for d in a.shape)}]"


def unlike(a, b):
    """What of two types differs; nothing where they are equal, whichever is weak."""
    return " do not match, and the ".join([what for what, differ in (("dtypes", a.element != b.element), ("shapes", a.shape != b.shape)) if differ])


def _component(function, path):
    try:
        name = next(iter(inspect.signature(function).parameters))
    except (TypeError, ValueError, StopIteration):
        name = "carry"
    return f"component {name}{keystr(path)}" if path else name


def keep_types(name, function, before, after, structure, new_structure):
    """The carry of a loop keeps its structure and its types, whatever is weak: TypeError. _Wider where other types at the beginning may do."""
    if structure != new_structure:
        raise TypeError(f"{name} function carry input and carry output must have the same pytree structure, but they differ: the input "
                        f"carry has structure {structure} and the output has structure {new_structure}.")
    lines = []
    for (path, a), b in zip(tree_leaves_with_path(tree_unflatten(structure, before)), after):
        if unlike(a, b):
            lines.append(f"The input carry {_component(function, path)} has type {type_text(a)} but the corresponding output carry component has "
                         f"type {type_text(b)}, so the {unlike(a, b)} do not match.")
    if not lines:
        return
    error = TypeError(f"{name} function carry input and carry output must have equal types, but they differ:\n\n" + "\n".join(lines) +
                      "\n\nRevise the function so that all output types match the corresponding input types.")
    dtypes = [_types.promote([(a.dtype, True), (b.dtype, b._weak)])[0] if a._weak else a.dtype for a, b in zip(before, after)]
    if all(d is a.dtype for d, a in zip(dtypes, before)):
        raise error
    raise _Wider(dtypes, error)


def step_of(f, carries, structure, x):
    """One step of a scan: (the leaves of its carry, whose types are those of @carries; y)"""
    made_inside(list(carries) + [a for a in tree_leaves(x) if isinstance(a, _gantry.Value)])
    result = passed(f(tree_unflatten(structure, carries), x))
    if not isinstance(result, (tuple, list)) or len(result) != 2:
        raise TypeError(f"scan body output must be a pair, got {result}.")
    after, new_structure = arrays_of(result[0])
    keep_types("scan body", f, carries, after, structure, new_structure)
    return after, result[1]


# Loops

def scan(f, init, xs=None, length=None, reverse=False, unroll=1, _split_transpose=False):
    """A scan over the first dimension of xs: (last carry, stacked ys)."""
    init, xs = passed((init, xs))
    carries, carry_structure = arrays_of(init)
    slices, x_structure = arrays_of(xs)
    sizes = {x.shape[0] if x.shape else None for x in slices}
    if len(sizes) > 1 or None in sizes or not sizes and length is None:
        raise ValueError(f"scan got values with different leading axis sizes: {sorted(str(s) for s in sizes)}.")
    n = sizes.pop() if sizes else length
    if length is not None and length != n:
        raise ValueError(f"scan got `length` argument of {length} which disagrees with leading axis sizes {[n]}.")

    def run(levels):
        return _scan_of(f, tree_unflatten(carry_structure, carries), tree_unflatten(x_structure, slices), n, reverse, levels)
    return _batch.over_batches(run, carries + slices)


def _scan_of(f, init, xs, n, reverse, levels):
    """A scan of the examples of the batches of @levels."""
    if levels:
        (level, size), outer = levels[0], levels[1:]
        return _batch.scan(lambda f, init, xs: _scan_of(f, init, xs, n, reverse, outer), f, init, xs, level, size)
    try:
        return _scan_plain(f, init, xs, n, reverse)
    except _custom.InBody:
        if not 0 < n <= _MOST_WRITTEN_OUT:
            raise
        return _written_out(f, init, xs, n, reverse)


def _written_out(f, init, xs, n, reverse):
    """A scan step by step, where its body has a derivative of its own, which no graph of a body can hold."""
    import jax.numpy as jnp
    carries, structure = arrays_of(init)
    if n == 0:
        raise ValueError("a scan of no steps that is written out says nothing of the types that its body gives")

    def run(carries):
        now, ys = carries, []
        for i in reversed(range(n)) if reverse else range(n):
            after, y = step_of(f, now, structure, tree_map(lambda x: asarray(x)[i], xs))
            now = [_core.copy_of(a) for a in after]
            for a, first in zip(now, carries):
                a._weak = first._weak
            ys.append(y)
        return after, ys
    after, ys = _promoting(run, carries)
    if reverse:
        ys.reverse()
    return tree_unflatten(structure, after), tree_map(lambda *each: jnp.stack([asarray(e) for e in each]), *ys)


def _scan_plain(f, init, xs, n, reverse):
    """A scan over what is of no batch; ReadsBatch where its body reads one."""
    if outermost():
        if _written_only():
            return _written_out(f, init, xs, n, reverse)
        return _staged(lambda c, x: _scan_plain(f, c, x, n, reverse), (init, xs))
    carries, carry_structure = arrays_of(init)
    slices, x_structure = arrays_of(xs)
    if not carries and not slices:
        raise ValueError("scan takes a carry or what it scans over")
    made = {}

    def run(carries):
        def body(*values):
            for v, like in zip(values, carries + slices):
                v._kind, v._weak = like._kind, like._weak
            with _effects.noting() as made["effects"]:
                after, y = step_of(f, values[:len(carries)], carry_structure, tree_unflatten(x_structure, values[len(carries):]))
            ys, made["ys"] = arrays_of(y)
            made["weak"] = [a._weak for a in after + ys]
            return _batch.not_batched(after + ys + made["effects"].values)
        return _gantry.scan(within(body), carries, slices, n, reverse)
    result = _promoting(run, carries)
    m = len(made["weak"])
    _effects.steps(made["effects"], result[m:], n, reverse)
    for r, weak in zip(result, made["weak"]):
        r._weak = weak
    return tree_unflatten(carry_structure, result[:len(carries)]), tree_unflatten(made["ys"], result[len(carries):m])


def while_loop(cond_fun, body_fun, init_val):
    init_val = passed(init_val)
    values, structure = arrays_of(init_val)
    return _batch.over_batches(lambda levels: _while_of(cond_fun, body_fun, tree_unflatten(structure, values), levels), values)


def _while_of(cond_fun, body_fun, init_val, levels):
    """A loop of the examples of the batches of @levels."""
    if levels:
        return _while_of_batch(cond_fun, body_fun, init_val, levels)
    return _while_plain(cond_fun, body_fun, init_val)


def _verdict(result):
    leaves, structure = arrays_of(result)
    if structure != tree_structure(0):
        raise TypeError(f"cond_fun must return a boolean scalar, but got pytree {structure}.")
    if leaves[0].shape or leaves[0].element != "bool":
        raise TypeError(f"cond_fun must return a boolean scalar, but got output type(s) [{type_text(leaves[0])}].")
    return leaves[0]


def _run_here(cond_fun, body_fun, init_val):
    """A loop step by step, whose body does something each time."""
    while bool(_verdict(cond_fun(init_val))):
        init_val = body_fun(init_val)
    return tree_map(asarray, init_val)


def _while_plain(cond_fun, body_fun, init_val):
    """A loop over what is of no batch; ReadsBatch where it reads one."""
    if outermost():
        if _written_only():
            return _run_here(cond_fun, body_fun, init_val)
        try:
            with _effects.expecting():
                return _staged(lambda v: _while_plain(cond_fun, body_fun, v), (init_val,))
        except _effects.InLoop:
            return _run_here(cond_fun, body_fun, init_val)
    values, structure = arrays_of(init_val)
    made = {}

    def run(values):
        def tree_of(now):
            for v, like in zip(now, values):
                v._weak = like._weak
            made_inside(now)
            return tree_unflatten(structure, now)

        def condition(*now):
            return _batch.not_batched([_verdict(cond_fun(tree_of(now)))])

        def body(*now):
            after, new_structure = arrays_of(body_fun(tree_of(now)))
            keep_types("while_loop body", body_fun, values, after, structure, new_structure)
            made["weak"] = [a._weak for a in after]
            return _batch.not_batched(after)
        return _gantry.loop(within(condition), within(body), values)[:len(values)]
    result = _promoting(run, values)
    for r, weak in zip(result, made["weak"]):
        r._weak = weak
    return tree_unflatten(structure, result)


def _while_of_batch(cond_fun, body_fun, init_val, levels):
    """Runs as long as one example does; those that have ended keep what they have."""
    (level, size), outer = levels[0], levels[1:]
    values, structure = arrays_of(init_val)

    def examples(whole):
        return [_batch.BatchedArray(w, level) for w in whole]

    def running(whole):
        return _batch.spread(_verdict(cond_fun(tree_unflatten(structure, examples(whole)))), level, size)

    def body(whole):
        goes = _batch.BatchedArray(running(whole), level)
        before = examples(whole)
        after, new_structure = arrays_of(passed(body_fun(tree_unflatten(structure, before))))
        keep_types("while_loop body", body_fun, before, after, structure, new_structure)
        return [_batch.spread(_core.select(goes, a, b), level, size) for a, b in zip(after, before)]
    whole = [_batch.spread(v, level, size) for v in values]
    final = _while_of(lambda w: _core.reduce("or", running(w), (0,)), body, whole, outer)
    return tree_unflatten(structure, examples(final))


def _counter(lower, upper):
    """The type of what a loop counts by, and whether that is weak. Outside of a graph the bounds are no more than numbers."""
    bounds = [(asarray(v), _core.is_scalar(v)) for v in (lower, upper)]
    dtype = next((b.dtype for b, is_number in bounds if not is_number), int32)
    for b, is_number in bounds:
        if not _types.is_integer(b.dtype) or b.dtype is not dtype and not (is_number and dtype.category == "int"):
            raise TypeError("lower and upper arguments to fori_loop must have equal types, got "
                            f"{bounds[0][0].dtype} and {bounds[1][0].dtype}")
    low = bounds[0][0]
    return (dtype, low._weak and low.dtype is dtype) if _gantry.tracing() == 1 else (int32, True)


def fori_loop(lower, upper, body_fun, init_val, unroll=None):
    """A scan where the bounds are known, so that it has a derivative; else a loop."""
    dtype, weak = _counter(lower, upper)

    def counter(bound):
        made = _core.copy_of(asarray(bound, dtype))
        made._weak = weak
        return made
    if all(not isinstance(v, _gantry.Value) or v.has_data and not v.is_variable for v in (lower, upper)):
        def step(loop_carry, _):
            i, value = loop_carry
            return (i + 1, body_fun(i, value)), None
        return scan(step, (counter(lower), init_val), None, max(int(upper) - int(lower), 0))[0][1]

    def unended(loop_carry):
        return loop_carry[0] < loop_carry[1]

    def turn(loop_carry):
        i, end, value = loop_carry
        return i + 1, end, body_fun(i, value)
    return while_loop(unended, turn, (counter(lower), counter(upper), init_val))[2]


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
