# SPDX-License-Identifier: Apache-2.0
"""What an evaluation measures, computed by NumPy over the batches."""
import numpy as np
from mindspore._core import Tensor


def rearrange_inputs(func):
    def wrapper(self, *inputs):
        order = getattr(self, "indexes", None)
        return func(self, *(inputs if order is None else [inputs[i] for i in order]))
    return wrapper


_NO_UPDATE = "Please call the 'update' method before calling 'eval' method."


def _take(name, inputs, what="predicted value, true value"):
    if len(inputs) != 2:
        raise ValueError(f"For '{name}.update', it needs 2 inputs ({what}), but got {len(inputs)}.")


class Metric:
    def __init__(self):
        self._indexes = None

    def _convert_data(self, data):
        if isinstance(data, Tensor):
            return data.asnumpy()
        if isinstance(data, (list, np.ndarray)):
            return np.array(data)
        raise TypeError(f"For 'Metric' and its derived classes, the input data type must be tensor, list or numpy.ndarray, but got "
                        f"{type(data)}.")

    @property
    def indexes(self):
        return getattr(self, "_indexes", None)

    def set_indexes(self, indexes):
        if not isinstance(indexes, list) or not all(isinstance(i, int) for i in indexes):
            raise ValueError(f"For 'set_indexes', the argument 'indexes' should be a list and all its elements should be int, but got "
                             f"{indexes}.")
        self._indexes = indexes
        return self

    def clear(self):
        raise NotImplementedError("Must define clear function to use this base class")

    def update(self, *inputs):
        raise NotImplementedError(f"Must define update function to use this base class, which was given {len(inputs)} inputs")

    def eval(self):
        raise NotImplementedError("Must define eval function to use this base class")


class _Mean(Metric):
    """A sum over batches divided by what they count."""

    def __init__(self):
        super().__init__()
        self.clear()

    def clear(self):
        self._sum, self._count = 0.0, 0

    def eval(self):
        if self._count == 0:
            raise RuntimeError(f"The '{type(self).__name__}' can not be calculated, because the number of samples is 0, please check whether "
                               f"your inputs(predicted value, true value) are empty, or has called update method before calling eval method.")
        return self._sum / self._count


def _is_one_hot(data):
    return data.ndim > 1 and bool((data ** 2 == data).all()) and bool((data.sum(axis=1) == 1).all())


class EvaluationBase(Metric):
    """What a prediction of classes is measured by: the class with the most, or each class by itself."""

    def __init__(self, eval_type):
        super().__init__()
        if eval_type not in ("classification", "multilabel"):
            raise TypeError(f"The argument 'eval_type' must be in ['classification', 'multilabel'], but got {eval_type}.")
        self._type = eval_type

    def _classes(self, inputs):
        """The prediction and the label, which are alike."""
        name = type(self).__name__
        _take(name, inputs)
        predicted, label = self._convert_data(inputs[0]), self._convert_data(inputs[1])
        if self._type == "classification":
            if predicted.ndim == label.ndim and _is_one_hot(label):
                label = label.argmax(axis=1)
            if predicted.ndim != label.ndim + 1:
                raise ValueError(f"In classification case, the dimension of y_pred (predicted value) should equal to the dimension of y (true "
                                 f"value) add 1, but got y_pred dimension: {predicted.ndim} and y dimension: {label.ndim}.")
            if label.shape != predicted.shape[:1] + predicted.shape[2:]:
                raise ValueError(f"In classification case, y_pred (predicted value) shape and y (true value) shape can not match, y shape "
                                 f"should be equal to y_pred shape that the value at index 1 is deleted. Such as y_pred shape (1, 2, 3), then "
                                 f"y shape should be (1, 3). But got y_pred shape {predicted.shape} and y shape {label.shape}")
        else:
            self._check_labels(predicted, label)
        if self._class_num and predicted.shape[1] != self._class_num:
            raise ValueError(f"For '{name}.update', class number not match, last input predicted data contain {self._class_num} classes, but "
                             f"current predicted data contain {predicted.shape[1]} classes, please check your predicted value(inputs[0]).")
        self._class_num = predicted.shape[1]
        return predicted, label

    def _check_labels(self, predicted, label):
        for of, a, b in (("dimension", predicted.ndim, label.ndim), ("shape", predicted.shape, label.shape)):
            if a != b:
                raise ValueError(f"In {self._type} case, the {of} of y_pred (predicted value) should equal to the {of} of y (true value), but "
                                 f"got y_pred {of}: {a} and y {of}: {b}.")
        if not ((predicted ** 2 == predicted).all() and (label ** 2 == label).all()):
            raise ValueError("In multilabel case, all elements in y_pred (predicted value) and y (true value) should be 0 or 1.Please check "
                             "whether your inputs y_pred and y are correct.")


