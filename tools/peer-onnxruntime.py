#!/usr/bin/env python3
"""Runs a model with onnxruntime, once for each line on standard input, and prints the milliseconds of that run.

The benchmark alternates its own runs with these, so that both see the machine in the same state. After loading, the
script prints `ready VERSION`, or one line `error: ...` and exits with status 1. Inputs are uniform in [0, 1) for
floating-point types (from a fixed seed) and zero for the others; a dimension without a size is given by --dim, else 1.
Usage: PYTHON tools/peer-onnxruntime.py MODEL THREADS [--dim NAME=SIZE]...
Needs the packages onnxruntime and numpy, in an environment outside the tree (GANTRY_PEER_PYTHON names its Python).
"""
# SPDX-License-Identifier: Apache-2.0

import argparse
import sys
import time


def inputs_of(session, numpy, dims):
    """One array for each input that the model wants."""
    source = numpy.random.default_rng(1)
    types = {"tensor(float)": "float32", "tensor(float16)": "float16", "tensor(double)": "float64",
             "tensor(int64)": "int64", "tensor(int32)": "int32", "tensor(uint8)": "uint8", "tensor(int8)": "int8",
             "tensor(bool)": "bool"}
    arrays = {}
    for value in session.get_inputs():
        shape = [size if isinstance(size, int) else dims.get(size, 1) for size in value.shape]
        kind = numpy.dtype(types[value.type])
        arrays[value.name] = (source.random(shape) if kind.kind == "f" else numpy.zeros(shape)).astype(kind)
    return arrays


def load(model, threads, dims):
    import numpy
    import onnxruntime
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    return session, inputs_of(session, numpy, dims), onnxruntime.__version__


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model")
    parser.add_argument("threads", type=int)
    parser.add_argument("--dim", action="append", default=[], metavar="NAME=SIZE")
    arguments = parser.parse_args()
    dims = {name: int(size) for name, size in (dim.split("=", 1) for dim in arguments.dim)}
    try:
        session, arrays, version = load(arguments.model, arguments.threads, dims)
    except Exception as error:  # whatever it is, the benchmark reports it as "not measured"
        print("error: %s" % str(error).replace("\n", " "), flush=True)
        return 1
    print("ready %s" % version, flush=True)
    for _ in sys.stdin:
        start = time.perf_counter()
        session.run(None, arrays)
        print("%.6f" % ((time.perf_counter() - start) * 1e3), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
