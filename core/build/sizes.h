/* SPDX-License-Identifier: Apache-2.0 */
/* What the kernels of a program need beside operands and results, known before it runs: from the user's cache, else by making the kernels
 * once. A file each in the cache, by a hash of all that they depend on: what the program computes, processor, libraries and their
 * versions, threads, instructions, layouts. */
#pragma once
#include "core/build/build-kernels.h"

G_BEGIN_DECLS

/**
 * gantry_build_sizes:
 *
 * Kernels are made only where the cache does not know them, and then it does.
 *
 * Returns: (transfer full) (nullable): as gantry_build_kernels()
 */
GantryKernelSizes *gantry_build_sizes (const GantryCompilation *compilation, const GantryBuildOptions *options, const GantryProgress *progress, GError **error);
/** Lets the cache know @sizes, of kernels made with @options, from now on. A cache that cannot be written is left as it is. */
void gantry_build_sizes_keep (const GantryKernelSizes *sizes, const GantryBuildOptions *options);

G_END_DECLS
