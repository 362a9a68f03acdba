# SPDX-License-Identifier: Apache-2.0
# Lengths of sequences in recurrent layers, and arguments of layers: what an argument says is done, or refused by its name.
import numpy as np
import mindspore as ms
from mindspore import nn, ops, Tensor

ms.set_context(mode=ms.GRAPH_MODE)


def filled(net):
    for p in net.get_parameters():
        p.set_data(Tensor(((np.arange(p.size).reshape(p.shape) * 7 % 11 - 5) * 0.1).astype(np.float32)))
    return net


def refused(make, *words):
    try:
        make()
    except (ValueError, NotImplementedError) as e:
        assert all(w in str(e) for w in words), str(e)
    else:
        raise AssertionError(words)


# Each sequence of a batch alone, cut to its length, is what the batch with its lengths makes of it.
data, lengths = np.sin(np.arange(60)).reshape(3, 4, 5).astype(np.float32), [4, 1, 2]
for kind in (nn.RNN, nn.GRU, nn.LSTM):
    for both in (False, True):
        net = filled(kind(5, 2, num_layers=2, bidirectional=both, batch_first=True))
        out, state = net(Tensor(data), None, Tensor(lengths, ms.int32))
        states = state if isinstance(state, tuple) else (state,)
        for i, n in enumerate(lengths):
            own, last = net(Tensor(data[i:i + 1, :n]))
            assert np.allclose(out.asnumpy()[i, :n], own.asnumpy()[0], atol=1e-6), (kind, both, i)
            assert not out.asnumpy()[i, n:].any(), (kind, both, i)
            for s, one in zip(states, last if isinstance(last, tuple) else (last,)):
                assert np.allclose(s.asnumpy()[:, i], one.asnumpy()[:, 0], atol=1e-6), (kind, both, i)

# By MindSpore 2.7.0.
gru = nn.GRU(1, 1, batch_first=True)
for p in gru.get_parameters():
    p.set_data(Tensor(np.full(p.shape, .5, np.float32)))
out = gru(Tensor(np.ones((2, 3, 1)), ms.float32), None, Tensor([1, 3], ms.int32))[0].asnumpy()[:, :, 0]
assert np.allclose(out, [[0.1618545, 0, 0], [0.1618545, 0.28813696, 0.3891616]], atol=1e-6), out
refused(lambda: gru(Tensor(np.ones((2, 3, 1)), ms.float32), None, Tensor([1, 3, 2], ms.int32)), "seq_length")

# The gradient takes no part of what lies past the length.
weigh = ops.grad(lambda x: gru(x, None, Tensor([1, 3], ms.int32))[0].sum())
past = weigh(Tensor(np.ones((2, 3, 1)), ms.float32)).asnumpy()[:, :, 0]
assert past[0, 0] != 0 and not past[0, 1:].any() and past[1].all(), past

# Keys and values of sizes of their own are those of the size of all, filled up with zeros.
rng = np.random.RandomState(0)
query, key, value = (Tensor(rng.randn(2, n, size).astype(np.float32)) for n, size in ((3, 8), (5, 4), (5, 6)))
own, whole = filled(nn.MultiheadAttention(8, 2, kdim=4, vdim=6, batch_first=True)), filled(nn.MultiheadAttention(8, 2, batch_first=True))
assert [p.name for p in own.get_parameters()] == ["q_proj_weight", "k_proj_weight", "v_proj_weight", "in_proj_bias", "out_proj.weight",
                                                  "out_proj.bias"]
parts = [np.pad(w.asnumpy(), ((0, 0), (0, 8 - w.shape[1]))) for w in (own.q_proj_weight, own.k_proj_weight, own.v_proj_weight)]
whole.in_proj_weight.set_data(Tensor(np.concatenate(parts)))
fill = lambda x: Tensor(np.pad(x.asnumpy(), ((0, 0), (0, 0), (0, 8 - x.shape[2]))))
assert np.allclose(own(query, key, value)[0].asnumpy(), whole(query, fill(key), fill(value))[0].asnumpy(), atol=1e-5)

# A key of zeros, and one that is trained, which is the same where it is zero and nothing else is added; masks leave both open.
zero, more = nn.MultiheadAttention(8, 2, add_zero_attn=True, batch_first=True), nn.MultiheadAttention(8, 2, add_bias_kv=True, batch_first=True)
assert [p.name for p in more.get_parameters()][2:4] == ["bias_k", "bias_v"] and more.bias_k.shape == (1, 1, 8)
for net in (zero, more):
    filled(net).in_proj_bias.set_data(Tensor(np.zeros(24, np.float32)))
for p in (more.bias_k, more.bias_v):
    p.set_data(Tensor(np.zeros((1, 1, 8), np.float32)))
mask = Tensor(np.triu(np.ones((3, 3)), 1).astype(bool))
(a, weights), (b, _) = (net(query, query, query, attn_mask=mask) for net in (zero, more))
assert weights.shape == (2, 3, 4) and np.allclose(weights.asnumpy().sum(-1), 1, atol=1e-5) and not weights.asnumpy()[:, 0, 1:3].any()
assert np.allclose(a.asnumpy(), b.asnumpy(), atol=1e-5)
refused(lambda: nn.MultiheadAttention(8, 3), "embed_dim")
for make in (lambda: nn.Conv2d(2, 3, 3, data_format="NHWC"), lambda: nn.Conv2d(2, 3, 3, 1, "same", 0, 1, 1, False, None, None, "NHWC"),
             lambda: nn.MaxPool2d(2, 2, data_format="NHWC"), lambda: nn.AvgPool2d(2, 2, data_format="NHWC"),
             lambda: nn.BatchNorm2d(2, data_format="NHWC"), lambda: ops.MaxPool(2, 2, "valid", "NHWC")):
    refused(make, "'NHWC' format only support in GPU target")

decay = nn.PolynomialDecayLR(.1, .01, 4, .5, update_decay_steps=True)
rates = [float(decay(Tensor(i, ms.int32))) for i in (1, 5, 9)]
assert np.allclose(rates, [0.0879, 0.0651, 0.055], atol=1e-4), rates

x = Tensor(np.linspace(-1, 1, 6).reshape(2, 3), ms.float32)
dense = filled(nn.DenseBnAct(3, 2, activation="leakyrelu", alpha=.4))
plain = dense.dense(x).asnumpy()
assert (plain < 0).any() and np.allclose(dense(x).asnumpy(), np.where(plain < 0, .4 * plain, plain), atol=1e-6)
x = Tensor(np.linspace(-1, 1, 18).reshape(1, 2, 3, 3), ms.float32)
conv = filled(nn.Conv2dBnAct(2, 2, 3, activation="leakyrelu", alpha=.4))
plain = conv.conv(x).asnumpy()
assert (plain < 0).any() and np.allclose(conv(x).asnumpy(), np.where(plain < 0, .4 * plain, plain), atol=1e-6)

net = nn.Dense(2, 2)
sgd = nn.SGD([{"params": [net.weight], "lr": .5}, {"params": [net.bias]}], .1)
assert [float(r.asnumpy()) for r in sgd.get_lr_parameter([net.weight, net.bias])] == [0.5, np.float32(.1)]
refused(lambda: sgd.get_lr_parameter(nn.Dense(1, 1).weight), "not in optimizer")

loss = nn.KLDivLoss("batchmean")(Tensor([[.1, .2]]), Tensor([[.3, .4]]))
assert abs(float(loss) + 0.8377081) < 1e-6, loss
refused(lambda: nn.MSELoss("batchmean"), "reduction")

assert ms.common.initializer.initializer("ones", (2,)).asnumpy().tolist() == [1, 1]
