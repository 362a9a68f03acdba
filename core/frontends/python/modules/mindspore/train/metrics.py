# SPDX-License-Identifier: Apache-2.0
"""What an evaluation measures, computed by NumPy over the batches."""
import numpy as np
from mindspore._core import Tensor


def rearrange_inputs(func):
    def wrapper(self, *inputs):
        order = getattr(self, "indexes", None)
        return func(self, *(inputs if order is None else [inputs[i] for i in order]))
    return wrapper


class Metric:
    def __init__(self):
        self._indexes = None

    def _convert_data(self, data):
        return data.asnumpy() if isinstance(data, Tensor) else np.asarray(data)

    @property
    def indexes(self):
        return getattr(self, "_indexes", None)

    def set_indexes(self, indexes):
        self._indexes = indexes
        return self

    def clear(self):
        raise NotImplementedError("Must define clear function to use this base class")

    def update(self, *inputs):
        raise NotImplementedError("Must define update function to use this base class")

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
            raise RuntimeError(f"The {type(self).__name__} can not be calculated, because the number of samples is 0.")
        return self._sum / self._count


class Accuracy(_Mean):
    def __init__(self, eval_type="classification"):
        self._type = eval_type
        super().__init__()

    @rearrange_inputs
    def update(self, *inputs):
        predicted, label = self._convert_data(inputs[0]), self._convert_data(inputs[1])
        if self._type == "classification":
            if label.ndim == predicted.ndim and label.shape[-1] > 1:
                label = label.argmax(axis=1)
            right = predicted.argmax(axis=1) == label.reshape(-1)
        else:
            right = ((predicted > 0.5) == label).reshape(label.shape[0], -1).all(axis=1)
        self._sum += float(right.sum())
        self._count += right.size


class Loss(_Mean):
    @rearrange_inputs
    def update(self, *inputs):
        self._sum += float(np.mean(self._convert_data(inputs[0])))
        self._count += 1


class MAE(_Mean):
    @rearrange_inputs
    def update(self, *inputs):
        error = np.abs(self._convert_data(inputs[1]).reshape(self._convert_data(inputs[0]).shape) - self._convert_data(inputs[0]))
        self._sum += float(error.sum())
        self._count += error.shape[0]


class MSE(_Mean):
    @rearrange_inputs
    def update(self, *inputs):
        error = np.square(self._convert_data(inputs[1]).reshape(self._convert_data(inputs[0]).shape) - self._convert_data(inputs[0]))
        self._sum += float(error.sum())
        self._count += error.shape[0]


class TopKCategoricalAccuracy(_Mean):
    def __init__(self, k):
        self.k = k
        super().__init__()

    @rearrange_inputs
    def update(self, *inputs):
        predicted, label = self._convert_data(inputs[0]), self._convert_data(inputs[1])
        if label.ndim == predicted.ndim and label.shape[1] > 1:
            label = label.argmax(axis=1)
        best = np.argsort(predicted, axis=1)[:, -self.k:]
        self._sum += float((best == label.reshape(-1, 1)).any(axis=1).sum())
        self._count += label.shape[0]


class Top1CategoricalAccuracy(TopKCategoricalAccuracy):
    def __init__(self):
        super().__init__(1)


class Top5CategoricalAccuracy(TopKCategoricalAccuracy):
    def __init__(self):
        super().__init__(5)


class _PerClass(Metric):
    def __init__(self, eval_type="classification"):
        super().__init__()
        self._type = eval_type
        self.clear()

    def clear(self):
        self._true = self._predicted = self._actual = 0

    @rearrange_inputs
    def update(self, *inputs):
        predicted, label = self._convert_data(inputs[0]), self._convert_data(inputs[1])
        n = predicted.shape[1]
        if label.ndim == 1:
            label = np.eye(n)[label.astype(int)]
        hot = np.eye(n)[predicted.argmax(axis=1)] if self._type == "classification" else predicted
        self._true = self._true + (hot * label).sum(axis=0)
        self._predicted, self._actual = self._predicted + hot.sum(axis=0), self._actual + label.sum(axis=0)

    def _ratio(self, average):
        result = self._true / np.maximum(self._bottom(), 1e-20)
        return float(result.mean()) if average else result


class Precision(_PerClass):
    def _bottom(self):
        return self._predicted

    def eval(self, average=False):
        return self._ratio(average)


class Recall(_PerClass):
    def _bottom(self):
        return self._actual

    def eval(self, average=False):
        return self._ratio(average)


class Fbeta(_PerClass):
    def __init__(self, beta):
        super().__init__()
        self.beta = beta

    def eval(self, average=False):
        square = self.beta ** 2
        score = (1 + square) * self._true / np.maximum(square * self._actual + self._predicted, 1e-20)
        return float(score.mean()) if average else score


class F1(Fbeta):
    def __init__(self):
        super().__init__(1.0)


class ConfusionMatrix(Metric):
    def __init__(self, num_classes, normalize="no_norm", threshold=0.5):
        super().__init__()
        self.num_classes, self.normalize = num_classes, normalize
        self.clear()

    def clear(self):
        self.confusion_matrix = np.zeros((self.num_classes, self.num_classes))

    @rearrange_inputs
    def update(self, *inputs):
        predicted, label = self._convert_data(inputs[0]), self._convert_data(inputs[1])
        predicted = predicted.argmax(axis=1) if predicted.ndim > label.ndim else predicted
        np.add.at(self.confusion_matrix, (label.astype(int).reshape(-1), predicted.astype(int).reshape(-1)), 1)

    def eval(self):
        matrix = self.confusion_matrix
        if self.normalize == "target":
            return matrix / np.maximum(matrix.sum(axis=1, keepdims=True), 1)
        return matrix / matrix.sum() if self.normalize == "all" else matrix


_BY_NAME = {"accuracy": Accuracy, "acc": Accuracy, "loss": Loss, "mae": MAE, "mse": MSE, "top_1_accuracy": Top1CategoricalAccuracy,
            "top_5_accuracy": Top5CategoricalAccuracy, "precision": Precision, "recall": Recall, "F1": F1}


def names():
    return list(_BY_NAME)


def get_metric_fn(name, *args, **kwargs):
    return _BY_NAME[name](*args, **kwargs)


def get_metrics(metrics):
    if metrics is None:
        return {}
    if isinstance(metrics, dict):
        return {n: m for n, m in metrics.items()}
    if not isinstance(metrics, (set, list, tuple)):
        raise TypeError(f"For 'get_metrics', the argument 'metrics' must be None, dict or set, but got {metrics}")
    for name in metrics:
        if name not in _BY_NAME:
            raise KeyError(f"For 'Model', the metric '{name}' is not known; there are {', '.join(_BY_NAME)}.")
    return {name: _BY_NAME[name]() for name in metrics}


__all__ = ["Metric", "Accuracy", "Loss", "MAE", "MSE", "TopKCategoricalAccuracy", "Top1CategoricalAccuracy", "Top5CategoricalAccuracy",
           "Precision", "Recall", "Fbeta", "F1", "ConfusionMatrix", "names", "get_metric_fn", "get_metrics", "rearrange_inputs"]
