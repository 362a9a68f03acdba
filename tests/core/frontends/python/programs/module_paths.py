# SPDX-License-Identifier: Apache-2.0
"""Names are found where programs import them from, and a path that is no module of theirs is refused."""
from mindspore.common.api import _cell_graph_executor, _pynative_executor, jit
from mindspore.common.jit_config import JitConfig
from mindspore.common.lazy_inline import lazy_inline
from mindspore.common.mutable import mutable
from mindspore.common.initializer import Dirac, Orthogonal, Sparse, VarianceScaling, initializer
from mindspore import context, log as logger, ms_memory_recycle, recompute, set_deterministic, set_device, set_recursion_limit
from mindspore.communication.management import get_group_size, get_rank
from mindspore.nn.layer.basic import Dense
from mindspore.nn.layer.activation import ReLU, get_activation
from mindspore.nn.learning_rate_schedule import ExponentialDecayLR
from mindspore.nn.loss.loss import LossBase
from mindspore.nn.metrics import Accuracy
from mindspore.nn.optim.momentum import Momentum
from mindspore.nn.wrap.cell_wrapper import TrainOneStepCell, WithLossCell
from mindspore.nn.wrap.loss_scale import TrainOneStepWithLossScaleCell
from mindspore.numpy.array_ops import reshape
from mindspore.ops.auto_generate import gen_ops_prim
from mindspore.ops.composite.base import GradOperation
from mindspore.ops.composite.multitype_ops.zeros_like_impl import zeros_like
from mindspore.ops.function.array_func import narrow
from mindspore.ops.operations import _grad_ops, _inner_ops as inner
from mindspore.ops.operations.math_ops import Add
from mindspore.ops.operations._sequence_ops import TupleToTensor
from mindspore.ops.primitive import Primitive, _primexpr, _run_op, constexpr
from mindspore.train.callback._callback import Callback
import mindspore.common
import mindspore.ops.operations.nn_ops
import mindspore as ms
import numpy as np

x = ms.Tensor([1.0, 2.0])
assert jit(lambda v: Add()(v, v))(x).asnumpy().tolist() == [2, 4]
assert inner.Add is Add and _run_op(Add(), "Add", (x, x)).asnumpy().tolist() == [2, 4]
assert mindspore.ops.operations.nn_ops.ReLU is ms.ops.ReLU and Dense is ms.nn.Dense and get_rank() + get_group_size() == 1
assert mindspore.common.mutable is mutable and callable(mindspore.common.mutable)
set_recursion_limit(500)
assert context.get_context("max_call_depth") == 500
for bad in (0, -1, "a", True):
    try:
        set_recursion_limit(bad)
    except (TypeError, ValueError):
        continue
    raise AssertionError(bad)
q = initializer(Orthogonal(2.0), [3, 5]).asnumpy()
assert np.allclose(q @ q.T, 4 * np.eye(3), atol=1e-5)
assert (initializer(Sparse(0.5), [4, 3]).asnumpy() == 0).sum(0).tolist() == [2, 2, 2]
assert initializer(Dirac(2), [4, 2, 3]).asnumpy()[:, :, 1].tolist() == [[1, 0], [0, 1], [1, 0], [0, 1]]
assert abs(initializer(VarianceScaling(mode="fan_out"), [400, 100]).asnumpy().std() - 0.05) < 0.003
for path in ("mindspore.ops.operations.no_such", "mindspore.nothing", "mindspore.nn.layer.basic.deeper"):
    try:
        __import__(path)
    except ModuleNotFoundError:
        continue
    raise AssertionError(path)

# Paths of modules that programs import from; what Gantry does not have is said where it is called.
from mindspore.parallel._utils import _get_parallel_mode
from mindspore.parallel import set_algo_parameters as absent_set
from mindspore._extends.parse.standard_method import getitem
from mindspore.common._register_for_tensor import tensor_operator_registry
from mindspore.nn.probability.distribution.normal import Normal
from mindspore.scipy.linalg import eigh
from mindspore.ops._utils import get_broadcast_shape
from mindspore.experimental.optim.adam import Adam as NewAdam

for absent in (_get_parallel_mode, getitem):
    try:
        absent(1)
    except NotImplementedError as error:
        assert "Gantry does not have 'mindspore." in str(error), error
    else:
        raise AssertionError(absent)
# Optimizers with other arguments than those of nn by the same names: none of nn stands for them.
from mindspore import mint
from mindspore.experimental import optim
for absent, near in ((NewAdam, "mindspore.nn.Adam,"), (optim.AdamW, "mindspore.nn.AdamWeightDecay"), (optim.RMSprop, "mindspore.nn.RMSProp"),
                     (optim.SGD, "mindspore.nn.SGD"), (mint.optim.AdamW, "mindspore.nn.AdamWeightDecay"),
                     (mint.optim.sgd.SGD, "mindspore.nn.SGD")):
    assert absent is not getattr(ms.nn, absent.__name__, None)
    try:
        absent([ms.Parameter(x, name="p")], lr=0.1)
    except NotImplementedError as error:
        assert "Gantry does not have 'mindspore." in str(error) and near in str(error), error
    else:
        raise AssertionError(absent)
ms.set_algo_parameters(fully_use_devices=True)
assert ms.get_algo_parameters("fully_use_devices") is True
ms.reset_algo_parameters()
assert ms.get_algo_parameters("fully_use_devices") is None
tensor = ms.Tensor(np.zeros((2, 3), np.float32))
assert tensor.stride() == (3, 1) and tensor.mT.shape == (3, 2) and not tensor.has_init and ms.bool is ms.bool_

# What MindSpore has at a path that Gantry divides otherwise.
from mindspore.nn.optim import Lamb, FTRL
from mindspore.nn.loss import CTCLoss
from mindspore.nn.layer import LRN
from mindspore.train.metrics import BleuScore
assert Lamb is ms.nn.Lamb and FTRL is ms.nn.FTRL and CTCLoss is ms.nn.CTCLoss and LRN is ms.nn.LRN and BleuScore is ms.train.BleuScore
assert not hasattr(ms.nn.optim, "nothing")
