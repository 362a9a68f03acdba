/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of a run: what was planned, what was touched, what the process took, and what the difference is made of. */
#pragma once
#include "app/cli/cli.h"

G_BEGIN_DECLS

/** Lines of text; nothing where no memory was measured. */
void gantry_memory_report_text (const GantryRunResult *result, const GantryModule *module);
/** What is not as it should be, on the standard error stream: nothing where all is. */
void gantry_memory_report_warn (const GantryRunResult *result, const GantryModule *module);
/** The member "memory" of an object: null where no memory was measured. */
void gantry_memory_report_json (JsonBuilder *json, const GantryRunResult *result, const GantryModule *module);

G_END_DECLS
