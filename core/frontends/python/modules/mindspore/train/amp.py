# SPDX-License-Identifier: Apache-2.0
"""Mixed precision: what of a network computes in half precision, and steps that scale the loss."""
import inspect
from mindspore import _core, nn, ops, log
from mindspore._amp import computing_in
from mindspore.nn.cell import Cell
from mindspore.nn.wrap import TrainOneStepCell, TrainOneStepWithLossScaleCell, WithLossCell
from mindspore.ops._plain import mixed_precision_cast
from mindspore.ops.primitive import Primitive
from mindspore.train.loss_scale_manager import LossScaleManager, DynamicLossScaleManager
import _gantry

float16, bfloat16, float32 = _core.float16, _core.bfloat16, _core.float32

AMP_WHITE_LIST = [nn.Conv1d, nn.Conv2d, nn.Conv3d, nn.Conv1dTranspose, nn.Conv2dTranspose, nn.Conv3dTranspose, nn.Dense, nn.LSTMCell,
                  nn.RNNCell, nn.GRUCell, ops.Conv2D, ops.Conv3D, ops.Conv2DTranspose, ops.Conv3DTranspose, ops.MatMul, ops.BatchMatMul,
                  ops.PReLU, ops.ReLU, ops.Ger]
AMP_BLACK_LIST = [nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d, nn.LayerNorm]
LEVELS = ("O0", "O1", "O2", "O3", "auto")


def get_white_list():
    return list(AMP_WHITE_LIST)


def get_black_list():
    return list(AMP_BLACK_LIST)


class _Output(Cell):
    """A Cell whose float results are given in another type."""

    def __init__(self, backbone, dtype):
        super().__init__(auto_prefix=False)
        self._backbone, self.dtype = backbone, dtype
        if hasattr(backbone, "_amp_level"):
            self._amp_level = backbone._amp_level

    def construct(self, *args, **kwargs):
        return mixed_precision_cast(self.dtype, self._backbone(*args, **kwargs))


class _OutputTo16(_Output):
    def __init__(self, backbone, dtype=float16):
        super().__init__(backbone, dtype)


class _OutputTo32(_Output):
    def __init__(self, backbone):
        super().__init__(backbone, float32)


class _LowPrimitive(Primitive):
    """A primitive that computes in half precision; its results are float32."""

    def __init__(self, primitive, dtype):
        super().__init__(primitive.name)
        self.primitive, self.dtype = primitive, dtype

    def __call__(self, *args):
        return mixed_precision_cast(float32, self.primitive(*mixed_precision_cast(self.dtype, args)))


def _has_own_type(cell):
    return bool(cell.__dict__.get("_computes_in"))


def _only(network, white_list, dtype):
    """Cells and primitives of the list compute in @dtype, what reads them sees float32. A type that the user chose stays."""
    if _has_own_type(network):
        return network
    if type(network) in white_list:
        return _OutputTo32(network.to_float(dtype))
    for name, cell in network.name_cells().items():
        network._cells[name] = _only(cell, white_list, dtype)
    for name, value in list(network.__dict__.items()):
        if type(value) in white_list:
            network.__dict__[name] = _LowPrimitive(value, dtype)
    return network


def _all_but(network, black_list, dtype):
    """Everything computes in @dtype but the Cells of the list, whose results are given in it."""
    network.to_float(dtype)
    _keep_float32(network, black_list, dtype)
    return network


def _keep_float32(network, black_list, dtype):
    for name, cell in network.name_cells().items():
        if isinstance(cell, tuple(black_list)):
            network._cells[name] = _OutputTo16(cell.to_float(float32), dtype)
        else:
            _keep_float32(cell, black_list, dtype)


def _automatic(network, dtype):
    """What is called from a network or function chooses its type by what it is."""
    if isinstance(network, Cell):
        for _, cell in network.cells_and_names():
            if _has_own_type(cell):
                cell.__dict__["_amp_type"] = None
        network.__dict__["_amp_type"] = dtype
        return network

    def automatic(*args, **kwargs):
        with computing_in(dtype):
            if _gantry.in_graph():
                return _gantry.call(network, args, kwargs)
            return network(*args, **kwargs)
    return automatic


def _check_network(network, amp_level):
    if isinstance(network, Cell):
        return
    if amp_level != "auto":
        raise TypeError(f"For amp_level '{amp_level}', the network type should be Cell.")
    if not (inspect.isfunction(network) or inspect.ismethod(network) or hasattr(network, "__gantry_function__")):
        raise TypeError("For amp_level 'auto', the network type should be Cell or function.")


def _check_type(dtype):
    if dtype not in (float16, bfloat16):
        raise ValueError(f"The dtype should be one of (mstype.float16, mstype.bfloat16), but got {dtype}.")


def auto_mixed_precision(network, amp_level="O0", dtype=float16):
    """The network with what the level says computed in @dtype: see docs/python.md."""
    _check_network(network, amp_level)
    _check_type(dtype)
    if amp_level not in LEVELS:
        raise ValueError(f"The amp level {amp_level} is not supported")
    if amp_level == "O0":
        return network
    before = getattr(network, "_amp_level", None)
    if before is not None:
        log.warning(f"The network's auto mixed-precision level is adjusted from {before} to {amp_level}: what it was made before stays.")
    if amp_level == "O1":
        network = _only(network, AMP_WHITE_LIST, dtype)
    elif amp_level == "O2":
        network = _OutputTo32(_all_but(network, AMP_BLACK_LIST, dtype))
    elif amp_level == "O3":
        network = _OutputTo32(network.to_float(dtype))
    else:
        network = _automatic(network, dtype)
    network._amp_level = amp_level
    return network


