/* SPDX-License-Identifier: Apache-2.0 */
/* The solver against every combination where there are few, against well-known answers where there are many, and
 * against itself: more memory is never slower, no answer is over its limit, what cannot be is refused with a reason. */
#include "core/graph/graph.h"
#include "core/plan/compression.h"
#include "core/planner/solver/solve.h"
#include "core/plan/placement.h"
#include "core/plan/plan.h"
#include <math.h>
#include <string.h>

#define GIB 1073741824.0

typedef struct
{
  GantryBuilder *builder;
  guint32 location;
} Maker;

static guint32
product (Maker *m, guint32 a, guint32 b, gint64 a_axis, gint64 b_axis)
{
  GantryContext *context = gantry_builder_context (m->builder);
  GantryAttrList *attrs = gantry_attr_list_new (context);
  const guint32 operands[] = { a, b };

  gantry_attr_list_set_ints (attrs, "lhs_contracting_dimensions", &a_axis, 1);
  gantry_attr_list_set_ints (attrs, "rhs_contracting_dimensions", &b_axis, 1);
  return gantry_builder_add (m->builder, GANTRY_OP_DOT_GENERAL, operands, 2, gantry_attr_list_end (attrs));
}

/* A chain of @n layers h = tanh (h w) whose widths change, and its gradients with respect to the weights. */
static GantryModule *
make_step (GantryContext *context, guint n)
{
  static const gint64 widths[] = { 64, 256, 128, 512, 96 };
  Maker m = { gantry_builder_new (context, "chain"), 0 };
  const GantryLocation place = { .file = gantry_context_intern (context, "chain"), .line = 1 };
  g_autofree guint32 *w = g_new (guint32, n), *h = g_new (guint32, n + 1), *results = g_new (guint32, n + 1);
  g_autoptr (GError) error = NULL;
  GantryModule *module;
  guint32 g;

  m.location = gantry_context_location (context, &place);
  gantry_builder_set_place (m.builder, 0, m.location);
  gantry_builder_begin (m.builder, "main", 0);
  h[0] = gantry_builder_parameter (m.builder, gantry_context_tensor (context, GANTRY_F32, 2, (GantryDim[]){ 128, widths[0] }), "x");
  for (guint i = 0; i < n; i++)
    w[i] = gantry_builder_parameter (m.builder, gantry_context_tensor (context, GANTRY_F32, 2, (GantryDim[]){ widths[i % 5], widths[(i + 1) % 5] }), NULL);
  for (guint i = 0; i < n; i++)
    h[i + 1] = gantry_builder_unary (m.builder, GANTRY_OP_TANH, product (&m, h[i], w[i], 1, 0));
  gantry_builder_set_phase (m.builder, GANTRY_PHASE_BACKWARD);
  g = h[n];
  for (guint i = n; i-- > 0;)
    {
      guint32 y = gantry_builder_binary (m.builder, GANTRY_OP_MULTIPLY, h[i + 1], h[i + 1]);

      g = gantry_builder_binary (m.builder, GANTRY_OP_MULTIPLY, g, y);
      results[i] = product (&m, h[i], g, 0, 0);
      if (i > 0)
        g = product (&m, g, w[i], 1, 1);
    }
  gantry_builder_end (m.builder, results, n);
  module = gantry_builder_finish (m.builder, &error);
  g_assert_no_error (error);
  gantry_builder_free (m.builder);
  return module;
}

static GantryPlanner *
make_planner (GantryModule *module, double link)
{
  GantryTarget target;
  GantryPlanOptions options = { .target = &target };
  g_autoptr (GError) error = NULL;
  GantryPlanner *planner;

  gantry_target_init_cpu (&target, 1);
  target.link_bandwidth = link;
  planner = gantry_planner_new (module, &options, NULL, &error);
  g_assert_no_error (error);
  return planner;
}

