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


class SequenceKey:
    def __init__(self, idx):
        self.idx = idx

    def __str__(self):
        return f"[{self.idx}]"

    __repr__ = __str__


class DictKey:
    def __init__(self, key):
        self.key = key

    def __str__(self):
        return f"[{self.key!r}]"

    __repr__ = __str__


class GetAttrKey:
    def __init__(self, name):
        self.name = name

    def __str__(self):
        return f".{self.name}"

    __repr__ = __str__


def _paths(tree, path, found, is_leaf):
    parts = None if is_leaf is not None and is_leaf(tree) else _parts(tree)
    if parts is None:
        found.append((path, tree))
        return
    kind, data, children = parts
    for i, child in enumerate(children):
        key = DictKey(data[i]) if issubclass(kind, dict) else GetAttrKey(kind._fields[i]) if _is_named(tree) else SequenceKey(i)
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
    from jax._names import refuse
    refuse("tree_util.keystr", "simple", simple, False)
    refuse("tree_util.keystr", "separator", separator, "")
    return "".join(str(k) for k in path)


def register_pytree_node(kind, flatten, unflatten, flatten_with_keys=None):
    _registry[kind] = (flatten, unflatten)


def register_pytree_node_class(kind):
    register_pytree_node(kind, lambda value: value.tree_flatten(), kind.tree_unflatten)
    return kind


def register_dataclass(kind, data_fields=None, meta_fields=None, drop_fields=()):
    from jax._names import refuse
    refuse("tree_util.register_dataclass", "drop_fields", drop_fields, ())
    import dataclasses
    data = list(data_fields if data_fields is not None else (f.name for f in dataclasses.fields(kind)))
    meta = list(meta_fields or ())

    def build(values, children):
        return kind(**dict(zip(data, children)), **dict(zip(meta, values)))
    register_pytree_node(kind, lambda v: ([getattr(v, n) for n in data], tuple(getattr(v, n) for n in meta)), build)
    return kind


class Partial(functools.partial):
    pass


register_pytree_node(Partial, lambda p: ((p.args, p.keywords), p.func), lambda f, c: Partial(f, *c[0], **c[1]))
