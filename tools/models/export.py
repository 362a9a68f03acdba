# SPDX-License-Identifier: Apache-2.0
"""A network as an ONNX file, by both exporters of PyTorch or by jax2onnx; and where its weights went in that file."""
import contextlib
import itertools
import os
import sys
import warnings

import numpy as np
import onnx
from onnx import numpy_helper

SCRIPT_OPSETS = range(11, 21)
DYNAMO_OPSETS = range(18, 23)


def how(model, batch):
    """The exporter, the opset, and whether the first dimensions get names instead of sizes: by turns."""
    if model.exporter == "jax":
        return "jax", model.opset or 23, False
    exporter = model.exporter or ("dynamo" if batch == 2 and model.turn(4) == 0 else "script")
    opsets = SCRIPT_OPSETS if exporter == "script" else DYNAMO_OPSETS
    opset = model.opset or opsets[(model.turn(997) + batch) % len(opsets)]
    return exporter, opset, exporter == "script" and (model.turn(5) + batch) % 4 == 0


def attempts(exporter, opset):
    """What is tried in turn: what an exporter cannot say in an old opset it may say in a later one, or the other exporter may."""
    if exporter == "jax":
        return [(exporter, opset)]
    if exporter == "dynamo":
        return [(exporter, opset), ("script", 17)]
    return [(exporter, o) for o in sorted({opset, max(opset, 17), 20})] + [("dynamo", 20)]


def write(reference, inputs, path, exporter, opset, named, right):
    """RIGHT (path) is asked whether the file computes what the network does. Returns (exporter, opset) of the file that does."""
    problem = None
    for exporter, opset in attempts(exporter, opset):
        try:
            with silence():
                if exporter == "jax":
                    export_jax(reference, inputs, path, opset)
                else:
                    export_torch(reference.network, inputs, path, exporter, opset, named and exporter == "script")
            right(path)
            return exporter, opset
        except Exception as why:  # exporters raise what they like
            problem = problem or why
    raise problem


@contextlib.contextmanager
def silence():
    """Exporters write pages to both streams, some of it not through Python."""
    sys.stdout.flush()
    sys.stderr.flush()
    kept = os.dup(1), os.dup(2)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 1)
        os.dup2(nowhere, 2)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os.dup2(kept[0], 1)
        os.dup2(kept[1], 2)
        for fd in (*kept, nowhere):
            os.close(fd)


def export_torch(network, inputs, path, exporter, opset, named):
    import torch
    arguments = tuple(torch.from_numpy(a) for a in inputs)
    names = ["x%d" % i for i in range(len(inputs))]
    options = {"input_names": names, "opset_version": opset}
    if exporter == "dynamo":
        options.update(dynamo=True, optimize=False, external_data=False, verbose=False)
    else:
        options.update(dynamo=False, do_constant_folding=False, training=torch.onnx.TrainingMode.PRESERVE)
        if named:
            options["dynamic_axes"] = {name: {0: "n%d" % i} for i, name in enumerate(names)}
    torch.onnx.export(network, arguments, path, **options)


def export_jax(reference, inputs, path, opset):
    import jax
    from jax2onnx import to_onnx
    weights = {name: jax.numpy.asarray(value) for name, value in reference.values.items()}
    shapes = [jax.ShapeDtypeStruct(a.shape, a.dtype) for a in inputs]
    proto = to_onnx(lambda *x: reference.function(weights, *x), shapes, opset=opset, input_names=["x%d" % i for i in range(len(inputs))])
    onnx.save(proto, path)


def initializers(path):
    return {t.name: numpy_helper.to_array(t) for t in onnx.load(path).graph.initializer
            if t.data_type == onnx.TensorProto.FLOAT and len(t.dims) > 0}


def places(path, names, weights):
    """Which element of which weight each element of an initializer is.

    Returns {initializer: (weight's name, permutation or None, array of flat indices or None)}; an initializer may hold parts of
    several weights, then the name is None and the indices count through all of them one after the other. Initializers that are no
    weights are left out."""
    found, rest = {}, {}
    for name, array in initializers(path).items():
        match = find_whole(name, array, names, weights)
        if match is not None:
            found[name] = match
        else:
            rest[name] = array
    if rest:
        found.update(find_elements(rest, weights))
    return found


def find_whole(name, array, names, weights):
    size = [i for i, w in enumerate(weights) if w.size == array.size]
    # Of two equal weights (identities, say) either may be meant: the one of that name first.
    size.sort(key=lambda i: names[i] != name)
    for i in size:
        w = weights[i]
        if w.ndim <= 5:
            for order in itertools.permutations(range(w.ndim)):
                turned = w.transpose(order)
                if np.array_equal(turned.reshape(-1), array.reshape(-1)):
                    return names[i], list(order), None
    return None


def find_elements(arrays, weights):
    every = np.concatenate([w.reshape(-1) for w in weights]) if weights else np.zeros(0, np.float32)
    order = np.argsort(every, kind="stable")
    ordered, found = every[order], {}
    for name, array in arrays.items():
        flat = array.reshape(-1)
        where = np.searchsorted(ordered, flat)
        inside = where < len(ordered)
        if not inside.all() or not (ordered[where] == flat).all():
            continue
        # A value that stands twice cannot be told from the other.
        twice = (np.searchsorted(ordered, flat, "right") - where > 1) & (flat != 0)
        if not twice.any() and not (flat == 0).all():
            found[name] = (None, None, order[where])
    return found
