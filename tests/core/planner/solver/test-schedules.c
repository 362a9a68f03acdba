/* SPDX-License-Identifier: Apache-2.0 */
/* The solver against an exact search over all schedules of small steps: nothing that fits is refused but for what a packing
 * takes, nothing that is said to be the best of all schedules is beaten; of steps that are the same each time what is found
 * is as good. Counts end the solver here, not the clock. */
#include "core/planner/solver/solve.h"
#include "tests/core/planner/solver/schedule-oracle.h"
#include "tests/random-seed.h"
#include <math.h>

#define LONG 3600 /* seconds: more than any search here takes, so that the speed of the processor changes no answer */

typedef struct
{
  OracleStep step;
  GantryContext *context;
  GantryModule *module;
  GHashTable *us;
  GantryPlanner *planner;
  guint64 fixed; /* bytes of what has a place for the whole run */
  guint64 all;   /* of values, with everything kept */
} Case;

static void
case_begin (Case *c, double link)
{
  GantryTarget target;
  GantryPlanOptions options = { .target = &target };
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryPrediction) all = gantry_prediction_new ();

  gantry_target_init_cpu (&target, 1);
  target.link_bandwidth = link;
  target.launch_us = 0;
  c->context = gantry_context_new ();
  c->us = g_hash_table_new_full (NULL, NULL, NULL, g_free);
  c->module = oracle_step_build (&c->step, c->context, c->us);
  options.measured_us = c->us;
  c->planner = gantry_planner_new (c->module, &options, NULL, &error);
  g_assert_no_error (error);
  gantry_planner_predict (c->planner, NULL, all);
  c->fixed = all->peak_bytes - all->temp_bytes;
  c->all = all->temp_bytes;
}

static void
case_end (Case *c)
{
  gantry_planner_free (c->planner);
  g_hash_table_unref (c->us);
  gantry_module_unref (c->module);
  gantry_context_unref (c->context);
}

typedef struct
{
  guint n, n_unknown, unpacked, refused, beaten, proven;
  GArray *ratios; /* double */
} Tally;

static int
compare_doubles (gconstpointer a, gconstpointer b)
{
  double x = *(const double *) a, y = *(const double *) b;

  return x < y ? -1 : x > y;
}

/* What is given and what comes out stays where it is. (transfer full) */
static GantryPlacements *
keep_arguments (const GantryPlanner *planner)
{
  GantryPlacements *placements = gantry_placements_new ();
  guint n;
  const GantryCandidate *candidates = gantry_planner_candidates (planner, &n);

  for (guint i = 0; i < n; i++)
    if (candidates[i].subject != GANTRY_SUBJECT_RESIDUAL)
      gantry_placements_set (placements,
                             &(GantryPlacement){ .node = candidates[i].node, .decider = GANTRY_DECIDED_BY_CLICK, .subject = candidates[i].subject });
  return placements;
}

/* The oracle counts bytes alive; a packing of them may stand higher. Whether a sixteenth more is enough for one. */
static gboolean
fits_loosely (const Case *c, guint64 bytes, guint allowed)
{
  const GantrySolveGoal goal = { .memory_bytes = c->fixed + bytes + MAX (bytes / 16, 64), .allowed = allowed, .seconds = LONG };
  g_autoptr (GantryPlacements) base = keep_arguments (c->planner);
  g_autoptr (GantrySolution) solution = gantry_solve (c->planner, &goal, base, NULL, NULL);

  return solution != NULL;
}

