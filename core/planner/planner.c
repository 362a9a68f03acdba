/* SPDX-License-Identifier: Apache-2.0 */
/* The planner: what does not depend on placements is worked out once, then each question is asked. */
#include "core/graph/region.h"
#include "core/planner/planner-private.h"
#include <string.h>

/* Of the step: what delaying fetches may cost where no limit asks for it, and how often it is tried. */
#define MOST_WAIT 1e-2
#define MOST_LOWERED 4u
#define LEAST_SAVED 100u /* part of the peak: less than one of these is not tried for, since each try is a prediction */

GantryPrediction *
gantry_prediction_new (void)
{
  GantryPrediction *prediction = g_new0 (GantryPrediction, 1);

  prediction->steps = g_array_new (FALSE, FALSE, sizeof (GantryPlanStep));
  prediction->live = g_array_new (FALSE, FALSE, sizeof (GantryLiveBytes));
  return prediction;
}

void
gantry_prediction_parts_at (const GantryPrediction *prediction, guint32 step, GantryMemoryParts *parts)
{
  const GantryLiveBytes *live;

  g_return_if_fail (step < prediction->live->len);
  live = &g_array_index (prediction->live, GantryLiveBytes, step);
  *parts = prediction->beside;
  parts->bytes[GANTRY_PART_ARGUMENTS] = live->arguments;
  parts->bytes[GANTRY_PART_WORKSPACES] = live->workspaces;
  parts->bytes[GANTRY_PART_TEMPORARIES] = live->bytes - live->arguments - live->workspaces;
}

void
gantry_prediction_parts (const GantryPrediction *prediction, GantryMemoryParts *parts)
{
  if (prediction->peak_step < prediction->live->len)
    gantry_prediction_parts_at (prediction, prediction->peak_step, parts);
  else /* nothing but arguments and results */
    {
      *parts = prediction->beside;
      parts->bytes[GANTRY_PART_ARGUMENTS] = prediction->peak_bytes - gantry_memory_parts_total (&prediction->beside);
    }
}

void
gantry_prediction_figures (const GantryPrediction *prediction, GantryPlanFigures *figures)
{
  GantryMemoryParts parts;

  *figures = (GantryPlanFigures){ .host_bytes = prediction->host_bytes,
                                  .copied_bytes = prediction->copied_bytes,
                                  .step_us = prediction->step_us,
                                  .recompute_us = prediction->recompute_us,
                                  .stall_us = prediction->stall_us,
                                  .sizes_known = prediction->sizes_known,
                                  .fits = prediction->fits };
  gantry_prediction_parts (prediction, &parts);
  gantry_plan_figures_set_parts (figures, &parts);
}

void
gantry_prediction_free (GantryPrediction *prediction)
{
  if (prediction == NULL)
    return;
  g_array_unref (prediction->steps);
  g_array_unref (prediction->live);
  g_free (prediction);
}

