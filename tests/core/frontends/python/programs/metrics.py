# SPDX-License-Identifier: Apache-2.0
# Metrics: values by MindSpore 2.7.0, and what they refuse.
import numpy as np
import mindspore as ms
from mindspore import nn, train, Tensor
from mindspore.train import (BleuScore, ConfusionMatrix, ConfusionMatrixMetric, CosineSimilarity, Dice, HausdorffDistance, MeanSurfaceDistance,
                             OcclusionSensitivity, Perplexity, ROC, RootMeanSquareDistance, auc)


def value(metric, *updates, **options):
    metric.clear()
    for inputs in updates:
        metric.update(*inputs)
    return metric.eval(**options)


def close(a, b):
    assert np.allclose(np.asarray(a, float), b, atol=1e-6), (a, b)


def refused(kind, text, call):
    try:
        call()
    except kind as e:
        assert text in str(e), str(e)
    else:
        raise AssertionError(text)


scores, labels = Tensor(np.array([[.2, .5], [.3, .1], [.9, .6]])), Tensor(np.array([1, 0, 1]))
close(value(nn.Accuracy(), (scores, labels)), 2 / 3)
close(value(nn.Accuracy("multilabel"), (Tensor([[0, 1, 1], [1, 0, 1]]), Tensor([[0, 1, 1], [1, 1, 1]]))), 0.5)
close(value(nn.F1(), (scores, labels)), [2 / 3, 2 / 3])
close(value(nn.Fbeta(2.0), (scores, labels), average=True), 0.6944444)
close(value(nn.Precision(), (scores, labels)), [0.5, 1])
close(value(nn.Recall("multilabel"), (Tensor([[0, 1, 1], [1, 0, 1]]), Tensor([[0, 1, 1], [1, 1, 1]])), average=True), 5 / 6)
close(value(train.TopKCategoricalAccuracy(2), (scores, labels)), 1)
a, b = Tensor([.1, .2, .6, .9], ms.float32), Tensor([.1, .25, .7, .9], ms.float32)
close([value(nn.MAE(), (a, b)), value(nn.MSE(), (a, b))], [0.0375, 0.003125])
close(value(ConfusionMatrix(2, "no_norm", 0.5), (Tensor(np.array([1., 0., 1., 0.])), Tensor(np.array([1, 0, 0, 1])))), [[1, 1], [1, 1]])
close(value(Perplexity(), (Tensor([[.2, .5], [.3, .1], [.9, .6]]), Tensor([1, 0, 1]))), 2.2314432)
words = [["i", "have", "a", "pen", "on", "my", "desk"]]
known = [[["i", "have", "a", "pen", "in", "my", "desk"], ["there", "is", "a", "pen", "on", "the", "desk"]]]
close(value(BleuScore(), (words, known)), 0.5946036)
close(value(CosineSimilarity(), (np.array([[1, 3, 4, 7], [2, 4, 2, 5], [3, 1, 5, 8]]),)),
      [[0, .94025615, .95162452], [.94025615, 0, .86146098], [.95162452, .86146098, 0]])
close(value(Dice(), (Tensor(np.array([[.2, .5], [.3, .1], [.9, .6]])), Tensor(np.array([[0, 1], [1, 0], [0, 1]])))), 2 * 1.4 / (1.56 + 3 + 1e-5) / 3)
fpr, tpr, thresholds = value(ROC(pos_label=2), (np.array([.28, .55, .15, .05]), np.array([0, 1, 2, 3])))
close(fpr, [0, 1 / 3, 2 / 3, 2 / 3, 1]), close(tpr, [0, 0, 0, 1, 1]), close(thresholds, [1.55, .55, .28, .15, .05])
fpr, tpr, _ = value(ROC(pos_label=2), (np.array([[3, 0, 1], [1, 3, 0], [1, 0, 2]]), np.array([[0, 2, 1], [1, 2, 1], [0, 0, 1]])))
close(auc(fpr, tpr), 0.5357142857142857)
x, y = Tensor(np.array([[3, 0, 1], [1, 3, 0], [1, 0, 2]])), Tensor(np.array([[0, 2, 1], [1, 2, 1], [0, 0, 1]]))
close([value(HausdorffDistance(), (x, y, 0)), value(MeanSurfaceDistance(), (x, y, 0)), value(RootMeanSquareDistance(), (x, y, 0))],
      [1.4142135623730951, 0.8047378541243649, 1.0])
close(value(ConfusionMatrixMetric(True, "tpr"), (Tensor(np.array([[[0], [1]], [[1], [0]]])), Tensor(np.array([[[0], [1]], [[0], [1]]])))), [0.5])


class Linear(nn.Cell):
    def __init__(self):
        super().__init__()
        self.dense = nn.Dense(4, 2, Tensor(np.array([[.1, .8, .1, .1], [1, 1, 1, 1]], np.float32)), Tensor(np.array([.3, .6], np.float32)))

    def construct(self, x):
        return self.dense(x)


close(value(OcclusionSensitivity(), (Linear(), np.array([[.1, .2, .3, .4]], np.float32), np.array(1, np.int32))), [.3, .6, 1, .9])
assert train.names()[:3] == ["F1", "acc", "accuracy"] and len(train.names()) == 23
refused(KeyError, "unsupported metric none", lambda: train.get_metric_fn("none"))
refused(TypeError, "The argument 'eval_type' must be in", lambda: nn.Accuracy("other"))
refused(ValueError, "it needs 2 inputs (predicted value, true value), but got 1", lambda: nn.Accuracy().update(scores))
refused(RuntimeError, "because the number of samples is 0", lambda: nn.Accuracy().eval())
refused(RuntimeError, "Please call the 'update' method before", lambda: ROC().eval())
refused(ValueError, "In classification case, the dimension of y_pred", lambda: nn.Accuracy().update(scores, scores))

# What a training with evaluation tells its callbacks: metrics by their names, and the loss; in mode auto what is no loss shall grow.
from mindspore import dataset
from mindspore.train import EarlyStopping, ReduceLROnPlateau
inputs = np.random.RandomState(0).randn(32, 4).astype(np.float32)
data = dataset.NumpySlicesDataset((inputs, (inputs.sum(1) > 0).astype(np.int32)), ["x", "y"], shuffle=False).batch(8)
net = nn.Dense(4, 2, Tensor(np.full((2, 4), .1, np.float32)), Tensor(np.zeros(2, np.float32)))
optimizer = nn.Momentum(net.trainable_params(), 0.1, 0.9)
told = []


class Telling(train.Callback):
    def on_train_epoch_end(self, run_context):
        told.append(dict(run_context.original_args().eval_results))


assert ReduceLROnPlateau("acc").maximize and not EarlyStopping("eval_loss").maximize and EarlyStopping("F1").maximize
refused(ValueError, "mode should be 'auto', 'min' or 'max'", lambda: EarlyStopping(mode="other"))
model = train.Model(net, nn.SoftmaxCrossEntropyWithLogits(True, "mean"), optimizer, metrics={"acc"})
model.fit(20, data, data, callbacks=[Telling(), ReduceLROnPlateau("acc", patience=2), EarlyStopping("acc", patience=5)])
assert set(told[0]) == {"acc", "eval_loss"} and told[-1]["eval_loss"] < told[0]["eval_loss"], told
assert len(told) < 20 and abs(float(optimizer.learning_rate.asnumpy()) - 0.1 * 0.1 ** 2) < 1e-6, (len(told), optimizer.learning_rate.asnumpy())
