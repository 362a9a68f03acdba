/* SPDX-License-Identifier: Apache-2.0 */
/* Plan and measurement on one axis, which begins at 0 for both, and the axis itself. */
#include "drawing/time-private.h"
#include <math.h>

/* When each step begins that is no init step, and when the last ends: @n + 1. (transfer full) */
static gint64 *
begin_of_steps (GantryTimeModel *model, const GantryPlan *plan, guint32 *n)
{
  gint64 *begin;
  double end = 0;

  *n = plan->n_steps - plan->n_init_steps;
  begin = g_new0 (gint64, (gsize) *n + 1);
  for (guint32 i = 0; i < *n; i++)
    {
      const GantryPlanStep *step = &plan->steps[plan->n_init_steps + i];

      begin[i] = (gint64) (step->start_us * 1000);
      end = MAX (end, step->start_us + step->duration_us);
    }
  if (*n > 0)
    model->most_bytes = MAX (model->most_bytes, gantry_plan_memory_bytes (plan, GANTRY_MEMORY_DEVICE));
  begin[*n] = (gint64) (end * 1000);
  return begin;
}

static int
compare_times (gconstpointer a, gconstpointer b)
{
  gint64 x = *(const gint64 *) a, y = *(const gint64 *) b;

  return x < y ? -1 : x > y;
}

static void
take_steps (GantryTimeModel *model)
{
  const GantryPlan *plan = model->plan;

  model->step_begin = begin_of_steps (model, plan, &model->n_steps);
  model->length = model->step_begin[model->n_steps];
  model->again = g_new0 (gint64, (gsize) model->n_steps + 1);
  for (guint32 i = 0; i < model->n_steps; i++)
    if (plan->steps[plan->n_init_steps + i].kind == GANTRY_STEP_RECOMPUTE)
      model->again[model->n_again++] = model->step_begin[i];
  qsort (model->again, model->n_again, sizeof *model->again, compare_times);
}

void
gantry_time_model_set_before (GantryTimeModel *model, GantryPlan *before)
{
  g_return_if_fail (model->before == NULL);
  model->before = gantry_plan_ref (before);
  model->before_begin = begin_of_steps (model, before, &model->n_before);
}

gboolean
_gantry_time_is_again (const GantryTimeModel *model, const GantryEvent *event)
{
  guint32 i = _gantry_time_search (model->again, model->n_again, event->begin + 1);

  /* The recorder rounds as it likes: a nanosecond is no difference. */
  return event->kind == GANTRY_EVENT_KERNEL && i < model->n_again && ABS (model->again[i] - event->begin) <= 1;
}

/* What lies between two runs is of the nearer one: results are fetched right after a run, arguments brought right before the next. So each
 * event is in the picture of one run. */
static gint64
between (const GantryRecordedRun *a, const GantryRecordedRun *b)
{
  return b->begin > a->end ? a->end + (b->begin - a->end + 1) / 2 : b->begin;
}

static void
take_run (GantryTimeModel *model, GantryRunResult *run, guint index)
{
  const GantryRecordedRun *recorded;
  guint n = gantry_recording_n_runs (run->recording);

  if (n == 0)
    return;
  recorded = gantry_recording_run (run->recording, MIN (index, n - 1));
  model->run = gantry_run_result_ref (run);
  model->run_begin = recorded->begin;
  model->run_end = recorded->end;
  index = MIN (index, n - 1);
  model->shown_from = index > 0 ? between (gantry_recording_run (run->recording, index - 1), recorded) : G_MININT64;
  model->shown_to = index + 1 < n ? between (recorded, gantry_recording_run (run->recording, index + 1)) : G_MAXINT64;
  model->length = MAX (model->length, recorded->end - recorded->begin);
  model->most_bytes = MAX (model->most_bytes, recorded->peak_bytes);
}

guint
gantry_time_typical_run (const GantryRunResult *run)
{
  g_autoptr (GArray) times = gantry_run_result_get_times (run, NULL);
  double best_distance = G_MAXDOUBLE;
  guint best = 0;

  for (guint i = 0; i < times->len; i++)
    {
      double distance = ABS (g_array_index (times, double, i) - run->milliseconds);

      if (distance < best_distance)
        {
          best_distance = distance;
          best = i;
        }
    }
  return best;
}

/* A queue on which nothing is planned and nothing was measured takes no room. In a run of another program the compute
 * queue does not either: what it did is in other lanes. */
