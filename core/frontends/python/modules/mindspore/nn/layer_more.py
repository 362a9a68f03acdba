# SPDX-License-Identifier: Apache-2.0
"""Layers and losses that few networks have. Loaded when one of the names is asked for."""
import math as _math
from mindspore import _core
from mindspore._core import Tensor, add, sub, mul, div, convert, float32
from mindspore.nn.cell import Cell
from mindspore.nn.layer import (BatchNorm1d, BatchNorm2d, CellList, Conv2d, Dense, Dropout, LayerNorm, LeakyReLU, MultiheadAttention, TransformerEncoder,
                                TransformerEncoderLayer, get_activation)
from mindspore.nn.loss import LossBase, DiceLoss, _loss
from mindspore.ops import _image, _matrix, _sequence, function as _f
from mindspore._rules import hold as _hold_to_rules

MultilabelMarginLoss = _loss("MultilabelMarginLoss", _matrix.multilabel_margin_loss)


def _poisson(logits, labels, log_input, full, eps, reduction):
    if log_input:
        loss = sub(_f.exp(logits), mul(labels, logits))
    else:
        loss = sub(logits, mul(labels, _f.log(add(logits, eps))))
    if full:  # Stirling's formula, where it holds
        safe = _f.maximum(labels, 1.0)
        stirling = add(sub(mul(safe, _f.log(safe)), safe), mul(_f.log(mul(safe, 2 * _math.pi)), 0.5))
        loss = add(loss, _core.select(_core.compare("GT", labels, 1.0), stirling, 0.0))
    return _f.mean(loss) if reduction == "mean" else _f.sum(loss) if reduction == "sum" else loss


class PoissonNLLLoss(LossBase):
    def __init__(self, log_input=True, full=False, eps=1e-8, reduction="mean"):
        super().__init__(reduction)
        self.log_input, self.full, self.eps = log_input, full, eps

    def construct(self, logits, labels):
        return _poisson(logits, labels, self.log_input, self.full, self.eps, self.reduction)


class MultiMarginLoss(LossBase):
    def __init__(self, p=1, margin=1.0, reduction="mean", weight=None):
        super().__init__(reduction)
        self.p, self.margin, self.weight = p, margin, weight

    def construct(self, x, target, weight=None):
        return _f.multi_margin_loss(x, target, self.p, self.margin, self.weight if weight is None else weight, self.reduction)


class TripletMarginWithDistanceLoss(LossBase):
    def __init__(self, distance_function=None, swap=False, reduction="mean", margin=1.0):
        super().__init__(reduction)
        self.distance_function, self.swap, self.margin = distance_function or _f.pairwise_distance, swap, margin

    def construct(self, x, positive, negative):
        near, far = self.distance_function(x, positive), self.distance_function(x, negative)
        if self.swap:
            far = _f.minimum(far, self.distance_function(positive, negative))
        loss = _f.maximum(add(sub(near, far), float(self.margin)), 0.0)
        return _f.mean(loss) if self.reduction == "mean" else _f.sum(loss) if self.reduction == "sum" else loss


class CTCLoss(LossBase):
    def __init__(self, blank=0, reduction="mean", zero_infinity=False):
        super().__init__(reduction)
        self.blank, self.zero_infinity = blank, zero_infinity

    def construct(self, log_probs, targets, input_lengths, target_lengths):
        single = log_probs.ndim == 2
        if single:
            log_probs, targets = _f.expand_dims(log_probs, 1), _f.expand_dims(targets, 0)
            input_lengths, target_lengths = (_core.reshape(_core.tensor_of(v), (1,)) for v in (input_lengths, target_lengths))
        loss = _sequence.ctc_loss(log_probs, targets, input_lengths, target_lengths, self.blank, self.reduction, self.zero_infinity)[0]
        return _core.reshape(loss, ()) if single else loss


class MultiClassDiceLoss(LossBase):
    def __init__(self, weights=None, ignore_indiex=None, activation="softmax"):
        super().__init__()
        self.weights, self.ignore, self.activation = weights, ignore_indiex, get_activation(activation) if activation else None
        self.dice = DiceLoss()

    def construct(self, logits, label):
        x = logits if self.activation is None else _f.softmax(logits, 1) if type(self.activation).__name__ == "Softmax" else self.activation(logits)
        total, n = 0.0, label.shape[1]
        for i in range(n):
            if i != self.ignore:
                one = self.dice(x[:, i], label[:, i])
                total = add(total, one if self.weights is None else mul(one, self.weights[i]))
        return div(total, float(n))