static void
free_parts (GantryPlanner *planner)
{
  void **const plain[] = { (void **) &planner->order,
                           (void **) &planner->cost_us,
                           (void **) &planner->base_last,
                           (void **) &planner->candidate_of,
                           (void **) &planner->shown_by,
                           (void **) &planner->stack_of_slices,
                           (void **) &planner->again_in_loops,
                           (void **) &planner->loop,
                           (void **) &planner->unmade,
                           (void **) &planner->first_overwritable,
                           (void **) &planner->in_place_donation,
                           (void **) &planner->kind,
                           (void **) &planner->memory,
                           (void **) &planner->decider,
                           (void **) &planner->device_range,
                           (void **) &planner->in_host,
                           (void **) &planner->again,
                           (void **) &planner->evicted,
                           (void **) &planner->rematerialized,
                           (void **) &planner->work_at,
                           (void **) &planner->n_scheduled,
                           (void **) &planner->scheduled_last,
                           (void **) &planner->made,
                           (void **) &planner->late_donation,
                           (void **) &planner->copy_at_end,
                           (void **) &planner->copies,
                           (void **) &planner->residence,
                           (void **) &planner->fetched,
                           (void **) &planner->n_forward_uses,
                           (void **) &planner->compressed,
                           (void **) &planner->restored,
                           (void **) &planner->forward_left,
                           (void **) &planner->asked,
                           (void **) &planner->rounded,
                           (void **) &planner->units.first,
                           (void **) &planner->units.n,
                           (void **) &planner->writers.first,
                           (void **) &planner->writers.n };
  GArray **const arrays[] = { &planner->candidates,   &planner->scans,         &planner->overlays,       &planner->donated,   &planner->unmet_donations,
                              &planner->overwritable, &planner->problems,      &planner->line,           &planner->schedule,  &planner->start_us,
                              &planner->use_range,    &planner->ranges,        &planner->evictions,      &planner->fetches,   &planner->last_copies,
                              &planner->stack,        &planner->live,          &planner->live_arguments, &planner->live_host, &planner->release,
                              &planner->units.values, &planner->writers.values };

  for (guint i = 0; i < G_N_ELEMENTS (plain); i++)
    g_free (*plain[i]);
  for (guint i = 0; i < G_N_ELEMENTS (arrays); i++)
    g_clear_pointer (arrays[i], g_array_unref);
  g_clear_pointer (&planner->own, gantry_prediction_free);
  g_clear_pointer (&planner->constants, _gantry_constants_free);
  g_clear_pointer (&planner->refused, gantry_plan_unref);
  g_clear_pointer (&planner->store, planner->store_free);
  g_clear_pointer (&planner->rounding, gantry_rounding_free);
  g_clear_pointer (&planner->program, _gantry_program_free);
}

void
gantry_planner_free (GantryPlanner *planner)
{
  if (planner == NULL)
    return;
  free_parts (planner);
  g_free (planner);
}

static void
allocate_touches (Touches *touches, guint32 n)
{
  touches->values = g_array_new (FALSE, FALSE, sizeof (guint32));
  touches->first = g_new0 (guint32, n);
  touches->n = g_new0 (guint32, n);
}

static void
allocate (GantryPlanner *planner)
{
  guint32 n = planner->program->values->len + 1, n_works = planner->program->works->len + 1;

  planner->cost_us = g_new0 (double, n_works);
  planner->base_last = g_new0 (guint32, n);
  planner->candidate_of = g_new0 (gint32, n);
  planner->stack_of_slices = g_new0 (guint8, n + (gsize) 1);
  planner->shown_by = g_new0 (guint32, n);
  planner->again_in_loops = g_new0 (guint8, n);
  planner->loop = g_new0 (const Loop *, n_works);
  planner->unmade = g_new0 (guint8, n);
  planner->scans = g_array_new (FALSE, FALSE, sizeof (guint32));
  planner->overlays = g_array_new (FALSE, FALSE, sizeof (Overlay));
  planner->first_overwritable = g_new0 (guint32, n_works);
  planner->in_place_donation = g_new0 (guint8, n);
  planner->n_forward_uses = g_new0 (guint32, n);
  planner->asked = g_new0 (guint8, n);
  planner->rounded = g_new0 (guint8, n);
  planner->compressed = g_new0 (guint32, n);
  planner->restored = g_new0 (guint32, n);
  planner->forward_left = g_new0 (guint32, n);
  planner->kind = g_new0 (guint8, n);
  planner->memory = g_new0 (guint8, n);
  planner->decider = g_new0 (guint8, n);
  planner->device_range = g_new0 (guint32, n);
  planner->in_host = g_new0 (guint32, n);
  planner->again = g_new0 (guint32, n);
  planner->evicted = g_new0 (guint32, n);
  planner->rematerialized = g_new0 (guint8, n_works);
  planner->made = g_new0 (guint8, n_works);
  planner->n_scheduled = g_new0 (guint32, n_works);
  planner->scheduled_last = g_new0 (guint32, n);
  planner->schedule = g_array_new (FALSE, FALSE, sizeof (Scheduled));
  planner->copies = g_new0 (guint8, n);
  planner->residence = g_new0 (guint8, n);
  planner->fetched = g_new0 (guint32, n);
  planner->late_donation = g_new0 (guint8, n);
  planner->copy_at_end = g_new0 (guint8, n);
  planner->candidates = g_array_new (FALSE, FALSE, sizeof (GantryCandidate));
  planner->donated = g_array_new (FALSE, FALSE, sizeof (guint32));
  planner->unmet_donations = g_array_new (FALSE, FALSE, sizeof (guint32));
  planner->overwritable = g_array_new (FALSE, FALSE, sizeof (guint32));
  planner->problems = g_array_new (FALSE, FALSE, sizeof (GantryPlacementProblem));
  planner->line = g_array_sized_new (FALSE, FALSE, sizeof (Run), n_works);
  planner->start_us = g_array_sized_new (FALSE, FALSE, sizeof (double), n_works);
  planner->use_range = g_array_new (FALSE, FALSE, sizeof (guint32));
  planner->ranges = g_array_sized_new (FALSE, FALSE, sizeof (LiveRange), n);
  planner->evictions = g_array_new (FALSE, FALSE, sizeof (Copy));
  planner->fetches = g_array_new (FALSE, FALSE, sizeof (Copy));
  planner->last_copies = g_array_new (FALSE, FALSE, sizeof (guint32));
  planner->stack = g_array_new (FALSE, FALSE, 2 * sizeof (guint32));
  planner->live = g_array_new (FALSE, FALSE, sizeof (guint64));
  planner->live_arguments = g_array_new (FALSE, FALSE, sizeof (guint64));
  planner->live_host = g_array_new (FALSE, FALSE, sizeof (guint64));
  planner->release = g_array_new (FALSE, FALSE, sizeof (guint32));
  planner->own = gantry_prediction_new ();
  allocate_touches (&planner->units, n);
  allocate_touches (&planner->writers, n);
}

