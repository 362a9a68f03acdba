# SPDX-License-Identifier: Apache-2.0
"""Recurrent networks, sound, tables, graphs, points, fields, and small transformers written out."""
import math

import torch
import torch.nn.functional as F
from torch import nn

from zoo import model


def add(name, make, inputs, **options):
    @model("sequences/" + name, **options)
    def build():
        return make(), inputs


class Recurrent(nn.Module):
    """Tokens, recurrent layers, logits."""

    def __init__(self, kind, layers=1, both=False, vocabulary=20, n=12, hidden=10):
        super().__init__()
        self.embed = nn.Embedding(vocabulary, n)
        self.rnn = kind(n, hidden, layers, bidirectional=both, batch_first=True)
        self.head = nn.Linear(hidden * (1 + both), vocabulary)

    def forward(self, x):
        return self.head(self.rnn(self.embed(x))[0])


class Cells(nn.Module):
    """A cell written out step by step, with attention over what came before."""

    def __init__(self, cell=nn.GRUCell, n=6, hidden=12):
        super().__init__()
        self.cell, self.score, self.head = cell(n, hidden), nn.Linear(hidden, hidden), nn.Linear(2 * hidden, 3)

    def forward(self, x):
        h, kept = torch.zeros(x.shape[0], 12), []
        for t in range(x.shape[1]):
            h = self.cell(x[:, t], h)
            kept.append(h)
        past = torch.stack(kept, 1)
        weights = torch.softmax((past * self.score(h)[:, None]).sum(-1), 1)
        return self.head(torch.cat([h, (weights[..., None] * past).sum(1)], 1))


class ConvLstm(nn.Module):
    def __init__(self, n=3, hidden=8):
        super().__init__()
        self.hidden, self.gates, self.out = hidden, nn.Conv2d(n + hidden, 4 * hidden, 3, padding=1), nn.Conv2d(hidden, 1, 1)

    def forward(self, x):
        h = c = torch.zeros(x.shape[0], self.hidden, *x.shape[3:])
        for t in range(x.shape[1]):
            i, f, o, g = self.gates(torch.cat([x[:, t], h], 1)).chunk(4, 1)
            c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
            h = torch.sigmoid(o) * torch.tanh(c)
        return self.out(h)