static void
try_budget (Case *c, guint64 bytes, double least, guint allowed, Tally *tally)
{
  const GantrySolveGoal goal = { .memory_bytes = c->fixed + bytes, .allowed = allowed, .seconds = LONG };
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryPlacements) base = keep_arguments (c->planner);
  g_autoptr (GantrySolution) solution = gantry_solve (c->planner, &goal, base, NULL, &error);
  double ratio;

  tally->n++;
  if (solution == NULL)
    {
      g_assert_error (error, GANTRY_ERROR, GANTRY_ERROR_NO_MEMORY);
      tally->unpacked++;
      tally->refused += !fits_loosely (c, bytes, allowed);
      g_test_message ("refused %" G_GUINT64_FORMAT " bytes, %.0f us: %s", bytes, least, error->message);
      return;
    }
  g_assert_cmpuint (solution->figures.peak_bytes, <=, goal.memory_bytes);
  ratio = solution->figures.step_us / least;
  g_array_append_val (tally->ratios, ratio);
  tally->proven += (solution->proof == GANTRY_PROOF_SCHEDULES);
  if ((solution->proof == GANTRY_PROOF_SCHEDULES) && ratio > 1 + 1e-6)
    tally->beaten++;
  if (ratio > 1 + 1e-6)
    g_test_message ("%s%s of %u works: %.1f us, %.1f are enough (%.4f)", solution->method, (solution->proof == GANTRY_PROOF_SCHEDULES) ? ", proven" : "",
                    c->step.n, solution->figures.step_us, least, ratio);
  /* Nothing is faster than the oracle: else it is no oracle. */
  g_assert_cmpfloat (ratio, >=, 1 - 1e-9);
}

static void
try_moves (Case *c, guint64 bytes, double us_per_byte, Tally *tally)
{
  double without = oracle_fastest (&c->step, bytes);
  double least = oracle_fastest_with_moves (&c->step, bytes, us_per_byte, without + 1, 200000);

  if (isnan (least)) /* too many ways */
    tally->n_unknown++;
  else
    try_budget (c, bytes, least, 0, tally);
}

static void
tell (const Tally *tally, const char *what)
{
  g_array_sort (tally->ratios, compare_doubles);
  g_test_message ("%s: %u unknown, %u budgets, %u not packed, %u refused, %u proven, %u of those beaten, median %.4f, worst %.4f", what, tally->n_unknown,
                  tally->n, tally->unpacked, tally->refused, tally->proven, tally->beaten, g_array_index (tally->ratios, double, tally->ratios->len / 2),
                  g_array_index (tally->ratios, double, tally->ratios->len - 1));
}

typedef struct
{
  OracleShape shape;
  gboolean fixed; /* the same steps each time, whatever seed is asked for: what is found is held to ratios that were seen */
} Kind;

static GRand *
rand_of (const Kind *kind, guint32 own)
{
  return kind->fixed ? g_rand_new_with_seed (own + kind->shape) : test_rand (own + 100 + kind->shape);
}

/* @worst: the largest ratio that is as good, for the same steps each time */
static void
check_tally (const Tally *tally, const Kind *kind, double worst)
{
  g_assert_cmpuint (tally->refused, ==, 0);
  g_assert_cmpuint (tally->beaten, ==, 0);
  if (!kind->fixed)
    return;
  g_assert_cmpuint (tally->unpacked, ==, 0);
  g_assert_cmpfloat (g_array_index (tally->ratios, double, tally->ratios->len / 2), <=, 1 + 1e-9);
  g_assert_cmpfloat (g_array_index (tally->ratios, double, tally->ratios->len - 1), <=, worst);
}

/* Those of the fixed seed are what is promised; those of another one are a few beside them, or @many. */
static guint
cases_of (const Kind *kind, guint fixed, guint many)
{
  return kind->fixed ? fixed : g_test_slow () ? many : (fixed + 4) / 5;
}

static void
test_recompute (gconstpointer data)
{
  const Kind *kind = data;
  g_autoptr (GRand) random = rand_of (kind, 1);
  Tally tally = { .ratios = g_array_new (FALSE, FALSE, sizeof (double)) };

  for (guint n = 0; n < cases_of (kind, 85, 500); n++)
    {
      Case c = { 0 };
      guint64 least;

      oracle_step_random (&c.step, kind->shape, 12, random);
      case_begin (&c, 1e9);
      least = oracle_least_bytes (&c.step);
      for (guint k = 0; k < 3; k++)
        {
          guint64 bytes = least + (MAX (c.all, least) - least) * k / 3 / 64 * 64;

          try_budget (&c, bytes, oracle_fastest (&c.step, bytes), 1u << GANTRY_PLACEMENT_KEEP | 1u << GANTRY_PLACEMENT_RECOMPUTE, &tally);
        }
      case_end (&c);
    }
  tell (&tally, "recompute only");
  check_tally (&tally, kind, 1 + 1e-6);
  g_array_unref (tally.ratios);
}

