# SPDX-License-Identifier: Apache-2.0
"""Convolutional networks that no package has in a small size: U-Nets of several kinds, generators and decoders with transposed
convolutions, detectors' necks, splits and joins of channels, super-resolution, style transfer, volumes."""
import torch
import torch.nn.functional as F
from torch import nn

from zoo import model


def image(size, channels=3):
    return lambda batch: (torch.randn(batch, channels, size, size),)


def add(name, make, inputs, **options):
    @model("networks/" + name, **options)
    def build():
        return make(), inputs


def block(n, m, k=3, stride=1, groups=1, act=nn.ReLU):
    return nn.Sequential(nn.Conv2d(n, m, k, stride, k // 2, groups=groups, bias=False), nn.BatchNorm2d(m), act())


def twice(n, m, norm=nn.BatchNorm2d, act=nn.ReLU):
    return nn.Sequential(nn.Conv2d(n, m, 3, padding=1), norm(m), act(), nn.Conv2d(m, m, 3, padding=1), norm(m), act())


class UNet(nn.Module):
    """Down, across and up; what comes up is a transposed convolution or an interpolation."""

    def __init__(self, widths=(8, 16, 32), up="transposed", join="concat", norm=nn.BatchNorm2d, act=nn.ReLU, k=2):
        super().__init__()
        self.join, pairs = join, list(zip(widths, widths[1:]))
        self.down = nn.ModuleList([twice(3, widths[0], norm, act)] + [twice(n, m, norm, act) for n, m in pairs])
        if up == "transposed":
            self.up = nn.ModuleList([nn.ConvTranspose2d(m, n, k, 2, padding=(k - 2) // 2) for n, m in pairs[::-1]])
        elif up == "shuffle":
            self.up = nn.ModuleList([nn.Sequential(nn.Conv2d(m, 4 * n, 1), nn.PixelShuffle(2)) for n, m in pairs[::-1]])
        else:
            self.up = nn.ModuleList([nn.Sequential(nn.Upsample(scale_factor=2, mode=up, **({} if up == "nearest" else {"align_corners": False})),
                                                   nn.Conv2d(m, n, 1)) for n, m in pairs[::-1]])
        self.after = nn.ModuleList([twice(2 * n if join == "concat" else n, n, norm, act) for n, m in pairs[::-1]])
        self.head = nn.Conv2d(widths[0], 2, 1)

    def forward(self, x):
        kept = []
        for i, down in enumerate(self.down):
            x = down(x if i == 0 else F.max_pool2d(x, 2))
            kept.append(x)
        for up, after, side in zip(self.up, self.after, kept[-2::-1]):
            x = up(x)
            x = after(torch.cat([side, x], 1) if self.join == "concat" else side + x)
        return self.head(x)


class AttentionUNet(UNet):
    """What is joined is weighed by what comes up."""

    def __init__(self, widths=(8, 16, 24)):
        super().__init__(widths)
        pairs = list(zip(widths, widths[1:]))[::-1]
        self.gates = nn.ModuleList([nn.Sequential(nn.Conv2d(2 * n, n, 1), nn.ReLU(), nn.Conv2d(n, 1, 1), nn.Sigmoid()) for n, m in pairs])

    def forward(self, x):
        kept = []
        for i, down in enumerate(self.down):
            x = down(x if i == 0 else F.max_pool2d(x, 2))
            kept.append(x)
        for up, after, gate, side in zip(self.up, self.after, self.gates, kept[-2::-1]):
            x = up(x)
            x = after(torch.cat([side * gate(torch.cat([side, x], 1)), x], 1))
        return self.head(x)


class UNet3(nn.Module):
    """Every level of the decoder reads all levels."""

    def __init__(self, widths=(8, 12, 16), width=8):
        super().__init__()
        self.down = nn.ModuleList([twice(3, widths[0])] + [twice(n, m) for n, m in zip(widths, widths[1:])])
        self.across = nn.ModuleList([nn.ModuleList([block(n, width) for n in widths]) for _ in widths])
        self.after = nn.ModuleList([block(width * len(widths), n) for n in widths])
        self.head = nn.Conv2d(sum(widths), 2, 1)

    def forward(self, x):
        kept = []
        for i, down in enumerate(self.down):
            x = down(x if i == 0 else F.max_pool2d(x, 2))
            kept.append(x)
        levels = []
        for i, (across, after) in enumerate(zip(self.across, self.after)):
            parts = []
            for j, (conv, y) in enumerate(zip(across, kept)):
                if j < i:
                    y = F.max_pool2d(y, 2 ** (i - j))
                elif j > i:
                    y = F.interpolate(y, scale_factor=2 ** (j - i), mode="bilinear", align_corners=True)
                parts.append(conv(y))
            levels.append(after(torch.cat(parts, 1)))
        size = levels[0].shape[2:]
        return self.head(torch.cat([F.interpolate(y, size=size, mode="nearest") for y in levels], 1))


def generator(widths, z=16, norm=nn.BatchNorm2d):
    layers = [nn.ConvTranspose2d(z, widths[0], 4, 1, 0, bias=False), norm(widths[0]), nn.ReLU()]
    for n, m in zip(widths, widths[1:]):
        layers += [nn.ConvTranspose2d(n, m, 4, 2, 1, bias=False), norm(m), nn.ReLU()]
    return nn.Sequential(*layers, nn.ConvTranspose2d(widths[-1], 3, 4, 2, 1), nn.Tanh())


def discriminator(widths):
    layers = [nn.Conv2d(3, widths[0], 4, 2, 1), nn.LeakyReLU(0.2)]
    for n, m in zip(widths, widths[1:]):
        layers += [nn.Conv2d(n, m, 4, 2, 1, bias=False), nn.BatchNorm2d(m), nn.LeakyReLU(0.2)]
    return nn.Sequential(*layers, nn.Conv2d(widths[-1], 1, 4))


class Residual(nn.Module):
    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def forward(self, x):
        return x + self.inner(x)


def style_transfer(up):
    def conv(n, m, k, stride):
        return [nn.ReflectionPad2d(k // 2), nn.Conv2d(n, m, k, stride)]

    def rise(n, m):
        if up == "transposed":
            return [nn.ConvTranspose2d(n, m, 3, 2, 1, 1)]
        return [nn.Upsample(scale_factor=2, mode="nearest"), *conv(n, m, 3, 1)]

    def after(n):
        return [nn.InstanceNorm2d(n, affine=True), nn.ReLU()]

    return nn.Sequential(*conv(3, 8, 9, 1), *after(8), *conv(8, 16, 3, 2), *after(16), *conv(16, 24, 3, 2), *after(24),
                         Residual(nn.Sequential(*conv(24, 24, 3, 1), *after(24), *conv(24, 24, 3, 1), nn.InstanceNorm2d(24, affine=True))),
                         *rise(24, 16), *after(16), *rise(16, 8), *after(8), *conv(8, 3, 9, 1), nn.Tanh())


class StyleLayer(nn.Module):
    """A convolution whose weights a style scales and normalizes again; one convolution of groups for the whole batch."""

    def __init__(self, n, m, style, up):
        super().__init__()
        self.weight, self.scale, self.up = nn.Parameter(torch.randn(m, n, 3, 3)), nn.Linear(style, n), up

    def forward(self, x, style):
        batch = x.shape[0]
        w = self.weight[None] * self.scale(style)[:, None, :, None, None]
        w = w * torch.rsqrt(w.square().sum((2, 3, 4), keepdim=True) + 1e-8)
        if self.up:
            x = F.interpolate(x, scale_factor=2, mode="bilinear", align_corners=False)
        y = F.conv2d(x.reshape(1, -1, *x.shape[2:]), w.reshape(-1, *w.shape[2:]), padding=1, groups=batch)
        return F.leaky_relu(y.reshape(batch, -1, *y.shape[2:]), 0.2)


class StyleGenerator(nn.Module):
    def __init__(self):
        super().__init__()
        self.mapping = nn.Sequential(nn.Linear(12, 16), nn.LeakyReLU(0.2), nn.Linear(16, 16), nn.LeakyReLU(0.2))
        self.start = nn.Parameter(torch.randn(1, 16, 4, 4))
        self.layers = nn.ModuleList([StyleLayer(16, 16, 16, False), StyleLayer(16, 8, 16, True), StyleLayer(8, 8, 16, True)])
        self.image = nn.Conv2d(8, 3, 1)

    def forward(self, z):
        style = self.mapping(z * torch.rsqrt(z.square().mean(1, keepdim=True) + 1e-8))
        x = self.start.expand(z.shape[0], -1, -1, -1)
        for layer in self.layers:
            x = layer(x, style)
        return self.image(x)


class Csp(nn.Module):
    """Half of the channels go round the blocks."""

    def __init__(self, n, m, count, act=nn.SiLU):
        super().__init__()
        self.enter, self.leave = block(n, m, 1, act=act), block((2 + count) * (m // 2), m, 1, act=act)
        self.blocks = nn.ModuleList([Residual(nn.Sequential(block(m // 2, m // 2, act=act), block(m // 2, m // 2, act=act)))
                                     for _ in range(count)])

    def forward(self, x):
        parts = list(self.enter(x).chunk(2, 1))
        for inner in self.blocks:
            parts.append(inner(parts[-1]))
        return self.leave(torch.cat(parts, 1))


class PyramidPool(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.enter, self.leave = block(n, n // 2, 1, act=nn.SiLU), block(2 * n, n, 1, act=nn.SiLU)

    def forward(self, x):
        parts = [self.enter(x)]
        for _ in range(3):
            parts.append(F.max_pool2d(parts[-1], 5, 1, 2))
        return self.leave(torch.cat(parts, 1))


class Detector(nn.Module):
    """A backbone of split and joined channels, a neck down and up again, boxes from distributions over distances."""

    def __init__(self, w=(8, 16, 24, 32), classes=4, bins=4):
        super().__init__()
        self.bins, self.classes = bins, classes
        self.stem = nn.Sequential(block(3, w[0], 3, 2, act=nn.SiLU), block(w[0], w[1], 3, 2, act=nn.SiLU), Csp(w[1], w[1], 1))
        self.stage1 = nn.Sequential(block(w[1], w[2], 3, 2, act=nn.SiLU), Csp(w[2], w[2], 2))
        self.stage2 = nn.Sequential(block(w[2], w[3], 3, 2, act=nn.SiLU), Csp(w[3], w[3], 1), PyramidPool(w[3]))
        self.up1, self.up2 = Csp(w[3] + w[2], w[2], 1), Csp(w[2] + w[1], w[1], 1)
        self.fall1, self.fall2 = block(w[1], w[1], 3, 2, act=nn.SiLU), block(w[2], w[2], 3, 2, act=nn.SiLU)
        self.down1, self.down2 = Csp(w[1] + w[2], w[2], 1), Csp(w[2] + w[3], w[3], 1)
        self.heads = nn.ModuleList([nn.Conv2d(n, 4 * bins + classes, 1) for n in w[1:]])

    def forward(self, x):
        a = self.stem(x)
        b = self.stage1(a)
        c = self.stage2(b)
        b = self.up1(torch.cat([F.interpolate(c, scale_factor=2.0), b], 1))
        a = self.up2(torch.cat([F.interpolate(b, scale_factor=2.0), a], 1))
        b = self.down1(torch.cat([self.fall1(a), b], 1))
        c = self.down2(torch.cat([self.fall2(b), c], 1))
        y = torch.cat([head(level).flatten(2) for head, level in zip(self.heads, (a, b, c))], 2)
        box, kind = y.split([4 * self.bins, self.classes], 1)
        box = box.view(box.shape[0], 4, self.bins, -1).softmax(2)
        box = (box * torch.arange(self.bins, dtype=box.dtype)[None, None, :, None]).sum(2)
        near, far = box.chunk(2, 1)
        return torch.cat([(far - near) / 2, near + far, kind.sigmoid()], 1)


class Grid(nn.Module):
    """Three scales of anchors, as older detectors have them."""

    def __init__(self, anchors=3, classes=4):
        super().__init__()
        self.anchors, act = anchors, lambda: nn.LeakyReLU(0.1)
        self.a = nn.Sequential(block(3, 8, act=act), block(8, 16, 3, 2, act=act), block(16, 16, 3, 2, act=act))
        self.b, self.c = block(16, 24, 3, 2, act=act), block(24, 32, 3, 2, act=act)
        self.lateral, self.mix = block(32, 12, 1, act=act), block(36, 24, act=act)
        self.heads = nn.ModuleList([nn.Conv2d(n, anchors * (5 + classes), 1) for n in (32, 24)])

    def forward(self, x):
        b = self.b(self.a(x))
        c = self.c(b)
        b = self.mix(torch.cat([F.interpolate(self.lateral(c), scale_factor=2), b], 1))
        outputs = []
        for head, level in zip(self.heads, (c, b)):
            y = head(level)
            y = y.view(y.shape[0], self.anchors, -1, *y.shape[2:]).permute(0, 1, 3, 4, 2)
            outputs.append(torch.cat([y[..., :2].sigmoid(), y[..., 2:4].exp(), y[..., 4:].sigmoid()], -1).flatten(1, 3))
        return torch.cat(outputs, 1)


class BiFpn(nn.Module):
    """Weighed sums of levels, down and up."""

    def __init__(self, n=12):
        super().__init__()
        self.body = nn.ModuleList([block(3, n, 3, 2), block(n, n, 3, 2), block(n, n, 3, 2)])
        self.weights = nn.Parameter(torch.rand(4, 3))
        self.convs = nn.ModuleList([nn.Sequential(nn.Conv2d(n, n, 3, padding=1, groups=n), block(n, n, 1, act=nn.SiLU)) for _ in range(4)])

    def forward(self, x):
        levels = []
        for conv in self.body:
            x = conv(x)
            levels.append(x)
        w = F.relu(self.weights)
        w = w / (w.sum(1, keepdim=True) + 1e-4)
        a, b, c = levels
        middle = self.convs[0](w[0, 0] * b + w[0, 1] * F.interpolate(c, scale_factor=2))
        a2 = self.convs[1](w[1, 0] * a + w[1, 1] * F.interpolate(middle, scale_factor=2))
        b2 = self.convs[2](w[2, 0] * b + w[2, 1] * middle + w[2, 2] * F.max_pool2d(a2, 3, 2, 1))
        c2 = self.convs[3](w[3, 0] * c + w[3, 1] * F.max_pool2d(b2, 3, 2, 1))
        return a2, b2, c2


class Shuffled(nn.Module):
    """Channels are split, one half goes through, both are joined and shuffled; with a stride both halves go through."""

    def __init__(self, n=16, groups=2):
        super().__init__()
        h = n // 2
        self.groups, self.stem = groups, block(3, n)
        self.a = nn.Sequential(block(h, h, 1), nn.Conv2d(h, h, 3, 1, 1, groups=h), nn.BatchNorm2d(h), block(h, h, 1))
        self.b1 = nn.Sequential(nn.Conv2d(n, n, 3, 2, 1, groups=n), block(n, n, 1))
        self.b2 = nn.Sequential(block(n, n, 1), nn.Conv2d(n, n, 3, 2, 1, groups=n), block(n, n, 1))
        self.head = nn.Linear(2 * n, 10)

    def shuffle(self, x):
        b, c, h, w = x.shape
        return x.view(b, self.groups, c // self.groups, h, w).transpose(1, 2).reshape(b, c, h, w)

    def forward(self, x):
        left, right = self.stem(x).chunk(2, 1)
        x = self.shuffle(torch.cat([left, self.a(right)], 1))
        x = self.shuffle(torch.cat([self.b1(x), self.b2(x)], 1))
        return self.head(x.mean((2, 3)))


class Branches(nn.Module):
    """Branches of unlike widths, joined and split again at other places."""

    def __init__(self, widths=(8, 4, 12, 9), cut=(16, 17)):
        super().__init__()
        self.cut = list(cut)
        self.branches = nn.ModuleList([block(3, n, k) for n, k in zip(widths, (1, 3, 5, 3))])
        self.left, self.right = block(cut[0], 8), nn.Conv2d(cut[1], 8, 1)
        self.out = nn.Conv2d(24, 3, 3, padding=1)

    def forward(self, x):
        y = torch.cat([branch(x) for branch in self.branches], 1)
        a, b = y.split(self.cut, 1)
        a, b = self.left(a), self.right(b)
        return self.out(torch.cat([a, a * b, b], 1))


class Hourglass(nn.Module):
    def __init__(self, n=12, depth=3):
        super().__init__()
        self.side, self.low = Residual(twice(n, n)), Residual(twice(n, n))
        self.inner = Hourglass(n, depth - 1) if depth > 1 else Residual(twice(n, n))

    def forward(self, x):
        return self.side(x) + F.interpolate(self.inner(self.low(F.max_pool2d(x, 2))), scale_factor=2, mode="nearest")


class Resolutions(nn.Module):
    """Three resolutions at once, each a sum of all."""

    def __init__(self, w=(8, 12, 16)):
        super().__init__()
        self.stem = block(3, w[0])
        self.first = nn.ModuleList([block(w[0], w[0]), block(w[0], w[1], 3, 2), block(w[0], w[2], 3, 4)])
        self.fuse = nn.ModuleList([nn.ModuleList([nn.Conv2d(n, m, 1) if j >= i else nn.Conv2d(n, m, 3, 2 ** (i - j), 1)
                                                  for j, n in enumerate(w)]) for i, m in enumerate(w)])
        self.head = nn.Conv2d(sum(w), 4, 1)

    def forward(self, x):
        x = self.stem(x)
        levels = [conv(x) for conv in self.first]
        mixed = []
        for i, row in enumerate(self.fuse):
            y = sum(F.interpolate(conv(level), size=levels[i].shape[2:], mode="bilinear", align_corners=True) if j > i else conv(level)
                    for j, (conv, level) in enumerate(zip(row, levels)))
            mixed.append(F.relu(y))
        size = mixed[0].shape[2:]
        return self.head(torch.cat([F.interpolate(y, size=size, mode="bilinear", align_corners=False) for y in mixed], 1))


class Fire(nn.Module):
    """Squeeze and two expansions, joined: at widths of half a block, a block and more."""

    def __init__(self, n, s, e1, e3):
        super().__init__()
        self.squeeze, self.one, self.three = nn.Conv2d(n, s, 1), nn.Conv2d(s, e1, 1), nn.Conv2d(s, e3, 3, padding=1)

    def forward(self, x):
        x = F.relu(self.squeeze(x))
        return torch.cat([F.relu(self.one(x)), F.relu(self.three(x))], 1)


class DenseSr(nn.Module):
    """Residual dense blocks, then sub-pixel convolution."""

    def __init__(self, n=12, grow=6, r=2):
        super().__init__()
        self.head = nn.Conv2d(3, n, 3, padding=1)
        self.dense = nn.ModuleList([nn.Conv2d(n + i * grow, grow, 3, padding=1) for i in range(3)])
        self.join, self.up = nn.Conv2d(n + 3 * grow, n, 1), nn.Conv2d(n, 3 * r * r, 3, padding=1)
        self.shuffle = nn.PixelShuffle(r)

    def forward(self, x):
        x = y = self.head(x)
        for conv in self.dense:
            y = torch.cat([y, F.leaky_relu(conv(y), 0.2)], 1)
        return self.shuffle(self.up(x + 0.2 * self.join(y)))


class ChannelAttention(nn.Module):
    def __init__(self, n=16):
        super().__init__()
        self.head, self.body, self.tail = nn.Conv2d(3, n, 3, padding=1), twice(n, n, nn.Identity), nn.Conv2d(n, 12, 3, padding=1)
        self.squeeze = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Conv2d(n, 4, 1), nn.PReLU(4), nn.Conv2d(4, n, 1), nn.Sigmoid())

    def forward(self, x):
        x = self.head(x)
        y = self.body(x)
        return F.pixel_shuffle(self.tail(x + y * self.squeeze(y)), 2)


class NonLocal(nn.Module):
    def __init__(self, n=16):
        super().__init__()
        self.stem, self.q, self.k, self.v = block(3, n, 3, 2), nn.Conv2d(n, n // 2, 1), nn.Conv2d(n, n // 2, 1), nn.Conv2d(n, n // 2, 1)
        self.out = nn.Sequential(nn.Conv2d(n // 2, n, 1), nn.BatchNorm2d(n))

    def forward(self, x):
        x = self.stem(x)
        q, k, v = (f(x).flatten(2) for f in (self.q, self.k, self.v))
        y = (q.transpose(1, 2) @ k).softmax(-1) @ v.transpose(1, 2)
        return x + self.out(y.transpose(1, 2).reshape(x.shape[0], -1, *x.shape[2:]))


class Flow(nn.Module):
    """Affine couplings: halves change each other; the result keeps every element."""

    def __init__(self, n=12, steps=3):
        super().__init__()
        self.scale = nn.ParameterList([nn.Parameter(torch.rand(1, n, 1, 1) + 0.5) for _ in range(steps)])
        self.mix = nn.ModuleList([nn.Conv2d(n, n, 1, bias=False) for _ in range(steps)])
        self.nets = nn.ModuleList([nn.Sequential(nn.Conv2d(n // 2, 16, 3, padding=1), nn.ReLU(), nn.Conv2d(16, n, 3, padding=1))
                                   for _ in range(steps)])

    def forward(self, x):
        x, total = F.pixel_unshuffle(x, 2), 0
        for scale, mix, net in zip(self.scale, self.mix, self.nets):
            a, b = mix(x * scale).split(6, 1)
            log, shift = net(a).chunk(2, 1)
            log = torch.tanh(log)
            x, total = torch.cat([a, b * log.exp() + shift], 1), total + log.sum((1, 2, 3))
        return x, total


class Vae(nn.Module):
    def __init__(self):
        super().__init__()
        self.down = nn.Sequential(nn.Conv2d(3, 8, 3, 2, 1), nn.ELU(), nn.Conv2d(8, 16, 3, 2, 1), nn.ELU(), nn.Flatten())
        self.mean, self.log, self.enter = nn.Linear(256, 8), nn.Linear(256, 8), nn.Linear(8, 256)
        self.up = nn.Sequential(nn.ConvTranspose2d(16, 8, 3, 2, 1, 1), nn.ELU(), nn.ConvTranspose2d(8, 3, 3, 2, 1, 1), nn.Sigmoid())

    def forward(self, x, noise):
        y = self.down(x)
        mean, log = self.mean(y), self.log(y)
        z = mean + noise * (log / 2).exp()
        return self.up(self.enter(z).view(-1, 16, 4, 4)), mean, log


class Transposed(nn.Module):
    """Transposed convolutions of every kind beside each other: groups, dilation, output padding, unlike strides."""

    def __init__(self):
        super().__init__()
        self.a = nn.ConvTranspose2d(8, 16, 3, 2, 1, 1, groups=4)
        self.b = nn.ConvTranspose2d(8, 16, 2, 2)
        self.c = nn.ConvTranspose2d(8, 16, (3, 4), (2, 2), (1, 1), (1, 0))
        self.d = nn.ConvTranspose2d(16, 16, 3, 1, 2, dilation=2, groups=16)
        self.stem, self.out = block(3, 8), nn.ConvTranspose2d(48, 3, 5, 1, 2)

    def forward(self, x):
        x = self.stem(x)
        return self.out(torch.cat([F.relu(self.a(x)), self.d(F.relu(self.b(x))), self.c(x)], 1))


class GhostModule(nn.Module):
    def __init__(self, n, m):
        super().__init__()
        self.primary, self.cheap = block(n, m // 2, 1), block(m // 2, m // 2, 3, groups=m // 2)

    def forward(self, x):
        x = self.primary(x)
        return torch.cat([x, self.cheap(x)], 1)


class Capsules(nn.Module):
    """Two rounds of routing by agreement."""

    def __init__(self):
        super().__init__()
        self.conv, self.primary = nn.Conv2d(1, 16, 5, 2), nn.Conv2d(16, 32, 3, 2)
        self.w = nn.Parameter(torch.randn(1, 4 * 4, 5, 6, 8) * 0.3)

    @staticmethod
    def squash(x):
        n = (x * x).sum(-1, keepdim=True)
        return x * n / (1 + n) / torch.sqrt(n + 1e-8)

    def forward(self, x):
        x = self.primary(F.relu(self.conv(x)))[:, :, :2, :2]
        x = self.squash(x.reshape(x.shape[0], 16, 8))
        u = (self.w @ x[:, :, None, :, None]).squeeze(-1)
        logits = torch.zeros(u.shape[0], 16, 5, 1)
        for i in range(2):
            v = self.squash((logits.softmax(2) * u).sum(1, keepdim=True))
            if i == 0:
                logits = logits + (u * v).sum(-1, keepdim=True)
        return v.squeeze(1).square().sum(-1).sqrt()


class UNet3d(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Sequential(nn.Conv3d(1, 8, 3, padding=1), nn.InstanceNorm3d(8, affine=True), nn.LeakyReLU()), nn.Conv3d(8, 16, 3, 2, 1)
        self.up, self.c, self.out = nn.ConvTranspose3d(16, 8, 2, 2), nn.Conv3d(16, 8, 3, padding=1), nn.Conv3d(8, 2, 1)

    def forward(self, x):
        a = self.a(x)
        return self.out(F.leaky_relu(self.c(torch.cat([a, self.up(F.relu(self.b(a)))], 1))))


class MultiTask(nn.Module):
    """One body, three heads; the loss is made of the second."""

    def __init__(self):
        super().__init__()
        self.body, self.kind = nn.Sequential(block(3, 16, 3, 2), block(16, 24, 3, 2)), nn.Linear(24, 5)
        self.depth, self.mask = nn.ConvTranspose2d(24, 1, 4, 4), nn.Conv2d(24, 2, 1)

    def forward(self, x):
        x = self.body(x)
        return self.kind(x.mean((2, 3))), F.softplus(self.depth(x)), self.mask(x).log_softmax(1)


class Normalized(nn.Module):
    """Every normalization there is, one after the other."""

    def __init__(self):
        super().__init__()
        self.convs = nn.ModuleList([nn.Conv2d(3 if i == 0 else 16, 16, 3, padding=1) for i in range(5)])
        self.norms = nn.ModuleList([nn.BatchNorm2d(16), nn.GroupNorm(4, 16), nn.InstanceNorm2d(16, affine=True), nn.LayerNorm([16, 12, 12]),
                                    nn.LocalResponseNorm(5)])
        self.acts = [F.relu6, F.hardswish, F.mish, F.gelu, F.softsign]

    def forward(self, x):
        for conv, norm, act in zip(self.convs, self.norms, self.acts):
            x = act(norm(conv(x)))
        return F.normalize(x.flatten(1), dim=1)


class TrainedNorm(nn.Module):
    """Batch normalization over the batch's own mean and variance."""

    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Conv2d(3, 16, 3, padding=1), nn.Conv2d(16, 12, 3, 2, 1)
        self.scale, self.bias = nn.Parameter(torch.rand(16) + 0.5), nn.Parameter(torch.randn(16))

    def forward(self, x):
        x = self.a(x)
        mean = x.mean((0, 2, 3), keepdim=True)
        variance = (x - mean).square().mean((0, 2, 3), keepdim=True)
        x = (x - mean) * torch.rsqrt(variance + 1e-5) * self.scale.view(1, -1, 1, 1) + self.bias.view(1, -1, 1, 1)
        return self.b(F.silu(x))


add("unet", UNet, image(32))
add("unet-odd-widths", lambda: UNet((6, 10, 18)), image(32))
add("unet-block-widths", lambda: UNet((16, 32, 64)), image(16))
add("unet-bilinear", lambda: UNet(up="bilinear"), image(32))
add("unet-nearest-sum", lambda: UNet(up="nearest", join="sum"), image(32))
add("unet-kernel-4-instance", lambda: UNet(k=4, norm=lambda n: nn.InstanceNorm2d(n, affine=True), act=nn.LeakyReLU), image(32))
add("unet-shuffle-group", lambda: UNet(up="shuffle", norm=lambda n: nn.GroupNorm(4, n), act=nn.SiLU), image(32))
add("unet-attention", AttentionUNet, image(32))
add("unet-3-plus", UNet3, image(32))
add("unet-3d", UNet3d, lambda b: (torch.randn(b, 1, 8, 8, 8),))
add("dcgan-generator", lambda: generator((32, 16, 8)), lambda b: (torch.randn(b, 16, 1, 1),))
add("dcgan-generator-wide", lambda: generator((64, 48), 24), lambda b: (torch.randn(b, 24, 1, 1),))
add("dcgan-discriminator", lambda: discriminator((8, 16, 32)), image(32))
add("style-transfer", lambda: style_transfer("nearest"), image(32))
add("cycle-gan-generator", lambda: style_transfer("transposed"), image(32))
add("style-generator", StyleGenerator, lambda b: (torch.randn(b, 12),))
add("detector-csp", Detector, image(64))
add("detector-grid", Grid, image(64))
add("detector-bifpn", BiFpn, image(32))
add("shuffle-block", Shuffled, image(16))
add("shuffle-block-48", lambda: Shuffled(48, 3), image(12))
add("branches", Branches, image(12))
add("branches-of-blocks", lambda: Branches((16, 16, 8, 8), (24, 24)), image(12))
add("fire-8", lambda: nn.Sequential(nn.Conv2d(3, 16, 3, 2), Fire(16, 4, 8, 8), Fire(16, 8, 12, 4), nn.Conv2d(16, 5, 1)), image(24))
add("fire-64", lambda: nn.Sequential(nn.Conv2d(3, 32, 3, 2), Fire(32, 16, 64, 64), Fire(128, 16, 16, 16), nn.Conv2d(32, 5, 1)), image(16))
add("hourglass", lambda: nn.Sequential(block(3, 12), Hourglass(), nn.Conv2d(12, 4, 1)), image(32))
add("resolutions", Resolutions, image(32))
add("super-resolution-dense", DenseSr, image(16))
add("super-resolution-attention", ChannelAttention, image(16))
add("super-resolution-transposed", lambda: nn.Sequential(nn.Conv2d(1, 12, 5, padding=2), nn.PReLU(12), nn.Conv2d(12, 6, 1), nn.PReLU(6),
    nn.Conv2d(6, 6, 3, padding=1), nn.PReLU(6), nn.Conv2d(6, 12, 1), nn.PReLU(12), nn.ConvTranspose2d(12, 1, 9, 3, 4, 2)), image(12, 1))
add("super-resolution-subpixel", lambda: nn.Sequential(nn.Conv2d(1, 16, 5, padding=2), nn.Tanh(), nn.Conv2d(16, 8, 3, padding=1), nn.Tanh(),
    nn.Conv2d(8, 9, 3, padding=1), nn.PixelShuffle(3)), image(16, 1))
add("non-local", NonLocal, image(16))
add("flow", Flow, image(12))
add("vae", Vae, lambda b: (torch.rand(b, 3, 16, 16), torch.randn(b, 8)))
add("transposed-kinds", Transposed, image(10))
add("ghost", lambda: nn.Sequential(GhostModule(3, 16), GhostModule(16, 24), nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Linear(96, 5)), image(16))
add("capsules", Capsules, image(20, 1))
add("multi-task", MultiTask, image(16), output=1, loss="mse")
add("normalizations", Normalized, image(12))
add("normalized-by-batch", TrainedNorm, image(12), batches=(2, 3))
add("lenet", lambda: nn.Sequential(nn.Conv2d(1, 6, 5), nn.Tanh(), nn.AvgPool2d(2), nn.Conv2d(6, 16, 5), nn.Tanh(), nn.AvgPool2d(2), nn.Flatten(),
    nn.Linear(256, 84), nn.Tanh(), nn.Linear(84, 10)), image(28, 1))
add("autoencoder", lambda: nn.Sequential(nn.Conv2d(1, 8, 3, 2, 1), nn.ReLU(), nn.Conv2d(8, 16, 3, 2, 1), nn.ReLU(), nn.Conv2d(16, 24, 4),
    nn.ConvTranspose2d(24, 16, 4), nn.ReLU(), nn.ConvTranspose2d(16, 8, 3, 2, 1, 1), nn.ReLU(), nn.ConvTranspose2d(8, 1, 3, 2, 1, 1)), image(16, 1))
