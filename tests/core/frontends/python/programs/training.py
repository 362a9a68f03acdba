# SPDX-License-Identifier: Apache-2.0
# Model.train with callbacks over a dataset, evaluation, checkpoints that load again, and a seed that makes runs equal.
import os
import tempfile
import numpy as np
import mindspore as ms
from mindspore import Model, Tensor, load_checkpoint, load_param_into_net, nn, save_checkpoint
from mindspore import dataset as ds
from mindspore.train import Accuracy, Callback, CheckpointConfig, LossMonitor, ModelCheckpoint, TimeMonitor

ms.set_context(mode=ms.GRAPH_MODE)
rng = np.random.default_rng(3)
points = rng.normal(size=(60, 4)).astype(np.float32)
labels = (points[:, 0] + points[:, 1] > 0).astype(np.int32)


def rows():
    for point, label in zip(points, labels):
        yield point, label


class Losses(Callback):
    def __init__(self):
        self.values, self.calls = [], []

    def on_train_step_end(self, run_context):
        self.values.append(float(run_context.original_args().net_outputs.asnumpy()))

    def on_train_epoch_end(self, run_context):
        self.calls.append(run_context.original_args().cur_epoch_num)


def trained(folder):
    ms.set_seed(5)
    net = nn.SequentialCell(nn.Dense(4, 16), nn.ReLU(), nn.Dense(16, 2))
    losses = Losses()
    model = Model(net, nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean"), nn.Adam(net.trainable_params(), 0.01),
                  metrics={"acc": Accuracy()})
    data = ds.GeneratorDataset(rows, ["data", "label"], shuffle=False).map(lambda p: p * 1.0, "data").batch(20)
    assert data.get_dataset_size() == 3 and data.get_col_names() == ["data", "label"]
    keep = ModelCheckpoint("net", folder, CheckpointConfig(save_checkpoint_steps=3, keep_checkpoint_max=2))
    model.train(20, data, callbacks=[losses, keep, LossMonitor(30), TimeMonitor()])
    return net, losses, model.eval(data)["acc"]


with tempfile.TemporaryDirectory() as folder:
    net, losses, accuracy = trained(folder)
    assert len(losses.values) == 60 and losses.calls == list(range(1, 21)) and losses.values[-1] < 0.5 * losses.values[0]
    assert accuracy > 0.9
    assert sorted(os.listdir(folder)) == ["net-19_3.ckpt", "net-20_3.ckpt"]
    path = os.path.join(folder, "whole.ckpt")
    save_checkpoint(net, path)
    fresh = nn.SequentialCell(nn.Dense(4, 16), nn.ReLU(), nn.Dense(16, 2))
    missing, unused = load_param_into_net(fresh, load_checkpoint(path))
    assert (missing, unused) == ([], [])
    noted = os.path.join(folder, "noted.ckpt")
    save_checkpoint(net, noted, append_dict={"note": "the best: \u00e9\u6f22", "epoch": 3})
    found = load_checkpoint(noted)
    assert found["note"] == "the best: \u00e9\u6f22" and found["epoch"].asnumpy() == 3
    assert load_param_into_net(fresh, found) == ([], ["note", "epoch"])
    x = Tensor(points)
    assert np.array_equal(net(x).asnumpy(), fresh(x).asnumpy())
    again = trained(folder)[1]
    assert again.values == losses.values