class Accuracy(EvaluationBase):
    def __init__(self, eval_type="classification"):
        super().__init__(eval_type)
        self.clear()

    def clear(self):
        self._sum, self._count, self._class_num = 0, 0, 0

    eval = _Mean.eval

    @rearrange_inputs
    def update(self, *inputs):
        predicted, label = self._classes(inputs)
        if self._type == "classification":
            right = (predicted.argmax(axis=1) == label).reshape(-1)
        else:
            rows = [v.swapaxes(1, v.ndim - 1).reshape(-1, self._class_num) for v in (predicted, label)]
            right = (rows[0] == rows[1]).all(axis=1)
        self._sum += right.sum()
        self._count += right.shape[0]


class Loss(_Mean):
    @rearrange_inputs
    def update(self, *inputs):
        if len(inputs) != 1:
            raise ValueError(f"For 'Loss.update', it needs 1 input (loss), but got {len(inputs)}")
        loss = self._convert_data(inputs[0])
        if loss.ndim > 1:
            raise ValueError(f"For 'Loss.update', the dimension of your input (loss) must be 1, but got {loss.ndim}.")
        self._sum += loss.mean()
        self._count += 1


class _Error(_Mean):
    @rearrange_inputs
    def update(self, *inputs):
        _take(type(self).__name__, inputs)
        predicted, label = self._convert_data(inputs[0]), self._convert_data(inputs[1])
        self._sum += self._of(label.reshape(predicted.shape) - predicted).sum()
        self._count += label.shape[0]


class MAE(_Error):
    _of = staticmethod(np.abs)


class MSE(_Error):
    _of = staticmethod(np.square)


class TopKCategoricalAccuracy(_Mean):
    def __init__(self, k):
        if not isinstance(k, int):
            raise TypeError(f"For 'TopKCategoricalAccuracy', the type of the argument 'k' should be int, but got 'k' type: {type(k)}.")
        if k < 1:
            raise ValueError(f"For 'TopKCategoricalAccuracy', the argument 'k' must be at least 1, but got 'k' value: {k}.")
        self.k = k
        super().__init__()

    @rearrange_inputs
    def update(self, *inputs):
        _take("TopKCategoricalAccuracy", inputs)
        predicted, label = self._convert_data(inputs[0]), self._convert_data(inputs[1])
        if predicted.ndim == label.ndim and _is_one_hot(label):
            label = label.argmax(axis=1)
        best = np.argsort(-predicted, axis=1)[:, :self.k]
        self._sum += (best == label.reshape(-1, 1)).sum()
        self._count += label.shape[0]


class Top1CategoricalAccuracy(TopKCategoricalAccuracy):
    def __init__(self):
        super().__init__(1)


class Top5CategoricalAccuracy(TopKCategoricalAccuracy):
    def __init__(self):
        super().__init__(5)


_LEAST = np.finfo(float).tiny


