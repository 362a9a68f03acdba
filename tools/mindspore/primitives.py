# SPDX-License-Identifier: Apache-2.0
"""Primitives that very few programs ask for, in graphs and compared."""
import numpy as np
import mindspore as ms
from mindspore import Parameter, Tensor, nn, ops
import mindspore.ops.operations as P

R = np.random.RandomState(5)


def F(*shape):
    return Tensor(R.randn(*shape).astype(np.float32))


def I(values):
    return Tensor(np.array(values, np.int32))


A, B, M = F(2, 3), F(4, 3), Tensor((np.eye(3) * 3 + R.rand(3, 3)).astype(np.float32))
COLOURS = Tensor(R.rand(1, 2, 2, 3).astype(np.float32))


class Net(nn.Cell):
    def __init__(self, primitive):
        super().__init__()
        self.primitive = primitive

    def construct(self, *inputs):
        return self.primitive(*inputs)


def of(primitive, *inputs):
    ms.set_context(mode=ms.GRAPH_MODE)
    return Net(primitive)(*inputs)


class Step(nn.Cell):
    def __init__(self, primitive, n):
        super().__init__()
        self.primitive, self.n = primitive, n
        self.a = Parameter(Tensor(np.array([0.5, -1.0, 2.0], np.float32)), name="a")
        self.b = Parameter(Tensor(np.array([0.1, 0.2, 0.3], np.float32)), name="b")
        self.c = Parameter(Tensor(np.array([0.3, 0.2, 0.1], np.float32)), name="c")
        self.d = Parameter(Tensor(np.array([0.2, 0.2, 0.2], np.float32)), name="d")

    def construct(self, *inputs):
        if self.n == 4:
            return self.primitive(self.a, self.b, self.c, self.d, *inputs)
        return self.primitive(self.a, self.b, *inputs)


def step(primitive, *inputs, n=2):
    net = Step(primitive, n)
    net(*inputs)
    return net.a.value(), net.b.value(), net.c.value()


