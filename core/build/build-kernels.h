/* SPDX-License-Identifier: Apache-2.0 */
/* The kernels of a compilation: how they are made, under which conditions, and what they need. */
#pragma once
#include "core/compiler/compiler.h"
#include "core/kernels/kernels.h"

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

/** The kernels alone, as gantry_kernels_compile(). (transfer full) (nullable) */
GantryKernelSet *gantry_build_kernels (const GantryCompilation *compilation, const GantryBuildOptions *options, const GantryProgress *progress, GError **error);

/** What the kernels of @options are made with, as gantry_kernel_conditions_text(). (transfer full) */
char *gantry_build_conditions (const GantryBuildOptions *options);
/** Of kernels that are made. (transfer full) */
GantryKernelSizes *gantry_build_sizes_of (const GantryCompilation *compilation, const GantryBuildOptions *options, const GantryKernelSet *kernels);
G_END_DECLS
