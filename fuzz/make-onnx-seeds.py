#!/usr/bin/env python3
"""Writes the seeds of the ONNX fuzz target: small models that between them use each part of the format.

The wire format is written by hand (a message is a list of numbered fields), so that nothing but Python is needed and
the broken seeds can be broken on purpose. Usage: fuzz/make-onnx-seeds.py FOLDER
"""
# SPDX-License-Identifier: Apache-2.0

import os
import struct
import sys

FLOAT, INT64 = 1, 7
ATTR_FLOAT, ATTR_INT, ATTR_STRING, ATTR_TENSOR, ATTR_GRAPH, ATTR_FLOATS, ATTR_INTS = 1, 2, 3, 4, 5, 6, 7


def varint(number):
    number &= (1 << 64) - 1
    out = bytearray()
    while number >= 0x80:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def field(number, value):
    """One field: int as varint, float as fixed32, str, bytes or message as length-delimited, a list as repeated."""
    if isinstance(value, list):
        return b"".join(field(number, item) for item in value)
    if isinstance(value, float):
        return varint(number << 3 | 5) + struct.pack("<f", value)
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(data)) + data


def message(fields):
    return b"".join(field(number, value) for number, value in fields)


def tensor(name, dims, raw=None, element=FLOAT, floats=None, external=None):
    fields = [(1, [dim for dim in dims]), (2, element), (8, name)]
    if raw is not None:
        fields.append((9, raw))
    if floats is not None:
        fields.append((4, b"".join(struct.pack("<f", number) for number in floats)))
    if external is not None:
        fields += [(13, [message([(1, key), (2, text)]) for key, text in external]), (14, 1)]
    return message(fields)


def value(name, dims, element=FLOAT):
    """ValueInfoProto; a dimension is a size, a name, or None."""
    shape = [message([(1, dim)] if isinstance(dim, int) else [(2, dim)] if dim else []) for dim in dims]
    kind = message([(1, message([(1, element), (2, message([(1, shape)]))]))])
    return message([(1, name), (2, kind)])


def attribute(name, kind, content):
    number = {ATTR_FLOAT: 2, ATTR_INT: 3, ATTR_STRING: 4, ATTR_TENSOR: 5, ATTR_GRAPH: 6, ATTR_FLOATS: 7, ATTR_INTS: 8}
    return message([(1, name), (number[kind], content), (20, kind)])


def node(op, inputs, outputs, attributes=(), name="", domain=""):
    return message([(1, list(inputs)), (2, list(outputs)), (3, name or op), (4, op), (5, list(attributes)), (7, domain)])


def graph(nodes, inputs, outputs, initializers=(), name="g"):
    return message([(1, list(nodes)), (2, name), (5, list(initializers)), (11, list(inputs)), (12, list(outputs))])


def model(content, opset=17, functions=(), extra_opsets=()):
    opsets = [message([(1, ""), (2, opset)])] + [message([(1, name), (2, number)]) for name, number in extra_opsets]
    return message([(1, 8), (2, "seeds"), (7, content), (8, opsets), (25, list(functions))])


def floats(count):
    return struct.pack("<%df" % count, *[0.25 * index for index in range(count)])