static void
use_order (GantryPlanner *planner, guint32 *order)
{
  const Program *program = planner->program;

  g_free (planner->order);
  planner->order = order;
  for (guint32 i = 0; i < planner->n_order; i++)
    {
      const Work *work = WORK (program, order[i]);

      for (guint32 k = 0; k < work->n_values; k++)
        planner->base_last[work->first_value + k] = i;
      for (guint32 k = 0; k < work->n_uses; k++)
        planner->base_last[USE (program, work, k)] = i;
    }
}

/* The order with the lowest peak while everything is kept; of equals the earlier in this list. */
static gboolean
choose_order (GantryPlanner *planner, const GantryProgress *progress, GError **error)
{
  static guint32 *(*const aware[]) (const Program *) = { _gantry_order_program, _gantry_order_depth, _gantry_order_greedy, _gantry_order_hoisted };
  static guint32 *(*const plain[GANTRY_N_ORDERS]) (const Program *) = {
    [GANTRY_ORDER_PROGRAM] = _gantry_order_program, [GANTRY_ORDER_BREADTH] = _gantry_order_breadth, [GANTRY_ORDER_DEPTH] = _gantry_order_reverse_depth
  };
  const gboolean best = planner->options.order == GANTRY_ORDER_BEST;
  guint32 *(*const *makers) (const Program *) = best ? aware : &plain[planner->options.order];
  guint n = !best ? 1 : planner->program->resident ? 4 : 3;
  g_autofree guint32 *chosen = NULL;
  guint64 lowest = G_MAXUINT64;

  for (guint i = 0; i < n; i++)
    {
      use_order (planner, makers[i](planner->program));
      if (n > 1)
        _gantry_planner_evaluate (planner, NULL, 0, planner->own);
      if (gantry_progress_cancelled (progress, error))
        return FALSE;
      if (chosen != NULL && planner->own->peak_bytes >= lowest)
        continue;
      lowest = planner->own->peak_bytes;
      g_free (chosen);
      chosen = g_memdup2 (planner->order, (planner->n_order + 1) * sizeof (guint32));
    }
  use_order (planner, g_steal_pointer (&chosen));
  return TRUE;
}

/* What stands on the device beside the arena. */
static void
find_beside (GantryPlanner *planner, const GantryProgress *progress)
{
  const GantryKernelSizes *sizes = planner->options.sizes;

  planner->constants = _gantry_constants_new (planner, progress);
  planner->beside.bytes[GANTRY_PART_CONSTANTS] = planner->constants->bytes + planner->constants->literal_bytes + planner->program->region_bytes;
  if (sizes != NULL)
    {
      planner->beside.bytes[GANTRY_PART_PACKED_WEIGHTS] = gantry_kernel_sizes_packed (sizes);
      planner->beside.bytes[GANTRY_PART_CODE] = sizes->code_bytes;
    }
  planner->beside_bytes = gantry_memory_parts_total (&planner->beside);
}

