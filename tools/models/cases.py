# SPDX-License-Identifier: Apache-2.0
"""A model at one batch size as a folder: the ONNX file, its inputs, and the reference.

    model.onnx, input_N.npy, target.npy
    reference.npz   output_N, gradient_N in double precision
    places.npz      which elements of the weights the initializers hold, where that is no whole weight
    case.json       the rest: how it was exported, the loss, by how much each tensor moves
"""
import json
import os
import shutil
import signal

import numpy as np
import onnx

import bounds
import export
import kinks
import reference as references

SECONDS = 300
# See look_closer().
CLOSER, CLOSER_SIZE = 12, 4 * references.EPSILON


class TooLong(Exception):
    pass


def limit(seconds):
    def stop(*_):
        raise TooLong("takes longer than %d s" % seconds)
    signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)


def folder_of(out, model, batch):
    return os.path.join(out, model.name.replace("/", "_"), "batch%d" % batch)


def seed_of(model):
    return model.turn(1 << 31)


def open_reference(model):
    """The network with its weights: the same each time. Returns (reference, inputs of a batch)."""
    if model.exporter == "jax":
        function, weights, inputs = model.make(np.random.default_rng(seed_of(model)))
        return references.Jax(function, weights), lambda b: inputs(np.random.default_rng(seed_of(model) + b), b)
    import torch
    torch.manual_seed(seed_of(model))
    network, inputs = model.make()

    def arrays(batch):
        torch.manual_seed(seed_of(model) + batch)
        return [x.numpy() for x in inputs(batch)]

    return references.Torch(network, seed_of(model)), arrays


def loss_and_target(model, outputs, seed):
    y = outputs[model.output]
    random = np.random.default_rng(seed)
    loss = model.loss or ("softmax-cross-entropy" if model.turn(3) == 0 and y.ndim >= 2 and y.shape[-1] > 1 else "mse")
    if loss == "mse":
        return loss, random.standard_normal(y.shape).astype(np.float32)
    return loss, random.integers(0, y.shape[-1], y.shape[:-1]).astype(np.int32)


class Unfaithful(Exception):
    pass


def onnxruntime_outputs(path, inputs):
    """An exporter drops inputs that nothing reads; those that are left keep their names "xN"."""
    import onnxruntime
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    return session.run(None, {x.name: inputs[int(x.name[1:])] for x in session.get_inputs()})


def check_peer(path, inputs, outputs, moves):
    """Whether the file computes what the network does, as onnxruntime reads it. Returns by how much it is off, for each output."""
    off = []
    for found, wanted, move in zip(onnxruntime_outputs(path, inputs), outputs, moves):
        if found.shape != wanted.shape:
            raise Unfaithful("an output has the shape %s instead of %s" % (found.shape, wanted.shape))
        off.append(references.largest(np.asarray(found, np.float64) - wanted))
        if off[-1] > bounds.allowed(move, references.largest(wanted)):
            raise Unfaithful("onnxruntime is off by %.2g where rounding moves by %.2g" % (off[-1], move))
    return off


def build(model, batch, out, opened=None):
    """Makes the folder. Returns its case; "problem" in it says why there is no model."""
    folder = folder_of(out, model, batch)
    made = os.path.join(folder, "case.json")
    if os.path.exists(made):
        with open(made) as file:
            return json.load(file)
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    try:
        limit(SECONDS)
        case = write(model, batch, folder, *(opened or (lambda: open_reference(model)))())
    except Exception as why:  # what libraries raise
        case = {"problem": "%s: %s" % (type(why).__name__, " ".join(str(why).split())[:300])}
    finally:
        signal.alarm(0)
    case.update(model=model.name, batch=batch, folder=folder)
    with open(made, "w") as file:
        json.dump(case, file, indent=1)
    return case


def read_by(path):
    """The inputs that the exporter left in the file."""
    return [x.name for x in onnx.load(path, load_external_data=False).graph.input]


def loss_and_gradients(reference, loss, output, target):
    def compute(inputs, weights, double):
        value, gradients = reference.gradients(inputs, weights, loss, output, target, double)
        return [np.asarray(value), *gradients]
    return compute


