# SPDX-License-Identifier: Apache-2.0
"""Systems that are solved by products with their matrix: of trees, with the derivative of the solution."""
import _gantry
import jax
import jax.numpy as jnp
from jax import lax
from jax._names import missing as _missing
from jax.flatten_util import ravel_pytree
from jax.tree_util import tree_leaves, tree_map, tree_structure


def _dot(a, b):
    return sum(jnp.vdot(x, y) for x, y in zip(tree_leaves(a), tree_leaves(b)))


def _plus(a, scale, b):
    return tree_map(lambda x, y: x + scale * y, a, b)


def _conjugate_gradients(A, M, b, x, limit, steps):
    """Hestenes and Stiefel, 1952. @limit: of the residual's square"""
    r = _plus(b, -1, A(x))
    z = M(r)

    def step(s):
        x, r, p, rz, k = s
        product = A(p)
        alpha = rz / _dot(p, product)
        x, r = _plus(x, alpha, p), _plus(r, -alpha, product)
        z = M(r)
        after = _dot(r, z)
        return x, r, _plus(z, after / rz, p), after, k + 1
    return lax.while_loop(lambda s: (_dot(s[1], s[1]) > limit) & (s[4] < steps), step, (x, r, z, _dot(r, z), 0))[0]


def _stabilized(A, M, b, x, limit, steps):
    """van der Vorst, Bi-CGSTAB, 1992."""
    r = _plus(b, -1, A(x))
    first, one = r, jnp.ones_like(_dot(r, r))
    zeros = tree_map(jnp.zeros_like, r)

    def step(s):
        x, r, rho, alpha, omega, p, v, k = s
        after = _dot(first, r)
        p = _plus(r, after / rho * alpha / omega, _plus(p, -omega, v))
        near = M(p)
        v = A(near)
        alpha = after / _dot(first, v)
        half = _plus(r, -alpha, v)
        near_half = M(half)
        t = A(near_half)
        omega = _dot(t, half) / _dot(t, t)
        done = _dot(half, half) <= limit
        omega = jnp.where(done, jnp.ones_like(omega), omega)
        x = _plus(_plus(x, alpha, near), jnp.where(done, 0.0, omega), near_half)
        r = tree_map(lambda a, b: jnp.where(done, a, a - omega * b), half, t)
        return x, r, after, alpha, omega, p, v, k + 1
    return lax.while_loop(lambda s: (_dot(s[1], s[1]) > limit) & (s[7] < steps), step, (x, r, one, one, one, zeros, zeros, 0))[0]


def _solver(method):
    def solve(A, b, x0=None, *, tol=1e-5, atol=0.0, maxiter=None, M=None):
        product = A if callable(A) else lambda x: jnp.asarray(A) @ x
        near = (lambda x: x) if M is None else M if callable(M) else lambda x: jnp.asarray(M) @ x
        b = tree_map(jnp.asarray, b)
        x0 = tree_map(jnp.zeros_like, b) if x0 is None else tree_map(jnp.asarray, x0)
        structure = tree_structure(b)
        steps = 10 * sum(x.size for x in tree_leaves(b)) if maxiter is None else maxiter

        def run(product, b, x0):
            limit = jnp.maximum(jnp.square(tol) * _dot(b, b), jnp.square(jnp.float32(atol)))
            return method(product, near if tree_structure(b) == structure else lambda x: x, b, x0, limit, steps)
        return _differentiable(product, run, b, x0), None
    return solve


_MOST_DENSE = 1024


def _differentiable(product, run, b, x0):
    """
    The solution, whose derivative is by the transposed system: nothing is differentiated through the steps. A rule may read no variable that
    @product reads, so that it is given the matrix, of which @product makes a column at a time.
    """
    constant = lax.stop_gradient
    found = tree_map(constant, run(lambda x: tree_map(constant, product(x)), tree_map(constant, b), tree_map(constant, x0)))
    if not _gantry.differentiating():
        return found
    flat, whole = ravel_pytree(found)
    if flat.size > _MOST_DENSE:
        raise NotImplementedError(f"the derivative of a system of {flat.size} unknowns that is solved by products; up to {_MOST_DENSE} are supported")
    columns = jax.vmap(lambda e: ravel_pytree(product(whole(e)))[0])(jnp.eye(flat.size, dtype=flat.dtype))

    @jax.custom_vjp
    def correction(rest, rows):
        return jnp.zeros_like(rest)

    def backward(rows, g):
        return run(lambda x: rows @ x, g, jnp.zeros_like(g)), jnp.zeros_like(rows)
    correction.defvjp(lambda rest, rows: (correction(rest, rows), rows), backward)
    rest = ravel_pytree(_plus(b, -1, product(found)))[0]
    return _plus(found, 1, whole(correction(rest, constant(columns))))


cg = _solver(_conjugate_gradients)
bicgstab = _solver(_stabilized)


def __getattr__(name):
    raise _missing("jax.scipy.sparse.linalg", name, globals())
