# SPDX-License-Identifier: Apache-2.0
"""Small programs in JAX's style: each gives arrays. make-values.py writes what JAX gives for them."""
import functools
import numpy as np
import jax
import jax.numpy as jnp
import optax
from jax import lax, random

A = np.sin(np.arange(12, dtype=np.float32)).reshape(3, 4)
B = np.cos(np.arange(20, dtype=np.float32)).reshape(4, 5)
V = np.array([0.5, -1.25, 2.0, 0.1], np.float32)
ALL = {}


def case(function):
    ALL[function.__name__] = function
    return function


def both(f, *args):
    """A function outside of a graph and in one, and its gradients by all arguments."""
    args = [jnp.asarray(a) for a in args]
    numbers = tuple(range(len(args)))
    scalar = lambda *a: jnp.sum(jnp.sin(f(*a)))
    return [f(*args), jax.jit(f)(*args), *jax.grad(scalar, numbers)(*args), *jax.jit(jax.grad(scalar, numbers))(*args)]


@case
def product():
    return both(lambda a, b: a @ b, A, B)


@case
def elementwise():
    return both(lambda x: jnp.exp(x) * jnp.tanh(x) + jnp.log1p(x * x) / (1 + jnp.abs(x)) - x ** 3, V)


@case
def trigonometry():
    return both(lambda x: jnp.sin(x) + jnp.cos(2 * x) + jnp.arctan(x) + jnp.sinh(x) * jnp.cosh(x) + jnp.arcsinh(x), V)


@case
def reductions():
    return both(lambda a: a.sum(0) * a.mean() + a.max(axis=0) - a.min(0) + jnp.var(a, 0) + jnp.std(a) + jnp.prod(a, 0), A)


@case
def norms():
    return both(lambda a: jnp.linalg.norm(a, axis=1) + jnp.linalg.norm(a), A)


@case
def softmaxes():
    return both(lambda a: jax.nn.softmax(a) + jax.nn.log_softmax(a, 0) + jax.nn.logsumexp(a, 1, keepdims=True), A)


@case
def activations():
    return both(lambda x: jax.nn.relu(x) + jax.nn.gelu(x) + jax.nn.gelu(x, approximate=False) + jax.nn.silu(x) + jax.nn.sigmoid(x)
                + jax.nn.softplus(x) + jax.nn.elu(x) + jax.nn.leaky_relu(x) + jax.nn.selu(x), V)


@case
def einsums():
    x = np.arange(24, dtype=np.float32).reshape(2, 3, 4) / 10
    return both(lambda x, b: jnp.einsum("bij,jk->bik", x, b).sum(1) + jnp.einsum("bij,bij->b", x, x)[:, None], x, B) + [
        jnp.einsum("...ij,kj->...ik", x, A), jnp.einsum("ii", np.eye(3, dtype=np.float32)), jnp.einsum("ij->ji", A)]


@case
def contractions():
    x = np.arange(24, dtype=np.float32).reshape(2, 3, 4) / 10
    return [jnp.tensordot(x, A, ((1, 2), (0, 1))), jnp.dot(x, B), jnp.outer(V, V), jnp.inner(A, V), jnp.vdot(A, A),
            lax.dot_general(x, x, (((2,), (2,)), ((0,), (0,)))), jnp.kron(A[:2, :2], B[:2, :2]), jnp.cross(V[:3], A[0, :3])]


@case
def indexing():
    i = np.array([2, 0, 2])
    return both(lambda a: a[i] * a[1] + a[:, 1:3].sum() + a[..., ::-1], A) + [
        jnp.asarray(A)[i, np.array([0, 1, 3])], jnp.asarray(A)[-1], jnp.asarray(A)[:, None, 2], jnp.asarray(A)[A > 0.5],
        jnp.asarray(B)[1:, np.array([[0, 4], [1, 2]])], jnp.take(B, i, axis=1), jnp.take_along_axis(A, np.argsort(A, 1), 1)]


@case
def updates():
    i = np.array([0, 2, 0])
    return both(lambda a, v: a.at[1].set(v).at[i].add(0.5 * v).at[:, 2].multiply(2.0).at[0, 1:3].set(1.5), A, V) + [
        jnp.zeros(4).at[np.array([1, 1, 3])].max(2.0), jnp.asarray(V).at[::2].min(0.25)]


@case
def dynamic():
    return both(lambda a: lax.dynamic_slice(a, (1, 2), (2, 2)) + lax.dynamic_update_slice(a, jnp.ones((2, 2)), (0, 1))[:2, :2], A) + [
        jax.jit(lambda a, i: a[i])(A, 2), jax.jit(lambda a, i: lax.dynamic_index_in_dim(a, i, 1, False))(A, 3)]


