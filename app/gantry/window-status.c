/* SPDX-License-Identifier: Apache-2.0 */
/* The line at the bottom: what is planned, measured and predicted, and what the user should know of policy and plan. */
#include "app/gantry/dialog.h"
#include "app/gantry/window-private.h"
#include "core/plan/compression.h"
#include "views/format.h"
#include "views/shown-plan.h"
#include <string.h>

/* A label gives way where the line is too narrow for all: then its text is told by the tooltip, and to a screen reader always. */
static void
set_label (GtkLabel *label, char *text)
{
  gtk_label_set_text (label, text != NULL ? text : "");
  gtk_widget_set_tooltip_text (GTK_WIDGET (label), text);
  gtk_widget_set_visible (GTK_WIDGET (label), text != NULL && *text != '\0');
  g_free (text);
}

/* ": above the limit of 12.8 MiB", or nothing. (transfer full) */
static char *
above_limit (const GantryRunResult *run, guint64 limit)
{
  g_autofree char *text = gantry_format_limit (limit);

  if (!gantry_run_result_exceeds (run, limit))
    return g_strdup ("");
  return g_strdup_printf (": above the limit of %s", text);
}

/* Of a run of another plan than the one shown: " with other placements, 12.1 MiB planned then". (transfer full) */
static char *
difference_text (const GantryRunResult *run, const char *difference)
{
  g_autofree char *planned = NULL;

  if (difference == NULL)
    return g_strdup ("");
  planned = gantry_memory_peak_text (gantry_plan_memory_bytes (run->plan, GANTRY_MEMORY_DEVICE), run->limit, run->plan->sizes_known);
  return g_strdup_printf (" %s, %s planned then", difference, planned);
}

static char *
peak_text (GantryDocument *document, const GantryRunResult *run)
{
  g_autofree char *difference = gantry_shown_run_difference (document);
  const guint64 limit = gantry_document_get_settings (document)->target.memory_limit, own = gantry_shown_run_limit (document);
  g_autofree char *planned = NULL, *measured = NULL, *above = run != NULL ? above_limit (run, own) : NULL, *then = NULL;
  GantryMemoryParts parts;
  gboolean sizes_known;

  if (!gantry_shown_parts (document, &parts, &sizes_known))
    {
      measured = run != NULL ? gantry_format_bytes_within (run->peak_bytes, own) : NULL;
      return run != NULL && run->peak_bytes > 0 ? g_strdup_printf ("Peak %s touched%s", measured, above) : NULL;
    }
  if (run == NULL || run->peak_bytes == 0)
    {
      planned = gantry_memory_peak_text (gantry_memory_parts_total (&parts), limit, sizes_known);
      return g_strdup_printf ("Peak %s planned", planned);
    }
  if (own == limit)
    gantry_memory_peak_texts (gantry_memory_parts_total (&parts), sizes_known, run->peak_bytes, limit, &planned, &measured);
  else
    {
      planned = gantry_memory_peak_text (gantry_memory_parts_total (&parts), limit, sizes_known);
      measured = gantry_format_bytes_within (run->peak_bytes, own);
    }
  then = difference_text (run, difference);
  return g_strdup_printf ("Peak %s planned, %s touched%s%s", planned, measured, then, above);
}

/* "Time 1.56 s predicted", "Time: does not fit", or "Time" where nothing is planned. (transfer full) */
static char *
predicted_text (GantryDocument *document)
{
  g_autofree char *time = gantry_shown_time_text (document);

  if (time == NULL)
    return g_strdup ("Time");
  return gantry_document_fits (document) ? g_strdup_printf ("Time %s predicted", time) : g_strdup_printf ("Time: %s", time);
}