class Crnn(nn.Module):
    """A text line as an image, columns as a sequence."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Sequential(nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(8, 16, 3, padding=1), nn.BatchNorm2d(16),
                                  nn.ReLU(), nn.MaxPool2d((2, 1)), nn.Conv2d(16, 16, (4, 1)))
        self.rnn, self.head = nn.LSTM(16, 12, bidirectional=True), nn.Linear(24, 11)

    def forward(self, x):
        y = self.conv(x).squeeze(2).permute(2, 0, 1)
        return self.head(self.rnn(y)[0]).log_softmax(-1)


class WaveNet(nn.Module):
    """Gated dilated causal convolutions with residual and skip sums."""

    def __init__(self, n=16, layers=4):
        super().__init__()
        self.enter = nn.Conv1d(1, n, 1)
        self.gates = nn.ModuleList([nn.Conv1d(n, 2 * n, 2, dilation=2 ** i) for i in range(layers)])
        self.mixes = nn.ModuleList([nn.Conv1d(n, 2 * n, 1) for _ in range(layers)])
        self.out = nn.Sequential(nn.ReLU(), nn.Conv1d(n, n, 1), nn.ReLU(), nn.Conv1d(n, 8, 1))

    def forward(self, x):
        x, skips = self.enter(x), 0
        for i, (gate, mix) in enumerate(zip(self.gates, self.mixes)):
            a, b = gate(F.pad(x, (2 ** i, 0))).chunk(2, 1)
            rest, skip = mix(torch.tanh(a) * torch.sigmoid(b)).chunk(2, 1)
            x, skips = x + rest, skips + skip
        return self.out(skips)


class TemporalBlocks(nn.Module):
    def __init__(self, n=8):
        super().__init__()
        self.convs = nn.ModuleList([nn.utils.parametrizations.weight_norm(nn.Conv1d(3 if i == 0 else n, n, 3, padding=2 * 2 ** i, dilation=2 ** i))
                                    for i in range(3)])
        self.down, self.head = nn.Conv1d(3, n, 1), nn.Linear(n, 4)

    def forward(self, x):
        side = self.down(x)
        for i, conv in enumerate(self.convs):
            y = F.relu(conv(x)[:, :, :-2 * 2 ** i])
            x = y + (side if i == 0 else x)
        return self.head(x[:, :, -1])


class Vocoder(nn.Module):
    def __init__(self, n=16):
        super().__init__()
        self.enter, self.up1, self.up2 = nn.Conv1d(8, n, 7, padding=3), nn.ConvTranspose1d(n, n // 2, 8, 4, 2), nn.ConvTranspose1d(n // 2, n // 4, 4, 2, 1)
        self.res = nn.ModuleList([nn.Conv1d(n // 4, n // 4, 3, padding=d, dilation=d) for d in (1, 3, 5)])
        self.out = nn.Conv1d(n // 4, 1, 7, padding=3)

    def forward(self, x):
        x = self.up2(F.leaky_relu(self.up1(F.leaky_relu(self.enter(x), 0.1)), 0.1))
        for conv in self.res:
            x = x + conv(F.leaky_relu(x, 0.1))
        return torch.tanh(self.out(F.leaky_relu(x)))


class Separator(nn.Module):
    """Encodes a wave, masks it for each speaker, decodes it by a transposed convolution."""

    def __init__(self, n=16, speakers=2):
        super().__init__()
        self.encode, self.decode = nn.Conv1d(1, n, 8, 4, bias=False), nn.ConvTranspose1d(n, 1, 8, 4, bias=False)
        self.norm, self.speakers = nn.GroupNorm(1, n), speakers
        self.body = nn.Sequential(nn.Conv1d(n, 24, 1), nn.PReLU(), nn.Conv1d(24, 24, 3, padding=2, dilation=2, groups=24), nn.PReLU(), nn.Conv1d(24, speakers * n, 1))

    def forward(self, x):
        x = F.relu(self.encode(x))
        masks = torch.sigmoid(self.body(self.norm(x))).view(x.shape[0], self.speakers, *x.shape[1:])
        y = masks * x[:, None]
        return self.decode(y.flatten(0, 1)).view(x.shape[0], self.speakers, -1)


class Attention(nn.Module):
    def __init__(self, n=16, heads=2, causal=False, rotary=False):
        super().__init__()
        self.heads, self.causal, self.rotary, self.qkv, self.out = heads, causal, rotary, nn.Linear(n, 3 * n), nn.Linear(n, n)

    def turn(self, x):
        n, length = x.shape[-1] // 2, x.shape[-2]
        angle = torch.arange(length, dtype=x.dtype)[:, None] * torch.exp(-torch.arange(n, dtype=x.dtype) * math.log(1e4) / n)
        a, b = x.chunk(2, -1)
        return torch.cat([a * angle.cos() - b * angle.sin(), b * angle.cos() + a * angle.sin()], -1)

    def forward(self, x):
        b, s, n = x.shape
        q, k, v = self.qkv(x).view(b, s, 3, self.heads, -1).permute(2, 0, 3, 1, 4).unbind(0)
        if self.rotary:
            q, k = self.turn(q), self.turn(k)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=self.causal)
        return self.out(y.transpose(1, 2).reshape(b, s, n))


class Rms(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(n))

    def forward(self, x):
        return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-6) * self.weight


class Gated(nn.Module):
    def __init__(self, n, m):
        super().__init__()
        self.up, self.down = nn.Linear(n, 2 * m, bias=False), nn.Linear(m, n, bias=False)

    def forward(self, x):
        a, b = self.up(x).chunk(2, -1)
        return self.down(F.silu(a) * b)


class Language(nn.Module):
    """A decoder with rotary positions, whose head is the embedding's own table."""

    def __init__(self, vocabulary=30, n=16, layers=2):
        super().__init__()
        self.embed = nn.Embedding(vocabulary, n)
        self.layers = nn.ModuleList([nn.ModuleList([Rms(n), Attention(n, 2, True, True), Rms(n), Gated(n, 24)]) for _ in range(layers)])
        self.norm = Rms(n)

    def forward(self, ids):
        x = self.embed(ids)
        for norm1, attention, norm2, mlp in self.layers:
            x = x + attention(norm1(x))
            x = x + mlp(norm2(x))
        return self.norm(x) @ self.embed.weight.t()


