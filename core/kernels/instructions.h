/* SPDX-License-Identifier: Apache-2.0 */
/* Instruction sets of the processor: what generated code and the library may consist of. */
#pragma once
#include <gio/gio.h>

G_BEGIN_DECLS

/**
 * GantryInstructionSet: what code for the processor may consist of
 * @GANTRY_INSTRUCTIONS_NATIVE: all that this processor has
 * @GANTRY_INSTRUCTIONS_SSE4: x86-64-v2: vectors of 16 bytes
 * @GANTRY_INSTRUCTIONS_AVX2: x86-64-v3: vectors of 32 bytes, fused multiply-add, conversion of f16
 * @GANTRY_INSTRUCTIONS_AVX512: x86-64-v4: vectors of 64 bytes
 */
typedef enum
{
  GANTRY_INSTRUCTIONS_NATIVE,
  GANTRY_INSTRUCTIONS_SSE4,
  GANTRY_INSTRUCTIONS_AVX2,
  GANTRY_INSTRUCTIONS_AVX512,
} GantryInstructionSet;

#define GANTRY_N_INSTRUCTION_SETS (GANTRY_INSTRUCTIONS_AVX512 + 1)

/** "native", "sse4", "avx2" or "avx512". */
const char *gantry_instruction_set_name (GantryInstructionSet set);
/** The set of that name. Returns: FALSE with the names that there are in @error */
gboolean gantry_instruction_set_parse (const char *name, GantryInstructionSet *set, GError **error);
/** Whether this processor, under this operating system, can run such code. */
gboolean gantry_instruction_set_available (GantryInstructionSet set);

/**
 * gantry_kernels_limit_library:
 * @set: the most that oneDNN may use from now on
 *
 * oneDNN takes such a limit once in a process, and only before it is used for anything else: to be called at the start of
 * a program, before the first gantry_kernels_compile(). A limit in the environment (ONEDNN_MAX_CPU_ISA) does the same.
 *
 * Returns: FALSE with %GANTRY_ERROR_UNSUPPORTED where the processor lacks the set, or where the library may already use
 *  more than it; TRUE also when it was limited so before
 */
gboolean gantry_kernels_limit_library (GantryInstructionSet set, GError **error);

G_END_DECLS
