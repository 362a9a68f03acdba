# SPDX-License-Identifier: Apache-2.0
"""Metrics of texts, curves, surfaces and confusion, computed by NumPy over the batches."""
import math
from collections import Counter
import numpy as np
from mindspore._core import Tensor
from mindspore.train.metrics import Metric, _NO_UPDATE, _take, rearrange_inputs


def _one_of(name, argument, given, known):
    if not isinstance(given, str):
        raise TypeError(f"For '{name}', the type of '{argument}' must be str, but got type {type(given).__name__}.")
    if given not in known:
        raise ValueError(f"For '{name}', the '{argument}' must be in {list(known)}, but got {given}.")
    return given


def _of_type(name, argument, given, *kinds):
    if not isinstance(given, kinds) or isinstance(given, bool) and bool not in kinds:
        raise TypeError(f"For '{name}', the type of '{argument}' must be {' or '.join(k.__name__ for k in kinds)}, but got type "
                        f"{type(given).__name__}.")
    return given


class _Updated(Metric):
    """What can be asked for only after an update."""

    def _ready(self):
        if not self._is_update:
            raise RuntimeError(_NO_UPDATE)


# Texts

class Perplexity(Metric):
    def __init__(self, ignore_label=None):
        super().__init__()
        self.ignore_label = ignore_label if ignore_label is None else _of_type("Perplexity", "ignore_label", ignore_label, int)
        self.clear()

    def clear(self):
        self._total, self._count = 0.0, 0

    @rearrange_inputs
    def update(self, *inputs):
        _take("Perplexity", inputs)
        likely, label = self._convert_data(inputs[0]), self._convert_data(inputs[1])
        if label.size != likely.size / likely.shape[-1]:
            raise RuntimeError(f"For 'Perplexity.update', predicted value (input[0]) and label (input[1]) should have the same shape, but "
                               f"got predicted value shape {likely.shape}, label shape {label.shape}.")
        label = label.reshape(-1).astype(int)
        chosen = likely.reshape(-1, likely.shape[-1])[np.arange(label.size), label]
        if self.ignore_label is not None:
            chosen = chosen[label != self.ignore_label]
        self._total -= np.log(np.maximum(1e-10, chosen)).sum()
        self._count += chosen.size

    def eval(self):
        if self._count == 0:
            raise RuntimeError("The 'Perplexity' can not be calculated, because the number of samples is 0, please check whether has "
                               "called update method before calling eval method.")
        return math.exp(self._total / self._count)


class BleuScore(_Updated):
    def __init__(self, n_gram=4, smooth=False):
        super().__init__()
        self.n_gram, self.smooth = _of_type("BleuScore", "n_gram", n_gram, int), _of_type("BleuScore", "smooth", smooth, bool)
        if not 1 <= n_gram <= 4:
            raise ValueError(f"For 'BleuScore', the argument 'n_gram' should range from 1 to 4, but got {n_gram}.")
        self.clear()

    def clear(self):
        self._found, self._all = np.zeros(self.n_gram), np.zeros(self.n_gram)
        self._length = self._wanted = 0
        self._is_update = False

    def _grams(self, words):
        return Counter(tuple(words[i:i + n]) for n in range(1, self.n_gram + 1) for i in range(len(words) - n + 1))

    @rearrange_inputs
    def update(self, *inputs):
        _take("BleuScore", inputs, "candidate_corpus, reference_corpus")
        if len(inputs[0]) != len(inputs[1]):
            raise ValueError(f"For 'BleuScore.update', 'translate_corpus' (inputs[0]) and 'reference_corpus' (inputs[1]) should be equal in "
                             f"length, but got {len(inputs[0])}, {len(inputs[1])}")
        for words, references in zip(*inputs):
            self._length += len(words)
            self._wanted += min((len(r) for r in references), key=lambda n: abs(n - len(words)))
            grams, known = self._grams(words), Counter()
            for reference in references:
                known |= self._grams(reference)
            for counts, into in ((grams & known, self._found), (grams, self._all)):
                for gram, n in counts.items():
                    into[len(gram) - 1] += n
        self._is_update = True

    def eval(self):
        self._ready()
        if self._found.min() == 0:
            return np.array(0.0)
        more = 1.0 if self.smooth else 0.0
        score = np.exp(np.log((self._found + more) / (self._all + more)).mean())
        return score * (1.0 if self._length > self._wanted else np.exp(1 - self._wanted / self._length))


# Likeness