class Experts(nn.Module):
    """A softmax over experts weighs what all of them say."""

    def __init__(self, n=12, m=16, experts=3):
        super().__init__()
        self.gate, self.a, self.b = nn.Linear(n, experts), nn.Parameter(torch.randn(experts, n, m) / 4), nn.Parameter(torch.randn(experts, m, n) / 4)

    def forward(self, x):
        weights = self.gate(x).softmax(-1)
        top, index = weights.topk(2, -1)
        weights = torch.zeros_like(weights).scatter(-1, index, top / top.sum(-1, keepdim=True))
        y = torch.einsum("bsn,enm->bsem", x, self.a)
        return torch.einsum("bsem,emn,bse->bsn", F.gelu(y), self.b, weights)


class LinearAttention(nn.Module):
    def __init__(self, n=12):
        super().__init__()
        self.q, self.k, self.v = nn.Linear(n, n), nn.Linear(n, n), nn.Linear(n, n)

    def forward(self, x):
        q, k, v = F.elu(self.q(x)) + 1, F.elu(self.k(x)) + 1, self.v(x)
        kv = torch.cumsum(torch.einsum("bsi,bsj->bsij", k, v), 1)
        return torch.einsum("bsi,bsij->bsj", q, kv) / (q * torch.cumsum(k, 1)).sum(-1, keepdim=True)


class StateSpace(nn.Module):
    """A selective scan, step after step."""

    def __init__(self, n=8, state=4):
        super().__init__()
        self.enter, self.conv = nn.Linear(6, 2 * n), nn.Conv1d(n, n, 3, padding=2, groups=n)
        self.step, self.b, self.c = nn.Linear(n, n), nn.Linear(n, state), nn.Linear(n, state)
        self.a, self.out = nn.Parameter(torch.rand(n, state)), nn.Linear(n, 6)

    def forward(self, x):
        x, gate = self.enter(x).chunk(2, -1)
        x = F.silu(self.conv(x.transpose(1, 2))[..., :x.shape[1]]).transpose(1, 2)
        step, b, c = F.softplus(self.step(x)), self.b(x), self.c(x)
        decay, add = torch.exp(-step[..., None] * self.a.exp()), (step * x)[..., None] * b[:, :, None]
        h, ys = torch.zeros_like(add[:, 0]), []
        for t in range(x.shape[1]):
            h = decay[:, t] * h + add[:, t]
            ys.append((h * c[:, t, None]).sum(-1))
        return self.out(torch.stack(ys, 1) * F.silu(gate))


class Mixer(nn.Module):
    def __init__(self, tokens=9, n=12):
        super().__init__()
        self.patch, self.norm1, self.norm2 = nn.Conv2d(3, n, 4, 4), nn.LayerNorm(n), nn.LayerNorm(n)
        self.across = nn.Sequential(nn.Linear(tokens, 16), nn.GELU(), nn.Linear(16, tokens))
        self.within, self.head = nn.Sequential(nn.Linear(n, 24), nn.GELU(), nn.Linear(24, n)), nn.Linear(n, 10)

    def forward(self, x):
        x = self.patch(x).flatten(2).transpose(1, 2)
        x = x + self.across(self.norm1(x).transpose(1, 2)).transpose(1, 2)
        return self.head((x + self.within(self.norm2(x))).mean(1))


class Recommender(nn.Module):
    """Embeddings of categories, a bottom network, products of all pairs, a top network."""

    def __init__(self, sizes=(10, 7, 13), n=8):
        super().__init__()
        self.tables = nn.ModuleList([nn.Embedding(size, n) for size in sizes])
        self.bottom = nn.Sequential(nn.Linear(5, 12), nn.ReLU(), nn.Linear(12, n), nn.ReLU())
        self.top = nn.Sequential(nn.Linear(n + 6, 16), nn.ReLU(), nn.Linear(16, 1))
        self.register_buffer("pairs", torch.tril_indices(4, 4, -1), persistent=False)

    def forward(self, dense, sparse):
        x = self.bottom(dense)
        rows = torch.stack([x] + [table(sparse[:, i]) for i, table in enumerate(self.tables)], 1)
        products = rows @ rows.transpose(1, 2)
        return torch.sigmoid(self.top(torch.cat([x, products[:, self.pairs[0], self.pairs[1]]], 1)))


