/* SPDX-License-Identifier: Apache-2.0 */
/* All doors of the solver tell one story: limits of memory and of time in any order, with more or less that may be used, the front, and
 * refusals. What is asked for later is never worse than what was given before, and no bound or proof is passed by any answer. */
#include "core/planner/solver/solve.h"
#include "tests/core/planner/solver/schedule-oracle.h"
#include "tests/random-seed.h"
#include <math.h>
#include <string.h>

#define LONG 3600 /* seconds: counts end the searches here, not the clock */
#define MUCH (1 + 1e-6)
#define ALL 7u

/* A question and what it was told; a point of the front is an answer to a limit of its own size. */
typedef struct
{
  GantrySolveGoal goal;
  gboolean given;
  guint64 bytes;
  double us, bound;
  GantryProof proof;
  gboolean scheduled; /* it has an order of its own */
  guint64 least;      /* that a refusal names, 0: none */
} Told;

typedef struct
{
  GantryContext *context;
  GantryModule *module;
  GHashTable *us;
  GantryPlanner *planner;
  guint64 peak;
  double base_us;
  GArray *told; /* Told */
} Case;

static void
case_init (Case *c, const OracleStep *step, double link)
{
  GantryTarget target;
  GantryPlanOptions options = { .target = &target };
  g_autoptr (GantryPrediction) all = gantry_prediction_new ();
  g_autoptr (GError) error = NULL;

  *c = (Case){ .context = gantry_context_new (), .us = g_hash_table_new_full (NULL, NULL, NULL, g_free), .told = g_array_new (FALSE, TRUE, sizeof (Told)) };
  c->module = oracle_step_build (step, c->context, c->us);
  gantry_target_init_cpu (&target, 1);
  target.link_bandwidth = link;
  options.measured_us = c->us;
  c->planner = gantry_planner_new (c->module, &options, NULL, &error);
  g_assert_no_error (error);
  gantry_planner_predict (c->planner, NULL, all);
  c->peak = all->peak_bytes;
  c->base_us = all->step_us;
}

static void
case_clear (Case *c)
{
  g_array_unref (c->told);
  gantry_planner_free (c->planner);
  g_hash_table_unref (c->us);
  gantry_module_unref (c->module);
  gantry_context_unref (c->context);
}

static gboolean
is_within (const Told *less, const Told *more)
{
  return (less->goal.allowed & ~more->goal.allowed) == 0;
}

/* @later was told after @earlier. */
static void
check_no_worse (const Told *earlier, const Told *later)
{
  if (!earlier->given || !is_within (earlier, later))
    return;
  if (later->least != 0)
    g_assert_cmpuint (later->least, <=, earlier->bytes);
  if (later->goal.memory_bytes != 0 && earlier->bytes <= later->goal.memory_bytes)
    {
      g_assert_true (later->given);
      g_assert_cmpfloat (later->us, <=, earlier->us * MUCH);
    }
  if (later->goal.memory_bytes == 0 && earlier->us <= later->goal.step_us)
    {
      g_assert_true (later->given);
      g_assert_cmpuint (later->bytes, <=, earlier->bytes);
    }
}

/* Whichever was told first. */
static void
check_bound (const Told *bounded, const Told *answer)
{
  if (!bounded->given || !answer->given || !is_within (answer, bounded))
    return;
  if (bounded->goal.memory_bytes != 0 && answer->bytes <= bounded->goal.memory_bytes)
    {
      if (bounded->proof == GANTRY_PROOF_SCHEDULES || (bounded->proof == GANTRY_PROOF_PLACEMENTS && !answer->scheduled))
        g_assert_cmpfloat (answer->us * MUCH, >=, bounded->us);
      if (!answer->scheduled)
        g_assert_cmpfloat (answer->us * MUCH, >=, bounded->bound);
    }
  if (bounded->goal.memory_bytes == 0 && answer->us <= bounded->goal.step_us && !answer->scheduled)
    g_assert_cmpfloat ((double) answer->bytes, >=, bounded->bound);
}

/* A bound of @earlier holds for what is asked for later with less memory and freedom, by whatever method. */
static void
check_bound_kept (const Told *earlier, const Told *later)
{
  if (!earlier->given || !later->given || earlier->goal.memory_bytes == 0 || !is_within (later, earlier))
    return;
  if (later->goal.memory_bytes != 0 && later->goal.memory_bytes <= earlier->goal.memory_bytes)
    g_assert_cmpfloat (later->bound * MUCH, >=, MIN (earlier->bound, later->us));
  if (later->goal.memory_bytes == 0 && later->goal.step_us * MUCH < earlier->bound)
    g_assert_cmpfloat (later->bound, >=, (double) MIN (earlier->goal.memory_bytes, later->bytes));
}

static void
add (Case *c, const Told *told)
{
  if (told->given)
    g_assert_cmpfloat (told->bound, <=, (told->goal.memory_bytes != 0 ? told->us : (double) told->bytes) * MUCH);
  for (guint i = 0; i < c->told->len; i++)
    {
      const Told *before = &g_array_index (c->told, Told, i);

      check_no_worse (before, told);
      check_bound (before, told);
      check_bound (told, before);
      check_bound_kept (before, told);
    }
  g_array_append_val (c->told, *told);
}

