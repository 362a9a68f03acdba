# SPDX-License-Identifier: Apache-2.0
"""jax.lax and linear algebra beyond what ordinary networks use."""
import numpy as np
import jax
import jax.numpy as jnp
import jax.scipy.linalg as sl
import jax.scipy.special as sp
from jax import lax
from lib.programs import case

NUMBERS = np.random.RandomState(0)


def arr(*shape):
    return NUMBERS.randn(*shape).astype(np.float32)


X, V, S0, B = arr(4, 6), arr(5), arr(4, 4), arr(3, 4, 4)
SPD, SYM = (S0 @ S0.T + 4 * np.eye(4)).astype(np.float32), (S0 + S0.T).astype(np.float32)


@case
def linalg1():
    L = jnp.linalg
    A = jnp.asarray(S0 + 3 * np.eye(4, dtype=np.float32))
    b = arr(4, 2)
    f = lambda fn: [fn(A), *[jax.grad(lambda a: jnp.sin(fn(a)).sum())(A)]]
    return f(L.inv) + f(L.det) + [L.slogdet(A)[1], L.solve(A, b), L.solve(A, b[:, 0]), *jax.grad(lambda a, b: L.solve(a, b).sum(),
                (0, 1))(A,
                b), L.cholesky(SPD), jax.grad(lambda a: jnp.sin(L.cholesky(a)).sum())(jnp.asarray(SPD)), L.inv(B + 3 * np.eye(4,
                dtype=np.float32)), L.matrix_power(A, -2), jax.vmap(L.det)(B), L.multi_dot([A, A,
                b]), L.pinv(X), L.matrix_rank(X), L.cond(A)]


@case
def linalg_qr():
    L = jnp.linalg
    A = jnp.asarray(X)
    q, r = L.qr(A)
    q2, r2 = L.qr(A.T)
    q3, r3 = L.qr(A.T, mode="complete")
    return [q, r, q2, r2, r3, q3[:, :4], L.qr(A, mode="r"), *L.qr(B),
                jax.grad(lambda a: jnp.sin(L.qr(a)[0]).sum() + jnp.cos(L.qr(a)[1]).sum())(A.T),
                jax.grad(lambda a: jnp.sin(L.qr(a)[1]).sum())(jnp.asarray(S0))]


@case
def linalg_eigh():
    L = jnp.linalg
    w, v = L.eigh(SYM)
    g = lambda a: (L.eigh(a)[0] ** 3).sum() + (L.eigh(a)[1] ** 2 * jnp.arange(4.0)).sum()
    return [w, v * w @ v.T, v ** 2, L.eigvalsh(SYM), jax.grad(g)(jnp.asarray(SYM)), L.eigh(B)[0],
                jax.jit(lambda a: L.eigvalsh(a))(SYM), L.eigvalsh(np.diag(arr(7)))]


@case
def linalg_svd():
    L = jnp.linalg
    A = jnp.asarray(X)
    u, s, vt = L.svd(A, full_matrices=False)
    U, s2, VT = L.svd(A)
    g = lambda a: (L.svd(a, full_matrices=False)[1] ** 3).sum()
    h = lambda a: (L.svd(a, full_matrices=False)[0] ** 2 * jnp.arange(4.0)).sum() + (L.svd(a,
                full_matrices=False)[2] ** 2 * jnp.arange(6.0)).sum()
    return [s, u * s @ vt, u ** 2, vt ** 2, s2, U ** 2, VT[:4] ** 2, VT @ VT.T, L.svd(A.T, compute_uv=False), L.svd(B,
                compute_uv=False), jax.grad(g)(A), jax.grad(h)(A), L.norm(A, 2), L.norm(A, "nuc"), L.norm(A, 1), L.norm(A,
                jnp.inf), L.norm(A, -2), L.norm(A, axis=0, ord=3), L.norm(A,
                "fro"), L.vector_norm(A), L.matrix_norm(A), *L.lstsq(A.T, arr(6, 2)), L.svdvals(A)]


@case
def slinalg():
    return [sl.solve_triangular(np.tril(SPD), arr(4, 2), lower=True), sl.cho_solve(sl.cho_factor(SPD, lower=True), arr(4)),
                sl.expm(S0 * 0.3), sl.expm(S0 * 3), sl.block_diag(np.ones((2, 2)), np.ones((1, 3))), sl.toeplitz(np.arange(3.0),
                np.arange(4.0)), *sl.lu(S0), sl.lu_factor(S0)[0], sl.lu_factor(S0)[1], sl.lu_solve(sl.lu_factor(S0),
                arr(4)), sl.solve(SPD, arr(4), assume_a="pos")]


