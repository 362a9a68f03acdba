# SPDX-License-Identifier: Apache-2.0
# s0.R011: remat in a scan, with prevent_cse either way: the same plan and the same results.
from lib import document

names, printed = document.run("001", "006", "007", "008", "009")
other, again = document.run("001", "006", "007", "008", "009", replace=[("prevent_cse=False", "prevent_cse=True")])
assert printed == again