static void
test_moves (gconstpointer data)
{
  const Kind *kind = data;
  g_autoptr (GRand) random = rand_of (kind, 11);
  Tally tally = { .ratios = g_array_new (FALSE, FALSE, sizeof (double)) };

  for (guint n = 0; n < cases_of (kind, 13, 200); n++)
    {
      Case c = { 0 };
      guint64 least;
      /* From copies that take half the time of the works to copies that take four times as much. */
      double us_per_byte = (double) g_rand_int_range (random, 1, 9) / 128;
      guint percent = (guint) g_rand_int_range (random, 0, 90);

      do
        oracle_step_random (&c.step, kind->shape, 10, random);
      while (c.step.n > 15);
      case_begin (&c, 1e6 / us_per_byte);
      least = oracle_least_bytes (&c.step);
      try_moves (&c, least + (MAX (c.all, least) - least) * percent / 100 / 64 * 64, us_per_byte, &tally);
      case_end (&c);
    }
  tell (&tally, "with moves");
  check_tally (&tally, kind, 1.02);
  g_array_unref (tally.ratios);
}

/* The fewest runs of forward works for the gradient of a chain of @n equal values that begins with one that is given, with room for
 * @n_kept of them beside two gradients: one is kept, what is behind it is done, then what is before it (Griewank and Walther, ACM
 * TOMS 26(1), 2000). @last: the chain ends the program's, where there is but one gradient. */
static guint
least_runs (guint n, guint n_kept, gboolean last)
{
  static guint known[2][40][40];
  guint best = G_MAXUINT / 4;

  if (n <= n_kept + last)
    return n;
  if (n_kept == 0)
    return best;
  if (known[last][n][n_kept] == 0)
    {
      for (guint at = 1; at <= n; at++)
        best = MIN (best, at + least_runs (n - at, n_kept - 1, last) + least_runs (at - 1, n_kept, FALSE));
      known[last][n][n_kept] = best;
    }
  return known[last][n][n_kept];
}

static void
test_long_chain (void)
{
  static const guint kept[] = { 36, 24, 12, 8, 6, 4, 3 };
  Case c = { 0 };

  oracle_step_uniform (&c.step, 36);
  case_begin (&c, 1e9);
  for (guint k = 0; k < G_N_ELEMENTS (kept); k++)
    {
      const GantrySolveGoal goal = { .memory_bytes = c.fixed + 1024 * (kept[k] + 2),
                                     .seconds = LONG,
                                     .method = GANTRY_SOLVE_SEARCH,
                                     .allowed = 1u << GANTRY_PLACEMENT_KEEP | 1u << GANTRY_PLACEMENT_RECOMPUTE };
      g_autoptr (GError) error = NULL;
      g_autoptr (GantrySolution) solution = gantry_solve (c.planner, &goal, NULL, NULL, &error);
      guint least;

      g_assert_no_error (error);
      g_assert_cmpuint (solution->figures.peak_bytes, <=, goal.memory_bytes);
      least = least_runs (36, kept[k], TRUE) - 36;
      g_test_message ("%u values: %.0f works again, %u are enough", kept[k], solution->figures.recompute_us, least);
      g_assert_cmpfloat (solution->figures.recompute_us, >=, least);
      g_assert_cmpfloat (solution->figures.step_us, <=, (72 + least) * 1.06);
    }
  case_end (&c);
}

int
main (int argc, char **argv)
{
  static const char *const names[] = { [ORACLE_CHAIN] = "chains", [ORACLE_IN_TREE] = "in-trees", [ORACLE_OUT_TREE] = "out-trees" };
  static const Kind kinds[] = { { ORACLE_CHAIN, FALSE },  { ORACLE_CHAIN, TRUE },     { ORACLE_IN_TREE, FALSE },
                                { ORACLE_IN_TREE, TRUE }, { ORACLE_OUT_TREE, FALSE }, { ORACLE_OUT_TREE, TRUE } };

  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    {
      g_autofree char *name = g_strconcat (names[kinds[i].shape], kinds[i].fixed ? "/fixed" : "", NULL);
      g_autofree char *recompute = g_strconcat ("/schedules/", name, NULL), *moves = g_strconcat ("/schedules/moves/", name, NULL);

      g_test_add_data_func (recompute, &kinds[i], test_recompute);
      g_test_add_data_func (moves, &kinds[i], test_moves);
    }
  g_test_add_func ("/schedules/long-chain", test_long_chain);
  return g_test_run ();
}