static void
read_answer (Told *told, const GantrySolution *solution)
{
  told->given = TRUE;
  told->bytes = solution->figures.peak_bytes;
  told->us = solution->figures.step_us;
  told->bound = solution->bound;
  told->proof = solution->proof;
  told->scheduled = solution->placements->schedule != NULL;
}

static void
ask (Case *c, const GantrySolveGoal *goal)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GantrySolution) solution = gantry_solve (c->planner, goal, NULL, NULL, &error);
  Told told = { .goal = *goal };

  if (solution != NULL)
    read_answer (&told, solution);
  else
    {
      const char *bytes = strchr (error->message, '(');

      g_assert_error (error, GANTRY_ERROR, GANTRY_ERROR_NO_MEMORY);
      told.least = goal->memory_bytes != 0 && bytes != NULL ? g_ascii_strtoull (bytes + 1, NULL, 10) : 0;
    }
  add (c, &told);
}

static void
ask_front (Case *c)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) front = gantry_solve_front (c->planner, 4, NULL, 0, LONG, NULL, &error);

  g_assert_no_error (error);
  for (guint i = 0; i < front->len; i++)
    {
      const GantrySolution *point = g_ptr_array_index (front, i);
      Told told = { .goal = { .memory_bytes = point->figures.peak_bytes, .allowed = ALL } };

      read_answer (&told, point);
      add (c, &told);
    }
}

static void
test_doors (gconstpointer data)
{
  static const guint allowed[] = { 1u | 1u << GANTRY_PLACEMENT_RECOMPUTE, 1u | 1u << GANTRY_PLACEMENT_OFFLOAD, ALL };
  g_autoptr (GRand) random = test_rand (430 + GPOINTER_TO_UINT (data));

  for (guint n = 0; n < (g_test_slow () ? 60 : 2); n++)
    {
      OracleStep step;
      Case c;

      oracle_step_random (&step, (OracleShape) GPOINTER_TO_UINT (data), 11, random);
      case_init (&c, &step, 1e6 * 128 / (double) g_rand_int_range (random, 1, 9));
      for (guint q = 0; q < 14; q++)
        {
          GantrySolveGoal goal = { .seconds = LONG, .allowed = allowed[g_rand_int_range (random, 0, G_N_ELEMENTS (allowed))] };

          if (q == 7)
            ask_front (&c);
          goal.method = q % 2 == 0 ? GANTRY_SOLVE_AUTO : (GantrySolveMethod) g_rand_int_range (random, GANTRY_SOLVE_EXACT, GANTRY_SOLVE_AUTOTM + 1);
          if (goal.method == GANTRY_SOLVE_AUTOTM)
            goal.allowed = allowed[1];
          if (g_rand_int_range (random, 0, 4) == 0)
            goal.step_us = c.base_us * g_rand_double_range (random, 1, 2.5);
          else
            goal.memory_bytes = MAX (c.peak * (guint64) g_rand_int_range (random, 35, 104) / 100, 1);
          ask (&c, &goal);
        }
      ask_front (&c);
      case_clear (&c);
    }
}

/* What the front comes by on its way is an answer of every other point and of what is asked for later: a link so slow that searches for
 * a size find what is faster than those for a larger one. */
static void
test_front_reads_all (void)
{
  g_autoptr (GRand) random = test_rand (439);

  for (guint n = 0; n < 2; n++)
    {
      OracleStep step;
      Case c;
      g_autoptr (GError) error = NULL;
      g_autoptr (GPtrArray) front = NULL;

      oracle_step_random (&step, ORACLE_CHAIN, 14, random);
      case_init (&c, &step, 3e7);
      for (guint percent = 100; percent >= 50; percent -= 10)
        ask (&c, &(GantrySolveGoal){ .memory_bytes = c.peak * percent / 100, .seconds = LONG, .allowed = ALL });
      front = gantry_solve_front (c.planner, 5, NULL, 0, LONG, NULL, &error);
      g_assert_no_error (error);
      for (guint i = 0; i < c.told->len; i++)
        {
          const Told *told = &g_array_index (c.told, Told, i);

          for (guint k = 0; k < front->len && told->given; k++)
            {
              const GantrySolution *point = g_ptr_array_index (front, k);

              g_assert_true (told->bytes > point->figures.peak_bytes || told->us * MUCH >= point->figures.step_us);
            }
        }
      case_clear (&c);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_data_func ("/solve-store/chains", GUINT_TO_POINTER (ORACLE_CHAIN), test_doors);
  g_test_add_data_func ("/solve-store/in-trees", GUINT_TO_POINTER (ORACLE_IN_TREE), test_doors);
  g_test_add_data_func ("/solve-store/out-trees", GUINT_TO_POINTER (ORACLE_OUT_TREE), test_doors);
  g_test_add_func ("/solve-store/front-reads-all", test_front_reads_all);
  return g_test_run ();
}
