#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the sample programs of training, beside this script, in Gantry's text form (docs/text-form.md).

All are forward programs. Their weights are inputs of the entry function with role "parameter"; `gantry-cli train`
or gantry_training_step() makes a training step of them.

layers, layers-unrolled  ten layers x @ w1 @ w2 as a scan, and written out; the result is a sum. Gradients of w1 and w2 and
                         nothing else (20.25 MiB in, 20 MiB out): loss "output", optimizer "none", no loss result
optimizer-DIM            four layers gelu (x @ w), the result is the mean squared difference to the input; as a step of
                         Adam: learning rate 0.1, clipping at norm 1, L2 0.001
transformer-L            an encoder of L blocks with embedding and a classifier for each token; loss softmax_cross_entropy
vgg19                    a chain of 16 convolutions and 3 matrix products
layers-tiny, layers-unrolled-tiny, optimizer-8, transformer-tiny   the same in small sizes, for tests
mlp, convnet, lstm       small ones, for tests; the LSTM is a scan along dimension 1 of its input

Usage: make-programs.py                   the committed files (the same bytes each time)
       make-programs.py NAME [DIRECTORY]  one of them, or transformer-48, transformer-LAYERS, optimizer-SIZE
"""
import math
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))


class Value:
    def __init__(self, number, element, dims):
        self.number, self.element, self.dims = number, element, list(dims)

    def type(self):
        return "%s[%s]" % (self.element, ",".join(map(str, self.dims)))


def attribute(value):
    if isinstance(value, str):
        return value if value.startswith(("dense<", "splat<", "#", "type ")) else '"%s"' % value
    if isinstance(value, list):
        return "[%s]" % ", ".join(map(str, value)) if value else "ints[]"
    return repr(value)


def place(scope):
    return ' scope("%s")' % scope if scope else ""


class Function:
    """Writes the nodes of one function; each method adds one and gives its value."""

    def __init__(self, program, name, number):
        self.program, self.called, self.number = program, name, number
        self.parameters, self.lines, self.scope = [], [], ""

    def new(self, element, dims):
        self.program.last += 1
        return Value(self.program.last, element, dims)

    def parameter(self, name, element, dims, role=None, initial=None):
        value = self.new(element, dims)
        attrs = {}
        if initial is not None:
            attrs["initial"] = "splat<%s: %r>" % (value.type(), initial)
        if role:
            attrs["role"] = role
        text = ", ".join("%s = %s" % (k, attribute(v)) for k, v in attrs.items())
        self.parameters.append('%%%d "%s": %s%s%s' % (value.number, name, value.type(), " {%s}" % text if text else "",
                                                      place(self.scope)))
        return value

    def weight(self, name, dims, element="f32"):
        return self.parameter(name, element, dims, role="parameter")

    def add(self, op, operands, element, dims, **attrs):
        value = self.new(element, dims)
        text = ", ".join("%s = %s" % (k, attribute(v)) for k, v in sorted(attrs.items()))
        self.lines.append("%%%d = %s(%s)%s: %s%s" % (value.number, op, ", ".join("%%%d" % x.number for x in operands),
                                                     " {%s}" % text if text else "", value.type(), place(self.scope)))
        return value

    # Short forms, in the order of docs/operations.md.
    def unary(self, op, x):
        return self.add(op, [x], x.element, x.dims)

    def binary(self, op, x, y):
        if not isinstance(y, Value):
            y = self.splat(y, x)
        elif y.dims != x.dims:
            y = self.broadcast(y, x.dims)
        return self.add(op, [x, y], x.element, x.dims)

    def constant(self, value, element):
        return self.add("constant", [], element, [], value="dense<%s[]: %r>" % (element, value))

    def splat(self, value, like):
        c = self.constant(float(value), like.element)
        return c if not like.dims else self.broadcast(c, like.dims, [])

    def broadcast(self, x, dims, where=None):
        """where: dimensions of the result that those of x become; by default the last ones."""
        where = list(range(len(dims) - len(x.dims), len(dims))) if where is None else where
        return self.add("broadcast_in_dim", [x], x.element, dims, shape=list(dims), broadcast_dimensions=where)

    def checkpoint(self, x, name):
        return self.add("checkpoint_name", [x], x.element, x.dims, name=name)

    def reshape(self, x, dims):
        return self.add("reshape", [x], x.element, dims, shape=list(dims))

    def transpose(self, x, permutation):
        return self.add("transpose", [x], x.element, [x.dims[p] for p in permutation], permutation=permutation)

    def slice(self, x, axis, start, limit):
        low, high = [0] * len(x.dims), list(x.dims)
        low[axis], high[axis] = start, limit
        return self.add("slice", [x], x.element, [h - l for l, h in zip(low, high)], start_indices=low, limit_indices=high,
                        strides=[1] * len(low))

    def reduce(self, kind, x, axes):
        return self.add("reduce", [x], x.element, [d for i, d in enumerate(x.dims) if i not in axes], kind=kind,
                        dimensions=list(axes))

    def mean(self, x, axes):
        return self.binary("divide", self.reduce("add", x, axes), math.prod(x.dims[a] for a in axes))

    def dot(self, x, y, batch=0, transposed=False):
        """The last dimension of x with the first (transposed: the last) of y that is no batch dimension."""
        n = len(y.dims) - 1 if transposed else batch
        dims = x.dims[:-1] + [d for i, d in enumerate(y.dims) if i >= batch and i != n]
        both = list(range(batch))
        batching = {"lhs_batching_dimensions": both, "rhs_batching_dimensions": both} if batch else {}
        return self.add("dot_general", [x, y], x.element, dims, lhs_contracting_dimensions=[len(x.dims) - 1],
                        rhs_contracting_dimensions=[n], **batching)

    def convolution(self, x, w, b, padding=0, stride=1):
        spatial = [(d + 2 * padding - k) // stride + 1 for d, k in zip(x.dims[2:], w.dims[2:])]
        return self.add("convolution", [x, w, b], x.element, [x.dims[0], w.dims[0]] + spatial,
                        padding=[padding] * (2 * len(spatial)), window_strides=[stride] * len(spatial))

    def max_pool(self, x, size):
        dims = x.dims[:2] + [(d - size) // size + 1 for d in x.dims[2:]]
        return self.add("reduce_window", [x], x.element, dims, kind="max", window_dimensions=[1, 1, size, size],
                        window_strides=[1, 1, size, size])

    # What networks are made of.
    def dense(self, x, name, n, act=None):
        """x @ w + b in a scope of its own."""
        outer, self.scope = self.scope, (self.scope + "/" if self.scope else "") + name
        w = self.program.weights["%s/w" % self.scope]
        b = self.program.weights["%s/b" % self.scope]
        x = self.binary("add", self.dot(x, w), b)
        self.scope = outer
        return act(x) if act else x

    def relu(self, x):
        return self.binary("maximum", x, 0.0)

    def gelu(self, x):
        """0.5 x (1 + tanh (sqrt (2 / pi) (x + 0.044715 x^3)))"""
        cube = self.binary("multiply", self.binary("multiply", x, x), x)
        inner = self.binary("add", x, self.binary("multiply", cube, 0.044715))
        t = self.unary("tanh", self.binary("multiply", inner, math.sqrt(2 / math.pi)))
        return self.binary("multiply", self.binary("multiply", x, 0.5), self.binary("add", t, 1.0))

    def text(self, results):
        return "  func @%s #%d (%s) -> (%s) {\n%s  }\n" % (
            self.called, self.number, "".join("\n    %s%s" % (p, "," if i + 1 < len(self.parameters) else "")
                                            for i, p in enumerate(self.parameters)),
            ", ".join("%%%d" % r.number for r in results), "".join("    %s\n" % line for line in self.lines))


class Program:
    def __init__(self, name, about):
        self.called, self.about, self.last, self.functions, self.weights = name, about, 0, [], {}
        self.main = self.function("main")

    def function(self, name):
        f = Function(self, name, len(self.functions) + 1)
        self.functions.append([f, None])
        return f

    def declare(self, shapes):
        """Weights as inputs of the entry, in the scope that their name begins with."""
        for name, dims in shapes.items():
            self.main.scope = name.rpartition("/")[0]
            self.weights[name] = self.main.weight(name, dims)
        self.main.scope = ""

    def end(self, function, results):
        for entry in self.functions:
            if entry[0] is function:
                entry[1] = results

    def text(self):
        lines = "".join("// %s\n" % line for line in self.about)
        return lines + 'module "%s" {\n%s}\n' % (self.called, "".join(f.text(r) for f, r in self.functions))


def layers(name, unrolled, n, rows, hidden):
    p = Program(name,
                ["x = checkpoint_name (x); x = x @ w1[i] @ w2[i], %d times; the result is the sum of all elements." % n])
    f = p.main
    x = f.parameter("x", "f32", [rows, rows], initial=0.001)
    w1 = f.parameter("w1", "f32", [n, rows, hidden], role="parameter", initial=0.001)
    w2 = f.parameter("w2", "f32", [n, hidden, rows], role="parameter", initial=0.001)

    def layer(f, x, a, b):
        return f.dot(f.dot(f.checkpoint(x, "x"), a), b)

    if unrolled:
        for i in range(n):
            f.scope = "layers/iteration.%d" % i
            a = f.reshape(f.slice(w1, 0, i, i + 1), w1.dims[1:])
            b = f.reshape(f.slice(w2, 0, i, i + 1), w2.dims[1:])
            x = layer(f, x, a, b)
        f.scope = ""
    else:
        body = p.function("layer")
        bx, ba, bb = (body.parameter(k, "f32", d) for k, d in (("x", x.dims), ("w1", w1.dims[1:]), ("w2", w2.dims[1:])))
        body.scope = "layer"
        p.end(body, [layer(body, bx, ba, bb)])
        f.scope = "layers"
        x = f.add("scan", [x, w1, w2], "f32", x.dims, body="#%d" % body.number, length=n, n_carries=1, n_xs=2, axes=[0, 0],
                  y_axes=[])
        f.scope = ""
    p.end(f, [f.reduce("add", x, [0, 1])])
    return p


def optimizer(dim):
    p = Program("optimizer-%d" % dim, ["x = gelu (x @ w), four times; the result is the mean of (x - input)^2."])
    f = p.main
    x = start = f.parameter("x", "f32", [dim, dim])
    weights = [f.weight("w%d" % i, [dim, dim]) for i in range(1, 5)]
    for i, w in enumerate(weights):
        f.scope = "layer.%d" % (i + 1)
        x = f.gelu(f.dot(x, w))
    f.scope = "loss"
    d = f.binary("subtract", x, start)
    p.end(f, [f.mean(f.binary("multiply", d, d), [0, 1])])
    return p


def layer_norm(f, x, name):
    last = len(x.dims) - 1
    where = list(range(last))
    outer, f.scope = f.scope, f.scope + "/" + name
    centred = f.binary("subtract", x, f.broadcast(f.mean(x, [last]), x.dims, where))
    variance = f.mean(f.binary("multiply", centred, centred), [last])
    root = f.unary("rsqrt", f.binary("add", variance, 1e-5))
    y = f.binary("multiply", centred, f.broadcast(root, x.dims, where))
    y = f.binary("add", f.binary("multiply", y, f.program.weights[f.scope + "/scale"]), f.program.weights[f.scope + "/bias"])
    f.scope = outer
    return y


def softmax(f, x):
    """Moved by the largest element rounded up, which has no derivative."""
    last = len(x.dims) - 1
    where = list(range(last))
    shift = f.unary("ceil", f.reduce("max", x, [last]))
    e = f.unary("exponential", f.binary("subtract", x, f.broadcast(shift, x.dims, where)))
    return f.binary("divide", e, f.broadcast(f.reduce("add", e, [last]), x.dims, where))


def attention(f, x, heads):
    b, s, d = x.dims
    outer, f.scope = f.scope, f.scope + "/attention"

    def split(y):
        return f.transpose(f.reshape(y, [b, s, heads, d // heads]), [0, 2, 1, 3])

    q, k, v = (split(f.dense(x, n, d)) for n in ("query", "key", "value"))
    scores = f.binary("multiply", f.dot(q, k, batch=2, transposed=True), 1 / math.sqrt(d // heads))
    y = f.dot(softmax(f, scores), v, batch=2)
    y = f.reshape(f.transpose(y, [0, 2, 1, 3]), [b, s, d])
    y = f.checkpoint(f.dense(y, "out", d), "attention_out")
    f.scope = outer
    return y


def transformer(name, n, batch, length, d, heads, hidden, words):
    p = Program(name, ["An encoder of %d blocks, layer norm before attention and before the perceptron, and words for each "
                       "token." % n])
    f = p.main
    tokens = f.parameter("tokens", "i32", [batch, length])
    shapes = {"embed/w": [words, d], "embed/position": [length, d]}
    for i in range(n):
        scope = "encoder/layer.%d/" % i
        for norm in ("norm1", "norm2"):
            shapes[scope + norm + "/scale"] = shapes[scope + norm + "/bias"] = [d]
        for part in ("query", "key", "value", "out"):
            shapes[scope + "attention/" + part + "/w"], shapes[scope + "attention/" + part + "/b"] = [d, d], [d]
        shapes[scope + "mlp/up/w"], shapes[scope + "mlp/up/b"] = [d, hidden], [hidden]
        shapes[scope + "mlp/down/w"], shapes[scope + "mlp/down/b"] = [hidden, d], [d]
    shapes["head/norm/scale"] = shapes["head/norm/bias"] = [d]
    shapes["head/words/w"], shapes["head/words/b"] = [d, words], [words]
    p.declare(shapes)
    f.scope = "embed"
    x = f.add("gather", [p.weights["embed/w"], tokens], "f32", [batch, length, d], offset_dims=[2], collapsed_slice_dims=[0],
              start_index_map=[0], index_vector_dim=2, slice_sizes=[1, d])
    x = f.binary("add", x, p.weights["embed/position"])
    for i in range(n):
        f.scope = "encoder/layer.%d" % i
        x = f.binary("add", x, attention(f, layer_norm(f, x, "norm1"), heads))
        y = layer_norm(f, x, "norm2")
        f.scope += "/mlp"
        y = f.dense(f.gelu(f.checkpoint(f.dense(y, "up", hidden), "mlp_hidden")), "down", d)
        f.scope = "encoder/layer.%d" % i
        x = f.binary("add", x, y)
    f.scope = "head"
    p.end(f, [f.dense(layer_norm(f, x, "norm"), "words", words)])
    return p


def vgg19(batch=16, size=224):
    blocks = [(2, 64), (2, 128), (4, 256), (4, 512), (4, 512)]
    p = Program("vgg19", ["A chain of 16 convolutions and 3 matrix products, as in VGG-19 (Simonyan and Zisserman, 2014)."])
    f = p.main
    x = f.parameter("image", "f32", [batch, 3, size, size])
    shapes, channels = {}, 3
    for b, (n, out) in enumerate(blocks):
        for i in range(n):
            shapes["block.%d/conv.%d/w" % (b, i)], shapes["block.%d/conv.%d/b" % (b, i)] = [out, channels, 3, 3], [out]
            channels = out
    features = channels * (size // 32) ** 2
    for i, (a, b) in enumerate([(features, 4096), (4096, 4096), (4096, 1000)]):
        shapes["fc.%d/w" % i], shapes["fc.%d/b" % i] = [a, b], [b]
    p.declare(shapes)
    for b, (n, out) in enumerate(blocks):
        for i in range(n):
            f.scope = "block.%d/conv.%d" % (b, i)
            x = f.relu(f.convolution(x, p.weights[f.scope + "/w"], p.weights[f.scope + "/b"], padding=1))
        f.scope = "block.%d" % b
        x = f.max_pool(x, 2)
    f.scope = ""
    x = f.reshape(x, [batch, features])
    x = f.dense(x, "fc.0", 4096, f.relu)
    x = f.dense(x, "fc.1", 4096, f.relu)
    p.end(f, [f.dense(x, "fc.2", 1000)])
    return p


def mlp(batch=8):
    p = Program("mlp", ["Two dense layers, tanh between them."])
    f = p.main
    x = f.parameter("x", "f32", [batch, 6])
    p.declare({"fc1/w": [6, 12], "fc1/b": [12], "fc2/w": [12, 5], "fc2/b": [5]})
    x = f.dense(x, "fc1", 12, lambda y: f.unary("tanh", y))
    p.end(f, [f.dense(x, "fc2", 5)])
    return p


def convnet(batch=2):
    p = Program("convnet", ["Two convolutions, a max pool, a dense layer."])
    f = p.main
    x = f.parameter("image", "f32", [batch, 1, 8, 8])
    p.declare({"conv1/w": [4, 1, 3, 3], "conv1/b": [4], "conv2/w": [6, 4, 3, 3], "conv2/b": [6], "fc/w": [24, 5], "fc/b": [5]})
    f.scope = "conv1"
    x = f.max_pool(f.relu(f.convolution(x, p.weights["conv1/w"], p.weights["conv1/b"], padding=1)), 2)
    f.scope = "conv2"
    x = f.gelu(f.convolution(x, p.weights["conv2/w"], p.weights["conv2/b"]))
    f.scope = ""
    p.end(f, [f.dense(f.reshape(x, [batch, 24]), "fc", 5)])
    return p


def lstm(batch=2, length=5, n=3, hidden=4, classes=5):
    p = Program("lstm", ["A recurrent network over dimension 1 of its input: gates input, forget, cell, output."])
    f = p.main
    x = f.parameter("x", "f32", [batch, length, n])
    p.declare({"lstm/wx": [n, 4 * hidden], "lstm/wh": [hidden, 4 * hidden], "lstm/b": [4 * hidden],
               "head/w": [hidden, classes], "head/b": [classes]})
    body = p.function("cell")
    h, c, xt, wx, wh, b = (body.parameter(k, "f32", d) for k, d in (
        ("h", [batch, hidden]), ("c", [batch, hidden]), ("x", [batch, n]), ("wx", [n, 4 * hidden]),
        ("wh", [hidden, 4 * hidden]), ("b", [4 * hidden])))
    body.scope = "cell"
    gates = body.binary("add", body.binary("add", body.dot(xt, wx), body.dot(h, wh)), b)
    i, g, k, o = (body.slice(gates, 1, j * hidden, (j + 1) * hidden) for j in range(4))
    c = body.binary("add", body.binary("multiply", body.unary("logistic", g), c),
                    body.binary("multiply", body.unary("logistic", i), body.unary("tanh", k)))
    h = body.binary("multiply", body.unary("logistic", o), body.unary("tanh", c))
    p.end(body, [h, c, h])
    f.scope = "lstm"
    zero = f.broadcast(f.constant(0.0, "f32"), [batch, hidden], [])
    tuple_ = Value(0, "f32", [])
    tuple_.type = lambda: "(f32[%d,%d], f32[%d,%d], f32[%d,%d,%d])" % (batch, hidden, batch, hidden, batch, length, hidden)
    p.last += 1
    tuple_.number = p.last
    f.lines.append("%%%d = scan(%s) {axes = [1], body = #%d, length = %d, n_carries = 2, n_xs = 1, y_axes = [1]}: %s%s" % (
        tuple_.number, ", ".join("%%%d" % v.number for v in [zero, zero, x] + [p.weights["lstm/" + k] for k in ("wx", "wh", "b")]),
        body.number, length, tuple_.type(), place(f.scope)))
    last = f.add("result", [tuple_], "f32", [batch, hidden], index=0)
    every = f.add("result", [tuple_], "f32", [batch, length, hidden], index=2)
    f.scope = ""
    x = f.binary("add", last, f.mean(every, [1]))
    p.end(f, [f.dense(x, "head", classes)])
    return p


COMMITTED = ["layers", "layers-unrolled", "layers-tiny", "layers-unrolled-tiny", "optimizer-8", "optimizer-64",
             "optimizer-7168", "transformer-tiny", "transformer-4", "transformer-12", "vgg19", "mlp", "convnet", "lstm"]


def make(name):
    kind, _, size = name.partition("-")
    if name in ("layers", "layers-unrolled"):
        return layers(name, name != "layers", n=10, rows=256, hidden=1024)
    if name in ("layers-tiny", "layers-unrolled-tiny"):
        return layers(name, name != "layers-tiny", n=4, rows=3, hidden=5)
    if kind == "optimizer" and size.isdigit():
        return optimizer(int(size))
    if name == "transformer-tiny":
        return transformer(name, 2, batch=2, length=4, d=8, heads=2, hidden=12, words=7)
    if kind == "transformer" and size.isdigit():
        return transformer(name, int(size), batch=8, length=128, d=768, heads=12, hidden=3072, words=8192)
    if name in ("vgg19", "mlp", "convnet", "lstm"):
        return globals()[name]()
    sys.exit("make-programs.py: no program is called %s; there are %s" % (name, ", ".join(COMMITTED)))


def main(arguments):
    directory = arguments[1] if len(arguments) > 1 else HERE
    for name in arguments[:1] or COMMITTED:
        with open(os.path.join(directory, name + ".gir"), "w", encoding="utf-8") as file:
            file.write(make(name).text())


if __name__ == "__main__":
    main(sys.argv[1:])
