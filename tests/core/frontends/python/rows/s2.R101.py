# SPDX-License-Identifier: Apache-2.0
# s2.R101: globals of one name in two files: each function sees those of its own.
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


import os
import sys
import tempfile

FACTOR = 2


def here(x):
    return x * FACTOR


with tempfile.TemporaryDirectory() as folder:
    with open(os.path.join(folder, "elsewhere.py"), "w") as file:
        file.write("FACTOR = 5\n\n\ndef there(x):\n    return x * FACTOR\n")
    sys.path.insert(0, folder)
    from elsewhere import there

    @jit
    def f(x):
        return here(x), there(x)

    out = f(Tensor([1]))
assert [o.tolist() for o in out] == [[2], [5]]
