# SPDX-License-Identifier: Apache-2.0
"""mindspore.numpy: names that fewer programs ask for, each called on small arrays and compared."""
import numpy as np
import mindspore as ms
import mindspore.numpy as mnp
from mindspore import Tensor

A = Tensor(np.array([[1.5, -2.0, 3.25], [4.0, 0.5, -6.75]], np.float32))
I = Tensor(np.array([[1, 2, 0], [2, 0, 1]], np.int32))
V = Tensor(np.array([1.0, 2.0, -3.0, 4.0], np.float32))
W = Tensor(np.array([0.5, -1.0, 2.0], np.float32))
N = Tensor(np.array([[1.0, np.nan, 3.0], [np.nan, 5.0, 2.0]], np.float32))

DIFFERS = {
    "piecewise": "numbers are taken among the functions, as NumPy has it",
    "ravel_multi_index": "indices are integers", "ravel_multi_index_f": "indices are integers", "ravel_multi_index_wrap": "indices are integers",
}

CALLS = {
    "around": lambda: mnp.around(mnp.array([1.3, 2.5, 3.5, -0.5])), "around_1": lambda: mnp.around(mnp.array([1.35, -2.46]), 1),
    "copy": lambda: mnp.copy(A), "array_str": lambda: mnp.array_str(mnp.arange(4)),
    "apply_along_axis": lambda: mnp.apply_along_axis(lambda v: v.sum(), 0, A), "apply_rows": lambda: mnp.apply_along_axis(lambda v: v * 2, 1, A),
    "apply_over_axes": lambda: mnp.apply_over_axes(mnp.sum, A, (0, 1)), "argwhere": lambda: mnp.argwhere(I),
    "choose": lambda: mnp.choose(I, (I * 10, I * 20, I * 30)), "choose_wrap": lambda: mnp.choose(I + 2, (I * 10, I * 20, I * 30), mode="wrap"),
    "convolve": lambda: mnp.convolve(V, W), "convolve_same": lambda: mnp.convolve(V, W, "same"), "convolve_valid": lambda: mnp.convolve(V, W, "valid"),
    "correlate": lambda: mnp.correlate(V, W), "correlate_full": lambda: mnp.correlate(V, W, "full"), "correlate_same": lambda: mnp.correlate(W, V, "same"),
    "diag_indices": lambda: mnp.diag_indices(3), "ix": lambda: mnp.ix_(mnp.arange(2), mnp.array([0, 2])), "ix_take": lambda: A[mnp.ix_(mnp.arange(2), mnp.array([0, 2]))],
    "mgrid": lambda: mnp.mgrid[0:3, 1:3], "mgrid_line": lambda: mnp.mgrid[0:5:2], "ogrid": lambda: mnp.ogrid[0:3, 1:3], "mgrid_count": lambda: mnp.mgrid[0:1:3j],
    "matrix_power": lambda: mnp.matrix_power(mnp.array([[1.0, 2.0], [0.5, 1.0]]), 3), "multi_dot": lambda: mnp.multi_dot((A, A.T, A)),
    "nancumsum": lambda: mnp.nancumsum(N, 1), "nanmax": lambda: mnp.nanmax(N, 0), "nanmin": lambda: mnp.nanmin(N), "nanmax_keep": lambda: mnp.nanmax(N, axis=1, keepdims=True),
    "piecewise": lambda: mnp.piecewise(V, [V < 0, V > 1.5], [lambda v: -v, 7, 2]), "polyadd": lambda: mnp.polyadd(V, W), "polysub": lambda: mnp.polysub(V, W),
    "polymul": lambda: mnp.polymul(V, W), "polyder": lambda: mnp.polyder(V), "polyder_2": lambda: mnp.polyder(V, 2), "polyint": lambda: mnp.polyint(V),
    "polyint_k": lambda: mnp.polyint(V, 2, [1, 2]), "ravel_multi_index": lambda: mnp.ravel_multi_index(mnp.array([[3, 6, 6], [4, 5, 1]]), (7, 6)),
    "ravel_multi_index_f": lambda: mnp.ravel_multi_index(mnp.array([[3, 6, 6], [4, 5, 1]]), (7, 6), order="F"),
    "ravel_multi_index_wrap": lambda: mnp.ravel_multi_index(mnp.array([[3, 9, 6], [4, 5, -1]]), (7, 6), mode="wrap"),
    "unravel_index": lambda: mnp.unravel_index(mnp.array([22, 41, 37]), (7, 6)), "unravel_index_f": lambda: mnp.unravel_index(mnp.array([31, 41, 13]), (7, 6), order="F"),
    "tril_indices_from": lambda: mnp.tril_indices_from(A), "triu_indices_from": lambda: mnp.triu_indices_from(A, 1), "unwrap": lambda: mnp.unwrap(mnp.array([0.0, 1.0, 5.0, 9.0, 3.0])),
    "histogram": lambda: mnp.histogram(mnp.array([1.0, 2.0, 1.0, 4.0]), bins=4), "histogram_density": lambda: mnp.histogram(mnp.arange(5), mnp.arange(6), density=True),
    "histogram2d": lambda: mnp.histogram2d(mnp.array([1.0, 2.0, 3.0]), mnp.array([1.0, 1.5, 4.0]), 2), "histogram_bin_edges": lambda: mnp.histogram_bin_edges(V, 3),
    "intersect1d": lambda: mnp.intersect1d([1, 3, 4, 3], [3, 1, 2, 1]), "setdiff1d": lambda: mnp.setdiff1d(mnp.array([1, 2, 3, 4, 1]), mnp.array([3, 4, 5])),
    "hamming": lambda: mnp.hamming(5), "hanning": lambda: mnp.hanning(5), "bartlett": lambda: mnp.bartlett(5), "blackman": lambda: mnp.blackman(5),
    "indices": lambda: mnp.indices((2, 3)), "array_equiv": lambda: mnp.array_equiv(mnp.array([1, 2]), mnp.array([[1, 2], [1, 2]])),
    "inf": lambda: (mnp.NINF, mnp.PINF), "polyval": lambda: mnp.polyval(V, W), "round": lambda: mnp.round_(V) if hasattr(mnp, "round_") else mnp.around(V),
}
CASES = ["around", "around_1", "copy", "array_str", "apply_along_axis", "apply_rows", "apply_over_axes", "argwhere", "choose", "choose_wrap", "convolve",
         "convolve_same", "convolve_valid", "correlate", "correlate_full", "correlate_same", "diag_indices", "ix", "ix_take", "mgrid", "mgrid_line", "ogrid",
         "mgrid_count", "matrix_power", "multi_dot", "nancumsum", "nanmax", "nanmin", "nanmax_keep", "piecewise", "polyadd", "polysub", "polymul", "polyder",
         "polyder_2", "polyint", "polyint_k", "ravel_multi_index", "ravel_multi_index_f", "ravel_multi_index_wrap", "unravel_index", "unravel_index_f",
         "tril_indices_from", "triu_indices_from", "unwrap", "histogram", "histogram_density", "histogram2d", "histogram_bin_edges", "intersect1d", "setdiff1d",
         "hamming", "hanning", "bartlett", "blackman", "indices", "array_equiv", "inf", "polyval", "round"]
for _name in CASES:
    globals()["case_" + _name] = CALLS[_name]
