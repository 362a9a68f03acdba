# SPDX-License-Identifier: Apache-2.0
"""What is a graph where it can be one, and else runs operation by operation."""
import _gantry
from mindspore._core import NoDerivative, PYNATIVE_MODE, _Context, is_strict


def graph_or_operations(holder, graph, operations):
    """What @graph gives; on level LAX, where it has no derivative, what @operations gives in eager mode, then and from then on."""
    if not holder.__dict__.get("_by_operations"):
        try:
            return graph()
        except NoDerivative:
            if is_strict() or _gantry.in_graph() or _gantry.recording():
                raise
    mode, _Context.mode = _Context.mode, PYNATIVE_MODE
    try:
        result = operations()
    finally:
        _Context.mode = mode
    holder.__dict__["_by_operations"] = True
    return result
