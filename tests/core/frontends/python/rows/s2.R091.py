# SPDX-License-Identifier: Apache-2.0
# s2.R091: an attribute that __init__ did not define is set on self.
import mindspore as ms
from mindspore import Parameter, Tensor, jit, jit_class, mutable, nn, ops, set_context
from mindspore.common.api import JitConfig

STRICT = JitConfig(jit_syntax_level="STRICT")


def raises(kind, text, call):
    try:
        call()
    except kind as error:
        assert type(error) is kind and text in str(error), repr(error)
    else:
        raise AssertionError("nothing was raised")


class Net(nn.Cell):
    def construct(self, x):
        self.seen = x + 1
        self.count = 3
        return x


set_context(mode=ms.GRAPH_MODE)
net = Net()
net(Tensor([1]))
assert net.count == 3 and net.seen.tolist() == [2]