GantryPlanner *
gantry_planner_new (GantryModule *module, const GantryPlanOptions *options, const GantryProgress *progress, GError **error)
{
  g_autoptr (GantryPlanner) planner = g_new0 (GantryPlanner, 1);

  if (options != NULL)
    planner->options = *options;
  if (planner->options.target != NULL)
    planner->target = *planner->options.target;
  else
    gantry_target_init_cpu (&planner->target, 0);
  if (planner->options.target != NULL)
    planner->options.target = &planner->target; /* bodies of loops are planned later too */
  planner->program = _gantry_program_new (module, options, progress, error);
  if (planner->program == NULL)
    return NULL;
  gantry_progress_report (progress, -1, "planning memory");
  planner->n_order = planner->program->works->len - planner->program->n_init;
  allocate (planner);
  _gantry_planner_find_costs (planner);
  _gantry_planner_find_works (planner);
  _gantry_planner_find_forward_uses (planner);
  _gantry_planner_find_asked (planner);
  _gantry_planner_find_candidates (planner);
  _gantry_planner_find_overlays (planner);
  _gantry_planner_find_stacks (planner);
  _gantry_planner_find_loops (planner);
  _gantry_planner_allow_loops (planner);
  _gantry_planner_find_overwritable (planner);
  find_beside (planner, progress);
  _gantry_planner_find_donations (planner);
  return choose_order (planner, progress, error) ? g_steal_pointer (&planner) : NULL;
}

/* Arguments and results: places for the whole run. */
static void
count_held (GantryPlanner *planner)
{
  const Program *program = planner->program;

  memset (planner->held, 0, sizeof planner->held);
  memset (planner->argument_bytes, 0, sizeof planner->held);
  memset (planner->output_bytes, 0, sizeof planner->held);
  memset (planner->alias_bytes, 0, sizeof planner->held);
  for (guint32 v = 0; program->resident && v < program->values->len; v++)
    {
      const Value *value = VALUE (program, v);
      gboolean made = value->kind == VALUE_COMPUTED || value->kind == VALUE_GROUP;
      guint8 memory;

      if (value->root != v || (value->kind != VALUE_INPUT && !(made && value->result)) || value->group != NONE)
        continue;
      memory = _gantry_planner_memory_of (planner, v);
      if (value->kind == VALUE_INPUT)
        planner->argument_bytes[memory] += gantry_place_bytes (value->bytes);
      else
        planner->output_bytes[memory] += gantry_place_bytes (value->bytes);
      if (value->kind != VALUE_INPUT && value->donated != NONE)
        planner->alias_bytes[memory] += gantry_place_bytes (value->bytes);
    }
  for (guint m = 0; m < GANTRY_N_MEMORY_KINDS; m++)
    planner->held[m] = planner->argument_bytes[m] + planner->output_bytes[m] - planner->alias_bytes[m];
}

static guint64
highest (const GArray *live, guint32 n)
{
  guint64 most = 0;

  for (guint32 k = 0; k < MIN (n, live->len); k++)
    most = MAX (most, g_array_index (live, guint64, k));
  return most;
}

/* @evictions: they are cut short too, where @limit is passed. Returns: the peak of temporaries */
static guint64
lay (GantryPlanner *planner, guint64 limit, gboolean evictions, guint64 device, guint32 *at)
{
  guint64 peak;

  _gantry_planner_walk (planner);
  _gantry_planner_hide_copies (planner);
  peak = _gantry_planner_find_lifetimes (planner, at);
  if (limit == 0 || device + peak <= limit)
    return peak;
  _gantry_planner_squeeze (planner, limit > device ? limit - device : 0, evictions);
  return _gantry_planner_find_lifetimes (planner, at);
}

static void
simulate (GantryPlanner *planner, GantryPrediction *prediction, guint64 temp_bytes, guint32 at)
{
  prediction->temp_bytes = temp_bytes;
  prediction->peak_step = at;
  _gantry_planner_simulate (planner, prediction);
}