static void
find_lanes (GantryTimeModel *model)
{
  guint n_measured = model->run != NULL ? gantry_recording_n_lanes (model->run->recording) : 0;

  model->n_lanes = 0;
  for (guint lane = 0; lane < MAX (n_measured, GANTRY_N_QUEUES); lane++)
    {
      gboolean shown = !model->folded || lane < GANTRY_N_QUEUES || gantry_recording_lane_is_control (model->run->recording, lane);
      gboolean planned = lane < gantry_recording_n_lanes (model->planned) && gantry_recording_n_events (model->planned, lane) > 0;
      gboolean measured = lane < n_measured && gantry_recording_n_events (model->run->recording, lane) > 0;

      if (shown && lane != GANTRY_LANE_RUNS && (planned || measured))
        model->lanes[model->n_lanes++] = (guint8) lane;
    }
  if (model->n_lanes == 0)
    model->lanes[model->n_lanes++] = GANTRY_QUEUE_COMPUTE;
}

GantryTimeModel *
gantry_time_model_new (GantryModule *module, GantryPlan *plan, GantryRunResult *run, guint index)
{
  GantryTimeModel *model = g_new0 (GantryTimeModel, 1);

  g_atomic_ref_count_init (&model->ref_count);
  model->module = gantry_module_ref (module);
  model->plan = gantry_plan_ref (plan);
  model->planned = gantry_recording_from_plan (module, plan);
  take_steps (model);
  if (run != NULL)
    take_run (model, run, index);
  find_lanes (model);
  model->of_plan = _gantry_time_facts_new (model->planned, G_MININT64, G_MAXINT64);
  if (model->run != NULL)
    model->of_run = _gantry_time_facts_new (model->run->recording, model->run_begin, model->run_end);
  model->length = MAX (model->length, 1000);
  return model;
}

void
gantry_time_model_set_folded (GantryTimeModel *model, gboolean folded)
{
  model->folded = folded;
  find_lanes (model);
}

gboolean
gantry_time_model_can_fold (const GantryTimeModel *model)
{
  const GantryRecording *recording = model->run != NULL ? model->run->recording : NULL;
  gboolean queues = FALSE, others = recording != NULL && gantry_recording_n_counters (recording) > 0;

  for (guint lane = 0; recording != NULL && lane < gantry_recording_n_lanes (recording); lane++)
    if (lane != GANTRY_LANE_RUNS && gantry_recording_n_events (recording, lane) > 0)
      {
        queues = queues || lane < GANTRY_N_QUEUES;
        others = others || (lane >= GANTRY_N_QUEUES && !gantry_recording_lane_is_control (recording, lane));
      }
  return queues && others;
}

GantryTimeModel *
gantry_time_model_ref (GantryTimeModel *model)
{
  g_atomic_ref_count_inc (&model->ref_count);
  return model;
}

void
gantry_time_model_unref (GantryTimeModel *model)
{
  if (model == NULL || !g_atomic_ref_count_dec (&model->ref_count))
    return;
  _gantry_time_facts_free (model->of_plan);
  _gantry_time_facts_free (model->of_run);
  gantry_recording_unref (model->planned);
  gantry_run_result_unref (model->run);
  gantry_plan_unref (model->plan);
  gantry_module_unref (model->module);
  gantry_plan_unref (model->before);
  g_free (model->before_begin);
  g_free (model->again);
  g_free (model->step_begin);
  g_free (model);
}

gint64
gantry_time_model_length (const GantryTimeModel *model)
{
  return model->length;
}

static void
widen (gint64 *begin, gint64 *end, gint64 from, gint64 to)
{
  *begin = MIN (*begin, from);
  *end = MAX (*end, to);
}

gboolean
gantry_time_model_extent (const GantryTimeModel *model, GHashTable *nodes, gint64 *begin, gint64 *end)
{
  const GantryPlan *plan = model->plan;

  *begin = G_MAXINT64;
  *end = G_MININT64;
  for (guint32 i = plan->n_init_steps; i < plan->n_steps; i++)
    if (g_hash_table_contains (nodes, GUINT_TO_POINTER (plan->steps[i].node)))
      widen (begin, end, (gint64) (plan->steps[i].start_us * 1000), (gint64) ((plan->steps[i].start_us + plan->steps[i].duration_us) * 1000));
  for (guint lane = 0; *end < *begin && model->run != NULL && lane < GANTRY_N_QUEUES; lane++)
    for (guint64 i = 0; i < gantry_recording_n_events (model->run->recording, lane); i++)
      {
        GantryEvent event;

        gantry_recording_get (model->run->recording, lane, i, &event);
        if (event.begin >= model->run_begin && event.begin < model->run_end && g_hash_table_contains (nodes, GUINT_TO_POINTER (event.node)))
          widen (begin, end, event.begin - model->run_begin, event.end - model->run_begin);
      }
  return *end >= *begin;
}