class CosineSimilarity(_Updated):
    def __init__(self, similarity="cosine", reduction="none", zero_diagonal=True):
        super().__init__()
        self.similarity = _one_of("CosineSimilarity", "similarity", similarity, ("dot", "cosine"))
        self.reduction = _one_of("CosineSimilarity", "reduction", reduction, ("none", "sum", "mean"))
        self.zero_diagonal = _of_type("CosineSimilarity", "zero_diagonal", zero_diagonal, bool)
        self.clear()

    def clear(self):
        self.sqr_mtx_res, self._is_update = 0, False

    @rearrange_inputs
    def update(self, inputs):
        rows = self._convert_data(inputs)
        if self.similarity == "cosine":
            rows = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        self.sqr_mtx_res, self._is_update = rows @ rows.T, True

    def eval(self):
        self._ready()
        result = self.sqr_mtx_res.copy()
        if self.zero_diagonal:
            np.fill_diagonal(result, 0)
        return result if self.reduction == "none" else getattr(result, self.reduction)(axis=-1)


class Dice(Metric):
    def __init__(self, smooth=1e-5):
        super().__init__()
        if not isinstance(smooth, float):
            raise TypeError(f"For 'Dice', the 'smooth' must be float, but got '{smooth}' with type '{type(smooth).__name__}'.")
        if smooth <= 0:
            raise ValueError(f"For 'Dice', the 'smooth' must be float and must > 0, but got '{smooth}' with type 'float'.")
        self.smooth = smooth
        self.clear()

    def clear(self):
        self._sum, self._samples = 0.0, 0

    @rearrange_inputs
    def update(self, *inputs):
        _take("Dice", inputs)
        predicted, label = self._convert_data(inputs[0]), self._convert_data(inputs[1])
        self._samples += label.shape[0]
        if predicted.shape != label.shape:
            raise ValueError(f"For 'Dice.update', predicted value (input[0]) and true value (input[1]) should have same shape, but got "
                             f"predicted value shape: {predicted.shape}, true value shape: {label.shape}.")
        a, b = predicted.reshape(-1), label.reshape(-1)
        self._sum += 2 * float(a @ b) / float(a @ a + b @ b + self.smooth)

    def eval(self):
        if self._samples == 0:
            raise RuntimeError("The 'Dice coefficient' can not be calculated, because the number of samples is 0, please check whether your "
                               "inputs(predicted value, true value) are empty, or has called update method before calling eval method.")
        return self._sum / self._samples


# Curves

class ROC(_Updated):
    """False and true positive rates at each threshold."""

    def __init__(self, class_num=None, pos_label=None):
        super().__init__()
        self.class_num = class_num if class_num is None else _of_type("ROC", "class_num", class_num, int)
        self.pos_label = pos_label if pos_label is None else _of_type("ROC", "pos_label", pos_label, int)
        self.clear()

    def clear(self):
        self.y_pred = self.y = None
        self._is_update = False

    @rearrange_inputs
    def update(self, *inputs):
        _take("ROC", inputs)
        score, label = self._convert_data(inputs[0]), self._convert_data(inputs[1])
        if score.ndim == label.ndim:
            if self.class_num not in (None, 1):
                raise ValueError(f"For 'ROC', when predicted value (input[0]) and true value (input[1]) have the same shape, the 'class_num' "
                                 f"must be 1, but got {self.class_num}.")
            self.class_num, self.pos_label = 1, 1 if self.pos_label is None else self.pos_label
            score = score.reshape(-1)
        elif score.ndim == label.ndim + 1:
            if self.pos_label is not None:
                raise ValueError(f"For 'ROC', when the dimension of predicted value (input[0]) equals the dimension of true value (input[1]) "
                                 f"add 1, the 'pos_label' must be None, but got {self.pos_label}.")
            if self.class_num != score.shape[1]:
                raise ValueError(f"For 'ROC', the 'class_num' must equal the number of classes from predicted value (input[0]), but got "
                                 f"'class_num' {self.class_num}, the number of classes from predicted value {score.shape[1]}.")
        else:
            raise ValueError(f"For 'ROC', predicted value (input[0]) and true value (input[1]) must have same dimensions, or the dimension of "
                             f"predicted value equal the dimension of true value add 1, but got predicted value ndim: {score.ndim}, true "
                             f"value ndim: {label.ndim}.")
        self.y_pred, self.y, self._is_update = score, label.reshape(-1), True

    def _curve(self, score, positive):
        order = np.argsort(-score)
        score, positive = score[order], positive[order].astype(np.int64)
        ends = np.append(np.nonzero(np.diff(score))[0], score.size - 1)
        right = np.cumsum(positive)[ends]
        wrong = 1 + ends - right
        for count, word, rate in ((wrong, "negative", "false"), (right, "positive", "true")):
            if count[-1] <= 0:
                raise ValueError(f"For 'ROC.eval', there is no {word} samples in true value, {rate} positive value is meaningless.")
        first = score[ends][:1] + 1
        return (np.append(0, wrong) / wrong[-1], np.append(0, right) / right[-1], np.append(first, score[ends]))

    def eval(self):
        self._ready()
        if self.class_num == 1:
            return self._curve(np.squeeze(self.y_pred), self.y == self.pos_label)
        return tuple(list(c) for c in zip(*(self._curve(self.y_pred[:, c], self.y == c) for c in range(self.class_num))))


