# SPDX-License-Identifier: Apache-2.0
"""Convolutions in any layout over the core one, and windows."""
import itertools
from jax import _core


def _layout(numbers, rank):
    """(lhs, rhs, out) as permutations from the core layout: N C spatial, O I spatial, N C spatial."""
    if numbers is None:
        return (tuple(range(rank)),) * 3
    if isinstance(numbers[0], str):
        spatial = [c for c in numbers[0] if c not in "NC"]
        names = ["NC" + "".join(spatial), "OI" + "".join(spatial), "NC" + "".join(spatial)]
        return tuple(tuple(text.index(c) for c in name) for text, name in zip(numbers, names))
    return tuple(tuple(n) for n in numbers)


class ConvDimensionNumbers(tuple):
    """Where batch, features and positions stand in the operands and the result."""
    lhs_spec, rhs_spec, out_spec = (property(lambda self, i=i: self[i]) for i in range(3))


def dimension_numbers(lhs_shape, rhs_shape, dimension_numbers):
    """conv_dimension_numbers of the shapes of both operands"""
    if isinstance(dimension_numbers, ConvDimensionNumbers):
        return dimension_numbers
    return ConvDimensionNumbers(_layout(dimension_numbers, len(lhs_shape)))


def _padding(padding, sizes, window, strides, dilation):
    if not isinstance(padding, str):
        return [tuple(p) for p in padding]
    if padding.upper() == "VALID":
        return [(0, 0)] * len(sizes)
    result = []
    for n, k, s, d in zip(sizes, window, strides, dilation):
        need = max((-(-n // s) - 1) * s + (k - 1) * d + 1 - n, 0)
        low = need // 2 if padding.upper() == "SAME" else need - need // 2
        result.append((low, need - low))
    return result


def _beside(x, groups):
    """The parts of a batch as groups of features of a smaller one."""
    apart = _core.reshape(x, (groups, x.shape[0] // groups) + x.shape[1:])
    return _core.reshape(_core.transpose(apart, [1, 0] + list(range(2, len(apart.shape)))), (x.shape[0] // groups, groups * x.shape[1]) + x.shape[2:])


def general(lhs, rhs, strides, padding, lhs_dilation, rhs_dilation, numbers, groups, batch_groups=1):
    lhs, rhs = _core.promoted(lhs, rhs)
    rank = len(lhs.shape)
    left, right, out = _layout(numbers, rank)
    x, w = _core.transpose(lhs, left), _core.transpose(rhs, right)
    n = rank - 2
    if batch_groups != 1:
        if groups != 1 or x.shape[0] % batch_groups or w.shape[0] % batch_groups:
            raise ValueError(f"conv_general_dilated: batch_group_count={batch_groups} does not divide a batch of {x.shape[0]} and "
                             f"{w.shape[0]} features, or feature_group_count={groups} is not 1")
        x, groups = _beside(x, batch_groups), batch_groups
    dilation = tuple(rhs_dilation or (1,) * n)
    pads = _padding(padding, x.shape[2:], w.shape[2:], strides, dilation)
    y = _core.op("convolution", (x, w), {
        "window_strides": tuple(strides), "padding": [v for p in pads for v in p], "lhs_dilation": tuple(lhs_dilation or (1,) * n),
        "rhs_dilation": dilation, "feature_group_count": groups})
    return _core.transpose(y, [out.index(d) for d in range(rank)])


def transposed(lhs, rhs, strides, padding, rhs_dilation, numbers, consistent, transpose_kernel):
    """Named paddings, and where @consistent is said also numbers, are those of the convolution whose transpose this is; so is the kernel
    where @transpose_kernel is."""
    lhs, rhs = _core.asarray(lhs), _core.asarray(rhs)
    n = len(lhs.shape) - 2
    if numbers is None:
        spatial = "HWD"[:n] if n < 3 else "HWD"
        numbers = (f"N{spatial}C", f"{spatial}IO", f"N{spatial}C")
    sizes = [rhs.shape[d] for d in _layout(numbers, n + 2)[1][2:]]
    sizes = [d * (k - 1) + 1 for k, d in zip(sizes, rhs_dilation or (1,) * n)]
    if isinstance(padding, str) or consistent:
        padding = [_transposed_padding(k, s, p)
                   for k, s, p in zip(sizes, strides, [padding] * n if isinstance(padding, str) else padding)]
    if transpose_kernel:
        import jax.numpy as jnp
        spec = _layout(numbers, n + 2)[1]
        rhs = jnp.swapaxes(jnp.flip(rhs, spec[2:]), *spec[:2])
    return general(lhs, rhs, (1,) * n, padding, strides, rhs_dilation, numbers, 1)


def patches(lhs, window, strides, padding, lhs_dilation, rhs_dilation, numbers):
    import jax.numpy as jnp
    x = _core.asarray(lhs)
    left, right, _ = _layout(numbers, x.ndim)
    channels, places = x.shape[left[1]], _core.product(window)
    w = jnp.reshape(jnp.tile(jnp.eye(places, dtype=x.dtype), (channels, 1)), (channels * places, 1) + tuple(window))
    w = _core.transpose(w, [right.index(d) for d in range(x.ndim)])
    return general(x, w, strides, padding, lhs_dilation, rhs_dilation, numbers, channels)


def _transposed_padding(k, s, padding):
    if not isinstance(padding, str):
        return tuple(k - p - 1 for p in padding)
    if padding.upper() == "VALID":
        return k - 1, s - 1 + max(k - s, 0)
    total = k + s - 2
    low = k - 1 if s > k - 1 else -(-total // 2)
    return low, total - low


def _kind(computation):
    name = getattr(computation, "__name__", "")
    for kind, names in (("add", ("add",)), ("max", ("maximum", "max")), ("min", ("minimum", "min")), ("mul", ("multiply", "mul"))):
        if name in names:
            return kind
    return None


_MOST_PLACES = 1024  # of a window


def _fold_windows(x, init, computation, window, strides, pads, base, apart):
    """By any function: place by place of the window."""
    x = _core.op("pad", (x, init), {"edge_padding_low": [p[0] for p in pads], "edge_padding_high": [p[1] for p in pads],
                                    "interior_padding": [d - 1 for d in base]})
    if _core.product(window) > _MOST_PLACES:
        raise NotImplementedError(f"lax.reduce_window by a function of one's own over more than {_MOST_PLACES} places")
    spans = [(n - (k - 1) * d - 1) // s + 1 for n, k, d, s in zip(x.shape, window, apart, strides)]
    result = _core.broadcast_to(init, spans)
    for place in itertools.product(*map(range, window)):
        starts = [p * d for p, d in zip(place, apart)]
        result = computation(result, x[tuple(slice(a, a + (n - 1) * s + 1, s) for a, n, s in zip(starts, spans, strides))])
    return result


def reduce_window(operand, init_value, computation, window, strides, padding, base_dilation=None, window_dilation=None):
    x = _core.asarray(operand)
    kind = _kind(computation)
    base, apart = (tuple(d) if d is not None else (1,) * len(window) for d in (base_dilation, window_dilation))
    sizes = [(s - 1) * d + 1 if s > 0 else 0 for s, d in zip(x.shape, base)]
    pads = _padding(padding, sizes, window, strides, apart)
    if kind is None:
        return _fold_windows(x, _core.convert(_core.asarray(init_value), x.dtype), computation, window, strides, pads, base, apart)
    result = _core.op("reduce_window", (x,), {"kind": kind, "window_dimensions": tuple(window), "window_strides": tuple(strides),
                                              "base_dilations": base, "window_dilations": apart,
                                              "padding": [v for p in pads for v in p]})
    neutral = {"add": 0, "mul": 1, "max": -float("inf"), "min": float("inf")}[kind]
    if _core.is_scalar(init_value) and init_value == neutral:
        return result
    return computation(result, _core.convert(_core.asarray(init_value), x.dtype))
