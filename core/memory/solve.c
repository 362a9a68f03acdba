/* SPDX-License-Identifier: Apache-2.0 */
/* From a goal to an answer: for a limit of memory, for a limit of time by halving limits of memory, and for the front. */
#include "core/memory/solve-fit-private.h"
#include <math.h>

#define SECONDS 4.0     /* where the goal names none */
#define MOST_PLANNED 8u /* answers that are planned until one fits as planned, too */

/* "At most @us, smallest": the limit is halved in until the fastest answer for it is too slow. */
static void
shrink (Solve *solve)
{
  SolveProblem *problem = solve->problem;
  guint64 low = 0, high = problem->base_peak;
  double us = solve->goal->step_us;
  gint64 end = problem->deadline;

  for (guint n = 0; n < 10 && !_gantry_solve_is_over (problem) && high - low > high / 500; n++)
    {
      guint64 middle = low + (high - low) / 2;
      const SolveAnswer *best;

      if (end != 0)
        problem->deadline = g_get_monotonic_time () + (end - g_get_monotonic_time ()) / 4;
      _gantry_solve_fit (solve, middle);
      problem->deadline = end;
      best = _gantry_solve_smallest (problem, us);
      if (solve->bound > us)
        low = middle; /* no placement can */
      if (best != NULL && best->peak <= middle)
        high = best->peak;
      else
        low = middle;
    }
  solve->bound = (double) low;
}

/* "Fit into": refused where the least does not fit, and only there. */
static GantrySolution *
solve_memory (Solve *solve, guint64 limit, gint64 begin, GError **error)
{
  SolveProblem *problem = solve->problem;
  const SolveLeast *least = NULL;
  Planned planned;

  problem->limit = limit;
  _gantry_solve_try_known (problem);
  if (_gantry_solve_fastest (problem, limit) == NULL)
    {
      gint64 asked = g_get_monotonic_time ();

      least = _gantry_solve_least (problem);
      problem->deadline += g_get_monotonic_time () - asked;
    }
  if (least == NULL || least->bytes <= limit)
    _gantry_solve_fit (solve, limit);
  for (guint n = 0; n < MOST_PLANNED; n++)
    {
      const SolveAnswer *answer = least == NULL || least->bytes <= limit
                                    ? _gantry_solve_fastest (problem, limit)
                                    : NULL;

      if (answer == NULL)
        break;
      if (_gantry_solve_plan (solve, answer, limit, &planned))
        return _gantry_solution_new (solve, &planned, begin);
      ((SolveAnswer *) answer)->peak = MAX (planned.bytes,
                                            limit + 1); /* the pool is the problem's own */
    }
  if (least == NULL)
    least = _gantry_solve_least (problem);
  if (least == NULL)
    {
      gantry_progress_cancelled (problem->progress, error);
      return NULL;
    }
  if (least->kinds == NULL || least->bytes > limit)
    {
      _gantry_solve_refuse (solve, least, error);
      return NULL;
    }
  planned = _gantry_solve_planned_least (least);
  return _gantry_solution_new (solve, &planned, begin);
}

static GantrySolution *
solve_time (Solve *solve, gint64 begin, GError **error)
{
  const SolveAnswer *answer;
  Planned planned;

  shrink (solve);
  /* What was found for a limit may have no plan, or none in time: then the next smallest, at last that which keeps all. */
  for (guint n = 0; n <= solve->problem->pool->len; n++)
    {
      answer = _gantry_solve_smallest (solve->problem, solve->goal->step_us);
      if (answer == NULL)
        break;
      if (_gantry_solve_plan (solve, answer, 0, &planned)
          && planned.figures.step_us <= solve->goal->step_us * (1 + 1e-6))
        return _gantry_solution_new (solve, &planned, begin);
      ((SolveAnswer *) answer)->us = INFINITY; /* the pool is the problem's own */
    }
  if (!gantry_progress_cancelled (solve->problem->progress, error))
    g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_NO_MEMORY,
                 "no placement takes at most %.3f ms: the work alone takes %.3f ms",
                 solve->goal->step_us / 1000, solve->problem->base_us / 1000);
  return NULL;
}

