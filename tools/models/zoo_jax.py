# SPDX-License-Identifier: Apache-2.0
"""Networks written in JAX and with flax, turned into ONNX by jax2onnx.

A network is (function of a dictionary of weights and the inputs, the weights, function of a generator and a batch size to inputs)."""
import math

import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx
from jax import lax

from zoo import model


def add(name, **options):
    def register(make):
        model("jax/" + name, exporter="jax", **options)(make)
        return make
    return register


def normal(*shape):
    return lambda random, batch: [random.standard_normal((batch, *shape)).astype(np.float32)]


class Weights:
    """Makes the dictionary of weights while a network is described."""

    def __init__(self, random):
        self.random, self.all = random, {}

    def __call__(self, name, *shape, scale=None):
        fan = math.prod(shape[:-1]) or 1
        self.all[name] = (self.random.standard_normal(shape) * (scale or fan ** -0.5)).astype(np.float32)
        return self

    def dense(self, name, n, m):
        return self(name + "/w", n, m)(name + "/b", m, scale=0.1)

    def norm(self, name, n):
        self.all[name + "/s"] = self.random.uniform(0.5, 1.5, n).astype(np.float32)
        return self(name + "/b", n, scale=0.1)


def dense(p, name, x):
    return x @ p[name + "/w"] + p[name + "/b"]


def layer_norm(p, name, x):
    x = x - x.mean(-1, keepdims=True)
    return x * lax.rsqrt((x * x).mean(-1, keepdims=True) + 1e-5) * p[name + "/s"] + p[name + "/b"]


def conv(p, name, x, stride=1, groups=1, padding="SAME", dilation=1):
    return lax.conv_general_dilated(x, p[name + "/w"], (stride, stride), padding, rhs_dilation=(dilation, dilation),
                                    dimension_numbers=("NHWC", "HWIO", "NHWC"), feature_group_count=groups) + p[name + "/b"]


