# SPDX-License-Identifier: Apache-2.0
# s0.R023: arguments on the device fall by the size of the state.
from lib import document

kept, moved = document.planned_step(False), document.planned_step(True)
state = 8 * 7168 * 7168 * 4
assert kept.argument_size_in_bytes - moved.argument_size_in_bytes - state in range(0, 129)
