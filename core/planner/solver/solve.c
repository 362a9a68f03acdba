/* SPDX-License-Identifier: Apache-2.0 */
/* From a goal to an answer: for a limit of memory, for a limit of time by halving limits of memory, and for the front. */
#include "core/planner/solver/solve.h"
#include "core/planner/solver/solve-fit-private.h"
#include <math.h>

#define ALL_KINDS GANTRY_EXACT_PLACEMENTS
#define MOST_HALVED 10u  /* limits that are tried for a time */
#define PART 4u          /* of the effort of a limit that is asked for by itself */
#define MOST_BELOW 1000u /* works: of a larger program nothing below a goal is searched for */
#define N_BELOW 2u       /* sizes */
#define FEW_DIGITS 5u    /* of two, of such a size */
#define GIB 1073741824.0
#define MOST_SECONDS 1e9
#define MOST_PRICE 1e12 /* us a GiB: of host memory */

/* What the integer program says of @limit is a bound: perhaps that no placement within it takes at most @us. That none was found says
 * nothing. */
static void
bound_within (const Solve *solve, guint64 limit, double us)
{
  SolveProblem *problem = solve->problem;
  SolveRelaxed relaxed = { 0 };

  if (limit == 0 || problem->items->len > solve->most_for_program || _gantry_store_size_bound (problem, us) > limit || _gantry_solve_is_over (problem))
    return;
  _gantry_solve_program (problem, limit, 1e-7, &relaxed);
  _gantry_solve_relaxed_clear (&relaxed);
  _gantry_store_note_bound (problem, limit, relaxed.bound, problem->host_price, GANTRY_PROOF_PLACEMENTS);
}

/* "At most @us, smallest": the limit is halved in until the fastest answer for it is too slow. */
static void
shrink (Solve *solve, const SolveLeast *least)
{
  SolveProblem *problem = solve->problem;
  /* Nothing is looked for below the least: what a time leads to, a goal of that size reaches as well. */
  guint64 low = least->bytes - 1, high = MAX (problem->base_peak, least->bytes);
  double us = solve->goal->step_us;
  const SolveAnswer *best = _gantry_solve_smallest (problem, us);

  if (best != NULL)
    high = MAX (MIN (high, best->peak), least->bytes);
  solve->effort /= PART;
  for (guint n = 0; n < MOST_HALVED && !problem->cut && high - low > high / 500; n++)
    {
      guint64 middle = low + (high - low) / 2;

      if (gantry_progress_cancelled (problem->progress, NULL))
        break;
      _gantry_solve_fit (solve, middle);
      best = _gantry_solve_smallest (problem, us);
      if (best != NULL && best->peak <= middle)
        high = best->peak;
      else
        low = middle;
      if (low == middle)
        bound_within (solve, middle, us);
    }
  problem->most_predictions = 0;
  best = _gantry_solve_smallest (problem, us);
  if (best != NULL)
    bound_within (solve, best->peak - 1, us);
}

/* The next size below @bytes that has five digits of two. */
static guint64
round_below (guint64 bytes)
{
  guint digits = g_bit_storage (bytes - 1);
  guint shift = digits > FEW_DIGITS ? digits - FEW_DIGITS : 0;

  return (bytes - 1) >> shift << shift;
}

/* What fits into less fits as well, and a search that aims at less may come by what is faster. So that a goal with more room has what one
 * with less has, it searches for the round sizes next below; where nothing is found for those, what the search for the least comes by,
 * which is the same for every goal. */
