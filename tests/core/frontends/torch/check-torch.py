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

warnings.simplefilter("ignore")
torch.manual_seed(0)
torch.set_num_threads(1)
cli = os.path.join(os.environ.get("GANTRY_BUILD_ROOT", "build"), "app", "gantry-cli")
programs = []


def r(*shape):
    return torch.randn(*shape)


def program(*arguments):
    def note(function):
        class Program(nn.Module):
            def forward(self, *inputs):
                return function(*inputs)
        programs.append((function.__name__, Program().eval(), arguments))
        return function
    return note


@program(r(3, 4), r(4))
def arithmetic(x, y):
    return (x + 2 * y, x.sub(y, alpha=0.5), 3 - x, x / y, torch.div(x, 0.7, rounding_mode="floor"), x // 0.3, x % 0.7,
            torch.fmod(x, 0.7), x ** 2, x.abs() ** 1.7, 2.0 ** x, torch.addcmul(x, x, y, value=0.3), x.lerp(y, 0.25),
            torch.maximum(x, y), x.clamp(-0.5), x.clamp(max=y), torch.where(x > y, x, 0.5))


@program(torch.randint(-9, 9, (3, 4)), torch.randint(1, 5, (4,), dtype=torch.int32), r(3, 4))
def whole_numbers(i, j, x):
    return (i + 1, i * j, i / j, i // j, i % j, i * 0.5, i > 2.5, i & 3, i == j, i + x, (i > 0) & (x > 0), ~(i > 0), i.to(torch.float32),
            (i > 0).sum(), i.float().mean(), -i, i.abs().sqrt(), (x > 0) + 1)


@program(r(3, 5))
def functions(x):
    p = x.abs() + 0.1
    return (x.exp(), p.log(), p.log2(), p.log10(), p.log1p(), x.expm1(), p.sqrt(), p.rsqrt(), p.reciprocal(), x.sin(), x.cos(), x.tan(),
            x.tanh(), x.sigmoid(), x.erf(), x.floor(), x.ceil(), x.round(), x.trunc(), x.sign(), x.atan(), torch.atan2(x, p),
            torch.isnan(x), torch.isinf(p.log() / 0), x.square(), x.exp2())


@program(r(4, 6))
def activations(x):
    return (F.relu(x), F.relu6(x * 5), F.hardtanh(x), F.hardsigmoid(x * 3), F.hardswish(x * 3), F.silu(x), F.gelu(x),
            F.gelu(x, approximate="tanh"), F.elu(x), F.selu(x), F.celu(x, 0.7), F.leaky_relu(x), F.softplus(x, 2), F.logsigmoid(x),
            F.mish(x), F.softsign(x), F.glu(x), F.threshold(x, 0.1, -3), F.prelu(x, torch.tensor([0.3])), F.dropout(x, training=False))


@program(r(2, 3, 4))
def movement(x):
    a, b = x.chunk(2, 2)
    c, d, e = x.unbind(1)
    return (x.view(6, 4), x.reshape(-1), x.permute(2, 0, 1), x.transpose(1, 2), x[0].t(), x.flatten(1), x.unsqueeze(1), x[:1].squeeze(0),
            x[:, 1:, ::2], x[..., -1], x.narrow(2, 1, 2), a * b, c + d - e, torch.cat([x, x], 1), torch.stack([a, b], 1), x.flip(0, 2),
            x.roll((1, -2), (0, 2)), x.roll(3), x.repeat(2, 1, 3), x[:1].expand(5, 3, 4), F.pad(x, (1, 2, 0, 1), value=3),
            F.pad(x, (1, 2), mode="reflect"), F.pad(x, (1, 2), mode="replicate"), F.pad(x, (1, 2), mode="circular"),
            x.split([1, 3], 2)[1], x.swapaxes(0, 1).contiguous(), x.tril(), x.triu(1),
            x.diff(), x.diff(dim=0, prepend=x[:1]), (x > 0).diff(n=2))


@program(r(2, 3, 4))
def creation(x):
    return (torch.arange(7) * 2, torch.arange(1, 2, 0.25) + x.sum(), torch.full((2, 3), 0.5), torch.ones_like(x), x.new_zeros(2, 2),
            torch.eye(3), torch.linspace(0, 1, 5), torch.zeros(2, dtype=torch.int64) + 3, torch.ops.aten.to.dtype_layout(x, dtype=torch.float64, layout=torch.strided), torch.tensor(2.5) * x)


