/* SPDX-License-Identifier: Apache-2.0 */
/* What is predicted for placements, before they are planned. */
#pragma once
#include "core/planner/planner.h"

G_BEGIN_DECLS

/**
 * GantryForecast: what is predicted for the placements as they are now, and how that differs from what was predicted before
 * the edit that led here. Immutable, reference counted.
 *
 * @prediction: the curve (live_bytes), the three queues (steps), peak, step time, bytes copied: read only
 * @placements: what it is for
 * @has_delta: FALSE after opening, and while only one of the two knows what kernels need: there is nothing to compare with
 * @peak_delta, @temp_delta, @copied_delta: bytes more than before
 * @has_step_delta: what was before has a time too: it fitted; @step_delta_us: microseconds more than that
 * @answer_us: how long the answer took
 */
typedef struct
{
  gatomicrefcount ref_count;
  GantryPrediction *prediction;
  GantryPlacements *placements;
  gboolean has_delta, has_step_delta;
  gint64 peak_delta, temp_delta, copied_delta;
  double step_delta_us;
  double answer_us;
} GantryForecast;

GantryForecast *gantry_forecast_ref (GantryForecast *forecast);
void gantry_forecast_unref (GantryForecast *forecast);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (GantryForecast, gantry_forecast_unref)

/**
 * gantry_plan_is_of_forecast:
 * @plan: (nullable)
 *
 * Whether @plan has the steps, times and copies of the forecast and was planned with what it knows of kernels: then it is the plan for it.
 * Linear.
 */
gboolean gantry_plan_is_of_forecast (const GantryPlan *plan, const GantryForecast *forecast);

G_END_DECLS
