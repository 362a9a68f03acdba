#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""compile-modules.py FOLDER LISTING OUT: the modules that LISTING names, compiled, as one resource: the version of the code (the magic number
of CPython's own files), then the marshalled {path: (first byte, end)} of the code that follows it. Compiling them takes three times as
long as all else that importing does."""
import importlib.util
import marshal
import os
import sys
import xml.etree.ElementTree as ElementTree


def main(folder, listing, out):
    paths = [f.text for f in ElementTree.parse(listing).iter("file") if f.text.endswith(".py")]
    index, code = {}, b""
    for path in paths:
        with open(os.path.join(folder, path), "rb") as file:
            part = marshal.dumps(compile(file.read(), "<gantry>/" + path, "exec", dont_inherit=True))
        index[path] = (len(code), len(code) + len(part))
        code += part
    index = marshal.dumps(index)
    with open(out, "wb") as file:
        file.write(importlib.util.MAGIC_NUMBER + len(index).to_bytes(4, "little") + index + code)


main(*sys.argv[1:])