@program(r(5, 4, 3), torch.tensor([[0, 2], [4, -1]]), torch.tensor([1, 0]))
def indexing(x, i, j):
    y = x.clone()
    y[i] = 0.5
    z = x.index_put((j, j), torch.tensor([2.0]), accumulate=True)
    return (x[i], x[:, j], x[j, j], x[:, j, j], x[j, :, j], x.index_select(1, j), x.gather(0, i.abs().unsqueeze(2)), F.embedding(i.abs(), x[:, 0]), y, z,
            x.scatter(1, j.view(1, 2, 1), 9.0), x.scatter_add(0, j.view(2, 1, 1).expand(2, 4, 3), x[:2]))


@program(r(4, 6))
def ordering(x):
    values, places = x.sort(1, descending=True)
    top, at = x.topk(3, 1)
    most, which = x.max(1)
    return (values, places, top, at, most, which, x.min(0).values, x.argmax(1), x.argmin(), x.argsort(0), x.amax((0, 1)), x.max())


@program(r(3, 4, 5))
def reductions(x):
    return (x.sum(), x.sum((0, 2)), x.mean(1, keepdim=True), x.prod(2), x.var(1), x.std((1, 2), unbiased=False), x.logsumexp(1), x.norm(dim=1),
            torch.linalg.vector_norm(x, 1, dim=2), x.cumsum(1), (x > 0).any(1), (x > -9).all(), *torch.var_mean(x, 2), x.softmax(1), x.log_softmax(2))


@program(r(2, 3, 4), r(4, 5), r(2, 4, 5), r(5), r(3, 4))
def products(x, y, z, v, m):
    return (x @ y, x @ z, x[0] @ y, z @ v, v @ y.t(), torch.bmm(x, z), torch.addmm(r5, m, y, beta=0.5, alpha=2), torch.baddbmm(x @ z, x, z),
            F.linear(x, y.t(), v), v.dot(v), torch.einsum("bij,bjk->bik", x, z), torch.einsum("bij,jk", x, y),
            torch.einsum("bij,kj->ikb", x, m), torch.einsum("bij->jb", x), torch.einsum("i,j->ij", v, v))


r5 = r(5)


@program(r(2, 4, 9, 8), r(6, 4, 3, 3), r(6), r(4, 1, 3, 3), r(4, 2, 3, 3))
def convolutions(x, w, b, d, t):
    return (F.conv2d(x, w, b, stride=2, padding=1), F.conv2d(x, d, groups=4, dilation=2), F.conv2d(x, w, padding="same"),
            F.conv1d(x[:, :, 0], w[:, :, 0], b, padding=1), F.conv_transpose2d(x, t, stride=2, padding=1, output_padding=1),
            F.conv_transpose2d(x, t, groups=2, dilation=2), F.conv2d(x[0], w))


@program(r(2, 4, 9, 8))
def pooling(x):
    return (F.max_pool2d(x, 3, 2, 1), F.max_pool2d(x, 2, ceil_mode=True), F.avg_pool2d(x, 3, 2, 1), F.avg_pool2d(x, 3, 2, 1, count_include_pad=False),
            F.avg_pool2d(x, 2, ceil_mode=True), F.adaptive_avg_pool2d(x, 1), F.adaptive_avg_pool2d(x, (3, 4)), F.adaptive_avg_pool2d(x, (4, 3)),
            F.adaptive_max_pool2d(x, (3, 2)), F.max_pool1d(x[0], 2), F.interpolate(x, scale_factor=2),
            F.interpolate(x, size=(5, 11), mode="bilinear"), F.interpolate(x, size=(12, 11), mode="bilinear", align_corners=True))


@program(r(2, 4, 6), r(4), r(4), r(4), r(4).abs() + 0.5, r(6), r(6))
def normalizations(x, w, b, mean, var, lw, lb):
    return (F.batch_norm(x, mean, var, w, b), F.batch_norm(x, None, None, w, b, training=True), F.layer_norm(x, (6,), lw, lb), F.layer_norm(x, (4, 6)),
            F.group_norm(x, 2, w, b), F.rms_norm(x, (6,), lw), F.instance_norm(x))


