/* SPDX-License-Identifier: Apache-2.0 */
/* From tensor expressions to bound programs: schedules for a GPU. */
#pragma once
#include "core/expr/index-arithmetic.h"
#include "core/expr/kernel-source.h"
#include "core/kernels/program/grid.h"

G_BEGIN_DECLS

/**
 * gantry_bind:
 *
 * Chooses a schedule for each group of results of one shape: the first of the table in bind.c that says it can.
 * Returns: (transfer full) (nullable): NULL and %GANTRY_ERROR_TOO_LARGE or %GANTRY_ERROR_UNSUPPORTED
 */
GantryBound *gantry_bind (const GantryKernelSource *source, const GantryGpu *gpu, GError **error);

/**
 * GantryScheduler: one way to bind the results of one shape that stand in @kx (canonical; its roots are those results).
 * It adds launches to @bound, or leaves it as it was and returns FALSE when the results are not of its kind.
 * The order of the table in bind.c: contraction on tensor cores, contraction, rows, columns, transpose, map;
 * the last takes everything.
 */
typedef gboolean (*GantryScheduler) (GantryBound *bound, GantryKx *kx, const GantryGpu *gpu);
/** Each thread computes a few neighbours of the results: takes everything */
gboolean gantry_bind_map (GantryBound *bound, GantryKx *kx, const GantryGpu *gpu);
/** Reductions along what lies side by side: a warp or a block for each row, results of the row in the same launch */
gboolean gantry_bind_rows (GantryBound *bound, GantryKx *kx, const GantryGpu *gpu);
/** Reductions across it: threads side by side take columns, and several of them parts of one column */
gboolean gantry_bind_columns (GantryBound *bound, GantryKx *kx, const GantryGpu *gpu);
/** Reads and writes that are contiguous along different variables: tiles through shared memory */
gboolean gantry_bind_transpose (GantryBound *bound, GantryKx *kx, const GantryGpu *gpu);
/** Sums of products by the ordinary units, any type */
gboolean gantry_bind_contraction (GantryBound *bound, GantryKx *kx, const GantryGpu *gpu);
/** Those of f16, bf16 and tf32 by matrix units, from sm_80 on */
gboolean gantry_bind_tensor_core (GantryBound *bound, GantryKx *kx, const GantryGpu *gpu);

/**
 * gantry_grid_reduce_serial:
 * @expressions: (inout): nodes; none of them holds a reduction afterwards
 *
 * Adds statements for the reductions in @expressions, where the program is now: each becomes loops of this thread with
 * an accumulator, before the loops that do not concern it. Variables that the expressions depend on are bound. Short
 * reductions are written out; long sums of f32 carry what was rounded off along. A reduction that depends on a
 * variable of axis LANE cannot be said so.
 */
void gantry_grid_reduce_serial (GantryGrid *grid, guint32 *expressions, guint n);
/** In which @element is computed with: f32 for shorter floats. */
GantryElementType gantry_element_at_least_f32 (GantryElementType element);
/** The array of a result, as large as its addresses say. */
guint32 gantry_grid_result_array (GantryGrid *grid, const GantryKxRoot *root);

G_END_DECLS
