/* SPDX-License-Identifier: Apache-2.0 */
/* What planning with other times has changed: for `run --replan` and `plan --times`. */
#pragma once
#include "app/cli/cli.h"
#include "core/document/plan-changes.h"

G_BEGIN_DECLS

/** A member "changes" of the object that is being built. */
void gantry_changes_report_json (JsonBuilder *json, const GantryPlanChanges *changes, const GantryModule *module);
/** Prints how peak and step time changed, and the first placements and times that did, of the last snapshot @module. */
void gantry_changes_report_text (const GantryPlanChanges *changes, const GantryModule *module);

G_END_DECLS
