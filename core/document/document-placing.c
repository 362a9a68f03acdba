/* SPDX-License-Identifier: Apache-2.0 */
/* From an edit of placements to what it means: the table at once, the prediction at once where that is quick enough
 * for a frame, the whole plan from a worker thread. A newer edit drops the older one's answers. */
#include "core/document/document-private.h"
#include "core/base/thread.h"
#include <string.h>

/* What is predicted at once, without a thread: placing and predicting a program of so many steps takes less than a frame.
 * A number of steps and no time, so that what an edit does never depends on how busy the machine is. A node of the body of a loop that has to
 * be planned first takes as long as so many steps. */
#define QUICK_STEPS 16000u
#define STEPS_OF_NODE 8u

gboolean
gantry_document_get_plan_figures (GantryDocument *self, GantryPlanFigures *figures)
{
  return _gantry_forecast_figures (self->forecast, self->plan, self->refused_plan, figures);
}

/* What kernels need becomes known a while after a program is: that is no difference of its placements, so only like is compared with like.
 * @before: (nullable) */
static void
compare (GantryDocument *self, GantryForecast *now, const GantryForecast *before)
{
  const GantryPrediction *a, *b;

  if (now != NULL && before != NULL && now->prediction->sizes_known && !before->prediction->sizes_known)
    before = self->known_forecast;
  if (now == NULL || before == NULL || !now->prediction->sizes_known != !before->prediction->sizes_known)
    return;
  a = before->prediction;
  b = now->prediction;
  now->has_delta = TRUE;
  now->has_step_delta = gantry_document_fits (self); /* of the plan before: the next one is not made yet */
  now->peak_delta = (gint64) b->peak_bytes - (gint64) a->peak_bytes;
  now->temp_delta = (gint64) b->temp_bytes - (gint64) a->temp_bytes;
  now->copied_delta = (gint64) b->copied_bytes - (gint64) a->copied_bytes;
  now->step_delta_us = b->step_us - a->step_us;
}

/* @forecast: (transfer full) (nullable) */
static void
set_forecast (GantryDocument *self, GantryForecast *forecast, const GantryForecast *before)
{
  compare (self, forecast, before);
  if (forecast != NULL && forecast->prediction->sizes_known)
    {
      gantry_forecast_unref (self->known_forecast);
      self->known_forecast = gantry_forecast_ref (forecast);
    }
  gantry_forecast_unref (self->forecast);
  self->forecast = forecast;
  _gantry_document_notify (self, PROP_PREDICTION);
}

/* (transfer full) all */
static void
set_plan (GantryDocument *self, GantryPlan *plan, GantryPlan *refused, GError *plan_error)
{
  gantry_plan_unref (self->plan);
  self->plan = plan;
  gantry_plan_unref (self->refused_plan);
  self->refused_plan = refused;
  g_clear_error (&self->plan_error);
  self->plan_error = plan_error;
  _gantry_document_notify (self, PROP_PLAN);
  _gantry_document_notify (self, PROP_PLAN_ERROR);
}

/* (transfer full) both */
static void
set_placements (GantryDocument *self, GantryPlacements *placements, GPtrArray *reports)
{
  gantry_placements_unref (self->placements);
  self->placements = placements;
  g_clear_pointer (&self->reports, g_ptr_array_unref);
  self->reports = reports;
  _gantry_document_name_placed (self);
  _gantry_document_find_missing (self);
  _gantry_document_notify (self, PROP_PLACEMENTS);
}

static void
set_planning (GantryDocument *self, GantryCompilation *planning)
{
  if (self->planning != NULL)
    gantry_compilation_give_planner (self->planning, g_steal_pointer (&self->planner));
  gantry_compilation_unref (self->planning);
  self->names_asked = FALSE;
  self->planning = planning != NULL ? gantry_compilation_ref (planning) : NULL;
  if (planning != NULL && planning->keys != NULL && planning->refusal == NULL)
    self->planner = gantry_compilation_take_planner (planning, NULL, NULL); /* made by the worker: only taken */
}

