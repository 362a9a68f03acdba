/* SPDX-License-Identifier: Apache-2.0 */
/* Measured times feed the cost model: which run's the document plans with is an edit like any other, and what it changed is
 * kept for a view to show. */
#include "core/document/document-private.h"
#include "profiler/overlap.h"
#include <string.h>

static char *
name_of (GantryDocument *self, const GantryRunResult *run)
{
  GPtrArray *runs = gantry_document_get_runs (self);
  guint index;

  if (g_ptr_array_find (runs, run, &index))
    return g_strdup_printf ("run %u", index + 1);
  return g_strdup ("a run that was not kept");
}

/* Targets of processors are called as the processor is; a GPU's name may be anything. */
static gboolean
is_on (const GantryRunResult *run, const GantryTarget *target)
{
  if (run->arch == NULL || *run->arch == '\0')
    return target->arch[0] == '\0' && g_strcmp0 (run->device, target->name) == 0;
  return strcmp (run->arch, target->arch) == 0;
}

/* Where a command says what is planned for, times of kernels that were made otherwise would be mixed with the sizes of those. */
static gboolean
is_made_alike (GantryDocument *self, const GantryRunResult *run, const char *name, GError **error)
{
  const char *planned = self->state->settings.conditions;
  g_autofree char *difference = gantry_kernel_conditions_difference (run->plan != NULL ? run->plan->kernels : NULL, planned);

  if (planned == NULL || difference == NULL)
    return TRUE;
  g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID,
               "%s was made with %s, and kernels that were not are planned for: its times say nothing of them. Run the program without that, "
               "or plan without making kernels",
               name, difference);
  return FALSE;
}

/* (transfer full) (nullable) */
static GantryMeasuredTimes *
times_of (GantryDocument *self, const GantryRunResult *run, GError **error)
{
  const GantryTarget *target = &self->state->settings.target;
  g_autoptr (GHashTable) us = NULL;
  g_autofree char *name = name_of (self, run);
  g_autoptr (GantryMeasuredTimes) times = NULL;

  if (self->planning == NULL || self->planning->keys == NULL)
    {
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "the program is not planned: no times can be put in");
      return NULL;
    }
  if (run->recording == NULL)
    {
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "%s has no recording, so nothing was measured", name);
      return NULL;
    }
  if (target->arch[0] != '\0' && !is_on (run, target))
    {
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID,
                   "%s was on %s, and the plan is for %s: its times say nothing of it. Plan for the machine that ran, or run there", name, run->device,
                   target->name);
      return NULL;
    }
  if (!is_made_alike (self, run, name, error))
    return NULL;
  us = gantry_recording_measured_us (run->recording);
  times = gantry_measured_times_of (run->uid, name, us, gantry_compilation_module (self->planning), self->planning->keys);
  times->conditions = run->plan != NULL ? g_strdup (run->plan->kernels) : NULL;
  times->link_bandwidth = gantry_recording_link_bandwidth (run->recording, GANTRY_N_QUEUES);
  if (times->entries->len > 0)
    return g_steal_pointer (&times);
  g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "%s measured no node of the program as it is compiled now: run it again, then plan with its times",
               name);
  return NULL;
}

gboolean
gantry_document_set_measured (GantryDocument *self, GantryRunResult *run, GError **error)
{
  g_autoptr (GantryMeasuredTimes) times = NULL;
  g_autofree char *name = NULL;
  GantryState *state;

  g_return_val_if_fail (self->state != NULL, FALSE);
  if (run != NULL && (times = times_of (self, run, error)) == NULL)
    return FALSE;
  if (gantry_measured_times_equal (times, self->state->settings.measured))
    return TRUE;
  name = times != NULL ? g_strdup_printf ("times of %s", times->name) : g_strdup ("predicted times");
  state = _gantry_state_copy (self->state);
  g_clear_pointer (&state->settings.measured, gantry_measured_times_unref);
  state->settings.measured = g_steal_pointer (&times);
  _gantry_document_edit (self, state, name, 0);
  return TRUE;
}

/* (transfer none) (nullable): the run whose times are planned with */
static const GantryRunResult *
timed_run (GantryDocument *self)
{
  const GantryMeasuredTimes *measured = self->state->settings.measured;
  GPtrArray *runs = gantry_document_get_runs (self);

  for (guint i = 0; measured != NULL && i < runs->len; i++)
    if (g_strcmp0 (((GantryRunResult *) g_ptr_array_index (runs, i))->uid, measured->run) == 0)
      return g_ptr_array_index (runs, i);
  return NULL;
}

