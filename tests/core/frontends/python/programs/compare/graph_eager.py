# SPDX-License-Identifier: Apache-2.0
"""Functions of a program in a graph against eager mode: what each gives, or how it fails."""
import numpy as np
import mindspore as ms
from mindspore import Tensor, jit


def plain(value):
    if isinstance(value, Tensor):
        return ("T", str(value.dtype), value.shape, np.round(value.asnumpy().astype(np.float64), 4).tolist())
    if isinstance(value, (tuple, list)):
        return type(value)(plain(v) for v in value) if not hasattr(value, "_fields") else ("N", *(plain(v) for v in value))
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    return round(value, 5) if isinstance(value, float) else value


def outcome(function, args, kw, prepare):
    prepare()
    try:
        return plain(function(*args, **kw))
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def check(cases, cells, refused, otherwise, prepare):
    """@cases: (function, args, kw); @cells: names of those that call Cells, which are graphs by themselves; @refused: by name, part of
    the error; @otherwise: by name, what the graph may give instead; @prepare: called before each."""
    for function, args, kw in cases:
        ms.set_context(mode=ms.GRAPH_MODE)
        name = function.__name__
        graph = outcome(function if name in cells else jit(function), args, kw, prepare)
        ms.set_context(mode=ms.PYNATIVE_MODE)
        want = otherwise.get(name) or outcome(function, args, kw, prepare)
        if name in refused:
            assert isinstance(graph, str) and refused[name] in graph, (name, graph)
        elif want != graph:
            assert name in otherwise and repr(graph) in otherwise[name], (name, graph, want)
