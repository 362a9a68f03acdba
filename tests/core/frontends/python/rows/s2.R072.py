# SPDX-License-Identifier: Apache-2.0
# s2.R072: MS_JIT_IGNORE_MODULES: modules that are third party; MS_JIT_MODULES: modules that are not.
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

with tempfile.TemporaryDirectory() as folder:
    packages = os.path.join(folder, "site-packages")
    os.mkdir(packages)
    for place, name in ((folder, "mine"), (packages, "suite")):
        with open(os.path.join(place, name + ".py"), "w") as file:
            # What tells them apart: CPython's own frames see `sys._getframe`, and a graph refuses `try`.
            file.write("def double(x):\n    try:\n        return x * 2\n    except ValueError:\n        return x\n")
    sys.path[:0] = [folder, packages]
    import mine
    import suite

    @jit
    def own(x):
        return mine.double(x)

    @jit
    def of_suite(x):
        return suite.double(x)

    raises(RuntimeError, "Unsupported statement 'Try'.", lambda: own(Tensor([1])))
    assert of_suite(Tensor([2])).tolist() == [4]
    os.environ["MS_JIT_IGNORE_MODULES"] = "other,mine"
    os.environ["MS_JIT_MODULES"] = "suite"

    @jit
    def again(x):
        return mine.double(x)

    @jit
    def suite_again(x):
        return suite.double(x)

    assert again(Tensor([3])).tolist() == [6]
    raises(RuntimeError, "Unsupported statement 'Try'.", lambda: suite_again(Tensor([1])))
