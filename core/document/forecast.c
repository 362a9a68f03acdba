/* SPDX-License-Identifier: Apache-2.0 */
/* Forecasts, and whether a plan is of one. */
#include "core/document/forecast-private.h"

GantryForecast *
gantry_forecast_ref (GantryForecast *forecast)
{
  g_atomic_ref_count_inc (&forecast->ref_count);
  return forecast;
}

void
gantry_forecast_unref (GantryForecast *forecast)
{
  if (forecast == NULL || !g_atomic_ref_count_dec (&forecast->ref_count))
    return;
  gantry_prediction_free (forecast->prediction);
  gantry_placements_unref (forecast->placements);
  g_free (forecast);
}

gboolean
gantry_plan_is_of_forecast (const GantryPlan *plan, const GantryForecast *forecast)
{
  const GArray *steps = forecast->prediction->steps;

  /* Other placements may run the same steps: their times or copies tell. */
  if (plan == NULL || plan->n_steps != steps->len || plan->total_us != forecast->prediction->step_us || plan->copied_bytes != forecast->prediction->copied_bytes
      || !plan->sizes_known != !forecast->prediction->sizes_known || plan->packed_bytes != forecast->prediction->beside.bytes[GANTRY_PART_PACKED_WEIGHTS]
      || plan->code_bytes != forecast->prediction->beside.bytes[GANTRY_PART_CODE])
    return FALSE;
  for (guint32 i = 0; i < plan->n_steps; i++)
    {
      const GantryPlanStep *step = &g_array_index (steps, GantryPlanStep, i);

      if (plan->steps[i].node != step->node || plan->steps[i].kind != step->kind)
        return FALSE;
    }
  return TRUE;
}

gboolean
_gantry_forecast_figures (const GantryForecast *forecast, const GantryPlan *plan, const GantryPlan *refused, GantryPlanFigures *figures)
{
  if (forecast == NULL && plan == NULL)
    return FALSE;
  if (forecast == NULL || gantry_plan_is_of_forecast (plan, forecast))
    gantry_plan_figures (plan, figures);
  else if (gantry_plan_is_of_forecast (refused, forecast))
    gantry_plan_figures (refused, figures);
  else
    gantry_prediction_figures (forecast->prediction, figures);
  return TRUE;
}
