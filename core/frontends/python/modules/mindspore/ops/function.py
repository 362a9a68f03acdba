# SPDX-License-Identifier: Apache-2.0
"""The table of operations: each function over core operations, with its derivative for free."""
import builtins as _builtins
from mindspore.ops._elementwise import *
from mindspore.ops._reduction import *
from mindspore.ops._special import *
from mindspore.ops._array import *
from mindspore.ops._gather import *
from mindspore.ops._neural import *
from mindspore.ops._random import *
from mindspore.ops._linear import *
from mindspore.ops import _keywords, _refused
from mindspore.ops import _elementwise, _reduction, _special, _array, _gather, _neural, _random, _linear

__all__ = [n for m in (_elementwise, _reduction, _special, _array, _gather, _neural, _random, _linear) for n in m.__all__]

_keywords.apply(globals())
_refused.guard(globals(), __all__)


def __getattr__(name):
    from mindspore.ops._names import missing
    return missing("mindspore.ops.function", name, globals())
