/* SPDX-License-Identifier: Apache-2.0 */
/* The least memory that a program can be planned into. It is asked for by every goal that is tight, and refusals name it: so it
 * has to be one number, whatever the goal, the machine and the day. Its effort is counted in predictions and nodes. */
#include "core/memory/solve-fit-private.h"
#include <math.h>

/* Predictions times works: about as many as a search for a limit. */
#define MOST_WORK 8000000u
/* Values: beyond, an integer program without a limit of time may take minutes. */
#define MOST_FOR_PROGRAM 400u
#define MOST_NODES 200
/* Values: the same where a program is solved for each limit that is tried, and with moves. */
#define MOST_DESCENDED 64u
#define MOST_MOVED 24u
/* Of the lowest answers so many are planned, of programs of many works fewer. */
#define MOST_SETTLED 64u
#define LEAST_SETTLED 4u
#define MOST_PLANS 4u
#define MOST_HALVED 10u
#define PART 4u              /* of the effort of a limit that is asked for by itself, for each that is halved in */
#define MOST_SCHEDULED 4000u /* works */

static void
least_free (gpointer data)
{
  SolveLeast *least = data;

  g_clear_pointer (&least->base, gantry_placements_unref);
  g_free (least->kinds);
  g_clear_pointer (&least->schedule, g_bytes_unref);
  g_free (least);
}

/* Copies squeezed as far as they go: nothing can fit into a single byte. */
static void
search_placements (SolveProblem *problem)
{
  SolveRelaxed relaxed = { 0 };
  const SolveAnswer *best;

  problem->limit = 1;
  problem->most_nodes = MOST_NODES;
  if (_gantry_solve_enumerate (problem, SOLVE_MOST_ENUMERATED))
    return;
  problem->most_predictions = problem->n_predictions
                              + CLAMP (MOST_WORK / (problem->n_steps + 1), 100, 20000);
  _gantry_solve_try_known (problem);
  if (problem->items->len <= MOST_FOR_PROGRAM
      && _gantry_solve_program (problem, 0, 1e-4, &relaxed))
    _gantry_solve_evaluate (problem, relaxed.kinds);
  _gantry_solve_relaxed_clear (&relaxed);
  best = _gantry_solve_smallest (problem, INFINITY);
  if (best != NULL)
    _gantry_solve_search (problem, best->kinds, 0);
}

/* Answers for @limit into the pool of @problem, by all methods. */
static void
fit_counted (SolveProblem *problem, guint64 limit)
{
  static const GantrySolveGoal goal = { .memory_bytes = 1 };
  Solve solve;

  _gantry_solve_init (&solve, problem, &goal);
  solve.most_for_program = MOST_DESCENDED;
  solve.most_for_moves = MOST_MOVED;
  solve.effort /= PART;
  _gantry_solve_fit_quickly (&solve, limit);
}

/* What is there the whole time, and what the work that takes most reads and makes at once. */
guint64
_gantry_solve_floor (SolveProblem *problem)
{
  g_autoptr (ScheduleModel) model = _gantry_schedule_model_new (problem);
  guint64 fixed = model->fixed, most = 0;

  for (guint i = 0; i < problem->items->len; i++)
    if (ITEM (problem, i)->resident && (ITEM (problem, i)->allowed >> GANTRY_PLACEMENT_OFFLOAD & 1) != 0)
      fixed -= MIN (fixed, ITEM (problem, i)->bytes);
  for (guint32 w = 0; w < model->works->len; w++)
    {
      const ScheduleWork *work = SCHEDULE_WORK (model, w);
      guint64 read = 0, over = 0, made = 0;

      for (guint32 k = 0; k < work->n_reads; k++)
        read = MAX (read, SCHEDULE_VALUE (model, SCHEDULE_READ (model, work, k))->bytes);
      for (guint32 k = 0; k < work->n_makes; k++)
        made += SCHEDULE_VALUE (model, SCHEDULE_MAKE (model, work, k))->bytes;
      for (guint32 k = 0; k < work->n_over; k++)
        over += SCHEDULE_VALUE (model, g_array_index (model->overs, guint32, work->first_over + k))->bytes;
      most = MAX (most, work->workspace + MAX (read, made + read > over ? made + read - over : 0));
    }
  return fixed + most;
}

/* As a goal of @limit bytes does by itself, whose search nothing else that is known leads elsewhere; where that finds none, from what is
 * known. */
static void
try_limit (SolveProblem *problem, guint64 limit)
{
  g_autoptr (SolveProblem) own = _gantry_solve_problem_new (problem->planner, problem->base,
                                                            problem->allowed, problem->progress);
  const SolveAnswer *best;

  fit_counted (own, limit);
  best = _gantry_solve_smallest (own, INFINITY);
  if (best == NULL || best->peak > limit)
    {
      fit_counted (problem, limit);
      return;
    }
  problem->limit = best->limit;
  _gantry_solve_evaluate_schedule (problem, best->kinds, best->schedule);
}

/* Lower, by all methods: limits are halved in from what nothing can be below to what is known. */
static void
descend (SolveProblem *problem)
{
  const SolveAnswer *best = _gantry_solve_smallest (problem, INFINITY);
  guint64 low = MAX (_gantry_solve_floor (problem), 1) - 1, high = best != NULL ? best->peak : problem->base_peak;

  for (guint n = 0; n < MOST_HALVED && high > low + MAX (high / 1000, 64); n++)
    {
      guint64 middle = low + (high - low) / 2;

      if (gantry_progress_cancelled (problem->progress, NULL))
        return;
      try_limit (problem, middle);
      best = _gantry_solve_smallest (problem, INFINITY);
      if (best != NULL && best->peak < high)
        high = best->peak;
      if (best == NULL || best->peak > middle)
        low = middle;
    }
}

