/* SPDX-License-Identifier: Apache-2.0 */
/* What searches have found, kept by the planner: of all answers that were predicted those that no other one beats in both memory and
 * time. A goal chooses among them, too, so that what one search came by on its way is an answer of every later goal that it satisfies. */
#include "core/memory/solve-fit-private.h"

#define MOST_FOUND 48u /* answers of one front */

typedef struct
{
  GantryPlacements *placements;
  guint64 limit;
  const char *method; /* static */
} Found;

typedef struct
{
  GantryPlacements *base; /* (nullable): what it was found for, with @allowed */
  guint allowed;
  GPtrArray *answers;     /* (element-type Found): by peak, each faster than the one before */
} Front;

static void
found_free (gpointer data)
{
  gantry_placements_unref (((Found *) data)->placements);
  g_free (data);
}

static void
front_free (gpointer data)
{
  Front *front = data;

  g_clear_pointer (&front->base, gantry_placements_unref);
  g_ptr_array_unref (front->answers);
  g_free (front);
}

static gboolean
has_base (const Front *front, const GantryPlacements *base)
{
  return front->base == base || (front->base != NULL && base != NULL && gantry_placements_equal (front->base, base));
}

static Front *
front_of (SolveProblem *problem)
{
  GPtrArray **fronts = &problem->planner->found;
  Front *front;

  if (*fronts == NULL)
    *fronts = g_ptr_array_new_with_free_func (front_free);
  for (guint i = 0; i < (*fronts)->len; i++)
    {
      front = g_ptr_array_index (*fronts, i);
      if (front->allowed == problem->allowed && has_base (front, problem->base))
        return front;
    }
  front = g_new0 (Front, 1);
  front->base = problem->base != NULL ? gantry_placements_copy (problem->base) : NULL;
  front->allowed = problem->allowed;
  front->answers = g_ptr_array_new_with_free_func (found_free);
  g_ptr_array_add (*fronts, front);
  return front;
}

static int
compare_answers (gconstpointer a, gconstpointer b)
{
  const SolveAnswer *x = *(SolveAnswer *const *) a, *y = *(SolveAnswer *const *) b;

  if (x->peak != y->peak)
    return x->peak < y->peak ? -1 : 1;
  return _gantry_solve_is_faster (x, y) ? -1 : _gantry_solve_is_faster (y, x);
}

/* The answers of the pool that no other one beats. (transfer container) */
static GPtrArray *
unbeaten (const SolveProblem *problem)
{
  g_autoptr (GPtrArray) answers = g_ptr_array_new ();
  GPtrArray *front = g_ptr_array_new ();
  double us = G_MAXDOUBLE;

  g_ptr_array_extend (answers, problem->pool, NULL, NULL);
  g_ptr_array_sort (answers, compare_answers);
  for (guint i = 0; i < answers->len; i++)
    {
      const SolveAnswer *answer = g_ptr_array_index (answers, i);

      if (answer->host > problem->host_limit || answer->us >= us * (1 - 1e-9))
        continue;
      us = answer->us;
      g_ptr_array_add (front, (gpointer) answer);
    }
  return front;
}

void
_gantry_solve_note_found (SolveProblem *problem)
{
  Front *front = front_of (problem);
  g_autoptr (GPtrArray) answers = NULL;
  guint n;

  _gantry_solve_take_found (problem); /* each is among those that are compared */
  answers = unbeaten (problem);
  n = MIN (answers->len, MOST_FOUND);
  g_ptr_array_set_size (front->answers, 0);
  for (guint i = 0; i < n; i++)
    {
      const SolveAnswer *answer = g_ptr_array_index (answers, n > 1 ? (guint64) i * (answers->len - 1) / (n - 1) : 0);
      Found *found = g_new0 (Found, 1);

      found->placements = _gantry_solve_placements (problem, answer->kinds, answer->schedule);
      found->limit = answer->limit;
      found->method = answer->method;
      g_ptr_array_add (front->answers, found);
    }
}

void
_gantry_solve_take_found (SolveProblem *problem)
{
  const GPtrArray *fronts = problem->planner->found;
  const char *method = problem->method;

  for (guint i = 0; fronts != NULL && i < fronts->len; i++)
    {
      const Front *front = g_ptr_array_index (fronts, i);

      if ((front->allowed & ~problem->allowed) != 0 || !has_base (front, problem->base))
        continue;
      for (guint k = 0; k < front->answers->len; k++)
        {
          const Found *found = g_ptr_array_index (front->answers, k);

          problem->method = found->method;
          _gantry_solve_take_placements (problem, found->placements, found->limit);
        }
    }
  problem->method = method;
}