/* (transfer full) */
static GantryForecast *
predict (GantryPlanner *planner, GantryPlacements *placements)
{
  GantryForecast *forecast = g_new0 (GantryForecast, 1);
  gint64 start = g_get_monotonic_time ();

  g_atomic_ref_count_init (&forecast->ref_count);
  forecast->prediction = gantry_prediction_new ();
  forecast->placements = gantry_placements_ref (placements);
  gantry_planner_predict (planner, placements, forecast->prediction);
  forecast->answer_us = (double) (g_get_monotonic_time () - start);
  return forecast;
}

GantryForecast *
_gantry_document_forecast (GantryCompilation *compilation, const GantryProgress *progress)
{
  GantryPlanner *planner;
  GantryForecast *forecast = NULL;

  if (compilation->keys == NULL || compilation->refusal != NULL)
    return NULL;
  planner = gantry_compilation_take_planner (compilation, progress, NULL);
  if (planner != NULL)
    forecast = predict (planner, compilation->placements);
  gantry_compilation_give_planner (compilation, planner);
  return forecast;
}

/* The work on a thread: predict (where that is not done), then plan. Or plan anew for another target, all in one. */
typedef struct
{
  GantryCompilation *planning;
  GantryPlacements *placements;
  GantryCompileSettings settings; /* of another target */
  gboolean replan;
  GantryForecast *before, *forecast; /* (nullable) */
  GantryPlan *plan, *refused;
  GError *plan_error;
} Work;

static void
work_free (gpointer data)
{
  Work *work = data;

  gantry_forecast_unref (work->before);
  gantry_forecast_unref (work->forecast);
  gantry_plan_unref (work->plan);
  gantry_plan_unref (work->refused);
  g_clear_error (&work->plan_error);
  g_clear_pointer (&work->placements, gantry_placements_unref);
  gantry_compilation_unref (work->planning);
  gantry_compile_settings_clear (&work->settings);
  g_free (work);
}

static void
drop_next (GantryDocument *self)
{
  if (self->next_work == NULL)
    return;
  g_clear_pointer (&self->next_work, work_free);
  _gantry_document_end_job (self, GANTRY_JOB_PLAN, self->jobs[GANTRY_JOB_PLAN]);
}

void
_gantry_document_clear_placing (GantryDocument *self)
{
  _gantry_document_cancel_job (self, GANTRY_JOB_PLAN);
  drop_next (self);
  set_planning (self, NULL);
  g_clear_pointer (&self->placements, gantry_placements_unref);
  g_clear_pointer (&self->reports, g_ptr_array_unref);
  g_ptr_array_set_size (self->missing, 0);
  g_clear_pointer (&self->plan, gantry_plan_unref);
  g_clear_pointer (&self->refused_plan, gantry_plan_unref);
  g_clear_error (&self->plan_error);
  g_clear_pointer (&self->changes, gantry_plan_changes_unref);
  self->has_news = FALSE;
}

static GPtrArray *
ref_reports (GPtrArray *reports)
{
  return reports != NULL ? g_ptr_array_ref (reports) : NULL;
}

/* What a compilation says of itself: after opening, compiling, or planning for another target. */
static void
take_over (GantryDocument *self, GantryCompilation *from, GantryForecast *forecast)
{
  g_autoptr (GantryForecast) before = self->forecast != NULL ? gantry_forecast_ref (self->forecast) : NULL;

  set_planning (self, from);
  _gantry_document_follow_basis (self, from);
  set_placements (self, from->placements != NULL ? gantry_placements_ref (from->placements) : NULL, ref_reports (from->reports));
  set_forecast (self, forecast != NULL ? gantry_forecast_ref (forecast) : NULL, before);
  set_plan (self, from->plan != NULL ? gantry_plan_ref (from->plan) : NULL, from->refused_plan != NULL ? gantry_plan_ref (from->refused_plan) : NULL,
            from->plan_error != NULL ? g_error_copy (from->plan_error) : NULL);
}