/* What the kernels were made under of which times are predicted. (transfer full) */
static char *
predicted_conditions (GantryDocument *self)
{
  const GantryMeasuredTimes *measured = self->state->settings.measured;

  return measured != NULL && measured->conditions != NULL ? g_strdup (measured->conditions) : gantry_compile_settings_conditions (&self->state->settings);
}

char *
gantry_document_predicted_elsewhere (GantryDocument *self, const GantryRunResult *run)
{
  g_autofree char *conditions = NULL, *difference = NULL;
  const GantryRunResult *timed;

  g_return_val_if_fail (self->state != NULL, NULL);
  if (!is_on (run, &self->state->settings.target))
    return g_strdup (self->state->settings.target.name);
  timed = timed_run (self);
  if (timed != NULL && g_strcmp0 (timed->device, run->device) != 0)
    return g_strdup (timed->device);
  conditions = predicted_conditions (self);
  difference = gantry_kernel_conditions_difference (conditions, run->plan != NULL ? run->plan->kernels : NULL);
  return difference != NULL ? g_strdup_printf ("%s with %s", self->state->settings.target.name, difference) : NULL;
}

/* How the run was made that what is predicted is not for. (transfer full) (nullable) */
static char *
made_otherwise (GantryDocument *self, const GantryRunResult *run)
{
  const GantryTarget *target = &self->state->settings.target;
  const char *kernels = run->plan != NULL ? run->plan->kernels : NULL;
  const gboolean on_processor = target->arch[0] == '\0' && (run->arch == NULL || *run->arch == '\0');
  g_autofree char *conditions = predicted_conditions (self), *difference = NULL;
  const GantryRunResult *timed = timed_run (self);

  /* Of a processor the kernels say more than its name does. */
  if (on_processor || is_on (run, target))
    difference = gantry_kernel_conditions_difference (kernels, conditions);
  if (difference != NULL)
    return g_strconcat ("with ", difference, NULL);
  if (!is_on (run, target) && (!on_processor || kernels == NULL))
    return g_strdup_printf ("elsewhere than on %s", target->name);
  return timed != NULL && g_strcmp0 (timed->device, run->device) != 0 ? g_strdup_printf ("elsewhere than on %s, whose times are planned with", timed->device)
                                                                      : NULL;
}

const char *
gantry_run_result_planned_elsewhere (const GantryRunResult *run)
{
  const char *target = run->plan != NULL ? run->plan->target : NULL;

  return target != NULL && *target != '\0' && (run->arch == NULL || *run->arch == '\0') && g_strcmp0 (target, run->device) != 0 ? target : NULL;
}

gboolean
gantry_document_is_recording (GantryDocument *self)
{
  const GantryModel *model = gantry_document_get_model (self);

  return model != NULL && g_strcmp0 (model->format, "recording") == 0;
}

char *
gantry_document_run_difference (GantryDocument *self, const GantryRunResult *run, const GantryPlanStep *steps, guint32 n_steps)
{
  const char *plan = gantry_run_result_difference (run, steps, n_steps);
  g_autofree char *made = gantry_document_is_recording (self) ? NULL : made_otherwise (self, run);

  if (plan == NULL || made == NULL)
    return plan != NULL ? g_strdup (plan) : g_steal_pointer (&made);
  return g_strdup_printf ("%s, %s", plan, made);
}

GantryPlanChanges *
gantry_document_get_changes (GantryDocument *self)
{
  return self->changes;
}

void
_gantry_document_take_changes (GantryDocument *self, const GantryCompilation *next, const GantryForecast *forecast)
{
  GantryPlanFigures before, after;

  if (self->planning == NULL || self->forecast == NULL || forecast == NULL
      || gantry_measured_times_equal (self->planning->settings.measured, next->settings.measured) || !gantry_document_get_plan_figures (self, &before)
      || !_gantry_forecast_figures (forecast, next->plan, next->refused_plan, &after))
    return;
  gantry_plan_changes_unref (self->changes);
  self->changes = gantry_plan_changes_new (self->forecast, &before, forecast, &after);
  self->has_news = TRUE;
}

void
_gantry_document_tell_changes (GantryDocument *self)
{
  if (!self->has_news)
    return;
  self->has_news = FALSE;
  _gantry_document_notify (self, PROP_CHANGES);
}
