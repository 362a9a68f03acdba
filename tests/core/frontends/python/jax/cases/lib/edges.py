# SPDX-License-Identifier: Apache-2.0
"""Where functions have an edge: indices out of range, gradients at 0 and at ties, what is infinite or not a number."""
import functools
import numpy as np
import jax
import jax.scipy.special
import jax.numpy as jnp
from jax import lax
from lib.programs import case

NAN, INF = float("nan"), float("inf")
X = np.arange(12, dtype=np.float32).reshape(3, 4)
V = np.array([10.0, 20.0, 30.0], np.float32)
OUTSIDE = (5, -5, np.array([0, 3, -1, -4]), np.array([2, -3]))


def derived(f, *args):
    """The gradients of the sum by all arguments."""
    args = [jnp.asarray(a, jnp.float32) for a in args]
    return list(jax.grad(lambda *a: jnp.sum(f(*a)), tuple(range(len(args))))(*args))


@case
def reads_outside():
    made = []
    for i in OUTSIDE:
        made += [jnp.asarray(V)[i], jnp.asarray(X)[i], jnp.asarray(X)[:, i], jax.jit(lambda v, i: v[i])(V, i)]
        made += derived(lambda v: jnp.sin(v[i]), V) + list(jax.jit(lambda v, i: derived(lambda v: jnp.sin(v[i]), v))(V, i))
        for mode in ("clip", "fill", "drop"):
            made += [jnp.asarray(V).at[i].get(mode=mode), jnp.asarray(X).at[:, i].get(mode=mode)]
            made += derived(lambda v: jnp.nan_to_num(jnp.sin(v.at[i].get(mode=mode))), V)
    return made + [jnp.asarray(V).at[np.array([0, 5])].get(mode="fill", fill_value=7), jnp.asarray(X)[np.array([0, 3, 1]), np.array([5, 0, -1])],
                   jax.vmap(lambda x, i: x[i])(X, np.array([0, 4, -1]))]


@case
def taken_outside():
    made = []
    for i in OUTSIDE:
        for options in ({}, {"mode": "clip"}, {"mode": "wrap"}, {"mode": "fill"}):
            made += [jnp.take(V, i, **options), jnp.take(X, i, 0, **options), jnp.take(X, i, axis=1, **options)]
            made += [jnp.take(jnp.array(kind), i, **options) for kind in ([1, 2, 3], [True, False, True])]
            made += [jnp.take(jnp.array([1, 2, 3], jnp.uint8), i, **options)]
            made += derived(lambda v: jnp.sin(jnp.nan_to_num(jnp.take(v, i, **options))), V)
    i = np.array([[0, 3, -1], [1, -4, 7], [0, 0, 1]])
    for options in ({}, {"mode": "clip"}, {"mode": "fill"}):
        made += [jnp.take_along_axis(X, i, 1, **options)]
        made += derived(lambda x: jnp.sin(jnp.nan_to_num(jnp.take_along_axis(x, i, 1, **options))), X)
    return made + [jnp.take(V, np.array([0, 5]), mode="fill", fill_value=-1.0), jax.vmap(lambda i: jnp.take(V, i))(np.array([0, 4, -1]))]


@case
def written_outside():
    made, v, x = [], jnp.asarray(V), jnp.asarray(X)
    for i in OUTSIDE:
        for options in ({}, {"mode": "clip"}, {"mode": "drop"}):
            for name in ("set", "add", "multiply", "max", "min", "divide", "power"):
                made += [getattr(v.at[i], name)(2.0, **options), getattr(x.at[i], name)(2.0, **options), getattr(x.at[:, i], name)(2.0, **options)]
            for name in ("set", "add"):
                made += derived(lambda v, u: jnp.sin(getattr(v.at[i], name)(u, **options)), V, 2.0)
        made += [jax.jit(lambda v, i: v.at[i].set(2.0))(V, i)]
    rows, columns = np.array([0, 3, 1]), np.array([5, 0, -1])
    return made + [x.at[rows, columns].set(9.0), x.at[rows, 1:3].add(9.0), x.at[np.array([0, 7])].set(np.ones((2, 4), np.float32)),
                   jax.vmap(lambda x, i: x.at[i].set(9.0))(X, columns), jax.vmap(lambda i: v.at[i].add(1.0))(np.array([0, 4, -1])),
                   v.at[np.array([1, 1])].divide(2.0), v.at[np.array([1, 1, 8])].subtract(1.0), jnp.bincount(np.array([0, 1, 1, 5]), length=4),
                   *jnp.nonzero(X > 5, size=8, fill_value=-1), jnp.argwhere(X > 5), lax.dynamic_slice(V, (5,), (2,)),
                   lax.dynamic_update_slice(V, np.ones(2, np.float32), (-2,))]