void
_gantry_document_take_plan (GantryDocument *self, GantryLoaded *loaded)
{
  take_over (self, loaded->compilation, loaded->forecast);
  g_clear_pointer (&loaded->forecast, gantry_forecast_unref);
  _gantry_document_follow_limit (self);
  /* Clicks that came while it was compiled. */
  if (!gantry_compile_settings_same_plan (&loaded->settings, &self->state->settings))
    _gantry_document_place (self);
}

static gboolean
replan (Work *work, const GantryProgress *progress, GError **error)
{
  GantryCompilation *made = gantry_compilation_replan (work->planning, &work->settings, progress, error);

  if (made == NULL)
    return FALSE;
  gantry_compilation_unref (work->planning);
  work->planning = made;
  work->forecast = _gantry_document_forecast (made, progress);
  return TRUE;
}

static gboolean
predict_or_plan (Work *work, const GantryProgress *progress, GError **error)
{
  GantryPlanner *planner = gantry_compilation_take_planner (work->planning, progress, error);

  if (planner == NULL)
    return FALSE;
  if (work->forecast == NULL)
    work->forecast = predict (planner, work->placements);
  else
    {
      work->plan = gantry_planner_plan (planner, work->placements, progress, &work->plan_error);
      work->refused = gantry_planner_take_refused (planner);
    }
  gantry_compilation_give_planner (work->planning, planner);
  return !gantry_progress_cancelled (progress, error);
}

static void
work_thread (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  const GantryProgress progress = { .cancellable = cancellable };
  Work *work = data;
  GError *error = NULL;

  if (work->replan ? replan (work, &progress, &error) : predict_or_plan (work, &progress, &error))
    g_task_return_boolean (task, TRUE);
  else
    g_task_return_error (task, error);
}

static void worked (GObject *source, GAsyncResult *result, gpointer user_data);

/* @work: (transfer full) */
static void
run_work (GantryDocument *self, Work *work)
{
  g_autoptr (GTask) task = g_task_new (self, self->jobs[GANTRY_JOB_PLAN], worked, NULL);

  self->planning_now = TRUE;
  g_task_set_task_data (task, work, work_free);
  gantry_task_run_in_thread (task, work_thread);
}

/* One thread plans at a time: what nobody waits for any more may take a while to notice, and its planner is the one to use
 * next. Of the works that come meanwhile only the last is done. @work: (transfer full) */
static void
start_work (GantryDocument *self, Work *work)
{
  _gantry_document_begin_job (self, GANTRY_JOB_PLAN);
  g_clear_pointer (&self->next_work, work_free);
  if (self->planning_now)
    self->next_work = work;
  else
    run_work (self, work);
}

static void
start_next (GantryDocument *self)
{
  self->planning_now = FALSE;
  if (self->next_work != NULL)
    run_work (self, g_steal_pointer (&self->next_work));
}

/* The prediction came from the thread: shown before the plan is begun. */
static void
show_prediction (GantryDocument *self, Work *work)
{
  Work *next = g_new0 (Work, 1);

  next->planning = gantry_compilation_ref (work->planning);
  next->placements = gantry_placements_ref (work->placements);
  next->forecast = gantry_forecast_ref (work->forecast);
  set_forecast (self, g_steal_pointer (&work->forecast), work->before);
  start_work (self, next);
}

static gboolean
needs_replan (GantryDocument *self)
{
  GantryCompileSettings x = self->planning->settings, y = self->state->settings;

  x.policy = y.policy = NULL;
  x.choices = y.choices = NULL;
  return !gantry_compile_settings_same_plan (&x, &y);
}

static void
start_replan (GantryDocument *self)
{
  Work *work = g_new0 (Work, 1);

  work->planning = gantry_compilation_ref (self->planning);
  work->replan = TRUE;
  gantry_compile_settings_copy (&work->settings, &self->state->settings);
  start_work (self, work);
}

