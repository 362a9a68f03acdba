# SPDX-License-Identifier: Apache-2.0
"""Primitives over functions that have the same meaning, and loops as primitives."""
import _gantry
from mindspore import _core
from mindspore._core import convert, float32, int32, int64
from mindspore.ops import _bessel, _image, _linear, _neural, _random, function as _f
from mindspore.ops.primitive import Primitive, primitive_of as _primitive_of


def _axes(x):
    return x.tolist() if isinstance(x, _core.Tensor) else x


def _resized(mode):
    def compute(x, size, align_corners, half_pixel_centers):
        from mindspore.ops._resize import resized
        way = "corners" if align_corners else "half" if half_pixel_centers else "corner"
        return resized(x, tuple(_axes(size)), mode, way, rounded=mode == "nearest" and align_corners)
    return compute


def _check_numerics(x):
    if x.is_variable and not x.has_data:
        raise _core.NeedsData("'CheckNumerics' has to know its operand")
    if not _f.isfinite(x).all().tolist():
        raise RuntimeError("For 'CheckNumerics', the input contains NaN or Inf.")
    return x


def _lstsq(x, a, fast, l2_regularizer):
    if l2_regularizer:
        n = x.shape[-1]
        x = _f.concat([x, _core.mul(convert(_f.eye(n, n, float32), x.dtype), float(l2_regularizer) ** 0.5)], 0)
        a = _f.concat([a, _core.full((n,) + tuple(a.shape[1:]), 0, a.dtype)], 0)
    return _f.lstsq(x, a)


def _index_put(x1, x2, indices, accumulate):
    return x1.index_put(tuple(indices), x2, accumulate=bool(accumulate))


def _triangular(a, b, lower, adjoint):
    keep = _f.tril(a) if lower else _f.triu(a)
    return _linear.matrix_solve(_core.swapaxes(keep, -1, -2) if adjoint else keep, b)


def _bincount(array, size, weights):
    n = int(_axes(size) if not isinstance(size, _core.Tensor) else size.asnumpy())
    counted = _f.bincount(array, weights if weights.size else None, n)[:n]
    return convert(counted, weights.dtype)


def _to_dense(indices, values, shape):
    return _f.scatter_nd(indices, values, tuple(_axes(shape)))


def _sparse_dense_matmul(indices, values, shape, dense, adjoint_st, adjoint_dt):
    made = _to_dense(indices, values, shape)
    made = _core.swapaxes(made, 0, 1) if adjoint_st else made
    return _core.matmul(made, _core.swapaxes(dense, 0, 1) if adjoint_dt else dense)


def _assert(condition, data, summarize):
    if not condition.has_data:
        raise _core.NeedsData("For 'Assert', the condition has to be known")
    if not bool(condition):
        raise RuntimeError(f"assert failed: {[str(d) for d in data][:summarize]}")


def _ctc_loss(x, indices, values, length, **attributes):
    raise NotImplementedError("For 'CTCLoss', labels as a sparse tensor are not supported; ops.ctc_loss takes them densely.")


_table = {
    **{"Bessel" + n.upper().replace("E", "e"): (getattr(_bessel, "bessel_" + n), "", ()) for n in ("j0", "j1", "y0", "y1", "k0", "k1", "k0e", "k1e")},
    "AdaptiveMaxPool3D": (lambda x, size: _f.adaptive_max_pool3d(x, tuple(_axes(size)), True), "", ()),
    "Bernoulli": (lambda x, p, seed, offset: _random.bernoulli(x, p, seed if seed > 0 else None), "seed offset", (-1, 0)),
    "Bincount": (_bincount, "", ()), "CholeskySolve": (lambda x1, x2, upper: _f.cholesky_solve(x1, x2, upper), "upper", (False,)),
    "CheckNumerics": (_check_numerics, "", ()), "Assert": (_assert, "summarize", (3,)),
    "IndexPut": (_index_put, "accumulate", (0,)),
    "MatrixTriangularSolve": (_triangular, "lower adjoint", (True, False)),
    "MaxUnpool3D": (lambda x, places, ksize, strides, pads, output_shape, data_format: _image.max_unpool3d(
        x, places, ksize, strides or None, pads, tuple(output_shape) or None), "ksize strides pads output_shape data_format", (0, 0, (), "NCDHW")),
    "Qr": (lambda x, full_matrices: _f.qr(x, "complete" if full_matrices else "reduced"), "full_matrices", (False,)),
    "ResizeBilinearV2": (_resized("linear"), "align_corners half_pixel_centers", (False, False)),
    "ResizeNearestNeighborV2": (_resized("nearest"), "align_corners half_pixel_centers", (False, False)),
    "ResizeBicubic": (_resized("cubic"), "align_corners half_pixel_centers", (False, False)),
    "ResizeLinear1D": (lambda x, size, coordinate_transformation_mode: _f.interpolate(
        x, int(_axes(size)[0]), mode="linear", align_corners=coordinate_transformation_mode == "align_corners"),
        "coordinate_transformation_mode", ("align_corners",)),
    "UpsampleNearest3D": (lambda x, size, scales=None: _f.interpolate(x, _axes(size), _axes(scales), "nearest"), "", ()),
    "UpsampleTrilinear3D": (lambda x, size, scales=None, align_corners=False: _f.interpolate(
        x, _axes(size), _axes(scales), "trilinear", align_corners), "align_corners", (False,)),
    "SparseToDense": (_to_dense, "", ()), "SparseTensorDenseMatmul": (_sparse_dense_matmul, "adjoint_st adjoint_dt", (False, False)),
    "SparseTensorDenseAdd": (lambda indices, values, shape, dense: _f.tensor_scatter_add(dense, indices, values), "", ()),
    "Svd": (lambda x, full_matrices, compute_uv: _f.svd(x, full_matrices, compute_uv), "full_matrices compute_uv", (False, True)),
    "DynamicShape": (_f.dyn_shape, "", ()), "ScalarCast": (lambda x, kind: kind.python(x) if hasattr(kind, "python") else kind(x), "", ()),
    "ParallelConcat": (lambda xs: _f.concat(xs, 0), "", ()),
}
_table["Lstsq"] = (_lstsq, "fast l2_regularizer", (True, 0.0))
_table["CTCLoss"] = (_ctc_loss, "preprocess_collapse_repeated ctc_merge_repeated ignore_longer_outputs_than_inputs", (False, True, False))

