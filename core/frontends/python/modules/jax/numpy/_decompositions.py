# SPDX-License-Identifier: Apache-2.0
"""Orthogonal decompositions: QR by Householder's reflections, eigenvalues and singular values by Jacobi's rotations of all pairs of one
round together (Golub and Van Loan, Matrix Computations, 8.5 and 8.6), with the derivatives of what they find."""
from jax import _core
from jax._names import refuse as _refuse


def _square(a, name):
    a, = _core.promoted(a, to_float=True)
    if a.ndim < 2 or a.shape[-1] != a.shape[-2]:
        raise ValueError(f"Argument to {name} must be a square matrix or a batch of them, got shape {a.shape}")
    return a


def _each(function, a, *rest):
    """function (matrix, ...) for each matrix of a batch."""
    import jax
    if a.ndim == 2:
        return function(a, *rest)
    flat = [x.reshape((-1,) + x.shape[a.ndim - 2:]) for x in (a,) + rest]
    return jax.tree_util.tree_map(lambda r: r.reshape(a.shape[:-2] + r.shape[1:]), jax.vmap(function)(*flat))


def _matrix(a, name):
    a, = _core.promoted(a, to_float=True)
    if a.ndim < 2:
        raise ValueError(f"Argument to {name} must be a matrix or a batch of them, got shape {a.shape}")
    return a


# QR

def _qr(a):
    """(Q of all columns, R), each reflection with the sign that LAPACK takes."""
    import jax.numpy as jnp
    from jax import lax
    m, n = a.shape
    row = jnp.arange(m)

    def step(k, state):
        q, r = state
        column = lax.dynamic_index_in_dim(r, k, 1, keepdims=False)
        alpha = lax.dynamic_index_in_dim(column, k, 0, keepdims=False)
        below = jnp.where(row > k, column, 0.0)
        rest = jnp.sum(below * below)
        plain = rest == 0
        size = jnp.sqrt(alpha * alpha + jnp.where(plain, 1.0, rest))
        beta = jnp.where(alpha < 0, size, -size)
        tau = jnp.where(plain, 0.0, (beta - alpha) / beta)
        v = jnp.where(row == k, 1.0, below / jnp.where(plain, 1.0, alpha - beta))
        return q - tau * (q @ v)[:, None] * v[None, :], r - tau * v[:, None] * (v @ r)[None, :]
    return lax.fori_loop(0, min(m, n), step, (jnp.eye(m, dtype=a.dtype), a))


def qr(a, mode="reduced"):
    import jax.numpy as jnp
    if mode not in ("reduced", "complete", "r", "full"):
        _refuse("jnp.linalg.qr", "mode", mode, "reduced")
    a = _matrix(a, "qr")
    kept = a.shape[-2] if mode in ("complete", "full") else min(a.shape[-2:])
    q, r = _each(_qr, a)
    q, r = q[..., :kept], jnp.triu(r[..., :kept, :])
    return r if mode == "r" else (q, r)


# Rotations