@case
def shapes():
    return [jnp.concatenate([A, A], 1), jnp.stack([V, V], 1), jnp.transpose(A), jnp.moveaxis(A[None], 0, 2), jnp.tile(V, (2, 2)),
            jnp.repeat(A, 2, 0), jnp.roll(A, 1, 1), jnp.flip(A, 0), jnp.pad(A, ((1, 0), (0, 2)), constant_values=3),
            jnp.pad(V, 2, mode="reflect"), *jnp.split(A, 2, 1), jnp.squeeze(A[:, :1]), jnp.expand_dims(V, (0, 2)), jnp.tril(A), jnp.triu(A, 1),
            jnp.diag(V), jnp.diag(A), jnp.eye(3, 4), *jnp.meshgrid(V, V[:2]), jnp.vstack([V, V]), jnp.hstack([A, A])]


@case
def creation():
    return [jnp.arange(2, 9, 3), jnp.arange(3.0), jnp.linspace(0, 1, 7), jnp.full((2, 2), 7), jnp.zeros((2,), jnp.int32), jnp.ones_like(A),
            jnp.array([[1, 2], [3, 4]]), jnp.asarray([1.5, 2]), jnp.array([True, False]), jnp.eye(2), jnp.tri(3)]


@case
def comparisons():
    return [A > 0, (A > 0) & (A < 0.5), jnp.where(A > 0, A, 0), jnp.any(A > 0.9), jnp.all(A > -2, 0), jnp.isnan(V), jnp.allclose(A, A + 1e-9),
            jnp.maximum(A, 0.1), jnp.clip(A, -0.5, 0.5), jnp.sign(A), jnp.isfinite(V), jnp.logical_xor(A > 0, A > 0.5)]


