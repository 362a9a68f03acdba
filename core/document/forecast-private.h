/* SPDX-License-Identifier: Apache-2.0 */
/* Figures by forecasts. Any thread. */
#pragma once
#include "core/document/forecast.h"

G_BEGIN_DECLS

/** All but @figures (nullable). As gantry_document_get_figures() */
gboolean _gantry_forecast_figures (const GantryForecast *forecast, const GantryPlan *plan, const GantryPlan *refused, GantryPlanFigures *figures);

G_END_DECLS
