/* SPDX-License-Identifier: Apache-2.0 */
/* What a plan says, as text and as members of a JSON object: for plan, solve and train. */
#pragma once
#include "app/cli/cli.h"

G_BEGIN_DECLS

/**
 * gantry_plan_report_json:
 * @json: an object is being built
 * @most_holders: how many of the values alive at the peak are listed, with what placing them otherwise would save
 *
 * The document's plan, which must be there.
 */
void gantry_plan_report_json (JsonBuilder *json, GantryDocument *document, guint most_holders);
/** As gantry_plan_report_json(), printed as lines. @limit: what the peak was asked to keep to, 0: the document's limit */
void gantry_plan_report_text (GantryDocument *document, guint64 limit, guint most_holders);
/** Whether results are approximate, since residuals are stored in fewer bits, and how many bytes that saves: members of a JSON object. */
void gantry_plan_report_add_approximate (JsonBuilder *json, const GantryPlan *plan);
/** A line "results", where they are approximate. */
void gantry_plan_report_print_approximate (const GantryPlan *plan);
/** Placements that the plan does not carry out, with why: an array "problems" of a JSON object. */
void gantry_plan_report_add_problems (JsonBuilder *json, const GantryModule *module, const GantryPlan *plan);
/** A line "not done" for each. */
void gantry_plan_report_print_problems (const GantryModule *module, const GantryPlan *plan);
/** @names: (nullable): of --allow. Adds to @allowed, bits 1 << GantryPlacementKind; @microbatches: (out) (nullable): whether they are among
 *  them; NULL: they cannot be. Returns: FALSE with @error where one is no such kind */
gboolean gantry_cli_parse_allow (char *const *names, guint *allowed, gboolean *microbatches, GError **error);
/** The plan is there. Returns: FALSE with the refusal, or with why it does not fit. */
gboolean gantry_plan_report_check (GantryDocument *document, GError **error);

G_END_DECLS