# Layers of one operation

class LRN(Cell):
    def __init__(self, depth_radius=5, bias=1.0, alpha=1.0, beta=0.5, norm_region="ACROSS_CHANNELS"):
        super().__init__()
        self._values = depth_radius, bias, alpha, beta, norm_region

    def construct(self, x):
        return _f.lrn(x, *self._values)


class Moments(Cell):
    def __init__(self, axis=None, keep_dims=None):
        super().__init__()
        self.axis, self.keep_dims = axis, bool(keep_dims)

    def construct(self, x):
        return _f.mean(x, self.axis, self.keep_dims), _f.var(x, self.axis, 0, self.keep_dims)


def _lp_pool(n):
    def __init__(self, norm_type, kernel_size, stride=None, ceil_mode=False):
        Cell.__init__(self)
        self._values = norm_type, kernel_size, stride, ceil_mode
    function = getattr(_f, f"lp_pool{n}d")
    return type(f"LPPool{n}d", (Cell,), {"__init__": __init__, "construct": lambda self, x: function(x, *self._values),
                                         "__module__": "mindspore.nn.layer_more"})


def _unpool(n):
    def __init__(self, kernel_size, stride=None, padding=0):
        Cell.__init__(self)
        self._values = kernel_size, stride, padding
    function = getattr(_image, f"max_unpool{n}d")
    return type(f"MaxUnpool{n}d", (Cell,), {"__init__": __init__, "__module__": "mindspore.nn.layer_more",
                                            "construct": lambda self, x, indices, output_size=None: function(x, indices, *self._values, output_size)})


LPPool1d, LPPool2d = _lp_pool(1), _lp_pool(2)
MaxUnpool1d, MaxUnpool2d, MaxUnpool3d = _unpool(1), _unpool(2), _unpool(3)


class Unfold(Cell):
    """Patches of an image, the places of a patch before the channels."""

    def __init__(self, ksizes, strides, rates, padding="valid"):
        super().__init__()
        for name, value in (("ksizes", ksizes), ("strides", strides), ("rates", rates)):
            if len(value) != 4 or value[0] != 1 or value[3] != 1:
                raise ValueError(f"For 'Unfold', the format of '{name}' must be [1, row, col, 1], but got {value}.")
        self.kernel, self.stride, self.rate = tuple(ksizes[1:3]), tuple(strides[1:3]), tuple(rates[1:3])
        if padding.lower() != "valid":
            raise NotImplementedError("For 'Unfold', the padding 'same' is not supported")

    def construct(self, x):
        n, c, height, width = x.shape
        made = _f.unfold(x, self.kernel, self.rate, 0, self.stride)
        rows = (height - self.rate[0] * (self.kernel[0] - 1) - 1) // self.stride[0] + 1
        made = _core.reshape(made, (n, c, self.kernel[0] * self.kernel[1], rows, -1))
        return _core.reshape(_core.swapaxes(made, 1, 2), (n, -1) + made.shape[3:])


class ImageGradients(Cell):
    def construct(self, images):
        down = _f.concat((sub(images[:, :, 1:], images[:, :, :-1]), _f.zeros_like(images[:, :, :1])), 2)
        right = _f.concat((sub(images[:, :, :, 1:], images[:, :, :, :-1]), _f.zeros_like(images[:, :, :, :1])), 3)
        return down, right


class PSNR(Cell):
    def __init__(self, max_val=1.0):
        super().__init__()
        self.max_val = max_val

    def construct(self, img1, img2):
        mse = _f.mean(_f.square(sub(img1, img2)), (1, 2, 3))
        return mul(_f.log(div(self.max_val ** 2, mse)), 10 / _math.log(10))