/* The least cost within @limit over all combinations of residuals, by the public interface alone. @host_price: us a GiB */
static double
brute_force (GantryPlanner *planner, guint64 limit, double host_price)
{
  g_autoptr (GantryPrediction) prediction = gantry_prediction_new ();
  guint n, digits[16] = { 0 }, n_digits = 0, index[16], i = 0;
  const GantryCandidate *candidates = gantry_planner_candidates (planner, &n);
  double best = INFINITY;

  for (guint c = 0; c < n; c++)
    if ((candidates[c].allowed & ~1u) != 0 && candidates[c].subject == GANTRY_SUBJECT_RESIDUAL)
      {
        g_assert_cmpuint (n_digits, <, 9);
        index[n_digits++] = c;
      }
  while (i < n_digits)
    {
      g_autoptr (GantryPlacements) placements = gantry_placements_new ();

      for (guint d = 0; d < n_digits; d++)
        gantry_placements_set (placements,
                               &(GantryPlacement){ .node = candidates[index[d]].node, .kind = (guint8) digits[d], .memory = GANTRY_MEMORY_PINNED_HOST });
      gantry_planner_predict (planner, placements, prediction);
      if (prediction->peak_bytes <= limit)
        best = MIN (best, prediction->step_us + host_price * (double) prediction->host_bytes / GIB);
      for (i = 0; i < n_digits; i++)
        {
          do
            digits[i]++;
          while (digits[i] < 3 && (candidates[index[i]].allowed >> digits[i] & 1) == 0);
          if (digits[i] < 3)
            break;
          digits[i] = 0;
        }
    }
  return best;
}

static void
test_brute_force (void)
{
  static const double links[] = { 1e9, 2e10 };

  for (guint n = 2; n <= 6; n++)
    for (guint l = 0; l < G_N_ELEMENTS (links); l++)
      {
        g_autoptr (GantryContext) context = gantry_context_new ();
        g_autoptr (GantryModule) module = make_step (context, n);
        g_autoptr (GantryPlanner) planner = make_planner (module, links[l]);
        g_autoptr (GantryPrediction) all = gantry_prediction_new ();

        gantry_planner_predict (planner, NULL, all);
        for (guint percent = 60; percent <= 100; percent += 8)
          {
            guint64 limit = all->peak_bytes * percent / 100;
            double least = brute_force (planner, limit, 0);

            for (GantrySolveMethod method = GANTRY_SOLVE_AUTO; method <= GANTRY_SOLVE_EXACT; method++)
              {
                const GantrySolveGoal goal = { .memory_bytes = limit, .method = method };
                g_autoptr (GError) error = NULL;
                g_autoptr (GantrySolution) solution = gantry_solve (planner, &goal, NULL, NULL, &error);

                if (isinf (least))
                  {
                    if (solution != NULL) /* with its copies squeezed it may fit where brute force did not */
                      g_assert_cmpuint (solution->figures.peak_bytes, <=, limit);
                    else
                      g_assert_error (error, GANTRY_ERROR, GANTRY_ERROR_NO_MEMORY);
                    continue;
                  }
                g_assert_no_error (error);
                g_assert_cmpuint (solution->figures.peak_bytes, <=, limit);
                g_assert_cmpfloat (solution->figures.step_us, <=, least * (1 + 1e-9));
                g_assert_cmpfloat (solution->bound, <=, solution->figures.step_us * (1 + 1e-9));
              }
          }
      }
}

/* What one method finds with a planner of its own; INFINITY: nothing. */
static double
time_alone (GantryModule *module, double link, guint percent, GantrySolveMethod method, guint allowed)
{
  g_autoptr (GantryPlanner) planner = make_planner (module, link);
  g_autoptr (GantryPrediction) all = gantry_prediction_new ();
  GantrySolveGoal goal = { .method = method, .allowed = allowed };
  g_autoptr (GantrySolution) solution = NULL;

  gantry_planner_predict (planner, NULL, all);
  goal.memory_bytes = all->peak_bytes * percent / 100;
  solution = gantry_solve (planner, &goal, NULL, NULL, NULL);
  g_assert_true (solution == NULL || !solution->cut);
  return solution != NULL ? solution->figures.step_us : INFINITY;
}

/* All methods together are never worse than one of them alone, nor than what may do less: with few values, where every combination is
 * looked at, and with more. tools/bench-solve --methods asks the same of large programs. */
static void
test_methods (gconstpointer data)
{
  static const double links[] = { 5e8, 2e9 };
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GantryModule) module = make_step (context, GPOINTER_TO_UINT (data));

  for (guint l = 0; l < G_N_ELEMENTS (links); l++)
    {
      double together = time_alone (module, links[l], 70, GANTRY_SOLVE_AUTO, 0);

      for (GantrySolveMethod method = GANTRY_SOLVE_EXACT; method <= GANTRY_SOLVE_AUTOTM; method++)
        g_assert_cmpfloat (together, <=, time_alone (module, links[l], 70, method, 0) * (1 + 1e-6));
      for (guint kind = GANTRY_PLACEMENT_RECOMPUTE; kind <= GANTRY_PLACEMENT_OFFLOAD; kind++)
        g_assert_cmpfloat (together, <=, time_alone (module, links[l], 70, GANTRY_SOLVE_AUTO, 1u | 1u << kind) * (1 + 1e-6));
    }
}

