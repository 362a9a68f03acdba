# SPDX-License-Identifier: Apache-2.0
"""Short names of jax.tree_util."""
from jax.tree_util import (tree_all as all, tree_broadcast as broadcast, tree_flatten as flatten, tree_leaves as leaves, tree_map as map, tree_reduce as reduce,
                           tree_structure as structure, tree_transpose as transpose, tree_unflatten as unflatten,
                           tree_flatten_with_path as flatten_with_path, tree_leaves_with_path as leaves_with_path,
                           tree_map_with_path as map_with_path)
