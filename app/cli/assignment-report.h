/* SPDX-License-Identifier: Apache-2.0 */
/* What XLA's buffer assignment of a dump says, for people and for programs: XLA's plan, never called measured. */
#pragma once
#include "app/cli/cli.h"

G_BEGIN_DECLS

/** The bytes by kind, the peak and the @most largest allocations. */
void gantry_cli_print_assignment (const GantryXlaAssignment *assignment, guint most);
/** Two lines of that, beside Gantry's own plan. */
void gantry_cli_print_assignment_summary (const GantryXlaAssignment *assignment);
/** The member "xla_assignment" (null where @assignment is NULL): bytes, the curve by step, and, with @all, every allocation and value. */
void gantry_cli_add_assignment (JsonBuilder *json, const GantryXlaAssignment *assignment, gboolean all);

G_END_DECLS
