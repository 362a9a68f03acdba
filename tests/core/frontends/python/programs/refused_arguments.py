# SPDX-License-Identifier: Apache-2.0
"""What constructors of layers, losses, optimizers, schedules and primitives, and the settings of a program, refuse: type and first words of the exceptions as MindSpore 2.7.0 has them. Each row of
refused_arguments.txt is `call | type | first words`."""
import os
import numpy as np
import mindspore as ms
from mindspore import Parameter, Tensor, nn, ops


def P():
    return [Parameter(Tensor(np.ones((2, 3), np.float32)), name="w")]


def said(call, names):
    try:
        eval(call, names)
    except Exception as e:
        return type(e).__name__, str(e)
    return "nothing", ""


names = {"P": P, "ms": ms, "nn": nn, "ops": ops, "float": float}
wrong, n = [], 0
for row in open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "refused_arguments.txt")):
    call, kind, words = (part.strip() for part in row.split(" | "))
    got, text = said(call, names)
    n += 1
    if got != kind or " ".join(text.split()[:6]) != words:
        wrong.append(f"{call}: {got}: {text[:120]}, not {kind}: {words}")
assert not wrong, "\n".join(wrong)
assert n > 400, n

# A class of the program's own is held to the rules of the layer that it is made of, under its own name, and what is right is taken.
class Mine(nn.Conv2d):
    def __init__(self, channels):
        super().__init__(channels, 4, 3)


got, text = said("Mine(0)", {"Mine": Mine})
assert got == "ValueError" and text.startswith("For 'Mine', the 'in_channels' must be int and must > 0"), text
assert Mine(2).weight.shape == (4, 2, 3, 3)
assert nn.Conv2d(4, 6, (3, 1), (1, 2), "pad", (1, 1, 0, 0), 1, 2, True)(Tensor(np.ones((1, 4, 5, 5)), ms.float32)).shape == (1, 6, 5, 3)
assert nn.Adam(P(), 1e-3, 0.5, 0.9).beta1 == 0.5 and nn.SGD(P(), 1, momentum=1).dampening == 0.0

# What is set stays set; what is refused sets nothing.
ms.set_context(mode=ms.GRAPH_MODE, device_target="CPU", save_graphs=True, max_call_depth=500, jit_config={"jit_level": "O0"}, jit_syntax_level=ms.LAX)
assert said("ms.set_context(max_call_depth=7, device_id=-1)", names)[0] == "ValueError"
assert ms.get_context("max_call_depth") == 500 and ms.get_context("mode") == ms.GRAPH_MODE and ms.get_context("save_graphs") is True