static GantrySolution *
solve_anew (GantryModule *module, double link, guint percent, GantrySolveMethod method, guint allowed)
{
  g_autoptr (GantryPlanner) planner = make_planner (module, (guint) link);
  g_autoptr (GantryPrediction) all = gantry_prediction_new ();
  GantrySolveGoal goal = { .method = method, .allowed = allowed };

  gantry_planner_predict (planner, NULL, all);
  goal.memory_bytes = all->peak_bytes * percent / 100;
  return gantry_solve (planner, &goal, NULL, NULL, NULL);
}

static gboolean
is_approximate (const GantrySolution *solution)
{
  return gantry_placements_are_approximate (solution->placements);
}

/* Residuals in fewer bits are chosen where the goal allows them alone; what is proven of placements then counts them, so that no bound
 * is above what looking at every combination finds; and with them nothing is worse. */
static void
test_approximate (void)
{
  const guint fewer = 1u << GANTRY_PLACEMENT_KEEP | GANTRY_APPROXIMATE_PLACEMENTS;
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GantryModule) module = make_step (context, 5);
  static const guint percents[] = { 58, 95, 98 };
  guint used = 0, proven = 0, found = 0;

  for (guint k = 0; k < G_N_ELEMENTS (percents); k++)
    {
      const guint percent = percents[k];
      g_autoptr (GantrySolution) exact = solve_anew (module, 5e8, percent, GANTRY_SOLVE_AUTO, 0);
      g_autoptr (GantrySolution) both = solve_anew (module, 5e8, percent, GANTRY_SOLVE_AUTO, GANTRY_EXACT_PLACEMENTS | GANTRY_APPROXIMATE_PLACEMENTS);
      g_autoptr (GantrySolution) every = solve_anew (module, 5e8, percent, GANTRY_SOLVE_AUTO, fewer);
      g_autoptr (GantrySolution) program = solve_anew (module, 5e8, percent, GANTRY_SOLVE_EXACT, fewer);

      g_assert_true (exact == NULL || !is_approximate (exact));
      g_assert_true (exact == NULL || both != NULL);
      g_assert_true (every == NULL || both != NULL);
      g_assert_true (program == NULL || every != NULL);
      if (exact != NULL)
        g_assert_cmpfloat (both->figures.step_us, <=, exact->figures.step_us * (1 + 1e-6));
      if (both != NULL && is_approximate (both))
        {
          used++;
          g_assert_cmpint (both->proof, !=, GANTRY_PROOF_SCHEDULES); /* of those nothing is known */
        }
      if (every == NULL || program == NULL)
        continue;
      found++;
      proven += program->proof == GANTRY_PROOF_PLACEMENTS;
      g_assert_cmpfloat (both->figures.step_us, <=, every->figures.step_us * (1 + 1e-6));
      g_assert_cmpfloat (every->figures.step_us, <=, program->figures.step_us * (1 + 1e-6));
      g_assert_cmpfloat (program->bound, <=, every->figures.step_us * (1 + 1e-6));
      g_test_message ("%u %%: %.1f us, every combination %.1f, bound %.1f", percent, program->figures.step_us, every->figures.step_us, program->bound);
    }
  g_test_message ("%u answers with fewer bits alone, %u of the integer program proven; %u of all kinds use them", found, proven, used);
  g_assert_cmpuint (used, >, 0);
  g_assert_cmpuint (found, >, 1);
}

/* A front with them reaches further down than one without. */
static void
test_approximate_front (void)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GantryModule) module = make_step (context, 4);
  g_autoptr (GantryPlanner) one = make_planner (module, 500000000), other = make_planner (module, 500000000);
  g_autoptr (GPtrArray) exact = gantry_solve_front (one, 3, NULL, 0, 0, NULL, NULL);
  g_autoptr (GPtrArray) fewer = gantry_solve_front (other, 3, NULL, GANTRY_EXACT_PLACEMENTS | GANTRY_APPROXIMATE_PLACEMENTS, 0, NULL, NULL);
  const GantrySolution *lowest = g_ptr_array_index (exact, exact->len - 1), *lower = g_ptr_array_index (fewer, fewer->len - 1);

  for (guint i = 0; i < exact->len; i++)
    g_assert_false (is_approximate (g_ptr_array_index (exact, i)));
  g_assert_cmpuint (lower->figures.peak_bytes, <=, lowest->figures.peak_bytes);
}