class DeepFm(nn.Module):
    def __init__(self, fields=4, size=12, n=6):
        super().__init__()
        self.first, self.second = nn.Embedding(size, 1), nn.Embedding(size, n)
        self.deep = nn.Sequential(nn.Linear(fields * n, 16), nn.ReLU(), nn.Dropout(0.1), nn.Linear(16, 1))

    def forward(self, x):
        e = self.second(x)
        pairs = 0.5 * (e.sum(1).square() - e.square().sum(1)).sum(1, keepdim=True)
        return self.first(x).sum(1) + pairs + self.deep(e.flatten(1))


class Bags(nn.Module):
    """Sums of embeddings by segment, written as a scatter."""

    def __init__(self):
        super().__init__()
        self.table, self.head = nn.Embedding(15, 8), nn.Linear(8, 3)

    def forward(self, ids, owner):
        rows = self.table(ids)
        sums = torch.zeros(4, 8, dtype=rows.dtype).index_add(0, owner, rows)
        return self.head(sums)


class Messages(nn.Module):
    """Two rounds of messages along edges: gathered, computed, added up where they arrive."""

    def __init__(self, n=8):
        super().__init__()
        self.enter = nn.Linear(5, n)
        self.edge = nn.ModuleList([nn.Sequential(nn.Linear(2 * n + 2, n), nn.ReLU(), nn.Linear(n, n)) for _ in range(2)])
        self.node, self.head = nn.ModuleList([nn.GRUCell(n, n) for _ in range(2)]), nn.Linear(n, 3)

    def forward(self, nodes, edges, features):
        x = self.enter(nodes)
        for edge, node in zip(self.edge, self.node):
            m = edge(torch.cat([x[edges[0]], x[edges[1]], features], 1))
            total = torch.zeros_like(x).scatter_add(0, edges[1][:, None].expand(-1, m.shape[1]), m)
            x = node(total, x)
        return self.head(x)


class GraphAttention(nn.Module):
    """Attention over neighbours, normalized by scatters; and over a dense adjacency."""

    def __init__(self, n=8):
        super().__init__()
        self.w, self.a, self.b, self.dense = nn.Linear(5, n), nn.Linear(n, 1), nn.Linear(n, 1), nn.Linear(n, 3)

    def forward(self, nodes, edges):
        x = self.w(nodes)
        score = torch.exp(F.leaky_relu(self.a(x)[edges[0]] + self.b(x)[edges[1]], 0.2))[:, 0]
        total = torch.zeros(x.shape[0], dtype=x.dtype).index_add(0, edges[1], score)
        weight = score / (total[edges[1]] + 1e-6)
        y = torch.zeros_like(x).index_add(0, edges[1], weight[:, None] * x[edges[0]])
        return self.dense(F.elu(y))


class GraphConvolution(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(6, 12), nn.Linear(12, 3)

    def forward(self, x, adjacency):
        degree = (adjacency.sum(-1) + 1).rsqrt()
        a = (adjacency + torch.eye(adjacency.shape[-1], dtype=x.dtype)) * degree[..., None] * degree[..., None, :]
        return (a @ self.b(F.relu(a @ self.a(x)))).log_softmax(-1)


class Points(nn.Module):
    """Points with a learned transformation, pooled by their maximum."""

    def __init__(self):
        super().__init__()
        self.turn = nn.Sequential(nn.Conv1d(3, 12, 1), nn.ReLU(), nn.AdaptiveMaxPool1d(1), nn.Flatten(), nn.Linear(12, 9))
        self.each, self.head = nn.Sequential(nn.Conv1d(3, 16, 1), nn.BatchNorm1d(16), nn.ReLU(), nn.Conv1d(16, 24, 1)), nn.Linear(24, 5)

    def forward(self, x):
        t = self.turn(x).view(-1, 3, 3) + torch.eye(3)
        return self.head(self.each(t @ x).amax(2))


class Neighbours(nn.Module):
    """Nearest points by distance, their features gathered."""

    def __init__(self, k=4):
        super().__init__()
        self.k, self.conv, self.head = k, nn.Conv2d(6, 12, 1), nn.Linear(12, 5)

    def forward(self, x):
        d = torch.cdist(x, x)
        index = d.topk(self.k, -1, largest=False).indices
        near = torch.stack([x[b][index[b]] for b in range(x.shape[0])])
        edge = torch.cat([near - x[:, :, None], x[:, :, None].expand_as(near)], -1).permute(0, 3, 1, 2)
        return self.head(F.leaky_relu(self.conv(edge)).amax(3).mean(2))


class Field(nn.Module):
    """A field of density and colour with encoded positions, and the sum along each ray."""

    def __init__(self, n=16, bands=3):
        super().__init__()
        self.bands = bands
        self.body = nn.Sequential(nn.Linear(3 + 6 * bands, n), nn.ReLU(), nn.Linear(n, n), nn.ReLU())
        self.density, self.colour = nn.Linear(n, 1), nn.Linear(n, 3)

    def forward(self, x):
        bands = [f(x * math.pi * 2 ** i) for i in range(self.bands) for f in (torch.sin, torch.cos)]
        y = self.body(torch.cat([x] + bands, -1))
        alpha = 1 - torch.exp(-F.softplus(self.density(y)[..., 0]) * 0.1)
        left = torch.exp(torch.cumsum(torch.log(1 - alpha + 1e-10), -1))
        weight = alpha * torch.cat([torch.ones_like(left[..., :1]), left[..., :-1]], -1)
        return (weight[..., None] * torch.sigmoid(self.colour(y))).sum(-2)


class Sines(nn.Module):
    def __init__(self, n=16):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(2, n), nn.Linear(n, n), nn.Linear(n, n)])
        self.head = nn.Linear(n, 3)

    def forward(self, x):
        for i, layer in enumerate(self.layers):
            x = torch.sin((10 if i == 0 else 1) * layer(x))
        return self.head(x)


