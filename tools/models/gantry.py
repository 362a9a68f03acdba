# SPDX-License-Identifier: Apache-2.0
"""Runs a model or its gradients on one of Gantry's back ends."""
import os
import resource
import shutil
import subprocess

import numpy as np

BACK_ENDS = {"library": [], "own": ["--no-library", "--quick-compile"], "grid": ["--device=grid", "--quick-compile"], "evaluator": None}
SECONDS = 300
UNSUPPORTED = 3


class Refused(Exception):
    """The message of a command that failed. @unsupported: it says that it cannot, rather than that something is wrong."""

    def __init__(self, message, unsupported):
        super().__init__(message)
        self.unsupported = unsupported


def call(command):
    try:
        done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        raise Refused("takes longer than %d s" % SECONDS, False) from None
    if done.returncode != 0:
        lines = done.stderr.strip().splitlines()
        raise Refused((lines[-1] if lines else "") or "exit status %d" % done.returncode, done.returncode == UNSUPPORTED)
    return done.stdout


class Gantry:
    def __init__(self, build):
        self.cli = os.path.join(build, "app", "gantry-cli")
        self.evaluator = os.path.join(build, "tools", "evaluate-model")
        self.step = (None, None, None)  # folder of a case, its session, names of its gradients

    def infer(self, case, back_end):
        """Outputs of the model."""
        path = os.path.join(case["folder"], "model.onnx")
        return self.run(case, back_end, path, self.dims(case), self.inputs(case))

    def gradients(self, case, back_end):
        """Loss and gradients of the initializers, these by name."""
        session, names = self.training(case)
        target = "labels" if case["loss"] == "softmax-cross-entropy" else "target"
        inputs = [*self.inputs(case), "--input", "%s=%s" % (target, os.path.join(case["folder"], "target.npy"))]
        loss, *gradients = self.run(case, back_end, session, [], inputs)
        return loss, dict(zip(names, gradients, strict=True))

    def training(self, case):
        """The session of a step that only differentiates, made once for all back ends, and the names of its gradients."""
        if self.step[0] != case["folder"]:
            self.forget()
            session = os.path.join(case["folder"], "step.gantry")
            if os.path.exists(session):
                os.unlink(session)
            call([self.cli, "train", *self.dims(case), "--gradients-only", "--loss", case["loss"], "--loss-output", str(case["output"]),
                  "-o", session, os.path.join(case["folder"], "model.onnx")])
            self.step = (case["folder"], session, call([self.evaluator, session]).splitlines())
        return self.step[1:]

    def forget(self):
        if self.step[1] is not None:
            os.unlink(self.step[1])
        self.step = (None, None, None)

    def dims(self, case):
        return [word for name, size in case["dims"].items() for word in ("--dim", "%s=%d" % (name, size))]

    def inputs(self, case):
        return [word for name in case["reads"] for word in ("--input", "%s=%s" % (name, os.path.join(case["folder"], "input_%s.npy" % name[1:])))]

    def run(self, case, back_end, path, dims, inputs):
        folder = os.path.join(case["folder"], back_end)
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
        options = BACK_ENDS[back_end]
        program = [self.evaluator] if options is None else [self.cli, "run", *options, "--runs=1", "--warmup=0"]
        call([*program, *dims, *inputs, "--output-dir", folder, path])
        results = [np.load(os.path.join(folder, "output_%d.npy" % i)) for i in range(len(os.listdir(folder)))]
        shutil.rmtree(folder)
        return results


def seconds():
    """Of processors, spent by commands so far."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
