# SPDX-License-Identifier: Apache-2.0
"""Trees of dicts, lists, tuples, None, named tuples and registered classes."""
import functools

_registry = {}


class PyTreeDef:
    """What a tree is without its leaves."""

    def __init__(self, kind, data, children):
        self.kind, self.data, self.children = kind, data, tuple(children)
        self.num_leaves = 1 if kind is None else sum(c.num_leaves for c in self.children)

    def __eq__(self, other):
        return isinstance(other, PyTreeDef) and (self.kind, self.data, self.children) == (other.kind, other.data, other.children)

    def __hash__(self):
        return hash((self.kind, repr(self.data), self.children))

    def unflatten(self, leaves):
        return tree_unflatten(self, leaves)

    def flatten_up_to(self, tree):
        found = []
        _flatten_up_to(self, tree, found)
        return found

    def _text(self):
        parts = [c._text() for c in self.children]
        if self.kind is None:
            return "*"
        if self.kind is type(None):
            return "None"
        if self.kind is dict:
            return "{" + ", ".join(f"{k!r}: {p}" for k, p in zip(self.data, parts)) + "}"
        if self.kind is list:
            return "[" + ", ".join(parts) + "]"
        if self.kind is tuple:
            return "(" + ", ".join(parts) + ("," if len(parts) == 1 else "") + ")"
        if self.kind not in _registry and issubclass(self.kind, tuple):
            return f"CustomNode(namedtuple[{self.kind.__name__}], [{', '.join(parts)}])"
        return f"CustomNode({self.kind.__name__}[{self.data}], [{', '.join(parts)}])"

    def __repr__(self):
        return f"PyTreeDef({self._text()})"


_LEAF = PyTreeDef(None, None, ())


def _is_named(value):
    return isinstance(value, tuple) and hasattr(value, "_fields")


def _parts(value):
    """(kind, data, children) of an inner node; None for a leaf."""
    kind = type(value)
    if value is None:
        return kind, None, ()
    if kind is dict:
        keys = tuple(sorted(value))
        return dict, keys, [value[k] for k in keys]
    if kind in (list, tuple):
        return kind, None, value
    if kind in _registry:
        children, data = _registry[kind][0](value)
        return kind, data, tuple(children)
    if _is_named(value):
        return kind, None, value
    if isinstance(value, dict):
        return kind, tuple(value), list(value.values())
    return None


def _flatten(value, leaves, is_leaf):
    if is_leaf is not None and is_leaf(value):
        parts = None
    else:
        parts = _parts(value)
    if parts is None:
        leaves.append(value)
        return _LEAF
    kind, data, children = parts
    return PyTreeDef(kind, data, [_flatten(c, leaves, is_leaf) for c in children])


def tree_flatten(tree, is_leaf=None):
    leaves = []
    structure = _flatten(tree, leaves, is_leaf)
    return leaves, structure


def tree_leaves(tree, is_leaf=None):
    return tree_flatten(tree, is_leaf)[0]


def tree_structure(tree, is_leaf=None):
    return tree_flatten(tree, is_leaf)[1]


def _build(structure, leaves):
    kind = structure.kind
    if kind is None:
        return next(leaves)
    children = [_build(c, leaves) for c in structure.children]
    if kind is type(None):
        return None
    if kind in _registry:
        return _registry[kind][1](structure.data, tuple(children))
    if kind in (list, tuple):
        return kind(children)
    if issubclass(kind, dict):
        return kind(zip(structure.data, children))
    return kind(*children)


def tree_unflatten(structure, leaves):
    leaves = list(leaves)
    if len(leaves) != structure.num_leaves:
        raise ValueError(f"Too {'many' if len(leaves) > structure.num_leaves else 'few'} leaves for PyTreeDef; expected "
                         f"{structure.num_leaves}, got {len(leaves)}")
    return _build(structure, iter(leaves))


def _flatten_up_to(structure, tree, found):
    if structure.kind is None:
        found.append(tree)
        return
    parts = _parts(tree)
    if parts is None or parts[0] is not structure.kind or len(parts[2]) != len(structure.children) \
            or structure.kind is dict and parts[1] != structure.data:
        raise ValueError(f"Expected {structure.kind.__name__} of {len(structure.children)}, got {tree!r}.")
    for child, value in zip(structure.children, parts[2]):
        _flatten_up_to(child, value, found)


def tree_map(f, tree, *rest, is_leaf=None):
    leaves, structure = tree_flatten(tree, is_leaf)
    others = [structure.flatten_up_to(r) for r in rest]
    return tree_unflatten(structure, [f(*v) for v in zip(leaves, *others)])


def tree_reduce(function, tree, *initial, is_leaf=None):
    return functools.reduce(function, tree_leaves(tree, is_leaf), *initial)


def tree_all(tree, is_leaf=None):
    return all(tree_leaves(tree, is_leaf))


def tree_transpose(outer, inner, tree):
    leaves = tree_leaves(tree)
    n = inner.num_leaves
    rows = [leaves[i * n:(i + 1) * n] for i in range(outer.num_leaves)]
    return tree_unflatten(inner, [tree_unflatten(outer, column) for column in zip(*rows)])


