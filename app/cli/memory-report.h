/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of a run: what was planned, what was touched, what the process took, and what the difference is made of. */
#pragma once
#include "app/cli/cli.h"

G_BEGIN_DECLS

/** The line that says what is planned of the device, and of the host where that has anything. */
void gantry_memory_report_planned (const GantryPlan *plan, guint64 limit);
/** Lines of text; nothing where no memory was measured. @limit: as in gantry_memory_summary_new(), here and below */
void gantry_memory_report_text (const GantryRunResult *result, const GantryModule *module, guint64 limit);
/** What is not as it should be, on the standard error stream: nothing where all is. */
void gantry_memory_report_warn (const GantryRunResult *result, const GantryModule *module, guint64 limit);
/** Whether it took more than @limit bytes of device memory, 0: none: the command then ends with %GANTRY_EXIT_ABOVE_LIMIT. */
gboolean gantry_memory_report_above (const GantryRunResult *result, guint64 limit);
/** The member "memory" of an object: null where no memory was measured. */
void gantry_memory_report_json (JsonBuilder *json, const GantryRunResult *result, const GantryModule *module, guint64 limit);

G_END_DECLS
