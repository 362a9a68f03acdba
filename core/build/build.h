/* SPDX-License-Identifier: Apache-2.0 */
/* core/build: from a compilation to a program that a device can run. The second half of Gantry in one call: kernels of the final module,
 * the plan that knows their workspaces, the executable that the runtime takes. It loads LLVM and oneDNN, so that it belongs into a
 * child process, never into the window's. */
#pragma once
#include "core/compiler/compiler.h"
#include "core/kernels/kernels.h"
#include "core/plan/executable.h"

G_BEGIN_DECLS

/**
 * GantryBuildOptions: how kernels are made
 * @threads: that compile, and that library kernels use; 0: one for each processor
 * @code: what the code is for
 * @no_library: products and convolutions are generated, not oneDNN's
 * @allow_tf32: @gpu_library: @keep_texts: @instructions: @layout_block: @arch: @cache_folder: as #GantryKernelOptions has them
 * @quick_compile: LLVM's lowest level of code generation
 */
typedef struct
{
  guint threads;
  GantryCodeTarget code;
  gboolean no_library, allow_tf32, gpu_library, keep_texts, quick_compile;
  GantryInstructionSet instructions;
  guint layout_block;
  const char *arch;         /* (nullable) */
  const char *cache_folder; /* (nullable) */
} GantryBuildOptions;

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
GantryProgram *gantry_build (const GantryCompilation *compilation, const GantryCompileSettings *settings,
                             const GantryBuildOptions *options, const GantryProgress *progress, GError **error);

/** The kernels alone, as gantry_kernels_compile(). (transfer full) (nullable) */
GantryKernelSet *gantry_build_kernels (const GantryCompilation *compilation, const GantryBuildOptions *options,
                                       const GantryProgress *progress, GError **error);

/** What the kernels of @options are made with, as gantry_kernel_conditions_text(). (transfer full) */
char *gantry_build_conditions (const GantryBuildOptions *options);

G_END_DECLS
