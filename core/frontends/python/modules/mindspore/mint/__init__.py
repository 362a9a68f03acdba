# SPDX-License-Identifier: Apache-2.0
"""mindspore.mint: functions with arguments of their own, and all that ops and nn have."""
import sys

from mindspore import _paths

_paths.fill(sys.modules[__name__], _paths.places_of(__name__ + ".nn"))
