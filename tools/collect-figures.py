#!/usr/bin/env python3
"""Runs benchmark programs one after the other, checks each line of figures and prints them, or one JSON object.

A line is `NAME VALUE UNIT MIN..MAX PEER`; PEER is the rest of the line, "not measured" where there is none. Lines that
begin with # are remarks. A program that fails, or prints a line of another form, is named and makes the exit status 1.
Usage: tools/collect-figures.py [--json] -- PROGRAM ARGUMENT... [-- PROGRAM ARGUMENT...]...
"""
# SPDX-License-Identifier: Apache-2.0

import json
import os
import re
import subprocess
import sys

NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
FIGURE = re.compile(r"^(\S+)\s+(%s)\s+(\S+)\s+(%s)\.\.(%s)(?:\s+(\S.*))?$" % (NUMBER, NUMBER, NUMBER))


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


def figures_of(command, echo, problems):
    """Runs one program and yields its figures as they come; prints its lines too where echo is set."""
    program = os.path.basename(command[0])
    with subprocess.Popen(command, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True) as child:
        for line in child.stdout:
            line = line.strip()
            if not line or line.startswith("#"):
                if echo and line:
                    print(line, flush=True)
                continue
            match = FIGURE.match(line)
            if not match:
                problems.append("%s: not a figure: %s" % (program, line))
                child.kill()
                return
            name, value, unit, low, high, peer = match.groups()
            peer = None if peer == "not measured" else peer
            if echo:
                print("%-36s %12s %-6s %s..%s  %s" % (name, value, unit, low, high, peer or "not measured"), flush=True)
            yield {"program": program, "name": name, "value": float(value), "unit": unit,
                   "min": float(low), "max": float(high), "peer": peer}
    if child.returncode != 0:
        problems.append("%s: exit status %d" % (program, child.returncode))


def split_commands(arguments):
    """The lists between the `--`."""
    commands = []
    for argument in arguments:
        if argument == "--":
            commands.append([])
        elif commands:
            commands[-1].append(argument)
    return [command for command in commands if command]


def main():
    as_json = sys.argv[1:2] == ["--json"]
    commands = split_commands(sys.argv[1:])
    if not commands:
        sys.exit(__doc__)
    about, problems = machine(), []
    if not as_json:
        print("# %(cpu)s, %(threads)d threads, load %(load).2f" % about, flush=True)
    figures = [figure for command in commands for figure in figures_of(command, not as_json, problems)]
    if as_json:
        print(json.dumps({"commit": commit(), "machine": about, "figures": figures, "problems": problems}, indent=2))
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
