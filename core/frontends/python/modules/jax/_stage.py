# SPDX-License-Identifier: Apache-2.0
"""jit: functions staged for the types of their arguments, compiled, run."""
import functools
import inspect
import warnings
import _gantry
from jax import _core, _effects, sharding as _sharding
from jax._array import Array
from jax._types import as_dtype
from jax.tree_util import tree_flatten, tree_leaves, tree_structure, tree_unflatten


class ShapeDtypeStruct:
    def __init__(self, shape, dtype, *, sharding=None, weak_type=False):
        self.shape, self.dtype, self.sharding, self.weak_type = tuple(shape), as_dtype(dtype), sharding, weak_type

    ndim = property(lambda self: len(self.shape))
    size = property(lambda self: _core.product(self.shape))

    def __eq__(self, other):
        return isinstance(other, ShapeDtypeStruct) and (self.shape, self.dtype) == (other.shape, other.dtype)

    def __hash__(self):
        return hash((self.shape, self.dtype))

    def __repr__(self):
        return f"ShapeDtypeStruct(shape={self.shape}, dtype={self.dtype})"


class _Policies:
    """Those of the functions that the graph being staged checkpoints."""
    stack = []


def note_policy(text):
    if _Policies.stack:
        _Policies.stack[-1].append(text)


def spec_of(leaf):
    """(element, shape, memory kind, weak) of an argument."""
    if isinstance(leaf, ShapeDtypeStruct):
        return leaf.dtype.element, leaf.shape, _sharding.kind_of(leaf.sharding), leaf.weak_type
    return leaf.element, leaf.shape, leaf._kind, leaf._weak


class _OfBatch(Exception):
    """A function reads a batch that is not among its arguments: it is no graph of its own."""


class Staged:
    """A graph with the structures of its arguments and results."""

    def __init__(self, function, structure, specs, names, options):
        self.options, self.structure, self.specs = options, structure, specs
        self.policies = []
        self.function = function
        _Policies.stack.append(self.policies)
        try:
            self.graph = _gantry.stage(self._run_function, tuple((e, s, k, n) for (e, s, k, _), n in zip(specs, names)),
                                       "" if options.is_own else options.name, self.policies)
        finally:
            _Policies.stack.pop()
        del self.function
        self.is_compiled = False

    def _run_function(self, *variables):
        for variable, (_, _, kind, weak) in zip(variables, self.specs):
            variable._kind, variable._weak = kind, weak
        args, kwargs = tree_unflatten(self.structure, variables)
        with _effects.noting() as self.effects:
            result = self.function(*args, **kwargs)
        leaves, self.out_structure = tree_flatten(result)
        for leaf in leaves:
            if not isinstance(leaf, Array) and not _core.is_scalar(leaf) and not hasattr(leaf, "__array__"):
                raise TypeError(f"function {self.options.name} returned a value of type {type(leaf)}, which is not a valid JAX type")
        leaves = [_core.asarray(leaf) for leaf in leaves]
        if any(isinstance(leaf, _core.Batched) for leaf in leaves):
            raise _OfBatch
        places = self.options.out_places(result, self.out_structure)
        kinds = [_sharding.kind_of(p) if p is not None else leaf._kind for p, leaf in zip(places, leaves)]
        self.out_specs = [(leaf.element, leaf.shape, kind, leaf._weak, place)
                          for leaf, kind, place in zip(leaves, kinds, places)]
        seen = self.effects.values
        return leaves + seen, kinds + [x._kind for x in seen], self._aliases()

    def _aliases(self):
        """Each donated argument and the first result of its type and memory that is not written over another."""
        free, found = list(range(len(self.out_specs))), []
        for i, ((element, shape, kind, _), donated) in enumerate(zip(self.specs, self.options.donated(self.structure))):
            if not donated:
                continue
            for j in free:
                if self.out_specs[j][:3] == (element, shape, kind):
                    found.append((i, j))
                    free.remove(j)
                    break
        return found

    def compile(self):
        if self.is_compiled:
            return
        self.is_compiled = True
        problems = _gantry.compile(self.graph, "\n".join(self.policies) or None)
        # A function that is called without its gradient saves nothing, which is no mistake.
        lines = [p for p in (problems or "").split("\n") if p and "the backward pass reads nothing" not in p and "no backward pass" not in p]
        if lines:
            warnings.warn(f"{self.options.name}: " + "; ".join(lines), stacklevel=4)

    def run(self, leaves, once=False):
        # A policy is part of what is compiled: the evaluator keeps everything.
        once = once and not self.policies
        if not once:
            self.compile()
        values = _gantry.run(self.graph, tuple(leaves), once)
        if self.effects.noted:
            self.effects.happen([v._numpy() for v in values[len(self.out_specs):]])
            values = values[:len(self.out_specs)]
        for value, (_, _, kind, weak, place) in zip(values, self.out_specs):
            value._kind, value._weak, value._put = kind, weak, place
        return tree_unflatten(self.out_structure, values)