static void
test_long_chain (gconstpointer data)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GantryModule) module = make_step (context, 40);
  g_autoptr (GantryPlanner) planner = make_planner (module, GPOINTER_TO_UINT (data));
  g_autoptr (GantryPrediction) all = gantry_prediction_new (), again = gantry_prediction_new ();
  double slower = INFINITY;

  gantry_planner_predict (planner, NULL, all);
  /* Where the link is slow, half the memory is out of reach. */
  for (guint percent = GPOINTER_TO_UINT (data) > 100000000 ? 45 : 78; percent <= 100; percent += 11)
    {
      const GantrySolveGoal goal = { .memory_bytes = all->peak_bytes * percent / 100, .seconds = 1.5 };
      g_autoptr (GError) error = NULL;
      g_autoptr (GantrySolution) solution = gantry_solve (planner, &goal, NULL, NULL, &error);

      g_assert_no_error (error);
      g_assert_cmpuint (solution->figures.peak_bytes, <=, goal.memory_bytes);
      g_assert_cmpfloat (solution->figures.step_us, <=, slower);
      g_assert_cmpfloat (solution->gap, >=, 0);
      g_assert_cmpfloat (solution->gap, <, 1);
      slower = solution->figures.step_us;
      g_test_message ("%u %%: %.1f us, bound %.1f, gap %.4f, %s, %.0f ms, %" G_GUINT64_FORMAT " predictions", percent, solution->figures.step_us,
                      solution->bound, solution->gap, solution->method, solution->milliseconds, solution->n_predictions);
    }
}

static void
test_smallest (void)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GantryModule) module = make_step (context, 12);
  g_autoptr (GantryPlanner) planner = make_planner (module, 3e8);
  g_autoptr (GantryPrediction) all = gantry_prediction_new ();
  GantrySolveGoal goal = { .seconds = 3 };
  guint64 before = G_MAXUINT64;

  gantry_planner_predict (planner, NULL, all);
  for (guint percent = 100; percent <= 130; percent += 10)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (GantrySolution) solution = NULL;

      goal.step_us = all->step_us * percent / 100;
      solution = gantry_solve (planner, &goal, NULL, NULL, &error);
      g_assert_no_error (error);
      g_assert_cmpfloat (solution->figures.step_us, <=, goal.step_us);
      g_assert_cmpuint (solution->figures.peak_bytes, <=, before);
      before = solution->figures.peak_bytes;
    }
  g_assert_cmpuint (before, <, all->peak_bytes);
}

static void
test_front (void)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GantryModule) module = make_step (context, 12);
  g_autoptr (GantryPlanner) planner = make_planner (module, 3e7);
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) front = gantry_solve_front (planner, 6, NULL, 0, 3, NULL, &error);

  g_assert_no_error (error);
  g_assert_cmpuint (front->len, >=, 3);
  for (guint i = 1; i < front->len; i++)
    {
      const GantrySolution *more = g_ptr_array_index (front, i - 1), *less = g_ptr_array_index (front, i);

      g_assert_cmpuint (less->figures.peak_bytes, <, more->figures.peak_bytes);
      g_assert_cmpfloat (less->figures.step_us, >, more->figures.step_us);
    }
}

static void
test_refusals (void)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GantryModule) module = make_step (context, 6);
  g_autoptr (GantryPlanner) planner = make_planner (module, 2e10);
  g_autoptr (GantryPrediction) all = gantry_prediction_new ();
  g_autoptr (GError) error = NULL;

  gantry_planner_predict (planner, NULL, all);
  g_assert_null (gantry_solve (planner, &(GantrySolveGoal){ .memory_bytes = 4096, .seconds = 1 }, NULL, NULL, &error));
  g_assert_error (error, GANTRY_ERROR, GANTRY_ERROR_NO_MEMORY);
  g_assert_nonnull (strstr (error->message, "least found is at least ")); /* what kernels need is not known */
  g_clear_error (&error);
  g_assert_null (gantry_solve (planner, &(GantrySolveGoal){ .step_us = all->step_us / 4 }, NULL, NULL, &error));
  g_assert_error (error, GANTRY_ERROR, GANTRY_ERROR_NO_MEMORY);
}

/* What every budget below the least is told: the same number, which fits. A byte less fits too, or is told the same: it is the least
 * that was found. A planner of its own for each: as the command line asks. */
