# SPDX-License-Identifier: Apache-2.0
# Arguments that were once ignored: what each of them does, by MindSpore 2.7.0 where it has a kernel, or its refusal by name.
import os
import tempfile
import numpy as np
import mindspore as ms
import mindspore.numpy as mnp
from mindspore import nn, ops, Tensor
from mindspore.train import CheckpointConfig, EarlyStopping

rng = np.random.RandomState(0)
picture, line = Tensor(rng.randn(1, 2, 5, 5).astype(np.float32)), Tensor(rng.randn(1, 2, 5).astype(np.float32))


def close(a, b, atol=2e-4):
    assert np.allclose(a.asnumpy() if isinstance(a, Tensor) else a, b, atol=atol), (a, b)


def refused(kind, text, call):
    try:
        call()
    except kind as e:
        assert text in str(e), str(e)
    else:
        raise AssertionError(text)


# Other sizes of pictures: each mode is its own.
row = lambda **settings: ops.interpolate(picture, **settings)[0, 0, 0]
close(row(size=(4, 9), mode="nearest-exact"), [1.7641, 1.7641, .4002, .4002, .9787, 2.2409, 2.2409, 1.8676, 1.8676])
close(row(size=(4, 9), mode="bicubic"), [1.6264, 1.2198, .5071, .4916, .8822, 1.5929, 2.0792, 1.8738, 1.726], 6e-4)
close(row(size=(4, 9), mode="bicubic", align_corners=True), [1.7641, 1.0279, .4002, .4433, .9787, 1.6991, 2.2409, 2.1726, 1.8676], 6e-4)
close(row(size=(4, 9), mode="area"), [.3934, .5343, .6751, .5444, .4137, .7413, 1.0688, 1.104, 1.1391])
for mode in ("nearest", "bilinear", "bicubic"):
    refused(ValueError, f"'scale_factor' option cannot currently be set with the mode = {mode}", lambda: row(scale_factor=1.6, mode=mode))
refused(ValueError, "'align_corners' option cannot currently be set with the mode = nearest", lambda: row(size=(4, 9), align_corners=True))
refused(ValueError, "the 'mode' must be one of", lambda: row(size=(4, 9), mode="other"))
assert nn.Upsample(scale_factor=1.6, mode="bilinear", recompute_scale_factor=True)(picture).shape == (1, 2, 8, 8)

# Layers
ones = Tensor(np.arange(24).reshape(2, 3, 4).astype(np.float32))
close(nn.LayerNorm((3, 4), 1, 1)(ones)[0, 0], (np.arange(4) - 5.5) / np.std(np.arange(12)))
close(nn.LayerNorm((3, 4), -1, 1)(ones)[0, 2], (np.arange(4) - 1.5) / np.std(np.arange(4)))
refused(ValueError, "begin_params_axis", lambda: nn.LayerNorm((4,), 1, 1)(ones))
refused(RuntimeError, "'begin_norm_axis' value should be in the range [-1, 3), but got -2", lambda: nn.LayerNorm((4,), -2)(ones))
close(nn.Embedding(4, 2, True, "ones")(Tensor([0, 5, 1], ms.int32)), [[1, 1], [0, 0], [1, 1]])
norm = nn.InstanceNorm2d(2, momentum=0.25).set_train()
norm(picture)
close(norm.moving_mean, 0.25 * picture.asnumpy().mean((0, 2, 3)))
refused(ValueError, "'momentum'", lambda: nn.InstanceNorm2d(2, momentum=1.5))

# Functions
close(ops.softplus(Tensor([1., 5., 30.]), 2, 3), [np.log1p(np.exp(2)) / 2, 5, 30])
close(ops.lp_pool1d(line, 2.0, 2, 2, True)[0, 0, 2], abs(line.asnumpy()[0, 0, 4]) * 2 ** .5)
made, at, counts = ops.unique_consecutive(Tensor([[1, 1], [1, 1], [2, 3]]), True, True, 0)
close(made, [[1, 1], [2, 3]]), close(at, [0, 0, 1]), close(counts, [2, 1])
close(ops.clip_by_norm(Tensor([3., -4.]), 1.0, float("inf")), [.75, -1])
refused(RuntimeError, "not finite", lambda: ops.clip_by_norm(Tensor([np.inf]), 1.0, error_if_nonfinite=True))
refused(NotImplementedError, "'max_norm'", lambda: ops.embedding(Tensor([0]), Tensor(np.eye(2, dtype=np.float32)), max_norm=1.0))
grad = ops.grad(lambda w: ops.embedding(Tensor([0, 1], ms.int32), w, padding_idx=1).sum())(Tensor(np.eye(2, dtype=np.float32)))
close(grad, [[1, 1], [0, 0]])
assert mnp.linspace(Tensor([1., 2.]), Tensor([3., 4.]), 3, axis=1).shape == (2, 3)
refused(NotImplementedError, "'out'", lambda: mnp.ptp(Tensor([1., 2.]), out=Tensor(0.0)))
close(ops.pinv(Tensor(np.diag([1., 1e-3]).astype(np.float32)), atol=1e-2), np.diag([1, 0]))
close(round(Tensor([1.256]), 2), [1.26])
tall, right = Tensor(np.array([[2., 1], [1, 3], [0, 1]], np.float32)), Tensor(np.array([[1.], [2], [3]], np.float32))
close(ops.Lstsq(l2_regularizer=1.0)(tall, right), np.linalg.solve(tall.asnumpy().T @ tall.asnumpy() + np.eye(2), tall.asnumpy().T @ right.asnumpy()))
close(ops.LpNorm(0, 2, epsilon=0.5)(Tensor([[.1, 3.], [0., 4.]])), [.5, 5])
refused(ValueError, "'num'", lambda: ops.Unstack(0, 3)(tall[:2]))
assert ops.Randperm(5, -1)(Tensor(3, ms.int32)).shape == (5,) and ops.Randperm(5, -1)(Tensor(3, ms.int32)).asnumpy()[3:].tolist() == [-1, -1]
close(ops.ResizeLinear1D()(Tensor(np.array([[[1., 2, 3]]], np.float32)), (5,)), [[[1, 1.5, 2, 2.5, 3]]])
order = []
ops.HyperMap(lambda x: order.append(x) or x, True)((1, 2, 3))
assert order == [3, 2, 1], order
refused(TypeError, "modulo", lambda: pow(Tensor([2]), 3, 5))