class _PathKey:
    """A step of a path: @field says which attribute has what it goes by."""
    field, form = "", "{}"

    def __init__(self, value):
        setattr(self, self.field, value)

    _value = property(lambda self: getattr(self, self.field))

    def __eq__(self, other):
        return type(self) is type(other) and self._value == other._value

    def __hash__(self):
        return hash((type(self).__name__, self._value))

    def __str__(self):
        return self.form.format(self._value)

    def __repr__(self):
        return f"{type(self).__name__}({self.field}={self._value!r})"


class SequenceKey(_PathKey):
    field, form = "idx", "[{}]"


class DictKey(_PathKey):
    field, form = "key", "[{!r}]"


class GetAttrKey(_PathKey):
    field, form = "name", ".{}"


class FlattenedIndexKey(_PathKey):
    field, form = "key", "[<flat index {}>]"


def _keys_of(tree, parts):
    """What leads to each child of an inner node."""
    kind, data, children = parts
    if kind in _registry:
        keys = _registry[kind][2]
        return [FlattenedIndexKey(i) for i in range(len(children))] if keys is None else [k for k, _ in keys(tree)[0]]
    if issubclass(kind, dict):
        return [DictKey(k) for k in data]
    return [GetAttrKey(n) for n in kind._fields] if _is_named(tree) else [SequenceKey(i) for i in range(len(children))]


def _paths(tree, path, found, is_leaf):
    parts = None if is_leaf is not None and is_leaf(tree) else _parts(tree)
    if parts is None:
        found.append((path, tree))
        return
    for key, child in zip(_keys_of(tree, parts), parts[2]):
        _paths(child, path + (key,), found, is_leaf)


def tree_flatten_with_path(tree, is_leaf=None):
    found = []
    _paths(tree, (), found, is_leaf)
    return found, tree_structure(tree, is_leaf)


def tree_leaves_with_path(tree, is_leaf=None):
    return tree_flatten_with_path(tree, is_leaf)[0]


def tree_map_with_path(f, tree, *rest, is_leaf=None):
    found, structure = tree_flatten_with_path(tree, is_leaf)
    others = [structure.flatten_up_to(r) for r in rest]
    return tree_unflatten(structure, [f(path, leaf, *more) for (path, leaf), *more in zip(found, *others)])


def keystr(path, *, simple=False, separator=""):
    return separator.join(str(k._value) if simple and isinstance(k, _PathKey) else str(k) for k in path)


def tree_broadcast(prefix, tree, is_leaf=None):
    """Of each leaf of @prefix as many as @tree has in its place."""
    leaves, structure = tree_flatten(prefix, is_leaf)
    parts = [[leaf] * len(tree_leaves(part, is_leaf)) for leaf, part in zip(leaves, structure.flatten_up_to(tree))]
    return tree_unflatten(tree_structure(tree, is_leaf), [leaf for part in parts for leaf in part])


def register_pytree_node(kind, flatten, unflatten, flatten_with_keys=None):
    """@flatten_with_keys: like @flatten, with (key, child) in place of each child"""
    _registry[kind] = (flatten, unflatten, flatten_with_keys)


def register_pytree_with_keys(kind, flatten_with_keys, unflatten, flatten=None):
    def without(value):
        children, data = flatten_with_keys(value)
        return [c for _, c in children], data
    register_pytree_node(kind, flatten or without, unflatten, flatten_with_keys)


def register_pytree_node_class(kind):
    register_pytree_node(kind, lambda value: value.tree_flatten(), kind.tree_unflatten)
    return kind


def register_pytree_with_keys_class(kind):
    register_pytree_with_keys(kind, lambda value: value.tree_flatten_with_keys(), kind.tree_unflatten,
                              (lambda value: value.tree_flatten()) if hasattr(kind, "tree_flatten") else None)
    return kind


def register_static(kind):
    """One of that class is no leaf: it is part of the structure."""
    register_pytree_node(kind, lambda value: ((), value), lambda value, _: value)
    return kind


def register_dataclass(kind, data_fields=None, meta_fields=None, drop_fields=()):
    from jax._names import refuse
    refuse("tree_util.register_dataclass", "drop_fields", drop_fields, ())
    import dataclasses
    static = [f.name for f in dataclasses.fields(kind) if f.metadata.get("static")] if data_fields is None else ()
    data = list(data_fields if data_fields is not None else (f.name for f in dataclasses.fields(kind) if f.name not in static))
    meta = list(meta_fields or static)

    def build(values, children):
        return kind(**dict(zip(data, children)), **dict(zip(meta, values)))
    def values_of(v):
        return tuple(getattr(v, n) for n in meta)
    register_pytree_node(kind, lambda v: ([getattr(v, n) for n in data], values_of(v)), build,
                         lambda v: ([(GetAttrKey(n), getattr(v, n)) for n in data], values_of(v)))
    return kind


class Partial(functools.partial):
    pass


register_pytree_node(Partial, lambda p: ((p.args, p.keywords), p.func), lambda f, c: Partial(f, *c[0], **c[1]))