class Differential(nn.Module):
    """Four steps of Runge and Kutta's method, with a small network as the field."""

    def __init__(self, n=8):
        super().__init__()
        self.a, self.b = nn.Linear(n + 1, 16), nn.Linear(16, n)

    def field(self, t, x):
        return self.b(torch.tanh(self.a(torch.cat([x, torch.full_like(x[:, :1], t)], 1))))

    def forward(self, x):
        h = 0.25
        for i in range(4):
            t = i * h
            k1 = self.field(t, x)
            k2 = self.field(t + h / 2, x + h / 2 * k1)
            k3 = self.field(t + h / 2, x + h / 2 * k2)
            k4 = self.field(t + h, x + h * k3)
            x = x + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        return x


class Tabular(nn.Module):
    """Each column a token; numbers scale a vector of their own."""

    def __init__(self, numbers=4, n=16):
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.randn(numbers, n)), nn.Parameter(torch.randn(numbers, n))
        self.table, self.first = nn.Embedding(9, n), nn.Parameter(torch.randn(1, 1, n))
        self.attention, self.norm = nn.MultiheadAttention(n, 2, batch_first=True), nn.LayerNorm(n)
        self.head = nn.Linear(n, 2)

    def forward(self, x, kinds):
        y = torch.cat([self.first.expand(x.shape[0], -1, -1), x[..., None] * self.weight + self.bias, self.table(kinds)], 1)
        y = y + self.attention(self.norm(y), self.norm(y), self.norm(y), need_weights=False)[0]
        return self.head(F.relu(y[:, 0]))


class Splines(nn.Module):
    """Layers whose edges are sums of basis functions."""

    def __init__(self, sizes=(3, 6, 2), grid=6):
        super().__init__()
        self.register_buffer("centers", torch.linspace(-2, 2, grid))
        self.weights = nn.ParameterList([nn.Parameter(torch.randn(n, m, grid) / 3) for n, m in zip(sizes, sizes[1:])])

    def forward(self, x):
        for w in self.weights:
            basis = torch.exp(-(x[..., None] - self.centers).square())
            x = torch.einsum("bng,nmg->bm", basis, w)
        return x


class Policy(nn.Module):
    """An actor and a critic with one body, mixture of Gaussians as the head."""

    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(7, 16), nn.Tanh(), nn.Linear(16, 16), nn.Tanh())
        self.mean, self.log, self.mix, self.value = nn.Linear(16, 6), nn.Linear(16, 6), nn.Linear(16, 3), nn.Linear(16, 1)

    def forward(self, x, action):
        y = self.body(x)
        mean, log = self.mean(y).view(-1, 3, 2), self.log(y).clamp(-3, 1).view(-1, 3, 2)
        parts = -0.5 * ((action[:, None] - mean) / log.exp()).square() - log
        return torch.logsumexp(parts.sum(-1) + self.mix(y).log_softmax(-1), -1), self.value(y)


