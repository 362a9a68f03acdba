/* SPDX-License-Identifier: Apache-2.0 */
/* Questions of the store, their bounds and leasts. */
#include "core/planner/solver/solve-store-private.h"
#include "core/planner/solver/solve-store-types-private.h"
#include <math.h>

#define MUCH (1 + 1e-6) /* what a time has to be above another one by, to contradict it */

static void
told_free (gpointer data)
{
  gantry_placements_unref (((StoreTold *) data)->placements);
  g_free (data);
}

static void
answer_free (gpointer data)
{
  gantry_placements_unref (((StoreAnswer *) data)->placements);
  g_free (data);
}

static void
question_free (gpointer data)
{
  StoreQuestion *question = data;

  g_clear_pointer (&question->base, gantry_placements_unref);
  g_ptr_array_unref (question->answers);
  g_array_unref (question->bounds);
  _gantry_solve_least_free (question->least);
  g_free (question);
}

static void
store_free (gpointer data)
{
  SolveStore *store = data;

  g_ptr_array_unref (store->told);
  g_ptr_array_unref (store->questions);
  g_free (store);
}

SolveStore *
_gantry_store_of (GantryPlanner *planner)
{
  SolveStore *store = planner->store;

  if (store != NULL)
    return store;
  store = g_new0 (SolveStore, 1);
  store->told = g_ptr_array_new_with_free_func (told_free);
  store->questions = g_ptr_array_new_with_free_func (question_free);
  planner->store = store;
  planner->store_free = store_free;
  return store;
}

void
_gantry_store_tell (SolveStore *store, GantryPlacements *placements, guint64 limit)
{
  StoreTold *entry;

  for (guint i = 0; i < store->told->len; i++)
    {
      entry = g_ptr_array_index (store->told, i);
      if (entry->limit == limit && gantry_placements_equal (entry->placements, placements))
        return;
    }
  entry = g_new0 (StoreTold, 1);
  entry->placements = gantry_placements_ref (placements);
  entry->limit = limit;
  g_ptr_array_add (store->told, entry);
}

/* Questions */

/* Is everything that @less decides decided so by @more, too? */
static gboolean
decides_as (const GantryPlacements *more, const GantryPlacements *less)
{
  for (guint i = 0; less != NULL && i < less->entries->len; i++)
    {
      const GantryPlacement *entry = &g_array_index (less->entries, GantryPlacement, i);
      const GantryPlacement *same = more != NULL ? gantry_placements_find (more, entry->node) : NULL;

      if (same == NULL || same->kind != entry->kind || same->memory != entry->memory)
        return FALSE;
    }
  return TRUE;
}

gboolean
_gantry_store_is_within (const StoreQuestion *question, const SolveProblem *problem)
{
  return (question->allowed & ~(problem->allowed | 1u)) == 0 && decides_as (question->base, problem->base);
}

static gboolean
is_around (const StoreQuestion *question, const SolveProblem *problem)
{
  return ((problem->allowed | 1u) & ~question->allowed) == 0 && decides_as (problem->base, question->base);
}

/* (nullable) */
static StoreQuestion *
find_question (const SolveProblem *problem)
{
  const GPtrArray *questions = _gantry_store_of (problem->planner)->questions;

  for (guint i = 0; i < questions->len; i++)
    {
      StoreQuestion *question = g_ptr_array_index (questions, i);

      if (_gantry_store_is_within (question, problem) && is_around (question, problem))
        return question;
    }
  return NULL;
}

StoreQuestion *
_gantry_store_question (SolveProblem *problem)
{
  StoreQuestion *question = find_question (problem);

  if (question != NULL)
    return question;
  question = g_new0 (StoreQuestion, 1);
  question->base = problem->base != NULL ? gantry_placements_copy (problem->base) : NULL;
  question->allowed = problem->allowed | 1u;
  question->answers = g_ptr_array_new_with_free_func (answer_free);
  question->bounds = g_array_new (FALSE, FALSE, sizeof (StoreBound));
  g_ptr_array_add (_gantry_store_of (problem->planner)->questions, question);
  return question;
}