G = Tensor(np.array([0.4, -0.3, 0.2], np.float32))
DIFFERS = {
    "euclidean": "no kernel there", "histogram_fixed": "no kernel there", "split_v": "no kernel there", "triplet": "no kernel there",
    "keras": "no kernel there", "keras_nesterov": "no kernel there",
}
CALLS = {
    "bucketize": lambda: of(P.Bucketize([0.0, 1.0, 2.0]), A), "euclidean": lambda: of(P.EuclideanNorm(True), A, I([1])),
    "histogram_fixed": lambda: of(P.HistogramFixedWidth(5), Tensor([-1.0, 0.0, 1.5, 2.0, 5.0, 15.0]), Tensor([0.0, 5.0])),
    "histogram": lambda: of(P.Histogram(4, 0.0, 3.0), Tensor([1.0, 2.0, 1.0])),
    "lower": lambda: of(P.LowerBound(), I([[0, 1, 2], [3, 5, 5]]), I([[1, 3], [5, 2]])), "upper": lambda: of(P.UpperBound(), I([[0, 1, 2], [3, 5, 5]]), I([[1, 3], [5, 2]])),
    "segment_sum": lambda: P.SegmentSum()(B, I([0, 0, 1, 3])), "segment_max": lambda: P.SegmentMax()(B, I([0, 0, 1, 3])),
    "segment_min": lambda: P.SegmentMin()(B, I([0, 0, 1, 3])), "segment_mean": lambda: P.SegmentMean()(B, I([0, 0, 1, 3])), "segment_prod": lambda: P.SegmentProd()(B, I([0, 0, 1, 3])),
    "matrix_solve": lambda: of(P.MatrixSolve(), M, B[:3]), "matrix_solve_adjoint": lambda: of(P.MatrixSolve(True), M, B[:3]),
    "padding": lambda: of(P.Padding(4), Tensor([[1.0], [2.0]])), "pad_v3": lambda: of(P.PadV3(), A, I([1, 2]), Tensor(9.0)),
    "pad_v3_reflect": lambda: of(P.PadV3("reflect"), A.reshape((1, 2, 3)), I([1, 1])), "split_v": lambda: of(P.SplitV([1, -1], 0, 2), B),
    "unravel": lambda: of(P.UnravelIndex(), I([3, 5]), I([2, 3])), "unique_with_pad": lambda: P.UniqueWithPad()(I([1, 1, 2, 3, 3]), Tensor(8, ms.int32)),
    "channel_shuffle": lambda: of(P.ChannelShuffle(2), F(1, 4, 2, 2)), "fill_diagonal": lambda: of(P.FillDiagonal(7.0), B), "fill_diagonal_wrap": lambda: of(P.FillDiagonal(7.0, True), F(7, 2)),
    "fill_diagonal_cube": lambda: of(P.FillDiagonal(7.0), F(2, 2, 2)), "inplace_update": lambda: of(P.InplaceUpdateV2(), B, (0, 1), A),
    "list_diff": lambda: P.ListDiff()(I([1, 2, 3, 4, 5]), I([1, 3])), "masked_scatter": lambda: of(P.MaskedScatter(), A, Tensor([[True, False, True], [False, True, True]]), F(6)),
    "nth": lambda: of(P.NthElement(), A, 1), "nth_reverse": lambda: of(P.NthElement(True), A, 0), "equal_count": lambda: of(P.EqualCount(), I([1, 2, 3]), I([1, 2, 4])),
    "hsv": lambda: of(P.HSVToRGB(), COLOURS), "rgb": lambda: of(P.RGBToHSV(), COLOURS), "dim_map": lambda: of(P.DataFormatDimMap(), I([0, 1, 2, 3, -1])),
    "vec_permute": lambda: of(P.DataFormatVecPermute(), I([1, 2, 3, 4])), "hamming": lambda: P.HammingWindow()(Tensor([5])), "bartlett": lambda: P.BartlettWindow(False)(Tensor(5)),
    "blackman": lambda: P.BlackmanWindow()(Tensor(5)), "triplet": lambda: of(P.TripletMarginLoss(), F(3, 4), F(3, 4), F(3, 4), Tensor(1.0)),
    "add_sign": lambda: step(P.ApplyAddSign(), 0.001, 1.0, 0.99, 0.9, G), "power_sign": lambda: step(P.ApplyPowerSign(), 0.001, float(np.e), 0.99, 0.9, G),
    "adagrad_v2": lambda: step(P.ApplyAdagradV2(1e-6), 0.01, G), "keras": lambda: step(P.ApplyKerasMomentum(), Tensor(0.01), G, Tensor(0.9)),
    "keras_nesterov": lambda: step(P.ApplyKerasMomentum(use_nesterov=True), Tensor(0.01), G, Tensor(0.9)), "amsgrad": lambda: step(P.ApplyAdamWithAmsgrad(), Tensor(0.9), Tensor(0.999), Tensor(0.01), G, n=4),
}
CASES = ["bucketize", "euclidean", "histogram_fixed", "histogram", "lower", "upper", "segment_sum", "segment_max", "segment_min", "segment_mean", "segment_prod",
         "matrix_solve", "matrix_solve_adjoint", "padding", "pad_v3", "pad_v3_reflect", "split_v", "unravel", "unique_with_pad", "channel_shuffle", "fill_diagonal",
         "fill_diagonal_wrap", "fill_diagonal_cube", "inplace_update", "list_diff", "masked_scatter", "nth", "nth_reverse", "equal_count", "hsv", "rgb", "dim_map",
         "vec_permute", "hamming", "bartlett", "blackman", "triplet", "add_sign", "power_sign", "adagrad_v2", "keras", "keras_nesterov", "amsgrad"]
for _name in CASES:
    globals()["case_" + _name] = CALLS[_name]
