/* SPDX-License-Identifier: Apache-2.0 */
/* core/build: from a compilation to a program that a device can run. The second half of Gantry in one call: kernels of the final module,
 * the plan that knows their workspaces, the executable that the runtime takes. It loads LLVM and oneDNN, so that it belongs into a
 * child process, never into the window's. */
#pragma once
#include "core/build/build-kernels.h"
#include "core/plan/executable.h"

G_BEGIN_DECLS

/** What is ready to run. */
typedef struct
{
  GantryExecutable *executable;
  char *target;             /* what the code was generated for, as #GantryKernelSet says it */
  GantryKernelSizes *sizes; /* what its kernels need beside operands and results */
  double compile_ms;        /* of the kernels */
  guint n_threads;          /* never 0 */
} GantryProgram;

void gantry_program_free (GantryProgram *program);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (GantryProgram, gantry_program_free)

/**
 * gantry_build:
 * @compilation: its final module is what becomes a program
 * @settings: that it was made with: target, limit and placements for the plan
 *
 * Returns: (transfer full) (nullable): NULL with the refusal of the compilation, what kernels or plan could not do, or
 *  %G_IO_ERROR_CANCELLED in @error
 */
GantryProgram *gantry_build (const GantryCompilation *compilation, const GantryCompileSettings *settings, const GantryBuildOptions *options,
                             const GantryProgress *progress, GError **error);

G_END_DECLS
