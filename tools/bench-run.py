#!/usr/bin/env python3
"""One inference of real models, by gantry-cli and by onnxruntime with as many threads, in turn in one run.

Prints figures as tools/bench wants them: NAME VALUE UNIT MIN..MAX PEER. The peer is run by the Python that
GANTRY_PEER_PYTHON names, through tools/peer-onnxruntime.py; without it the peer's column says "not measured".
Usage: tools/bench-run.py GANTRY-CLI MODEL[,NAME=SIZE...]...
"""
# SPDX-License-Identifier: Apache-2.0

import json
import os
import statistics
import subprocess
import sys

ROUNDS = 3          # the two programs alternate, so that both see the machine in the same state
RUNS = 9            # measured runs a round
WARM_UP = 2


class Peer:
    """onnxruntime in a child that runs once for each line it is sent; .why says why there is none."""

    def __init__(self, model, threads, dims):
        self.child, self.version, self.why = None, None, None
        python = os.environ.get("GANTRY_PEER_PYTHON")
        if not python:
            self.why = "GANTRY_PEER_PYTHON is not set"
            return
        script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "peer-onnxruntime.py")
        command = [python, script, model, str(threads)] + ["--dim=" + dim for dim in dims]
        try:
            self.child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        except OSError as error:
            self.why = str(error)
            return
        answer = self.child.stdout.readline().split()
        if answer[:1] == ["ready"]:
            self.version = answer[1]
        else:
            self.why = " ".join(answer) or "it ended without an answer"
            self.close()

    def run(self, count):
        times = []
        for _ in range(count):
            self.child.stdin.write("\n")
            self.child.stdin.flush()
            times.append(float(self.child.stdout.readline()))
        return times

    def close(self):
        if self.child:
            self.child.stdin.close()
            self.child.wait()
            self.child = None


def run_gantry(cli, model, threads, dims):
    command = [cli, "run", "--json", "--runs=%d" % RUNS, "--warmup=%d" % WARM_UP, "--threads=%d" % threads]
    result = subprocess.run(command + ["--dim=" + dim for dim in dims] + [model], capture_output=True, text=True,
                            stdin=subprocess.DEVNULL, check=False)
    if result.returncode != 0:
        raise RuntimeError(result.stderr.strip().splitlines()[-1] if result.stderr.strip()
                           else "exit status %d" % result.returncode)
    return json.loads(result.stdout)


def figure(name, value, unit, low, high, peer="not measured"):
    print("%s %.6g %s %.6g..%.6g %s" % (name, value, unit, low, high, peer), flush=True)


def report(name, ours, theirs, version):
    """@ours: what gantry-cli said in each round; @theirs: the peer's times of each round, empty without a peer."""
    medians = [result["milliseconds"] for result in ours]
    value = statistics.median(medians)
    low = min(result["milliseconds_min"] for result in ours)
    high = max(result["milliseconds_max"] for result in ours)
    if theirs:
        times = [time for run in theirs for time in run]
        figure("run.%s.time" % name, value, "ms", low, high, "onnxruntime %s: %.6g ms %.6g..%.6g"
               % (version, statistics.median(times), min(times), max(times)))
        ratios = [mine / statistics.median(run) for mine, run in zip(medians, theirs)]
        figure("run.%s.ratio" % name, statistics.median(ratios), "x", min(ratios), max(ratios), "onnxruntime is 1")
    else:
        figure("run.%s.time" % name, value, "ms", low, high)
    compiled = [result["compile_milliseconds"] for result in ours]
    figure("run.%s.compile" % name, statistics.median(compiled), "ms", min(compiled), max(compiled))
    over = ours[-1]["arena_bytes"] / ours[-1]["arena_lower_bound_bytes"]
    figure("run.%s.arena_over_bound" % name, over, "x", over, over, "the lower bound is 1")


def bench(cli, model, dims, threads):
    name = os.path.splitext(os.path.basename(model))[0]
    peer = Peer(model, threads, dims)
    if peer.why:
        print("# run.%s: onnxruntime is not measured: %s" % (name, peer.why), flush=True)
    try:
        ours, theirs = [], []
        if not peer.why:
            peer.run(WARM_UP)
        for _ in range(ROUNDS):
            ours.append(run_gantry(cli, model, threads, dims))
            if not peer.why:
                peer.run(1)     # its threads have slept meanwhile
                theirs.append(peer.run(RUNS))
        report(name, ours, theirs, peer.version)
    finally:
        peer.close()


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    threads, failed = len(os.sched_getaffinity(0)), False
    for argument in sys.argv[2:]:
        model, *dims = argument.split(",")
        try:
            bench(sys.argv[1], model, dims, threads)
        except RuntimeError as error:
            failed = True
            print("# run: %s: gantry-cli: %s" % (os.path.basename(model), error), flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
