# SPDX-License-Identifier: Apache-2.0
# s0.001: the program as written, after those that it needs.
from lib import document

_, printed = document.run("001")
assert printed == document.expected("001"), printed
