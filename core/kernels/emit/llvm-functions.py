#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""llvm-functions.py NAMES OUT: the header by which each function that NAMES lists is called through the table of those that
are loaded (llvm-load.c), under its own name. A function that is called but not listed is undefined when the program is linked."""
import sys


def main(names, out):
    names = open(names).read().split()
    members = "".join(f"  __typeof__ (&{n}) {n};\n" for n in names)
    strings = "".join(f'  "{n}", \\\n' for n in names)
    calls = "".join(f"#define {n} (gantry_llvm ()->{n})\n" for n in names)
    with open(out, "w") as file:
        file.write(f"""/* Made by llvm-functions.py. */
#pragma once
typedef struct
{{
{members}}} GantryLlvmFunctions;

/** What the library is asked for, in the order of the table. */
#define GANTRY_LLVM_NAMES \\
{strings[:-4]}

/** Loads LLVM when it is first called; a library that cannot be used ends the process: gantry_llvm_load() asks first. (transfer none) */
const GantryLlvmFunctions *gantry_llvm (void);

{calls}""")


main(*sys.argv[1:])
