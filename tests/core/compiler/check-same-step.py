#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The same training step from four sides ends in the same plan: two blocks of a transformer with cross entropy and Adam, as ONNX of
PyTorch and as Gantry's own text, both differentiated by Gantry; as a program in JAX's style, run without JAX; and as StableHLO of
the real JAX, which differentiated it. The peaks are within 1 % of that of the own text. Runs under a Python that has JAX, optax and
PyTorch, which GANTRY_PEER_PYTHON names; skips where there is none."""
import importlib.util
import json
import os
import subprocess
import sys
import tempfile

peer = os.environ.get("GANTRY_PEER_PYTHON")
if "--child" not in sys.argv:
    if not peer or subprocess.run([peer, "-c", "import jax, optax, onnx, torch"], capture_output=True).returncode != 0:
        print("1..0 # SKIP GANTRY_PEER_PYTHON names no Python with JAX, optax, onnx and PyTorch")
        sys.exit(0)
    sys.exit(subprocess.run([peer, "-W", "ignore", __file__, "--child"]).returncode)

os.environ["JAX_PLATFORMS"] = "cpu"
import same_step
import torch
from same_step import BATCH, DIM, HEADS, HIDDEN, LAYERS, LENGTH, WORDS
from torch import nn

root = os.environ.get("GANTRY_SOURCE_ROOT", ".")
cli = os.path.join(os.environ.get("GANTRY_BUILD_ROOT", "build"), "app", "gantry-cli")
PARTS = ("query", "key", "value", "out")


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(DIM), nn.LayerNorm(DIM)
        for part in PARTS:
            setattr(self, part, nn.Linear(DIM, DIM))
        self.up, self.down = nn.Linear(DIM, HIDDEN), nn.Linear(HIDDEN, DIM)

    def forward(self, x):
        def split(y):
            return y.reshape(BATCH, LENGTH, HEADS, DIM // HEADS).transpose(1, 2)
        h = self.norm1(x)
        q, k, v = split(self.query(h)), split(self.key(h)), split(self.value(h))
        y = torch.softmax(q @ k.transpose(2, 3) / (DIM // HEADS) ** 0.5, -1) @ v
        x = x + self.out(y.transpose(1, 2).reshape(BATCH, LENGTH, DIM))
        return x + self.down(nn.functional.gelu(self.up(self.norm2(x)), approximate="tanh"))


def write_onnx(folder):
    path = os.path.join(folder, "step.onnx")
    network = nn.Sequential(*(Block() for _ in range(LAYERS)), nn.LayerNorm(DIM), nn.Linear(DIM, WORDS))
    torch.onnx.export(network.eval(), (torch.zeros(BATCH, LENGTH, DIM),), path, dynamo=False, opset_version=18)
    return path


def write_text(folder):
    spec = importlib.util.spec_from_file_location("programs", os.path.join(root, "data", "programs", "make-programs.py"))
    programs = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(programs)
    program = programs.Program("step", ["Two blocks of a transformer on embedded words."])
    f = program.main
    x = f.parameter("x", "f32", [BATCH, LENGTH, DIM])
    shapes = {}
    for i in range(LAYERS):
        scope = "layer.%d/" % i
        for norm in ("norm1", "norm2"):
            shapes[scope + norm + "/scale"] = shapes[scope + norm + "/bias"] = [DIM]
        for part in PARTS:
            shapes[scope + "attention/" + part + "/w"], shapes[scope + "attention/" + part + "/b"] = [DIM, DIM], [DIM]
        shapes[scope + "up/w"], shapes[scope + "up/b"] = [DIM, HIDDEN], [HIDDEN]
        shapes[scope + "down/w"], shapes[scope + "down/b"] = [HIDDEN, DIM], [DIM]
    shapes["head/norm/scale"] = shapes["head/norm/bias"] = [DIM]
    shapes["head/words/w"], shapes["head/words/b"] = [DIM, WORDS], [WORDS]
    program.declare(shapes)
    for i in range(LAYERS):
        f.scope = "layer.%d" % i
        x = f.binary("add", x, programs.attention(f, programs.layer_norm(f, x, "norm1"), HEADS))
        y = f.gelu(f.dense(programs.layer_norm(f, x, "norm2"), "up", HIDDEN))
        x = f.binary("add", x, f.dense(y, "down", DIM))
    f.scope = "head"
    program.end(f, [f.dense(programs.layer_norm(f, x, "norm"), "words", WORDS)])
    path = os.path.join(folder, "step.gir")
    with open(path, "w") as file:
        file.write(program.text())
    return path


def write_stablehlo(folder, names):
    """Without names of operations the phases are told by what is computed from what."""
    path = os.path.join(folder, "step.mlir" if names else "plain.mlir")
    with open(path, "w") as file:
        file.write(same_step.compiled.lower(*same_step.arguments()).as_text(debug_info=names))
    return path


def plan(path):
    train = ["--loss", "softmax-cross-entropy", "--optimizer", "adam"] if path.endswith((".onnx", ".gir")) else []
    done = subprocess.run([cli, "train" if train else "plan", *train, path, "--json"], capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip())
    return json.loads(done.stdout)


with tempfile.TemporaryDirectory() as folder:
    sides = [("own text", write_text(folder)), ("ONNX", write_onnx(folder)), ("JAX's style", same_step.__file__),
             ("StableHLO", write_stablehlo(folder, True)), ("StableHLO without names", write_stablehlo(folder, False))]
    print("1..%d" % len(sides))
    failed, expected = 0, None
    for number, (name, path) in enumerate(sides, 1):
        try:
            made = plan(path)
            peak = made["planned_bytes"]
            expected = expected or peak
            good = abs(peak - expected) <= 0.01 * expected
            print("# %s: %d bytes are planned" % (name, peak))
            for value in made.get("holders", []) if not good else []:
                print("#   %s" % json.dumps(value))
        except (RuntimeError, KeyError, ValueError) as error:
            good = False
            print("# %s" % error)
        failed += not good
        print("%s %d - %s" % ("ok" if good else "not ok", number, name), flush=True)
sys.exit(failed != 0)