def auc(x, y, reorder=False):
    """The area below a curve, by the rule of trapezoids."""
    if not isinstance(x, np.ndarray) or not isinstance(y, np.ndarray):
        raise TypeError(f"For 'auc', the argument 'x' and 'y' must all be np.ndarray, but got {type(x)}, {type(y)}")
    if len(x) != len(y):
        raise ValueError(f"Found input variables with inconsistent numbers of samples: {[len(x), len(y)]}.")
    for a in (x, y):
        if a.ndim != 1 and not (a.ndim == 2 and a.shape[1] == 1):
            raise ValueError(f"For 'auc', the input must be a 1-dimensional array, or a 2-dimensional array with the second dimension of 1, "
                             f"but got shape {a.shape}.")
    x, y = x.reshape(-1), y.reshape(-1)
    if x.size < 2:
        raise ValueError(f"For 'auc', the shape of the argument 'x' in axis 0 must be greater than 2, but got {x.size}.")
    if reorder:
        order = np.lexsort((y, x))
        x, y = x[order], y[order]
    steps = np.diff(x)
    if (steps < 0).any() and (steps > 0).any():
        raise ValueError(f"For 'auc', if the argument is False, the argument 'x' array must be increasing or decreasing, but got 'x': {x}")
    return (-1 if (steps < 0).any() else 1) * np.trapz(y, x)


# Surfaces

def _edges(mask):
    """What of a set of places touches its outside, or that of the picture, along an axis."""
    inner = mask.copy()
    for axis in range(mask.ndim):
        for shift in (-1, 1):
            moved = np.roll(mask, shift, axis)
            index = [slice(None)] * mask.ndim
            index[axis] = 0 if shift == 1 else -1
            moved[tuple(index)] = False
            inner &= moved
    return inner ^ mask


