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

    def gradients(self, loss, gradients):
        """[(what, off)] of the loss and of all weights that the initializers make up."""
        moves, weights = self.case["gradient_moves"], self.case["weights"]
        wanted = [self.arrays["gradient_%d" % i] for i in range(len(moves))]
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
        offs = [("loss", off(loss.reshape(()), wanted[0].reshape(()), moves[0]))]
        for i, name in enumerate(weights):
            part = slice(starts[i], starts[i + 1])
            if covered[part].all() and part.stop > part.start:
                offs.append((name, off(total[part], wanted[1 + i].reshape(-1), moves[1 + i])))
        return offs


def attempt(compute, judge):
    """{"verdict", "why", "off", "compared", "seconds"} of one back end."""
    begin = seconds()
    try:
        offs = judge(compute())
        which, worst = max(offs, key=lambda pair: pair[1])
        wrong = [name for name, ratio in offs if not ratio <= 1]
        result = {"verdict": MISMATCH if wrong else PASS, "off": float(worst), "compared": len(offs),
                  "why": "%s off by %.3g x what is allowed, %d of %d wrong" % (which, worst, len(wrong), len(offs)) if wrong else ""}
    except Refused as why:
        result = {"verdict": UNSUPPORTED if why.unsupported else FAILED, "why": str(why), "off": None, "compared": 0}
    result["seconds"] = round(seconds() - begin, 2)
    return result


def check(gantry, case, phase, back_end):
    reference = Reference(case)
    if phase == "inference":
        return attempt(lambda: gantry.infer(case, back_end), reference.outputs)
    return attempt(lambda: gantry.gradients(case, back_end), lambda both: reference.gradients(*both))
