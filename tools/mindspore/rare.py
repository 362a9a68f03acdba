# SPDX-License-Identifier: Apache-2.0
"""Names that fewer programs ask for: value and gradient of each."""
import numpy as np
import mindspore as ms
import mindspore.numpy as mnp
from mindspore import Parameter, Tensor, nn, ops
from mindspore.ops import functional as F

R = np.random.RandomState(11)


def T(*shape):
    return Tensor(R.randn(*shape).astype(np.float32))


def I(*values):
    return Tensor(np.array(values, np.int32))


A, B, M, S, V = T(2, 3), T(2, 3), T(3, 3), T(2, 3, 3), T(4)
X, X2, X5 = T(2, 2, 5, 4), T(2, 4, 6, 6), T(1, 2, 3, 4, 4)
K2, K3 = T(2, 3, 3, 3), T(2, 3, 2, 2, 2)
GRID = Tensor((R.rand(2, 3, 4, 2) * 2.6 - 1.3).astype(np.float32))
BOX = Tensor(np.array([[1.0, 2, 5, 7], [0, 0, 3, 3]], np.float32))
BOX2 = Tensor(np.array([[2.0, 2, 6, 9], [1, 1, 4, 5]], np.float32))
LP = Tensor(np.log(R.dirichlet(np.ones(5), (7, 3))).astype(np.float32))
TARGET = Tensor(np.array([[1, 2, 2], [3, 1, 0], [4, 4, 1]], np.int32))
P01 = Tensor((R.rand(2, 3) * 0.8 + 0.1).astype(np.float32))


def both(f, *xs):
    """The value, and the gradient by each argument of its product with fixed numbers."""
    value = f(*xs)
    weights = Tensor(np.cos(np.arange(value.size, dtype=np.float32)).reshape(value.shape))
    return value, ms.grad(lambda *a: (f(*a) * weights).sum(), tuple(range(len(xs))) if len(xs) > 1 else 0)(*xs)


def param(value):
    return Parameter(Tensor(np.array(value, np.float32)), name="p")


def applied(make, *arguments):
    """What an update leaves in its parameters."""
    op = make
    op(*arguments)
    return [a.asnumpy() for a in arguments if isinstance(a, Parameter)]


def shapes(x):
    return x.shape


def fixed(cell):
    """The Cell with parameters that depend on nothing but their shapes."""
    for p in cell.get_parameters():
        p.set_data(Tensor((np.sin(np.arange(p.size) * 0.7) * 0.5).astype(np.float32).reshape(p.shape)))
    return cell.set_train(False)


DIFFERS = {
    "psnr": "it fails on a cast of its own", "ssim": "it fails on a cast of its own",
    "ftrl_op": "its kernel adds l1 where its own formula subtracts it: a negative linear term",
}

