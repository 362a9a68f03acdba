# SPDX-License-Identifier: Apache-2.0
"""What a back end computed beside the reference."""
import os

import numpy as np

import bounds
from gantry import Refused, seconds
from reference import largest

PASS, MISMATCH, UNSUPPORTED, FAILED = "pass", "mismatch", "unsupported", "error"


def off(found, wanted, move):
    """How far @found is from @wanted, as a part of what is allowed: more than 1 is too far."""
    if found.shape != wanted.shape:
        return np.inf
    if wanted.dtype.kind != "f":
        return 0.0 if np.array_equal(found, wanted) else np.inf
    distance = largest(np.asarray(found, np.float64) - wanted)
    allowed = bounds.allowed(move, largest(wanted))
    return (distance / allowed if allowed > 0 else np.inf * distance if distance > 0 else 0.0) if np.isfinite(distance) else np.inf


class Reference:
    def __init__(self, case):
        self.case = case
        self.arrays = np.load(os.path.join(case["folder"], "reference.npz"))
        indices = np.load(os.path.join(case["folder"], "places.npz"))
        self.indices = [indices[key] for key in sorted(indices, key=lambda k: int(k[1:]))]

    def outputs(self, results):
        """[(what, off)] of the outputs."""
        moves = self.case["output_moves"]
        if len(results) != len(moves):
            return [("%d outputs instead of %d" % (len(results), len(moves)), np.inf)]
        return [("output %d" % i, off(y, self.arrays["output_%d" % i], move)) for i, (y, move) in enumerate(zip(results, moves))]

    def wanted(self):
        """Loss and gradients of the reference."""
        return [self.arrays["gradient_%d" % i] for i in range(len(self.case["gradient_moves"]))]

    def of_weights(self, loss, gradients):
        """Loss and gradients in the order and shapes of the weights; None where the initializers do not make up a weight."""
        weights, wanted = self.case["weights"], self.wanted()
        starts = np.cumsum([0] + [g.size for g in wanted[1:]])
        total, covered = np.zeros(starts[-1]), np.zeros(starts[-1], bool)
        indices = iter(self.indices)
        for name, (weight, order) in self.case["places"].items():
            index = next(indices) if weight is None else None
            if name not in gradients:
                continue
            found = np.asarray(gradients[name], np.float64)
            if weight is not None:
                i = weights.index(weight)
                turned = found.reshape([wanted[1 + i].shape[axis] for axis in order])
                found = turned.transpose(np.argsort(order)) if order else turned
                index = np.arange(starts[i], starts[i + 1])
            # Several initializers, or places of one, may stand for one weight: what each adds to its gradient is summed.
            np.add.at(total, index, found.reshape(-1))
            covered[index] = True
        parts = [slice(a, b) for a, b in zip(starts, starts[1:])]
        return [np.asarray(loss, np.float64).reshape(wanted[0].shape),
                *(total[p].reshape(g.shape) if g.size > 0 and covered[p].all() else None for p, g in zip(parts, wanted[1:]))]

    def gradients(self, found, wanted):
        """[(what, off)] of the loss and of all weights that the initializers make up."""
        names = ["loss", *self.case["weights"]]
        return [(name, off(f, w, move)) for name, f, w, move in zip(names, found, wanted, self.case["gradient_moves"]) if f is not None]


def judged(offs):
    """{"verdict", "why", "off", "compared"} of a list of [(what, off)]."""
    which, worst = max(offs, key=lambda pair: pair[1])
    wrong = [name for name, ratio in offs if not ratio <= 1]
    return {"verdict": MISMATCH if wrong else PASS, "off": float(worst), "compared": len(offs),
            "why": "%s off by %.3g x what is allowed, %d of %d wrong" % (which, worst, len(wrong), len(offs)) if wrong else ""}


def attempt(judge):
    begin = seconds()
    try:
        result = judge()
    except Refused as why:
        result = {"verdict": UNSUPPORTED if why.unsupported else FAILED, "why": str(why), "off": None, "compared": 0}
    result["seconds"] = round(seconds() - begin, 2)
    return result


def check(gantry, case, phase, back_end, search=lambda: None):
    """One back end. SEARCH () gives a kinks.Search (nullable); it is asked for where gradients differ."""
    reference = Reference(case)

    def gradients():
        found = reference.of_weights(*gantry.gradients(case, back_end))

        def compare(wanted):
            return judged(reference.gradients(found, wanted))

        result = compare(reference.wanted())
        if result["verdict"] == PASS or not np.isfinite(result["off"]) or search() is None:
            return result
        taken = search().explain(found, lambda wanted: compare(wanted)["verdict"] == PASS)
        if taken is None:
            return result
        return {**compare(search().gradients(taken)), "taken_otherwise": [str(one) for one in taken]}

    if phase == "inference":
        return attempt(lambda: judged(reference.outputs(gantry.infer(case, back_end))))
    return attempt(gradients)
