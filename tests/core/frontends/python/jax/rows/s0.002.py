# SPDX-License-Identifier: Apache-2.0
# s0.002: the program as written, after those that it needs.
from lib import document

_, printed = document.run("001", "002")
assert printed == document.expected("002"), printed
