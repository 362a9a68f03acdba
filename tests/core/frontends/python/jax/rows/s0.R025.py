# SPDX-License-Identifier: Apache-2.0
# s0.R025: the total with the state in the host is at least as far below the other one as the document's 1.72 GiB less 0.2.
from lib import document

total = lambda s: s.temp_size_in_bytes + s.argument_size_in_bytes + s.output_size_in_bytes - s.alias_size_in_bytes
kept, moved = total(document.planned_step(False)), total(document.planned_step(True))
assert (kept - moved) / (1 << 30) >= 1.52, (kept, moved)
