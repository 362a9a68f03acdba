#!/usr/bin/env python3
"""Runs benchmark programs one after the other, checks each line of figures and prints them, or one JSON object.

A line is `NAME VALUE UNIT MIN..MAX PEER`; PEER is the rest of the line. Lines that begin with # are remarks.
A program that fails, or prints a line of another form, fails the whole run: no figure is better than a wrong one.
Usage: tools/collect-figures.py [--json] -- PROGRAM...
"""
# SPDX-License-Identifier: Apache-2.0

import json
import os
import re
import subprocess
import sys

NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
FIGURE = re.compile(r"^(\S+)\s+(%s)\s+(\S+)\s+(%s)\.\.(%s)\s+(\S.*)$" % (NUMBER, NUMBER, NUMBER))


def first_match(path, pattern):
    """The first group of the pattern in a file of the kernel's, or None."""
    try:
        with open(path, encoding="utf-8", errors="replace") as lines:
            found = re.search(pattern, lines.read(), re.MULTILINE)
            return found.group(1) if found else None
    except OSError:
        return None


def machine():
    memory = first_match("/proc/meminfo", r"^MemTotal:\s+(\d+)")
    return {
        "cpu": first_match("/proc/cpuinfo", r"^model name\s*:\s*(.*)$"),
        "threads": len(os.sched_getaffinity(0)),
        "memory_bytes": int(memory) * 1024 if memory else None,
        "load": os.getloadavg()[0],
    }


def commit():
    """The commit the tree stands at, with a + where files differ from it; None outside a clone."""
    top = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    try:
        result = subprocess.run(["git", "-C", top, "describe", "--always", "--dirty=+"],
                                capture_output=True, text=True, check=True)
        return result.stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return None


def figures_of(program, echo):
    """Runs one program and yields its figures as they come; prints its lines too where echo is set."""
    with subprocess.Popen([program], stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True) as child:
        for line in child.stdout:
            line = line.rstrip("\n")
            if echo and line:
                print(line, flush=True)
            if not line or line.startswith("#"):
                continue
            match = FIGURE.match(line)
            if not match:
                child.kill()
                sys.exit("%s: not a figure: %s" % (program, line))
            name, value, unit, low, high, peer = match.groups()
            yield {"program": os.path.basename(program), "name": name, "value": float(value), "unit": unit,
                   "min": float(low), "max": float(high), "peer": None if peer == "not measured" else peer}
    if child.returncode != 0:
        sys.exit("%s: exit status %d" % (program, child.returncode))


def main():
    arguments = sys.argv[1:]
    as_json = "--json" in arguments
    programs = arguments[arguments.index("--") + 1:] if "--" in arguments else []
    if not programs:
        sys.exit(__doc__)
    about = machine()
    if not as_json:
        print("# %(cpu)s, %(threads)d threads, load %(load).2f" % about, flush=True)
    figures = [figure for program in programs for figure in figures_of(program, not as_json)]
    if as_json:
        print(json.dumps({"commit": commit(), "machine": about, "figures": figures}, indent=2))


if __name__ == "__main__":
    main()