class Siamese(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(1, 8, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(8 * 25, 12))

    def forward(self, a, b):
        return F.cosine_similarity(self.body(a), self.body(b), dim=1)


class Conformer(nn.Module):
    def __init__(self, n=16):
        super().__init__()
        self.norms = nn.ModuleList([nn.LayerNorm(n) for _ in range(4)])
        self.first, self.second, self.attention = Gated(n, 24), Gated(n, 24), Attention(n)
        self.enter, self.depth, self.norm, self.leave = nn.Conv1d(n, 2 * n, 1), nn.Conv1d(n, n, 5, padding=2, groups=n), nn.BatchNorm1d(n), nn.Conv1d(n, n, 1)

    def forward(self, x):
        x = x + 0.5 * self.first(self.norms[0](x))
        x = x + self.attention(self.norms[1](x))
        y = F.glu(self.enter(self.norms[2](x).transpose(1, 2)), 1)
        x = x + self.leave(F.silu(self.norm(self.depth(y)))).transpose(1, 2)
        return self.norms[3](x + 0.5 * self.second(x))


def tokens(vocabulary, length):
    return lambda b: (torch.randint(0, vocabulary, (b, length)),)


def numbers(*shape):
    return lambda b: (torch.randn(b, *shape),)


def graph(batch, nodes=6, edges=14):
    """As many graphs as the batch, as one graph."""
    start = torch.randint(0, nodes, (2, batch, edges)) + nodes * torch.arange(batch)[None, :, None]
    return torch.randn(batch * nodes, 5), start.flatten(1)


add("rnn", lambda: Recurrent(nn.RNN), tokens(20, 6))
add("lstm", lambda: Recurrent(nn.LSTM), tokens(20, 6))
add("lstm-2-bidirectional", lambda: Recurrent(nn.LSTM, 2, True), tokens(20, 5))
add("gru", lambda: Recurrent(nn.GRU), tokens(20, 6))
add("gru-2-bidirectional", lambda: Recurrent(nn.GRU, 2, True), tokens(20, 5))
add("gru-cells-attention", Cells, numbers(5, 6))
add("conv-lstm", ConvLstm, numbers(3, 3, 8, 8))
add("crnn", Crnn, lambda b: (torch.randn(b, 1, 16, 24),))
add("wavenet", WaveNet, numbers(1, 40))
add("temporal-convolutions", TemporalBlocks, numbers(3, 20))
add("vocoder", Vocoder, numbers(8, 10))
add("separator", Separator, numbers(1, 64))
add("language-rotary", Language, tokens(30, 7))
add("experts", Experts, numbers(5, 12))
add("linear-attention", LinearAttention, numbers(6, 12))
add("state-space", StateSpace, numbers(6, 6))
add("mixer", Mixer, lambda b: (torch.randn(b, 3, 12, 12),))
add("conformer", Conformer, numbers(9, 16))
add("transformer-encoder", lambda: nn.TransformerEncoderLayer(16, 2, 24, batch_first=True, activation="gelu"), numbers(6, 16))
add("transformer-decoder", lambda: nn.TransformerDecoderLayer(16, 2, 24, batch_first=True, norm_first=True),
    lambda b: (torch.randn(b, 5, 16), torch.randn(b, 7, 16)))
add("recommender", Recommender, lambda b: (torch.randn(b, 5), torch.randint(0, 7, (b, 3))), loss="mse")
add("deep-fm", DeepFm, tokens(12, 4), loss="mse")
add("bags", Bags, lambda b: (torch.randint(0, 15, (6 * b,)), torch.randint(0, 4, (6 * b,))))
add("messages", Messages, lambda b: (*graph(b), torch.randn(b * 14, 2)))
add("graph-attention", GraphAttention, graph)
add("graph-convolution", GraphConvolution, lambda b: (torch.randn(b, 7, 6), (torch.rand(b, 7, 7) > 0.6).float()))
add("points", Points, numbers(3, 20))
add("neighbours", Neighbours, numbers(12, 3))
add("field", Field, numbers(4, 6, 3))
add("sines", Sines, numbers(9, 2))
add("differential", Differential, numbers(8))
add("tabular", Tabular, lambda b: (torch.randn(b, 4), torch.randint(0, 9, (b, 3))))
add("splines", Splines, numbers(3))
add("policy", Policy, lambda b: (torch.randn(b, 7), torch.randn(b, 2)), loss="mse")
add("siamese", Siamese, lambda b: (torch.randn(b, 1, 12, 12), torch.randn(b, 1, 12, 12)), loss="mse")