def _check_list(given, name, kinds):
    if not isinstance(given, list):
        raise TypeError(f"The type of {name} should be list, but got {type(given)}")
    for element in given:
        if not isinstance(element, type):
            raise TypeError(f"The element in {name} should be a class, but got {element}")
        if not issubclass(element, kinds):
            raise TypeError(f"The subclass of element in {name} should be one of {' and '.join(repr(k.__name__) for k in kinds)}, "
                            f"but got {element}")


def custom_mixed_precision(network, *, white_list=None, black_list=None, dtype=float16):
    if not isinstance(network, Cell):
        raise TypeError("The network type should be Cell.")
    if white_list is None and black_list is None:
        raise ValueError("For custom_mixed_precision, one of white_list and black_list must be provided.")
    if white_list is not None and black_list is not None:
        raise ValueError("For custom_mixed_precision, the white_list or black_list cannot be provided at the same time, please provide "
                         "one or the other.")
    _check_type(dtype)
    if white_list is not None:
        _check_list(white_list, "white_list", (Cell, Primitive))
        return _only(network, white_list, dtype)
    _check_list(black_list, "black_list", (Cell,))
    return _OutputTo32(_all_but(network, black_list, dtype))


# Steps

_OF_LEVEL = {"O0": (False, float32), "O1": (False, float32), "O2": (True, float16), "O3": (False, float16), "auto": (False, float32)}


class _WithLossCell(Cell):
    """The loss in float32, of a network that may give half precision."""

    def __init__(self, backbone, loss_fn):
        super().__init__(auto_prefix=False)
        self._backbone, self._loss_fn = backbone, loss_fn

    def construct(self, data, label):
        out = self._backbone(data)
        return self._loss_fn(mixed_precision_cast(float32, out), mixed_precision_cast(float32, label))


_WithLossCell.__name__ = _WithLossCell.__qualname__ = "WithLossCell"


def _check_settings(settings):
    for name in settings:
        if name not in ("cast_model_type", "keep_batchnorm_fp32", "loss_scale_manager"):
            raise ValueError(f"Unsupported arg '{name}'")
    if settings.get("cast_model_type", float32) not in (float16, float32):
        raise TypeError(f"The 'cast_model_type' should be one of {{Float16, Float32}}, but got {settings['cast_model_type']}.")
    if not isinstance(settings.get("keep_batchnorm_fp32", True), bool):
        raise TypeError("The argument 'keep_batchnorm_fp32' should be a bool, "
                        f"but got {type(settings['keep_batchnorm_fp32']).__name__}.")
    manager = settings.get("loss_scale_manager")
    if manager is not None and not isinstance(manager, LossScaleManager):
        raise TypeError(f"The argument 'loss_scale_manager' should be a LossScaleManager, but got {type(manager).__name__}.")


def _converted(network, level, cast_model_type, keep_batchnorm):
    """What is said of the types counts more than the level."""
    if cast_model_type == float16:
        network.to_float(float16)
        if keep_batchnorm:
            _keep_float32(network, AMP_BLACK_LIST, float16)
    elif level == "O2" and not keep_batchnorm:
        network.to_float(float16)
    elif level not in ("O2", "O3"):
        network = auto_mixed_precision(network, level)
    return network


def build_train_network(network, optimizer, loss_fn=None, level="O0", boost_level="O0", **settings):
    if not isinstance(optimizer, nn.Optimizer):
        raise TypeError(f"The argument 'optimizer' should be an Optimizer, but got {type(optimizer).__name__}.")
    if not isinstance(level, str):
        raise TypeError(f"The argument `level` must be a string in ['O0', 'O1', 'O2', 'O3', 'auto'],but got type {type(level)}.")
    for name, value, known in (("level", level, LEVELS), ("boost_level", boost_level, LEVELS[:3])):
        if value not in known:
            raise ValueError(f"The {name} must be in [{', '.join(known)}], but got {value}.")
    _check_settings(settings)
    keep_batchnorm, cast_model_type = _OF_LEVEL[level]
    keep_batchnorm = settings.get("keep_batchnorm_fp32", keep_batchnorm)
    cast_model_type = settings.get("cast_model_type", cast_model_type)
    network = _converted(network, level, cast_model_type, keep_batchnorm)
    if loss_fn is not None:
        if not isinstance(loss_fn, Cell):
            raise TypeError(f"The argument 'loss_fn' should be a Cell, but got {type(loss_fn).__name__}.")
        low = cast_model_type == float16 or getattr(network, "_amp_level", None) in ("O2", "O3", "auto")
        network = (_WithLossCell if low else WithLossCell)(network, loss_fn)
    manager = settings["loss_scale_manager"] if "loss_scale_manager" in settings else DynamicLossScaleManager() if level == "O2" else None
    update = manager.get_update_cell() if manager is not None else None
    if update is not None:
        return TrainOneStepWithLossScaleCell(network, optimizer, update).set_train()
    return TrainOneStepCell(network, optimizer, None if manager is None else manager.get_loss_scale()).set_train()
