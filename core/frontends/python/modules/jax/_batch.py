# SPDX-License-Identifier: Apache-2.0
"""vmap: a value of a batch stands for one example; what is computed with it is computed for all, along dimension 0."""
from jax import _core
from jax._array import Array
from jax._types import int32
from jax.tree_util import tree_flatten, tree_leaves, tree_map, tree_unflatten


class BatchedArray(Array):
    """One example of a batch of level @level: 1 is the outermost vmap."""

    def __init__(self, value, level):
        self.value, self.level = value, level
        self._weak, self._kind = value._weak, value._kind

    shape = property(lambda self: self.value.shape[1:])
    element = property(lambda self: self.value.element)
    is_variable = property(lambda self: self.value.is_variable)
    has_data = property(lambda self: False)
    memory = property(lambda self: self.value.memory)

    def __str__(self):
        return f"Batched<{self.element}[{','.join(map(str, self.shape))}]>"

    __repr__ = __str__


_core.Batched = BatchedArray


class _Depth:
    level = 0
    axes = []  # (name, level, size) of those that have a name, the innermost last


def level_of(name, function):
    """(level, size) of the vmap whose axis has that name."""
    for axis, level, size in reversed(_Depth.axes):
        if axis == name:
            return level, size
    raise NameError(f"{function}: unbound axis name: {name}. A vmap with axis_name={name!r} binds it; meshes of several devices are not there")


class ReadsBatch(Exception):
    """What is written for the examples of some batches reads others, which stand further inside."""

    def __init__(self, levels):
        self.levels = levels


def levels_of(values):
    """{level: size} of all batches that values are of."""
    levels = {}
    for x in values:
        while isinstance(x, BatchedArray):
            levels[x.level] = x.value.shape[0]
            x = x.value
    return levels


def over_batches(run, values):
    """
    @run (levels), where levels is [(level, size)] of the batches that @values are of and that what is run reads, the innermost first. Which are read
    shows when it is run: not_batched () and spread () find one that is not in levels, and it is run again with that.
    """
    levels = levels_of(values)
    while True:
        try:
            return run(sorted(levels.items(), reverse=True))
        except ReadsBatch as batch:
            assert not batch.levels.keys() <= levels.keys()
            levels.update(batch.levels)


def not_batched(values):
    levels = levels_of(values)
    if levels:
        raise ReadsBatch(levels)
    return values


def is_of(x, level):
    """Whether @x is an example of the batch of @level; it is of none further inside."""
    if not isinstance(x, BatchedArray) or x.level < level:
        return False
    if x.level > level:
        raise ReadsBatch(levels_of([x]))
    return True


def spread(x, level, size):
    """All examples of @x, which may be the same for all."""
    x = _core.asarray(x)
    if is_of(x, level):
        return x.value
    result = _core.broadcast_in_dim(x, (size,) + x.shape, range(1, len(x.shape) + 1))
    result._weak = x._weak
    return result


def vmap(fun, in_axes=0, out_axes=0, axis_size=None, axis_name=None):
    def wrapped(*args, **kwargs):
        from jax._stage import prefix_leaves
        leaves, structure = tree_flatten((args, kwargs))
        axes = _spread_axes(in_axes, args) + [0] * len(tree_leaves(kwargs))
        arrays = [_core.asarray(x) for x in leaves]
        sizes = {a.shape[d] for a, d in zip(arrays, axes) if d is not None} or {axis_size}
        if len(sizes) != 1:
            raise ValueError(f"vmap got inconsistent sizes for array axes to be mapped: {sorted(sizes)}")
        size = sizes.pop()
        if size is None:
            raise ValueError("vmap must have at least one non-None value in in_axes")
        _Depth.level += 1
        level = _Depth.level
        _Depth.axes.append((axis_name, level, size))
        try:
            inner = [a if d is None else BatchedArray(_front(a, d), level) for a, d in zip(arrays, axes)]
            inner_args, inner_kwargs = tree_unflatten(structure, inner)
            result, out_structure = tree_flatten(fun(*inner_args, **inner_kwargs))
        finally:
            _Depth.level -= 1
            _Depth.axes.pop()
        places = _spread_axes(out_axes, tree_unflatten(out_structure, result))
        return tree_unflatten(out_structure, [_back(_core.asarray(r), d, level, size) for r, d in zip(result, places)])
    return wrapped