class _PerClass(EvaluationBase):
    def __init__(self, eval_type="classification"):
        super().__init__(eval_type)
        self.clear()

    def clear(self):
        self._class_num = 0
        none = np.empty(0) if self._type == "multilabel" else 0
        self._true, self._counted = none, none

    @rearrange_inputs
    def update(self, *inputs):
        predicted, label = self._classes(inputs)
        n = self._class_num
        if self._type == "classification":
            label = _as_classes(type(self).__name__, label, n)
            predicted = np.eye(n)[predicted.argmax(axis=1).reshape(-1)]
        else:  # each sample by itself
            predicted, label = (v.swapaxes(1, 0).reshape(n, -1) for v in (predicted, label))
        true, counted = (label * predicted).sum(axis=0), self._of(predicted, label).sum(axis=0)
        if self._type == "classification":
            self._true, self._counted = self._true + true, self._counted + counted
        else:
            self._true, self._counted = np.append(self._true, true), np.append(self._counted, counted)

    def eval(self, average=False):
        if self._class_num == 0:
            raise RuntimeError(f"The '{type(self).__name__}' can not be calculated, because the number of samples is 0, please check whether "
                               f"your inputs (predicted value, true value) are empty, or has called update method before calling eval "
                               f"method.")
        result = self._true / (self._counted + _LEAST)
        return result.mean() if _is_average(type(self).__name__, average) else result


def _is_average(name, average):
    if not isinstance(average, bool):
        raise TypeError(f"For '{name}', the type of 'average' must be bool, but got type {type(average).__name__}.")
    return average


def _as_classes(name, label, n):
    if label.max() + 1 > n:
        raise ValueError(f"For '{name}.update', predicted value (input[0]) should have the same classes number as true value (input[1]), but "
                         f"got predicted value classes {n}, true value classes {label.max() + 1}.")
    return np.eye(n)[label.reshape(-1).astype(int)]


class Precision(_PerClass):
    _of = staticmethod(lambda predicted, label: predicted)


class Recall(_PerClass):
    _of = staticmethod(lambda predicted, label: label)


class Fbeta(Metric):
    def __init__(self, beta):
        super().__init__()
        if not beta > 0:
            raise ValueError(f"For 'Fbeta', the argument 'beta' must be greater than 0, but got {beta}.")
        self.beta = beta
        self.clear()

    def clear(self):
        self._true = self._actual = self._predicted = self._class_num = 0

    @rearrange_inputs
    def update(self, *inputs):
        _take("Fbeta", inputs)
        predicted, label = self._convert_data(inputs[0]), self._convert_data(inputs[1])
        if predicted.ndim == label.ndim and _is_one_hot(label):
            label = label.argmax(axis=1)
        n = predicted.shape[1]
        if self._class_num not in (0, n):
            raise ValueError(f"For 'Fbeta.update', class number not match, last input predicted data contain {self._class_num} classes, but "
                             f"current predicted data contain {n} classes, please check your predicted value(inputs[0]).")
        self._class_num, label = n, _as_classes("Fbeta", label, n)
        predicted = np.eye(n)[predicted.argmax(axis=1).reshape(-1)]
        self._true, self._actual = self._true + (label * predicted).sum(axis=0), self._actual + label.sum(axis=0)
        self._predicted = self._predicted + predicted.sum(axis=0)

    def eval(self, average=False):
        if self._class_num == 0:
            raise RuntimeError("The 'Fbeta' can not be calculated, because the number of samples is 0, please check whether your "
                               "inputs(predicted value, true value) are empty, or has called update method before calling eval method.")
        square = self.beta ** 2
        score = (1.0 + square) * self._true / (square * self._actual + self._predicted + _LEAST)
        return score.mean() if _is_average("Fbeta", average) else score


class F1(Fbeta):
    def __init__(self):
        super().__init__(1.0)