static void
look_below (Solve *solve, guint64 limit)
{
  SolveProblem *problem = solve->problem;
  guint64 below = limit;

  if (solve->goal->method != GANTRY_SOLVE_AUTO || problem->n_steps > MOST_BELOW)
    return;
  for (guint n = 0; n < N_BELOW && below > 1 && !_gantry_solve_is_best (solve, limit); n++)
    {
      g_autoptr (SolveProblem) own = _gantry_solve_problem_new (problem->planner, problem->base, problem->allowed, problem->progress);
      GantrySolveGoal goal = *solve->goal;
      Solve less;

      problem->most_predictions = 0;
      if (_gantry_solve_is_over (problem))
        return;
      goal.better = NULL;
      below = round_below (below);
      own->deadline = problem->deadline;
      own->host_price = problem->host_price;
      _gantry_solve_init (&less, own, &goal);
      if (below >= _gantry_solve_floor (own))
        _gantry_solve_fit (&less, below);
      problem->n_predictions += own->n_predictions;
      problem->cut = problem->cut || own->cut;
      if (_gantry_solve_fastest (own, below) == NULL)
        {
          _gantry_solve_least (problem, problem->deadline);
          n = N_BELOW;
        }
      _gantry_store_note_pool (own);
      _gantry_store_take (problem);
    }
}

/* "Fit into": refused where nothing was found by the search that every goal has, and the least that is known does not fit either. */
static GantrySolution *
solve_memory (Solve *solve, guint64 limit, gint64 begin, GError **error)
{
  SolveProblem *problem = solve->problem;
  const SolveLeast *least;
  Planned planned;

  problem->limit = limit;
  if (limit >= _gantry_solve_floor (problem))
    {
      _gantry_solve_fit (solve, limit);
      look_below (solve, limit);
    }
  else
    _gantry_store_note_bound (problem, _gantry_solve_floor (problem) - 1, INFINITY, 0, GANTRY_PROOF_SCHEDULES);
  _gantry_store_note_pool (problem);
  if (_gantry_solve_take_planned (solve, limit, &planned))
    return _gantry_solution_new (solve, &planned, begin);
  least = _gantry_solve_least (problem, problem->deadline);
  if (least == NULL)
    {
      gantry_progress_cancelled (problem->progress, error);
      return NULL;
    }
  _gantry_store_take (problem);
  if (_gantry_solve_take_planned (solve, limit, &planned))
    return _gantry_solution_new (solve, &planned, begin);
  if (least->kinds == NULL || least->bytes > limit)
    {
      _gantry_solve_refuse (solve, least, error);
      return NULL;
    }
  planned = _gantry_solve_planned_least (least);
  return _gantry_solution_new (solve, &planned, begin);
}

/* The smallest answer in time whose plan is, too: of the pool, or given before. What was found for a limit may have no plan, or none in
 * time: then the next smallest, at last that which keeps all. */
static gboolean
take_smallest (Solve *solve, Planned *planned)
{
  const double us = solve->goal->step_us;
  gboolean found = FALSE;
  Planned given;

  for (guint n = 0; n <= solve->problem->pool->len && !found; n++)
    {
      const SolveAnswer *answer = _gantry_solve_smallest (solve->problem, us);

      if (answer == NULL)
        break;
      found = _gantry_solve_plan (solve, answer, 0, planned) && planned->figures.step_us <= us * (1 + 1e-6);
      if (!found)
        ((SolveAnswer *) answer)->us = INFINITY; /* the pool is the problem's own */
    }
  if (!_gantry_store_given (solve->problem, 0, us, &given))
    return found;
  if (!found || given.bytes < planned->bytes)
    *planned = given;
  return TRUE;
}

static GantrySolution *
solve_time (Solve *solve, gint64 begin, GError **error)
{
  const gint64 end = solve->problem->deadline;
  /* Half of the time: what is asked for is not the least. */
  const SolveLeast *least = _gantry_solve_least (solve->problem, end != 0 ? begin + (end - begin) / 2 : 0);
  const gboolean cut = solve->problem->cut;
  GantrySolution *solution;
  Planned planned;

  if (least == NULL)
    {
      gantry_progress_cancelled (solve->problem->progress, error);
      return NULL;
    }
  solve->problem->cut = FALSE; /* that was its own end */
  _gantry_solve_try_known (solve->problem);
  _gantry_store_take (solve->problem);
  if (least->kinds != NULL)
    {
      shrink (solve, least);
      solve->problem->limit = least->limit;
      _gantry_solve_evaluate_schedule (solve->problem, least->kinds, least->schedule);
    }
  _gantry_store_note_pool (solve->problem);
  solve->problem->cut = solve->problem->cut || cut;
  solution = take_smallest (solve, &planned) ? _gantry_solution_new (solve, &planned, begin) : NULL;
  if (solution != NULL)
    return solution;
  if (!gantry_progress_cancelled (solve->problem->progress, error))
    g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_NO_MEMORY, "no placement takes at most %.3f ms: the work alone takes %.3f ms", solve->goal->step_us / 1000,
                 solve->problem->base_us / 1000);
  return NULL;
}

