# SPDX-License-Identifier: Apache-2.0
"""Losses."""
from mindspore import _core
from mindspore.nn.cell import Cell
from mindspore.ops import function as _f
from mindspore._rules import hold as _hold_to_rules


class LossBase(Cell):
    _reductions = ["mean", "sum", "none"]

    def __init__(self, reduction="mean"):
        super().__init__()
        if reduction is not None and reduction not in self._reductions:
            raise ValueError(f"For '{type(self).__name__}', the 'reduction' must be in {self._reductions}, but got {reduction}.")
        self.reduction = reduction or "none"
        self.average, self.reduce = self.reduction == "mean", self.reduction != "none"

    def get_loss(self, x, weights=1.0):
        x = _core.mul(x, weights)
        return _f.mean(x) if self.average else (_f.sum(x) if self.reduce else x)

    def get_axis(self, x):
        return tuple(range(_core.tensor_of(x).ndim))

    def construct(self, logits, labels):
        raise NotImplementedError


_LossBase = LossBase


# Losses whose reduction is the last argument.
_LAST = {"SmoothL1Loss", "CrossEntropyLoss", "NLLLoss", "BCEWithLogitsLoss", "CosineEmbeddingLoss", "MarginRankingLoss", "BCELoss",
         "HingeEmbeddingLoss", "TripletMarginLoss", "GaussianNLLLoss", "MultiLabelSoftMarginLoss"}


def _loss(name, function, reduction="mean", **settings):
    names = list(settings)

    def __init__(self, *args, **kwargs):
        order = names + ["reduction"] if name in _LAST else ["reduction"] + names
        values = {"reduction": reduction, **settings, **dict(zip(order, args)), **kwargs}
        LossBase.__init__(self, values.pop("reduction"))
        for key, value in values.items():
            self.__dict__["_" + key] = value
    __init__._parameters = {**settings, "reduction": reduction} if name in _LAST else {"reduction": reduction, **settings}

    def construct(self, *inputs):
        return function(*inputs, reduction=self.reduction, **{n: self.__dict__["_" + n] for n in names})
    return type(name, (LossBase,), {"__init__": __init__, "construct": construct, "__module__": "mindspore.nn.loss"})


L1Loss = _loss("L1Loss", _f.l1_loss)
MSELoss = _loss("MSELoss", _f.mse_loss)
HuberLoss = _loss("HuberLoss", _f.huber_loss, delta=1.0)
SmoothL1Loss = _loss("SmoothL1Loss", _f.smooth_l1_loss, "none", beta=1.0)
SoftMarginLoss = _loss("SoftMarginLoss", _f.soft_margin_loss)
KLDivLoss = _loss("KLDivLoss", _f.kl_div)
KLDivLoss._reductions = LossBase._reductions + ["batchmean"]
BCELoss = _loss("BCELoss", _f.binary_cross_entropy, weight=None)
HingeEmbeddingLoss = _loss("HingeEmbeddingLoss", _f.hinge_embedding_loss, margin=1.0)
CosineEmbeddingLoss = _loss("CosineEmbeddingLoss", _f.cosine_embedding_loss, margin=0.0)
MarginRankingLoss = _loss("MarginRankingLoss", _f.margin_ranking_loss, margin=0.0)
MultiLabelSoftMarginLoss = _loss("MultiLabelSoftMarginLoss", _f.multilabel_soft_margin_loss, weight=None)
GaussianNLLLoss = _loss("GaussianNLLLoss", _f.gaussian_nll_loss, full=False, eps=1e-6)
TripletMarginLoss = _loss("TripletMarginLoss", _f.triplet_margin_loss, p=2, swap=False, eps=1e-6, margin=1.0)


class CrossEntropyLoss(LossBase):
    def __init__(self, weight=None, ignore_index=-100, reduction="mean", label_smoothing=0.0):
        super().__init__(reduction)
        self.weight, self.ignore_index, self.label_smoothing = weight, ignore_index, label_smoothing

    def construct(self, logits, labels):
        return _f.cross_entropy(logits, labels, self.weight, self.ignore_index, self.reduction, self.label_smoothing)


class NLLLoss(CrossEntropyLoss):
    def __init__(self, weight=None, ignore_index=-100, reduction="mean"):
        super().__init__(weight, ignore_index, reduction)

    def construct(self, logits, labels):
        return _f.nll_loss(logits, labels, self.weight, self.ignore_index, self.reduction)


class BCEWithLogitsLoss(LossBase):
    def __init__(self, reduction="mean", weight=None, pos_weight=None):
        super().__init__(reduction)
        self.weight, self.pos_weight = weight, pos_weight

    def construct(self, logits, labels):
        return _f.binary_cross_entropy_with_logits(logits, labels, self.weight, self.pos_weight, self.reduction)


class SoftmaxCrossEntropyWithLogits(LossBase):
    def __init__(self, sparse=False, reduction="none"):
        super().__init__(reduction)
        self.sparse = sparse

    def construct(self, logits, labels):
        loss = _f.sparse_softmax_cross_entropy(logits, labels) if self.sparse else _f.softmax_cross_entropy_with_logits(logits, labels)
        return self.get_loss(loss)


class RMSELoss(LossBase):
    def construct(self, logits, labels):
        return _f.sqrt(_f.mse_loss(logits, labels))


class MAELoss(LossBase):
    def construct(self, logits, labels):
        return self.get_loss(_f.abs(_core.sub(logits, labels)))


class DiceLoss(LossBase):
    def __init__(self, smooth=1e-5):
        super().__init__()
        self.smooth = smooth

    def construct(self, logits, label):
        both = _f.sum(_core.mul(logits, label))
        total = _core.add(_f.sum(_f.square(logits)), _f.sum(_f.square(label)))
        return _core.sub(1.0, _core.div(_core.add(_core.mul(both, 2.0), self.smooth), _core.add(total, self.smooth)))


class FocalLoss(LossBase):
    def __init__(self, weight=None, gamma=2.0, reduction="mean"):
        super().__init__(reduction)
        self.weight, self.gamma = weight, gamma

    def construct(self, logits, labels):
        logs = _f.log_softmax(logits, 1)
        hot = _core.convert(_f.one_hot(labels, logits.shape[1], _core.tensor_of(1.0), _core.tensor_of(0.0), 1), logits.dtype)
        chosen = _f.sum(_core.mul(logs, hot), 1)
        return self.get_loss(_core.mul(_core.neg(_f.pow(_core.sub(1.0, _f.exp(chosen)), self.gamma)), chosen))


_hold_to_rules(globals())
__all__ = [n for n in dir() if not n.startswith("_") and isinstance(globals()[n], type) and n != "Cell"]