class CompiledMemoryStats:
    """The ten counters, from the plan: temp is what lives between steps; the scratch of single kernels is workspace."""

    def __init__(self, memory):
        for name, (device, host) in memory.items():
            setattr(self, f"{name}_size_in_bytes", device)
            setattr(self, f"host_{name}_size_in_bytes", host)

    def __repr__(self):
        return "CompiledMemoryStats(" + ", ".join(f"{k}={v}" for k, v in vars(self).items()) + ")"


class Compiled:
    def __init__(self, staged, take):
        self._staged, self._take = staged, take
        self.in_tree, self.out_tree = staged.structure, staged.out_structure

    def memory_analysis(self):
        memory = _gantry.memory(self._staged.graph)
        return CompiledMemoryStats(memory) if memory is not None else None

    def as_text(self):
        return _gantry.staged_text(self._staged.graph, True)

    def __call__(self, *args, **kwargs):
        leaves, structure, specs = self._take(args, kwargs)
        if structure != self._staged.structure or [s[:2] for s in specs] != [s[:2] for s in self._staged.specs]:
            raise TypeError("Argument types differ from the types for which this computation was compiled.")
        return self._staged.run(leaves)


class Lowered:
    def __init__(self, staged, take):
        self._staged, self._take = staged, take
        self.in_tree, self.out_tree = staged.structure, staged.out_structure

    @property
    def out_info(self):
        return tree_unflatten(self.out_tree, [ShapeDtypeStruct(s[1], _core._types.BY_ELEMENT[s[0]]) for s in self._staged.out_specs])

    def as_text(self, dialect=None, debug_info=False):
        if dialect not in (None, "gantry"):
            raise ValueError(f"as_text gives Gantry's text form, not {dialect!r}")
        return _gantry.staged_text(self._staged.graph, False)

    def compile(self, compiler_options=None):
        self._staged.compile()
        return Compiled(self._staged, self._take)


def _numbers(value):
    return () if value is None else (value,) if isinstance(value, (int, str)) else tuple(value)


