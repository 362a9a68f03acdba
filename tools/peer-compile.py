#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What other compilers take for work that the benchmarks measure: one line of text for their column "peer", each time as median
and least..most of a few rounds in this process.

passes FILE.onnx   onnxruntime opens the model: parsing, all graph optimizations, memory pattern
plan LAYERS        JAX compiles a training step (transformer layers of width 64 with Adam) again after its checkpoint policy has
                   changed: what a user does there to see another placement
solve              PyTorch's partitioner decides what a 12-layer transformer saves within 30 % of the activations, with
                   the solver that it takes by default, tracing not counted
chain N FILE.onnx  no peer: writes the chain of N operations that "passes" is asked about

Usage: PYTHON tools/peer-compile.py WHAT...     Needs onnxruntime and onnx, jax, or torch, in an environment outside the
tree (GANTRY_PEER_PYTHON names its Python). Exit status 1, with the reason, where that fails.
"""
import os
import statistics
import sys
import time


def told(name, times):
    return "%s: %.4g ms %.4g..%.4g" % (name, statistics.median(times), min(times), max(times))


def timed(work):
    start = time.perf_counter()
    work()
    return (time.perf_counter() - start) * 1e3


def chain(n, path):
    """Twelve operations again and again, in which the usual passes find something to do: a factor of one, two transposes that
    undo each other, a value computed twice, an addend that folds, one that nobody reads."""
    import numpy
    import onnx
    from onnx import TensorProto, helper, numpy_helper
    nodes, x = [], "x"

    def add(op, *operands, **attributes):
        nodes.append(helper.make_node(op, operands, ["v%d" % len(nodes)], **attributes))
        return nodes[-1].output[0]

    for _ in range(0, n, 12):
        t = add("Transpose", add("Transpose", add("Mul", x, "one"), perm=[1, 0]), perm=[1, 0])
        e, twice, addend = add("Tanh", t), add("Tanh", t), add("Add", "half", "half")
        total = add("Add", e, add("Mul", twice, addend))
        add("Neg", total)
        x = add("Sub", total, add("ReduceMax", total, "axis", keepdims=1))
    constants = [numpy_helper.from_array(array, name) for name, array in
                 (("one", numpy.ones((16, 16), numpy.float32)), ("half", numpy.full((16, 16), 0.5, numpy.float32)),
                  ("axis", numpy.array([1], numpy.int64)))]
    graph = helper.make_graph(nodes, "chain", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [16, 16])],
                              [helper.make_tensor_value_info(x, TensorProto.FLOAT, [16, 16])], constants)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9), path)


def passes(path):
    import onnxruntime
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
    times = [timed(lambda: onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"]))
             for _ in range(3)]
    return told("onnxruntime %s opens it" % onnxruntime.__version__, times)


def plan(n_layers):
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    import jax
    import jax.numpy as jnp

    def layer(x, w):
        p = jax.nn.softmax((x @ w[0]) @ (x @ w[1]).T)
        x = x + (p @ (x @ w[2])) @ w[3]
        return x + jnp.tanh(x @ w[4]) @ w[5]

    def step_of(policy):
        block = jax.checkpoint(layer, policy=policy)

        def loss(weights, x):
            y = x
            for w in weights:
                y = block(y, w)
            return ((y - x) ** 2).sum()

        def step(weights, m, v, x):
            gradient = jax.grad(loss)(weights, x)
            m = jax.tree.map(lambda a, g: a + 0.001 * (g - a), m, gradient)
            v = jax.tree.map(lambda a, g: a + 0.001 * (g * g - a), v, gradient)
            return jax.tree.map(lambda w, a, b: w - a / jnp.sqrt(b), weights, m, v), m, v
        return step

    square = jax.ShapeDtypeStruct((64, 64), jnp.float32)
    weights = [[square] * 6 for _ in range(n_layers)]
    times = []
    for policy in (jax.checkpoint_policies.dots_saveable, jax.checkpoint_policies.nothing_saveable):
        times.append(timed(lambda: jax.jit(step_of(policy), donate_argnums=(0, 1, 2)).lower(weights, weights, weights, square)
                           .compile().memory_analysis()))
    return told("jax %s compiles again" % jax.__version__, times)


class Decided(Exception):
    """The partition is made: nothing has to run."""


def solve():
    import torch
    from torch import nn
    from torch._dynamo.backends.common import aot_autograd
    from torch._functorch import config, partitioners

    layer = nn.TransformerEncoderLayer(768, 12, 3072, dropout=0.0, activation="gelu", batch_first=True, norm_first=True)
    times = []

    def partition(joint, inputs, **more):
        start = time.perf_counter()
        partitioners.min_cut_rematerialization_partition(joint, inputs, **more)
        times.append((time.perf_counter() - start) * 1e3)
        raise Decided

    config.activation_memory_budget = 0.3
    for _ in range(3):
        torch._dynamo.reset()
        net = nn.TransformerEncoder(layer, 12, enable_nested_tensor=False).train()
        backend = aot_autograd(fw_compiler=lambda graph, _: graph.forward, partition_fn=partition)
        count = len(times)
        try:
            torch.compile(net, backend=backend)(torch.randn(8, 128, 768)).sum().backward()
        except Exception as error:  # dynamo wraps what its backend raises
            if len(times) == count:
                raise error
    return told("torch %s decides" % torch.__version__, times)


def main():
    what, *rest = sys.argv[1:] or ["--help"]
    if what == "chain" and len(rest) == 2:
        chain(int(rest[0]), rest[1])
        return 0
    work = {"passes": passes, "plan": lambda n: plan(int(n)), "solve": solve}.get(what)
    if work is None:
        sys.exit(__doc__)
    try:
        print(work(*rest), flush=True)
    except Exception as error:  # whatever it is, the benchmark reports it as "not measured"
        print("peer-compile.py: %s" % str(error).splitlines()[0], file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