@case
def gradients_at_edges():
    z, bounds = [-1.0, 0.0, 1.0, -40.0, 40.0], [-3.0, 3.0, 0.0, 6.0, -1.0, 1.0]
    made = []
    for name in ("relu", "relu6", "silu", "softplus", "log_sigmoid", "soft_sign", "elu", "selu", "celu", "leaky_relu", "hard_tanh", "mish"):
        made += [getattr(jax.nn, name)(jnp.array(z))] + derived(getattr(jax.nn, name), z)
    for name in ("relu6", "hard_tanh", "hard_sigmoid", "hard_silu"):
        made += derived(getattr(jax.nn, name), bounds)
    for f in (lambda v: jnp.maximum(v, 0.0), lambda v: jnp.maximum(0, v), lambda v: jnp.minimum(v, 0.0), lambda v: jnp.clip(v, -1, 1),
              lambda v: lax.clamp(-1.0, v, 1.0), lambda v: lax.max(v, 0.0), jnp.abs, lambda v: jnp.where(v > 0, v, 0)):
        made += derived(f, z)
    a, b = [1.0, 2.0, 3.0], [1.0, 3.0, 2.0]
    for name in ("maximum", "minimum", "logaddexp", "logaddexp2", "hypot", "arctan2", "fmax", "fmin", "copysign"):
        made += derived(getattr(jnp, name), a, b)
    return made + derived(jnp.hypot, [0.0], [0.0]) + derived(jnp.max, [1.0, 2.0, 2.0])


@case
def products_with_zeros():
    made = []
    for v in ([1.0, 0.0, 2.0, 3.0], [1.0, 0.0, 0.0, 3.0], [1.0, 2.0, 3.0, 4.0]):
        made += derived(lambda v: jnp.cumprod(v) * jnp.array([1.0, 2, 3, 4]), v) + derived(jnp.prod, v)
        made += derived(lambda v: lax.cumlogsumexp(v) * jnp.array([1.0, 2, 3, 4]), v)
    return made + [lax.cumprod(jnp.array([1.0, 2, 3]), reverse=True)]