/* Where no limit is set, what is fetched early to hide its copy does not raise the peak for next to nothing: fetches are delayed
 * as far as that costs less than MOST_WAIT of the step, and ten times as much of the peak is saved as of the time is spent.
 * @peak: of temporaries, as laid without a limit */
static void
lower_for_little (GantryPlanner *planner, guint64 device, guint64 peak, guint32 at, GantryPrediction *prediction)
{
  const guint64 first = device + peak, least = _gantry_planner_least_peak (planner);
  guint64 kept = 0;
  double us;

  simulate (planner, prediction, peak, at);
  us = prediction->step_us;
  for (guint i = 0; i < MOST_LOWERED && least + first / LEAST_SAVED < peak; i++)
    {
      guint64 lower = lay (planner, device + peak - 1, FALSE, device, &at);
      double wait;

      if (lower < peak)
        {
          simulate (planner, prediction, lower, at);
          wait = prediction->step_us / us - 1;
          if (wait <= MOST_WAIT && (double) (first - device - lower) >= 10 * wait * (double) first)
            {
              kept = device + peak - 1;
              peak = lower;
              continue;
            }
        }
      peak = lay (planner, kept, FALSE, device, &at);
      simulate (planner, prediction, peak, at);
      return;
    }
}

/* Lays with loops as they are chosen for that. @temp_bytes, @at: (out): as lay(). Returns: bytes beside the temporaries */
static guint64
lay_loops (GantryPlanner *planner, guint64 limit, LoopFetching fetching, guint64 *temp_bytes, guint32 *at)
{
  guint64 device;

  planner->fetching = (guint8) fetching;
  _gantry_planner_choose_loops (planner);
  device = planner->held[GANTRY_MEMORY_DEVICE] + planner->beside_bytes + (guint64) planner->loop_bytes;
  planner->narrow = FALSE;
  *temp_bytes = lay (planner, limit, TRUE, device, at);
  if (limit > 0 && device + *temp_bytes > limit && planner->fetches->len > 0)
    {
      planner->narrow = TRUE;
      *temp_bytes = lay (planner, limit, TRUE, device, at);
    }
  return device;
}

/* Lays with bodies that fetch more and more until @limit is met; where none meets it, with what takes least. Nothing is laid twice of which
 * no body would fetch more. @temp_bytes, @at: (out): as lay(). Returns: bytes beside the temporaries */
static guint64
lay_within (GantryPlanner *planner, guint64 limit, guint64 *temp_bytes, guint32 *at)
{
  LoopFetching laid = FETCHING_NONE, lowest = laid;
  guint64 device = lay_loops (planner, limit, laid, temp_bytes, at), least = device + *temp_bytes;

  for (LoopFetching f = FETCHING_BACKWARD; f < N_FETCHING && limit > 0 && device + *temp_bytes > limit; f++)
    {
      if (!_gantry_planner_fetches_from (planner, f))
        continue;
      laid = f;
      device = lay_loops (planner, limit, laid, temp_bytes, at);
      lowest = device + *temp_bytes <= least ? laid : lowest;
      least = MIN (least, device + *temp_bytes);
    }
  return laid == lowest ? device : lay_loops (planner, limit, lowest, temp_bytes, at);
}

/* Lays and simulates under the placements that were read, with stacks over others or without. Returns: bytes beside the temporaries */
static guint64
ask (GantryPlanner *planner, guint64 limit, GantryPrediction *prediction)
{
  guint64 device, temp_bytes;
  guint32 at;

  planner->overlay_failed = FALSE;
  device = lay_within (planner, limit, &temp_bytes, &at);
  if (limit == 0 && planner->fetches->len > 0)
    lower_for_little (planner, device, temp_bytes, at, prediction);
  else
    simulate (planner, prediction, temp_bytes, at);
  return device;
}

