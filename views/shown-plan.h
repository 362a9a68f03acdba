/* SPDX-License-Identifier: Apache-2.0 */
/* Which plan the views show. */
#pragma once
#include "core/document/document.h"

G_BEGIN_DECLS

/**
 * gantry_shown_plan:
 *
 * What was run is planned with the workspaces that its kernels asked for, so its plan is the one to lay the measurement
 * over, as long as it is a plan of the program shown with the placements as they are.
 *
 * Returns: (transfer none) (nullable): the plan of the run shown if it fits, else the document's, else the compilation's
 */
GantryPlan *gantry_shown_plan (GantryDocument *document);

/** Whether @plan (nullable) has the steps of the forecast: then it is the plan for it. Linear. */
gboolean gantry_plan_is_of_forecast (const GantryPlan *plan, const GantryForecast *forecast);
/** Steps and curve of a forecast as a plan without buffers: what can be drawn at once. (transfer full) */
GantryPlan *gantry_forecast_to_plan (const GantryForecast *forecast);

G_END_DECLS
