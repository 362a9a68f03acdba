# SPDX-License-Identifier: Apache-2.0
# s0.R014: input 0.25 MiB, w1 and w2 10 MiB each.
from lib import document

names, _ = document.run("001", "006")
assert [names[n].nbytes for n in ("input", "w1", "w2")] == [document.MIB // 4, 10 * document.MIB, 10 * document.MIB]
