#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What PyTorch makes of the programs of tools/gpu-programs.py, on the GPU, for tools/gpu-check: one line of JSON for each NAME.

product-N and product-M-N-K: torch.matmul of bf16, which calls cuBLASLt or cuBLAS, replayed as a CUDA graph. bert-B-LENGTH-DIM and resnet50-B-SIZE: the same networks by
torch.compile, bf16; with -training behind the name one step of plain gradient descent. Times are of the GPU, by events, after
10 runs that are not counted: {"name", "median", "min", "max", "n"} in milliseconds. TF32 is off. Exit status 1 where there is no PyTorch
or no GPU.

Usage: peer-torch.py NAME...
"""
import json
import statistics
import sys

try:
    import torch
    import torch.nn.functional as F
    from torch import nn
except ImportError as why:
    sys.exit("peer-torch.py: not measured: %s" % why)

STAGES = [(3, 64, 1), (4, 128, 2), (6, 256, 2), (3, 512, 2)]


class Scaled(nn.Module):
    """A convolution, then a scale and a bias for each channel."""

    def __init__(self, channels, out, k, stride):
        super().__init__()
        self.conv = nn.Conv2d(channels, out, k, stride, (k - 1) // 2, bias=False)
        self.scale, self.bias = nn.Parameter(torch.rand(1, out, 1, 1)), nn.Parameter(torch.rand(1, out, 1, 1))

    def forward(self, x):
        return self.conv(x) * self.scale + self.bias


class Block(nn.Module):
    def __init__(self, channels, width, stride, first):
        super().__init__()
        self.reduce, self.conv = Scaled(channels, width, 1, 1), Scaled(width, width, 3, stride)
        self.expand = Scaled(width, 4 * width, 1, 1)
        self.project = Scaled(channels, 4 * width, 1, stride) if first else None

    def forward(self, x):
        y = self.expand(F.relu(self.conv(F.relu(self.reduce(x)))))
        return F.relu(y + (self.project(x) if self.project is not None else x))


class ResNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem, blocks, channels = Scaled(3, 64, 7, 2), [], 64
        for n, width, stride in STAGES:
            for i in range(n):
                blocks.append(Block(channels, width, stride if i == 0 else 1, i == 0))
                channels = 4 * width
        self.blocks, self.head = nn.Sequential(*blocks), nn.Linear(channels, 1000)

    def forward(self, x):
        x = self.blocks(F.max_pool2d(F.relu(self.stem(x)), 3, 2, 1))
        return self.head(x.mean((2, 3))).float()


class Layer(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.heads = max(1, dim // 64)
        self.query, self.key, self.value, self.out = (nn.Linear(dim, dim) for _ in range(4))
        self.up, self.down = nn.Linear(dim, 4 * dim), nn.Linear(4 * dim, dim)
        self.norm1, self.norm2 = nn.LayerNorm(dim), nn.LayerNorm(dim)

    def forward(self, x):
        b, s, d = x.shape
        q, k, v = (f(x).view(b, s, self.heads, d // self.heads).transpose(1, 2) for f in (self.query, self.key, self.value))
        y = F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(b, s, d)
        x = self.norm1(x + self.out(y))
        return self.norm2(x + self.down(F.gelu(self.up(x), approximate="tanh")))


class Bert(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.layers = nn.Sequential(Layer(dim), Layer(dim))

    def forward(self, x):
        return self.layers(x).float()


def time_of(step, runs=30):
    for _ in range(10):
        step()
    times = []
    for _ in range(runs):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        step()
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end))
    return {"median": statistics.median(times), "min": min(times), "max": max(times), "n": runs}


def graph_of(step):
    """As on the other side: what is compared is the work on the GPU, not Python."""
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            step()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step()
    return graph.replay


def network(kind, sizes):
    if kind == "bert":
        return Bert(sizes[2]), torch.randn(sizes[0], sizes[1], sizes[2])
    return ResNet().to(memory_format=torch.channels_last), torch.randn(sizes[0], 3, sizes[1], sizes[1]).to(memory_format=torch.channels_last)


def measure(name):
    kind, *sizes = name.removesuffix("-training").split("-")
    sizes = [int(s) for s in sizes]
    if kind == "product":
        m, n, k = sizes if len(sizes) == 3 else sizes * 3
        a = torch.randn(m, k, device="cuda", dtype=torch.bfloat16)
        b = torch.randn(k, n, device="cuda", dtype=torch.bfloat16)
        return time_of(graph_of(lambda: torch.matmul(a, b)))
    if kind not in ("bert", "resnet50"):
        sys.exit("peer-torch.py: no program is called %s" % name)
    model, x = network(kind, sizes)
    model, x = model.to("cuda", torch.bfloat16), x.to("cuda", torch.bfloat16)
    if not name.endswith("-training"):
        # As CUDA graphs: what is compared is the work on the GPU, not Python.
        compiled = torch.compile(model, mode="reduce-overhead")
        with torch.no_grad():
            return time_of(lambda: compiled(x))

    loss_of = torch.compile(lambda y: model(y).square().mean())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, fused=True)

    def step():
        optimizer.zero_grad(set_to_none=True)
        loss_of(x).backward()
        optimizer.step()

    return time_of(step)


def main():
    if not torch.cuda.is_available():
        sys.exit("peer-torch.py: not measured: PyTorch finds no GPU")
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    torch.backends.cudnn.benchmark = True
    for name in sys.argv[1:]:
        try:
            print(json.dumps(dict(name=name, torch=torch.__version__, **measure(name))), flush=True)
        except RuntimeError as why:
            print("peer-torch.py: %s: %s" % (name, str(why)[:400]), file=sys.stderr)


if __name__ == "__main__":
    main()