static void
test_least (void)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GantryModule) module = make_step (context, 12);
  guint64 least = 0;

  for (guint64 budget = 4096; budget <= 12288; budget += 4096) /* no product has room in it */
    {
      g_autoptr (GantryPlanner) planner = make_planner (module, 2e10);
      g_autoptr (GantrySolution) fits = NULL, lower = NULL;
      g_autoptr (GError) error = NULL;
      guint64 said;

      g_assert_null (gantry_solve (planner, &(GantrySolveGoal){ .memory_bytes = budget, .seconds = 1 }, NULL, NULL, &error));
      g_assert_error (error, GANTRY_ERROR, GANTRY_ERROR_NO_MEMORY);
      said = g_ascii_strtoull (strchr (error->message, '(') + 1, NULL, 10);
      g_assert_true (least == 0 || said == least);
      least = said;
      g_clear_error (&error);
      lower = gantry_solve (planner, &(GantrySolveGoal){ .memory_bytes = least - 1, .seconds = 1 }, NULL, NULL, &error);
      if (lower == NULL)
        g_assert_cmpuint (g_ascii_strtoull (strchr (error->message, '(') + 1, NULL, 10), ==, least);
      g_clear_error (&error);
      fits = gantry_solve (planner, &(GantrySolveGoal){ .memory_bytes = least, .seconds = 1 }, NULL, NULL, &error);
      g_assert_no_error (error);
      g_assert_cmpuint (fits->figures.peak_bytes, <=, least);
    }
}

/* What is known from elsewhere begins a search: its answer is no worse, and where it takes less than the least that is found by searching, it
 * is the least that a refusal names. What is of another program is passed over. */
static void
test_known (void)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GantryModule) module = make_step (context, 7), other_module = make_step (context, 3);
  g_autoptr (GantryPlanner) planner = make_planner (module, 3e7), other = make_planner (module, 3e7), small = make_planner (other_module, 3e7);
  g_autoptr (GantryPrediction) all = gantry_prediction_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (GantrySolution) found = NULL, again = NULL, none = NULL;
  GantrySolveGoal goal = { 0 };

  gantry_planner_predict (planner, NULL, all);
  goal.memory_bytes = all->peak_bytes * 78 / 100;
  found = gantry_solve (planner, &goal, NULL, NULL, &error);
  g_assert_no_error (error);
  gantry_solve_know (other, found->placements, found->limit_bytes);
  goal.seconds = 1e-6; /* no time for a search of its own */
  again = gantry_solve (other, &goal, NULL, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpfloat (again->figures.step_us, <=, found->figures.step_us * (1 + 1e-9));
  gantry_solve_know (small, found->placements, found->limit_bytes);
  none = gantry_solve (small, &(GantrySolveGoal){ .memory_bytes = 1 }, NULL, NULL, &error);
  g_assert_null (none);
  g_assert_error (error, GANTRY_ERROR, GANTRY_ERROR_NO_MEMORY);
}

/* A goal of nothing is a mistake, and no crash. */
static void
test_no_goal (void)
{
  const GantrySolveGoal goals[] = { { 0 }, { .memory_bytes = 1, .step_us = 1 }, { .step_us = -1 }, { .step_us = NAN } };
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GantryModule) module = make_step (context, 3);
  g_autoptr (GantryPlanner) planner = make_planner (module, 2e10);

  for (guint i = 0; i < G_N_ELEMENTS (goals); i++)
    {
      g_autoptr (GError) error = NULL;

      g_assert_null (gantry_solve (planner, &goals[i], NULL, NULL, &error));
      g_assert_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID);
    }
}

/* The host has a limit too: no answer is beyond it, and a plan that is says so. */
static void
test_host_limit (void)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GantryModule) module = make_step (context, 12);
  g_autoptr (GantryPlanner) planner = make_planner (module, 2e10);
  g_autoptr (GantryPrediction) all = gantry_prediction_new ();
  g_autoptr (GantrySolution) unlimited = NULL;
  g_autoptr (GError) error = NULL;
  guint64 host;

  gantry_planner_predict (planner, NULL, all);
  unlimited = gantry_solve (planner, &(GantrySolveGoal){ .memory_bytes = all->peak_bytes * 7 / 10, .allowed = 1u << GANTRY_PLACEMENT_OFFLOAD }, NULL, NULL,
                            &error);
  g_assert_no_error (error);
  gantry_planner_predict (planner, unlimited->placements, all);
  host = all->host_bytes;
  g_assert_cmpuint (host, >, 0);
  gantry_planner_predict (planner, NULL, all);
  {
    GantryTarget target;
    GantryPlanOptions options = { .target = &target };
    g_autoptr (GantryPlanner) limited = NULL;
    g_autoptr (GantryPlan) plan = NULL, refused = NULL;
    g_autoptr (GantrySolution) both = NULL;
    g_autoptr (GantryPrediction) of_both = gantry_prediction_new ();

    gantry_target_init_cpu (&target, 2);
    target.link_bandwidth = 2e10;
    target.host_limit = host / 2;
    limited = gantry_planner_new (module, &options, NULL, &error);
    g_assert_no_error (error);
    plan = gantry_planner_plan (limited, unlimited->placements, NULL, &error);
    g_assert_null (plan);
    g_assert_error (error, GANTRY_ERROR, GANTRY_ERROR_NO_MEMORY);
    g_assert_nonnull (strstr (error->message, "host memory"));
    g_clear_error (&error);
    refused = gantry_planner_take_refused (limited);
    g_assert_nonnull (refused);
    both = gantry_solve (limited, &(GantrySolveGoal){ .memory_bytes = all->peak_bytes * 85 / 100 }, NULL, NULL, &error);
    g_assert_no_error (error);
    gantry_planner_predict (limited, both->placements, of_both);
    g_assert_cmpuint (of_both->host_bytes, <=, target.host_limit);
    g_assert_cmpuint (both->figures.peak_bytes, <=, all->peak_bytes * 85 / 100);
  }
}

