/* SPDX-License-Identifier: Apache-2.0 */
/* Searches for a limit: every combination where there are few, else the integer program, its answer as the planner predicts it, and the
 * search around it; schedules beside them. The bound is the integer program's. */
#include "core/memory/solve-fit-private.h"
#include <math.h>

#define MOST_WORK 400000u /* works times changes of a schedule that are tried */
/* Of the integer program with a lower limit, when the planner needs more than it thinks. */
#define TRIES 5

/* Answers of earlier goals, as placements: they begin the pool of the next. */

/* Works of a schedule. (transfer full) (nullable): it has none */
static GBytes *
schedule_of (const SolveProblem *problem, const GantryPlacements *placements)
{
  const Program *program = problem->planner->program;
  const GArray *nodes = placements->schedule;
  guint32 *works = nodes != NULL ? g_new (guint32, nodes->len + 1) : NULL;

  for (guint i = 0; nodes != NULL && i < nodes->len; i++)
    {
      const GantryNode *node = gantry_module_node (program->module,
                                                   g_array_index (nodes, guint32, i));

      works[i] = problem->planner->work_at[gantry_module_position (program->module, node)
                                           - program->function->first_node];
    }
  return nodes != NULL ? g_bytes_new_take (works, nodes->len * sizeof *works) : NULL;
}

void
_gantry_solve_take_earlier (SolveProblem *problem)
{
  GPtrArray *earlier = problem->planner->solved;
  g_autofree guint8 *kinds = g_new0 (guint8, problem->items->len + 1);
  guint64 limit = problem->limit;

  for (guint s = 0; earlier != NULL && s < earlier->len; s++)
    {
      const SolveEarlier *before = g_ptr_array_index (earlier, s);
      g_autoptr (GBytes) schedule = NULL;
      gboolean fits = TRUE;

      for (guint i = 0; i < problem->items->len; i++)
        {
          const SolveItem *item = ITEM (problem, i);

          kinds[i] = (guint8) gantry_placements_kind (before->placements, item->node);
          fits = fits && (item->allowed >> kinds[i] & 1) != 0;
        }
      schedule = schedule_of (problem, before->placements);
      if (!fits || (schedule != NULL && (problem->allowed >> GANTRY_PLACEMENT_RECOMPUTE & 1) == 0))
        continue;
      /* As it was answered then, and as it would be for this goal. */
      problem->limit = before->limit;
      _gantry_solve_ask_schedule (problem, kinds, schedule);
      problem->limit = limit;
      _gantry_solve_ask_schedule (problem, kinds, schedule);
    }
}

static void
earlier_free (gpointer data)
{
  gantry_placements_unref (((SolveEarlier *) data)->placements);
  g_free (data);
}

void
_gantry_solve_remember (SolveProblem *problem, GantryPlacements *placements, guint64 limit)
{
  GPtrArray **earlier = &problem->planner->solved;
  SolveEarlier *entry;

  if (*earlier == NULL)
    *earlier = g_ptr_array_new_with_free_func (earlier_free);
  for (guint s = 0; s < (*earlier)->len; s++)
    {
      entry = g_ptr_array_index (*earlier, s);
      if (entry->limit == limit && gantry_placements_equal (entry->placements, placements))
        return;
    }
  entry = g_new0 (SolveEarlier, 1);
  entry->placements = gantry_placements_ref (placements);
  entry->limit = limit;
  g_ptr_array_add (*earlier, entry);
}

/* Fit into */

static void
tell (Solve *solve, const SolveAnswer *answer)
{
  g_autoptr (GantryPlacements) placements = NULL;

  if (answer == NULL || answer == solve->told || solve->goal->better == NULL)
    return;
  solve->told = answer;
  placements = _gantry_solve_placements (solve->problem, answer->kinds, answer->schedule);
  _gantry_planner_ask (solve->problem->planner, placements, answer->limit,
                       solve->problem->prediction);
  solve->goal->better (placements, solve->problem->prediction, solve->bound,
                       solve->goal->user_data);
}

/* The search for a part of the time that is left. */
static void
search_for (Solve *solve, const guint8 *kinds, guint64 limit, double part)
{
  gint64 end = _gantry_solve_narrow (solve->problem, part);

  if (!_gantry_solve_is_over (solve->problem))
    _gantry_solve_search (solve->problem, kinds, limit);
  solve->problem->deadline = end;
}