@program(r(2, 4, 5, 8), r(2, 4, 5, 8), r(2, 4, 5, 8), r(2, 1, 5, 5) > -1, r(2, 2, 5, 8))
def attention(q, k, v, mask, few):
    return (F.scaled_dot_product_attention(q, k, v), F.scaled_dot_product_attention(q, k, v, is_causal=True),
            F.scaled_dot_product_attention(q, k, v, attn_mask=mask), F.scaled_dot_product_attention(q, k, v, attn_mask=mask.float(), scale=0.3),
            F.scaled_dot_product_attention(q, few, few, enable_gqa=True))


@program(r(4, 5), torch.tensor([1, 0, 4, -100]), r(4, 5))
def losses(x, target, y):
    return (F.cross_entropy(x, target), F.nll_loss(x.log_softmax(1), target, reduction="sum"), F.mse_loss(x, y), F.l1_loss(x, y, reduction="none"),
            F.binary_cross_entropy_with_logits(x, y.sigmoid()))


@program(r(3, 4))
def in_place(x):
    x = x * 1
    whole = x.view(12)
    row = x[1]
    column = x.transpose(0, 1)[2]
    x.mul_(2)
    row += 1
    column.fill_(7)
    whole[::5] = -1
    before = whole + 0
    x.relu_()
    part = x.reshape(2, 6).select(1, 3)
    part.sub_(part.sum())
    torch.zeros_like(x).copy_(row)
    left, right = x.chunk(2, 1)
    last = x.unbind(0)[-1]
    left.mul_(3)
    last += 1
    right[:, 0] = 5
    return x, whole, row, column, before, part, left, right, last


@program(r(2, 3))
def without_gradients(x):
    with torch.no_grad():
        y = x.sin() + 1
        z = y.cos()
    return y * x, z


@program(r(3, 4), r(3, 4))
def more_functions(x, y):
    p = y.abs()
    return (torch.logaddexp(x, y), torch.logaddexp2(x, y), torch.hypot(x, y), x.abs().xlogy(p), torch.special.xlog1py(x, p), torch.special.entr(x),
            x.sigmoid().logit(), x.sigmoid().logit(0.2), x.sinc(), torch.fmax(x, y / 0 * 0), torch.fmin(x, y), x.frac(), x.deg2rad(), x.rad2deg(),
            x.copysign(y), x.copysign(-0.0 * p), x.signbit(), torch.heaviside(x.round(), y), (x / 0).nan_to_num(), torch.ldexp(x, torch.tensor(2)),
            F.softshrink(x), F.hardshrink(x), F.rrelu(x))


@program(r(3, 4), torch.tensor([1, 2, 3]))
def arrangements(x, counts):
    return (x.repeat_interleave(3), x.repeat_interleave(2, dim=1), x.repeat_interleave(counts, 0, output_size=6), x.take_along_dim(x.argsort(1), 1),
            x.take_along_dim(x.argsort(1)[:, :1] % 3, 0), x[0].diag(1), x[0].diag(-2), x.diag(), x.diag_embed(), x.diag_embed(-1, 0, 2), x.diagonal(1),
            x.diagonal(-1), x[:, :3].trace(), x.fliplr(), x.flipud(), x.rot90(), x.rot90(-1, (1, 0)), x.unfold(1, 2, 1), x.unfold(0, 2, 2),
            x.expand(2, 3, 4).movedim((0, 1), (2, 0)), x.movedim(0, 1), torch.hstack((x[0], x[1])), torch.vstack((x[0], x)), torch.dstack((x[0], x[1])),
            torch.column_stack((x[0], x[1])), torch.atleast_3d(x), *torch.meshgrid(x[0], x[:, 0], indexing="xy"), F.one_hot(counts, 5),
            torch.isin(counts, counts[1:], invert=True))


@program(r(3, 4))
def traced_diagonal(x):
    """Decomposed it is a view by strides of some elements, which is refused by name."""
    return x.clone().fill_diagonal_(5.0)


@program(r(3, 4))
def views_written(x):
    a, c, d = x.clone(), x.clone(), x[0].clone()
    a.diagonal(1).fill_(7.0)
    a.diagonal(-1).add_(x[0, :2])
    c.movedim(0, 1)[1].fill_(2.0)
    whole = torch.atleast_2d(d)
    whole.add_(1.0)
    return a, c, d, whole


