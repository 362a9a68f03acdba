/* SPDX-License-Identifier: Apache-2.0 */
/* The methods that search for a limit, each by itself: the integer program, its answer as the planner predicts it and the search around
 * it; the same with moves; the search, and schedules beside it. The bound is the integer program's. */
#include "core/planner/solver/solve-fit-private.h"
#include <math.h>

#define MOST_WORK 8000000u /* works times predictions of one search */
#define LEAST_EFFORT 150u  /* predictions */
#define MOST_EFFORT 5000u
#define MOST_CHANGED 400000u /* works times changes of a schedule that are tried */
#define MOST_CHANGES 1500u
#define MOST_NODES 1000        /* of the integer program */
#define MOST_NODES_OF_MOVES 20 /* with moves, where one takes long */
#define MOST_FOR_PROGRAM 4000u /* values: above, the program itself takes too long */
#define MOST_FOR_MOVES 400u
#define MOST_LABELS 60000u   /* of the exact search over schedules with copies */
#define ENOUGH 1e-4          /* of a cost: with a price of host memory */
#define MOST_PLANNED 8u      /* answers that are planned until one fits as planned, too */
#define MOST_PLANNED_LATE 2u /* the same where the time is up */
#define LEAST_ROOM 6u        /* 1/64 of the limit is left free then, twice as much for each further one */
#define MOST_ROOMS 5u
/* Of the integer program with a lower limit, when the planner needs more than it thinks. */
#define TRIES 5
#define TRIES_OF_MOVES 2

void
_gantry_solve_init (Solve *solve, SolveProblem *problem, const GantrySolveGoal *goal)
{
  guint effort = MAX (goal->effort, 1);

  *solve = (Solve){ .problem = problem,
                    .goal = goal,
                    .effort = effort * CLAMP (MOST_WORK / (problem->n_steps + 1), LEAST_EFFORT, MOST_EFFORT),
                    .most_for_program = MOST_FOR_PROGRAM,
                    .most_for_moves = MOST_FOR_MOVES };
}

void
_gantry_solve_report (Solve *solve, guint64 limit)
{
  const SolveAnswer *answer = _gantry_solve_fastest (solve->problem, limit);
  g_autoptr (GantryPlacements) placements = NULL;

  if (answer == NULL || answer == solve->reported || solve->goal->better == NULL)
    return;
  solve->reported = answer;
  placements = _gantry_solve_placements (solve->problem, answer->kinds, answer->schedule);
  _gantry_planner_evaluate (solve->problem->planner, placements, answer->limit, solve->problem->prediction);
  solve->goal->better (placements, solve->problem->prediction, _gantry_store_bound (solve->problem, limit, GANTRY_PROOF_PLACEMENTS), solve->goal->user_data);
}

/* What fits without any copy delayed is as good as with that, and needs no limit when it is loaded. */
static const SolveAnswer *
without_limit (SolveProblem *problem, const SolveAnswer *answer, guint64 limit)
{
  const guint64 before = problem->limit;
  const SolveAnswer *free;

  if (answer->limit == 0)
    return answer;
  problem->limit = 0;
  problem->method = answer->method;
  free = _gantry_solve_evaluate_schedule (problem, answer->kinds, answer->schedule);
  problem->limit = before;
  return free->peak <= limit && free->host <= problem->host_limit && !_gantry_solve_is_faster (answer, free) ? free : answer;
}

/* Where what is predicted to fit has no plan that does, answers that leave more of @limit free are next: their values find places. */
static guint64
leave_room (guint64 limit, guint n)
{
  return n == 0 ? limit : limit - (limit >> (LEAST_ROOM - MIN (n - 1, MOST_ROOMS - 1)));
}

/* As _gantry_solve_take_planned(), of the pool alone. Making a plan may take seconds: where the time is up few are made. */
static gboolean
plan_fastest (const Solve *solve, guint64 limit, Planned *planned)
{
  SolveProblem *problem = solve->problem;
  const guint most = problem->cut ? MOST_PLANNED_LATE : MOST_PLANNED;

  for (guint room = 0; room <= MOST_ROOMS; room++)
    for (guint n = 0; n < (room == 0 ? most : 1); n++)
      {
        const SolveAnswer *answer = _gantry_solve_fastest (problem, leave_room (limit, room));

        if (answer == NULL)
          return FALSE;
        if (_gantry_solve_plan (solve, without_limit (problem, answer, limit), limit, planned)
            || (answer->limit != 0 && _gantry_solve_plan (solve, answer, limit, planned)))
          return TRUE;
        /* What one method found by itself is the last that is given up. */
        n -= answer->alone != 0 && !problem->cut;
        ((SolveAnswer *) answer)->peak = MAX (planned->bytes, limit + 1); /* the pool is the problem's own */
      }
  return FALSE;
}

static double
cost_of_plan (const Solve *solve, const Planned *planned)
{
  return _gantry_solve_cost (solve->problem, planned->figures.step_us, planned->figures.host_bytes);
}