for _name, (_function, _attributes, _defaults) in _table.items():
    globals()[_name] = _primitive_of(_name, _function, tuple(_attributes.split()), _defaults)


class WhileLoop(Primitive):
    """init_val = loop_func (init_val) while cond_func (init_val)."""

    def compute(self, cond_func, loop_func, init_val):
        value = init_val
        for _ in range(200000):
            verdict = _gantry.call(cond_func, (value,))
            if isinstance(verdict, (_core.Tensor, _core.Scalar)) and verdict.is_variable and not getattr(verdict, "has_data", False):
                raise _core.NeedsData("For 'WhileLoop', a condition on data is written as a while statement in a graph")
            if not bool(verdict):
                return value
            value = _gantry.call(loop_func, (value,))
        raise RuntimeError("For 'WhileLoop', the loop had not ended after 200000 trips.")


class ForiLoop(Primitive):
    def compute(self, lower, upper, loop_func, init_val, unroll=True):
        if not isinstance(lower, int) or not isinstance(upper, int):
            raise TypeError("For 'ForiLoop', the bounds must be int.")
        value = init_val
        for i in range(lower, upper):
            value = _gantry.call(loop_func, (i, value))
        return value


class Scan(Primitive):
    def compute(self, loop_func, init, xs, length=None, unroll=True):
        value, results = init, []
        for i in range(length if xs is None else len(xs)):
            value, one = _gantry.call(loop_func, (value, None if xs is None else xs[i]))
            results.append(one)
        return value, results


class Morph(Primitive):
    """A function with what infers its shapes and types, which are those of what it gives."""

    def __init__(self, fn, infer_shape=None, infer_dtype=None):
        super().__init__("Morph")
        self.fn = fn

    def compute(self, *args):
        return _gantry.call(self.fn, args)


for _kind, _class in (("call", WhileLoop), ("call", ForiLoop), ("call", Scan)):
    _class.__call__ = lambda self, *args, **kwargs: self.compute(*args, **kwargs)


def linearize(fn, inputs):
    """The value, and the forward derivative at @inputs as a function of the tangents."""
    from mindspore.ops.grad import jvp
    inputs = inputs if isinstance(inputs, tuple) else (inputs,)
    return fn(*inputs), lambda v: jvp(fn, inputs, v)[1]


def inplace_index_add(var, indices, updates, axis):
    from mindspore.ops.operations_rare import InplaceIndexAdd
    return InplaceIndexAdd(axis)(var, indices, updates)


def nanmedian(input, axis=-1, keepdims=False):
    """The lower middle of what is a number, and its place."""
    good = _f.logical_not(_f.isnan(input))
    n = _core.reduce("add", convert(good, int64), axis, True)
    values, places = _f.sort(input, axis)
    middle = _f.clamp(_core.floor_div(_core.sub(n, 1), 2), 0, None)
    found = [_f.gather_elements(v, axis, middle) for v in (values, convert(places, int64))]
    return tuple(v if keepdims else _f.squeeze(v, axis) for v in found)


__all__ = [*_table, "WhileLoop", "ForiLoop", "Scan", "Morph", "linearize", "inplace_index_add", "nanmedian"]