def write(model, batch, folder, reference, make_inputs):
    inputs, weights = make_inputs(batch), [np.array(w) for w in reference.weights()]
    path = os.path.join(folder, "model.onnx")
    exporter, opset, named = export.how(model, batch)
    outputs, moves = references.spread(reference.infer, inputs, weights)
    if not all(np.isfinite(y).all() for y in outputs if y.dtype.kind == "f"):
        return {"problem": "the outputs are not finite"}
    reference.infer(inputs, weights, False)
    exporter, opset = export.write(reference, inputs, path, exporter, opset, named, lambda p: check_peer(p, inputs, outputs, moves))
    named = named and exporter == "script"
    reads = read_by(path)
    case = {"exporter": exporter, "opset": opset, "dims": {"n%d" % i: len(a) for i, a in enumerate(inputs) if "x%d" % i in reads} if named else {},
            "reads": reads, "weights": reference.names, "n_weights": int(sum(w.size for w in weights)),
            "peer": check_peer(path, inputs, outputs, moves)}
    keep = {"output_%d" % i: y for i, y in enumerate(outputs)}
    loss, target = loss_and_target(model, outputs, seed_of(model) + batch)
    if outputs[model.output].dtype.kind == "f" and weights:
        gradients, gradient_moves = references.spread(loss_and_gradients(reference, loss, model.output, target), inputs, weights)
        keep.update({"gradient_%d" % i: g for i, g in enumerate(gradients)})
        case.update(loss=loss, output=model.output, gradient_moves=gradient_moves,
                    gradient_sizes=[references.largest(g) for g in gradients])
    case.update(output_moves=moves, output_sizes=[references.largest(y) if y.dtype.kind == "f" else 0 for y in outputs])
    found = export.places(path, reference.names, weights)
    case["places"] = {name: [weight, order] for name, (weight, order, index) in found.items()}
    np.savez(os.path.join(folder, "places.npz"), **{"p%d" % i: index for i, (_, _, index) in enumerate(found.values()) if index is not None})
    np.savez(os.path.join(folder, "reference.npz"), **keep)
    np.save(os.path.join(folder, "target.npy"), target)
    for i, a in enumerate(inputs):
        np.save(os.path.join(folder, "input_%d.npy" % i), a)
    return case


def search(case, reference, make_inputs):
    """A kinks.Search of the case, None for what PyTorch does not compute."""
    if not isinstance(reference, references.Torch):
        return None
    inputs, weights = make_inputs(case["batch"]), [np.array(w) for w in reference.weights()]
    compute = loss_and_gradients(reference, case["loss"], case["output"], np.load(os.path.join(case["folder"], "target.npy")))
    return kinks.Search(reference, compute, inputs, weights, case["gradient_moves"])


def look_closer(case, reference, make_inputs):
    """Moves weights and inputs more often, and by more, and what each operation gives: a relu whose argument is nearly 0, or two elements of a pool that are nearly
    equal, are found by chance only, and single precision decides some of them otherwise with every order of summation."""
    folder = case["folder"]
    inputs, weights = make_inputs(case["batch"]), [np.array(w) for w in reference.weights()]
    _, moves = references.spread(reference.infer, inputs, weights, CLOSER, references.PERTURBATIONS, CLOSER_SIZE)
    case["output_moves"] = [max(pair) for pair in zip(case["output_moves"], moves)]
    if "loss" in case:
        compute = loss_and_gradients(reference, case["loss"], case["output"], np.load(os.path.join(folder, "target.npy")))
        _, moves = references.spread(compute, inputs, weights, CLOSER, references.PERTURBATIONS, CLOSER_SIZE)
        rounded = references.rounded_moves(reference, compute, inputs, weights, CLOSER)
        case["gradient_moves"] = [max(three) for three in zip(case["gradient_moves"], moves, rounded)]
        case["slope_off"] = references.slope_off(compute, inputs, weights)
    case["looked_closer"] = True
    reference.infer(inputs, weights, False)
    with open(os.path.join(folder, "case.json"), "w") as file:
        json.dump(case, file, indent=1)