GantrySolution *
gantry_solve (GantryPlanner *planner, const GantrySolveGoal *goal, const GantryPlacements *base, const GantryProgress *progress, GError **error)
{
  gint64 begin = g_get_monotonic_time ();
  g_autoptr (SolveProblem) problem = NULL;
  Solve solve;

  if (!(goal->host_price >= 0) || goal->host_price > MOST_PRICE)
    {
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "the price of host memory is from 0 to %g ms a GiB", MOST_PRICE / 1000);
      return NULL;
    }
  if ((goal->memory_bytes != 0) == (goal->step_us > 0))
    {
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID,
                   "say what to search for: placements that fit into at least one byte, or that take a time above 0, not both");
      return NULL;
    }
  problem = _gantry_solve_problem_new (planner, base,
                                       (goal->allowed != 0 ? goal->allowed : ALL_KINDS)
                                         & (goal->method == GANTRY_SOLVE_AUTOTM ? ~(1u << GANTRY_PLACEMENT_RECOMPUTE | GANTRY_APPROXIMATE_PLACEMENTS) : ~0u),
                                       progress);
  if (goal->memory_bytes != 0)
    problem->host_price = goal->host_price / GIB;
  /* What keeps all within the limit is found without an integer program. */
  if ((goal->step_us > 0 || problem->base_peak > goal->memory_bytes) && !_gantry_solve_load (error))
    return NULL;
  _gantry_solve_init (&solve, problem, goal);
  if (goal->seconds > 0)
    problem->deadline = begin + (gint64) (MIN (goal->seconds, MOST_SECONDS) * G_USEC_PER_SEC);
  return goal->memory_bytes != 0 ? solve_memory (&solve, goal->memory_bytes, begin, error) : solve_time (&solve, begin, error);
}

void
gantry_solve_know (GantryPlanner *planner, GantryPlacements *placements, guint64 limit)
{
  _gantry_store_tell (_gantry_store_of (planner), placements, _gantry_planner_effective_limit (placements, limit));
}

/* The front */

static int
compare_peak (gconstpointer a, gconstpointer b)
{
  const GantrySolution *x = *(GantrySolution *const *) a, *y = *(GantrySolution *const *) b;

  return x->figures.peak_bytes > y->figures.peak_bytes ? -1 : x->figures.peak_bytes < y->figures.peak_bytes;
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
          dominated = other->figures.peak_bytes <= point->figures.peak_bytes && other->figures.step_us <= point->figures.step_us
                      && (other->figures.peak_bytes < point->figures.peak_bytes || other->figures.step_us < point->figures.step_us || other->gap < point->gap
                          || (other->gap == point->gap && j < i)); /* of equal points the one of which most is proven */
        }
      if (!dominated)
        g_ptr_array_add (front, g_memdup2 (point, sizeof *point));
      if (!dominated)
        gantry_placements_ref (point->placements);
    }
  return front;
}

/* The best that is known within @limit, once nothing is searched for any more. (nullable) (transfer full) */
static GantrySolution *
read_point (GantryPlanner *planner, guint64 limit, const GantrySolution *found, const GantryPlacements *base, guint allowed, const GantryProgress *progress)
{
  const GantrySolveGoal goal = { .memory_bytes = limit };
  g_autoptr (SolveProblem) problem = _gantry_solve_problem_new (planner, base, allowed, progress);
  GantrySolution *point;
  Solve solve;
  Planned planned;

  problem->limit = limit;
  problem->cut = found != NULL && found->cut;
  _gantry_solve_init (&solve, problem, &goal);
  _gantry_store_take (problem);
  if (!_gantry_solve_take_planned (&solve, limit, &planned))
    return NULL;
  point = _gantry_solution_new (&solve, &planned, g_get_monotonic_time ());
  point->milliseconds = found != NULL ? found->milliseconds : 0;
  return point;
}

