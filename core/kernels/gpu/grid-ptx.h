/* SPDX-License-Identifier: Apache-2.0 */
/* Bound programs as PTX. */
#pragma once
#include "core/kernels/emit/compiler.h"

G_BEGIN_DECLS

/**
 * gantry_grid_to_ptx:
 * @compiler: for NVPTX
 * @name: of the first launch's entry; the others are called name_1, name_2 ...
 *
 * Parameters of each entry: addresses of the operands, results and, when there is any, the workspace. Shared memory is
 * dynamic. Returns: (transfer full): the text of a PTX module
 */
char *gantry_grid_to_ptx (GantryCompiler *compiler, const GantryBound *bound, const char *name, guint n_inputs, guint n_results, char **ir, GError **error);

G_END_DECLS
