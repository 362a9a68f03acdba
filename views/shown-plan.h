/* SPDX-License-Identifier: Apache-2.0 */
/* Which plan the views show. */
#pragma once
#include "core/document/document.h"

G_BEGIN_DECLS

/**
 * gantry_shown_plan:
 * @run: (nullable)
 *
 * What was run is planned with the workspaces that its kernels asked for, so its plan is the one to lay the measurement
 * over, as long as it is a plan of the program shown.
 *
 * Returns: (transfer none) (nullable): the plan of @run if it fits, else the compilation's
 */
GantryPlan *gantry_shown_plan (const GantryCompilation *compilation, const GantryRunResult *run);

G_END_DECLS