class SSIM(Cell):
    """Wang and others, Image quality assessment: from error visibility to structural similarity, 2004."""

    def __init__(self, max_val=1.0, filter_size=11, filter_sigma=1.5, k1=0.01, k2=0.03):
        super().__init__()
        line = [_math.exp(-(i - (filter_size - 1) / 2) ** 2 / (2 * filter_sigma ** 2)) for i in range(filter_size)]
        total = sum(line) ** 2
        self.kernel = [[a * b / total for b in line] for a in line]
        self.c1, self.c2 = (k1 * max_val) ** 2, (k2 * max_val) ** 2

    def construct(self, img1, img2):
        c, n = img1.shape[1], len(self.kernel)
        kernel = _core.broadcast_to(_core.reshape(Tensor(self.kernel, float32), (1, 1, n, n)), (c, 1, n, n))

        def smooth(x):
            return _f.conv2d(x, kernel, groups=c)
        a, b = smooth(img1), smooth(img2)
        both, squares = mul(a, b), add(_f.square(a), _f.square(b))
        light = div(add(mul(both, 2.0), self.c1), add(squares, self.c1))
        spread = add(smooth(_f.square(img1)), smooth(_f.square(img2)))
        structure = div(add(mul(sub(smooth(mul(img1, img2)), both), 2.0), self.c2), add(sub(spread, squares), self.c2))
        return _f.mean(mul(light, structure), (1, 2, 3))


class TimeDistributed(Cell):
    def __init__(self, layer, time_axis, reshape_with_axis=None):
        super().__init__()
        self.layer, self.time_axis = layer, time_axis

    def construct(self, inputs):
        axis = self.time_axis % inputs.ndim
        return _f.stack([self.layer(part) for part in _f.unstack(inputs, axis)], axis)


class Range(Cell):
    def __init__(self, start, limit=None, delta=1):
        super().__init__()
        self._values = start, limit, delta

    def construct(self):
        return _f.arange(*self._values)


def _one(name, function):
    return type(name, (Cell,), {"construct": lambda self, *inputs: function(*inputs), "__module__": "mindspore.nn.layer_more"})


LGamma, DiGamma, IGamma, MatInverse, MatDet = (_one(n, f) for n, f in (
    ("LGamma", _f.lgamma), ("DiGamma", _f.digamma), ("IGamma", _f.igamma), ("MatInverse", _f.inverse), ("MatDet", _f.det)))


class _BnAct(Cell):
    def _after(self, features, kind, has_bn, momentum, eps, activation, alpha):
        self.batchnorm = kind(features, eps, momentum) if has_bn else None
        self.activation = LeakyReLU(alpha) if activation == "leakyrelu" else get_activation(activation) if isinstance(activation, str) \
            else activation

    def construct(self, x):
        x = self.layer(x)
        x = x if self.batchnorm is None else self.batchnorm(x)
        return x if self.activation is None else self.activation(x)


class Conv2dBnAct(_BnAct):
    def __init__(self, in_channels, out_channels, kernel_size, stride=1, pad_mode="same", padding=0, dilation=1, group=1, has_bias=False,
                 weight_init="normal", bias_init="zeros", has_bn=False, momentum=0.997, eps=1e-5, activation=None, alpha=0.2, after_fake=True):
        super().__init__()
        self.layer = self.conv = Conv2d(in_channels, out_channels, kernel_size, stride, pad_mode, padding, dilation, group, has_bias, weight_init, bias_init)
        self._after(out_channels, BatchNorm2d, has_bn, momentum, eps, activation, alpha)


class DenseBnAct(_BnAct):
    def __init__(self, in_channels, out_channels, weight_init="normal", bias_init="zeros", has_bias=True, has_bn=False, momentum=0.9, eps=1e-5,
                 activation=None, alpha=0.2, after_fake=True):
        super().__init__()
        self.layer = self.dense = Dense(in_channels, out_channels, weight_init, bias_init, has_bias)
        self._after(out_channels, BatchNorm1d, has_bn, momentum, eps, activation, alpha)


# Transformers