def _spread_axes(axes, tree):
    """An axis for each leaf of a tree that @axes is a prefix of; lists count as tuples."""
    if axes is None or isinstance(axes, int):
        return [axes] * len(tree_leaves(tree))
    if isinstance(axes, dict):
        return [a for k in sorted(tree) for a in _spread_axes(axes[k], tree[k])]
    if len(axes) != len(tree):
        raise ValueError(f"vmap in_axes must be an int, None, or a tuple of entries corresponding to the positional arguments, but got "
                         f"len(in_axes)={len(axes)}, len(args)={len(tree)}")
    return [a for axis, part in zip(axes, tree) for a in _spread_axes(axis, part)]


def _front(a, d):
    d %= len(a.shape)
    return _core.transpose(a, (d,) + tuple(i for i in range(len(a.shape)) if i != d))


def _back(r, d, level, size):
    if d is None:
        if isinstance(r, BatchedArray) and r.level == level:
            raise ValueError("vmap has mapped output but out_axes is None")
        return r
    whole = spread(r, level, size)
    d %= len(whole.shape)
    order = list(range(1, len(whole.shape)))
    order.insert(d, 0)
    return _core.transpose(whole, order)


# Rules: operands with the batch in front (or without one), attributes of the example -> result with the batch in front

def apply(name, operands, attrs):
    level = max(x.level for x in operands if isinstance(x, BatchedArray))
    size = next(x.value.shape[0] for x in operands if isinstance(x, BatchedArray) and x.level == level)
    batched = [isinstance(x, BatchedArray) and x.level == level for x in operands]
    rule = _RULES.get(name, _elementwise)
    weak = _core.is_weak(name, operands)
    result = rule(name, [x.value if b else x for x, b in zip(operands, batched)], batched, size, attrs)
    made = tuple(BatchedArray(r, level) for r in result) if isinstance(result, tuple) else BatchedArray(result, level)
    for r in made if isinstance(made, tuple) else (made,):
        r._weak = weak
    return made


def _whole(x, b, size):
    return x if b else _core.broadcast_in_dim(x, (size,) + x.shape, range(1, len(x.shape) + 1))


def _elementwise(name, xs, bs, size, attrs):
    if name not in _SAME:
        raise NotImplementedError(f"vmap of the operation {name}")
    return _core.op(name, [_whole(x, b, size) for x, b in zip(xs, bs)], attrs)


_SAME = frozenset("""add subtract multiply divide remainder power maximum minimum atan2 and or xor shift_left shift_right_arithmetic
shift_right_logical compare select clamp abs negate sign exponential exponential_minus_one log log_plus_one logistic tanh sqrt rsqrt cbrt
sine cosine tan asin acos atan sinh cosh asinh acosh atanh erf floor ceil round_nearest_even round_nearest_afz is_finite is_nan not popcnt
count_leading_zeros stop_gradient convert bitcast_convert checkpoint_name copy optimization_barrier""".split())


def _shifted(key):
    def rule(name, xs, bs, size, attrs):
        return _core.op(name, [_whole(x, b, size) for x, b in zip(xs, bs)], dict(attrs, **{key: [d + 1 for d in attrs[key]]}))
    return rule


def _broadcast(name, xs, bs, size, attrs):
    return _core.broadcast_in_dim(xs[0], (size,) + tuple(attrs["shape"]), [0] + [d + 1 for d in attrs["broadcast_dimensions"]])


def _reshape(name, xs, bs, size, attrs):
    return _core.reshape(xs[0], (size,) + tuple(attrs["shape"]))


def _transpose(name, xs, bs, size, attrs):
    return _core.transpose(xs[0], [0] + [d + 1 for d in attrs["permutation"]])


def _slice(name, xs, bs, size, attrs):
    return _core.op(name, xs, {"start_indices": [0] + list(attrs["start_indices"]), "limit_indices": [size] + list(attrs["limit_indices"]),
                               "strides": [1] + list(attrs.get("strides") or [1] * len(attrs["start_indices"]))})


def _pad(name, xs, bs, size, attrs):
    if bs[1]:
        raise NotImplementedError("vmap of pad with a value of its own for each example")
    return _core.op(name, xs, {k: [0] + list(v) for k, v in attrs.items()})


def _concatenate(name, xs, bs, size, attrs):
    return _core.op(name, [_whole(x, b, size) for x, b in zip(xs, bs)], {"dimension": attrs["dimension"] + 1})


def _sort(name, xs, bs, size, attrs):
    return _core.op(name, [_whole(x, b, size) for x, b in zip(xs, bs)], dict(attrs, dimension=attrs["dimension"] + 1))


def _reduce_window(name, xs, bs, size, attrs):
    attrs = {k: ([0, 0] if k == "padding" else [1]) + list(v) if isinstance(v, (list, tuple)) else v for k, v in attrs.items()}
    return _core.op(name, xs, attrs)