@case
def integers():
    n = np.array([7, -7, 5, -3])
    return [n // 2 + jnp.asarray(n), jnp.asarray(n) // 2, jnp.asarray(n) % 3, jnp.asarray(n) / 2, jnp.asarray(n) ** 2, jnp.asarray(n) << 1,
            jnp.bitwise_and(n, 6), jnp.asarray(V) // 0.3, jnp.asarray(V) % 0.3, jnp.floor(V), jnp.round(V), jnp.asarray(n) + 1.5]


@case
def ordering():
    return [jnp.sort(V), jnp.argsort(A, 1), jnp.argmax(A, 1), jnp.argmin(A), jnp.cumsum(A, 1), jnp.cumprod(V), jnp.median(V),
            jnp.searchsorted(np.sort(V), np.float32(0.3)), lax.top_k(V, 2)[0], lax.top_k(V, 2)[1], jnp.quantile(V, 0.25)]


@case
def scans():
    def f(w, xs):
        def step(c, x):
            c = jnp.tanh(c @ w + x)
            return c, c.sum()
        last, ys = lax.scan(step, jnp.zeros(4), xs)
        return last + ys[0]
    return both(f, B[:, :4], A) + [lax.scan(lambda c, x: (c * 0.5 + x, c), 1.0, V, reverse=True)[1]]


@case
def loops():
    f = lambda x: lax.fori_loop(0, 4, lambda i, c: jnp.sin(c) * x + i, x)
    return both(f, V) + [lax.while_loop(lambda c: c[0] < 5, lambda c: (c[0] + 1, c[1] * 1.5), (0, 1.0))[1],
                         jax.jit(lambda n: lax.fori_loop(0, n, lambda i, c: c + i, 0))(6)]


@case
def branches():
    f = lambda x: lax.cond(x[0] > 0, lambda y: jnp.sin(y), lambda y: y ** 2, x)
    return both(f, V) + both(f, -V) + [jax.jit(lambda i, x: lax.switch(i, [lambda v: v, lambda v: v * 2, lambda v: v - 1], x))(1, V)]


@case
def decided_by_values():
    def f(x):
        return x ** 2 if x > 0 else -x
    return [jax.grad(f)(3.0), jax.grad(f)(-2.0), jax.value_and_grad(f)(1.5)[0]]


@case
def value_and_aux():
    def f(p, x):
        y = x @ p["w"] + p["b"]
        return jnp.mean(y ** 2), {"y": y}
    (value, aux), grads = jax.value_and_grad(f, has_aux=True)({"w": B, "b": np.ones(5, np.float32)}, A)
    return [value, aux["y"], grads["w"], grads["b"]]


@case
def pulled_and_pushed():
    out, pull = jax.vjp(lambda a, b: (a @ b, jnp.sin(a)), A, B)
    first, second = pull((jnp.ones((3, 5)), jnp.ones((3, 4))))
    value, tangent = jax.jvp(lambda x: jnp.exp(x) * x, (V,), (np.ones_like(V),))
    return [*out, first, second, value, tangent]


@case
def second_derivatives():
    f = lambda x: jnp.sum(jnp.sin(x) * x ** 2)
    return [jax.hessian(f)(V), jax.jacfwd(jnp.tanh)(V), jax.jacrev(lambda x: x[:2] * x[2])(V), jax.grad(jax.grad(lambda x: x ** 4))(1.5)]


@case
def batches():
    f = lambda a, v: jnp.tanh(a @ B[:, 0]) * v
    return [jax.vmap(f, (0, None))(A, 2.0), jax.vmap(jax.vmap(lambda x, y: x * y, (None, 0)), (0, None))(V, V), jax.vmap(jnp.sum, 1)(A),
            jax.vmap(lambda x: x, out_axes=1)(A), jax.jit(jax.vmap(jax.grad(lambda w, x: jnp.sum(jnp.sin(w * x))), (None, 0)))(V, A),
            jax.vmap(lambda a, i: a[i])(A, np.array([0, 3, 1])), jax.vmap(lambda a: lax.scan(lambda c, x: (c + x, c * x), 0.0, a)[1])(A),
            jax.vmap(lambda x: jnp.where(x > 0, x, 0).sum())(A), jax.vmap(jnp.dot, (None, 0))(A, A), jax.vmap(lambda m: m @ m.T)(A[:, :, None])]


@case
def checkpointed():
    from jax.ad_checkpoint import checkpoint_name
    policy = jax.checkpoint_policies.save_only_these_names("h")

    def f(w, x):
        @functools.partial(jax.checkpoint, policy=policy)
        def layer(x):
            h = checkpoint_name(jnp.tanh(x @ w), "h")
            return jnp.sin(h) @ w
        return layer(layer(x))
    return both(f, B[:, :4], A) + both(jax.checkpoint(lambda x: jnp.sin(jnp.sin(x))), V)


@case
def stopped():
    return both(lambda x: x * lax.stop_gradient(jnp.sin(x)), V)


@case
def convolutions():
    x = np.sin(np.arange(2 * 6 * 6 * 3, dtype=np.float32)).reshape(2, 6, 6, 3)
    w = np.cos(np.arange(3 * 3 * 3 * 4, dtype=np.float32)).reshape(3, 3, 3, 4)
    f = lambda x, w: lax.conv_general_dilated(x, w, (2, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
    return both(f, x, w) + [lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID"), jnp.convolve(V, V[:2])]


@case
def attention():
    q = np.sin(np.arange(2 * 4 * 6, dtype=np.float32)).reshape(2, 4, 6)

    def f(q, w):
        k, v = q @ w, q @ (w * 0.5)
        s = jnp.where(jnp.tril(jnp.ones((4, 4), bool)), q @ k.transpose(0, 2, 1) / jnp.sqrt(6.0), -1e9)
        return jax.nn.softmax(s) @ v
    return both(f, q, np.cos(np.arange(36, dtype=np.float32)).reshape(6, 6))


@case
def layer_norm():
    def f(x, g):
        m = jnp.mean(x, -1, keepdims=True)
        v = jnp.var(x, -1, keepdims=True)
        return (x - m) * lax.rsqrt(v + 1e-5) * g
    return both(f, A, V)


@case
def classifier():
    def f(w):
        return optax.softmax_cross_entropy_with_integer_labels(A @ w, np.array([0, 4, 2]))
    return both(f, B) + [jax.nn.one_hot(np.array([1, 0]), 3)]


def _trained(optimizer):
    def loss(p):
        return jnp.mean((jnp.tanh(A @ p["w"]) + p["b"] - 0.3) ** 2)
    params = {"w": jnp.asarray(B), "b": jnp.zeros(5)}
    state = optimizer.init(params)

    @jax.jit
    def step(params, state):
        grads = jax.grad(loss)(params)
        updates, state = optimizer.update(grads, state, params)
        return optax.apply_updates(params, updates), state
    for _ in range(4):
        params, state = step(params, state)
    return [params["w"], params["b"]]


@case
def sgd():
    return _trained(optax.sgd(0.1)) + _trained(optax.sgd(0.1, momentum=0.9)) + _trained(optax.sgd(0.1, momentum=0.9, nesterov=True))


@case
def adam():
    return _trained(optax.adam(0.01)) + _trained(optax.adamw(0.01, weight_decay=0.1))


@case
def clipped():
    return _trained(optax.chain(optax.clip_by_global_norm(0.05), optax.adam(optax.cosine_decay_schedule(0.01, 10)))) + _trained(
        optax.chain(optax.clip(0.01), optax.rmsprop(0.01))) + _trained(optax.adagrad(0.1)) + _trained(optax.lion(0.01))


@case
def schedules():
    made = [optax.linear_schedule(1.0, 0.1, 5), optax.exponential_decay(1.0, 3, 0.5), optax.warmup_cosine_decay_schedule(0.0, 1.0, 3, 10),
            optax.piecewise_constant_schedule(1.0, {2: 0.1, 4: 0.5}), optax.polynomial_schedule(1.0, 0.0, 2, 6)]
    return [jnp.stack([jnp.asarray(s(i), jnp.float32) for i in range(7)]) for s in made]


@case
def losses():
    return [optax.huber_loss(V, V[::-1]), optax.l2_loss(V), optax.sigmoid_binary_cross_entropy(V, np.array([0, 1, 1, 0])),
            optax.softmax_cross_entropy(A, jax.nn.one_hot(np.array([0, 1, 2]), 4)), optax.cosine_similarity(A, A[::-1]), optax.global_norm([A, V])]


@case
def network():
    key = random.PRNGKey(0)

    def init(key, sizes):
        keys = random.split(key, len(sizes))
        return [(random.normal(k, (m, n)) * 0.3, jnp.zeros(n)) for k, m, n in zip(keys, sizes[:-1], sizes[1:])]

    def predict(params, x):
        for w, b in params[:-1]:
            x = jnp.tanh(x @ w + b)
        w, b = params[-1]
        return x @ w + b - jax.nn.logsumexp(x @ w + b)
    batched = jax.vmap(predict, in_axes=(None, 0))
    params = init(key, [4, 8, 3])
    loss = lambda p, x, y: -jnp.mean(jnp.sum(batched(p, x) * y, 1))
    y = jax.nn.one_hot(np.array([0, 1, 2]), 3)
    for _ in range(3):
        grads = jax.jit(jax.grad(loss))(params, A, y)
        params = [(w - 0.5 * dw, b - 0.5 * db) for (w, b), (dw, db) in zip(params, grads)]
    return [loss(params, A, y), *jax.tree_util.tree_leaves(params)]


@case
def recurrent():
    def f(wx, wh):
        def cell(carry, x):
            h, c = carry
            i, g, o, u = jnp.split(x @ wx + h @ wh, 4)
            c = jax.nn.sigmoid(g) * c + jax.nn.sigmoid(i) * jnp.tanh(u)
            h = jax.nn.sigmoid(o) * jnp.tanh(c)
            return (h, c), h
        return lax.scan(cell, (jnp.zeros(2), jnp.zeros(2)), A)[1]
    return both(f, np.sin(np.arange(32, dtype=np.float32)).reshape(4, 8), np.cos(np.arange(16, dtype=np.float32)).reshape(2, 8))


@case
def random_numbers():
    k = random.PRNGKey(42)
    return [k, *random.split(k, 3), random.fold_in(k, 7), random.bits(k, (3,)), random.normal(k, (2, 3)), random.uniform(k, (4,), minval=-1.0, maxval=2.0),
            random.randint(k, (6,), -3, 11), random.permutation(k, 9), random.permutation(k, A), random.bernoulli(k, 0.3, (8,)),
            random.categorical(k, A), random.categorical(k, V, shape=(5,)), random.gumbel(k, (2,)), random.truncated_normal(k, -2, 2, (3,)),
            random.exponential(k, (2,)), random.choice(k, 5, (4,)), random.choice(k, V, (2,), replace=False), jax.vmap(random.uniform)(random.split(k, 3)),
            jax.jit(lambda k: random.normal(k, (3,)))(k), random.normal(random.key(5), (2,)), random.normal(k, (3,), jnp.bfloat16).astype(jnp.float32)]


@case
def initializers():
    k = random.PRNGKey(3)
    return [jax.nn.initializers.glorot_uniform()(k, (3, 4), jnp.float32), jax.nn.initializers.he_normal()(k, (4, 3), jnp.float32),
            jax.nn.initializers.normal(0.1)(k, (2, 2)), jax.nn.initializers.lecun_normal()(k, (4, 2))]


@case
def half_precision():
    x = jnp.asarray(V, jnp.bfloat16)
    return [(x * 2 + 1).astype(jnp.float32), (x @ x).astype(jnp.float32), jnp.asarray(V, jnp.float16).astype(jnp.float32), jnp.mean(x).astype(jnp.float32)]


@case
def trees():
    t = {"b": [V, (A,)], "a": None}
    leaves, structure = jax.tree_util.tree_flatten(t)
    doubled = jax.tree.map(lambda x: x * 2, t)
    return [*leaves, doubled["b"][1][0], jax.tree_util.tree_reduce(lambda a, b: a + b.sum(), t, jnp.zeros(())), np.array(structure.num_leaves)]


@case
def donated():
    f = jax.jit(lambda x, y: (x + y, x.sum()), donate_argnums=0)
    g = jax.jit(lambda x, n, flag=True: x * n if flag else x, static_argnums=1, static_argnames="flag")
    return [*f(jnp.asarray(A), A), g(V, 3), g(V, 3, flag=False), g(V, 4)]