class TransformerDecoderLayer(Cell):
    def __init__(self, d_model, nhead, dim_feedforward=2048, dropout=0.1, activation="relu", layer_norm_eps=1e-5, batch_first=False,
                 norm_first=False, dtype=float32):
        super().__init__()
        self.self_attn = MultiheadAttention(d_model, nhead, dropout, batch_first=batch_first, dtype=dtype)
        self.multihead_attn = MultiheadAttention(d_model, nhead, dropout, batch_first=batch_first, dtype=dtype)
        self.linear1, self.linear2 = Dense(d_model, dim_feedforward, dtype=dtype), Dense(dim_feedforward, d_model, dtype=dtype)
        self.norm1, self.norm2, self.norm3 = (LayerNorm((d_model,), epsilon=layer_norm_eps, dtype=dtype) for _ in range(3))
        self.dropout, self.dropout1, self.dropout2, self.dropout3 = (Dropout(p=dropout) for _ in range(4))
        self.norm_first = norm_first
        self.activation = {"relu": _f.relu, "gelu": _f.gelu}.get(activation, activation) if isinstance(activation, str) else activation

    def construct(self, tgt, memory, tgt_mask=None, memory_mask=None, tgt_key_padding_mask=None, memory_key_padding_mask=None):
        def own(x):
            return self.dropout1(self.self_attn(x, x, x, tgt_key_padding_mask, False, tgt_mask)[0])

        def other(x):
            return self.dropout2(self.multihead_attn(x, memory, memory, memory_key_padding_mask, False, memory_mask)[0])

        def feed(x):
            return self.dropout3(self.linear2(self.dropout(self.activation(self.linear1(x)))))
        x = tgt
        for norm, part in ((self.norm1, own), (self.norm2, other), (self.norm3, feed)):
            x = add(x, part(norm(x))) if self.norm_first else norm(add(x, part(x)))
        return x


class TransformerDecoder(Cell):
    def __init__(self, decoder_layer, num_layers, norm=None):
        super().__init__()
        import copy
        self.layers = CellList([copy.deepcopy(decoder_layer) for _ in range(num_layers)])
        self.num_layers, self.norm = num_layers, norm

    def construct(self, tgt, memory, tgt_mask=None, memory_mask=None, tgt_key_padding_mask=None, memory_key_padding_mask=None):
        for layer in self.layers:
            tgt = layer(tgt, memory, tgt_mask, memory_mask, tgt_key_padding_mask, memory_key_padding_mask)
        return tgt if self.norm is None else self.norm(tgt)


class Transformer(Cell):
    def __init__(self, d_model=512, nhead=8, num_encoder_layers=6, num_decoder_layers=6, dim_feedforward=2048, dropout=0.1, activation="relu",
                 custom_encoder=None, custom_decoder=None, layer_norm_eps=1e-5, batch_first=False, norm_first=False, dtype=float32):
        super().__init__()
        settings = d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps, batch_first, norm_first, dtype
        self.encoder = custom_encoder if custom_encoder is not None else TransformerEncoder(
            TransformerEncoderLayer(*settings), num_encoder_layers, LayerNorm((d_model,), epsilon=layer_norm_eps, dtype=dtype))
        self.decoder = custom_decoder if custom_decoder is not None else TransformerDecoder(
            TransformerDecoderLayer(*settings), num_decoder_layers, LayerNorm((d_model,), epsilon=layer_norm_eps, dtype=dtype))
        self.d_model, self.nhead, self.batch_first = d_model, nhead, batch_first

    def construct(self, src, tgt, src_mask=None, tgt_mask=None, memory_mask=None, src_key_padding_mask=None, tgt_key_padding_mask=None,
                  memory_key_padding_mask=None):
        if src.shape[-1] != self.d_model or tgt.shape[-1] != self.d_model:
            raise ValueError("For 'Transformer', the last dimension of src and tgt must be d_model.")
        memory = self.encoder(src, src_mask, src_key_padding_mask)
        return self.decoder(tgt, memory, tgt_mask, memory_mask, tgt_key_padding_mask, memory_key_padding_mask)


# Derivatives as Cells

class Jvp(Cell):
    def __init__(self, fn):
        super().__init__()
        self.fn = fn

    def construct(self, *args):
        from mindspore.ops.grad import jvp
        return jvp(self.fn, args[:-1] if len(args) > 2 else args[0], args[-1])


class WithGradCell(Cell):
    def __init__(self, network, loss_fn=None, sens=None):
        super().__init__(auto_prefix=False)
        self.network, self.loss_fn, self.sens = network, loss_fn, sens
        self.weights = network.trainable_params()

    def construct(self, *inputs):
        from mindspore.ops.grad import grad

        def loss(*given):
            made = self.network(*given) if self.loss_fn is None else self.loss_fn(self.network(*given[:-1]), given[-1])
            return made if self.sens is None else mul(made, self.sens)
        return grad(loss, None, self.weights)(*inputs)


_hold_to_rules(globals())
__all__ = [n for n in dir() if not n.startswith("_") and isinstance(globals()[n], type) and issubclass(globals()[n], Cell)
           and globals()[n].__module__ in ("mindspore.nn.layer_more", "mindspore.nn.loss") and n not in ("LossBase", "DiceLoss")]