gboolean
_gantry_solve_take_planned (const Solve *solve, guint64 limit, Planned *planned)
{
  Planned given;
  const gboolean found = plan_fastest (solve, limit, planned);

  if (!_gantry_store_given (solve->problem, limit, 0, &given))
    return found;
  if (!found || cost_of_plan (solve, &given) < cost_of_plan (solve, planned) * (1 - 1e-9))
    *planned = given;
  return TRUE;
}

/* What nothing need be better than. Where host memory has a price nearly every answer costs more than the work alone, and the price itself
 * is a guess: what is that near to the bound is good enough. */
static double
cost_of_best (const SolveProblem *problem, guint64 limit)
{
  double least = problem->base_us * (1 + 1e-9);

  return problem->host_price > 0 ? MAX (least, _gantry_store_bound (problem, limit, GANTRY_PROOF_PLACEMENTS) * (1 + ENOUGH)) : least;
}

gboolean
_gantry_solve_is_best (const Solve *solve, guint64 limit)
{
  const SolveAnswer *best = _gantry_solve_fastest (solve->problem, limit);
  const double least = cost_of_best (solve->problem, limit);
  Planned planned;

  while (best != NULL && best->cost <= least)
    {
      if (best->planned || _gantry_solve_plan (solve, best, limit, &planned))
        {
          ((SolveAnswer *) best)->planned = TRUE;
          return TRUE;
        }
      ((SolveAnswer *) best)->peak = MAX (planned.bytes, limit + 1);
      best = _gantry_solve_fastest (solve->problem, limit);
    }
  return FALSE;
}

/* By how much the integer program for @limit has to aim lower: by what the planner needs more than it thinks, or, where the copies of
 * @answer make the step wait, by what lies in memory while it is under way, which it does not count. 0: it need not */
static guint64
how_much_lower (SolveProblem *problem, const SolveAnswer *answer, guint64 limit, double bound)
{
  const guint64 before = problem->limit;
  const SolveAnswer *loose;

  if (answer->peak > limit)
    return answer->peak - limit;
  if (answer->limit == 0 || answer->cost <= bound * (1 + 1e-6))
    return 0;
  problem->limit = 0;
  loose = _gantry_solve_evaluate (problem, answer->kinds);
  problem->limit = before;
  return loose->peak > limit ? loose->peak - limit : 0;
}

/* The integer program for @limit, and again for less while that may be better. */
static void
solve_program (Solve *solve, guint64 limit, gboolean moves)
{
  SolveProblem *problem = solve->problem;
  gboolean exact = solve->goal->method == GANTRY_SOLVE_EXACT;
  double gap = exact ? 1e-7 : problem->items->len <= 60 ? 1e-5 : 1e-3;
  guint64 aim = limit;

  problem->method = moves ? "AutoTM" : "integer program";
  for (guint n = 0; n < (moves ? TRIES_OF_MOVES : TRIES) && !_gantry_solve_is_over (problem); n++)
    {
      SolveRelaxed relaxed;
      guint64 lower = 0;
      gboolean found;

      problem->most_nodes = (int) MAX (solve->goal->effort, 1) * (moves ? MOST_NODES_OF_MOVES : MOST_NODES);
      found = moves ? _gantry_solve_autotm (problem, aim, &relaxed) : _gantry_solve_program (problem, aim, gap, &relaxed);
      _gantry_store_note_bound (problem, aim, relaxed.bound, problem->host_price, GANTRY_PROOF_PLACEMENTS);
      _gantry_solve_spend (problem, solve->effort / 4);
      if (found)
        lower = how_much_lower (problem, _gantry_solve_evaluate (problem, relaxed.kinds), limit, relaxed.bound);
      if (found && n == 0)
        _gantry_solve_search (problem, relaxed.kinds, limit);
      _gantry_solve_relaxed_clear (&relaxed);
      _gantry_solve_spend (problem, solve->effort / 4);
      _gantry_solve_report (solve, limit);
      if (lower == 0 || lower >= aim)
        break;
      aim -= lower;
    }
}

gboolean
_gantry_solve_fit_schedules (Solve *solve, guint64 limit)
{
  SolveProblem *problem = solve->problem;
  double us = INFINITY;
  ScheduleOutcome outcome;
  const SolveAnswer *best;
  gboolean all;

  problem->method = "schedule search";
  outcome = _gantry_solve_schedules (problem, limit, &us);
  best = _gantry_solve_fastest (problem, limit);
  /* What loops do with stacks slice by slice is in no schedule. */
  all = outcome != SCHEDULE_GIVEN_UP && !problem->planner->has_stacks && (problem->allowed >> GANTRY_PLACEMENT_OFFLOAD & 1) == 0;
  /* The planner found room where the search's model has none: then the model proves nothing. */
  if (outcome == SCHEDULE_NONE && best != NULL)
    all = FALSE;
  if (all)
    _gantry_store_note_bound (problem, limit, us, 0, GANTRY_PROOF_SCHEDULES);
  _gantry_solve_report (solve, limit);
  return all && (best == NULL) == (outcome == SCHEDULE_NONE);
}