static char *
time_text (GantryDocument *document, const GantryRunResult *run)
{
  g_autofree char *difference = gantry_shown_run_difference (document);
  g_autofree char *time = gantry_shown_time_text (document), *predicted = predicted_text (document), *measured = NULL;

  if (run == NULL)
    return time != NULL ? g_steal_pointer (&predicted) : NULL;
  measured = gantry_format_ns ((gint64) (run->milliseconds * 1e6));
  if (time == NULL)
    return g_strdup_printf ("Time %s measured", measured);
  if (gantry_shown_run (document) != run)
    return g_strdup_printf ("%s; the run chosen, %s, is of another program", predicted, measured);
  return g_strdup_printf ("%s, %s measured%s%s (median of %u)", predicted, measured, difference != NULL ? " " : "", difference != NULL ? difference : "",
                          run->n_runs);
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
  g_autofree char *peak = NULL, *temp = NULL;
  g_autofree char *step = gantry_shown_time_text (self->document), *copied = gantry_format_bytes (p->copied_bytes);
  g_autofree char *peak_delta = forecast->has_delta ? gantry_format_delta_bytes (forecast->peak_delta) : NULL;
  g_autofree char *step_delta = forecast->has_step_delta ? gantry_format_delta_ns ((gint64) (forecast->step_delta_us * 1000)) : NULL;
  GString *time = g_string_new (NULL);
  GantryMemoryParts parts;
  gboolean sizes_known;

  if (gantry_shown_parts (self->document, &parts, &sizes_known))
    {
      peak = gantry_memory_peak_text (gantry_memory_parts_total (&parts), gantry_document_get_settings (self->document)->target.memory_limit, sizes_known);
      temp = gantry_format_bytes (parts.bytes[GANTRY_PART_TEMPORARIES]);
      set_label (self->status_peak, g_strdup_printf ("Peak %s%s, temporaries %s", peak, peak_delta != NULL ? peak_delta : "", temp));
    }
  if (gantry_document_fits (self->document))
    g_string_append_printf (time, "Step %s%s", step, step_delta != NULL ? step_delta : "");
  else
    g_string_append_printf (time, "Step: %s", step);
  if (p->copied_bytes > 0)
    g_string_append_printf (time, ", copied %s", copied);
  if (p->recompute_us > 0 && gantry_document_fits (self->document))
    g_string_append_printf (time, ", %.1f %% done again", 100 * p->recompute_us / MAX (p->step_us, 1e-9));
  if (p->stall_us > 0.005 * p->step_us && gantry_document_fits (self->document))
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

  if (error != NULL) /* the bar above the graph says it in full */
    return g_strdup ("Cannot be run: " GANTRY_DOES_NOT_FIT);
  for (guint i = 0; reports != NULL && i < reports->len; i++)
    n += ((const GantryPolicyReport *) g_ptr_array_index (reports, i))->problem != NULL;
  return n == 0 ? NULL : g_strdup_printf (n == 1 ? "%u statement of the policy has a problem" : "%u statements of the policy have a problem", n);
}

/* That residuals are stored in fewer bits, of the plan or of the run that is shown with it. (transfer full) (nullable): neither does */
static char *
approximate_text (GantryWindow *self)
{
  const GantryPlan *plan = gantry_document_get_plan (self->document);
  const GantryRunResult *run = gantry_shown_run (self->document);
  g_autofree char *text = plan != NULL ? gantry_plan_approximate_text (plan) : NULL;
  gboolean ran = FALSE;

  if (run != NULL && run->plan != NULL)
    {
      g_autofree char *of_run = gantry_plan_approximate_text (run->plan);

      ran = of_run != NULL;
    }
  if (text == NULL && ran)
    return g_strdup ("The run is approximate: residuals were stored in fewer bits");
  return text != NULL ? g_strdup_printf ("Results are %s", text) : NULL;
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
  set_label (self->status_peak, run->peak_bytes > 0 ? g_strdup_printf ("Peak %s touched", peak) : NULL);
  set_label (self->status_time,
             run->n_runs > 1 ? g_strdup_printf ("Time %s measured (median of %u)", time, run->n_runs) : g_strdup_printf ("Time %s measured", time));
  set_label (self->status_nodes, g_strdup_printf ("%s events in %u lanes", events, gantry_recording_n_lanes (run->recording)));
}

/* The message has a place in the line while there is one: its first line there, all of it in the tooltip and for a screen reader.
 * @message: (nullable) */
static void
show_message (GantryWindow *self, const char *message)
{
  const char *all = message != NULL ? message : "";
  g_autofree char *first = g_strndup (all, strcspn (all, "\n"));

  gtk_label_set_text (self->status_message, first);
  gtk_widget_set_visible (GTK_WIDGET (self->status_button), *first != '\0');
  gtk_widget_set_tooltip_text (GTK_WIDGET (self->status_button), all);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self->status_button), GTK_ACCESSIBLE_PROPERTY_LABEL, all, -1);
}

void
_gantry_window_update_status (GantryWindow *self)
{
  GantryForecast *forecast = gantry_document_get_prediction (self->document);
  GantryCompilation *compilation = gantry_document_get_compilation (self->document);
  const GantryRunResult *run = gantry_document_get_run (self->document);
  g_autofree char *first = NULL, *last = NULL, *message = NULL;
  const char *nodes;
  char *policy;

  if (compilation == NULL)
    return;
  if (gantry_document_is_recording (self->document))
    {
      show_recording (self, run);
      return;
    }
  set_label (self->status_peak, peak_text (self->document, gantry_shown_run (self->document)));
  set_label (self->status_time, time_text (self->document, run));
  if (forecast != NULL && run == NULL && gantry_module_is_training (gantry_compilation_module (compilation)))
    show_forecast (self, forecast);
  first = gantry_format_integer (compilation->snapshots[compilation->imported].nodes_after);
  last = gantry_format_integer (compilation->snapshots[compilation->n_snapshots - 1].nodes_after);
  nodes = compilation->snapshots[compilation->imported].nodes_after == 1 ? "node" : "nodes";
  set_label (self->status_nodes, compilation->refusal != NULL ? g_strdup_printf ("%s %s imported", first, nodes)
                                                              : g_strdup_printf ("%s %s imported, %s after all passes", first, nodes, last));
  policy = compilation->refusal == NULL ? policy_text (self) : NULL;
  if (policy == NULL && compilation->refusal == NULL)
    policy = approximate_text (self);
  message = policy != NULL ? policy : message_text (compilation);
  show_message (self, message);
}

void
_gantry_window_show_activity (GantryWindow *self, const char *activity)
{
  show_message (self, activity);
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
