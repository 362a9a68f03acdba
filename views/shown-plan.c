/* SPDX-License-Identifier: Apache-2.0 */
/* Which plan the views show. */
#include "views/shown-plan.h"
#include "core/base/format.h"

GantryPlan *
gantry_shown_plan (GantryDocument *document)
{
  return gantry_document_get_plan_of_run (document, gantry_document_get_run (document));
}

gboolean
gantry_shows_forecast (GantryDocument *document)
{
  const GantryForecast *forecast = gantry_document_get_prediction (document);

  return forecast != NULL && gantry_document_get_compilation (document) != NULL && !gantry_plan_is_of_forecast (gantry_document_get_plan (document), forecast);
}

gboolean
gantry_shown_parts (GantryDocument *document, GantryMemoryParts *parts, gboolean *sizes_known)
{
  const GantryPlan *plan = gantry_shown_plan (document);
  GantryPlanFigures figures;

  if (!gantry_shows_forecast (document) && plan != NULL)
    gantry_plan_figures (plan, &figures);
  else if (!gantry_document_get_plan_figures (document, &figures))
    return FALSE;
  *parts = figures.parts;
  *sizes_known = figures.sizes_known;
  return TRUE;
}

char *
gantry_shown_time_text (GantryDocument *document)
{
  const GantryForecast *forecast = gantry_document_get_prediction (document);
  const GantryPlan *plan = gantry_shown_plan (document);

  if (forecast == NULL && plan == NULL)
    return NULL;
  if (!gantry_document_fits (document))
    return g_strdup (GANTRY_DOES_NOT_FIT);
  return gantry_format_ns ((gint64) (1000 * (gantry_shows_forecast (document) ? forecast->prediction->step_us : plan->total_us)));
}

GantryRunResult *
gantry_shown_run (GantryDocument *document)
{
  GantryRunResult *run = gantry_document_get_run (document);

  return gantry_document_is_run_of_another (document, run) ? NULL : run;
}

char *
gantry_shown_run_difference (GantryDocument *document)
{
  const GantryRunResult *run = gantry_shown_run (document);
  const GantryPlan *plan = gantry_shown_plan (document);

  if (run == NULL || run->plan == NULL)
    return NULL;
  if (gantry_shows_forecast (document))
    {
      const GArray *steps = gantry_document_get_prediction (document)->prediction->steps;

      return gantry_document_run_difference (document, run, (const GantryPlanStep *) (gpointer) steps->data, steps->len);
    }
  return plan != NULL ? gantry_document_run_difference (document, run, plan->steps, plan->n_steps) : NULL;
}

gboolean
gantry_shown_run_planned_then (GantryDocument *document)
{
  const GantryRunResult *run = gantry_shown_run (document);
  const GantryPlan *plan = gantry_shown_plan (document);

  return run != NULL && run->plan != NULL && (gantry_shows_forecast (document) || (plan != NULL && plan != run->plan));
}

guint64
gantry_shown_run_limit (GantryDocument *document)
{
  const GantryCompileSettings *settings = gantry_document_get_settings (document);
  g_autofree char *difference = gantry_shown_run_difference (document);

  if (difference != NULL)
    return gantry_shown_run (document)->limit;
  return settings != NULL ? settings->target.memory_limit : 0;
}

guint64
gantry_shown_touched (GantryDocument *document)
{
  const GantryRunResult *run = gantry_shown_run (document);
  const GantryCompileSettings *settings = gantry_document_get_settings (document);

  return run != NULL && settings != NULL && gantry_shown_run_limit (document) == settings->target.memory_limit ? run->peak_bytes : 0;
}

char *
gantry_shown_peak_text (GantryDocument *document)
{
  const guint64 touched = gantry_shown_touched (document);
  g_autofree char *beside = NULL;
  GantryMemoryParts parts;
  gboolean sizes_known;
  guint64 limit;
  char *text;

  if (!gantry_shown_parts (document, &parts, &sizes_known))
    return NULL;
  limit = gantry_document_get_settings (document)->target.memory_limit;
  if (touched == 0)
    return gantry_memory_peak_text (gantry_memory_parts_total (&parts), limit, sizes_known);
  gantry_memory_peak_texts (gantry_memory_parts_total (&parts), sizes_known, touched, limit, &text, &beside);
  return text;
}
