/* SPDX-License-Identifier: Apache-2.0 */
/* All methods together: each searches by itself, in a pool of its own and with the effort that it has where it is asked for alone, and so
 * does everything with fewer kinds of placement. The best of each begin the pool in which the search goes on. What is found so is
 * never worse than any of them, for it is chosen among their answers, which one planner has predicted. */
#include "core/planner/solver/solve-fit-private.h"
#include <math.h>

#define MOST_TAKEN 8u /* of a method's answers: as many as it would plan by itself */

static int
compare_answers (gconstpointer a, gconstpointer b)
{
  const SolveAnswer *x = *(SolveAnswer *const *) a, *y = *(SolveAnswer *const *) b;

  return _gantry_solve_is_faster (x, y) ? -1 : _gantry_solve_is_faster (y, x);
}

/* One answer of @from into the pool of @problem, whose items are those of @from and perhaps more. */
static void
take_answer (SolveProblem *problem, const SolveProblem *from, const SolveAnswer *answer)
{
  g_autofree guint8 *kinds = g_new0 (guint8, problem->items->len + 1);
  const guint64 limit = problem->limit;
  const char *method = problem->method;
  const SolveAnswer *taken;

  for (guint i = 0, k = 0; i < problem->items->len && k < from->items->len; i++)
    if (ITEM (problem, i)->node == ITEM (from, k)->node)
      kinds[i] = answer->kinds[k++];
  problem->limit = answer->limit;
  problem->method = answer->method;
  taken = _gantry_solve_evaluate_schedule (problem, kinds, answer->schedule);
  ((SolveAnswer *) taken)->alone = TRUE; /* the pool is the problem's own */
  problem->limit = limit;
  problem->method = method;
}

static void
take_answers (SolveProblem *problem, const SolveProblem *from, guint64 limit)
{
  g_autoptr (GPtrArray) fit = g_ptr_array_new ();
  const SolveAnswer *smallest = _gantry_solve_smallest (from, INFINITY);

  for (guint a = 0; a < from->pool->len; a++)
    {
      const SolveAnswer *answer = g_ptr_array_index (from->pool, a);

      if (answer->peak <= limit && answer->host <= from->host_limit)
        g_ptr_array_add (fit, (gpointer) answer);
    }
  g_ptr_array_sort (fit, compare_answers);
  for (guint a = 0; a < MIN (fit->len, MOST_TAKEN); a++)
    take_answer (problem, from, g_ptr_array_index (fit, a));
  if (smallest != NULL && fit->len == 0)
    take_answer (problem, from, smallest);
}

/* @method with @allowed kinds by itself. Returns: TRUE where nothing can be better */
static gboolean
run_alone (Solve *solve, guint64 limit, GantrySolveMethod method, guint allowed)
{
  SolveProblem *problem = solve->problem;
  g_autoptr (SolveProblem) own = _gantry_solve_problem_new (problem->planner, problem->base, allowed, problem->progress);
  GantrySolveGoal goal = *solve->goal;
  Solve alone;

  goal.method = method;
  goal.allowed = allowed;
  goal.better = NULL;
  own->deadline = problem->deadline;
  own->host_price = problem->host_price;
  _gantry_solve_init (&alone, own, &goal);
  alone.effort = solve->effort;
  alone.most_for_program = solve->most_for_program;
  alone.most_for_moves = solve->most_for_moves;
  _gantry_solve_fit (&alone, limit);
  take_answers (problem, own, limit);
  problem->cut = problem->cut || own->cut;
  problem->n_predictions += own->n_predictions;
  _gantry_solve_report (solve, limit);
  return _gantry_solve_is_best (solve, limit) || gantry_progress_cancelled (problem->progress, NULL);
}

/* Returns: TRUE where all placements were looked at */
static gboolean
enumerate (Solve *solve, guint64 limit)
{
  SolveProblem *problem = solve->problem;
  const SolveAnswer *best;

  problem->method = "every combination";
  problem->most_predictions = 0;
  if (!_gantry_solve_enumerate (problem, SOLVE_MOST_ENUMERATED))
    return FALSE;
  best = _gantry_solve_fastest (problem, limit);
  if (best != NULL && best->schedule == NULL)
    _gantry_store_note_bound (problem, limit, best->cost, problem->host_price, GANTRY_PROOF_PLACEMENTS);
  return TRUE;
}

/* Freedoms: what the user allows or does not. */
static const guint freedoms[] = { 1u << GANTRY_PLACEMENT_RECOMPUTE, 1u << GANTRY_PLACEMENT_OFFLOAD, GANTRY_APPROXIMATE_PLACEMENTS };

/* How many of them there are. */
static guint
count_freedoms (const Solve *solve)
{
  guint n = 0;

  for (guint f = 0; f < G_N_ELEMENTS (freedoms); f++)
    n += (solve->problem->allowed & freedoms[f]) != 0;
  return n;
}

/* Everything with one freedom less, which does the same. Returns: TRUE where nothing can be better */
static gboolean
run_restricted (Solve *solve, guint64 limit)
{
  guint allowed = solve->problem->allowed;

  for (guint f = G_N_ELEMENTS (freedoms); f-- > 0;)
    if ((allowed & freedoms[f]) != 0 && run_alone (solve, limit, GANTRY_SOLVE_AUTO, 1u << GANTRY_PLACEMENT_KEEP | (allowed & ~freedoms[f])))
      return TRUE;
  return FALSE;
}

static gboolean
may (const Solve *solve, GantryPlacementKind kind)
{
  return (solve->problem->allowed >> kind & 1) != 0;
}

static void
fit_together (Solve *solve, guint64 limit)
{
  SolveProblem *problem = solve->problem;
  gboolean several = count_freedoms (solve) > 1, all;

  problem->limit = limit;
  _gantry_store_take (problem);
  if (!several && problem->n_steps <= SCHEDULE_MOST_EXACT && _gantry_solve_fit_schedules (solve, limit))
    return;
  all = enumerate (solve, limit);
  if (_gantry_solve_is_best (solve, limit))
    return;
  if (!all && run_alone (solve, limit, GANTRY_SOLVE_EXACT, problem->allowed))
    return;
  /* With several kinds it is a part of what may only offload. */
  if (!all && !several && may (solve, GANTRY_PLACEMENT_OFFLOAD) && run_alone (solve, limit, GANTRY_SOLVE_AUTOTM, problem->allowed))
    return;
  if (several && run_restricted (solve, limit))
    return;
  if (run_alone (solve, limit, GANTRY_SOLVE_SEARCH, problem->allowed))
    return;
  _gantry_solve_improve (solve, limit);
  if (!_gantry_solve_is_best (solve, limit))
    _gantry_solve_improve_schedules (solve, limit);
  if (!_gantry_solve_is_best (solve, limit))
    _gantry_solve_fit_copies (solve, limit);
}

void
_gantry_solve_fit (Solve *solve, guint64 limit)
{
  if (solve->goal->method == GANTRY_SOLVE_AUTO)
    fit_together (solve, limit);
  else
    _gantry_solve_fit_alone (solve, limit);
}
