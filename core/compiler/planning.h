/* SPDX-License-Identifier: Apache-2.0 */
/* The half of the driver that comes after the passes: what is placed where, the planners, the plan. */
#pragma once
#include "core/base/base.h"
#include "core/compiler/compilation.h"
#include "core/planner/planner.h"
#include "core/planner/policy/policy.h"

G_BEGIN_DECLS

/**
 * gantry_compilation_take_planner:
 *
 * A planner of the last snapshot for the caller alone, until it is given back; a new one where all are taken, which takes
 * time. Its options point into @compilation, which has to stay. Any thread.
 *
 * Returns: (transfer full) (nullable)
 */
GantryPlanner *gantry_compilation_take_planner (GantryCompilation *compilation, const GantryProgress *progress, GError **error);
void gantry_compilation_give_planner (GantryCompilation *compilation, GantryPlanner *planner); /* (nullable) */

/** Plans the last snapshot again, with what its kernels need (@sizes) and the placements of the compilation.
 *  @sizes, @measured_us: (nullable): as GantryPlanOptions; NULL: those of @settings. */
GantryPlan *gantry_compilation_plan (const GantryCompilation *compilation, const GantryCompileSettings *settings, const GantryKernelSizes *sizes,
                                     GHashTable *measured_us, const GantryProgress *progress, GError **error);

G_END_DECLS
