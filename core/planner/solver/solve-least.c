/* SPDX-License-Identifier: Apache-2.0 */
/* The least memory that a program can be planned into. It is asked for by every goal that is tight, and refusals name it: so it is
 * searched the same way whatever the goal, the machine and the day, its effort counted in predictions and nodes, where no end in time cuts
 * it; and what the goal itself has found, lower than that, is the least then. */
#include "core/planner/solver/solve-fit-private.h"
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
#define MOST_HALVED 20u
#define FINE 128u /* the part of the least that halving ends at */
#define MOST_ASKED 3u
#define NEAR 8u              /* and the part of it below which halving begins again */
#define MOST_CHANGED 150000u /* works times changes of a schedule that are tried for each limit */
#define LEAST_CHANGES 100u
#define MOST_CHANGES 1500u
#define PART 4u              /* of the effort of a limit that is asked for by itself, for each that is halved in */
#define MOST_SCHEDULED 4000u /* works */

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
  problem->most_predictions = problem->n_predictions + CLAMP (MOST_WORK / (problem->n_steps + 1), 100, 20000);
  _gantry_solve_try_known (problem);
  if (problem->items->len <= MOST_FOR_PROGRAM && _gantry_solve_program (problem, 0, 1e-4, &relaxed))
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
      /* A loop that makes stacks over others may do with less of it. */
      most = MAX (most, (model->complete || work->n_over == 0 ? work->workspace : 0) + MAX (read, made + read > over ? made + read - over : 0));
    }
  return fixed + most;
}

static guint64
lowest (const SolveProblem *problem)
{
  const SolveAnswer *best = _gantry_solve_smallest (problem, INFINITY);

  return best != NULL ? best->peak : G_MAXUINT64;
}

/* As a goal of @limit bytes does by itself, whose search nothing else that is known leads elsewhere; where that finds none, from what is
 * known: all methods, and at last schedules and moves together, which go on from the best that there is. */
static void
try_limit (SolveProblem *problem, const ScheduleModel *model, guint64 limit)
{
  g_autoptr (SolveProblem) own = _gantry_solve_problem_new (problem->planner, problem->base, problem->allowed, problem->progress);
  const SolveAnswer *best;

  own->deadline = problem->deadline;
  fit_counted (own, limit);
  problem->cut = problem->cut || own->cut;
  best = _gantry_solve_smallest (own, INFINITY);
  if (best != NULL && best->peak <= limit)
    {
      problem->limit = best->limit;
      _gantry_solve_evaluate_schedule (problem, best->kinds, best->schedule);
      return;
    }
  fit_counted (problem, limit);
  problem->most_predictions = 0; /* the search counts its own changes */
  if (lowest (problem) > limit)
    _gantry_schedule_search (model, limit, CLAMP (MOST_CHANGED / (problem->n_steps + 1), LEAST_CHANGES, MOST_CHANGES));
}

/* It may take seconds: what it has come to is told meanwhile. */
static void
tell (const SolveProblem *problem, guint64 bytes)
{
  g_autofree char *size = gantry_format_bytes (bytes), *what = g_strdup_printf ("Searching for the least, %s so far", size);

  gantry_progress_report (problem->progress, -1, what);
}

/* Lower, by all methods: limits are halved in from what nothing can be below to what is known, then again from a little below what that
 * has found: a search that misses its limit by much still leads to where the next one begins. */
static void
descend (SolveProblem *problem)
{
  g_autoptr (ScheduleModel) model = _gantry_schedule_model_new (problem);
  const guint64 floor = MAX (_gantry_solve_floor (problem), 1) - 1;
  guint64 low = floor, high = MIN (lowest (problem), problem->base_peak), begun = G_MAXUINT64;

  for (guint n = 0; n < MOST_HALVED; n++)
    {
      guint64 middle;

      problem->most_predictions = 0;
      if (_gantry_solve_is_over (problem))
        return;

      if (high <= low + MAX (high / FINE, 64))
        {
          if (begun - high <= high / FINE)
            return;
          begun = high;
          low = MAX (floor, high - high / NEAR);
        }
      middle = low + (high - low) / 2;
      if (middle >= high)
        return;
      try_limit (problem, model, middle);
      high = MIN (high, lowest (problem));
      tell (problem, high);
      if (high > middle)
        low = middle;
    }
}