/* Bounds */

void
_gantry_store_note_bound (SolveProblem *problem, guint64 limit, double us, double price, GantryProof of)
{
  const StoreBound bound = { limit, us, price, of };
  GArray *bounds;

  if (limit == 0 || us <= problem->base_us)
    return;
  bounds = _gantry_store_question (problem)->bounds;
  for (guint i = bounds->len; i-- > 0;)
    {
      const StoreBound *other = &g_array_index (bounds, StoreBound, i);

      if (other->limit >= limit && other->us >= us && other->price <= price && other->of >= of)
        return;
      if (other->limit <= limit && other->us <= us && other->price >= price && other->of <= of)
        g_array_remove_index_fast (bounds, i);
    }
  g_array_append_val (bounds, bound);
}

/* The least cost, as @bound counts it, of a known answer within its limit; of placements: of those without a schedule. INFINITY: none */
static double
known_us (const SolveProblem *problem, const StoreBound *bound)
{
  const GPtrArray *questions = _gantry_store_of (problem->planner)->questions;
  double us = INFINITY;

  for (guint q = 0; q < questions->len; q++)
    {
      const StoreQuestion *question = g_ptr_array_index (questions, q);

      for (guint a = 0; _gantry_store_is_within (question, problem) && a < question->answers->len; a++)
        {
          const StoreAnswer *answer = g_ptr_array_index (question->answers, a);

          if (answer->bytes <= bound->limit && (bound->of == GANTRY_PROOF_SCHEDULES || answer->placements->schedule == NULL))
            us = MIN (us, answer->us + bound->price * (double) answer->host);
        }
    }
  return us;
}

/* Does @bound say something of @of at the price of @problem, and does no answer beat it? */
static gboolean
holds (const SolveProblem *problem, const StoreBound *bound, GantryProof of)
{
  return bound->of >= of && bound->price <= problem->host_price && known_us (problem, bound) * MUCH >= bound->us;
}

double
_gantry_store_bound (const SolveProblem *problem, guint64 limit, GantryProof of)
{
  const GPtrArray *questions = _gantry_store_of (problem->planner)->questions;
  double us = problem->base_us;

  for (guint q = 0; q < questions->len; q++)
    {
      const StoreQuestion *question = g_ptr_array_index (questions, q);

      for (guint b = 0; is_around (question, problem) && b < question->bounds->len; b++)
        {
          const StoreBound *bound = &g_array_index (question->bounds, StoreBound, b);

          if (bound->limit >= limit && bound->us > us && holds (problem, bound, of))
            us = bound->us;
        }
    }
  return us;
}

guint64
_gantry_store_size_bound (const SolveProblem *problem, double us)
{
  const GPtrArray *questions = _gantry_store_of (problem->planner)->questions;
  guint64 bytes = 0;

  for (guint q = 0; q < questions->len; q++)
    {
      const StoreQuestion *question = g_ptr_array_index (questions, q);

      for (guint b = 0; is_around (question, problem) && b < question->bounds->len; b++)
        {
          const StoreBound *bound = &g_array_index (question->bounds, StoreBound, b);

          if (bound->us > us * (1 + 1e-9) && bound->limit >= bytes && holds (problem, bound, GANTRY_PROOF_PLACEMENTS))
            bytes = bound->limit + 1;
        }
    }
  return bytes;
}

/* The least */

SolveLeast *
_gantry_store_least (const SolveProblem *problem)
{
  const StoreQuestion *question = find_question (problem);

  return question != NULL ? question->least : NULL;
}

void
_gantry_store_set_least (SolveProblem *problem, SolveLeast *least)
{
  StoreQuestion *question = _gantry_store_question (problem);

  if (question->least != least)
    _gantry_solve_least_free (question->least);
  question->least = least;
}