/* The point of the least memory, @deadline: as of SolveProblem. (nullable): with @error */
static GantrySolution *
least_point (GantryPlanner *planner, const GantryPlacements *base, guint allowed, gint64 deadline, const GantryProgress *progress, guint64 *high,
             GError **error)
{
  g_autoptr (SolveProblem) problem = _gantry_solve_problem_new (planner, base, allowed, progress);
  const SolveLeast *least = _gantry_solve_least (problem, deadline);
  GantrySolveGoal goal = { .memory_bytes = 1 };
  Planned planned;
  Solve solve;

  *high = problem->base_peak;
  _gantry_solve_init (&solve, problem, &goal);
  if (gantry_progress_cancelled (progress, error) || least == NULL)
    return NULL;
  if (least->kinds == NULL)
    {
      _gantry_solve_refuse (&solve, least, error);
      return NULL;
    }
  goal.memory_bytes = least->bytes;
  planned = _gantry_solve_planned_least (least);
  return _gantry_solution_new (&solve, &planned, g_get_monotonic_time ());
}

/* Of point @k */
static guint64
limit_of (guint64 low, guint64 high, guint k, guint n_points)
{
  return low + (guint64) ((double) (high - low) * k / (n_points - 1));
}

GPtrArray *
gantry_solve_front (GantryPlanner *planner, guint n_points, const GantryPlacements *base, guint allowed, double seconds, const GantryProgress *progress,
                    GError **error)
{
  g_autoptr (GPtrArray) points = g_ptr_array_new_with_free_func ((GDestroyNotify) gantry_solution_free);
  g_autoptr (GPtrArray) found = g_ptr_array_new_with_free_func ((GDestroyNotify) gantry_solution_free);
  const guint kinds = allowed != 0 ? allowed : ALL_KINDS;
  const gint64 begin = g_get_monotonic_time (), all_us = (gint64) (MIN (seconds, MOST_SECONDS) * G_USEC_PER_SEC);
  guint64 low, high;
  GantrySolution *least = _gantry_solve_load (error) ? least_point (planner, base, kinds, all_us > 0 ? begin + all_us / 2 : 0, progress, &high, error) : NULL;

  if (least == NULL)
    return NULL;
  n_points = MAX (n_points, 2);
  low = least->figures.peak_bytes;
  g_ptr_array_add (points, least);
  /* From the smallest up: what fits into less is known when more is asked for. */
  for (guint k = 0; k < n_points && (all_us == 0 || k == 0 || g_get_monotonic_time () < begin + all_us); k++)
    {
      /* Of the time that is left, as much as each of those that are left. */
      const double left = MAX ((double) (begin + all_us - g_get_monotonic_time ()) / G_USEC_PER_SEC, 0.01) / (n_points - k);
      const GantrySolveGoal goal = { .memory_bytes = limit_of (low, high, k, n_points), .allowed = kinds, .seconds = all_us > 0 ? left : 0 };

      g_ptr_array_add (found, gantry_solve (planner, &goal, base, progress, NULL));
      if (gantry_progress_cancelled (progress, error))
        return NULL;
      gantry_progress_report (progress, (double) (k + 1) / n_points, "finding the front");
    }
  /* A search for more memory may have come by what is faster with less, and proven what holds for less: what is known in the end is told. */
  for (guint k = 0; k < found->len; k++)
    {
      GantrySolution *point = read_point (planner, limit_of (low, high, k, n_points), g_ptr_array_index (found, k), base, kinds, progress);

      if (point != NULL)
        g_ptr_array_add (points, point);
    }
  return keep_front (points);
}
