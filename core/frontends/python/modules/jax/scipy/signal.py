# SPDX-License-Identifier: Apache-2.0
"""Convolutions of arrays of any rank."""
import jax.numpy as jnp
from jax import lax
from jax._names import missing as _missing, refuse as _refuse


def _filtered(name, a, v, mode, turned, method="auto"):
    _refuse(name, "method", method, "auto", "direct")
    a, v = jnp.asarray(a, "float32"), jnp.asarray(v, "float32")
    if a.ndim != v.ndim:
        raise ValueError(f"{name}: {a.ndim} dimensions and {v.ndim}")
    swapped = mode == "valid" and any(m > n for n, m in zip(a.shape, v.shape))
    if swapped:
        a, v = v, a
    pads = {"full": [(m - 1, m - 1) for m in v.shape], "valid": [(0, 0)] * a.ndim, "same": [(m // 2, m - 1 - m // 2) for m in v.shape]}
    if mode not in pads:
        raise ValueError(f"{name}: mode must be one of {sorted(pads)}, got {mode!r}")
    if mode == "same":
        pads["same"] = [(m - 1 - (m - 1) // 2, (m - 1) // 2) for m in v.shape] if turned else [((m - 1) // 2, m - 1 - (m - 1) // 2) for m in v.shape]
    if turned:
        v = jnp.flip(v)
    result = lax.conv_general_dilated(a[None, None], v[None, None], (1,) * a.ndim, pads[mode])[0, 0]
    return jnp.flip(result) if swapped and not turned else result


def convolve(in1, in2, mode="full", method="auto", precision=None):
    return _filtered("jax.scipy.signal.convolve", in1, in2, mode, True, method)


def convolve2d(in1, in2, mode="full", boundary="fill", fillvalue=0, precision=None):
    _refuse("jax.scipy.signal.convolve2d", "boundary", boundary, "fill")
    _refuse("jax.scipy.signal.convolve2d", "fillvalue", fillvalue, 0)
    return _filtered("jax.scipy.signal.convolve2d", in1, in2, mode, True)


def __getattr__(name):
    raise _missing("jax.scipy.signal", name, globals())