class ConfusionMatrix(Metric):
    def __init__(self, num_classes, normalize="no_norm", threshold=0.5):
        super().__init__()
        if not isinstance(num_classes, int):
            raise TypeError(f"For 'ConfusionMatrix', the type of 'num_classes' must be int, but got type {type(num_classes).__name__}.")
        if normalize not in ("target", "prediction", "all", "no_norm"):
            raise ValueError(f"For 'ConfusionMatrix', the argument 'normalize' must be in ['all', 'prediction', 'label', 'no_norm'(None)], but "
                             f"got {normalize}.")
        if not isinstance(threshold, float):
            raise TypeError(f"For 'ConfusionMatrix', the type of 'threshold' must be float, but got type {type(threshold).__name__}.")
        self.num_classes, self.normalize, self.threshold = num_classes, normalize, threshold
        self.clear()

    def clear(self):
        self.confusion_matrix, self._is_update = np.zeros((self.num_classes, self.num_classes)), False

    @rearrange_inputs
    def update(self, *inputs):
        _take("ConfusionMatrix", inputs)
        predicted, label = self._convert_data(inputs[0]), self._convert_data(inputs[1])
        if predicted.ndim not in (label.ndim, label.ndim + 1):
            raise ValueError(f"For 'ConfusionMatrix.update', predicted value (input[0]) and true value (input[1]) should have same dimensions, "
                             f"or the dimension of predicted value equals the dimension of true value add 1, but got predicted value ndim: "
                             f"{predicted.ndim}, true value ndim: {label.ndim}.")
        if predicted.ndim > label.ndim:
            predicted = predicted.argmax(axis=1)
        elif predicted.dtype.kind == "f":
            predicted = predicted >= self.threshold
        np.add.at(self.confusion_matrix, (label.astype(int).reshape(-1), predicted.astype(int).reshape(-1)), 1)
        self._is_update = True

    def eval(self):
        if not self._is_update:
            raise RuntimeError(_NO_UPDATE)
        matrix = self.confusion_matrix
        if self.normalize == "no_norm":
            return matrix.copy()
        total = matrix.sum() if self.normalize == "all" else matrix.sum(axis=1 if self.normalize == "target" else 0, keepdims=True)
        return np.divide(matrix, total, out=np.zeros_like(matrix), where=np.broadcast_to(total != 0, matrix.shape))


_BY_NAME = {"accuracy": Accuracy, "acc": Accuracy, "loss": Loss, "mae": MAE, "mse": MSE, "top_1_accuracy": Top1CategoricalAccuracy,
            "top_5_accuracy": Top5CategoricalAccuracy, "precision": Precision, "recall": Recall, "F1": F1, "topk": TopKCategoricalAccuracy,
            "confusion_matrix": ConfusionMatrix}
_MORE = {"dice": "Dice", "roc": "ROC", "auc": "auc", "bleu_score": "BleuScore", "cosine_similarity": "CosineSimilarity",
         "occlusion_sensitivity": "OcclusionSensitivity", "hausdorff_distance": "HausdorffDistance", "perplexity": "Perplexity",
         "mean_surface_distance": "MeanSurfaceDistance", "root_mean_square_distance": "RootMeanSquareDistance",
         "confusion_matrix_metric": "ConfusionMatrixMetric"}


def names():
    return sorted([*_BY_NAME, *_MORE])


def get_metric_fn(name, *args, **kwargs):
    if name in _MORE:
        import importlib
        metrics_more = importlib.import_module("mindspore.train.metrics_more")
        return getattr(metrics_more, _MORE[name])(*args, **kwargs)
    if name not in _BY_NAME:
        raise KeyError(f"For 'get_metric_fn', unsupported metric {name}; there are {', '.join(names())}.")
    return _BY_NAME[name](*args, **kwargs)


def get_metrics(metrics):
    if metrics is None:
        return {}
    if isinstance(metrics, dict):
        for name, metric in metrics.items():
            if not isinstance(name, str) or not isinstance(metric, Metric):
                raise TypeError(f"For 'get_metrics', if 'metrics' is dict, the key in 'metrics' must be string and value in 'metrics' must be "
                                f"Metric, but got key:{type(name)}, value:{type(metric)}.")
        return dict(metrics)
    if not isinstance(metrics, (set, list, tuple)):
        raise TypeError(f"For 'get_metrics', the argument 'metrics' must be None, dict or set, but got {metrics}")
    return {name: get_metric_fn(name) for name in metrics}


__all__ = ["Metric", "Accuracy", "Loss", "MAE", "MSE", "TopKCategoricalAccuracy", "Top1CategoricalAccuracy", "Top5CategoricalAccuracy",
           "Precision", "Recall", "Fbeta", "F1", "ConfusionMatrix", "names", "get_metric_fn", "get_metrics", "rearrange_inputs"]