def _rounds(n):
    """Who meets whom in each round, so that all pairs meet once: the circle method. One who has no partner meets itself."""
    players = list(range(n + n % 2))
    rounds = []
    for _ in range(len(players) - 1):
        partner = list(range(n))
        for a, b in zip(players[:len(players) // 2], reversed(players[len(players) // 2:])):
            if a < n and b < n:
                partner[a], partner[b] = b, a
        rounds.append(partner)
        players = [players[0], players[-1]] + players[1:-1]
    return rounds


def _rotation(g, partner):
    """The rotations that make the entries between partners of a symmetric matrix 0, in one orthogonal matrix."""
    import jax.numpy as jnp
    n = g.shape[0]
    place = jnp.arange(n)
    own = jnp.diagonal(g)
    there = (place[None, :] == partner[:, None]).astype(g.dtype)
    between = jnp.sum(g * there, 1)
    rests = (partner == place) | (between == 0)
    tau = (there @ own - own) / jnp.where(rests, 1.0, 2 * between)
    sign = jnp.where(tau == 0, jnp.where(place < partner, 1.0, -1.0), jnp.sign(tau))
    t = jnp.where(rests, 0.0, sign / (jnp.abs(tau) + jnp.sqrt(1 + tau * tau)))
    c = 1 / jnp.sqrt(1 + t * t)
    return jnp.diag(c) + there * (t * c)[:, None]


def _all_rounds(n):
    import jax.numpy as jnp
    rounds = _rounds(n)
    # Convergence is quadratic once the matrix is near diagonal.
    return jnp.array(rounds * (7 + max(n, 2).bit_length()))


def _eigh(a):
    import jax.numpy as jnp
    from jax import lax
    n = a.shape[0]
    if n < 2:
        return jnp.diagonal(a), jnp.ones_like(a)

    def step(state, partner):
        a, v = state
        j = _rotation(a, partner)
        a = j.T @ a @ j
        return ((a + a.T) / 2, v @ j), None
    a, v = lax.scan(step, (a, jnp.eye(n, dtype=a.dtype)), _all_rounds(n))[0]
    values = jnp.diagonal(a)
    order = jnp.argsort(values)
    return values[order], v[:, order]


def _svd(a):
    """(U, s, V) of a matrix with at least as many rows as columns: columns are rotated until they are orthogonal."""
    import jax.numpy as jnp
    from jax import lax
    n = a.shape[1]

    def step(state, partner):
        u, v = state
        j = _rotation(u.T @ u, partner)
        return (u @ j, v @ j), None
    u, v = a, jnp.eye(n, dtype=a.dtype)
    if n > 1:
        u, v = lax.scan(step, (u, v), _all_rounds(n))[0]
    sizes = jnp.sqrt(jnp.sum(u * u, 0))
    order = jnp.argsort(-sizes)
    u, v, sizes = u[:, order], v[:, order], sizes[order]
    return u / jnp.where(sizes == 0, 1.0, sizes), sizes, v


def _derived(function, rule):
    import jax
    made = jax.custom_vjp(function)
    made.defvjp(lambda a: (lambda out: (out, out))(function(a)), lambda out, g: (rule(out, g),))
    return made


def _inverse_gaps(x):
    """1 / (x_j - x_i), 0 on the diagonal."""
    import jax.numpy as jnp
    gap = x[None, :] - x[:, None]
    apart = ~jnp.eye(x.shape[0], dtype=bool)
    return jnp.where(apart, 1 / jnp.where(apart, gap, 1.0), 0.0)


def _eigh_rule(out, g):
    import jax.numpy as jnp
    (w, v), (gw, gv) = out, g
    return v @ (jnp.diag(gw) + _inverse_gaps(w) * (v.T @ gv)) @ v.T


def _svd_rule(out, g):
    (u, s, v), (gu, gs, gv) = out, g
    import jax.numpy as jnp
    gaps = _inverse_gaps(s * s)
    left, right = gaps * (u.T @ gu - gu.T @ u), gaps * (v.T @ gv - gv.T @ v)
    inner = left * s[None, :] + s[:, None] * right + jnp.diag(gs)
    return (u @ inner + (gu - u @ (u.T @ gu)) / s) @ v.T + (u / s) @ (gv - v @ (v.T @ gv)).T


def eigh(a, UPLO=None, symmetrize_input=True):
    import jax.numpy as jnp
    a = _square(a, "eigh")
    if UPLO == "U" and not symmetrize_input:
        a = jnp.swapaxes(a, -1, -2)
    lower = jnp.tril(a)
    a = (a + jnp.swapaxes(a, -1, -2)) / 2 if symmetrize_input else lower + jnp.swapaxes(jnp.tril(a, -1), -1, -2)
    return _each(_derived(_eigh, _eigh_rule), a)


def eigvalsh(a, UPLO="L", *, symmetrize_input=True):
    return eigh(a, UPLO, symmetrize_input)[0]


def thin_svd(a):
    """(U, s, V^T) of min (m, n) columns and rows."""
    import jax.numpy as jnp
    a = _matrix(a, "svd")
    wide = a.shape[-2] < a.shape[-1]
    u, s, v = _each(_derived(_svd, _svd_rule), jnp.swapaxes(a, -1, -2) if wide else a)
    u, v = (v, u) if wide else (u, v)
    return u, s, jnp.swapaxes(v, -1, -2)


def _completed(u):
    """Orthonormal columns and those that make them a basis."""
    import jax.numpy as jnp
    m, n = u.shape[-2:]
    return u if m == n else jnp.concatenate([u, _each(_qr, u)[0][..., n:]], -1)


def svd(a, full_matrices=True, compute_uv=True, hermitian=False, subset_by_index=None):
    import jax.numpy as jnp
    _refuse("jnp.linalg.svd", "hermitian", hermitian, False)
    _refuse("jnp.linalg.svd", "subset_by_index", subset_by_index, None)
    u, s, vt = thin_svd(a)
    if not compute_uv:
        return s
    if full_matrices:
        u, vt = _completed(u), jnp.swapaxes(_completed(jnp.swapaxes(vt, -1, -2)), -1, -2)
    return u, s, vt


def svdvals(x):
    return svd(x, compute_uv=False)


# What they give

def _kept(s, rcond):
    import jax.numpy as jnp
    return s > jnp.asarray(rcond)[..., None] * jnp.max(s, -1, keepdims=True)


def pinv(a, rtol=None, hermitian=False, *, rcond=None):
    import jax.numpy as jnp
    _refuse("jnp.linalg.pinv", "hermitian", hermitian, False)
    a = _matrix(a, "pinv")
    rtol = rcond if rtol is None else rtol
    rtol = 10.0 * max(a.shape[-2:]) * jnp.finfo(a.dtype).eps if rtol is None else rtol
    u, s, vt = thin_svd(a)
    kept = _kept(s, rtol)
    return jnp.swapaxes(vt, -1, -2) @ (jnp.where(kept, 1 / jnp.where(kept, s, 1.0), 0.0)[..., None] * jnp.swapaxes(u, -1, -2))


def matrix_rank(M, rtol=None, *, tol=None):
    import jax.numpy as jnp
    a = _matrix(M, "matrix_rank")
    s = svd(a, compute_uv=False)
    rtol = tol if rtol is None else rtol
    rtol = max(a.shape[-2:]) * jnp.finfo(a.dtype).eps if rtol is None else rtol
    return jnp.sum(_kept(s, rtol), -1)


def cond(x, p=None):
    import jax.numpy as jnp
    from jax.numpy import linalg
    if p in (None, 2, -2):
        s = svd(x, compute_uv=False)
        return s[..., -1] / s[..., 0] if p == -2 else s[..., 0] / s[..., -1]
    return linalg.norm(x, p, (-2, -1)) * linalg.norm(linalg.inv(x), p, (-2, -1))


def lstsq(a, b, rcond=None, *, numpy_resid=False):
    import jax.numpy as jnp
    a, b = _core.promoted(a, b, to_float=True)
    if a.ndim != 2 or b.ndim not in (1, 2) or a.shape[0] != b.shape[0]:
        raise ValueError(f"lstsq: a of shape {a.shape} and b of shape {b.shape} do not fit")
    vector = b.ndim == 1
    columns = b[:, None] if vector else b
    m, n = a.shape
    u, s, vt = thin_svd(a)
    kept = s >= (jnp.finfo(a.dtype).eps * max(m, n) if rcond is None else rcond) * s[0]
    rank = jnp.sum(kept)
    x = vt.T @ (jnp.where(kept, 1 / jnp.where(kept, s, 1.0), 0.0)[:, None] * (u.T @ columns))
    residuals = jnp.sum((columns - a @ x) ** 2, 0) if m > n or not numpy_resid else jnp.zeros((0,), a.dtype)
    return x[:, 0] if vector else x, residuals, rank, s


def matrix_norm_by_values(x, ord):
    """Norms that are of the singular values: 2, -2 and the nuclear one."""
    import jax.numpy as jnp
    s = svd(x, compute_uv=False)
    return {2: lambda: jnp.max(s, -1), -2: lambda: jnp.min(s, -1), "nuc": lambda: jnp.sum(s, -1)}[ord]()


def expm(a):
    """By squaring what Padé's approximation of degree 7 gives of a small part (Higham, SIAM Journal on Matrix Analysis 26, 2005)."""
    import jax.numpy as jnp
    from jax.numpy import linalg
    a = _square(a, "expm")

    def of(a):
        size = jnp.max(jnp.sum(jnp.abs(a), 0))
        squarings = jnp.clip(jnp.ceil(jnp.log2(jnp.where(size > 0, size, 1.0) / 3.9)), 0, 16)
        b = a / 2.0 ** squarings
        c = (17297280.0, 8648640.0, 1995840.0, 277200.0, 25200.0, 1512.0, 56.0, 1.0)
        one, two = jnp.eye(a.shape[0], dtype=a.dtype), b @ b
        four = two @ two
        six = four @ two
        odd = b @ (c[7] * six + c[5] * four + c[3] * two + c[1] * one)
        even = c[6] * six + c[4] * four + c[2] * two + c[0] * one
        result = linalg.solve(even - odd, even + odd)
        for i in range(16):
            result = jnp.where(i < squarings, result @ result, result)
        return result
    return _each(of, a)