static double
cost_of (const GantrySolution *solution, double host_price)
{
  return solution->figures.step_us + host_price * (double) solution->figures.host_bytes / GIB;
}

/* Host memory with a price: no combination costs less, no bound is above what one costs, and a search at another price before changes
 * neither. The dearer it is, the less of it is used. */
static void
test_host_price (void)
{
  static const double prices[] = { 0, 1e5, 1e9, 3e6, 0, 1e5 };
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GantryModule) module = make_step (context, 6);
  g_autoptr (GantryPlanner) planner = make_planner (module, 2e10);
  g_autoptr (GantryPrediction) all = gantry_prediction_new ();
  guint64 host_of_free = 0, limit;
  double time_of_free = 0;

  gantry_planner_predict (planner, NULL, all);
  limit = all->peak_bytes * 84 / 100;
  for (guint i = 0; i < G_N_ELEMENTS (prices); i++)
    {
      const GantrySolveGoal goal = { .memory_bytes = limit, .host_price = prices[i] };
      g_autoptr (GError) error = NULL;
      g_autoptr (GantrySolution) solution = gantry_solve (planner, &goal, NULL, NULL, &error);
      double least = brute_force (planner, limit, prices[i]);

      g_assert_no_error (error);
      g_assert_cmpuint (solution->figures.peak_bytes, <=, limit);
      g_assert_cmpfloat (cost_of (solution, prices[i]), <=, least * (1 + 1e-9));
      g_assert_cmpfloat (solution->bound, <=, cost_of (solution, prices[i]) * (1 + 1e-9));
      if (prices[i] == 0 && i > 0)
        g_assert_cmpfloat (solution->figures.step_us, <=, time_of_free * (1 + 1e-9));
      if (prices[i] == 0)
        {
          host_of_free = solution->figures.host_bytes;
          time_of_free = solution->figures.step_us;
        }
      g_assert_cmpuint (solution->figures.host_bytes, <=, host_of_free);
      if (prices[i] >= 1e9) /* what can be made again is */
        g_assert_cmpuint (solution->figures.host_bytes, <, host_of_free);
    }
  g_assert_cmpuint (host_of_free, >, 0);
}

static void
test_no_price (void)
{
  static const GantrySolveGoal goals[] = { { .memory_bytes = 1 << 20, .host_price = -1 }, { .memory_bytes = 1 << 20, .host_price = INFINITY } };
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GantryModule) module = make_step (context, 2);
  g_autoptr (GantryPlanner) planner = make_planner (module, 2e10);

  for (guint i = 0; i < G_N_ELEMENTS (goals); i++)
    {
      g_autoptr (GError) error = NULL;

      g_assert_null (gantry_solve (planner, &goals[i], NULL, NULL, &error));
      g_assert_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID);
    }
}

/* Where the host's limit, or the goal, is why nothing fits, that is what is told. */
static void
test_host_refusal (void)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GantryModule) module = make_step (context, 6);
  GantryTarget target;
  GantryPlanOptions options = { .target = &target };
  g_autoptr (GantryPlanner) planner = NULL;
  g_autoptr (GError) error = NULL;
  const GantrySolveGoal goal = { .memory_bytes = 1 << 20, .allowed = 1u << GANTRY_PLACEMENT_OFFLOAD };

  gantry_target_init_cpu (&target, 1);
  target.link_bandwidth = 2e10;
  target.host_limit = 128 << 10;
  planner = gantry_planner_new (module, &options, NULL, &error);
  g_assert_no_error (error);
  g_assert_null (gantry_solve (planner, &goal, NULL, NULL, &error));
  g_assert_error (error, GANTRY_ERROR, GANTRY_ERROR_NO_MEMORY);
  g_assert_nonnull (strstr (error->message, "; more than 128.0 KiB of host memory for what is offloaded, recomputation, or a smaller batch, would"));
}

