# SPDX-License-Identifier: Apache-2.0
"""Products."""
from jax import _core, _types
from jax._core import asarray as _asarray
from jax._names import refuse as _refuse
from jax._types import as_dtype

__all__ = "matmul dot vdot inner outer tensordot einsum trace cross kron vecdot convolve".split()


def _dtype(value):
    return None if value is None else as_dtype(value)


def matmul(a, b, *, precision=None, preferred_element_type=None):
    return _core.matmul(a, b, _dtype(preferred_element_type))


def dot(a, b, *, precision=None, preferred_element_type=None):
    a, b = _core.promoted(a, b)
    if not a.ndim or not b.ndim:
        return a * b
    if b.ndim == 1:
        return _core.matmul(a, b)
    return _core.dot_general(a, b, (((a.ndim - 1,), (b.ndim - 2,)), ((), ())), _dtype(preferred_element_type))


def vdot(a, b, *, precision=None, preferred_element_type=None):
    return dot(_asarray(a).flatten(), _asarray(b).flatten(), preferred_element_type=preferred_element_type)


def vecdot(a, b, *, axis=-1):
    import jax.numpy as jnp
    return jnp.sum(_asarray(a) * b, axis)


def inner(a, b, *, precision=None, preferred_element_type=None):
    a, b = _core.promoted(a, b)
    if not a.ndim or not b.ndim:
        return a * b
    return _core.dot_general(a, b, (((a.ndim - 1,), (b.ndim - 1,)), ((), ())), _dtype(preferred_element_type))


def outer(a, b, out=None):
    _refuse("jnp.outer", "out", out, None)
    return _core.reshape(_asarray(a), (_asarray(a).size, 1)) * _asarray(b).flatten()


def tensordot(a, b, axes=2, *, precision=None, preferred_element_type=None):
    a, b = _core.promoted(a, b)
    if isinstance(axes, int):
        axes = list(range(a.ndim - axes, a.ndim)), list(range(axes))
    left, right = ([v] if isinstance(v, int) else list(v) for v in axes)
    return _core.dot_general(a, b, ((tuple(i % a.ndim for i in left), tuple(i % b.ndim for i in right)), ((), ())),
                             _dtype(preferred_element_type))


def trace(a, offset=0, axis1=0, axis2=1):
    import jax.numpy as jnp
    return jnp.sum(jnp.diagonal(a, offset, axis1, axis2), -1)


def cross(a, b, axis=-1):
    import jax.numpy as jnp
    a, b = (jnp.moveaxis(_asarray(v), axis, -1) for v in (a, b))
    c = [a[..., i] * b[..., j] - a[..., j] * b[..., i] for i, j in ((1, 2), (2, 0), (0, 1))]
    return jnp.moveaxis(jnp.stack(c, -1), -1, axis)


def kron(a, b):
    a, b = _asarray(a), _asarray(b)
    shape = [d for n, m in zip(a.shape, b.shape) for d in (n, m)]
    left = _core.reshape(a, [d for n in a.shape for d in (n, 1)])
    right = _core.reshape(b, [d for n in b.shape for d in (1, n)])
    return _core.reshape(_core.broadcast_to(left, shape) * _core.broadcast_to(right, shape), [n * m for n, m in zip(a.shape, b.shape)])


