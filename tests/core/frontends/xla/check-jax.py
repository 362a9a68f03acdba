#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Programs of JAX, each as StableHLO, as HLO before and as HLO after XLA's optimization, and as a jaxpr: what gantry-cli computes from
the text has to be what JAX computes; of a jaxpr with primitives that are only drawn it has to name one. Runs under a Python that has JAX, which GANTRY_PEER_PYTHON names; skips where there is none."""
import os
import re
import subprocess
import sys
import tempfile

peer = os.environ.get("GANTRY_PEER_PYTHON")
if len(sys.argv) == 1:
    if not peer or subprocess.run([peer, "-c", "import jax"], capture_output=True).returncode != 0:
        print("1..0 # SKIP GANTRY_PEER_PYTHON names no Python with JAX")
        sys.exit(0)
    sys.exit(subprocess.run([peer, __file__, "--child"]).returncode)

os.environ["JAX_PLATFORMS"] = "cpu"
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

cli = os.path.join(os.environ.get("GANTRY_BUILD_ROOT", "build"), "app", "gantry-cli")
random = np.random.RandomState(0)
programs = []


def r(*shape):
    return random.randn(*shape).astype(np.float32)


def program(*arguments):
    def note(function):
        programs.append((function, arguments))
        return function
    return note


@program(r(8, 16), r(16, 32), r(32, 4))
def mlp_gradient(x, w1, w2):
    return jax.grad(lambda w: jnp.mean((jnp.tanh(x @ w[0]) @ w[1]) ** 2))((w1, w2))


@program(r(5, 5), r(5, 2))
def factors(a, b):
    a = a @ a.T + 5 * jnp.eye(5)
    whole = jnp.linalg.cholesky(a)
    return (whole, jax.scipy.linalg.solve_triangular(whole, b, trans=1, lower=True), jnp.linalg.solve(a + b[:, :1], b), jnp.linalg.inv(a), jnp.linalg.det(a / 5), jax.scipy.linalg.cho_solve((whole, True), b),
            jax.grad(lambda a: jnp.sum(jnp.log(jnp.diag(jnp.linalg.cholesky(a)))))(a), jnp.linalg.solve(jnp.stack([a, a.T + 1]), jnp.stack([b, b])))


@program(r(5, 3, 4), r(4, 4), r(3, 4))
def recurrence(x, w, h):
    def step(h, xt):
        h = jnp.tanh(xt @ w + h)
        return h, h.sum(-1)
    return lax.scan(step, h, x)


def pooled(x, w):
    y = jax.nn.relu(lax.conv_general_dilated(x, w, (2, 2), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")))
    return lax.reduce_window(y, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")


program(r(2, 16, 16, 3), r(3, 3, 3, 8))(pooled)


@program(r(2, 16, 16, 3), r(3, 3, 3, 8))
def pooled_gradient(x, w):
    return jax.grad(lambda w: pooled(x, w).sum())(w)


@program(r(2, 3, 6, 8), r(2, 3, 6, 8), r(2, 3, 6, 8))
def attention(q, k, v):
    s = jnp.where(jnp.tril(jnp.ones((6, 6), bool)), jnp.einsum("bhqd,bhkd->bhqk", q, k) / np.sqrt(8), -1e9)
    return jnp.einsum("bhqk,bhkd->bhqd", jax.nn.softmax(s), v)


@program(r(10, 4), np.array([1, 3, 3, 9], np.int32))
def embedding(table, i):
    return jax.grad(lambda t: (t[i] ** 3).sum())(table), jnp.take(table, i, axis=0)


@program(r(4, 7))
def order(x):
    return (jnp.sort(x, -1), jnp.argsort(x, -1), lax.top_k(x, 3), jnp.median(x), jnp.argmax(x, 1), jnp.cumsum(x, 1))


# NaN of both signs, and both zeros: top_k has the total order of floats, sort one of its own.
ODD = np.array([[1, np.nan, -0.0, 0.0, np.inf, -np.nan, -np.inf, 3], [np.nan, -1, 2, -np.nan, 0.0, -0.0, 2, -1]], np.float32)


@program(ODD)
def order_of_nan(x):
    return (lax.top_k(x, 8), lax.top_k(x.astype(jnp.bfloat16), 3)[1], jnp.sort(x, -1), jnp.argsort(x, -1), jnp.argsort(x, -1, descending=True))


@program(r(3, 3), np.int32(1))
def control(x, i):
    return (lax.cond(x.sum() > 0, lambda x: x * 2, lambda x: x - 1, x),
            lax.switch(i, [lambda x: x + 1, lambda x: x * 3, lambda x: -x], x),
            lax.fori_loop(0, 5, lambda k, c: c * 0.9 + k, x))


@program(r(4, 5))
def random_numbers(x):
    key = jax.random.PRNGKey(3)
    return jax.random.normal(key, (4, 5)) + x, jax.random.uniform(key, (7,)), jax.random.permutation(key, 8)


@program(r(4, 16), r(16), r(16))
def normalization(x, g, b):
    return jax.nn.gelu((x - x.mean(-1, keepdims=True)) * lax.rsqrt(x.var(-1, keepdims=True) + 1e-5) * g + b)


@program(r(4, 4), np.int32(1))
def movement(x, i):
    return (lax.dynamic_slice(x, (i, 0), (2, 3)), lax.dynamic_update_slice(x, jnp.ones((2, 2)), (i, 1)),
            jnp.pad(x, ((1, 2), (0, 1))), x[::-1, ::2], lax.bitcast_convert_type(x, jnp.int32))


@program(r(4, 4))
def special(x):
    return (lax.erf_inv(jnp.clip(x, -.9, .9)), jax.scipy.special.gammaln(jnp.abs(x)), jax.scipy.special.digamma(x + 5),
            jnp.floor_divide(x, 0.7), jnp.sign(x), jnp.logaddexp(x, x.T), jax.scipy.special.i1e(x))


def save(folder, name, values):
    paths = []
    for i, value in enumerate(values):
        paths.append(os.path.join(folder, "%s%d.npy" % (name, i)))
        np.save(paths[-1], np.asarray(value))
    return paths


def run(path, inputs, outputs):
    command = [cli, "run", path, "-n", "1", "--warmup", "0", "--relative", "1e-3", "--absolute", "1e-5", "--quick-compile"]
    for value in inputs:
        command += ["--input", value]
    for value in outputs:
        command += ["--expect", value]
    return subprocess.run(command, capture_output=True, text=True)


DRAWN = re.compile(r"jax\.(random_\w+|select_and_scatter_add|gather|lu): (no lowering|indices out of range)")
print("1..%d" % (4 * len(programs)))
number = 0
failed = 0
for function, arguments in programs:
    name = function.__name__
    with tempfile.TemporaryDirectory() as folder:
        compiled = jax.jit(function, keep_unused=True)
        lowered = compiled.lower(*arguments)
        inputs = save(folder, "in", arguments)
        outputs = save(folder, "out", jax.tree_util.tree_leaves(compiled(*arguments)))
        for form, text in (("stablehlo.mlir", lowered.as_text(debug_info=True)), ("before.hlo", lowered.as_text(dialect="hlo")),
                           ("after.txt", lowered.compile().as_text()), ("trace.jaxpr", str(jax.make_jaxpr(function)(*arguments)))):
            path = os.path.join(folder, form)
            with open(path, "w") as file:
                file.write(text)
            result = run(path, inputs, outputs)
            number += 1
            good = result.returncode == 0 or (form == "trace.jaxpr" and DRAWN.search(result.stderr) is not None)
            failed += not good
            print("%sok %d %s %s" % ("" if good else "not ", number, name, form))
            if result.returncode != 0:
                print("# " + (result.stderr.strip().split("\n") or [""])[0])
sys.exit(failed > 0)