void
_gantry_planner_evaluate (GantryPlanner *planner, const GantryPlacements *placements, guint64 limit, GantryPrediction *prediction)
{
  guint64 device;

  _gantry_planner_read_placements (planner, placements);
  _gantry_planner_read_schedule (planner, placements);
  _gantry_planner_keep_asked (planner);
  count_held (planner);
  planner->no_overlays = FALSE;
  device = ask (planner, limit, prediction);
  planner->no_overlays = planner->overlay_failed;
  if (planner->no_overlays)
    device = ask (planner, limit, prediction);
  prediction->peak_bytes = device + prediction->temp_bytes;
  prediction->argument_bytes = planner->argument_bytes[GANTRY_MEMORY_DEVICE];
  prediction->output_bytes = planner->output_bytes[GANTRY_MEMORY_DEVICE];
  prediction->alias_bytes = planner->alias_bytes[GANTRY_MEMORY_DEVICE];
  prediction->host_bytes = highest (planner->live_host, planner->line->len + 1);
  for (guint m = GANTRY_MEMORY_DEVICE + 1; m < GANTRY_N_MEMORY_KINDS; m++)
    prediction->host_bytes += planner->held[m];
  prediction->beside = planner->beside;
  prediction->beside.bytes[GANTRY_PART_CONSTANTS] += (guint64) planner->loop_bytes;
  prediction->sizes_known = planner->options.sizes != NULL && !planner->options.sizes->at_least;
  prediction->fits = (limit == 0 || prediction->peak_bytes <= limit)
                     && (planner->target.host_limit == 0 || prediction->host_bytes <= planner->target.host_limit);
  prediction->n_problems = planner->problems->len;
}

guint32
gantry_planner_count_unplanned (GantryPlanner *planner, const GantryPlacements *placements)
{
  if (planner->scans->len == 0)
    return 0;
  _gantry_planner_read_placements (planner, placements);
  _gantry_planner_read_schedule (planner, placements);
  _gantry_planner_keep_asked (planner);
  planner->no_overlays = FALSE;
  planner->fetching = FETCHING_NONE;
  return _gantry_planner_count_unplanned (planner);
}

void
gantry_planner_predict (GantryPlanner *planner, const GantryPlacements *placements, GantryPrediction *prediction)
{
  gantry_planner_predict_within (planner, placements, planner->target.memory_limit, prediction);
}

void
gantry_planner_predict_within (GantryPlanner *planner, const GantryPlacements *placements, guint64 limit, GantryPrediction *prediction)
{
  guint64 asked = _gantry_planner_effective_limit (placements, limit);

  _gantry_planner_evaluate (planner, placements, asked, prediction);
  if (asked != limit && prediction->peak_bytes > asked)
    _gantry_planner_evaluate (planner, placements, limit, prediction);
}

GantryPlan *
gantry_prediction_to_plan (const GantryPrediction *prediction)
{
  GantryPlan *plan = gantry_plan_new (prediction->steps->len, 0);

  if (plan->n_steps > 0)
    memcpy (plan->steps, prediction->steps->data, sizeof (GantryPlanStep) * plan->n_steps);
  for (guint32 s = 0; s < plan->n_steps; s++)
    {
      const GantryLiveBytes *live = &g_array_index (prediction->live, GantryLiveBytes, s);

      plan->live_bytes[s] = live->bytes;
      plan->live_arguments[s] = live->arguments;
      plan->live_workspaces[s] = live->workspaces;
    }
  while (plan->n_init_steps < plan->n_steps && plan->steps[plan->n_init_steps].init)
    plan->n_init_steps++;
  plan->arena_bytes[GANTRY_MEMORY_DEVICE] = plan->lower_bound = prediction->peak_bytes - gantry_memory_parts_total (&prediction->beside);
  plan->constant_bytes = prediction->beside.bytes[GANTRY_PART_CONSTANTS];
  plan->packed_bytes = prediction->beside.bytes[GANTRY_PART_PACKED_WEIGHTS];
  plan->code_bytes = prediction->beside.bytes[GANTRY_PART_CODE];
  plan->sizes_known = prediction->sizes_known;
  plan->peak_step = MIN (prediction->peak_step, MAX (plan->n_steps, 1) - 1);
  plan->total_us = prediction->step_us;
  plan->copied_bytes = prediction->copied_bytes;
  return plan;
}

GantryPlan *
gantry_memory_plan (GantryModule *module, const GantryPlanOptions *options, const GantryProgress *progress, GError **error)
{
  g_autoptr (GantryPlanner) planner = gantry_planner_new (module, options, progress, error);

  return planner != NULL ? gantry_planner_plan (planner, NULL, progress, error) : NULL;
}
