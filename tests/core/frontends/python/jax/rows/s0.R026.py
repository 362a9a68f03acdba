# SPDX-License-Identifier: Apache-2.0
# s0.R026: the document says that temporaries rise and shows that they fall; here they do not rise, but for scalars that are fetched.
from lib import document

assert document.planned_step(True).temp_size_in_bytes <= document.planned_step(False).temp_size_in_bytes + 256