/* The integer program for @limit, and again for less while the planner's prediction says more than @limit. */
static void
solve_program (Solve *solve, guint64 limit, gboolean moves)
{
  SolveProblem *problem = solve->problem;
  gboolean exact = solve->goal->method == GANTRY_SOLVE_EXACT;
  double gap = exact ? 1e-7 : problem->items->len <= 60 ? 1e-5 : 1e-3;
  guint64 aim = limit;

  for (guint n = 0; n < TRIES && !_gantry_solve_is_over (problem); n++)
    {
      SolveRelaxed relaxed;
      const SolveAnswer *answer = NULL;
      double seconds = _gantry_solve_seconds_left (problem) * (exact ? 0.9 : 0.25);
      gboolean found = moves ? _gantry_solve_autotm (problem, aim, seconds, &relaxed)
                             : _gantry_solve_program (problem, aim, gap, seconds, &relaxed);

      if (n == 0)
        solve->bound = MAX (solve->bound, relaxed.bound);
      if (found)
        answer = _gantry_solve_ask (problem, relaxed.kinds);
      if (found && n == 0)
        search_for (solve, relaxed.kinds, limit, 0.25);
      _gantry_solve_relaxed_clear (&relaxed);
      tell (solve, _gantry_solve_fastest (problem, limit));
      if (answer == NULL || answer->peak <= limit || answer->peak - limit >= aim)
        break;
      aim -= answer->peak - limit;
    }
}

/* Only the integer programs alone know no schedules. */
static gboolean
finds_schedules (const Solve *solve)
{
  return solve->goal->method == GANTRY_SOLVE_AUTO || solve->goal->method == GANTRY_SOLVE_SEARCH;
}

/* Schedules into the pool. Returns: TRUE where nothing can be better: it was the best of all, and nothing could be offloaded */
static gboolean
fit_schedules (Solve *solve, guint64 limit)
{
  SolveProblem *problem = solve->problem;
  double us = INFINITY;
  ScheduleOutcome outcome = _gantry_solve_schedules (problem, limit, &us);
  const SolveAnswer *best = _gantry_solve_fastest (problem, limit);
  gboolean all = outcome != SCHEDULE_GIVEN_UP
                 && (problem->allowed >> GANTRY_PLACEMENT_OFFLOAD & 1) == 0;

  /* The planner found room where the search's model has none: then the model proves nothing. */
  if (outcome == SCHEDULE_NONE && best != NULL)
    all = FALSE;
  if (all)
    {
      solve->least_us = us;
      solve->method = "every schedule";
    }
  if (all || (best != NULL && best->us <= problem->base_us * (1 + 1e-9)))
    tell (solve, best);
  return all && (best == NULL) == (outcome == SCHEDULE_NONE);
}

/* The search over schedules and moves together, where nothing is known to be the best. */
static void
improve_schedules (Solve *solve, guint64 limit)
{
  SolveProblem *problem = solve->problem;
  const SolveAnswer *best = _gantry_solve_fastest (problem, limit);
  g_autoptr (ScheduleModel) model = NULL;

  if (!finds_schedules (solve) || (best != NULL && best->us <= solve->least_us * (1 + 1e-9))
      || _gantry_solve_is_over (problem))
    return;
  model = _gantry_schedule_model_new (problem);
  _gantry_schedule_search (model, limit, CLAMP (MOST_WORK / (problem->n_steps + 1), 100, 4000));
}

/* The fastest answer of the pool that the items allow as they are now; where none fits, the smallest. */
static const SolveAnswer *
best_allowed (const SolveProblem *problem, guint64 limit)
{
  const SolveAnswer *best = NULL;

  for (guint a = 0; a < problem->pool->len; a++)
    {
      const SolveAnswer *answer = g_ptr_array_index (problem->pool, a);
      gboolean allowed = answer->schedule == NULL;

      for (guint i = 0; i < problem->items->len && allowed; i++)
        allowed = (ITEM (problem, i)->allowed >> answer->kinds[i] & 1) != 0;
      if (!allowed || answer->host > problem->host_limit)
        continue;
      if (best == NULL
          || (answer->peak <= limit
              && (best->peak > limit || _gantry_solve_is_faster (answer, best)))
          || (answer->peak < best->peak && best->peak > limit))
        best = answer;
    }
  return best;
}

/* Schedules of a program that is too large for all of them, for a part of the time that is left. */
static void
evict_for (Solve *solve, guint64 limit, double part)
{
  gint64 end = _gantry_solve_narrow (solve->problem, part);
  double us;

  if (!_gantry_solve_is_over (solve->problem))
    _gantry_solve_schedules (solve->problem, limit, &us);
  solve->problem->deadline = end;
}