@ms.jit
def ignored(x):
    return note(x) + 1


@ms.jit_ignore
def note(x):
    order.append(float(x))
    return x


assert float(ignored(Tensor(7.0))) == 8 and order[-1] == 7

# Checkpoints: names behind a prefix, types, keys.
folder = tempfile.mkdtemp()
path = os.path.join(folder, "net.ckpt")


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.dense = nn.Dense(2, 2)


class Outer(nn.Cell):
    def __init__(self):
        super().__init__()
        self.backbone = Net()


outer, inner = Outer(), Net()
ms.save_checkpoint(outer, path)
assert ms.load_param_into_net(inner, ms.load_checkpoint(path)) == ([], [])
close(inner.dense.weight, outer.backbone.dense.weight.asnumpy())
assert len(ms.load_param_into_net(Net(), ms.load_checkpoint(path), True)[0]) == 2
assert list(ms.load_checkpoint(path, specify_prefix="backbone.dense.w")) == ["backbone.dense.weight"]
refused(NotImplementedError, "'enc_key'", lambda: ms.save_checkpoint(inner, path, enc_key=b"0123456789abcdef"))
refused(NotImplementedError, "'dec_key'", lambda: ms.load_checkpoint(path, dec_key=b"0123456789abcdef"))
refused(NotImplementedError, "'enc_key'", lambda: CheckpointConfig(enc_key=b"0123456789abcdef"))
half = {"dense.weight": ms.Parameter(Tensor(np.ones((2, 2)), ms.float16))}
refused(RuntimeError, "should have the same type", lambda: ms.load_param_into_net(Net(), half, True))

# The best weights come back.
net = Net()
stop = EarlyStopping("loss", patience=1, restore_best_weights=True)


class Context:
    stopped = False

    def __init__(self, loss):
        self.loss = loss

    def original_args(self):
        from types import SimpleNamespace
        return SimpleNamespace(eval_results={}, net_outputs=Tensor(self.loss), train_network=net, cur_epoch_num=1)

    def request_stop(self):
        self.stopped = True


stop.on_train_epoch_end(Context(1.0))
best = net.dense.weight.asnumpy().copy()
net.dense.weight.set_data(Tensor(np.zeros((2, 2), np.float32)))
last = Context(2.0)
stop.on_train_epoch_end(last)
assert last.stopped and (net.dense.weight.asnumpy() == best).all()

# Complex numbers
refused(TypeError, "complex numbers are not supported", lambda: Tensor(np.array([1j])))
refused(TypeError, "complex numbers are not supported", lambda: Tensor([1.0]) * 2j)
refused(AttributeError, "complex numbers are not supported", lambda: ms.complex64)

# A graph that assigns is no model for others.
assigning = nn.BatchNorm2d(2)
image = Tensor(np.ones((1, 2, 3, 3), np.float32))
ms.set_context(mode=ms.GRAPH_MODE)
refused(RuntimeError, "this one assigns 'mean', 'variance'",
        lambda: ms.export(assigning.set_train(), image, file_name=os.path.join(folder, "bn"), file_format="MINDIR"))
ms.export(assigning.set_train(False), image, file_name=os.path.join(folder, "bn"), file_format="MINDIR")
assert os.path.exists(os.path.join(folder, "bn.mindir"))

# mindspore.scipy
from mindspore.scipy import linalg
square = Tensor(np.array([[4., 1., 2.], [1., 3., 0.], [2., 0., 5.]], np.float32))
other, vector = Tensor(np.array([[1., 2., 3.], [4., 5., 6.], [7., 8., 10.]], np.float32)), Tensor(np.array([1., 2., 3.], np.float32))
close(linalg.cholesky(square).T @ linalg.cholesky(square), square.asnumpy(), 1e-5)
close(linalg.cho_solve(linalg.cho_factor(square, True), vector), np.linalg.solve(square.asnumpy(), vector.asnumpy()), 1e-5)
p, l, u = linalg.lu(other)
close(p @ l @ u, other.asnumpy(), 1e-5)
close(linalg.lu_solve(linalg.lu_factor(other), vector), np.linalg.solve(other.asnumpy(), vector.asnumpy()), 1e-4)
close(linalg.solve_triangular(other, vector, trans="T", lower=True), np.linalg.solve(np.tril(other.asnumpy()).T, vector.asnumpy()), 1e-5)
close(linalg.block_diag(Tensor([[1.]]), Tensor([[2., 3.]])), [[1, 0, 0], [0, 2, 3]])
w, v = linalg.eigh(square)
close(v @ ops.diag(w) @ v.T, square.asnumpy(), 1e-4)
close(linalg.det(other), -3, 1e-4), close(linalg.inv(other) @ other, np.eye(3), 1e-4)

# A check is one.
assert ops.CheckNumerics()(Tensor([1.0])).asnumpy().tolist() == [1.0]
refused(RuntimeError, "NaN or Inf", lambda: ops.CheckNumerics()(Tensor([np.nan])))
