/* SPDX-License-Identifier: Apache-2.0 */
/* Bound programs as code for the processor. */
#pragma once
#include "core/kernels/emit/compiler.h"

G_BEGIN_DECLS

/**
 * gantry_grid_to_cpu:
 * @name: of the function, a GantryKernelFunc; its buffers: operands, results, workspace when there is any
 * @n_tasks: (out): blocks of the one launch; 1 where there are several launches, which then follow each other
 *
 * Blocks become iterations; threads become loops, split at barriers and collective statements, with an element of
 * memory per thread for what lives across a split. Returns: an object
 */
LLVMMemoryBufferRef gantry_grid_to_cpu (GantryCompiler *compiler, const GantryBound *bound, const char *name, guint n_inputs, guint n_results, gint64 *n_tasks,
                                        char **ir, char **assembly, GError **error);

G_END_DECLS