def _dot(name, xs, bs, size, attrs):
    """A batch on one side is one more dimension of that side, which stands first afterwards; on both it is a batch dimension."""
    contracting = [list(attrs[k]) for k in ("lhs_contracting_dimensions", "rhs_contracting_dimensions")]
    batching = [list(attrs.get(k, ())) for k in ("lhs_batching_dimensions", "rhs_batching_dimensions")]
    numbers = [([d + b for d in c], [d + b for d in n]) for c, n, b in zip(contracting, batching, bs)]
    to = {k: v for k, v in attrs.items() if k == "to"}
    if all(bs):
        numbers = [(c, [0] + n) for c, n in numbers]
    result = _core.op("dot_general", xs, {"lhs_contracting_dimensions": numbers[0][0], "rhs_contracting_dimensions": numbers[1][0],
                                          "lhs_batching_dimensions": numbers[0][1], "rhs_batching_dimensions": numbers[1][1], **to})
    if all(bs):
        return result
    # Where the batch stands: behind the batch dimensions, and those of the left side.
    at = len(batching[0]) + (0 if bs[0] else len(xs[0].shape) - len(contracting[0]) - len(batching[0]))
    return _front(result, at)


def _gather(name, xs, bs, size, attrs):
    new = {k: list(v) if isinstance(v, (list, tuple)) else v for k, v in attrs.items()}
    if bs[1] and not bs[0]:
        # The same operand for all: the batch is one more dimension of the indices.
        new["index_vector_dim"] = attrs["index_vector_dim"] + 1
        new["offset_dims"] = [d + 1 for d in attrs["offset_dims"]]
        new["start_indices_batching_dims"] = [d + 1 for d in attrs.get("start_indices_batching_dims", ())]
        return _core.op(name, xs, new)
    if bs[0] and not bs[1]:
        # The same indices for all: the batch is a whole dimension of what is read.
        new["collapsed_slice_dims"] = [d + 1 for d in attrs["collapsed_slice_dims"]]
        new["start_index_map"] = [d + 1 for d in attrs["start_index_map"]]
        for k in ("operand_batching_dims",):
            new[k] = [d + 1 for d in attrs.get(k, ())]
        new["offset_dims"] = [0] + [d + 1 for d in attrs["offset_dims"]]
        new["slice_sizes"] = [size] + list(attrs["slice_sizes"])
        return _core.op(name, xs, new)
    for k in ("offset_dims", "collapsed_slice_dims", "start_index_map"):
        new[k] = [d + 1 for d in attrs[k]]
    new["operand_batching_dims"] = [0] + [d + 1 for d in attrs.get("operand_batching_dims", ())]
    new["start_indices_batching_dims"] = [0] + [d + 1 for d in attrs.get("start_indices_batching_dims", ())]
    new["index_vector_dim"] = attrs["index_vector_dim"] + 1
    new["slice_sizes"] = [1] + list(attrs["slice_sizes"])
    return _core.op(name, xs, new)


def _scatter(name, xs, bs, size, attrs):
    new = dict(attrs)
    for k in ("update_window_dims", "inserted_window_dims", "scatter_dims_to_operand_dims"):
        new[k] = [d + 1 for d in attrs.get(k, ())]
    new["input_batching_dims"] = [0] + [d + 1 for d in attrs.get("input_batching_dims", ())]
    new["scatter_indices_batching_dims"] = [0] + [d + 1 for d in attrs.get("scatter_indices_batching_dims", ())]
    new["index_vector_dim"] = attrs.get("index_vector_dim", 0) + 1
    return _core.op(name, [_whole(x, b, size) for x, b in zip(xs, bs)], new)


def _stacked(starts, bs, size):
    return _core.op("concatenate", [_core.reshape(_whole(_core.convert(s, int32), b, size), (size, 1)) for s, b in zip(starts, bs)],
                    {"dimension": 1}) if len(starts) > 1 else _core.reshape(_whole(starts[0], bs[0], size), (size, 1))


def _dynamic_slice(name, xs, bs, size, attrs):
    x, starts, sizes = xs[0], xs[1:], list(attrs["slice_sizes"])
    if not any(bs[1:]):
        zero = _core.full((), 0, starts[0].dtype) if starts else None
        return _core.op(name, [x, zero] + starts, {"slice_sizes": [size] + sizes})
    rank = len(sizes)
    indices = _stacked(starts, bs[1:], size)
    attrs = {"offset_dims": list(range(1, rank + 1)), "collapsed_slice_dims": [], "start_index_map": list(range(rank)),
             "index_vector_dim": 1, "slice_sizes": sizes}
    if bs[0]:
        attrs.update(start_index_map=[d + 1 for d in range(rank)], operand_batching_dims=[0], start_indices_batching_dims=[0],
                     slice_sizes=[1] + sizes)
    return _core.op("gather", (x, indices), attrs)


