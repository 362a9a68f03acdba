#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the programs that tools/gpu-check measures, in Gantry's text form, by the functions of data/programs/make-programs.py.

product-N    one product of two bf16 matrices N x N; product-M-N-K: of M x K and K x N
chain-ROWS   ten elementwise operations on f32[ROWS,8192] that fuse to one kernel: reads two arrays, writes one
norm-ROWS    layer norm of the rows of f32[ROWS,4096]
resnet50-B-SIZE    the convolutions of ResNet-50 (He et al., 2015) in bf16, batch B, images SIZE x SIZE; where that has batch
             norms this has a scale and a bias for each channel, which are trained; the result is the logits
bert-B-LENGTH-DIM  two blocks of BERT (Devlin et al., 2018) in bf16: attention with DIM / 64 heads, perceptron of 4 DIM, layer norm
             after each; the result is the blocks' output
functions-ELEMENT  elementary functions, quotients, sums and products of all numbers of bf16 or f16, whose bits are the input, as those of the results
The three before that take -loss behind their name: then the result is the mean of the squared result, for a training step.

Usage: gpu-programs.py DIRECTORY NAME...
"""
import importlib.util
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
spec = importlib.util.spec_from_file_location("make_programs", os.path.join(HERE, "..", "data", "programs", "make-programs.py"))
base = importlib.util.module_from_spec(spec)
spec.loader.exec_module(base)


def declare(p, shapes, element):
    for name, dims in shapes.items():
        p.main.scope = name.rpartition("/")[0]
        p.weights[name] = p.main.weight(name, dims, element)
    p.main.scope = ""


def convert(f, x, element):
    return f.add("convert", [x], element, x.dims, to="type %s[]" % element)


def end(p, x, loss):
    f = p.main
    f.scope = ""
    x = convert(f, x, "f32") if x.element != "f32" else x
    p.end(f, [f.mean(f.binary("multiply", x, x), list(range(len(x.dims))))] if loss else [x])
    return p


def product(name, loss, m, n=None, k=None):
    n, k = n or m, k or m
    p = base.Program(name, ["One product of two bf16 matrices %d x %d." % (n, n) if m == n == k else
                            "One product of two bf16 matrices %d x %d and %d x %d." % (m, k, k, n)])
    a, b = p.main.parameter("a", "bf16", [m, k]), p.main.parameter("b", "bf16", [k, n])
    p.end(p.main, [p.main.dot(a, b)])
    return p


def chain(name, loss, rows):
    p = base.Program(name, ["Ten elementwise operations on f32[%d,8192], which fuse to one kernel." % rows])
    f = p.main
    x, y = (f.parameter(k, "f32", [rows, 8192]) for k in "xy")
    z = f.binary("add", f.binary("multiply", x, 1.25), y)
    z = f.binary("multiply", f.unary("logistic", z), x)
    z = f.binary("subtract", f.unary("tanh", z), f.binary("multiply", y, 0.5))
    z = f.relu(f.binary("add", z, 0.125))
    p.end(f, [f.binary("multiply", z, y)])
    return p


FUNCTIONS = ["tanh", "exponential", "logistic", "erf", "log", "log_plus_one", "exponential_minus_one", "sqrt", "rsqrt"]
COMBINATIONS = ["add", "subtract", "multiply", "divide", "maximum"]


def functions(name, loss, element):
    p = base.Program(name, ["Elementary functions of all numbers of %s, and of each with the one whose bits are turned." % element])
    f = p.main
    bits = f.parameter("bits", "u16", [65536])
    x = f.add("bitcast_convert", [bits], element, [65536], to="type %s[]" % element)
    other = f.add("bitcast_convert", [f.parameter("others", "u16", [65536])], element, [65536], to="type %s[]" % element)
    made = [f.unary(op, x) for op in FUNCTIONS] + [f.binary(op, x, other) for op in COMBINATIONS]
    p.end(f, [f.add("bitcast_convert", [y], "u16", [65536], to="type u16[]") for y in made])
    return p


def norm(name, loss, rows):
    p = base.Program(name, ["Layer norm of the rows of f32[%d,4096]." % rows])
    f = p.main
    x = f.parameter("x", "f32", [rows, 4096])
    declare(p, {"layer/norm/scale": [4096], "layer/norm/bias": [4096]}, "f32")
    f.scope = "layer"
    x = base.layer_norm(f, x, "norm")
    f.scope = ""
    return end(p, x, loss)


def conv(f, x, scope, padding, stride, relu=True):
    """A convolution, then a scale and a bias for each channel."""
    w = f.program.weights
    outer, f.scope = f.scope, scope
    k = w[scope + "/w"]
    spatial = [(d + 2 * padding - k.dims[2]) // stride + 1 for d in x.dims[2:]]
    y = f.add("convolution", [x, k], x.element, [x.dims[0], k.dims[0]] + spatial, padding=[padding] * 4, window_strides=[stride] * 2)
    y = f.binary("multiply", y, f.broadcast(w[scope + "/scale"], y.dims, [1]))
    y = f.binary("add", y, f.broadcast(w[scope + "/bias"], y.dims, [1]))
    f.scope = outer
    return f.relu(y) if relu else y


STAGES = [(3, 64, 1), (4, 128, 2), (6, 256, 2), (3, 512, 2)]


def resnet50(name, loss, batch, size):
    p = base.Program(name, ["The convolutions of ResNet-50 in bf16; scale and bias in the place of each batch norm."])
    f = p.main
    x = f.parameter("image", "bf16", [batch, 3, size, size])
    shapes = {}

    def add(scope, out, channels, k):
        shapes[scope + "/w"], shapes[scope + "/scale"], shapes[scope + "/bias"] = [out, channels, k, k], [out], [out]

    add("stem", 64, 3, 7)
    channels = 64
    for s, (n, width, _) in enumerate(STAGES):
        for i in range(n):
            scope = "stage.%d/block.%d/" % (s, i)
            add(scope + "reduce", width, channels, 1)
            add(scope + "conv", width, width, 3)
            add(scope + "expand", 4 * width, width, 1)
            if i == 0:
                add(scope + "project", 4 * width, channels, 1)
            channels = 4 * width
    shapes["head/w"], shapes["head/b"] = [channels, 1000], [1000]
    declare(p, shapes, "bf16")
    x = conv(f, x, "stem", 3, 2)
    dims = x.dims[:2] + [(d + 2 - 3) // 2 + 1 for d in x.dims[2:]]
    x = f.add("reduce_window", [x], x.element, dims, kind="max", window_dimensions=[1, 1, 3, 3], window_strides=[1, 1, 2, 2],
              padding=[0, 0, 0, 0, 1, 1, 1, 1])
    for s, (n, width, stride) in enumerate(STAGES):
        for i in range(n):
            scope = "stage.%d/block.%d" % (s, i)
            f.scope = scope
            step = stride if i == 0 else 1
            y = conv(f, x, scope + "/reduce", 0, 1)
            y = conv(f, y, scope + "/conv", 1, step)
            y = conv(f, y, scope + "/expand", 0, 1, relu=False)
            short = conv(f, x, scope + "/project", 0, step, relu=False) if i == 0 else x
            x = f.relu(f.binary("add", y, short))
    f.scope = ""
    x = f.mean(x, [2, 3])
    x = f.dense(x, "head", 1000)
    return end(p, x, loss)


def bert(name, loss, batch, length, dim):
    hidden, heads = 4 * dim, max(1, dim // 64)
    p = base.Program(name, ["Two blocks of BERT in bf16, layer norm after attention and after the perceptron."])
    f = p.main
    x = f.parameter("x", "bf16", [batch, length, dim])
    shapes = {}
    for i in range(2):
        scope = "encoder/layer.%d/" % i
        for part in ("query", "key", "value", "out"):
            shapes[scope + "attention/" + part + "/w"], shapes[scope + "attention/" + part + "/b"] = [dim, dim], [dim]
        shapes[scope + "mlp/up/w"], shapes[scope + "mlp/up/b"] = [dim, hidden], [hidden]
        shapes[scope + "mlp/down/w"], shapes[scope + "mlp/down/b"] = [hidden, dim], [dim]
        for n in ("norm1", "norm2"):
            shapes[scope + n + "/scale"] = shapes[scope + n + "/bias"] = [dim]
    declare(p, shapes, "bf16")
    for i in range(2):
        scope = f.scope = "encoder/layer.%d" % i
        x = base.layer_norm(f, f.binary("add", x, base.attention(f, x, heads)), "norm1")
        f.scope = scope + "/mlp"
        y = f.dense(f.gelu(f.dense(x, "up", hidden)), "down", dim)
        f.scope = scope
        x = base.layer_norm(f, f.binary("add", x, y), "norm2")
    return end(p, x, loss)


KINDS = {"product": product, "chain": chain, "norm": norm, "resnet50": resnet50, "bert": bert, "functions": functions}


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__.strip().rpartition("\n")[2])
    for name in sys.argv[2:]:
        parts = name.split("-")
        loss = parts[-1] == "loss"
        sizes = parts[1:-1] if loss else parts[1:]
        if parts[0] not in KINDS or not sizes or not all(s in ("bf16", "f16") if parts[0] == "functions" else s.isdigit() for s in sizes):
            sys.exit("gpu-programs.py: no program is called %s" % name)
        with open(os.path.join(sys.argv[1], name + ".gir"), "w", encoding="utf-8") as out:
            out.write(KINDS[parts[0]](name, loss, *[int(s) if s.isdigit() else s for s in sizes]).text())


if __name__ == "__main__":
    main()
