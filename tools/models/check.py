# SPDX-License-Identifier: Apache-2.0
"""Makes models, and compares what Gantry computes from them with PyTorch or JAX in double precision; see docs/checking.md.

Usage: tools/check-models [OPTION...] [GLOB...]
"""
import argparse
import collections
import json
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import cases  # noqa: E402
import compare  # noqa: E402
import zoo  # noqa: E402
from gantry import BACK_ENDS, Gantry  # noqa: E402

PHASES = ["inference", "gradients"]
# Of central differences in double precision nothing is left but a few kinks.
SLOPE_OFF = 1e-3
LETTERS = {compare.PASS: ".", compare.MISMATCH: "X", compare.UNSUPPORTED: "u", compare.FAILED: "E", None: " "}


def arguments():
    parser = argparse.ArgumentParser(prog="tools/check-models", description=__doc__.splitlines()[0])
    parser.add_argument("globs", nargs="*", metavar="GLOB", help="names of models, such as 'timm/*' (all)")
    parser.add_argument("--out", default=os.path.join(HERE, "..", "..", "out", "models"), help="where models and results are kept (out/models)")
    parser.add_argument("--build", default=os.path.join(HERE, "..", "..", "build"), help="the build folder (build)")
    parser.add_argument("--batch", type=int, action="append", help="batch sizes (1, 2 and 3)")
    parser.add_argument("--on", action="append", choices=BACK_ENDS, help="back ends (all)")
    parser.add_argument("--phase", action="append", choices=PHASES, help="(both)")
    parser.add_argument("--full", action="store_true", help="every back end at every batch size; without it own code, grid and evaluator take turns")
    parser.add_argument("--held-out", action="store_true", help="the models that are kept aside, and no others")
    parser.add_argument("--all", action="store_true", help="those and the others")
    parser.add_argument("--only-make", action="store_true", help="make the models and run nothing")
    parser.add_argument("--count", action="store_true", help="run nothing: count the results that are kept")
    parser.add_argument("--keep", action="store_true", help="do not run again what has a result")
    parser.add_argument("--json", help="write all results to this file")
    return parser.parse_args()


def chosen_back_ends(options, model, batch):
    """The library runs at every batch size; the others, whose compilation takes longer, at one each where not all is asked for."""
    for i, name in enumerate(BACK_ENDS):
        if options.on is not None and name not in options.on:
            continue
        if options.full or i == 0 or model.batches[(model.turn(3) + i) % len(model.batches)] == batch:
            yield name


class Runner:
    def __init__(self, options):
        self.options, self.gantry, self.rows = options, Gantry(options.build), []
        self.opened, self.searching = None, None

    def open_once(self, model):
        """Only where something has to be made: opening a network takes its libraries."""
        if self.opened is None or self.opened[0] != model.name:
            self.opened = (model.name, cases.open_reference(model))
        return self.opened[1]

    def case(self, model, batch):
        if os.path.exists(os.path.join(cases.folder_of(self.options.out, model, batch), "case.json")):
            return cases.build(model, batch, self.options.out)
        return cases.build(model, batch, self.options.out, lambda: self.open_once(model))

    def run(self, model, batch):
        case = self.case(model, batch)
        if "problem" in case or self.options.only_make:
            self.rows.append({"model": model.name, "batch": batch, "problem": case.get("problem")})
            return
        path = os.path.join(case["folder"], "results.json")
        results = json.load(open(path)) if self.options.keep and os.path.exists(path) else {}
        for phase in self.options.phase or PHASES:
            if phase == "gradients" and "loss" not in case:
                continue
            for back_end in chosen_back_ends(self.options, model, batch):
                key = "%s %s" % (phase, back_end)
                if key not in results:
                    results[key] = self.judge(model, case, phase, back_end)
                    write(results, path)
        self.gantry.forget()
        self.searching = None
        self.rows.append({"model": model.name, "batch": batch, "results": results, "exporter": case["exporter"], "opset": case["opset"]})
        print_row(self.rows[-1])

    def search(self, model, case):
        """Once for all back ends: it computes the gradients many times."""
        if self.searching is None:
            self.searching = cases.search(case, *self.open_once(model))
        return self.searching

    def judge(self, model, case, phase, back_end):
        result = compare.check(self.gantry, case, phase, back_end, lambda: self.search(model, case))
        if result["verdict"] == compare.MISMATCH and not case.get("looked_closer"):
            cases.look_closer(case, *self.open_once(model))
            result = compare.check(self.gantry, case, phase, back_end)
        if result["verdict"] == compare.MISMATCH and phase == "gradients" and case["slope_off"] > SLOPE_OFF:
            result["why"] += "; the reference contradicts itself: the slope of its loss is off its gradients by %.2g" % case["slope_off"]
        return result