void
_gantry_solve_improve (Solve *solve, guint64 limit)
{
  SolveProblem *problem = solve->problem;
  const SolveAnswer *best = _gantry_solve_fastest (problem, limit);

  if (best == NULL)
    best = _gantry_solve_smallest (problem, INFINITY);
  problem->method = "search";
  _gantry_solve_spend (problem, solve->effort);
  if (best != NULL && !_gantry_solve_is_over (problem))
    _gantry_solve_search (problem, best->kinds, limit);
  _gantry_solve_report (solve, limit);
}

void
_gantry_solve_improve_schedules (Solve *solve, guint64 limit)
{
  SolveProblem *problem = solve->problem;
  const SolveAnswer *best = _gantry_solve_fastest (problem, limit);
  guint n = MAX (solve->goal->effort, 1) * CLAMP (MOST_CHANGED / (problem->n_steps + 1), 100, MOST_CHANGES);
  g_autoptr (ScheduleModel) model = NULL;

  if (best != NULL && best->cost <= _gantry_store_bound (problem, limit, GANTRY_PROOF_SCHEDULES) * (1 + 1e-9))
    return;
  problem->method = "schedule search";
  problem->most_predictions = 0; /* it counts its own changes */
  if (_gantry_solve_is_over (problem))
    return;
  model = _gantry_schedule_model_new (problem);
  _gantry_schedule_search (model, limit, n);
  _gantry_solve_report (solve, limit);
}

void
_gantry_solve_fit_copies (Solve *solve, guint64 limit)
{
  SolveProblem *problem = solve->problem;
  const SolveAnswer *best = _gantry_solve_fastest (problem, limit), *answer = NULL;
  const char *method = problem->method;
  g_autoptr (GArray) entries = g_array_new (FALSE, FALSE, sizeof (GantryScheduleEntry));
  g_autoptr (ScheduleModel) model = NULL;
  ScheduleOutcome outcome;

  problem->most_predictions = 0;
  if ((problem->allowed >> GANTRY_PLACEMENT_OFFLOAD & 1) == 0 || problem->n_steps > SCHEDULE_MOST_EXACT || _gantry_solve_is_over (problem))
    return;
  model = _gantry_schedule_model_new (problem);
  outcome = _gantry_schedule_exact_copies (model, limit, best != NULL ? best->us : G_MAXDOUBLE, MOST_LABELS * MAX (solve->goal->effort, 1), entries);
  problem->method = "every schedule";
  if (outcome == SCHEDULE_FOUND)
    answer = _gantry_schedule_evaluate_copies (model, entries);
  problem->method = method;
  best = _gantry_solve_fastest (problem, limit);
  if (outcome != SCHEDULE_GIVEN_UP && best != NULL && (answer == NULL || answer == best) && model->complete && !problem->planner->has_stacks
      && _gantry_schedule_copies_all (model))
    _gantry_store_note_bound (problem, limit, best->us, 0, GANTRY_PROOF_SCHEDULES);
  _gantry_solve_report (solve, limit);
}

/* Only the integer programs know no schedules. */
static gboolean
fit_by_search (Solve *solve, guint64 limit)
{
  SolveProblem *problem = solve->problem;

  _gantry_solve_spend (problem, solve->effort);
  if (problem->n_steps <= SCHEDULE_MOST_EXACT && _gantry_solve_fit_schedules (solve, limit))
    return TRUE;
  problem->method = "search";
  _gantry_solve_try_known (problem);
  if (problem->n_steps > SCHEDULE_MOST_EXACT && !_gantry_solve_is_best (solve, limit))
    _gantry_solve_fit_schedules (solve, limit);
  if (_gantry_solve_is_best (solve, limit))
    return TRUE;
  _gantry_solve_improve (solve, limit);
  return FALSE;
}

gboolean
_gantry_solve_fit_alone (Solve *solve, guint64 limit)
{
  SolveProblem *problem = solve->problem;
  gboolean moves = solve->goal->method == GANTRY_SOLVE_AUTOTM;

  problem->limit = limit;
  _gantry_store_take (problem);
  if (solve->goal->method == GANTRY_SOLVE_SEARCH)
    {
      if (fit_by_search (solve, limit))
        return TRUE;
      _gantry_solve_improve_schedules (solve, limit);
      return _gantry_solve_is_best (solve, limit);
    }
  _gantry_solve_spend (problem, solve->effort);
  problem->method = "search";
  _gantry_solve_try_known (problem);
  if (problem->items->len <= (moves ? solve->most_for_moves : solve->most_for_program))
    solve_program (solve, limit, moves);
  if (!_gantry_solve_is_best (solve, limit))
    _gantry_solve_improve (solve, limit);
  return _gantry_solve_is_best (solve, limit);
}

void
_gantry_solve_fit_quickly (Solve *solve, guint64 limit)
{
  SolveProblem *problem = solve->problem;

  problem->limit = limit;
  if (fit_by_search (solve, limit) || problem->items->len > solve->most_for_program || _gantry_solve_is_best (solve, limit))
    return;
  solve_program (solve, limit, FALSE);
  if (problem->items->len <= solve->most_for_moves)
    solve_program (solve, limit, TRUE);
}