gboolean
gantry_time_model_has_memory (const GantryTimeModel *model)
{
  return model->n_steps > 0 || gantry_time_model_has_measured_memory (model);
}

gboolean
gantry_time_model_has_run (const GantryTimeModel *model)
{
  return model->run != NULL;
}

gboolean
gantry_time_model_has_measured_memory (const GantryTimeModel *model)
{
  return model->run != NULL && gantry_recording_n_memory_events (model->run->recording) > 0;
}

float
gantry_time_axis_left (void)
{
  return GANTRY_AXIS_LEFT;
}

float
gantry_time_axis_top (void)
{
  return GANTRY_AXIS_TOP - 5;
}

void
gantry_time_hit_clear (GantryTimeHit *hit)
{
  g_clear_pointer (&hit->text, g_free);
}

guint32
_gantry_time_search (const gint64 *begin, guint32 n, gint64 time)
{
  guint32 low = 0, high = n;

  while (high - low > 1)
    {
      guint32 middle = (low + high) / 2;

      if (begin[middle] <= time)
        low = middle;
      else
        high = middle;
    }
  return low;
}

guint32
_gantry_time_step_at (const GantryTimeModel *model, gint64 time)
{
  return _gantry_time_search (model->step_begin, model->n_steps, time);
}

/* The axis */

float
_gantry_time_to_x (const GantryTimeView *view, float width, gint64 time)
{
  double span = (double) MAX (view->t1 - view->t0, 1);

  return (float) (GANTRY_AXIS_LEFT + (double) (time - view->t0) / span * MAX (width - GANTRY_AXIS_LEFT - GANTRY_AXIS_RIGHT, 1));
}

gint64
_gantry_x_to_time (const GantryTimeView *view, float width, float x)
{
  double span = (double) MAX (view->t1 - view->t0, 1);

  return view->t0 + (gint64) ((x - GANTRY_AXIS_LEFT) / MAX (width - GANTRY_AXIS_LEFT - GANTRY_AXIS_RIGHT, 1) * span);
}

gint64
gantry_time_at (const GantryTimeView *view, float width, float x)
{
  return _gantry_x_to_time (view, width, x);
}

double
_gantry_round_step (double range, guint most, double base)
{
  double step = base;

  while (range / step > most)
    {
      static const double factors[] = { 2, 2.5, 2 };

      for (guint i = 0; i < G_N_ELEMENTS (factors) && range / step > most; i++)
        step *= factors[i];
    }
  return step;
}

char *
_gantry_time_text (gint64 ns)
{
  double value = (double) ns;

  if (llabs (ns) < 1000)
    return g_strdup_printf ("%" G_GINT64_FORMAT " ns", ns);
  if (llabs (ns) < 1000000)
    return g_strdup_printf ("%.4g µs", value / 1e3);
  if (llabs (ns) < 1000000000)
    return g_strdup_printf ("%.4g ms", value / 1e6);
  return g_strdup_printf ("%.4g s", value / 1e9);
}

void
_gantry_paint_time_grid (GantryScene *scene, const GantryTimeView *view, gboolean labels)
{
  guint most = (guint) MAX (scene->width / 110, 2);
  gint64 step = (gint64) _gantry_round_step ((double) MAX (view->t1 - view->t0, 1), most, 1);
  gint64 first = view->t0 - view->t0 % step - (view->t0 < 0 ? step : 0);

  for (gint64 t = first; t <= view->t1; t += step)
    {
      float x = _gantry_time_to_x (view, scene->width, t);
      g_autofree char *text = NULL;

      if (x < GANTRY_AXIS_LEFT - 0.5f)
        continue;
      gantry_scene_fill (scene, roundf (x), labels ? GANTRY_AXIS_TOP - 5 : 0, 1, scene->height, GANTRY_INK_GRID, 255);
      text = t == 0 ? g_strdup ("0") : _gantry_time_text (t);
      /* A label that would be cut off is none. */
      if (labels && x + 3 + gantry_theme_text_width (text, GANTRY_TEXT_SMALL) <= scene->width)
        gantry_scene_text (scene, x + 3, 2, 100, GANTRY_AXIS_TOP - 4, text, GANTRY_TEXT_SMALL, 1, GANTRY_INK_TEXT_DIM);
    }
}
