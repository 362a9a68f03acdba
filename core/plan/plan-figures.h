/* SPDX-License-Identifier: Apache-2.0 */
/* What a plan says in a few numbers: the same ones, with the same meaning, in reports, sessions, the window and comparisons. */
#pragma once
#include "core/plan/plan.h"

G_BEGIN_DECLS

/**
 * GantryPlanFigures: a plain value. Bytes and microseconds.
 *
 * @parts: of device memory at its peak; all 0 where an older file tells only the sum
 * @peak_bytes: their sum
 * @temp_bytes: of them what is neither argument, result nor constant, as JAX counts temporaries: workspaces too
 * @host_bytes: of all host memory, at its own peak
 * @copied_bytes: between device and host in one run, both ways
 * @step_us: predicted; of that @recompute_us: work done again, and @stall_us: waiting for copies
 * @sizes_known: FALSE: what only kernels know is counted as 0 (GANTRY_MEMORY_PARTS_OF_KERNELS), so that the peak is at least so high
 * @fits: FALSE: it is above a limit of its target. No plan that may run has these figures, and so not that time either
 */
typedef struct
{
  GantryMemoryParts parts;
  guint64 peak_bytes, temp_bytes, host_bytes, copied_bytes;
  double step_us, recompute_us, stall_us;
  gboolean sizes_known, fits;
} GantryPlanFigures;

/** Sets @parts and the two sums that follow from them. */
void gantry_plan_figures_set_parts (GantryPlanFigures *figures, const GantryMemoryParts *parts);
/** @figures: (out caller-allocates): of @plan */
void gantry_plan_figures (const GantryPlan *plan, GantryPlanFigures *figures);

G_END_DECLS
