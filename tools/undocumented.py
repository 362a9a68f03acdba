#!/usr/bin/env python3
"""Prints the functions of public headers (all but *-private.h) that have no comment: neither one that begins with "/**" before the
declaration nor one at the end of its line. What counts references, frees, clears or is GObject's own says by its name what it does.

The exit status is 1 where something is printed.

Usage: tools/undocumented.py [ROOT]
SPDX-License-Identifier: Apache-2.0
"""
import argparse
import os
import re
import sys

ROOMS = ("core", "profiler", "drawing", "views", "app")
MACRO = re.compile(r"G_(BEGIN|END)_DECLS$|G_(DECLARE|DEFINE)_\w+ \(.*\)$")  # a line without a semicolon
BY_NAME = re.compile(r"_(ref|unref|free|clear|get_type)$")
DECLARATION = re.compile(r"^(?!typedef|struct|enum|union|extern|return|G_)[A-Za-z_][\w\s*]*?\b(\w+) \(")


def list_headers(root):
    for room in ROOMS:
        for folder, _, names in os.walk(os.path.join(root, room)):
            for name in sorted(names):
                if name.endswith(".h") and not name.endswith("-private.h"):
                    yield os.path.relpath(os.path.join(folder, name), root)


def read_statements(text):
    """Yields (line, text, has a comment) of what stands at the top level of a header."""
    lines = text.split("\n")
    at, commented = 0, False
    while at < len(lines):
        line = lines[at].strip()
        if line.startswith("/*") and not re.search(r"\*/\s*\S", line):
            commented = line.startswith("/**")
            while "*/" not in lines[at]:
                at += 1
            at += 1
        elif not line:
            at, commented = at + 1, False
        elif MACRO.match(line):
            at, commented = at + 1, False
        elif line.startswith("#"):
            while lines[at].rstrip().endswith("\\"):
                at += 1
            at, commented = at + 1, False
        else:
            start, statement = at, ""
            while at < len(lines):
                statement += " " + lines[at].strip()
                code = re.sub(r"/\*.*?\*/", "", statement)
                at += 1
                if code.count("{") <= code.count("}") and re.search(r"[;}]\s*$", code):
                    break
            yield start + 1, statement.strip(), commented or re.search(r"\*/\s*$", statement) is not None
            commented = False


def find_missing(path):
    with open(path, encoding="utf-8") as file:
        for line, statement, commented in read_statements(file.read()):
            match = DECLARATION.match(statement)
            if match and not commented and not BY_NAME.search(match.group(1)):
                yield line, match.group(1)


def main():
    parser = argparse.ArgumentParser(description="Public functions without a comment.")
    parser.add_argument("root", nargs="?", default=os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."), metavar="ROOT")
    options = parser.parse_args()
    found = False
    for header in list_headers(options.root):
        for line, name in find_missing(os.path.join(options.root, header)):
            print(f"{header}:{line}: {name} has no comment")
            found = True
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
