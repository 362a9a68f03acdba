#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares an exported trace with what Perfetto's trace processor finds in it: slices, counter samples, flows, and the
entries that it dropped or did not understand, which have to be none.

Usage: check-perfetto.py TRACE.json [TRACE_PROCESSOR_SHELL]

Needs the package "perfetto" of PyPI, which fetches the program trace_processor_shell on first use where the network
lets it; elsewhere name the program."""
import collections
import json
import sys


def main():
    try:
        from perfetto.trace_processor import TraceProcessor, TraceProcessorConfig
    except ImportError:
        sys.exit("check-perfetto: the Python package 'perfetto' is not installed: pip install perfetto")
    with open(sys.argv[1], encoding="utf-8") as file:
        entries = json.load(file)["traceEvents"]
    phases = collections.Counter(entry["ph"] for entry in entries)
    starts = {entry["id"] for entry in entries if entry["ph"] == "s"}
    expected = {"slice": phases["X"], "counter": phases["C"],
                "flow": sum(entry["ph"] == "f" and entry["id"] in starts for entry in entries)}
    try:
        config = TraceProcessorConfig(bin_path=sys.argv[2] if len(sys.argv) > 2 else None)
        processor = TraceProcessor(trace=sys.argv[1], config=config)
    except Exception as error:  # the package raises what its download raises
        sys.exit(f"check-perfetto: trace_processor_shell cannot be started ({error}); name it as the second argument")
    good = True
    for table, count in expected.items():
        found = next(iter(processor.query(f"SELECT count(*) AS n FROM {table}"))).n
        print(f"{table:8} {count:10} in the file {found:10} in Perfetto")
        good = good and found == count
    for row in processor.query("SELECT name, value FROM stats WHERE severity IN ('error', 'data_loss') AND value > 0"):
        print(f"{row.name}: {row.value}")
        good = False
    processor.close()
    sys.exit(0 if good else 2)


main()
