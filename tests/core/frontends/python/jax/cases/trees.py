# SPDX-License-Identifier: Apache-2.0
# Trees say how they are built: paths, names, structures.
import dataclasses
from collections import namedtuple
import jax
from jax import tree_util as tu


@tu.register_pytree_with_keys_class
class Pair:
    def __init__(self, a, b):
        self.a, self.b = a, b

    def tree_flatten_with_keys(self):
        return ((tu.GetAttrKey("a"), self.a), (tu.GetAttrKey("b"), self.b)), None

    @classmethod
    def tree_unflatten(cls, data, children):
        return cls(*children)


@jax.tree_util.register_dataclass
@dataclasses.dataclass
class Net:
    layers: list
    name: str = dataclasses.field(metadata=dict(static=True), default="net")


class Box:
    def __init__(self, value):
        self.value = value


tu.register_pytree_node(Box, lambda b: ((b.value,), None), lambda _, c: Box(*c))
Point = namedtuple("Point", "x y")
paths = [tu.keystr(p) for p, _ in tu.tree_leaves_with_path({"a": [1, Point(2, 3)], "k": Pair(4, 5), "n": Net([6]), "o": Box(7)})]
assert paths == ["['a'][0]", "['a'][1].x", "['a'][1].y", "['k'].a", "['k'].b", "['n'].layers[0]", "['o'][<flat index 0>]"], paths
assert tu.tree_map_with_path(lambda p, v: tu.keystr(p, simple=True, separator="/"), {"a": {"b": 1}, "c": [2]}) == {"a": {"b": "a/b"}, "c": ["c/0"]}
assert str(jax.tree.structure({"b": 1, "a": (2, None), "c": Point(1, 2)})) == \
    "PyTreeDef({'a': (*, None), 'b': *, 'c': CustomNode(namedtuple[Point], [*, *])})"
assert jax.tree.map(lambda x: x * 2, Net([1, 2])).layers == [2, 4] and jax.tree.map(lambda x: x, Net([1], "m")).name == "m"
assert jax.tree.broadcast(1, {"a": 1, "b": 2}) == {"a": 1, "b": 1}
assert tu.tree_flatten_with_path(Pair(1, 2))[0] == [((tu.GetAttrKey("a"),), 1), ((tu.GetAttrKey("b"),), 2)]