@case
def infinities():
    a, b = jnp.array([INF, -INF, INF, 3e20, 1e-30, NAN, 1.0, 0.0]), jnp.array([INF, -INF, -INF, 4e20, 1e-30, 1.0, NAN, -0.0])
    made = [getattr(jnp, n)(a, b) for n in ("logaddexp", "hypot", "maximum", "minimum", "fmax", "fmin", "copysign", "heaviside")]
    x = jnp.array([INF, -INF, 1, -1, 1, -1, INF, 5.5, -5.5, 0, 7])
    y = jnp.array([2, 2, INF, INF, -INF, -INF, INF, 2, 2, 0, 0.0])
    n, m = jnp.array([7, -7, 7, -7, 0, 7, -7]), jnp.array([2, 2, -2, -2, 3, 0, 0])
    return made + [x // y, x % y, n // m, n % m, *jnp.divmod(n, 2), *jnp.modf(jnp.array([1.5, -1.5])), jnp.signbit(jnp.array([0.0, -0.0, -1.0])),
                   jnp.argmax(a), jnp.nanargmax(a[3:]), jnp.nanargmin(a[3:])] + derived(lambda x, y: x // y, [5.0, -5.0], [2.0, 2.0])


@case
def element_types():
    made, n = [], jnp.array([100, 100, 100])
    for kind in ("uint8", "int8", "int32", "float32", "bool"):
        made += [f(n, dtype=kind) for f in (jnp.sum, jnp.prod, jnp.cumsum)] + [jnp.sum(n.astype(kind))]
    return made + [jnp.mean(n, dtype="uint8"), jnp.mean(n, dtype="int8")]


@case
def grouped_attention():
    q = np.sin(np.arange(120, dtype=np.float32)).reshape(2, 3, 4, 5)
    k, v = (np.sin(np.arange(120, dtype=np.float32) * f).reshape(2, 6, 2, 5) for f in (0.7, 0.3))
    attend = jax.nn.dot_product_attention
    return [attend(q, k, v), attend(q, k[:, :, :1], v[:, :, :1]), attend(q, k, v, is_causal=True), attend(q[0], k[0], v[0]),
            attend(q, k, v, mask=(np.arange(6) < 4)[None, None, None]), attend(q, k, v, bias=np.ones((1, 4, 3, 6), np.float32) * np.arange(6, dtype=np.float32)),
            attend(q, k, v, query_seq_lengths=np.array([2, 3]), key_value_seq_lengths=np.array([5, 3])), attend(q, k, v, local_window_size=1),
            attend(q, k, v, local_window_size=(1, 0), scale=0.5)] + derived(lambda q, k, v: jnp.sin(attend(q, k, v, is_causal=True)), q, k, v)


@case
def custom_pull_backs():
    @jax.custom_vjp
    def clipped(x, low, high):
        return x
    clipped.defvjp(lambda x, low, high: (x, (low, high)), lambda kept, g: (jnp.clip(g, *kept), None, None))

    @functools.partial(jax.custom_vjp, nondiff_argnums=(1,))
    def scaled(tree, k):
        return jax.tree_util.tree_map(lambda v: v * k, tree)
    scaled.defvjp(lambda tree, k: (scaled(tree, k), tree), lambda k, kept, g: (jax.tree_util.tree_map(lambda c, v: c * k + 0.1 * v, g, kept),))

    @jax.custom_vjp
    def rounded(x):
        return jnp.round(x)
    rounded.defvjp(lambda x: (rounded(x), None), lambda kept, g: (g,))

    @jax.custom_vjp
    def rows(table, i):
        return table[i]
    rows.defvjp(lambda table, i: (table[i], (table.shape, i)), lambda kept, g: (jnp.zeros(kept[0]).at[kept[1]].add(g), None))
    f, x = lambda x: 10 * jnp.sin(clipped(x, -1.0, 1.0)), jnp.array([1.0, 2.0, 3.0])
    total = lambda p: sum(jnp.sum(v ** 2) for v in jax.tree_util.tree_leaves(scaled(p, 3.0)))
    return [f(x), *derived(f, x), jax.vmap(jax.grad(f))(x), jax.grad(lambda x: jnp.sum(jax.vmap(f)(x)))(x), jax.jit(jax.grad(lambda x: f(x * 2)))(2.0),
            jax.grad(lambda x: clipped(x, low=-1.0, high=0.5) * 3)(1.0), *jax.tree_util.tree_leaves(jax.grad(total)({"a": x, "b": (jnp.array(3.0),)})),
            jax.grad(lambda x: jnp.sum(scaled(jnp.sin(scaled(x, 2.0)), 3.0)))(x), *jax.value_and_grad(lambda x: jnp.sum(rounded(x) ** 2))(x * 0.6),
            jax.vjp(rounded, x)[1](x)[0], jax.grad(jax.checkpoint(lambda x: jnp.sum(rounded(x) * x)))(x),
            jax.grad(lambda t: jnp.sum(jnp.sin(rows(t, jnp.array([0, 2])))))(x)]


@case
def custom_push_forwards():
    @jax.custom_jvp
    def softplus(x):
        return jnp.log(1.0 + jnp.exp(x))

    @softplus.defjvp
    def _(primals, tangents):
        return softplus(primals[0]), (1 - 1 / (1 + jnp.exp(primals[0]))) * tangents[0]

    @jax.custom_jvp
    def f(x, y):
        return jnp.sin(x) * y
    f.defjvps(lambda t, out, x, y: jnp.cos(x) * t * y, lambda t, out, x, y: jnp.sin(x) * t)
    return [jax.grad(softplus)(100.0), jax.vmap(jax.jit(jax.grad(softplus)))(jnp.array([100.0, 0.0])), *jax.jvp(softplus, (1.0,), (2.0,)),
            *jax.grad(f, (0, 1))(2.0, 3.0), *jax.vmap(jax.grad(f, (0, 1)), (0, None))(jnp.array([2.0, 1.0]), 3.0)]


@case
def batches_of_loops():
    double = lambda x: lax.while_loop(lambda c: c < 10, lambda c: c * 2, x)
    power = lambda x, n: lax.fori_loop(0, n, lambda i, c: c * x, 1.0)
    x, n = jnp.array([1.0, 3.0, 20.0]), jnp.array([1, 2, 3])
    return [jax.vmap(double)(x), jax.jit(jax.vmap(double))(x), jax.vmap(power)(x, n), jax.vmap(power, (0, None))(x, 2), jax.vmap(jax.vmap(power), (0, None))(jnp.ones((2, 3)) * x, n),
            jax.vmap(lambda x: lax.while_loop(lambda c: c[0] < 3, lambda c: (c[0] + 1, c[1] * x), (0, 1.0))[1])(x),
            jax.vmap(lambda x: lax.while_loop(lambda c: jnp.sum(c) < 10, lambda c: c * 2, x))(jnp.array([[1.0, 3.0], [20.0, 1.0]]))]


@case
def segments():
    v, i = jnp.array([1.0, 2, 3, 4]), jnp.array([0, 1, 1, 5])
    return [f(v, i, 3) for f in (jax.ops.segment_sum, jax.ops.segment_prod, jax.ops.segment_max, jax.ops.segment_min)] + [
        jax.ops.segment_sum(v, jnp.array([0, 1, 1, -1]), 3), jax.ops.segment_sum(jnp.asarray(X), jnp.array([2, 0, 2]))] + derived(
        lambda v: jnp.sin(jax.ops.segment_sum(v, i, 3)), v) + derived(jax.scipy.special.erfinv, [0.0, 0.5, -0.9])


@case
def pictures():
    x = jnp.asarray(np.sin(np.arange(64, dtype=np.float32)).reshape(1, 4, 8, 2))
    w = np.cos(np.arange(36, dtype=np.float32)).reshape(3, 3, 2, 2)
    made = [jax.image.resize(x, (1, 8, 8, 2), "nearest"), jax.image.resize(x, (1, 3, 5, 2), "nearest")]
    for method in ("bilinear", "cubic"):
        made += [jax.image.resize(x, (1, 7, 16, 2), method), jax.image.resize(x, (1, 2, 3, 2), method), jax.image.resize(x, (1, 2, 3, 2), method, antialias=False)]
    for padding in ("SAME", "VALID", ((1, 2), (0, 1))):
        made += [lax.conv_transpose(x, w, (2, 3), padding), lax.conv_transpose(x, w, (1, 4), padding), lax.conv_transpose(x, w, (2, 1), padding, rhs_dilation=(1, 2))]
    return made + [lax.conv_transpose(x, w, (2, 2), ((1, 1), (1, 1)), use_consistent_padding=True), lax.conv_transpose(x[:, 0], w[0], (2,), "SAME")] + derived(
        lambda x, w: jnp.sin(lax.conv_transpose(x, w, (2, 2), "SAME")), x, w) + derived(lambda x: jnp.sin(jax.image.resize(x, (1, 8, 16, 2), "linear")), x)


@case
def odd_values_between():
    """Quantiles of infinities and of what is no number, rests by 0, poles of the gamma function."""
    x = jnp.array([[1, NAN, 3, 2], [-INF, -INF, -INF, -INF], [INF, 1, INF, 2], [INF, -INF, 0, 0], [2, 2, 2, 1]], jnp.float32)
    made = [f(x, axis=1) for f in (jnp.median, jnp.nanmedian)] + [jnp.median(x), jnp.percentile(x, 30, axis=0)]
    for method in ("linear", "lower", "higher", "midpoint", "nearest"):
        made.append(jnp.quantile(x, jnp.array([0.0, 0.4, 0.7, 1.0]), axis=1, method=method))
    made += derived(lambda y: jnp.median(y, axis=1), [[1, 4, 2, 2], [3, 3, 3, 3]]) + derived(jnp.median, [5, 1, 2])
    made += [jnp.fmod(jnp.array([7, -7, -1, 5]), jnp.array([3, 3, 0, 0])), jnp.fmod(jnp.array([255, 9], jnp.uint8), jnp.array([0, 4], jnp.uint8))]
    made.append(jax.scipy.special.gammaln(jnp.array([-INF, INF, -3e38, -1, 0, 0.5, -0.5, NAN], jnp.float32)))
    return made