def pool(f, x):
    b, h, w, n = x.shape
    return f(x.reshape(b, h // 2, 2, w // 2, 2, n), (2, 4))


def conv_up(p, name, x):
    """jax2onnx cannot write transposed convolutions (0.13 writes ones of another size)."""
    return conv(p, name, jnp.repeat(jnp.repeat(x, 2, 1), 2, 2))


def kernel(w, name, k, n, m):
    return w(name + "/w", k, k, n, m)(name + "/b", m, scale=0.1)


@add("mlp")
def mlp(random):
    w = Weights(random).dense("a", 6, 16).dense("b", 16, 16).dense("c", 16, 4)
    return lambda p, x: dense(p, "c", jnp.tanh(dense(p, "b", jax.nn.relu(dense(p, "a", x))))), w.all, normal(6)


@add("mlp-gated")
def mlp_gated(random):
    w = Weights(random).dense("a", 8, 24).dense("b", 8, 24).dense("c", 24, 8).norm("n", 8)
    return lambda p, x: x + dense(p, "c", jax.nn.silu(dense(p, "a", layer_norm(p, "n", x))) * dense(p, "b", x)), w.all, normal(5, 8)


@add("convnet")
def convnet(random):
    w = kernel(kernel(Weights(random), "a", 3, 3, 8), "b", 3, 8, 16).dense("c", 16, 10)

    def net(p, x):
        x = jax.nn.relu(conv(p, "a", x))
        return dense(p, "c", jax.nn.gelu(conv(p, "b", pool(jnp.max, x), 2)).mean((1, 2)))
    return net, w.all, normal(12, 12, 3)


@add("resnet")
def resnet(random):
    w = kernel(kernel(kernel(kernel(Weights(random), "stem", 3, 3, 16), "a", 3, 16, 16), "b", 3, 16, 16), "side", 1, 16, 24)
    kernel(kernel(w, "c", 3, 16, 24), "d", 3, 24, 24).norm("n", 16).dense("head", 24, 5)

    def net(p, x):
        x = conv(p, "stem", x)
        x = x + conv(p, "b", jax.nn.relu(conv(p, "a", jax.nn.relu(layer_norm(p, "n", x)))))
        x = conv(p, "side", x, 2) + conv(p, "d", jax.nn.relu(conv(p, "c", x, 2)))
        return dense(p, "head", jax.nn.relu(x).mean((1, 2)))
    return net, w.all, normal(12, 12, 3)


@add("unet")
def unet(random):
    w = kernel(kernel(kernel(kernel(kernel(Weights(random), "a", 3, 3, 8), "b", 3, 8, 16), "up", 2, 16, 8), "c", 3, 16, 8), "d", 1, 8, 2)

    def net(p, x):
        a = jax.nn.relu(conv(p, "a", x))
        b = jax.nn.relu(conv(p, "b", a, 2))
        return conv(p, "d", jax.nn.relu(conv(p, "c", jnp.concatenate([a, conv_up(p, "up", b)], -1))))
    return net, w.all, normal(12, 12, 3)


@add("generator")
def generator(random):
    w = kernel(kernel(Weights(random).dense("a", 8, 4 * 4 * 16), "b", 4, 16, 8), "c", 4, 8, 3)
    return (lambda p, z: jnp.tanh(conv_up(p, "c", jax.nn.leaky_relu(conv_up(p, "b", dense(p, "a", z).reshape(-1, 4, 4, 16))))), w.all, normal(8))


@add("split-join")
def split_join(random):
    w = kernel(kernel(kernel(kernel(Weights(random), "a", 1, 3, 24), "b", 3, 8, 8), "c", 5, 16, 8), "d", 3, 16, 4)

    def net(p, x):
        left, right = jnp.split(conv(p, "a", x), [8], -1)
        return conv(p, "d", jnp.concatenate([jax.nn.relu(conv(p, "b", left)), jnp.tanh(conv(p, "c", right))], -1))
    return net, w.all, normal(10, 10, 3)


@add("depthwise")
def depthwise(random):
    w = kernel(kernel(kernel(Weights(random), "a", 1, 3, 16), "b", 3, 1, 16), "c", 1, 16, 8)
    w.dense("squeeze", 16, 4).dense("excite", 4, 16)

    def net(p, x):
        x = jax.nn.relu6(conv(p, "b", jax.nn.relu6(conv(p, "a", x)), 2, 16))
        gate = jax.nn.sigmoid(dense(p, "excite", jax.nn.relu(dense(p, "squeeze", x.mean((1, 2), keepdims=True)))))
        return conv(p, "c", x * gate)
    return net, w.all, normal(12, 12, 3)


@add("dilated")
def dilated(random):
    w = kernel(kernel(kernel(Weights(random), "a", 3, 3, 8), "b", 3, 8, 8), "c", 3, 8, 8)
    return (lambda p, x: conv(p, "c", jax.nn.elu(conv(p, "b", jax.nn.softplus(conv(p, "a", x)), dilation=2)), dilation=3),
            w.all, normal(12, 12, 3))


def attention(p, name, x, heads, causal):
    b, s, n = x.shape
    q, k, v = jnp.moveaxis(dense(p, name + "/qkv", x).reshape(b, s, 3, heads, n // heads), 2, 0)
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / math.sqrt(n // heads)
    if causal:
        scores = jnp.where(jnp.tril(jnp.ones((s, s), bool)), scores, -1e9)
    return dense(p, name + "/out", jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores), v).reshape(b, s, n))


def transformer(random, causal, layers=2, n=16):
    w = Weights(random)
    for i in range(layers):
        w.norm("n%d" % i, n).norm("m%d" % i, n).dense("a%d/qkv" % i, n, 3 * n).dense("a%d/out" % i, n, n)
        w.dense("u%d" % i, n, 24).dense("d%d" % i, 24, n)

    def body(p, x):
        for i in range(layers):
            x = x + attention(p, "a%d" % i, layer_norm(p, "n%d" % i, x), 2, causal)
            x = x + dense(p, "d%d" % i, jax.nn.gelu(dense(p, "u%d" % i, layer_norm(p, "m%d" % i, x))))
        return x
    return w, body


@add("encoder")
def encoder(random):
    w, body = transformer(random, False)
    return body, w.all, normal(6, 16)


@add("decoder")
def decoder(random):
    w, body = transformer(random, True)
    w("embed", 20, 16, scale=0.5)("position", 7, 16, scale=0.1)
    return (lambda p, ids: body(p, jnp.take(p["embed"], ids, axis=0) + p["position"]) @ p["embed"].T, w.all,
            lambda random, b: [random.integers(0, 20, (b, 7)).astype(np.int32)])


@add("vit")
def vit(random):
    w, body = transformer(random, False, 1)
    w("patch/w", 4, 4, 3, 16)("patch/b", 16, scale=0.1)("class", 1, 1, 16)("position", 1, 10, 16, scale=0.1).dense("head", 16, 10)

    def net(p, x):
        x = conv(p, "patch", x, 4, padding="VALID").reshape(x.shape[0], 9, 16)
        x = jnp.concatenate([jnp.broadcast_to(p["class"], (x.shape[0], 1, 16)), x], 1) + p["position"]
        return dense(p, "head", body(p, x)[:, 0])
    return net, w.all, normal(12, 12, 3)


@add("mixer")
def mixer(random):
    w = Weights(random).norm("n", 8).norm("m", 8).dense("a", 9, 12).dense("b", 12, 9).dense("c", 8, 16).dense("d", 16, 8)

    def net(p, x):
        y = jnp.swapaxes(layer_norm(p, "n", x), 1, 2)
        x = x + jnp.swapaxes(dense(p, "b", jax.nn.gelu(dense(p, "a", y))), 1, 2)
        return x + dense(p, "d", jax.nn.gelu(dense(p, "c", layer_norm(p, "m", x))))
    return net, w.all, normal(9, 8)


@add("lstm-scan")
def lstm_scan(random):
    w = Weights(random).dense("x", 6, 32)("h", 8, 32).dense("out", 8, 3)

    def net(p, x):
        def step(carry, x):
            h, c = carry
            i, f, g, o = jnp.split(dense(p, "x", x) + h @ p["h"], 4, -1)
            c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
            h = jax.nn.sigmoid(o) * jnp.tanh(c)
            return (h, c), h
        start = jnp.zeros((x.shape[0], 8), x.dtype)
        (h, _), _ = lax.scan(step, (start, start), jnp.swapaxes(x, 0, 1))
        return dense(p, "out", h)
    return net, w.all, normal(5, 6)


@add("gru-unrolled")
def gru_unrolled(random):
    w = Weights(random).dense("x", 4, 24)("h", 8, 24).dense("out", 8, 2)

    def net(p, x):
        h = jnp.zeros((x.shape[0], 8), x.dtype)
        for t in range(x.shape[1]):
            a, b = dense(p, "x", x[:, t]), h @ p["h"]
            r, z = jax.nn.sigmoid(a[:, :8] + b[:, :8]), jax.nn.sigmoid(a[:, 8:16] + b[:, 8:16])
            h = (1 - z) * jnp.tanh(a[:, 16:] + r * b[:, 16:]) + z * h
        return dense(p, "out", h)
    return net, w.all, normal(4, 4)


@add("state-space-scan")
def state_space_scan(random):
    w = Weights(random).dense("in", 3, 8)("a", 8, scale=0.5).dense("out", 8, 3)

    def net(p, x):
        u, decay = dense(p, "in", x), jnp.exp(-jnp.exp(p["a"]))
        def step(h, u):
            h = decay * h + u
            return h, h
        _, y = lax.scan(step, jnp.zeros((x.shape[0], 8), x.dtype), jnp.swapaxes(u, 0, 1))
        return dense(p, "out", jnp.swapaxes(y, 0, 1))
    return net, w.all, normal(7, 3)


@add("messages")
def messages(random):
    w = Weights(random).dense("in", 5, 8).dense("edge", 16, 8).dense("node", 16, 8).dense("out", 8, 3)

    def net(p, nodes, source, target):
        x = dense(p, "in", nodes)
        m = jax.nn.relu(dense(p, "edge", jnp.concatenate([x[source], x[target]], -1)))
        total = jnp.zeros_like(x).at[target].add(m)
        return dense(p, "out", jax.nn.relu(dense(p, "node", jnp.concatenate([x, total], -1))))
    return (net, w.all, lambda random, b: [random.standard_normal((6 * b, 5)).astype(np.float32),
                                           *(random.integers(0, 6 * b, 14 * b).astype(np.int32) for _ in "st")])


@add("recommender", loss="mse")
def recommender(random):
    w = Weights(random)("user", 12, 8, scale=0.5)("item", 15, 8, scale=0.5).dense("a", 24, 16).dense("b", 16, 1)

    def net(p, user, item):
        u, i = p["user"][user], p["item"][item]
        return dense(p, "b", jax.nn.relu(dense(p, "a", jnp.concatenate([u, i, u * i], -1)))), (u * i).sum(-1)
    return net, w.all, lambda random, b: [random.integers(0, 12, b).astype(np.int32), random.integers(0, 15, b).astype(np.int32)]


@add("vae")
def vae(random):
    w = Weights(random).dense("a", 12, 16).dense("m", 16, 4).dense("l", 16, 4).dense("b", 4, 16).dense("c", 16, 12)

    def net(p, x, noise):
        h = jax.nn.softplus(dense(p, "a", x))
        mean, log = dense(p, "m", h), dense(p, "l", h)
        return jax.nn.sigmoid(dense(p, "c", jnp.tanh(dense(p, "b", mean + jnp.exp(log / 2) * noise)))), mean, log
    return net, w.all, lambda random, b: [random.random((b, 12)).astype(np.float32), random.standard_normal((b, 4)).astype(np.float32)]


@add("coupling-flow")
def coupling_flow(random):
    w = Weights(random)
    for i in range(3):
        w.dense("a%d" % i, 3, 12).dense("b%d" % i, 12, 6)

    def net(p, x):
        total = 0
        for i in range(3):
            left, right = x[:, :3], x[:, 3:]
            log, shift = jnp.split(dense(p, "b%d" % i, jax.nn.relu(dense(p, "a%d" % i, left))), 2, -1)
            log = jnp.tanh(log)
            x, total = jnp.concatenate([right * jnp.exp(log) + shift, left], -1), total + log.sum(-1)
        return x, total
    return net, w.all, normal(6)


@add("fourier-field")
def fourier_field(random):
    w = Weights(random)("f", 2, 8, scale=2.0).dense("a", 16, 16).dense("b", 16, 3)
    return (lambda p, x: dense(p, "b", jnp.sin(dense(p, "a", jnp.concatenate([jnp.sin(x @ p["f"]), jnp.cos(x @ p["f"])], -1)))),
            w.all, normal(9, 2))


@add("cumulative")
def cumulative(random):
    w = Weights(random).dense("a", 5, 8).dense("b", 8, 2)
    return (lambda p, x: dense(p, "b", jnp.cumsum(jnp.tanh(dense(p, "a", x)), axis=1) / jnp.arange(1, 8)[:, None]), w.all, normal(7, 5))


@add("routed-experts")
def routed_experts(random):
    w = Weights(random).dense("gate", 6, 3)("up", 3, 6, 10)("down", 3, 10, 6)

    def net(p, x):
        gates = jax.nn.softmax(dense(p, "gate", x))
        return jnp.einsum("be,ebn->bn", gates, jnp.einsum("ebm,emn->ebn", jax.nn.gelu(jnp.einsum("bn,enm->ebm", x, p["up"])), p["down"]))
    return net, w.all, normal(6)


def of_nnx(make, inputs):
    """A module of flax as a function of its parameters."""
    def build(random):
        network = make(nnx.Rngs(int(random.integers(1 << 30))))
        graph, parameters, rest = nnx.split(network, nnx.Param, ...)
        flat = {"/".join(map(str, path)): value for path, value in nnx.to_flat_state(parameters)}
        paths = {"/".join(map(str, path)): path for path, _ in nnx.to_flat_state(parameters)}
        weights = {name: np.asarray(value[...]) for name, value in flat.items()}
        for name, value in weights.items():
            if value.min() == value.max():
                weights[name] = (value + random.uniform(-0.2, 0.2, value.shape)).astype(np.float32)

        def function(p, *x):
            state = nnx.from_flat_state({paths[name]: nnx.Param(jnp.asarray(p[name])) for name in p})
            return nnx.merge(graph, state, rest)(*x)
        return function, weights, inputs
    return build


class Small(nnx.Module):
    def __init__(self, rngs):
        self.a, self.b = nnx.Conv(3, 16, (3, 3), rngs=rngs), nnx.Conv(16, 8, (3, 3), strides=2, feature_group_count=4, rngs=rngs)
        self.norm, self.group = nnx.BatchNorm(16, use_running_average=True, rngs=rngs), nnx.GroupNorm(8, num_groups=2, rngs=rngs)
        self.head = nnx.Linear(8, 10, rngs=rngs)

    def __call__(self, x):
        x = pool(jnp.mean, nnx.relu(self.norm(self.a(x))))
        return self.head(nnx.silu(self.group(self.b(x))).mean((1, 2)))


add("flax-convnet")(of_nnx(Small, normal(12, 12, 3)))
