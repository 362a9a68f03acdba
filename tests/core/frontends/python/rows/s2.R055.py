# SPDX-License-Identifier: Apache-2.0
# s2.R055: STRICT: of a Cell that the network makes only its call; its own through self.
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
    def __init__(self):
        super().__init__()
        self.scale = 3

    def helper(self, x):
        return x * self.scale

    @jit(jit_config=STRICT)
    def made(self, x):
        cell = nn.Dense(2, 2)
        return cell.in_channels

    @jit(jit_config=STRICT)
    def method(self, x):
        cell = nn.Dense(2, 2)
        return cell.trainable_params()

    @jit(jit_config=STRICT)
    def own(self, x):
        return self.helper(x) + self.scale


net = Net()
raises(AttributeError, "Dense", lambda: net.made(Tensor([1.])))
raises(AttributeError, "Dense", lambda: net.method(Tensor([1.])))
assert net.own(Tensor([1.])).tolist() == [6.0]