def convolve(a, v, mode="full", *, precision=None, preferred_element_type=None):
    from jax import lax
    a, v = _core.promoted(a, v)
    if a.size < v.size:
        a, v = v, a
    n = v.shape[0]
    low, high = {"full": (n - 1, n - 1), "same": (n // 2, n - n // 2 - 1), "valid": (0, 0)}[mode]
    kernel = _core.op("reverse", (v,), {"dimensions": (0,)})
    return lax.conv_general_dilated(a[None, None], kernel[None, None], (1,), [(low, high)],
                                    preferred_element_type=preferred_element_type)[0, 0]


# einsum

def _expanded(text, arrays):
    """Operand subscripts and those of the result, with letters for what an ellipsis stands for."""
    text = text.replace(" ", "")
    left, arrow, out = text.partition("->")
    terms = left.split(",")
    if len(terms) != len(arrays):
        raise ValueError(f"einsum: {len(terms)} subscripts for {len(arrays)} operands")
    free = [c for c in "ABCDEFGHIJKLMNOPQRSTUVWXYZ" if c not in text]
    ranks = [a.ndim - len(t.replace("...", "")) for t, a in zip(terms, arrays) if "..." in t]
    widest = "".join(free[:max(ranks, default=0)])
    terms = [t.replace("...", widest[len(widest) - (a.ndim - len(t.replace("...", ""))):] if "..." in t else "") for t, a in zip(terms, arrays)]
    if not arrow:
        letters = "".join(terms)
        out = widest + "".join(sorted(c for c in set(letters) if letters.count(c) == 1 and c not in widest))
    return terms, out.replace("...", widest)


def _without_repeats(array, term):
    """The diagonal where a letter stands twice."""
    import jax.numpy as jnp
    for c in dict.fromkeys(term):
        while term.count(c) > 1:
            i, j = [k for k, d in enumerate(term) if d == c][:2]
            array = jnp.diagonal(array, 0, i, j)
            term = "".join(d for k, d in enumerate(term) if k not in (i, j)) + c
    return array, term


def _sum_out(array, term, keep):
    gone = [i for i, c in enumerate(term) if c not in keep]
    return _core.reduce("add", array, gone), "".join(c for c in term if c in keep)


def _contract(a, ta, b, tb, keep):
    """Two operands over their common letters: those in @keep are batches, the others are summed."""
    a, ta = _sum_out(a, ta, set(tb) | keep)
    b, tb = _sum_out(b, tb, set(ta) | keep)
    common = [c for c in ta if c in tb]
    batch, summed = [c for c in common if c in keep], [c for c in common if c not in keep]
    numbers = ((tuple(ta.index(c) for c in summed), tuple(tb.index(c) for c in summed)),
               (tuple(ta.index(c) for c in batch), tuple(tb.index(c) for c in batch)))
    result = _core.dot_general(a, b, numbers)
    return result, "".join(batch) + "".join(c for c in ta if c not in common) + "".join(c for c in tb if c not in common)


def _by_numbers(values):
    """Subscripts and operands of einsum (a, [0, 1], b, [1, 2], [0, 2])."""
    letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

    def text(numbers):
        return "".join("..." if n is Ellipsis else letters[n] for n in numbers)
    pairs = list(zip(values[::2], values[1::2]))
    subscripts = ",".join(text(n) for _, n in pairs)
    return subscripts + ("->" + text(values[-1]) if len(values) % 2 else ""), [a for a, _ in pairs]


def einsum(subscripts, *operands, precision=None, preferred_element_type=None, optimize=None):
    if not isinstance(subscripts, str):
        subscripts, operands = _by_numbers((subscripts,) + operands)
    arrays = _core.promoted(*operands)
    terms, out = _expanded(subscripts, arrays)
    sizes = {}
    pairs = [_without_repeats(a, t) for a, t in zip(arrays, terms)]
    for a, t in pairs:
        for n, c in zip(a.shape, t):
            sizes[c] = max(sizes.get(c, 1), n)
    # A size of 1 is spread to what the others have.
    pairs = [(_core.broadcast_to(a, [sizes[c] for c in t]), t) for a, t in pairs]
    while len(pairs) > 1:
        (a, ta), (b, tb) = pairs[:2]
        keep = set(out).union(*(t for _, t in pairs[2:]))
        pairs = [_contract(a, ta, b, tb, keep)] + pairs[2:]
    result, term = _sum_out(*pairs[0], set(out))
    result = _core.transpose(result, [term.index(c) for c in out])
    return result if preferred_element_type is None else _core.convert(result, as_dtype(preferred_element_type))
