/* SPDX-License-Identifier: Apache-2.0 */
/* Refusals are honest: what one goal reaches no other one refuses, and the least that a refusal names fits when it is asked for. Each
 * goal has a planner of its own, as each command has: nothing is remembered. */
#include "core/planner/solver/solve.h"
#include "tests/core/planner/solver/schedule-oracle.h"
#include "tests/random-seed.h"
#include <string.h>

#define LONG 3600 /* seconds: counts end the searches here, not the clock */

typedef struct
{
  GantryContext *context;
  GantryModule *module;
  GHashTable *us;
  double link;
} Case;

static GantryPlanner *
planner_of (const Case *c)
{
  GantryTarget target;
  GantryPlanOptions options = { .target = &target, .measured_us = c->us };
  g_autoptr (GError) error = NULL;
  GantryPlanner *planner;

  gantry_target_init_cpu (&target, 1);
  target.link_bandwidth = c->link;
  planner = gantry_planner_new (c->module, &options, NULL, &error);
  g_assert_no_error (error);
  return planner;
}

/* (nullable) (transfer full): refused, as nothing fits */
static GantrySolution *
solve_for (const Case *c, guint64 bytes, double us, double seconds, char **refusal)
{
  g_autoptr (GantryPlanner) planner = planner_of (c);
  const GantrySolveGoal goal = { .memory_bytes = bytes, .step_us = us, .seconds = seconds };
  g_autoptr (GError) error = NULL;
  GantrySolution *solution = gantry_solve (planner, &goal, NULL, NULL, &error);

  if (solution == NULL)
    g_assert_error (error, GANTRY_ERROR, GANTRY_ERROR_NO_MEMORY);
  if (solution == NULL && refusal != NULL)
    *refusal = g_strdup (error->message);
  return solution;
}

static GantrySolution *
solve (const Case *c, guint64 bytes, double us, char **refusal)
{
  return solve_for (c, bytes, us, LONG, refusal);
}

/* Bytes that the refusal of a byte names. @cut: (out): it says that a longer search may find less */
static guint64
least_within (const Case *c, double seconds, gboolean *cut)
{
  g_autofree char *refusal = NULL;
  g_autoptr (GantrySolution) none = solve_for (c, 1, 0, seconds, &refusal);
  const char *bytes;

  g_assert_null (none);
  g_assert_nonnull (strstr (refusal, "the least found is "));
  bytes = strchr (refusal, '(');
  g_assert_nonnull (bytes);
  *cut = strstr (refusal, "more time to search") != NULL;
  return g_ascii_strtoull (bytes + 1, NULL, 10);
}

static guint64
least_of (const Case *c)
{
  gboolean cut;
  guint64 least = least_within (c, LONG, &cut);

  g_assert_false (cut);
  return least;
}

static void
check_fits (const Case *c, guint64 bytes, const char *what)
{
  g_autofree char *refusal = NULL;
  g_autoptr (GantrySolution) solution = solve (c, bytes, 0, &refusal);

  if (solution == NULL)
    g_test_message ("%s of %" G_GUINT64_FORMAT " bytes: %s", what, bytes, refusal);
  g_assert_nonnull (solution);
  g_assert_cmpuint (solution->figures.peak_bytes, <=, bytes);
}

static void
check_case (const Case *c)
{
  g_autoptr (GantryPlanner) planner = planner_of (c);
  g_autoptr (GantryPrediction) all = gantry_prediction_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) front = gantry_solve_front (planner, 4, NULL, 0, LONG, NULL, &error);

  g_assert_no_error (error);
  check_fits (c, least_of (c), "the least");
  for (guint i = 0; i < front->len; i++)
    check_fits (c, ((GantrySolution *) front->pdata[i])->figures.peak_bytes, "a point of the front");
  gantry_planner_predict (planner, NULL, all);
  for (guint percent = 100; percent <= 160; percent += 30)
    {
      g_autoptr (GantrySolution) small = solve (c, 0, all->step_us * percent / 100, NULL);

      if (small != NULL)
        check_fits (c, small->figures.peak_bytes, "what a time leads to");
      if (small != NULL) /* a bound that is passed is none */
        g_assert_cmpfloat (small->bound, <=, (double) small->figures.peak_bytes);
    }
}

/* The search for the least ends with the time of its goal, and says so. */
static void
check_cut (const Case *c)
{
  gboolean cut;
  guint64 least = least_of (c);

  g_assert_cmpuint (least_within (c, 1e-6, &cut), >=, least);
  g_assert_true (cut);
}

static void
test_random (gconstpointer data)
{
  g_autoptr (GRand) random = test_rand (70 + GPOINTER_TO_UINT (data));

  for (guint n = 0; n < (g_test_slow () ? 40 : 4); n++)
    {
      OracleStep step;
      Case c = { .context = gantry_context_new (), .us = g_hash_table_new_full (NULL, NULL, NULL, g_free) };

      oracle_step_random (&step, (OracleShape) GPOINTER_TO_UINT (data), 12, random);
      c.link = 1e6 * 128 / (double) g_rand_int_range (random, 1, 9);
      c.module = oracle_step_build (&step, c.context, c.us);
      check_case (&c);
      check_cut (&c);
      g_hash_table_unref (c.us);
      gantry_module_unref (c.module);
      gantry_context_unref (c.context);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_data_func ("/solve-least/chains", GUINT_TO_POINTER (ORACLE_CHAIN), test_random);
  g_test_add_data_func ("/solve-least/in-trees", GUINT_TO_POINTER (ORACLE_IN_TREE), test_random);
  g_test_add_data_func ("/solve-least/out-trees", GUINT_TO_POINTER (ORACLE_OUT_TREE), test_random);
  return g_test_run ();
}
