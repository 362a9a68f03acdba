/* SPDX-License-Identifier: Apache-2.0 */
/* What the kernels of a document's program need, counted before it runs (core/build/sizes.h). */
#pragma once
#include "app/cli/program.h"

G_BEGIN_DECLS

/** As gantry_build_sizes_keep(). */
void gantry_kernel_table_keep (const GantryKernelSizes *sizes, const GantryProgramOptions *options);
/** Lets gantry_cli_open() plan for kernels as @how (unowned) has them made, and take a limit in per cent of all that they need, too. */
void gantry_kernel_table_count_in (GantryCliOptions *common, const GantryProgramOptions *how);
/** Has @document planned with it. Returns: FALSE with @error where the kernels could not be made */
gboolean gantry_kernel_table_use (GantryDocument *document, const GantryProgramOptions *options, const GantryProgress *progress, GError **error);
/**
 * gantry_kernel_table_use_for_search:
 *
 * A run holds code and workspaces against its limit, so that what is found to fit has to count them too: those of a run without options.
 * Where they cannot be made that is told on the standard error stream, and what is found reads "at least"; of a GPU they are not known
 * before a run.
 */
void gantry_kernel_table_use_for_search (GantryDocument *document, const GantryProgress *progress);

G_END_DECLS