/* What would help is what there is: no optimizer states where there is no optimizer, and nothing that is offloaded already. */
static void
test_advice (void)
{
  const guint8 allowed[] = { 1u << GANTRY_PLACEMENT_RECOMPUTE, 1u << GANTRY_PLACEMENT_RECOMPUTE | 1u << GANTRY_PLACEMENT_OFFLOAD };

  for (guint i = 0; i < 2; i++)
    {
      g_autoptr (GantryContext) context = gantry_context_new ();
      g_autoptr (GantryModule) module = make_step (context, 8);
      g_autoptr (GantryPlanner) planner = make_planner (module, 2e10);
      g_autoptr (GError) error = NULL;
      const GantrySolveGoal goal = { .memory_bytes = 1, .allowed = allowed[i], .seconds = 1 };
      g_autoptr (GantrySolution) none = gantry_solve (planner, &goal, NULL, NULL, &error);

      g_assert_null (none);
      g_assert_error (error, GANTRY_ERROR, GANTRY_ERROR_NO_MEMORY);
      g_assert_null (strstr (error->message, "optimizer"));
      g_assert_true ((strstr (error->message, "inputs and outputs offloaded as well") != NULL) == (i == 0));
      g_assert_nonnull (strstr (error->message, "a smaller batch"));
    }
}

/* What a click decided stays, and what is not allowed is not used. */
static void
test_clicks (void)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GantryModule) module = make_step (context, 8);
  g_autoptr (GantryPlanner) planner = make_planner (module, 2e10);
  g_autoptr (GantryPrediction) all = gantry_prediction_new ();
  g_autoptr (GantryPlacements) base = gantry_placements_new ();
  GantrySolveGoal goal = { .allowed = 1u << GANTRY_PLACEMENT_RECOMPUTE };
  g_autoptr (GantrySolution) solution = NULL;
  g_autoptr (GError) error = NULL;
  const GantryCandidate *candidates;
  guint n, clicked = 0;

  gantry_planner_predict (planner, NULL, all);
  candidates = gantry_planner_candidates (planner, &n);
  while (candidates[clicked].subject != GANTRY_SUBJECT_RESIDUAL)
    clicked++;
  gantry_placements_set (
    base, &(GantryPlacement){
            .node = candidates[clicked].node, .kind = GANTRY_PLACEMENT_OFFLOAD, .decider = GANTRY_DECIDED_BY_CLICK, .memory = GANTRY_MEMORY_PINNED_HOST });
  goal.memory_bytes = all->peak_bytes * 85 / 100;
  solution = gantry_solve (planner, &goal, base, NULL, &error);
  g_assert_no_error (error);
  for (guint i = 0; i < solution->placements->entries->len; i++)
    {
      const GantryPlacement *entry = &g_array_index (solution->placements->entries, GantryPlacement, i);

      if (entry->node == candidates[clicked].node)
        g_assert_cmpuint (entry->kind, ==, GANTRY_PLACEMENT_OFFLOAD);
      else
        g_assert_cmpuint (entry->kind, !=, GANTRY_PLACEMENT_OFFLOAD);
    }
}

/* Time is a safety, which an answer tells of; without it effort is counted, and the answer is always the same. */
static void
test_cut (void)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GantryModule) module = make_step (context, 7);
  g_autoptr (GantryPlanner) planner = make_planner (module, 3e7), other = make_planner (module, 3e7);
  g_autoptr (GantryPrediction) all = gantry_prediction_new ();
  GantrySolveGoal goal = { 0 };
  g_autoptr (GantrySolution) cut = NULL, one = NULL, two = NULL;
  g_autoptr (GError) error = NULL;

  gantry_planner_predict (planner, NULL, all);
  goal.memory_bytes = all->peak_bytes * 78 / 100;
  one = gantry_solve (planner, &goal, NULL, NULL, &error);
  g_assert_no_error (error);
  two = gantry_solve (other, &goal, NULL, NULL, &error);
  g_assert_no_error (error);
  g_assert_false (one->cut);
  g_assert_true (gantry_placements_equal (one->placements, two->placements));
  g_assert_cmpuint (one->n_predictions, ==, two->n_predictions);
  goal.seconds = 1e-6;
  cut = gantry_solve (planner, &goal, NULL, NULL, &error); /* what was found before is known */
  g_assert_no_error (error);
  g_assert_true (cut->cut);
  g_assert_cmpfloat (cut->figures.step_us, <=, one->figures.step_us * (1 + 1e-9));
}