@case
def lax_sorts():
    a = jnp.array([3, 1, 3, 1, 2])
    b = jnp.array([1.0, 5.0, 0.0, 2.0, 9.0])
    c = jnp.arange(5)
    return [*lax.sort((a, b, c), num_keys=2), *lax.sort((a, b, c), num_keys=1), *lax.sort_key_val(a, c), lax.sort(b),
                *lax.sort_key_val(jnp.asarray(X), jnp.arange(24).reshape(4, 6), dimension=0), lax.top_k(b, 2)[1], jnp.lexsort((b,
                a)), *jax.vmap(lambda x: lax.sort_key_val(x, jnp.arange(6)))(X), jax.grad(lambda b: (lax.sort((a, b, b),
                num_keys=2)[2] * jnp.arange(5.0)).sum())(b)]


@case
def lax_reduce():
    x = jnp.asarray(X)
    return [lax.reduce(x, 0.0, lax.add, (0,)), lax.reduce(x, -jnp.inf, lax.max, (1,)), lax.reduce(x, 1.0, lax.mul, (0, 1)),
                lax.reduce(x, 2.0, jnp.minimum, (0,)), lax.reduce(x, 0.0, lambda a, b: jnp.maximum(a, b), (0,)),
                lax.reduce(jnp.array([True, False]), False, lax.bitwise_or, (0,)), lax.reduce(jnp.array([5, 6]), 0,
                lax.bitwise_xor, (0,)), *lax.reduce((x, x), (0.0, 1.0), lambda a, b: (a[0] + b[0], a[1] * b[1]), (1,
                )), jax.grad(lambda x: lax.reduce(x, 0.0, lax.add, (0,))[0])(x), lax.reduce_xor(jnp.array([5, 6, 9]), (0,
                )), lax.reduce_and(jnp.array([True, False]), (0,))]


@case
def lax_bits():
    x = jnp.asarray(np.array([1.0, -1.0, 0.0, 3.14159, 10000000000.0, 1e-10, 65519.0, 65520.0, 1e-07, -2.5, np.inf, np.nan,
                1e+38], np.float32))
    return [lax.reduce_precision(x, 5, 10), lax.reduce_precision(x, 8, 7), lax.reduce_precision(x, 8, 23), lax.reduce_precision(x,
                4, 3), lax.bitcast_convert_type(lax.nextafter(x, jnp.full_like(x, jnp.inf)),
                jnp.int32), lax.bitcast_convert_type(lax.nextafter(x, jnp.full_like(x, -5.0)), jnp.int32), jnp.nextafter(1.0,
                2.0), jnp.spacing(jnp.float32(3.0))]


@case
def specials():
    x = jnp.array([-3.0, -1.5, -0.5, 0.0, 0.3, 1.0, 1.7, 2.5, 4.0, 6.0, 9.0])
    p = jnp.array([0.1, 0.5, 1.0, 1.5, 2.0, 3.7, 10.0, 55.5])
    return [lax.erfc(x), jnp.log(lax.erfc(x)), lax.erf_inv(jnp.array([-0.99, -0.5, 0.0, 0.3, 0.999])),
                jax.grad(lambda x: lax.erfc(x).sum())(x), lax.lgamma(p), lax.digamma(p), sp.gammaln(jnp.array([-0.5, -1.5, 0.2])),
                lax.digamma(jnp.array([-0.5, -1.7])), sp.gamma(p[:-1]) / 1000.0, sp.gamma(jnp.array([-0.5, -1.5])), sp.ndtr(x),
                sp.log_ndtr(x * 2), sp.ndtri(jnp.array([0.01, 0.5, 0.9])), sp.logit(jnp.array([0.1, 0.5])),
                sp.xlogy(jnp.array([0.0, 2.0]), jnp.array([0.0, 3.0])), sp.xlog1py(jnp.array([0.0, 2.0]), jnp.array([-1.0, 3.0])),
                sp.entr(jnp.array([0.0, 0.3, -1.0])), sp.rel_entr(jnp.array([0.2, 0.0]), jnp.array([0.3, 0.1])),
                sp.kl_div(jnp.array([0.2]), jnp.array([0.3])), sp.betaln(2.0, 3.0), sp.expit(x), sp.logsumexp(x), sp.softmax(X),
                sp.erf(x), sp.beta(2.0, 3.5), jax.grad(lambda p: lax.lgamma(p).sum())(p), sp.factorial(jnp.array([0, 3, 5])),
                jax.grad(lambda x: sp.log_ndtr(x).sum())(x)]