def _dynamic_update_slice(name, xs, bs, size, attrs):
    x, update = (_whole(v, b, size) for v, b in zip(xs[:2], bs[:2]))
    if not any(bs[2:]):
        return _core.op(name, [x, update, _core.full((), 0, xs[2].dtype)] + list(xs[2:]))
    rank = len(x.shape) - 1
    indices = _stacked([_core.op("clamp", (_core.full(s.shape, 0, s.dtype), s, _core.full(s.shape, n - u, s.dtype)))
                        for s, n, u in zip(xs[2:], x.shape[1:], update.shape[1:])], bs[2:], size)
    return _core.op("scatter", (x, indices, update), {
        "update_window_dims": list(range(1, rank + 1)), "scatter_dims_to_operand_dims": list(range(1, rank + 1)),
        "input_batching_dims": [0], "scatter_indices_batching_dims": [0], "index_vector_dim": 1, "kind": "set"})


def _convolution(name, xs, bs, size, attrs):
    x, w = xs
    if bs[1] and not bs[0]:
        # Filters of all examples beside each other.
        y = _core.op(name, (x, _core.reshape(w, (w.shape[0] * w.shape[1],) + w.shape[2:])), attrs)
        return _front(_core.reshape(y, y.shape[:1] + (size, w.shape[1]) + y.shape[2:]), 1)
    if not bs[1]:
        y = _core.op(name, (_core.reshape(x, (size * x.shape[1],) + x.shape[2:]), w), attrs)
        return _core.reshape(y, (size, x.shape[1]) + y.shape[1:])
    groups = attrs.get("feature_group_count", 1)
    wide = _core.reshape(_core.transpose(x, [1, 0] + list(range(2, len(x.shape)))), (x.shape[1], size * x.shape[2]) + x.shape[3:])
    y = _core.op(name, (wide, _core.reshape(w, (size * w.shape[1],) + w.shape[2:])), dict(attrs, feature_group_count=groups * size))
    return _front(_core.reshape(y, y.shape[:1] + (size, w.shape[1]) + y.shape[2:]), 1)


_RULES = {"broadcast_in_dim": _broadcast, "reshape": _reshape, "transpose": _transpose, "reverse": _shifted("dimensions"),
          "reduce": _shifted("dimensions"), "slice": _slice, "pad": _pad, "concatenate": _concatenate, "sort": _sort,
          "reduce_window": _reduce_window, "dot_general": _dot, "gather": _gather, "scatter": _scatter,
          "dynamic_slice": _dynamic_slice, "dynamic_update_slice": _dynamic_update_slice, "convolution": _convolution}


def spread_all(x, levels):
    """All examples of the batches of @levels, the innermost first."""
    for level, size in levels:
        x = spread(x, level, size)
    return x


def example_of(x, levels):
    """One example of the batches of @levels, all of which @x has."""
    for level, _ in reversed(levels):
        x = BatchedArray(x, level)
    return x


def scan(run, f, init, xs, level, size):
    """
    @run (function, carry, xs) is a scan: one of the examples of a batch. All carries are of the batch; of the xs the batch stands behind what is
    scanned over.
    """
    from jax._control import arrays_of, step_of
    carries, carry_structure = arrays_of(init)
    slices, x_structure = arrays_of(xs)
    whole = [spread(c, level, size) for c in carries]
    mapped = [is_of(x, level) for x in slices]
    xs = [_core.transpose(x.value, [1, 0] + list(range(2, len(x.value.shape)))) if m else x for x, m in zip(slices, mapped)]
    made = {}

    def body(carry, x):
        x = tree_unflatten(x_structure, [BatchedArray(v, level) if m else v for v, m in zip(x, mapped)])
        after, y = step_of(f, [BatchedArray(c, level) for c in carry], carry_structure, x)
        ys, made["ys"] = tree_flatten(y)
        return [spread(c, level, size) for c in after], [spread(v, level, size) for v in ys]
    final, ys = run(body, whole, xs)
    back = [BatchedArray(_core.transpose(y, [1, 0] + list(range(2, len(y.shape)))), level) for y in ys]
    return (tree_unflatten(carry_structure, [BatchedArray(c, level) for c in final]), tree_unflatten(made["ys"], back))
