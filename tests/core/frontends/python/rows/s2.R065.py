# SPDX-License-Identifier: Apache-2.0
# s2.R065: statements and expressions that are no part of a graph.
import mindspore as ms
from mindspore import Parameter, Tensor, jit, jit_class, mutable, nn, ops, set_context
from mindspore.common.api import JitConfig
from mindspore.ops.functional import isconstant


def raises(kind, text, call):
    try:
        call()
    except kind as error:
        assert type(error) is kind and text in str(error), repr(error)
    else:
        raise AssertionError("nothing was raised")


@jit
def delete(x):
    del x
@jit
def annotated(x):
    y: int = 1
    return y
@jit
def importing(x):
    import os
    return x
@jit
def trying(x):
    try:
        return x
    except ValueError:
        return x
@jit
def named(x):
    return (y := x)
@jit
def of_set(x):
    return {1, 2}
@jit
def set_comp(x):
    return {i for i in (1, 2)}
for function, word in ((delete, "statement 'Delete'"), (annotated, "statement 'AnnAssign'"), (importing, "statement 'Import'"),
                       (trying, "statement 'Try'"), (named, "expression 'NamedExpr'"), (of_set, "expression 'Set'"),
                       (set_comp, "expression 'SetComp'")):
    raises(RuntimeError, "Unsupported " + word + ".", lambda: function(1))
