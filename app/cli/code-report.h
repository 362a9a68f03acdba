/* SPDX-License-Identifier: Apache-2.0 */
/* The code of a program: as files or on standard output, and for a GPU as a table of what each kernel takes. */
#pragma once
#include "app/cli/program.h"

G_BEGIN_DECLS

/** What --emit takes, for the help text. */
#define GANTRY_CODE_EMITS "texpr, schedule, llvm, asm, ptx or cubin"
/** Whether @emit is one of these. @of_gpu: (out): whether it is, and only code of a GPU has it */
gboolean gantry_code_emit_is_known (const char *emit, gboolean *of_gpu);

/**
 * gantry_code_emit:
 * @folder: (nullable): made when it is not there; NULL: standard output
 * @read: files that are not replaced
 *
 * One file for each kernel, or all of them one after the other.
 */
gboolean gantry_code_emit (const GantryExecutable *executable, const char *emit, const char *folder, GantryReadFiles *read, GError **error);

/** Kernels of a GPU with grid, block, registers, spills and memory. */
void gantry_code_report_text (const GantryExecutable *executable);
/** The same as member "code" of the object that is being built. */
void gantry_code_report_json (const GantryExecutable *executable, JsonBuilder *json);

G_END_DECLS