@program(r(2, 4, 6, 8), r(2, 2, 3), r(2, 3, 3, 2), r(1, 2, 3, 4, 2))
def resizing(x, theta, grid, space):
    return (F.interpolate(x, scale_factor=2, mode="bicubic"), F.interpolate(x, (5, 3), mode="bicubic", align_corners=True),
            F.interpolate(x, (4, 3), mode="bilinear", antialias=True), F.interpolate(x, (9, 3), mode="bicubic", antialias=True),
            F.interpolate(x, (7, 9), mode="nearest-exact"), F.interpolate(space, scale_factor=2, mode="nearest"),
            F.interpolate(space, scale_factor=2, mode="trilinear"), F.affine_grid(theta, (2, 3, 4, 5), align_corners=False),
            F.affine_grid(theta, (2, 3, 4, 1), align_corners=True), F.grid_sample(x, grid, align_corners=False),
            F.grid_sample(x, grid, mode="nearest", align_corners=True), F.grid_sample(x, grid, padding_mode="border", align_corners=False),
            F.grid_sample(x, grid * 2, padding_mode="reflection", align_corners=True),
            F.grid_sample(x, grid * 2, padding_mode="reflection", align_corners=False), F.pixel_shuffle(x, 2), F.pixel_unshuffle(x, 2),
            F.channel_shuffle(x, 2), F.unfold(x, (3, 2), 1, 1, 2))


@program(r(3, 4), r(3, 4), r(2, 4, 4), torch.tensor([0, 3, 1, 2]))
def pairs(x, y, w, i):
    return (F.bilinear(x, y, w), torch.outer(x[0], y[1]), torch.vdot(x[0], y[0]), F.cosine_similarity(x, y), F.cosine_similarity(x, y[0], 1),
            F.pairwise_distance(x, y, 1.0, keepdim=True), torch.cdist(x, y), torch.cdist(x, y[:2], 3.0), torch.cdist(x, y, math.inf),
            F.embedding_bag(i, w[0], torch.tensor([0, 3])), F.embedding_bag(i, w[0], torch.tensor([0, 1]), mode="max"),
            F.embedding_bag(i, w[0], torch.tensor([0, 2, 4]), mode="sum", per_sample_weights=x[0], include_last_offset=True),
            F.embedding_bag(i, w[0], torch.tensor([0, 2]), padding_idx=3))


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(4, 5, 2, batch_first=True, bidirectional=True)
        self.gru = nn.GRU(10, 3, bidirectional=True)
        self.rnn = nn.RNN(6, 3, nonlinearity="relu")
        self.short = nn.LSTM(3, 4, proj_size=2)
        self.cells = nn.ModuleList([nn.LSTMCell(2, 3), nn.GRUCell(3, 3), nn.RNNCell(3, 2)])
        self.norm = nn.utils.parametrizations.weight_norm(nn.Linear(2, 2))

    def forward(self, x):
        x, (h, c) = self.lstm(x)
        x, g = self.gru(x)
        x, n = self.rnn(x)
        x, (s, t) = self.short(x)
        y, z = self.cells[0](x[0])
        return x, h, c, g, n, s, t, y, z, self.norm(self.cells[2](self.cells[1](y)))


programs.append(("recurrent", Recurrent().eval(), (r(2, 6, 4),)))


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
        self.head = nn.Linear(8, 5)

    def forward(self, x):
        y = F.max_pool2d(F.relu(self.norm(self.conv(x)), inplace=True), 2)
        return self.head(self.layer(y.flatten(2).transpose(1, 2)).mean(1))


def check_gradients():
    model = Network().eval()
    x, target = r(2, 3, 8, 8), r(2, 5)
    loss = F.mse_loss(model(x), target)
    loss.backward()
    parameters = {name: value.grad for name, value in model.named_parameters()}
    with tempfile.TemporaryDirectory() as folder:
        path, step = os.path.join(folder, "model.pt2"), os.path.join(folder, "step.gantry")
        torch.export.save(torch.export.export(model, (x,)), path)
        (given,), (wanted,) = save(folder, "in", [x]), save(folder, "target", [target])
        made = call(["train", "--gradients-only", "--loss=mse", "-o", step, path])
        report("gradients step", made.returncode == 0, made.stderr)
        # Parameters in the order in which the program first uses them.
        for device in ("cpu", "grid"):
            out = os.path.join(folder, device)
            os.makedirs(out)
            result = call(["run", step, "--device", device, "-n", "1", "--warmup", "0", "--quick-compile", "--input", "x=" + given, "--input", "target=" + wanted,
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
