#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the sample model and the small models of the tests, beside this script.

sample.onnx is what tools/run shows: a small image classifier with a convolution stem, a block of parallel branches and
two transformer blocks, every node named by its place in that hierarchy, weights from a fixed seed. The others are a few
nodes each; those in broken/ are what a reader has to refuse. Only Python's own library is used: protobuf's wire format is
written by hand, with the field numbers of the published onnx.proto.

Usage: make-samples.py            (the same bytes each time)
"""
import math
import os
import random
import struct

FLOAT, INT64 = 1, 7
HERE = os.path.dirname(os.path.abspath(__file__))


# Protobuf: a message is a list of (field number, value); int: varint, bytes or str: length-delimited, float: 32 bits.

def varint(n):
    n &= (1 << 64) - 1
    out = bytearray()
    while True:
        out.append(n & 127 | (128 if n > 127 else 0))
        n >>= 7
        if n == 0:
            return bytes(out)


def message(*fields):
    out = bytearray()
    for number, value in fields:
        if isinstance(value, str):
            value = value.encode()
        if isinstance(value, float):
            out += varint(number << 3 | 5) + struct.pack("<f", value)
        elif isinstance(value, bytes):
            out += varint(number << 3 | 2) + varint(len(value)) + value
        else:
            out += varint(number << 3) + varint(value)
    return bytes(out)


def tensor_type(element, dims):
    shape = message(*[(1, message((2, d) if isinstance(d, str) else (1, d))) for d in dims])
    return message((1, message((1, element), (2, shape))))


def value_info(name, element, dims):
    return message((1, name), (2, tensor_type(element, dims)))


def tensor(name, element, dims, raw):
    return message(*[(1, d) for d in dims], (2, element), (8, name), (9, raw))


def attribute(name, value):
    if isinstance(value, int):
        return message((1, name), (3, value), (20, 2))
    if isinstance(value, float):
        return message((1, name), (2, value), (20, 1))
    if isinstance(value, str):
        return message((1, name), (4, value), (20, 3))
    if isinstance(value, bytes):  # a graph
        return message((1, name), (6, value), (20, 5))
    return message((1, name), *[(8, v) for v in value], (20, 7))


def node_message(op, inputs, outputs, name, domain="", **attributes):
    fields = [(1, i) for i in inputs] + [(2, o) for o in outputs] + [(3, name), (4, op)]
    fields += [(5, attribute(k, v)) for k, v in attributes.items()]
    if domain:
        fields.append((7, domain))
    return message(*fields)


class Model:
    """Collects nodes and weights; values are named as exporters name them."""

    def __init__(self, name, seed=1):
        self.name = name
        self.random = random.Random(seed)
        self.nodes, self.weights, self.inputs, self.outputs = [], [], [], []
        self.domains = {"": 17}

    def input(self, name, dims, element=FLOAT):
        self.inputs.append(value_info(name, element, dims))
        return name

    def output(self, value, dims, element=FLOAT):
        self.outputs.append(value_info(value, element, dims))

    def floats(self, name, dims, values):
        self.weights.append(tensor(name, FLOAT, dims, struct.pack("<%df" % len(values), *values)))
        return name

    def ints(self, name, values):
        self.weights.append(tensor(name, INT64, [len(values)], struct.pack("<%dq" % len(values), *values)))
        return name

    def weight(self, name, dims, fan_in):
        bound = math.sqrt(3.0 / fan_in)
        return self.floats(name, dims, [(2 * self.random.random() - 1) * bound for _ in range(math.prod(dims))])

    def vector(self, name, n, low, high):
        return self.floats(name, [n], [low + (high - low) * self.random.random() for _ in range(n)])

    def add(self, scope, op, *inputs, out=None, **attributes):
        """A node "/scope/op"; its value has the same name with "_output_0"."""
        name = "/%s/%s" % (scope, op)
        n = sum(1 for other, _ in self.nodes if other == name or other.startswith(name + "_"))
        if n:
            name += "_%d" % n
        out = out or name + "_output_0"
        self.nodes.append((name, node_message(op, inputs, [out], name, **attributes)))
        return out

    def bytes(self):
        graph = message(*[(1, n) for _, n in self.nodes], (2, self.name), *[(5, w) for w in self.weights],
                        *[(11, i) for i in self.inputs], *[(12, o) for o in self.outputs])
        opsets = [(8, message((1, d), (2, v)) if d else message((2, v))) for d, v in self.domains.items()]
        return message((1, 8), (2, "gantry-make-samples"), (3, "1"), (7, graph), *opsets)


# The sample

def conv(m, scope, x, channels_in, channels, size):
    key = scope.replace("/", ".")
    w = m.weight(key + ".weight", [channels, channels_in, size, size], channels_in * size * size)
    return m.add(scope, "Conv", x, w, kernel_shape=[size, size], pads=[size // 2] * 4)


def conv_norm(m, scope, x, channels_in, channels, size):
    """Convolution, batch normalization, rectification."""
    key = (scope + "/norm").replace("/", ".")
    x = conv(m, scope + "/conv", x, channels_in, channels, size)
    x = m.add(scope + "/norm", "BatchNormalization", x, m.vector(key + ".weight", channels, 0.8, 1.2),
              m.vector(key + ".bias", channels, -0.1, 0.1), m.vector(key + ".running_mean", channels, -0.1, 0.1),
              m.vector(key + ".running_var", channels, 0.5, 1.0), epsilon=1e-5)
    return m.add(scope + "/act", "Relu", x)


def linear(m, scope, x, n_in, n_out):
    key = scope.replace("/", ".")
    x = m.add(scope, "MatMul", x, m.weight(key + ".weight", [n_in, n_out], n_in))
    return m.add(scope, "Add", x, m.vector(key + ".bias", n_out, -0.1, 0.1))


def layer_norm(m, scope, x, n):
    key = scope.replace("/", ".")
    return m.add(scope, "LayerNormalization", x, m.vector(key + ".weight", n, 0.9, 1.1),
                 m.vector(key + ".bias", n, -0.1, 0.1), axis=-1, epsilon=1e-5)


def heads_of(m, scope, x, permutation):
    x = m.add(scope, "Reshape", x, "heads_shape")
    return m.add(scope, "Transpose", x, perm=permutation)


def attention(m, scope, x, width, heads):
    q = heads_of(m, scope, linear(m, scope + "/query", x, width, width), [0, 2, 1, 3])
    k = heads_of(m, scope, linear(m, scope + "/key", x, width, width), [0, 2, 3, 1])
    v = heads_of(m, scope, linear(m, scope + "/value", x, width, width), [0, 2, 1, 3])
    scores = m.add(scope, "Mul", m.add(scope, "MatMul", q, k), "attention_scale")
    y = m.add(scope, "MatMul", m.add(scope, "Softmax", scores, axis=-1), v)
    y = m.add(scope, "Reshape", m.add(scope, "Transpose", y, perm=[0, 2, 1, 3]), "tokens_shape")
    return linear(m, scope + "/out", y, width, width)


def gelu(m, scope, x):
    inner = m.add(scope, "Erf", m.add(scope, "Mul", x, "gelu_scale"))
    half = m.add(scope, "Mul", x, "gelu_half")
    return m.add(scope, "Mul", half, m.add(scope, "Add", inner, "gelu_one"))


def transformer_block(m, scope, x, width, heads, hidden):
    y = attention(m, scope + "/attn", layer_norm(m, scope + "/norm1", x, width), width, heads)
    x = m.add(scope, "Add", x, y)
    y = linear(m, scope + "/mlp/fc1", layer_norm(m, scope + "/norm2", x, width), width, hidden)
    y = linear(m, scope + "/mlp/fc2", gelu(m, scope + "/mlp/gelu", y), hidden, width)
    return m.add(scope, "Add", x, y)


def branches(m, scope, x, channels):
    a = conv_norm(m, scope + "/one", x, channels, 8, 1)
    b = conv_norm(m, scope + "/three/reduce", x, channels, 8, 1)
    b = conv_norm(m, scope + "/three", b, 8, 16, 3)
    c = m.add(scope + "/pool", "MaxPool", x, kernel_shape=[3, 3], strides=[1, 1], pads=[1, 1, 1, 1])
    c = conv_norm(m, scope + "/pool", c, channels, 8, 1)
    return m.add(scope, "Concat", a, b, c, axis=1)


def sample():
    width, heads, tokens = 48, 4, 64
    m = Model("sample")
    m.ints("heads_shape", [1, tokens, heads, width // heads])
    m.ints("tokens_shape", [1, tokens, width])
    m.ints("grid_shape", [1, 32, tokens])
    m.floats("attention_scale", [], [1 / math.sqrt(width // heads)])
    m.floats("gelu_scale", [], [math.sqrt(0.5)])
    m.floats("gelu_half", [], [0.5])
    m.floats("gelu_one", [], [1.0])
    x = m.input("image", [1, 3, 32, 32])
    x = conv_norm(m, "stem", x, 3, 16, 3)
    x = m.add("stem/pool", "MaxPool", x, kernel_shape=[2, 2], strides=[2, 2])
    x = branches(m, "branches", x, 16)
    x = m.add("embed/pool", "AveragePool", x, kernel_shape=[2, 2], strides=[2, 2])
    x = m.add("embed", "Reshape", x, "grid_shape")
    x = linear(m, "embed/project", m.add("embed", "Transpose", x, perm=[0, 2, 1]), 32, width)
    x = m.add("embed", "Add", x, m.weight("embed.position", [1, tokens, width], width))
    x = transformer_block(m, "block1", x, width, heads, 2 * width)
    x = transformer_block(m, "block2", x, width, heads, 2 * width)
    x = layer_norm(m, "head/norm", x, width)
    x = m.add("head", "ReduceMean", x, axes=[1], keepdims=0)
    x = m.add("head", "Gemm", x, m.weight("head.weight", [width, 10], width), m.vector("head.bias", 10, -0.1, 0.1))
    m.output(m.add("head", "Softmax", x, axis=-1, out="classes"), [1, 10])
    return m.bytes()


# Small ones for tests

def linear_model(batch):
    m = Model("linear", 2)
    x = m.input("x", [batch, 8])
    x = m.add("fc", "MatMul", x, m.weight("fc.weight", [8, 4], 8))
    x = m.add("fc", "Add", x, m.vector("fc.bias", 4, -1, 1))
    m.output(m.add("act", "Relu", x, out="y"), [batch, 4])
    return m.bytes()


def unknown_operation():
    m = Model("unknown", 3)
    m.domains["com.example"] = 1
    x = m.add("a", "Relu", m.input("x", [2, 3]))
    for _ in range(2):
        x = m.add("b", "Frobnicate", x, domain="com.example", strength=3)
    m.output(m.add("c", "Abs", x, out="y"), [2, 3])
    return m.bytes()


def rate():
    """Only for one rate there is a program, and the gain has a default."""
    m = Model("rate", 4)
    m.domains["com.example"] = 1
    m.input("x", [2])
    m.input("rate", [], INT64)
    m.input("gain", [1])
    m.floats("gain", [1], [2.0])
    add = [node_message("Cast", ["rate"], ["f"], "/then/Cast", to=FLOAT),
           node_message("Add", ["x", "f"], ["t"], "/then/Add")]
    other = [node_message("Frobnicate", ["x"], ["e"], "/else/Frobnicate", domain="com.example")]
    x = m.add("a", "Equal", "rate", m.ints("known", [16000]))
    x = m.add("b", "If", x, then_branch=message(*[(1, n) for n in add], (2, "then"), (12, value_info("t", FLOAT, [2]))),
              else_branch=message(*[(1, n) for n in other], (2, "else"), (12, value_info("e", FLOAT, [2]))))
    m.output(m.add("c", "Mul", x, "gain", out="y"), [2])
    return m.bytes()


def cyclic():
    m = Model("cyclic")
    x = m.input("x", [2])
    m.add("loop", "Add", x, "b", out="a")
    m.add("loop", "Relu", "a", out="b")
    m.output("b", [2])
    return m.bytes()


def wrong_type():
    m = Model("wrong-type")
    m.input("x", [2, 3])
    m.ints("n", [1, 2, 3])
    m.output(m.add("sum", "Add", "x", "n", out="y"), [2, 3])
    return m.bytes()


def oversized():
    m = Model("oversized")
    m.input("x", [1])
    m.weights.append(tensor("w", FLOAT, [1 << 30, 1 << 30], struct.pack("<f", 1.0)))
    m.output(m.add("sum", "Add", "x", "w", out="y"), [1])
    return m.bytes()


def write(name, data):
    with open(os.path.join(HERE, name), "wb") as f:
        f.write(data)


def main():
    os.makedirs(os.path.join(HERE, "broken"), exist_ok=True)
    write("sample.onnx", sample())
    write("linear.onnx", linear_model(2))
    write("open-batch.onnx", linear_model("batch"))
    write("unknown-operation.onnx", unknown_operation())
    write("rate.onnx", rate())
    write("broken/truncated.onnx", linear_model(2)[:-40])
    write("broken/cyclic.onnx", cyclic())
    write("broken/wrong-type.onnx", wrong_type())
    write("broken/oversized.onnx", oversized())
    write("broken/not-onnx.onnx", b"This is a letter, not a model.\n")


if __name__ == "__main__":
    main()
