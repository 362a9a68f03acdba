#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Programs of PyTorch as torch.export saves them, as traced and decomposed: what gantry-cli computes from the archive, on the
processor and on the schedules made for GPUs, has to be what torch computes; the gradients of one of them too. Runs under a
Python that has torch, which GANTRY_PEER_PYTHON names; skips where there is none. With the names of models as arguments (NAME
of torchvision.models, bert, gpt2) it does the same with these, with made-up weights."""
import math
import os
import subprocess
import sys
import tempfile

peer = os.environ.get("GANTRY_PEER_PYTHON")
if sys.argv[1:2] != ["--child"]:
    if not peer or subprocess.run([peer, "-c", "import torch"], capture_output=True).returncode != 0:
        print("1..0 # SKIP GANTRY_PEER_PYTHON names no Python with torch")
        sys.exit(0)
    sys.exit(subprocess.run([peer, __file__, "--child", *sys.argv[1:]]).returncode)

import warnings

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "fixtures", "torch"))
from programs import programs, r

warnings.simplefilter("ignore")
torch.set_num_threads(1)
cli = os.path.join(os.environ.get("GANTRY_BUILD_ROOT", "build"), "app", "gantry-cli")
def save(folder, name, values):
    paths = []
    for i, value in enumerate(values):
        paths.append(os.path.join(folder, "%s%d.npy" % (name, i)))
        np.save(paths[-1], np.array(value.detach().numpy(), order="C"))
    return paths


def call(command):
    return subprocess.run([cli, *command], capture_output=True, text=True)


def run(path, inputs, outputs, device):
    command = ["run", path, "-n", "1", "--warmup", "0", "--relative", "1e-3", "--absolute", "1e-5", "--quick-compile", "--device", device]
    for value in inputs:
        command += ["--input", value]
    for value in outputs:
        command += ["--expect", value]
    return call(command)


number = 0
failed = 0


def report(name, good, why):
    global number, failed
    number += 1
    failed += not good
    print("%sok %d %s" % ("" if good else "not ", number, name))
    if not good:
        print("# " + why.strip().replace("\n", "\n# "))
    sys.stdout.flush()


def forms(module, arguments):
    traced = torch.export.export(module, arguments)
    yield "traced", traced
    try:
        yield "decomposed", traced.run_decompositions()
    except Exception as error:
        print("# torch itself cannot decompose it: %s" % str(error).split("\n")[0])


def check(name, module, arguments):
    with torch.no_grad(), tempfile.TemporaryDirectory() as folder:
        inputs = save(folder, "in", arguments)
        values = module(*[a.clone() for a in arguments])
        outputs = save(folder, "out", values if isinstance(values, (tuple, list)) else [values])
        for form, exported in forms(module, arguments):
            if form == "decomposed" and name.startswith("traced_"):
                continue
            path = os.path.join(folder, form + ".pt2")
            torch.export.save(exported, path)
            for device in ("cpu", "grid"):
                result = run(path, inputs, outputs, device)
                report("%s %s %s" % (name, form, device), result.returncode == 0, result.stderr + result.stdout[-600:])


class Network(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3, padding=1)
        self.norm = nn.BatchNorm2d(8)
        self.layer = nn.TransformerEncoderLayer(8, 2, 16, dropout=0, batch_first=True, activation="gelu")
        self.head, self.gate = nn.Linear(8, 5), nn.Linear(8, 5)
        self.table = nn.Embedding(7, 5, padding_idx=2)

    def forward(self, x, ids):
        y = F.max_pool2d(F.relu(self.norm(self.conv(x)), inplace=True), 2)
        y = self.layer(y.flatten(2).transpose(1, 2)).mean(1)
        return self.head(y) * self.gate(y.detach()).sigmoid() + self.table(ids).mean(1)


def check_gradients():
    model = Network().eval()
    x, ids, target = r(2, 3, 8, 8), torch.tensor([[2, 1, 2], [0, 2, 3]]), r(2, 5)
    loss = F.mse_loss(model(x, ids), target)
    loss.backward()
    parameters = {name: value.grad for name, value in model.named_parameters()}
    with tempfile.TemporaryDirectory() as folder:
        path, step = os.path.join(folder, "model.pt2"), os.path.join(folder, "step.gantry")
        torch.export.save(torch.export.export(model, (x, ids)), path)
        (given, chosen), (wanted,) = save(folder, "in", [x, ids]), save(folder, "target", [target])
        made = call(["train", "--gradients-only", "--loss=mse", "-o", step, path])
        report("gradients step", made.returncode == 0, made.stderr)
        # Parameters in the order in which the program first uses them.
        for device in ("cpu", "grid"):
            out = os.path.join(folder, device)
            os.makedirs(out)
            result = call(["run", step, "--device", device, "-n", "1", "--warmup", "0", "--quick-compile", "--input", "x=" + given, "--input", "ids=" + chosen, "--input", "target=" + wanted,
                           "--output-dir", out])
            values = [np.load(os.path.join(out, "output_%d.npy" % i)) for i in range(len(os.listdir(out)))]
            good = result.returncode == 0 and len(values) == 1 + len(parameters) and math.isclose(values[0], loss.item(), rel_tol=1e-4)
            left = dict(parameters)
            for value in values[1:]:
                found = [n for n, g in left.items() if g.shape == value.shape and np.allclose(g.numpy(), value, rtol=1e-3, atol=1e-5)]
                good = good and len(found) > 0
                for name in found[:1]:
                    del left[name]
            report("gradients %s" % device, good and not left, result.stderr + "differ: %s" % ", ".join(left))


def model_of(name):
    if name == "bert":
        from transformers import BertConfig, BertModel
        model = BertModel(BertConfig(hidden_size=256, num_hidden_layers=4, num_attention_heads=4, intermediate_size=1024, vocab_size=3000))
        mask = torch.ones(2, 64, dtype=torch.int64)
        mask[1, 40:] = 0

        class Bert(nn.Module):
            def __init__(self):
                super().__init__()
                self.model = model

            def forward(self, ids, mask):
                result = self.model(input_ids=ids, attention_mask=mask)
                return result.last_hidden_state, result.pooler_output
        return Bert().eval(), (torch.randint(0, 3000, (2, 64)), mask)
    if name == "gpt2":
        from transformers import GPT2Config, GPT2LMHeadModel
        model = GPT2LMHeadModel(GPT2Config(n_embd=256, n_layer=4, n_head=4, vocab_size=3000, bos_token_id=0, eos_token_id=0))

        class Gpt2(nn.Module):
            def __init__(self):
                super().__init__()
                self.model = model

            def forward(self, ids):
                return self.model(input_ids=ids, use_cache=False).logits
        return Gpt2().eval(), (torch.randint(0, 3000, (2, 64)),)
    import torchvision
    model = getattr(torchvision.models, name)(weights=None).eval()
    with torch.no_grad():
        for key, value in model.named_buffers():
            if key.endswith("running_mean"):
                value.copy_(torch.randn_like(value) * 0.1)
            if key.endswith("running_var"):
                value.copy_(torch.rand_like(value) + 0.5)
        for key, value in model.named_parameters():
            if not value.any():
                value.copy_(torch.randn_like(value) * 0.05)
    return model, (r(1, 3, 224, 224),)


if sys.argv[2:]:
    for name in sys.argv[2:]:
        check(name, *model_of(name))
else:
    for case in programs:
        check(*case)
    check_gradients()
print("1..%d" % number)
sys.exit(failed > 0)