class Jitted:
    """A function that runs as a graph: one for each structure, types and static arguments."""

    is_own = False  # a step of these modules: no graph of the program
    disabled = False  # jax.disable_jit

    def __init__(self, function, in_shardings=None, out_shardings=None, donate_argnums=None, donate_argnames=None,
                 static_argnums=None, static_argnames=None):
        functools.update_wrapper(self, function)
        self._function, self._cache = function, {}
        self.name = getattr(function, "__qualname__", type(function).__name__)
        self._in, self._out = in_shardings, out_shardings
        self._donate, self._donate_names = _numbers(donate_argnums), _numbers(donate_argnames)
        self._static, self._static_names = set(_numbers(static_argnums)), set(_numbers(static_argnames))
        self._name_static()

    def _name_static(self):
        try:
            parameters = list(inspect.signature(self._function).parameters)
        except (TypeError, ValueError):
            parameters = []
        self._parameters = parameters
        self._static |= {parameters.index(n) for n in self._static_names if n in parameters}
        self._static_names |= {parameters[i] for i in self._static if 0 <= i < len(parameters)}
        self._donate += tuple(parameters.index(n) for n in self._donate_names if n in parameters)

    def __get__(self, instance, owner=None):
        return self if instance is None else functools.partial(self, instance)

    # What the arguments are

    def _split(self, args, kwargs):
        static = {i % max(len(args), 1) for i in self._static if -len(args) <= i < len(args)}
        fixed = tuple((i, args[i]) for i in sorted(static)), tuple(sorted((k, v) for k, v in kwargs.items() if k in self._static_names))
        dynamic = tuple(a for i, a in enumerate(args) if i not in static)
        named = {k: v for k, v in kwargs.items() if k not in self._static_names}
        return fixed, dynamic, named

    def _flatten(self, dynamic, named):
        leaves, structure = tree_flatten((dynamic, named))
        for leaf in leaves:
            if not isinstance(leaf, (Array, ShapeDtypeStruct)) and not _core.is_scalar(leaf) and not hasattr(leaf, "__array__"):
                raise TypeError(f"Error interpreting argument to {self.name} as an abstract array. The value of type {type(leaf)} "
                                "is not an array; name it in static_argnums.")
        leaves = [leaf if isinstance(leaf, (Array, ShapeDtypeStruct)) else _core.asarray(leaf) for leaf in leaves]
        if self._in is not None:
            places = prefix_leaves(self._in, dynamic)
            leaves = [_place(leaf, p) for leaf, p in zip(leaves, places + [None] * (len(leaves) - len(places)))]
        return leaves, structure, [spec_of(leaf) for leaf in leaves]

    def _take(self, args, kwargs):
        _, dynamic, named = self._split(args, kwargs)
        return self._flatten(dynamic, named)

    def _stage(self, args, kwargs):
        fixed, dynamic, named = self._split(args, kwargs)
        leaves, structure, specs = self._flatten(dynamic, named)
        try:
            # 1, 1.0 and True are equal, and give different graphs.
            key = (fixed, tuple(type(v) for part in fixed for _, v in part), structure, tuple(specs))
            staged = self._cache.get(key)
        except TypeError as error:
            raise ValueError(f"Non-hashable static arguments are used in a jit function: {error}") from None
        if staged is None:
            static = dict(fixed[0])

            def call(*values, **more):
                values = list(values)
                for i in sorted(static):
                    values.insert(i, static[i])
                return self._function(*values, **more, **dict(fixed[1]))
            staged = self._cache[key] = Staged(call, structure, specs, self._names(dynamic, named, static), self)
        return staged, leaves

    def _names(self, dynamic, named, static):
        """A name for each leaf, after the parameter that it belongs to."""
        from jax.tree_util import tree_leaves_with_path
        kept = [n for i, n in enumerate(self._parameters) if i not in static]
        names = []
        for path, _ in tree_leaves_with_path((dynamic, named)):
            first = kept[path[1].idx] if path[0].idx == 0 and path[1].idx < len(kept) else str(getattr(path[1], "key", "x"))
            names.append(first + "".join(str(k) for k in path[2:]))
        return names

    # Options of the graph

    def out_places(self, result, structure):
        if self._out is None:
            return [None] * structure.num_leaves
        return prefix_leaves(self._out, result)

    def donated(self, structure):
        args = structure.children[0].children
        flags = []
        for i, child in enumerate(args):
            flags += [i in self._donate or i - len(args) in self._donate] * child.num_leaves
        return flags + [False] * structure.children[1].num_leaves

    # Calls

    def __call__(self, *args, **kwargs):
        if _gantry.tracing() or Jitted.disabled and not self.is_own or any(isinstance(leaf, _core.Batched) for leaf in tree_leaves((args, kwargs))):
            return self._inlined(args, kwargs)
        try:
            staged, leaves = self._stage(args, kwargs)
        except _OfBatch:
            return self._inlined(args, kwargs)
        return staged.run(leaves)

    def _inlined(self, args, kwargs):
        result = self._function(*args, **kwargs)
        if self._out is None:
            return result
        leaves, structure = tree_flatten(result)
        return tree_unflatten(structure, [leaf if p is None else _core.device_put(_core.asarray(leaf), _sharding.kind_of(p))
                                          for leaf, p in zip(leaves, prefix_leaves(self._out, result))])

    def lower(self, *args, **kwargs):
        return Lowered(self._stage(args, kwargs)[0], self._take)

    def eval_shape(self, *args, **kwargs):
        return self.lower(*args, **kwargs).out_info

    def clear_cache(self):
        self._cache.clear()


class Once(Jitted):
    """A function that is staged for one call: what takes little is evaluated, not compiled."""

    def __call__(self, *args):
        staged, leaves = self._stage(args, {})
        return staged.run(leaves, True)


def _place(leaf, place):
    return leaf if place is None or isinstance(leaf, ShapeDtypeStruct) else _core.device_put(leaf, _sharding.kind_of(place))


def is_place(value):
    return value is None or isinstance(value, (_sharding.Sharding, _sharding.Device))


def prefix_leaves(prefix, tree):
    """A tree that is cut off early, for each leaf of the whole one."""
    if is_place(prefix):
        return [prefix] * len(tree_leaves(tree))
    leaves, structure = tree_flatten(prefix, is_leaf=is_place)
    parts = structure.flatten_up_to(tree)
    return [p for place, part in zip(leaves, parts) for p in [place] * len(tree_leaves(part))]


def jit(fun=None, **options):
    """See docs/jax.md. Options that only concern other compilers are not known."""
    for name in ("keep_unused", "device", "backend", "inline", "abstracted_axes", "compiler_options"):
        options.pop(name, None)
    if fun is None:
        return lambda function: jit(function, **options)
    return Jitted(fun, **options)


def trace(function, args):
    """Runs @function over variables of the types of @args, for what it says of types: the graph is dropped. One example of a batch is an array."""
    def run(*variables):
        function(*variables)
        return 0
    tracer = Jitted(run)
    tracer.is_own = True
    leaves, structure = tree_flatten(args)
    leaves = [_core.asarray(a) for a in leaves]
    tracer.lower(*tree_unflatten(structure, [ShapeDtypeStruct(a.shape, a.dtype, sharding=a.sharding, weak_type=a._weak) for a in leaves]))


def eval_shape(fun, *args, **kwargs):
    return Jitted(fun).lower(*args, **kwargs).out_info
