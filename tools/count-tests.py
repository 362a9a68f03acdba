#!/usr/bin/env python3
"""Counts the cases in the log of a meson test run and prints `N passed, N failed, N skipped` as the last line.

A test program writes one TAP line a case, so the cases are counted, not the programs. A program that crashes, times
out or stops before its plan is done counts as one failed case more, unless the log shows the case that failed.
Usage: tools/count-tests.py TESTLOG.json        exit status 1 where a case failed or no test ran at all
"""
# SPDX-License-Identifier: Apache-2.0

import json
import re
import sys

CASE = re.compile(r"^(not )?ok\b *\d* *-? *([^#]*)(?:# *(\w+)\b *(.*))?$")
PLAN = re.compile(r"^1\.\.(\d+)(?:\s*#\s*skip\b\s*(.*))?", re.IGNORECASE)


class Counts:
    """The three sums, with the lines that say what failed and what was skipped and why."""

    def __init__(self):
        self.passed = self.failed = self.skipped = 0
        self.rows = [0, 0]  # passed and all cases that are named by a row of the conformance index
        self.notes = []

    def fail(self, what):
        self.failed += 1
        self.notes.append("FAILED   " + what)

    def skip(self, what, why):
        self.skipped += 1
        self.notes.append("skipped  %s: %s" % (what, why or "no reason given"))

    def line(self):
        return "%d passed, %d failed, %d skipped" % (self.passed, self.failed, self.skipped)


def count_case(counts, program, match):
    """One TAP line. A case marked TODO is expected to fail: it counts as skipped until it passes."""
    negated, title, directive, reason = match.groups()
    name = "%s %s" % (program, title.strip())
    directive = (directive or "").upper()
    if "/rows/" in title:
        counts.rows[0] += not negated
        counts.rows[1] += 1
    if directive == "SKIP":
        counts.skip(name, reason)
    elif directive == "TODO" and negated:
        counts.skip(name, "to do: " + reason)
    elif negated:
        counts.fail(name)
    else:
        counts.passed += 1


def count_program(counts, record):
    """One program of the log. Counts by its TAP lines where it wrote any, else by meson's verdict on it."""
    program, result = record["name"], record["result"]
    failed_before, cases, planned = counts.failed, 0, None
    for line in record.get("stdout", "").splitlines():
        case, plan = CASE.match(line), PLAN.match(line)
        if case:
            cases += 1
            count_case(counts, program, case)
        elif plan:
            planned = int(plan.group(1))
            if planned == 0:
                counts.skip(program, plan.group(2))
    good = result in ("OK", "EXPECTEDFAIL", "SKIP")
    if not cases and planned != 0:
        if result == "SKIP":
            counts.skip(program, "exit status 77")
        elif good:
            counts.passed += 1
    if not good and counts.failed == failed_before:
        counts.fail("%s: %s, exit status %s" % (program, result.lower(), record.get("returncode")))
    elif planned is not None and planned > cases:
        text = "%s: %d of %d cases did not run" % (program, planned - cases, planned)
        if good:
            counts.fail(text)
        else:
            counts.notes.append("         " + text)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    counts = Counts()
    try:
        with open(sys.argv[1], encoding="utf-8", errors="replace") as log:
            for line in log:
                count_program(counts, json.loads(line))
    except (OSError, ValueError) as error:
        counts.fail("the test log cannot be read: %s" % error)
    if counts.rows[1]:
        counts.notes.append("rows     %d of %d rows of the conformance index that have a test pass" % tuple(counts.rows))
    print("\n".join(counts.notes + [counts.line()]))
    return 1 if counts.failed or not counts.passed else 0


if __name__ == "__main__":
    sys.exit(main())
