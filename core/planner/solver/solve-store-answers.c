/* SPDX-License-Identifier: Apache-2.0 */
/* Answers of the store: how they come into the pool of a goal, and what of a pool is kept. */
#include "core/planner/solver/solve-store-private.h"
#include "core/planner/solver/solve-store-types-private.h"

#define MOST_FOUND 48u /* answers of one question, beside those that are planned */

/* Does the schedule of @placements make anything again? */
static gboolean
runs_again (const GantryPlacements *placements)
{
  g_autoptr (GHashTable) ran = g_hash_table_new (NULL, NULL);

  for (guint i = 0; placements->schedule != NULL && i < placements->schedule->len; i++)
    {
      const GantryScheduleEntry *entry = &g_array_index (placements->schedule, GantryScheduleEntry, i);

      if (entry->action == GANTRY_SCHEDULE_RUN && !g_hash_table_add (ran, GUINT_TO_POINTER (entry->node)))
        return TRUE;
    }
  return FALSE;
}

/* As it was answered then, within @limit, and as it would be for this goal. Returns: the former; NULL where a kind of its is not allowed */
static const SolveAnswer *
take_placements (SolveProblem *problem, const GantryPlacements *placements, guint64 limit)
{
  g_autofree guint8 *kinds = g_new0 (guint8, problem->items->len + 1);
  g_autoptr (GBytes) schedule = NULL;
  const guint64 before = problem->limit;
  const SolveAnswer *answer;

  for (guint i = 0; i < problem->items->len; i++)
    {
      const SolveItem *item = ITEM (problem, i);

      kinds[i] = (guint8) gantry_placements_kind (placements, item->node);
      if ((item->allowed >> kinds[i] & 1) == 0)
        return NULL;
    }
  if (runs_again (placements) && (problem->allowed >> GANTRY_PLACEMENT_RECOMPUTE & 1) == 0)
    return NULL;
  if (placements->schedule != NULL)
    schedule = g_bytes_new (placements->schedule->data, placements->schedule->len * sizeof (GantryScheduleEntry));
  problem->limit = limit;
  answer = _gantry_solve_evaluate_schedule (problem, kinds, schedule);
  problem->limit = before;
  _gantry_solve_evaluate_schedule (problem, kinds, schedule);
  return answer;
}

void
_gantry_store_take (SolveProblem *problem)
{
  const SolveStore *store = _gantry_store_of (problem->planner);
  const char *method = problem->method;

  for (guint i = 0; i < store->told->len; i++)
    {
      const StoreTold *told = g_ptr_array_index (store->told, i);

      take_placements (problem, told->placements, told->limit);
    }
  for (guint q = 0; q < store->questions->len; q++)
    {
      const StoreQuestion *question = g_ptr_array_index (store->questions, q);

      for (guint a = 0; _gantry_store_is_within (question, problem) && a < question->answers->len; a++)
        {
          const StoreAnswer *answer = g_ptr_array_index (question->answers, a);

          problem->method = answer->method;
          take_placements (problem, answer->placements, answer->limit);
        }
    }
  problem->method = method;
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

      if (answer->host > problem->host_limit || answer->cost >= us * (1 - 1e-9))
        continue;
      us = answer->cost;
      g_ptr_array_add (front, (gpointer) answer);
    }
  return front;
}

void
_gantry_store_note_pool (SolveProblem *problem)
{
  StoreQuestion *question = _gantry_store_question (problem);
  g_autoptr (GPtrArray) answers = NULL;
  guint n;

  _gantry_store_take (problem); /* each is among those that are compared */
  answers = unbeaten (problem);
  n = MIN (answers->len, MOST_FOUND);
  for (guint i = question->answers->len; i-- > 0;)
    if (!((StoreAnswer *) g_ptr_array_index (question->answers, i))->planned)
      g_ptr_array_remove_index (question->answers, i);
  for (guint i = 0; i < n; i++)
    {
      const SolveAnswer *answer = g_ptr_array_index (answers, n > 1 ? (guint64) i * (answers->len - 1) / (n - 1) : 0);
      StoreAnswer *kept = g_new0 (StoreAnswer, 1);

      kept->placements = _gantry_solve_placements (problem, answer->kinds, answer->schedule);
      kept->limit = answer->limit;
      kept->bytes = answer->peak;
      kept->host = answer->host;
      kept->us = answer->us;
      kept->method = answer->method;
      g_ptr_array_add (question->answers, kept);
    }
}

void
_gantry_store_note_answer (SolveProblem *problem, GantryPlacements *placements, const Planned *planned)
{
  GPtrArray *answers = _gantry_store_question (problem)->answers;
  StoreAnswer *answer;

  for (guint i = 0; i < answers->len; i++)
    {
      answer = g_ptr_array_index (answers, i);
      if (answer->planned && answer->limit == planned->limit && gantry_placements_equal (answer->placements, placements))
        return;
    }
  answer = g_new0 (StoreAnswer, 1);
  answer->placements = gantry_placements_ref (placements);
  answer->limit = planned->limit;
  answer->bytes = planned->bytes;
  answer->host = planned->figures.host_bytes;
  answer->us = planned->figures.step_us;
  answer->planned = TRUE;
  answer->figures = planned->figures;
  answer->method = planned->method;
  g_ptr_array_add (answers, answer);
  _gantry_store_tell (_gantry_store_of (problem->planner), placements, planned->limit);
}

static double
cost_of (const SolveProblem *problem, const StoreAnswer *answer)
{
  return _gantry_solve_cost (problem, answer->us, answer->host);
}

/* (nullable) */
static const StoreAnswer *
best_given (const SolveProblem *problem, guint64 limit, double us)
{
  const GPtrArray *questions = _gantry_store_of (problem->planner)->questions;
  const StoreAnswer *best = NULL;

  for (guint q = 0; q < questions->len; q++)
    {
      const StoreQuestion *question = g_ptr_array_index (questions, q);

      for (guint a = 0; _gantry_store_is_within (question, problem) && a < question->answers->len; a++)
        {
          const StoreAnswer *answer = g_ptr_array_index (question->answers, a);

          if (!answer->planned || (limit != 0 ? answer->bytes > limit : answer->us > us))
            continue;
          if (best == NULL || (limit != 0 ? cost_of (problem, answer) < cost_of (problem, best) : answer->bytes < best->bytes))
            best = answer;
        }
    }
  return best;
}

gboolean
_gantry_store_given (SolveProblem *problem, guint64 limit, double us, Planned *planned)
{
  const StoreAnswer *given = best_given (problem, limit, us);
  const SolveAnswer *answer = given != NULL ? take_placements (problem, given->placements, given->limit) : NULL;

  if (answer == NULL)
    return FALSE;
  *planned = (Planned){ answer->kinds, answer->schedule, given->limit, given->bytes, given->figures, given->method };
  return TRUE;
}