def write(data, path):
    """At once or not at all, so that what is stopped can go on."""
    with open(path + ".part", "w") as file:
        json.dump(data, file, indent=1)
    os.replace(path + ".part", path)


def print_row(row):
    cells = []
    for phase in PHASES:
        found = [row["results"].get("%s %s" % (phase, name)) for name in BACK_ENDS]
        worst = max((r["off"] for r in found if r and r["off"] is not None), default=None)
        cells.append("%s %8s" % ("".join(LETTERS[r and r["verdict"]] for r in found), "" if worst is None else "%.3g" % worst))
    print("%-44s %d  %-6s %2d   %s   %s" % (row["model"], row["batch"], row["exporter"], row["opset"], *cells), flush=True)
    for key, result in row["results"].items():
        if result["verdict"] != compare.PASS:
            print("    %s %s: %s" % (key, result["verdict"], result["why"][:300]), flush=True)
        for one in result.get("taken_otherwise", []):
            print("    %s with one decision otherwise: %s" % (key, one), flush=True)


def summary(rows, missing):
    verdicts = collections.Counter()
    by_back_end = collections.defaultdict(collections.Counter)
    for row in rows:
        for key, result in row.get("results", {}).items():
            verdicts[result["verdict"]] += 1
            by_back_end[key][result["verdict"]] += 1
    print()
    for key in sorted(by_back_end):
        print("%-22s %s" % (key, ", ".join("%d %s" % (n, verdict) for verdict, n in sorted(by_back_end[key].items()))))
    for prefix, why in missing.items():
        print("left out: %s/*: %s" % (prefix, why))
    problems = [row for row in rows if row.get("problem")]
    for row in problems:
        print("not made: %s at batch %d: %s" % (row["model"], row["batch"], row["problem"][:160]))
    print("%d models" % len({row["model"] for row in rows if "results" in row}))
    otherwise = sum("taken_otherwise" in result for row in rows for result in row.get("results", {}).values())
    if otherwise > 0:
        print("%d of those that passed decided relus or max pools otherwise that rounding leaves open" % otherwise)
    failed = verdicts[compare.MISMATCH] + verdicts[compare.FAILED]
    print("%d passed, %d failed, %d skipped" % (verdicts[compare.PASS], failed, verdicts[compare.UNSUPPORTED] + len(problems) + len(missing)))
    return failed


def print_counts(out):
    """What passed of all that has a result, for each batch size and back end; the models that are held out by themselves."""
    seen = collections.defaultdict(collections.Counter)
    names = set()
    for folder in sorted(os.listdir(out)):
        for batch in (1, 2, 3):
            path = os.path.join(out, folder, "batch%d" % batch)
            if not os.path.exists(os.path.join(path, "results.json")):
                continue
            name = json.load(open(os.path.join(path, "case.json")))["model"]
            names.add(name)
            for key, result in json.load(open(os.path.join(path, "results.json"))).items():
                for kept in [False] + [True] * zoo.Model(name, None).held_out:
                    seen[(kept, batch)][(key, result["verdict"] == compare.PASS)] += 1
    keys = ["%s %s" % (phase, back_end) for phase in PHASES for back_end in BACK_ENDS]
    print("%d models; passed of compared" % len(names))
    for (kept, batch), counts in sorted(seen.items()):
        print("%s, batch %d" % ("of them held out" if kept else "all", batch))
        for key in keys:
            print("    %-22s %4d of %d" % (key, counts[(key, True)], counts[(key, True)] + counts[(key, False)]))


def main():
    options = arguments()
    if options.count:
        print_counts(options.out)
        return
    models, missing = zoo.load(options.globs or ["*"])
    runner = Runner(options)
    print("%-44s %s  %-15s %s" % ("model", "batch", "exported by", "inference, gradients on " + ", ".join(BACK_ENDS)
                                  + ": . passes, X differs, u unsupported, E fails; the farthest as a part of what is allowed"))
    models = [m for m in models.values() if m.held_out == options.held_out or options.all or options.only_make]
    # Mixed, so that what is stopped early has seen some of all.
    models.sort(key=lambda m: m.turn(1 << 32))
    for batch in options.batch or [1, 2, 3]:
        for model in models:
            if batch in model.batches:
                runner.run(model, batch)
    if options.json:
        write(runner.rows, options.json)
    sys.exit(1 if summary(runner.rows, missing) else 0)


main()
