/* SPDX-License-Identifier: Apache-2.0 */
/* The line at the bottom: what is planned, measured and predicted, and what the user should know of policy and plan. */
#include "app/gantry/dialog.h"
#include "app/gantry/window-private.h"
#include "views/format.h"
#include "views/shown-plan.h"
#include <string.h>

static void
set_label (GtkLabel *label, char *text)
{
  gtk_label_set_text (label, text != NULL ? text : "");
  gtk_widget_set_visible (GTK_WIDGET (label), text != NULL && *text != '\0');
  g_free (text);
}

/* ": above the limit of 12.8 MiB", or nothing. (transfer full) */
static char *
above_limit (GantryDocument *document, const GantryRunResult *run)
{
  guint64 limit = gantry_document_get_settings (document)->target.memory_limit;
  g_autofree char *peak = NULL, *text = NULL;

  if (limit == 0 || run->peak_bytes <= limit)
    return g_strdup ("");
  gantry_format_bytes_apart (run->peak_bytes, limit, &peak, &text);
  return g_strdup_printf (": above the limit of %s", text);
}

static char *
peak_text (GantryDocument *document, const GantryRunResult *run)
{
  const char *difference = gantry_shown_run_difference (document);
  g_autofree char *planned = NULL, *measured = NULL, *above = run != NULL ? above_limit (document, run) : NULL;
  GantryMemoryParts parts;
  gboolean sizes_known;

  if (!gantry_shown_parts (document, &parts, &sizes_known))
    {
      measured = run != NULL ? gantry_format_bytes (run->peak_bytes) : NULL;
      return run != NULL && run->peak_bytes > 0 ? g_strdup_printf ("Peak %s measured%s", measured, above) : NULL;
    }
  if (run == NULL || run->peak_bytes == 0)
    {
      planned = gantry_memory_peak_text (gantry_memory_parts_total (&parts), sizes_known);
      return g_strdup_printf ("Peak %s planned", planned);
    }
  gantry_memory_peak_texts (gantry_memory_parts_total (&parts), sizes_known, run->peak_bytes, &planned, &measured);
  return g_strdup_printf ("Peak %s planned, %s measured%s%s%s", planned, measured, difference != NULL ? " " : "",
                          difference != NULL ? difference : "", above);
}

static char *
time_text (GantryDocument *document, const GantryRunResult *run)
{
  const GantryPlan *plan = gantry_shown_plan (document);
  const char *difference = gantry_shown_run_difference (document);
  g_autofree char *planned = NULL, *measured = NULL;

  if (plan != NULL)
    planned = gantry_format_ns ((gint64) (plan->total_us * 1000));
  if (run == NULL)
    return planned != NULL ? g_strdup_printf ("Time %s predicted", planned) : NULL;
  measured = gantry_format_ns ((gint64) (run->milliseconds * 1e6));
  if (gantry_shown_run (document) != run)
    return g_strdup_printf ("Time %s predicted; the run chosen, %s, is of another program", planned != NULL ? planned : "not", measured);
  if (planned == NULL)
    return g_strdup_printf ("Time %s measured", measured);
  return g_strdup_printf ("Time %s predicted, %s measured%s%s (median of %u)", planned, measured, difference != NULL ? " " : "",
                          difference != NULL ? difference : "", run->n_runs);
}

static char *
message_text (const GantryCompilation *compilation)
{
  const GantryModel *model = compilation->model;

  if (compilation->refusal != NULL)
    return g_strdup ("Cannot be compiled as it is");
  if (model->warnings != NULL && model->warnings[0] != NULL)
    return g_strdup (model->warnings[0]);
  return NULL;
}

/* "Peak 6.1 GiB (−2.3 GiB)" of what is predicted for the placements as they are. */
static void
show_forecast (GantryWindow *self, const GantryForecast *forecast)
{
  const GantryPrediction *p = forecast->prediction;
  g_autofree char *peak = NULL, *temp = gantry_format_bytes (p->temp_bytes);
  g_autofree char *step = gantry_format_ns ((gint64) (p->step_us * 1000)), *copied = gantry_format_bytes (p->copied_bytes);
  g_autofree char *peak_delta = forecast->has_delta ? gantry_format_delta_bytes (forecast->peak_delta) : NULL;
  g_autofree char *step_delta = forecast->has_delta ? gantry_format_delta_ns ((gint64) (forecast->step_delta_us * 1000)) : NULL;
  GString *time = g_string_new (NULL);
  GantryMemoryParts parts;
  gboolean sizes_known;

  if (gantry_shown_parts (self->document, &parts, &sizes_known))
    {
      peak = gantry_memory_peak_text (gantry_memory_parts_total (&parts), sizes_known);
      set_label (self->status_peak, g_strdup_printf ("Peak %s%s, temporaries %s", peak, peak_delta != NULL ? peak_delta : "", temp));
    }
  g_string_append_printf (time, "Step %s%s", step, step_delta != NULL ? step_delta : "");
  if (p->copied_bytes > 0)
    g_string_append_printf (time, ", copied %s", copied);
  if (p->recompute_us > 0)
    g_string_append_printf (time, ", %.1f %% done again", 100 * p->recompute_us / MAX (p->step_us, 1e-9));
  if (p->stall_us > 0.005 * p->step_us)
    g_string_append_printf (time, ", %.1f %% waiting", 100 * p->stall_us / MAX (p->step_us, 1e-9));
  set_label (self->status_time, g_string_free (time, FALSE));
}

