#!/usr/bin/env python3
"""How near predictions of time are: this machine is measured as at a first start; then each model and its training step is planned
without having been measured, run, planned again from the measured times and run again.

Prints figures as tools/bench wants them: NAME VALUE UNIT MIN..MAX PEER. Of each program: the share of its kernels whose first prediction
is within 1.5 x of the median that was measured, a kernel for each kind of node that was told apart and those below 5 us left out (there
it is the clock that is measured); measured over predicted time of the run, first and after one measured run; then the same over all.
Usage: tools/bench-predict.py GANTRY-CLI [--runs N] MODEL...
"""
# SPDX-License-Identifier: Apache-2.0

import json
import os
import statistics
import subprocess
import sys
import tempfile

ROUNDS = 3
NEAR = 1.5          # of a kernel
NEAR_STEP = 1.25    # of a run
LEAST_US = 5.0
MOST_KERNELS = 100000
LONG_MS = 2000.0    # a program whose run takes longer is run once in each of fewer rounds


def call(cli, *arguments):
    result = subprocess.run([cli, *arguments], capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
    if result.returncode != 0:
        lines = result.stderr.strip().splitlines()
        raise RuntimeError(lines[-1] if lines else "exit status %d" % result.returncode)
    return result.stdout


def figure(name, values, unit, peer):
    print("%s %.4g %s %.4g..%.4g %s" % (name, statistics.median(values), unit, min(values), max(values), peer), flush=True)


def share(ratios, near):
    return sum(1 / near <= ratio <= near for ratio in ratios) / max(len(ratios), 1)


def step_ratio(result):
    return result["milliseconds"] / result["predicted_milliseconds"]


def ratios_of(result):
    """By kernel, in the order of their nodes; 0 for those that are left out."""
    kernels = sorted(result["slowest"], key=lambda kernel: kernel["node"])
    return [kernel["milliseconds"] / kernel["predicted_milliseconds"]
            if kernel["predicted_milliseconds"] > 0 and 1000 * kernel["milliseconds"] / kernel["count"] >= LEAST_US else 0
            for kernel in kernels]


def measure(cli, program, runs):
    """Kernels' ratios, and those of the run before and after planning again: medians of rounds."""
    def told_by(runs, *options):
        return json.loads(call(cli, "run", "--json", *options, "--runs=%d" % runs, program))

    listed = "--slowest=%d" % MOST_KERNELS
    told = [told_by(1, listed)]
    if told[0]["milliseconds"] > LONG_MS:
        again = [told_by(1, "--replan")]
    else:
        told = [told_by(runs, listed) for _ in range(ROUNDS)]
        again = [told_by(runs, "--replan") for _ in range(ROUNDS)]
    kernels = [statistics.median(values) for values in zip(*map(ratios_of, told))]
    return ([ratio for ratio in kernels if ratio > 0], [step_ratio(one) for one in told], [step_ratio(one) for one in again])


def report(name, kernels, first, again):
    within = 100 * share(kernels, NEAR)
    if kernels:
        print("predict.%s.kernels %.4g %% %.4g..%.4g of %d kernels within %g x; measured over predicted %.3g (%.3g to %.3g)"
              % (name, within, within, within, len(kernels), NEAR,
                 statistics.median(kernels), min(kernels), max(kernels)), flush=True)
    else:
        print("# predict.%s: no kernel takes %g us" % (name, LEAST_US), flush=True)
    figure("predict.%s.first" % name, first, "x", "measured over predicted, before anything was measured")
    figure("predict.%s.again" % name, again, "x", "the same after one measured run")


def calibrate(cli, scratch):
    """What this machine does, measured anew and kept for the commands that follow, as at their first start."""
    os.environ.pop("GANTRY_CALIBRATION", None)
    os.environ["XDG_CACHE_HOME"] = os.path.join(scratch, "cache")
    result = subprocess.run([cli, "calibrate", "--keep", "--json"], capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
    try:
        seconds = json.loads(result.stdout)["seconds"]
        figure("predict.calibration", [seconds], "s", "what this machine does, measured")
    except ValueError:
        pass
    if result.returncode != 0:
        os.environ["GANTRY_CALIBRATION"] = "off"
        print("# predictions are by stated rates: %s" % result.stderr.strip(), flush=True)


def programs_of(cli, model, scratch):
    """The model, and its training step where it has one."""
    name = os.path.splitext(os.path.basename(model))[0]
    yield name, model
    step = os.path.join(scratch, name + ".gantry")
    try:
        call(cli, "train", model, "--optimizer=adam", "-o", step)
    except RuntimeError as error:
        print("# predict.%s: no step: %s" % (name, error), flush=True)
        return
    yield name + ".step", step


def main():
    arguments, runs = sys.argv[1:], 9
    if len(arguments) > 2 and arguments[1] == "--runs":
        runs = int(arguments[2])
        del arguments[1:3]
    if len(arguments) < 2:
        sys.exit(__doc__)
    kernels, firsts, agains = [], [], []
    with tempfile.TemporaryDirectory() as scratch:
        calibrate(arguments[0], scratch)
        for model in arguments[1:]:
            for name, program in programs_of(arguments[0], model, scratch):
                try:
                    own, first, again = measure(arguments[0], program, runs)
                except RuntimeError as error:
                    print("# predict.%s: gantry-cli: %s" % (name, error), flush=True)
                    continue
                report(name, own, first, again)
                kernels += own
                firsts.append(statistics.median(first))
                agains.append(statistics.median(again))
    if firsts:
        within = 100 * share(kernels, NEAR)
        if kernels:
            print("predict.all.kernels %.4g %% %.4g..%.4g of %d kernels within %g x"
                  % (within, within, within, len(kernels), NEAR), flush=True)
        figure("predict.all.first", firsts, "x", "%d of %d runs within %g x, %d within %g x"
               % (sum(1 / NEAR_STEP <= r <= NEAR_STEP for r in firsts), len(firsts), NEAR_STEP,
                  sum(1 / NEAR <= r <= NEAR for r in firsts), NEAR))
        figure("predict.all.again", agains, "x", "%d of %d runs within 1.05 x"
               % (sum(1 / 1.05 <= r <= 1.05 for r in agains), len(agains)))
    return 0 if firsts else 1


if __name__ == "__main__":
    sys.exit(main())