/* A goal of the least that is known searches with all its effort, and may find less than it is asked for: so that is searched here, too. */
static void
ask_for_least (SolveProblem *problem)
{
  static const GantrySolveGoal goal = { .memory_bytes = 1 };

  problem->most_predictions = 0;
  for (guint n = 0; n < MOST_ASKED && !_gantry_solve_is_over (problem); n++)
    {
      g_autoptr (SolveProblem) own = _gantry_solve_problem_new (problem->planner, problem->base, problem->allowed, problem->progress);
      const guint64 before = lowest (problem);
      const SolveAnswer *best;
      Solve solve;

      own->deadline = problem->deadline;
      _gantry_solve_init (&solve, own, &goal);
      _gantry_solve_fit (&solve, before);
      problem->cut = problem->cut || own->cut;
      best = _gantry_solve_smallest (own, INFINITY);
      if (best == NULL || best->peak >= before)
        return;
      problem->limit = best->limit;
      _gantry_solve_evaluate_schedule (problem, best->kinds, best->schedule);
    }
}

static void
search (SolveProblem *problem)
{
  search_placements (problem);
  if (problem->n_steps > MOST_SCHEDULED)
    return;
  descend (problem);
  ask_for_least (problem);
}

/* What a plan of @answer takes: it may stand higher than predicted, and squeezed no further than it has to be it is faster. */
static void
settle (SolveProblem *problem, const SolveAnswer *answer, SolveLeast *least)
{
  g_autoptr (GantryPlacements) placements = _gantry_solve_placements (problem, answer->kinds, answer->schedule);
  guint64 limit = answer->peak;

  for (guint n = 0; n < MOST_PLANS && limit < least->bytes; n++)
    {
      GantryMemoryParts need = { { 0 } };
      g_autoptr (GantryPlan) plan = _gantry_planner_plan_within (problem->planner, placements, limit, &need, problem->progress);

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

/* What is predicted lowest may stand higher as planned: then the next ones are looked at, as long as they could be lower. */
static void
settle_lowest (SolveProblem *problem, SolveLeast *least)
{
  const guint most = problem->cut ? LEAST_SETTLED : CLAMP (MOST_WORK / 1000 / (problem->n_steps + 1), LEAST_SETTLED, MOST_SETTLED);

  g_autoptr (GPtrArray) answers = g_ptr_array_new ();

  g_ptr_array_extend (answers, problem->pool, NULL, NULL);
  g_ptr_array_sort (answers, compare_peaks);
  for (guint i = 0, n = 0; i < answers->len && n < most; i++)
    {
      const SolveAnswer *answer = g_ptr_array_index (answers, i);

      if (answer->host > problem->host_limit)
        continue;
      if (answer->peak >= least->bytes)
        break;
      settle (problem, answer, least);
      n++;
    }
  g_clear_pointer (&problem->planner->refused, gantry_plan_unref);
}

static void
lower (const SolveProblem *problem, SolveLeast *least, const Planned *planned)
{
  guint8 *kinds;

  if (planned->bytes >= least->bytes)
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

void
_gantry_solve_lower_least (SolveProblem *problem, const Planned *planned)
{
  SolveLeast *least = _gantry_store_least (problem);

  if (least != NULL)
    lower (problem, least, planned);
}

/* Nothing that was found, with less freedom as well, is lower than @least. */
static void
lower_to_known (SolveProblem *problem, SolveLeast *least)
{
  Planned given;

  settle_lowest (problem, least);
  if (_gantry_store_given (problem, 0, INFINITY, &given))
    lower (problem, least, &given);
}

const SolveLeast *
_gantry_solve_least (SolveProblem *asked, gint64 deadline)
{
  SolveLeast *least = asked->cut_least != NULL ? asked->cut_least : _gantry_store_least (asked);
  g_autoptr (SolveProblem) problem = NULL;

  if (least != NULL)
    {
      _gantry_store_take (asked);
      lower_to_known (asked, least);
      return least;
    }
  problem = _gantry_solve_problem_new (asked->planner, asked->base, asked->allowed, asked->progress);
  problem->deadline = deadline;
  search (problem);
  _gantry_store_note_pool (problem); /* what a goal has found is known, wherever it lies */
  asked->cut = asked->cut || problem->cut;
  least = g_new0 (SolveLeast, 1);
  least->bytes = G_MAXUINT64;
  settle_lowest (problem, least);
  lower_to_known (asked, least);
  if (gantry_progress_cancelled (asked->progress, NULL))
    {
      _gantry_solve_least_free (least);
      return NULL;
    }
  if (problem->cut)
    asked->cut_least = least;
  else
    _gantry_store_set_least (asked, least);
  return least;
}
