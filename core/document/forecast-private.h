/* SPDX-License-Identifier: Apache-2.0 */
/* Making forecasts. Any thread. */
#pragma once
#include "core/compiler/compiler.h"
#include "core/document/forecast.h"

G_BEGIN_DECLS

/** What @planner predicts for @placements. (transfer full) */
GantryForecast *_gantry_forecast_make (GantryPlanner *planner, GantryPlacements *placements);
/** Of the placements of @compilation. Returns: (transfer full) (nullable): NULL where nothing can be predicted. */
GantryForecast *_gantry_forecast_of (GantryCompilation *compilation, const GantryProgress *progress);
/** All but @figures (nullable). As gantry_document_get_figures() */
gboolean _gantry_forecast_figures (const GantryForecast *forecast, const GantryPlan *plan, const GantryPlan *refused,
                                   GantryPlanFigures *figures);

G_END_DECLS