static void
search (SolveProblem *problem)
{
  search_placements (problem);
  if (problem->n_steps <= MOST_SCHEDULED)
    descend (problem);
}

/* What a plan of @answer takes: it may stand higher than predicted, and squeezed no further than it has to be it is faster. */
static void
settle (SolveProblem *problem, const SolveAnswer *answer, SolveLeast *least)
{
  g_autoptr (GantryPlacements)
    placements = _gantry_solve_placements (problem, answer->kinds, answer->schedule);
  guint64 limit = answer->peak;

  for (guint n = 0; n < MOST_PLANS && limit < least->bytes; n++)
    {
      GantryMemoryParts need = { { 0 } };
      g_autoptr (GantryPlan) plan = _gantry_planner_plan_within (problem->planner, placements,
                                                                 limit, &need, problem->progress);

      if (plan == NULL && gantry_progress_cancelled (problem->progress, NULL))
        return;
      if (plan == NULL || gantry_plan_host_bytes (plan) > problem->host_limit)
        {
          limit = MAX (limit + 1, gantry_memory_parts_total (&need));
          continue;
        }
      g_free (least->kinds);
      g_clear_pointer (&least->schedule, g_bytes_unref);
      least->schedule = answer->schedule != NULL ? g_bytes_ref (answer->schedule) : NULL;
      least->kinds = g_memdup2 (answer->kinds, problem->items->len + 1);
      least->limit = limit;
      least->bytes = gantry_plan_memory_bytes (plan, GANTRY_MEMORY_DEVICE);
      gantry_plan_figures (plan, &least->figures);
      return;
    }
}

static int
compare_peaks (gconstpointer a, gconstpointer b)
{
  const SolveAnswer *x = *(SolveAnswer *const *) a, *y = *(SolveAnswer *const *) b;

  if (x->peak != y->peak)
    return x->peak < y->peak ? -1 : 1;
  return x->us < y->us ? -1 : x->us > y->us;
}

static const SolveLeast *
find_known (const GantryPlanner *planner, const GantryPlacements *base, guint allowed)
{
  for (guint i = 0; planner->leasts != NULL && i < planner->leasts->len; i++)
    {
      const SolveLeast *least = g_ptr_array_index (planner->leasts, i);

      if (least->allowed == allowed
          && (least->base == base
              || (least->base != NULL && base != NULL
                  && gantry_placements_equal (least->base, base))))
        return least;
    }
  return NULL;
}

/* What is predicted lowest may stand higher as planned: then the next ones are looked at, as long as they could be lower. */
static void
settle_lowest (SolveProblem *problem, SolveLeast *least)
{
  const guint most = CLAMP (MOST_WORK / 1000 / (problem->n_steps + 1), LEAST_SETTLED, MOST_SETTLED);

  g_ptr_array_sort (problem->pool, compare_peaks);
  for (guint i = 0, n = 0; i < problem->pool->len && n < most; i++)
    {
      const SolveAnswer *answer = g_ptr_array_index (problem->pool, i);

      if (answer->host > problem->host_limit)
        continue;
      if (answer->peak >= least->bytes)
        break;
      settle (problem, answer, least);
      n++;
    }
}

void
_gantry_solve_lower_least (const SolveProblem *problem, const Planned *planned)
{
  SolveLeast *least = (SolveLeast *) find_known (problem->planner, problem->base, problem->allowed); /* the planner's own */
  guint8 *kinds;

  if (least == NULL || planned->bytes >= least->bytes)
    return;
  kinds = g_memdup2 (planned->kinds, problem->items->len + 1);
  g_free (least->kinds);
  least->kinds = kinds;
  g_clear_pointer (&least->schedule, g_bytes_unref);
  least->schedule = planned->schedule != NULL ? g_bytes_ref (planned->schedule) : NULL;
  least->limit = planned->limit;
  least->bytes = planned->bytes;
  least->figures = planned->figures;
}

const SolveLeast *
_gantry_solve_least (const SolveProblem *asked)
{
  GantryPlanner *planner = asked->planner;
  const SolveLeast *known = find_known (planner, asked->base, asked->allowed);
  g_autoptr (SolveProblem) problem = NULL;
  SolveLeast *least;

  if (known != NULL)
    return known;
  problem = _gantry_solve_problem_new (planner, asked->base, asked->allowed, asked->progress);
  search (problem);
  _gantry_solve_take_earlier (problem); /* what a goal has found is known, wherever it lies */
  least = g_new0 (SolveLeast, 1);
  least->base = asked->base != NULL ? gantry_placements_copy (asked->base) : NULL;
  least->allowed = asked->allowed;
  least->bytes = G_MAXUINT64;
  settle_lowest (problem, least);
  g_clear_pointer (&planner->refused, gantry_plan_unref);
  if (gantry_progress_cancelled (asked->progress, NULL))
    {
      least_free (least);
      return NULL;
    }
  if (planner->leasts == NULL)
    planner->leasts = g_ptr_array_new_with_free_func (least_free);
  g_ptr_array_add (planner->leasts, least);
  return least;
}
