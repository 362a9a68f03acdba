/* SPDX-License-Identifier: Apache-2.0 */
/* Instruction sets as LLVM and the library name them. */
#pragma once
#include "core/kernels/instructions.h"

G_BEGIN_DECLS

/** LLVM's name of a processor that has @set and no more; NULL: this one, with all it has. */
const char *gantry_instructions_cpu (GantryInstructionSet set);
/** The processor has @set, and, where it is used, the library keeps within it. */
gboolean gantry_instructions_check (GantryInstructionSet set, gboolean use_library, GError **error);

G_END_DECLS
