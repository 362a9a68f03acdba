/* SPDX-License-Identifier: Apache-2.0 */
/* Which plan the views show. */
#pragma once
#include "core/document/document.h"

G_BEGIN_DECLS

/** Where a time would stand, of what exceeds its limit. */
#define GANTRY_DOES_NOT_FIT "does not fit"

/** gantry_document_get_plan_of_run() of the run shown. (transfer none) (nullable) */
GantryPlan *gantry_shown_plan (GantryDocument *document);

/**
 * gantry_shown_parts:
 * @parts: (out caller-allocates): of device memory at the peak of what is shown: the plan, or the forecast that it is behind of
 * @sizes_known: (out): as GantryPlan
 *
 * Inspector, curve and the line at the bottom show the same peak at any time.
 *
 * Returns: whether there is any
 */
gboolean gantry_shown_parts (GantryDocument *document, GantryMemoryParts *parts, gboolean *sizes_known);
/** What is shown takes: "1.56 s", or "does not fit", which has no time that anybody gets. (transfer full) (nullable): nothing is planned */
char *gantry_shown_time_text (GantryDocument *document);
/** Whether the plan of @document is behind its forecast, which is shown until it comes. */
gboolean gantry_shows_forecast (GantryDocument *document);

/**
 * gantry_shown_run:
 *
 * Of the run that is chosen, what may be laid over the program.
 *
 * Returns: (transfer none) (nullable): %NULL without a run, and for a run of another program: none of its times and places are of this one
 */
GantryRunResult *gantry_shown_run (GantryDocument *document);

/**
 * gantry_shown_run_difference:
 *
 * What was measured before an edit, or before an undo, or with other kernels than are planned for, is not of the plan that is shown:
 * whoever shows both says so.
 *
 * Returns: (transfer full) (nullable): as gantry_document_run_difference(), of gantry_shown_run() and the plan that is shown;
 *  %NULL also without either
 */
char *gantry_shown_run_difference (GantryDocument *document);

/** Whether gantry_shown_run() was planned otherwise than is shown now: with other placements, or with other times of its kernels (replanned
 *  since). What stands beside its measurement was "planned then". */
gboolean gantry_shown_run_planned_then (GantryDocument *document);

/** Bytes of device memory that gantry_shown_run() is held against, 0: none. The present limit where it ran what is planned now, else the
 *  one that it ran within: what was planned otherwise never had to keep to the present one. */
guint64 gantry_shown_run_limit (GantryDocument *document);

/** Bytes of gantry_shown_run() at its peak, where it is held against the present limit: the plan's peak reads everywhere as it does beside
 *  them. 0: there is none */
guint64 gantry_shown_touched (GantryDocument *document);
/** The peak of gantry_shown_parts(), so. Returns: (transfer full) (nullable): nothing is planned */
char *gantry_shown_peak_text (GantryDocument *document);

G_END_DECLS