def _distances(of, to, kind):
    """Of each place of @of to the nearest of @to."""
    a, b = np.argwhere(of), np.argwhere(to)
    if not len(a):
        return np.zeros(0)
    if not len(b):
        return np.full(len(a), np.inf)
    measure = {"euclidean": lambda d: np.sqrt(np.square(d).sum(-1)), "chessboard": lambda d: np.abs(d).max(-1),
               "taxicab": lambda d: np.abs(d).sum(-1)}[kind]
    rows = max(1, 2 ** 20 // len(b))
    return np.concatenate([measure(a[i:i + rows, None] - b[None]).min(1) for i in range(0, len(a), rows)])


_DISTANCES = ("euclidean", "chessboard", "taxicab")


class _Surfaces(_Updated):
    def clear(self):
        self._a = self._b = None
        self._is_update = False

    def _masks(self, inputs):
        name = type(self).__name__
        if len(inputs) != 3:
            raise ValueError(f"For '{name}.update', it needs 3 inputs (predicted value, true value, label index), but got {len(inputs)}.")
        predicted, actual, label = self._convert_data(inputs[0]), self._convert_data(inputs[1]), inputs[2]
        if not isinstance(label, (int, float)):
            raise ValueError(f"For '{name}.update', the label index (input[2]) must be int or float, but got {type(label)}.")
        if label not in predicted and label not in actual:
            raise ValueError(f"For '{name}.update', the label index (input[2]) must be in predicted value (input[0]) or true value "
                             f"(input[1]), but {label} is not.")
        if predicted.size == 0 or predicted.shape != actual.shape:
            raise ValueError(f"For '{name}.update', the size of predicted value (input[0]) and true value (input[1]) must be greater than 0, "
                             f"in addition to that, predicted value and true value should have the same shape, but got predicted value "
                             f"size: {predicted.size}, shape: {predicted.shape}, true value size: {actual.size}, shape: {actual.shape}.")
        return predicted == label, actual == label

    @rearrange_inputs
    def update(self, *inputs):
        a, b = self._masks(inputs)
        self._a, self._b, self._is_update = _edges(a), _edges(b), True


class HausdorffDistance(_Surfaces):
    def __init__(self, distance_metric="euclidean", percentile=None, directed=False, crop=True):
        super().__init__()
        self.distance_metric = _one_of("HausdorffDistance", "distance_metric", distance_metric, _DISTANCES)
        self.percentile = percentile if percentile is None else _of_type("HausdorffDistance", "percentile", percentile, float)
        self.directed, self.crop = directed, crop
        self.clear()

    @rearrange_inputs
    def update(self, *inputs):
        a, b = self._masks(inputs)
        if self.crop:
            # What is left of both has its edges at the box around it.
            either = np.argwhere(a | b)
            box = tuple(slice(low, high + 1) for low, high in zip(either.min(0), either.max(0)))
            a, b = np.squeeze(a[box]), np.squeeze(b[box])
        self._a, self._b, self._is_update = _edges(a), _edges(b), True

    def _one_way(self, a, b):
        found = _distances(a, b, self.distance_metric)
        if not found.size:
            return np.inf
        if not self.percentile:
            return found.max()
        if not 0 <= self.percentile <= 100:
            raise ValueError(f"For 'HausdorffDistance', the value of the argument 'percentile' must be [0, 100], but got {self.percentile}.")
        return np.percentile(found, self.percentile)

    def eval(self):
        self._ready()
        there = self._one_way(self._a, self._b)
        return there if self.directed else max(there, self._one_way(self._b, self._a))


class _MeanDistance(_Surfaces):
    def __init__(self, symmetric=False, distance_metric="euclidean"):
        super().__init__()
        self.distance_metric = _one_of(type(self).__name__, "distance_metric", distance_metric, _DISTANCES)
        self.symmetric = _of_type(type(self).__name__, "symmetric", symmetric, bool)
        self.clear()

    def eval(self):
        self._ready()
        ways = [(self._a, self._b), (self._b, self._a)] if self.symmetric else [(self._a, self._b)]
        means = []
        for a, b in ways:
            found = _distances(a, b, self.distance_metric)
            if not found.size:
                return np.inf
            means.append(self._each(found).mean())
        return self._both(np.mean(means)) if self.symmetric else means[0]


class MeanSurfaceDistance(_MeanDistance):
    _each = _both = staticmethod(lambda value: value)


class RootMeanSquareDistance(_MeanDistance):
    """Of one direction it is the mean of the squares, as in MindSpore."""
    _each, _both = staticmethod(np.square), staticmethod(np.sqrt)


# Confusion

def _over(top, bottom):
    top, bottom = np.asarray(top, float), np.asarray(bottom, float)
    return np.divide(top, bottom, out=np.full(np.broadcast(top, bottom).shape, np.nan), where=bottom != 0)


_MEASURES = {  # by true and false positives, true and false negatives
    "tpr": lambda a, b, c, d: _over(a, a + d), "tnr": lambda a, b, c, d: _over(c, b + c), "ppv": lambda a, b, c, d: _over(a, a + b),
    "npv": lambda a, b, c, d: _over(c, c + d), "fnr": lambda a, b, c, d: _over(d, a + d), "fpr": lambda a, b, c, d: _over(b, b + c),
    "fdr": lambda a, b, c, d: _over(b, a + b), "for": lambda a, b, c, d: _over(d, c + d), "ts": lambda a, b, c, d: _over(a, a + b + d),
    "acc": lambda a, b, c, d: _over(a + c, a + b + c + d), "f1": lambda a, b, c, d: _over(2 * a, 2 * a + b + d),
    "ba": lambda a, b, c, d: (_over(a, a + d) + _over(c, b + c)) / 2,
    "bm": lambda a, b, c, d: _over(a, a + d) + _over(c, b + c) - 1,
    "mk": lambda a, b, c, d: _over(a, a + b) + _over(c, c + d) - 1,
    "fm": lambda a, b, c, d: np.sqrt(_over(a, a + b) * _over(a, a + d)),
    "mcc": lambda a, b, c, d: _over(a * c - b * d, np.sqrt((a + b) * (a + d) * (c + b) * (c + d))),
    "pt": lambda a, b, c, d: _over(np.sqrt(_over(a, a + d) * (1 - _over(c, b + c))) + _over(c, b + c) - 1,
                                   _over(a, a + d) + _over(c, b + c) - 1),
}
_ALIASES = {"sensitivity": "tpr", "recall": "tpr", "hit_rate": "tpr", "true_positive_rate": "tpr", "specificity": "tnr", "selectivity": "tnr",
            "true_negative_rate": "tnr", "precision": "ppv", "positive_predictive_value": "ppv", "negative_predictive_value": "npv",
            "miss_rate": "fnr", "false_negative_rate": "fnr", "fall_out": "fpr", "false_positive_rate": "fpr", "false_discovery_rate": "fdr",
            "false_omission_rate": "for", "prevalence_threshold": "pt", "threat_score": "ts", "critical_success_index": "ts", "csi": "ts",
            "accuracy": "acc", "balanced_accuracy": "ba", "f1_score": "f1", "matthews_correlation_coefficient": "mcc",
            "fowlkes_mallows_index": "fm", "informedness": "bm", "bookmaker_informedness": "bm", "markedness": "mk", "deltap": "mk"}


def _reduced(table, way):
    """@table: by batch and class. Returns: what it is together, and of how many"""
    known = ~np.isnan(table)
    table = np.where(known, table, 0)

    def mean(values, counts, axis):
        n = counts.sum(axis)
        return np.divide(values.sum(axis), n, out=np.zeros_like(values.sum(axis)), where=n > 0), n
    if way == "mean":
        values, n = mean(table, known.astype(float), 1)
        counted = (n > 0).astype(float)
        return mean(values * counted, counted, 0)
    if way in ("mean_batch", "mean_channel"):
        return mean(table, known.astype(float), 0 if way == "mean_batch" else 1)
    axis = {"sum": (0, 1), "sum_batch": 0, "sum_channel": 1, "none": ()}[way]
    return (table.sum(axis), known.sum(axis)) if way != "none" else (table, known)


class ConfusionMatrixMetric(Metric):
    def __init__(self, skip_channel=True, metric_name="sensitivity", calculation_method=False, decrease="mean"):
        super().__init__()
        self.skip_channel = _of_type("ConfusionMatrixMetric", "skip_channel", skip_channel, bool)
        self.calculation_method = _of_type("ConfusionMatrixMetric", "calculation_method", calculation_method, bool)
        self.metric_name = _of_type("ConfusionMatrixMetric", "metric_name", metric_name, str)
        self.decrease = _one_of("ConfusionMatrixMetric", "decrease", decrease,
                                ("none", "mean", "sum", "mean_batch", "sum_batch", "mean_channel", "sum_channel"))
        self.clear()

    def clear(self):
        self._total, self._count, self._parts = 0.0, 0, np.zeros(4)

    def _measure(self, parts):
        name = self.metric_name.replace(" ", "_").lower()
        name = _ALIASES.get(name, name)
        if name not in _MEASURES:
            raise NotImplementedError("The metric is not implemented.")
        return _MEASURES[name](*np.moveaxis(np.asarray(parts, float), -1, 0))

    @rearrange_inputs
    def update(self, *inputs):
        _take("ConfusionMatrixMetric", inputs)
        predicted, label = self._convert_data(inputs[0]), self._convert_data(inputs[1])
        if not (label.astype(np.uint8) == label).all():
            raise ValueError("For 'ConfusionMatrix.update', the true value (input[1]) must be a binarized ndarray.")
        if predicted.ndim < 2:
            raise ValueError(f"For 'ConfusionMatrix.update', the predicted value (input[0]) must have at least 2 dimensions, but got "
                             f"{predicted.ndim}.")
        if predicted.shape != label.shape:
            raise ValueError(f"For 'ConfusionMatrix', the 'y_shape' must be equal to 'y_pred_shape', but got {label.shape} and "
                             f"{predicted.shape}.")
        single = predicted.ndim == 2 or predicted.ndim == 3 and predicted.shape[-1] == 1
        if not self.skip_channel and label.shape[1] > 1:
            predicted, label = predicted[:, 1:], label[:, 1:]
        predicted, label = (v.astype(float).reshape(*v.shape[:2], -1) for v in (predicted, label))
        right, left = (predicted + label == 2).sum(2), (predicted + label == 0).sum(2)
        positive = label.sum(2)
        parts = np.stack([right, label.shape[-1] - positive - left, left, positive - right], axis=-1).astype(float)
        if self.calculation_method and not single:
            score, counted = _reduced(self._measure(parts), self.decrease)
            self._total += float(np.asarray(score).item()) * int(np.asarray(counted).item())
            self._count += int(np.asarray(counted).item())
        else:
            self._parts += parts.sum((0, 1))

    def eval(self):
        if not self.calculation_method:
            return self._measure(self._parts[None])
        if self._count == 0:
            raise RuntimeError("The 'ConfusionMatrixMetric' can not be calculated, because the number of samples is 0, please check whether "
                               "your inputs(predicted value, true value) are empty, or has called update method before calling eval method.")
        return self._total / self._count


class OcclusionSensitivity(_Updated):
    """How much the score of a label falls where a part of the picture is hidden."""

    def __init__(self, pad_val=0.0, margin=2, n_batch=128, b_box=None):
        super().__init__()
        self.pad_val, self.margin = _of_type("OcclusionSensitivity", "pad_val", pad_val, float), margin
        _of_type("OcclusionSensitivity", "margin", margin, int, list)
        self.n_batch, self.b_box = _of_type("OcclusionSensitivity", "n_batch", n_batch, int), b_box
        self.clear()

    def clear(self):
        self._baseline = self._scores = 0
        self._is_update = False

    def _box(self, shape):
        if self.b_box is None:
            return np.zeros(len(shape), int), np.asarray(shape) - 1
        if len(self.b_box) != 2 * len(shape):
            raise ValueError(f"For 'OcclusionSensitivity', the bounding box must contain upper and lower for all dimensions (except batch "
                             f"number), and the length of 'b_box' must be twice as long as predicted value's (except batch number), but got "
                             f"'b_box' length {len(self.b_box)}, predicted value length (except batch number) {len(shape)}.")
        low, high = np.maximum(np.array(self.b_box[::2]), 0), np.array(self.b_box[1::2])
        high = np.where(high < 0, np.asarray(shape) - 1, high)
        if (high >= np.asarray(shape)).any():
            raise ValueError("For 'OcclusionSensitivity', maximum bounding box must be smaller than image size for all values.")
        if (low > high).any():
            raise ValueError("For 'OcclusionSensitivity', minimum bounding box must be smaller than maximum bounding box for all values.")
        return low, high

    @rearrange_inputs
    def update(self, *inputs):
        if len(inputs) != 3:
            raise ValueError(f"For 'OcclusionSensitivity.update', it needs 3 inputs (classification model, predicted value, label), but got "
                             f"{len(inputs)}.")
        model, picture, label = inputs[0], self._convert_data(inputs[1]), self._convert_data(inputs[2])
        if picture.shape[0] > 1:
            raise RuntimeError(f"For 'OcclusionSensitivity.update', the shape at index 0 of the predicted value (input[1]) must be 1, but got "
                               f"{picture.shape[0]}.")
        if label.size != picture.shape[0]:
            raise RuntimeError(f"For 'OcclusionSensitivity.update', the number of the label (input[2]) must be same as the batches, but got "
                               f"the label number {label.size}, and batches {picture.shape[0]}.")
        label = int(label.reshape(-1)[0])
        low, high = self._box(picture.shape[1:])
        shape = tuple(high - low + 1)
        margins = self.margin if isinstance(self.margin, list) else [self.margin] * len(shape)
        hidden, scores = [], []
        for place in np.ndindex(*shape):
            part = tuple(slice(max(0, i - m), min(n, i + m)) for i, m, n in zip(np.asarray(place) + low, margins, picture.shape[1:]))
            one = picture.copy()
            one[(slice(None),) + part] = self.pad_val
            hidden.append(one)
            if len(hidden) == self.n_batch or len(hidden) + len(scores) == np.prod(shape):
                scores.extend(model(Tensor(np.concatenate(hidden))).asnumpy()[:, label])
                hidden = []
        self._baseline = model(Tensor(picture)).asnumpy()[0, label].item()
        self._scores, self._is_update = np.asarray(scores).reshape(shape), True

    def eval(self):
        self._ready()
        return self._baseline - np.squeeze(self._scores)


__all__ = ["Perplexity", "BleuScore", "CosineSimilarity", "Dice", "ROC", "auc", "HausdorffDistance", "MeanSurfaceDistance",
           "RootMeanSquareDistance", "ConfusionMatrixMetric", "OcclusionSensitivity"]