static void
worked (GObject *source, GAsyncResult *result, gpointer user_data)
{
  GantryDocument *self = GANTRY_DOCUMENT (source);
  Work *work = g_task_get_task_data (G_TASK (result));
  g_autoptr (GError) error = NULL;
  gboolean done = g_task_propagate_boolean (G_TASK (result), &error);

  start_next (self);
  if (!_gantry_document_end_job (self, GANTRY_JOB_PLAN, g_task_get_cancellable (G_TASK (result))))
    return;
  if (!done)
    _gantry_document_tell_error (self, "The plan could not be made", error);
  else if (work->replan)
    {
      _gantry_document_take_changes (self, work->planning, work->forecast);
      take_over (self, work->planning, work->forecast);
      _gantry_document_tell_changes (self);
      _gantry_document_follow_limit (self);
      if (self->planner != NULL && needs_replan (self))
        start_replan (self);
    }
  else if (work->plan == NULL && work->plan_error == NULL)
    show_prediction (self, work);
  else
    set_plan (self, g_steal_pointer (&work->plan), g_steal_pointer (&work->refused), g_steal_pointer (&work->plan_error));
}

static gboolean
is_quick (GantryDocument *self, const GantryPlacements *placements)
{
  guint64 steps = self->planner != NULL && self->forecast != NULL ? self->forecast->prediction->n_steps : G_MAXUINT32;

  return steps <= QUICK_STEPS && steps + (guint64) STEPS_OF_NODE * gantry_planner_count_unplanned (self->planner, placements) <= QUICK_STEPS;
}

void
_gantry_document_place (GantryDocument *self)
{
  g_autoptr (GError) error = NULL;
  GPtrArray *reports = NULL;
  GantryPlacements *placements;
  Work *work;

  if (self->planning == NULL || self->planner == NULL)
    return;
  _gantry_document_follow_limit (self);
  if (needs_replan (self))
    {
      start_replan (self);
      return;
    }
  placements = gantry_choices_place_over (self->state->settings.choices, self->state->settings.policy, gantry_compilation_module (self->planning),
                                          self->planning->keys, &reports, &error);
  if (placements == NULL)
    {
      _gantry_document_tell_error (self, "The policy could not be applied", error);
      return;
    }
  work = g_new0 (Work, 1);
  work->planning = gantry_compilation_ref (self->planning);
  work->placements = gantry_placements_ref (placements);
  work->before = self->forecast != NULL ? gantry_forecast_ref (self->forecast) : NULL;
  if (is_quick (self, placements))
    work->forecast = predict (self->planner, placements);
  set_placements (self, placements, reports);
  if (work->forecast != NULL)
    set_forecast (self, gantry_forecast_ref (work->forecast), work->before);
  start_work (self, work);
}

/* Reading */

GantryPlacements *
gantry_document_get_placements (GantryDocument *self)
{
  return self->placements;
}

GantryForecast *
gantry_document_get_prediction (GantryDocument *self)
{
  return self->forecast;
}

GantryPlan *
gantry_document_get_plan (GantryDocument *self)
{
  return self->plan;
}

gboolean
gantry_document_fits (GantryDocument *self)
{
  guint64 limit = self->state != NULL ? self->state->settings.target.memory_limit : 0;

  if (!self->running[GANTRY_JOB_PLAN] || self->forecast == NULL)
    return self->plan_error == NULL;
  return limit == 0 || self->forecast->prediction->peak_bytes <= limit;
}

GantryPlan *
gantry_document_get_refused_plan (GantryDocument *self)
{
  return self->refused_plan;
}

const GError *
gantry_document_get_plan_error (GantryDocument *self)
{
  return self->plan_error;
}

GPtrArray *
gantry_document_get_reports (GantryDocument *self)
{
  return self->reports;
}

GantryPlanner *
gantry_document_get_planner (GantryDocument *self)
{
  return self->planner;
}