GantrySolution *
gantry_solve (GantryPlanner *planner, const GantrySolveGoal *goal, const GantryPlacements *base,
              const GantryProgress *progress, GError **error)
{
  gint64 begin = g_get_monotonic_time ();
  g_autoptr (SolveProblem) problem = NULL;
  Solve solve = { .goal = goal, .method = "search" };

  if ((goal->memory_bytes != 0) == (goal->step_us > 0))
    {
      g_set_error (
        error, GANTRY_ERROR, GANTRY_ERROR_INVALID,
        "say what to search for: placements that fit into at least one byte, or that take a time above 0, not both");
      return NULL;
    }
  solve.problem = problem = _gantry_solve_problem_new (
    planner, base,
    (goal->allowed != 0 ? goal->allowed : 7u) & (goal->method == GANTRY_SOLVE_AUTOTM ? ~2u : ~0u),
    progress);
  solve.least_us = problem->base_us;
  problem->deadline = begin
                      + (gint64) ((goal->seconds > 0 ? goal->seconds : SECONDS) * G_USEC_PER_SEC);
  return goal->memory_bytes != 0 ? solve_memory (&solve, goal->memory_bytes, begin, error)
                                 : solve_time (&solve, begin, error);
}

/* The front */

static int
compare_peak (gconstpointer a, gconstpointer b)
{
  const GantrySolution *x = *(GantrySolution *const *) a, *y = *(GantrySolution *const *) b;

  return x->figures.peak_bytes > y->figures.peak_bytes
           ? -1
           : x->figures.peak_bytes < y->figures.peak_bytes;
}

/* What another point beats in both is left out. */
static GPtrArray *
keep_front (GPtrArray *points)
{
  GPtrArray *front = g_ptr_array_new_with_free_func ((GDestroyNotify) gantry_solution_free);

  g_ptr_array_sort (points, compare_peak);
  for (guint i = 0; i < points->len; i++)
    {
      GantrySolution *point = g_ptr_array_index (points, i);
      gboolean dominated = FALSE;

      for (guint j = 0; j < points->len && !dominated; j++)
        {
          const GantrySolution *other = g_ptr_array_index (points, j);

          if (j == i || other == NULL)
            continue;
          dominated = other->figures.peak_bytes <= point->figures.peak_bytes
                      && other->figures.step_us <= point->figures.step_us
                      && (other->figures.peak_bytes < point->figures.peak_bytes
                          || other->figures.step_us < point->figures.step_us || j < i);
        }
      if (!dominated)
        g_ptr_array_add (front, g_memdup2 (point, sizeof *point));
      if (!dominated)
        gantry_placements_ref (point->placements);
    }
  return front;
}

GPtrArray *
gantry_solve_front (GantryPlanner *planner, guint n_points, const GantryPlacements *base,
                    double seconds, const GantryProgress *progress, GError **error)
{
  g_autoptr (GPtrArray)
    points = g_ptr_array_new_with_free_func ((GDestroyNotify) gantry_solution_free);
  g_autoptr (SolveProblem) problem = _gantry_solve_problem_new (planner, base, 7u, progress);
  Solve solve = { .problem = problem,
                  .goal = &(GantrySolveGoal){ .memory_bytes = 1 },
                  .method = "search",
                  .least_us = problem->base_us };
  const SolveLeast *least = _gantry_solve_least (problem);
  guint64 low, high = problem->base_peak;
  Planned planned;

  n_points = MAX (n_points, 2);
  if (gantry_progress_cancelled (progress, error) || least == NULL)
    return NULL;
  if (least->kinds == NULL)
    {
      _gantry_solve_refuse (&solve, least, error);
      return NULL;
    }
  low = least->bytes;
  solve.bound = problem->base_us;
  planned = _gantry_solve_planned_least (least);
  g_ptr_array_add (points, _gantry_solution_new (&solve, &planned, g_get_monotonic_time ()));
  /* From the smallest up: what fits into less is known when more is asked for. */
  for (guint k = 0; k < n_points; k++)
    {
      GantrySolveGoal goal = {
        .memory_bytes = low + (guint64) ((double) (high - low) * k / (n_points - 1)),
        .seconds = MAX (seconds, 0.1) / n_points
      };
      GantrySolution *point = gantry_solve (planner, &goal, base, progress, NULL);

      if (gantry_progress_cancelled (progress, error))
        return NULL;
      gantry_progress_report (progress, (double) (k + 1) / n_points, "finding the front");
      if (point != NULL)
        g_ptr_array_add (points, point);
    }
  return keep_front (points);
}
