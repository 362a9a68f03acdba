# SPDX-License-Identifier: Apache-2.0
"""What a program does not use is not loaded for it: LLVM, the solver, and modules that only an error needs."""
import sys
import mindspore


def mapped():
    with open("/proc/self/maps") as file:
        return {line.split("/")[-1].strip() for line in file if "/" in line}


assert not [name for name in mapped() if name.startswith(("libLLVM", "libCbc", "libdnnl", "libClp"))], mapped()
assert "difflib" not in sys.modules
assert float(mindspore.jit(lambda x: x + 1)(mindspore.Tensor(1.0))) == 2
assert [name for name in mapped() if name.startswith("libLLVM")]