/* What the user should know of the policy and of the plan. */
static char *
policy_text (GantryWindow *self)
{
  GPtrArray *reports = gantry_document_get_reports (self->document);
  const GError *error = gantry_document_get_plan_error (self->document);
  guint n = 0;

  if (error != NULL)
    return g_strndup (error->message, strcspn (error->message, "\n"));
  for (guint i = 0; reports != NULL && i < reports->len; i++)
    n += ((const GantryPolicyReport *) g_ptr_array_index (reports, i))->problem != NULL;
  return n == 0 ? NULL : g_strdup_printf (n == 1 ? "%u statement of the policy has a problem"
                                                 : "%u statements of the policy have a problem", n);
}

/* Of another program's run: how long, and how much there is of it. */
static void
show_recording (GantryWindow *self, const GantryRunResult *run)
{
  g_autofree char *time = NULL, *events = NULL, *peak = NULL;
  guint64 n = 0;

  gtk_widget_set_visible (GTK_WIDGET (self->status_button), FALSE);
  set_label (self->status_peak, NULL);
  set_label (self->status_time, NULL);
  set_label (self->status_nodes, NULL);
  if (run == NULL || run->recording == NULL)
    return;
  for (guint lane = 0; lane < gantry_recording_n_lanes (run->recording); lane++)
    n += gantry_recording_n_events (run->recording, lane);
  events = gantry_format_integer (n);
  time = gantry_format_ns ((gint64) (run->milliseconds * 1e6));
  peak = gantry_format_bytes (run->peak_bytes);
  set_label (self->status_peak, run->peak_bytes > 0 ? g_strdup_printf ("Peak %s measured", peak) : NULL);
  set_label (self->status_time, run->n_runs > 1 ? g_strdup_printf ("Time %s measured (median of %u)", time, run->n_runs)
                                                : g_strdup_printf ("Time %s measured", time));
  set_label (self->status_nodes, g_strdup_printf ("%s events in %u lanes", events, gantry_recording_n_lanes (run->recording)));
}

void
_gantry_window_update_status (GantryWindow *self)
{
  GantryForecast *forecast = gantry_document_get_prediction (self->document);
  GantryCompilation *compilation = gantry_document_get_compilation (self->document);
  const GantryRunResult *run = gantry_document_get_run (self->document);
  g_autofree char *first = NULL, *last = NULL, *message = NULL;
  char *policy;

  if (compilation == NULL)
    return;
  if (_gantry_window_is_outside (self))
    {
      show_recording (self, run);
      return;
    }
  set_label (self->status_peak, peak_text (self->document, gantry_shown_run (self->document)));
  set_label (self->status_time, time_text (self->document, run));
  if (forecast != NULL && run == NULL && gantry_module_is_training (gantry_compilation_module (compilation)))
    show_forecast (self, forecast);
  first = gantry_format_integer (compilation->snapshots[0].nodes_after);
  last = gantry_format_integer (compilation->snapshots[compilation->n_snapshots - 1].nodes_after);
  set_label (self->status_nodes, compilation->refusal != NULL
                                   ? g_strdup_printf ("%s nodes imported", first)
                                   : g_strdup_printf ("%s nodes imported, %s after all passes", first, last));
  message = message_text (compilation);
  gtk_label_set_text (self->status_message, message != NULL ? message : "");
  policy = compilation->refusal == NULL ? policy_text (self) : NULL;
  if (policy != NULL)
    gtk_label_set_text (self->status_message, policy);
  g_free (policy);
  gtk_widget_set_visible (GTK_WIDGET (self->status_button), *gtk_label_get_text (self->status_message) != '\0');
  gtk_widget_set_tooltip_text (GTK_WIDGET (self->status_button), gtk_label_get_text (self->status_message));
}

void
_gantry_window_show_problems (GantryWindow *self)
{
  const GantryCompilation *compilation = gantry_document_get_compilation (self->document);
  const GError *error = gantry_document_get_plan_error (self->document);
  g_autofree char *policy = policy_text (self);
  g_autoptr (GError) warning = NULL;

  if (compilation == NULL)
    return;
  if (compilation->refusal != NULL)
    _gantry_window_tell (self, "Why the program cannot be compiled", compilation->refusal);
  else if (error != NULL)
    _gantry_window_tell (self, "The plan does not fit", error);
  else if (policy != NULL)
    _gantry_dialog_policy (self);
  else if (compilation->model->warnings != NULL && compilation->model->warnings[0] != NULL)
    {
      g_autofree char *all = g_strjoinv ("\n", compilation->model->warnings);

      g_set_error_literal (&warning, GANTRY_ERROR, GANTRY_ERROR_FAILED, all);
      _gantry_window_tell (self, "What the file says that is not understood", warning);
    }
}