/* What the search finds with fewer kinds of placement is an answer with all of them, and it may be one that the wider search passes
 * by. The bound is not that of all placements, and is not taken. */
static void
fit_restricted (Solve *solve, guint64 limit, GantryPlacementKind kind)
{
  SolveProblem *problem = solve->problem;
  g_autofree guint8 *allowed = g_new (guint8, problem->items->len + 1);
  const SolveAnswer *best;
  SolveRelaxed relaxed = { 0 };
  gboolean any = FALSE;

  for (guint i = 0; i < problem->items->len; i++)
    {
      allowed[i] = ITEM (problem, i)->allowed;
      ITEM (problem, i)->allowed &= (guint8) (1u << GANTRY_PLACEMENT_KEEP | 1u << kind);
      any |= ITEM (problem, i)->allowed != allowed[i];
    }
  if (any)
    {
      _gantry_solve_try_known (problem);
      if (problem->items->len <= solve->most_for_program
          && _gantry_solve_program (problem, limit, 1e-3, _gantry_solve_seconds_left (problem) * 0.2, &relaxed))
        _gantry_solve_ask (problem, relaxed.kinds);
      _gantry_solve_relaxed_clear (&relaxed);
      best = best_allowed (problem, limit);
      if (best != NULL)
        search_for (solve, best->kinds, limit, 0.3);
    }
  for (guint i = 0; i < problem->items->len; i++)
    ITEM (problem, i)->allowed = allowed[i];
}

/* Nothing can be faster than the work alone. */
static gboolean
is_best (const Solve *solve, guint64 limit)
{
  const SolveAnswer *best = _gantry_solve_fastest (solve->problem, limit);

  return best != NULL && best->us <= solve->problem->base_us * (1 + 1e-9);
}

void
_gantry_solve_fit (Solve *solve, guint64 limit)
{
  SolveProblem *problem = solve->problem;
  const SolveAnswer *best;
  double of_placements;

  problem->limit = limit;
  solve->bound = solve->least_us = problem->base_us;
  _gantry_solve_take_earlier (problem);
  if (finds_schedules (solve) && problem->n_steps <= SCHEDULE_MOST_EXACT
      && fit_schedules (solve, limit))
    return;
  if (solve->goal->method == GANTRY_SOLVE_AUTO
      && _gantry_solve_enumerate (problem, SOLVE_MOST_ENUMERATED))
    {
      best = _gantry_solve_fastest (problem, limit);
      of_placements = best != NULL && best->schedule == NULL ? best->us : problem->base_us;
      improve_schedules (solve, limit);
      best = _gantry_solve_fastest (problem, limit);
      solve->method = best != NULL && best->schedule != NULL ? "search" : "every combination";
      solve->bound = of_placements;
      tell (solve, best);
      return;
    }
  _gantry_solve_try_known (problem);
  tell (solve, _gantry_solve_fastest (problem, limit));
  if (solve->goal->method != GANTRY_SOLVE_SEARCH && problem->items->len <= solve->most_for_program)
    {
      solve->method = solve->goal->method == GANTRY_SOLVE_AUTOTM ? "AutoTM" : "integer program";
      solve_program (solve, limit, solve->goal->method == GANTRY_SOLVE_AUTOTM);
      /* Where copies wait, the program with moves knows the link better. */
      if (solve->goal->method == GANTRY_SOLVE_AUTO && !_gantry_solve_is_over (problem)
          && problem->items->len <= solve->most_for_moves && !is_best (solve, limit))
        solve_program (solve, limit, TRUE);
    }
  if (finds_schedules (solve) && problem->n_steps > SCHEDULE_MOST_EXACT && !is_best (solve, limit))
    evict_for (solve, limit, 0.3);
  for (guint kind = GANTRY_PLACEMENT_RECOMPUTE; kind < GANTRY_N_PLACEMENTS; kind++)
    if (solve->goal->method == GANTRY_SOLVE_AUTO && !is_best (solve, limit)
        && !_gantry_solve_is_over (problem))
      fit_restricted (solve, limit, (GantryPlacementKind) kind);
  best = _gantry_solve_fastest (problem, limit);
  if (best == NULL)
    best = _gantry_solve_smallest (problem, INFINITY);
  if (best != NULL && !_gantry_solve_is_over (problem))
    _gantry_solve_search (problem, best->kinds, limit);
  improve_schedules (solve, limit);
  tell (solve, _gantry_solve_fastest (problem, limit));
}