CASES = {
    "batch_dot_2d": "both(lambda a, b: ops.batch_dot(a, b), A, B)", "batch_dot_axes": "both(lambda a, b: ops.batch_dot(a, b, (1, 2)), S, S + 1)",
    "batch_dot_mixed": "both(lambda a, b: ops.batch_dot(a, b, 1), A, S)",
    "max_pair": "A.max(axis=1, return_indices=True)", "min_pair": "A.min(axis=0, return_indices=True)", "max_keep": "A.max(axis=1, keepdims=True)",
    "max_pair_keep": "A.max(axis=1, keepdims=True, return_indices=True)", "max_axes": "S.max(axis=(0, 2))", "argmax_keep": "A.argmax(axis=1, keepdims=True)",
    "argmin_keep": "A.argmin(axis=0, keepdims=True)", "argmax_none": "(A.argmax(), A.argmin())", "argmax_value": "A.argmax_with_value(1)",
    "argmin_value": "A.argmin_with_value(0, True)", "ops_argmax": "ops.argmax(A, 1, True)", "ops_max_axis": "ops.max(A, 1)", "ops_min_axis": "ops.min(A, 0, True)",
    "from_numpy": "ms.from_numpy(np.arange(4))",
    "affine_grid": "both(lambda t: ops.affine_grid(t, (2, 2, 3, 4)), T2)", "affine_align": "both(lambda t: ops.affine_grid(t, (2, 2, 3, 4), True), T2)",
    "grid_sample": "both(lambda x, g: ops.grid_sample(x, g), X, GRID)", "grid_align": "both(lambda x, g: ops.grid_sample(x, g, align_corners=True), X, GRID)",
    "grid_border": "both(lambda x, g: ops.grid_sample(x, g, padding_mode='border'), X, GRID)",
    "grid_reflect": "both(lambda x, g: ops.grid_sample(x, g, padding_mode='reflection'), X, GRID)",
    "grid_nearest": "ops.grid_sample(X, GRID, 'nearest')",
    "crop": "ops.crop_and_resize(X.transpose(0, 2, 3, 1), Tensor([[0.1, 0.2, 0.9, 1.1], [0.0, 0.0, 0.5, 0.5]], ms.float32), I(0, 1), (3, 2))",
    "boxes_encode": "ops.bounding_box_encode(BOX, BOX2, (0.1, 0.0, 0.0, 0.0), (0.5, 1.0, 1.0, 2.0))",
    "boxes_decode": "ops.bounding_box_decode(BOX, BOX2 * 0.1, (8, 8))",
    "check_valid": "ops.check_valid(BOX, Tensor([8.0, 7.0, 0.8]))",
    "pool_places": "ops.max_pool2d(X, 2, 2, 1, 1, True)", "pool_cell": "nn.MaxPool2d(3, 2, 'pad', 1, 1, True)(X)",
    "unpool": "ops.max_unpool2d(*ops.max_pool2d(X2, 2, 2, 0, 1, True), 2)",
    "matrix_diag": "both(lambda v: ops.matrix_diag(v), A)", "matrix_part": "ops.matrix_diag_part(S, Tensor(0, ms.int32), Tensor(0.0))",
    "matrix_set": "ops.matrix_set_diag(S, A, Tensor(0, ms.int32))", "diagonal_scatter": "both(lambda x, v: ops.diagonal_scatter(x, v, 1), M, Tensor([5.0, 6.0]))",
    "select_scatter": "both(lambda x, v: ops.select_scatter(x, v, 1, 2), A, Tensor([5.0, 6.0]))",
    "slice_scatter": "both(lambda x, v: ops.slice_scatter(x, v, 1, 0, 3, 2), A, Tensor([[5.0, 6.0], [7.0, 8.0]]))",
    "vector_norm": "both(lambda x: ops.vector_norm(x, 3, 1), A)", "matrix_norm": "both(lambda x: ops.matrix_norm(x), S)", "matrix_norm1": "ops.matrix_norm(S, 1)",
    "matrix_norm_inf": "ops.matrix_norm(S, float('inf'), keepdims=True)", "pdist": "both(lambda x: ops.pdist(x), M)",
    "mvlgamma": "ops.mvlgamma(P01 + 2, 3)", "multilabel": "both(lambda x: ops.multilabel_margin_loss(x, Tensor([[1, 2, -1], [0, -1, 2]], ms.int32)), A)",
    "fills": "ops.fills(A, 2.5)", "eps": "ops.eps(A)", "soft_shrink": "both(lambda x: ops.soft_shrink(x, 0.3), A)",
    "conv_transpose2d": "both(lambda x, w: ops.conv_transpose2d(x, w, None, 2, 1, 1), X, K2)", "conv3d_transpose": "both(lambda x, w: ops.conv3d_transpose(x, w, stride=2), X5, K3)",
    "col2im": "ops.col2im(T3, Tensor([4, 4], ms.int32), (2, 2), (1, 1), (0, 0), (2, 2))", "batch_to_space": "ops.batch_to_space_nd(T6, [2, 2], [[0, 1], [1, 0]])",
    "mirror": "ops.mirror_pad(A, Tensor([[1, 1], [2, 1]]), 'REFLECT')", "mirror_symmetric": "ops.mirror_pad(A, Tensor([[1, 1], [2, 1]]), 'SYMMETRIC')",
    "ctc": "ops.ctc_loss(LP, TARGET, I(7, 6, 7), I(3, 2, 3))[0]", "ctc_none": "ops.ctc_loss(LP, TARGET, I(7, 6, 7), I(3, 2, 1), reduction='none')[0]",
    "ctc_grad": "ms.grad(lambda x: ops.ctc_loss(ops.log_softmax(x, 2), TARGET, I(7, 7, 7), I(3, 2, 3))[0])(LP)",
    "ctc_cell": "nn.CTCLoss(blank=0, reduction='sum')(LP, TARGET, I(7, 6, 7), I(3, 2, 3))",
    "multi_margin_w": "both(lambda x: ops.multi_margin_loss(x, Tensor([0, 2]), weight=Tensor([1.0, 2.0, 3.0])), A)",
    "p_avg3d": "ops.AvgPool3D(2, 2)(X5[:, :, :2])", "p_max3d": "ops.MaxPool3D(2, 2)(X5[:, :, :2])", "p_argmax": "ops.MaxPoolWithArgmaxV2(2, 2)(X) if False else nn.MaxPool2d(2, 2)(X)",
    "p_conv3d": "ops.Conv3D(2, (2, 2, 2))(X5, T4)", "p_fill": "ops.FillV2()((2, 2), Tensor(3.0))", "p_invert": "ops.InvertPermutation()((2, 0, 1))",
    "p_celu": "ops.CeLU(2.0)(A)", "p_intopk": "ops.InTopK(2)(A, I(0, 2))", "p_logspace": "ops.LogSpace(3, 10)(Tensor(0.0), Tensor(2.0))",
    "p_sigmoid": "both(lambda x: ops.SigmoidCrossEntropyWithLogits()(x, P01), A)", "p_inverse": "ops.MatrixInverse()(M + 4 * Tensor(np.eye(3, dtype=np.float32)))",
    "p_segprod": "ops.UnsortedSegmentProd()(A, I(1, 1), 3)", "p_search": "ops.SearchSorted()(Tensor([[1.0, 2, 3], [4, 5, 6]]), Tensor([[2.5], [4.0]]))",
    "p_cumlse": "ops.CumulativeLogsumexp()(A, Tensor(1))", "p_iou": "ops.IOU()(BOX, BOX2)", "p_space": "ops.BatchToSpace(2, [[0, 0], [0, 0]])(T(4, 1, 2, 2)).shape",
    "adadelta_op": "applied(ops.ApplyAdadelta(), param([1, 2]), param([0.1, 0.2]), param([0.3, 0.4]), 0.1, 0.9, 1e-6, Tensor([0.5, -0.5]))",
    "adamax_op": "applied(ops.ApplyAdaMax(), param([1, 2]), param([0.1, 0.2]), param([0.3, 0.4]), 0.9, 0.1, 0.9, 0.99, 1e-6, Tensor([0.5, -0.5]))",
    "adagrad_op": "applied(ops.ApplyAdagrad(), param([1, 2]), param([0.1, 0.2]), 0.1, Tensor([0.5, -0.5]))",
    "ftrl_op": "applied(ops.ApplyFtrl(), param([1, 2]), param([0.1, 0.2]), param([0.3, 0.4]), Tensor([0.5, -0.5]), 0.1, 0.3, 0.2, -0.5)",
    "gd_op": "applied(ops.ApplyGradientDescent(), param([1, 2]), 0.1, Tensor([0.5, -0.5]))",
    "pgd_op": "applied(ops.ApplyProximalGradientDescent(), param([1, 2]), 0.1, 0.2, 0.3, Tensor([0.5, -0.5]))",
    "rms_op": "applied(ops.ApplyRMSProp(), param([1, 2]), param([0.1, 0.2]), param([0.3, 0.4]), 0.1, Tensor([0.5, -0.5]), 0.9, 0.5, 1e-6)",
    "f_scalar": "(F.scalar_add(1, 2), F.scalar_div(1, 2), F.tuple_len((1, 2)))", "moments": "nn.Moments(1, True)(A)",
    "poisson_loss": "both(lambda x: nn.PoissonNLLLoss()(x, P01 * 3), A)", "poisson_full": "nn.PoissonNLLLoss(False, True)(P01, P01 * 4)",
    "triplet_distance": "both(lambda x: nn.TripletMarginWithDistanceLoss(swap=True)(x, B, A * 0.5), A + 1)", "lrn": "nn.LRN(2)(X)",
    "lp_pool": "nn.LPPool2d(2.0, 2)(X2)", "unfold_cell": "nn.Unfold([1, 2, 2, 1], [1, 2, 2, 1], [1, 1, 1, 1])(X2)", "gradients": "nn.ImageGradients()(X)",
    "psnr": "nn.PSNR()(X, X * 0.9)", "ssim": "nn.SSIM(filter_size=3)(X2, X2 * 0.9)", "multi_dice": "nn.MultiClassDiceLoss()(A, P01)",
    "time": "nn.TimeDistributed(nn.ReLU(), 1, 0)(S)", "decoder": "shapes(nn.TransformerDecoder(nn.TransformerDecoderLayer(8, 2, 16, 0.0), 2)(T(3, 2, 8), T(4, 2, 8)))",
    "decoder_norm": "fixed(nn.TransformerDecoderLayer(4, 2, 8, 0.0, norm_first=True, batch_first=True))(T5, T5 * 2)",
    "decoder_value": "fixed(nn.TransformerDecoderLayer(4, 2, 8, 0.0, 'gelu'))(T5, T5 * 2)",
    "transformer": "fixed(nn.Transformer(4, 2, 1, 2, 8, 0.0, batch_first=True))(T5, T5 * 2)",
}
T2, T3, T4, T5, T6 = T(2, 2, 3), T(1, 2, 4, 4), T(2, 2, 2, 2, 2), T(2, 3, 4), T(8, 1, 2, 3)


def _make(text):
    return lambda: eval(text, globals())


for _name, _text in CASES.items():
    globals()["case_" + _name] = _make(_text)