def seeds():
    """Name and bytes of each seed."""
    x, y = value("x", [2, 3]), value("y", [2, 3])
    yield "add", model(graph([node("Add", ["x", "w"], ["y"])], [x], [y], [tensor("w", [3], floats(3))]))
    yield "float-data", model(graph([node("Mul", ["x", "w"], ["y"])], [x], [y], [tensor("w", [3], floats=[1, 2, 3])]))
    conv = node("Conv", ["x", "w", "b"], ["c"], [attribute("kernel_shape", ATTR_INTS, [3, 3]),
                                                 attribute("pads", ATTR_INTS, [1, 1, 1, 1]),
                                                 attribute("strides", ATTR_INTS, [2, 2])])
    pool = node("MaxPool", ["r"], ["y"], [attribute("kernel_shape", ATTR_INTS, [2, 2]),
                                          attribute("auto_pad", ATTR_STRING, "SAME_UPPER")])
    yield "conv", model(graph([conv, node("Relu", ["c"], ["r"]), pool], [value("x", ["n", 2, 8, 8])],
                              [value("y", ["n", 4, None, None])],
                              [tensor("w", [4, 2, 3, 3], floats(72)), tensor("b", [4], floats(4))]))
    then = graph([node("Neg", ["x"], ["t"])], [], [value("t", [2, 3])], name="then")
    other = graph([node("Abs", ["x"], ["e"])], [], [value("e", [2, 3])], name="else")
    branch = node("If", ["p"], ["y"], [attribute("then_branch", ATTR_GRAPH, then),
                                      attribute("else_branch", ATTR_GRAPH, other)])
    yield "if", model(graph([branch], [x, value("p", [], 9)], [y]))
    body = graph([node("Identity", ["c"], ["co"]), node("Add", ["a", "a"], ["ao"])],
                 [value("i", [], INT64), value("c", [], 9), value("a", [2, 3])],
                 [value("co", [], 9), value("ao", [2, 3])], name="body")
    yield "loop", model(graph([node("Loop", ["n", "", "x"], ["y"], [attribute("body", ATTR_GRAPH, body)])],
                              [x], [y], [tensor("n", [], struct.pack("<q", 3), INT64)]))
    function = message([(1, "Twice"), (4, ["a"]), (5, ["b"]), (7, [node("Add", ["a", "a"], ["b"])]),
                        (9, [message([(1, ""), (2, 17)])]), (10, "own")])
    yield "function", model(graph([node("Twice", ["x"], ["y"], domain="own")], [x], [y]), functions=[function],
                            extra_opsets=[("own", 1)])
    shape = tensor("s", [2], struct.pack("<qq", 3, -1), INT64)
    yield "reshape", model(graph([node("Reshape", ["x", "s"], ["y"])], [x], [value("y", [3, 2])], [shape]))
    constant = node("Constant", [], ["w"], [attribute("value", ATTR_TENSOR, tensor("", [3], floats(3)))])
    yield "constant", model(graph([constant, node("Add", ["x", "w"], ["y"])], [x], [y]), opset=9)
    gemm = node("Gemm", ["x", "w"], ["y"], [attribute("alpha", ATTR_FLOAT, 0.5), attribute("transB", ATTR_INT, 1)])
    yield "gemm", model(graph([gemm], [x], [value("y", [2, 4])], [tensor("w", [4, 3], floats(12))]), opset=11)
    yield "unknown", model(graph([node("Nobody", ["x"], ["y"], domain="else.where")], [x], [y]),
                           extra_opsets=[("else.where", 3)])
    yield "external", model(graph([node("Add", ["x", "w"], ["y"])], [x], [y],
                                  [tensor("w", [3], external=[("location", "w.bin"), ("offset", "4"), ("length", "12")])]))
    yield "cyclic", model(graph([node("Add", ["x", "b"], ["a"]), node("Neg", ["a"], ["b"])], [x], [value("b", [2, 3])]))
    yield "short-weight", model(graph([node("Add", ["x", "w"], ["y"])], [x], [y], [tensor("w", [3], floats(2))]))
    yield "huge-weight", model(graph([node("Add", ["x", "w"], ["y"])], [x], [y],
                                     [tensor("w", [1 << 40, 1 << 40], floats(2))]))
    yield "negative-dim", model(graph([node("Add", ["x", "w"], ["y"])], [x], [y], [tensor("w", [-3], floats(3))]))
    yield "twice-defined", model(graph([node("Neg", ["x"], ["y"]), node("Abs", ["x"], ["y"])], [x], [y]))
    deep = graph([node("Neg", ["x"], ["t"])], [], [value("t", [2, 3])])
    for _ in range(200):
        deep = graph([node("If", ["p"], ["t"], [attribute("then_branch", ATTR_GRAPH, deep)])], [], [value("t", [2, 3])])
    yield "deep", model(deep)
    yield "empty", b""
    yield "no-graph", model(b"")
    yield "not-onnx", b"%PDF-1.7 not a model at all\n"


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    os.makedirs(sys.argv[1], exist_ok=True)
    for name, content in seeds():
        with open(os.path.join(sys.argv[1], name + ".onnx"), "wb") as file:
            file.write(content)


if __name__ == "__main__":
    main()
