/* SPDX-License-Identifier: Apache-2.0 */
/* How events of plans and of runs are called, both alike: for recorders. */
#pragma once
#include "core/plan/plan.h"

G_BEGIN_DECLS

/** "recompute LABEL", "LABEL to host", "LABEL to device", "copy LABEL" or LABEL. (transfer full) */
char *gantry_step_name (const GantryPlanStep *step, const char *label);
/** The label of a node, "%12" when the module has it no more. (transfer full) */
char *gantry_label_of (const GantryModule *module, guint32 node);

G_END_DECLS