static void
test_autotm (void)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GantryModule) module = make_step (context, 16);
  g_autoptr (GantryPlanner) planner = make_planner (module, 2e10);
  g_autoptr (GantryPrediction) all = gantry_prediction_new ();
  GantrySolveGoal goal = { .method = GANTRY_SOLVE_AUTOTM, .allowed = 1u << GANTRY_PLACEMENT_OFFLOAD };
  g_autoptr (GantrySolution) solution = NULL;
  g_autoptr (GError) error = NULL;

  gantry_planner_predict (planner, NULL, all);
  goal.memory_bytes = all->peak_bytes * 75 / 100;
  solution = gantry_solve (planner, &goal, NULL, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (solution->figures.peak_bytes, <=, goal.memory_bytes);
  for (guint i = 0; i < solution->placements->entries->len; i++)
    g_assert_cmpuint (g_array_index (solution->placements->entries, GantryPlacement, i).kind, !=, GANTRY_PLACEMENT_RECOMPUTE);
}

/* All but the first argument stay: it is in the host then, and the first work, which reads it, waits for the whole copy of it. That no
 * other copy is in the way does not hide it: the bound knows. */
static void
test_first_fetch (void)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GantryModule) module = make_step (context, 8);
  g_autoptr (GantryPlanner) planner = make_planner (module, 2e9);
  g_autoptr (GantryPlacements) base = gantry_placements_new (), offloaded = gantry_placements_new ();
  g_autoptr (GantryPrediction) all = gantry_prediction_new (), without = gantry_prediction_new ();
  g_autoptr (GantrySolution) solution = NULL;
  g_autoptr (GError) error = NULL;
  GantrySolveGoal goal = { .method = GANTRY_SOLVE_EXACT };
  guint n;
  const GantryCandidate *candidates = gantry_planner_candidates (planner, &n);

  for (guint c = 1; c < n; c++)
    gantry_placements_set (base, &(GantryPlacement){ .node = candidates[c].node, .decider = GANTRY_DECIDED_BY_CLICK });
  gantry_placements_set (offloaded, &(GantryPlacement){ .node = candidates[0].node, .kind = GANTRY_PLACEMENT_OFFLOAD, .memory = GANTRY_MEMORY_PINNED_HOST });
  gantry_planner_predict (planner, NULL, all);
  gantry_planner_predict (planner, offloaded, without);
  g_assert_cmpuint (candidates[0].subject, ==, GANTRY_SUBJECT_INPUT);
  g_assert_cmpuint (without->peak_bytes, <, all->peak_bytes);
  goal.memory_bytes = without->peak_bytes;
  solution = gantry_solve (planner, &goal, base, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpfloat (solution->figures.step_us, >, all->step_us * 1.001);
  g_assert_cmpint (solution->proof, ==, GANTRY_PROOF_PLACEMENTS);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/planner/solve/approximate", test_approximate);
  g_test_add_func ("/planner/solve/approximate-front", test_approximate_front);
  g_test_add_func ("/planner/solve/brute-force", test_brute_force);
  g_test_add_data_func ("/planner/solve/long-chain/fast-link", GUINT_TO_POINTER (4000000000u), test_long_chain);
  g_test_add_data_func ("/planner/solve/long-chain/slow-link", GUINT_TO_POINTER (300000000u), test_long_chain);
  g_test_add_data_func ("/planner/solve/long-chain/slowest-link", GUINT_TO_POINTER (30000000u), test_long_chain);
  g_test_add_func ("/planner/solve/smallest", test_smallest);
  g_test_add_func ("/planner/solve/first-fetch", test_first_fetch);
  g_test_add_func ("/planner/solve/front", test_front);
  g_test_add_func ("/planner/solve/refusals", test_refusals);
  g_test_add_func ("/planner/solve/least", test_least);
  g_test_add_func ("/planner/solve/known", test_known);
  g_test_add_func ("/planner/solve/no-goal", test_no_goal);
  g_test_add_func ("/planner/solve/advice", test_advice);
  g_test_add_func ("/planner/solve/host-limit", test_host_limit);
  g_test_add_func ("/planner/solve/host-price", test_host_price);
  g_test_add_func ("/planner/solve/no-price", test_no_price);
  g_test_add_func ("/planner/solve/host-refusal", test_host_refusal);
  g_test_add_func ("/planner/solve/clicks", test_clicks);
  g_test_add_func ("/planner/solve/autotm", test_autotm);
  g_test_add_func ("/planner/solve/cut", test_cut);
  g_test_add_data_func ("/planner/solve/methods/4", GUINT_TO_POINTER (4), test_methods);
  g_test_add_data_func ("/planner/solve/methods/13", GUINT_TO_POINTER (13), test_methods);
  return g_test_run ();
}
