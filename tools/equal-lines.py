#!/usr/bin/env python3
"""Prints where the same lines stand twice: runs of --lines equal lines or more in C and Python files, blank lines, comments and
includes left out. Tests, seeds and files that are one table (they say "gantry: table" in their first lines) do not count.
The exit status is 1 where there is such a run.

Usage: tools/equal-lines.py [--lines N] [ROOT]
SPDX-License-Identifier: Apache-2.0
"""
import argparse
import collections
import os
import re
import sys

SUFFIXES = (".c", ".h", ".py")
LEFT_OUT = ("tests/", "fuzz/", "build", "out/")


def list_files(root):
    for folder, subfolders, names in os.walk(root):
        inside = os.path.relpath(folder, root)
        inside = "" if inside == "." else inside + "/"
        subfolders[:] = sorted(d for d in subfolders
                               if not d.startswith(".") and d != "__pycache__" and not (inside + d + "/").startswith(LEFT_OUT))
        for name in sorted(names):
            if name.endswith(SUFFIXES):
                yield inside + name


C_COMMENT = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|/\*.*?\*/|//[^\n]*', re.DOTALL)  # or what may have one within


def leave_out_comments(path, text):
    """The text with nothing but ends of lines where comments of C stood, and without the lines that are comments of Python."""
    if path.endswith(".py"):
        return re.sub(r"^\s*#.*$", "", text, flags=re.MULTILINE)
    return C_COMMENT.sub(lambda match: "\n" * match[0].count("\n") if match[0].startswith("/") else match[0], text)


def read_lines(path):
    """The lines that count, as (number, text), or none where the file is a table."""
    with open(path, encoding="utf-8", errors="replace") as file:
        text = file.read()
    if any("gantry: table" in line for line in text.split("\n")[:15]):
        return []
    lines = leave_out_comments(path, text).split("\n")
    stripped = ((number, line.strip()) for number, line in enumerate(lines, 1))
    return [(number, line) for number, line in stripped if line and not line.startswith("#include")]


def find_runs(files, least):
    """Yields (length, path, line, path, line) of each longest run of at least LEAST equal lines."""
    places = collections.defaultdict(list)
    for path, lines in files.items():
        for at in range(len(lines) - least + 1):
            places[tuple(text for _, text in lines[at:at + least])].append((path, at))
    for found in places.values():
        for first in range(len(found)):
            for second in range(first + 1, len(found)):
                (one, i), (two, j) = found[first], found[second]
                a, b = files[one], files[two]
                if i > 0 and j > 0 and a[i - 1][1] == b[j - 1][1]:
                    continue  # the rest of a run that was seen
                length = least
                while i + length < len(a) and j + length < len(b) and a[i + length][1] == b[j + length][1]:
                    length += 1
                if one != two or i + length <= j:
                    yield length, one, a[i][0], two, b[j][0]


def main():
    parser = argparse.ArgumentParser(description="Where the same lines stand twice.")
    parser.add_argument("--lines", type=int, default=10, metavar="N", help="lines that make a run (10)")
    parser.add_argument("root", nargs="?", default=os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."), metavar="ROOT")
    options = parser.parse_args()
    if options.lines < 2:
        parser.error("--lines must be 2 or more")
    files = {path: read_lines(os.path.join(options.root, path)) for path in list_files(options.root)}
    runs = sorted(find_runs(files, options.lines), reverse=True)
    for length, one, line, two, other in runs:
        print(f"{one}:{line}: {length} lines that stand again in {two}:{other}")
    sys.exit(1 if runs else 0)


if __name__ == "__main__":
    main()