@case
def batch_group():
    x = arr(4, 3, 8, 8)
    w = arr(6, 3, 3, 3)
    f = lambda x, w: lax.conv_general_dilated(x, w, (1, 1), "SAME", batch_group_count=2)
    y = arr(4, 8, 8, 3)
    u = arr(3, 3, 3, 6)
    return [f(x, w), *jax.grad(lambda *a: (f(*a) ** 2).sum(), (0, 1))(x, w), lax.conv_general_dilated(y, u, (2, 2), "VALID",
                dimension_numbers=("NHWC", "HWIO", "NHWC"), batch_group_count=2), lax.conv_general_dilated(y, u, (1, 1), "SAME",
                dimension_numbers=lax.conv_dimension_numbers(y.shape, u.shape, ("NHWC", "HWIO", "NHWC")))]


@case
def powers():
    u = jnp.array([0, 1, 2, 3, 7, 16, 255], jnp.uint8)
    i = jnp.array([-3, -1, 0, 1, 2, 5])
    return [jnp.power(u, u), jnp.power(u, 2), u ** jnp.uint8(3), jnp.power(i, jnp.array([3, 3, 0, 5, 7, 13])), jnp.power(i,
                jnp.abs(i)), i ** 3, jnp.power(jnp.array([2, 3], jnp.int8), jnp.array([7, 5], jnp.int8)), jnp.power(2,
                jnp.arange(5)), jnp.power(2.0, jnp.arange(5)), jnp.power(jnp.array([2, 3]), 2.5), jnp.power(u, jnp.array([1, 2, 3,
                4, 5, 6, 7])), jnp.power(jnp.array([True,
                False]), 2), jax.jit(jnp.power)(u, u), jax.vmap(jnp.power)(i, jnp.abs(i)), jnp.power(jnp.array([3], jnp.uint32),
                jnp.array([40], jnp.uint32))]


@case
def collect():
    x = jnp.asarray(X)
    f = lambda r: r / lax.psum(r, "b")
    g = lambda r: (lax.pmean(r, "b"), lax.pmax(r, "b"), lax.axis_index("b"), lax.all_gather(r, "b"))
    return [jax.vmap(f, axis_name="b")(x), *jax.vmap(g, axis_name="b")(x), jax.vmap(lambda a: jax.vmap(lambda b: lax.psum(a * b,
                ("i", "j")), axis_name="j")(jnp.arange(3.0)), axis_name="i")(jnp.arange(2.0)), jax.grad(lambda x: (jax.vmap(f,
                axis_name="b")(x) ** 2).sum())(x)]


@case
def lax_misc():
    x = jnp.asarray(X)
    gd = lax.GatherDimensionNumbers(offset_dims=(1,), collapsed_slice_dims=(0,), start_index_map=(0,))
    sd = lax.ScatterDimensionNumbers(update_window_dims=(1,), inserted_window_dims=(0,), scatter_dims_to_operand_dims=(0,))
    i = jnp.array([[0], [2], [9]])
    return [lax.gather(x, i, gd, (1, 6)), lax.gather(x, i, gd, (1, 6), mode="clip"), lax.scatter_add(x, i, jnp.ones((3, 6)), sd),
                lax.scatter(x, i, jnp.zeros((3, 6)), sd), lax.scatter(x, i, jnp.zeros((3, 6)), sd, mode="clip"),
                lax.select_n(x > 0, x, -x), lax.select_n(jnp.array([0, 1, 2]), *[jnp.full(3, k) for k in (5, 6, 7)]),
                lax.collapse(x[None], 1, 3), *lax.split(x, [1, 3]), lax.argmax(x, 1, jnp.int32), lax.index_in_dim(x, 1),
                lax.exp2(x), lax.batch_matmul(arr(2, 3, 4), arr(2, 4, 5)), lax.broadcast_to_rank(x, 3), lax.asin(x * 0.1),
                lax.acosh(x * x + 1.0), lax.dot(x, arr(6, 2), precision=lax.Precision.HIGHEST), lax.cumlogsumexp(x),
                lax.clamp(0.0, x, 0.5), lax.rem(x, 0.3), lax.reduce_window(x, -jnp.inf, lax.max, (2, 2), (1, 1), "VALID"),
                lax.dynamic_slice(x, (1, 2), (2, 2)), lax.dynamic_update_slice(x, jnp.zeros((2, 2)), (3, 5)),
                lax.rsqrt(x * x + 0.1), lax.map(lambda r: r.sum(), x), lax.map(lambda r: r.sum(), x, batch_size=3)]
