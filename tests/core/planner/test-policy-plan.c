/* SPDX-License-Identifier: Apache-2.0 */
/* Policies all the way to a plan: the planner takes every entry, calls the same values what the table calls them, and runs
 * again what the policy lets it, from where the policy says. */
#include "core/planner/planner.h"
#include "core/plan/compression.h"
#include "tests/core/planner/policy/policy-test.h"

typedef struct
{
  PolicyTest test;
  GantryPlanner *planner;
  GantryPlan *plan;
} PlanTest;

static void
plan_test_clear (PlanTest *t)
{
  gantry_plan_unref (t->plan);
  gantry_planner_free (t->planner);
  policy_test_clear (&t->test);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (PlanTest, plan_test_clear)

static PlanTest
plan_test (const char *module, const char *policy)
{
  static const GantryTarget target = { "test", 1e9, 1e9, 1, 1e9, 0 };
  GantryPlanOptions options = { .target = &target, .order = GANTRY_ORDER_PROGRAM };
  PlanTest t = { policy_test (module) };
  g_autoptr (GError) error = NULL;

  apply_policy (&t.test, policy);
  t.planner = gantry_planner_new (t.test.module, &options, NULL, &error);
  g_assert_no_error (error);
  t.plan = gantry_planner_plan (t.planner, t.test.table, NULL, &error);
  g_assert_no_error (error);
  return t;
}

/* "4 9": nodes that run twice, in their order; of copies "4<" out of the device and "4>" into it. */
static char *
steps_text (const GantryPlan *plan, gboolean copies)
{
  g_autoptr (GString) text = g_string_new (NULL);

  for (guint32 s = 0; s < plan->n_steps; s++)
    {
      const GantryPlanStep *step = &plan->steps[s];

      if (copies ? step->kind == GANTRY_STEP_COPY : step->kind == GANTRY_STEP_RECOMPUTE)
        g_string_append_printf (text, "%s%u%s", text->len > 0 ? " " : "", step->node, !copies ? "" : step->queue == GANTRY_QUEUE_TO_HOST ? "<" : ">");
    }
  return g_string_free (g_steal_pointer (&text), FALSE);
}

static void
expect_plan (const char *module, const char *policy, const char *again, const char *copied)
{
  g_auto (PlanTest) t = plan_test (module, policy);
  g_autofree char *runs = steps_text (t.plan, FALSE), *copies = steps_text (t.plan, TRUE);

  for (guint32 i = 0; i < t.plan->n_problems; i++)
    g_error ("%%%u: %s", t.plan->problems[i].node, t.plan->problems[i].reason);
  g_assert_cmpstr (runs, ==, again);
  g_assert_cmpstr (copies, ==, copied);
}

/* "4 5 7": what is run; "4-" a conversion to fewer bits, "4+" back from them. */
static char *
order_text (const GantryPlan *plan)
{
  g_autoptr (GString) text = g_string_new (NULL);

  for (guint32 s = plan->n_init_steps; s < plan->n_steps; s++)
    g_string_append_printf (text, "%s%u%s", text->len > 0 ? " " : "", plan->steps[s].node,
                            plan->steps[s].kind != GANTRY_STEP_CONVERT ? ""
                            : plan->steps[s].instance > 0              ? "+"
                                                                       : "-");
  return g_string_free (g_steal_pointer (&text), FALSE);
}

/* Converted before the last forward use, and back before each later use that is not close to the one before; a work that is run once
 * more reads what was converted back, too. */
static void
test_fewer_bits (void)
{
  static const struct
  {
    const char *policy, *order;
  } cases[] = {
    { "name:h bf16", "4 5 5- 7 8 9 10 5+ 11 12 13 14 15" },
    { "name:a2 int8", "4 5 7 7- 8 9 7+ 10 11 12 13 14 15" },
    { "name:a1 int8; name:h recompute", "4 4- 5 7 8 9 10 4+ 5 11 12 4+ 13 14 15" },
    { "role:residual bf16", "4 4- 5 5- 7 7- 8 9 7+ 10 5+ 11 12 4+ 13 14 15" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_auto (PlanTest) t = plan_test (two_layers, cases[i].policy);
      g_autofree char *order = order_text (t.plan), *told = gantry_plan_approximate_text (t.plan);

      g_assert_cmpuint (t.plan->n_problems, ==, 0);
      g_assert_cmpstr (order, ==, cases[i].order);
      g_assert_nonnull (told);
    }
}

/* What cannot be stored so: with the reason. */
static void
test_fewer_bits_refused (void)
{
  static const char integers[] = "module \"m\" { func @main #1 (%1 \"x\": i32[64]) -> (%3) {"
                                 "%2 \"i\" = negate(%1): i32[64] %3 = add(%2, %2): i32[64] phase(backward) } }";
  static const struct
  {
    const char *policy, *problem;
  } cases[] = {
    { "name:w1 bf16", "only residuals" },
    { "role:input int8", "only residuals" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_auto (PlanTest) t = plan_test (two_layers, cases[i].policy);
      const GantryPolicyReport *report = g_ptr_array_index (t.test.reports, 0);

      g_assert_nonnull (strstr (report->problem, cases[i].problem));
      g_assert_null (gantry_plan_approximate_text (t.plan));
    }
  for (guint kind = GANTRY_PLACEMENT_BF16; kind <= GANTRY_PLACEMENT_INT8; kind++)
    {
      g_autofree char *policy = g_strdup_printf ("name:i %s", gantry_placement_kind_name (kind));
      g_auto (PlanTest) t = plan_test (integers, policy);
      const GantryPolicyReport *report = g_ptr_array_index (t.test.reports, 0);
      /* By a click no policy has looked at it before. */
      const GantryPlacement click = { 2, (guint8) kind, GANTRY_DECIDED_BY_CLICK, GANTRY_MEMORY_DEVICE, GANTRY_SUBJECT_RESIDUAL };
      g_autoptr (GantryPlacements) clicks = gantry_placements_new ();
      g_autoptr (GantryPlan) plan = NULL;

      g_assert_nonnull (strstr (report->problem, "can be stored"));
      gantry_placements_set (clicks, &click);
      plan = gantry_planner_plan (t.planner, clicks, NULL, NULL);
      g_assert_cmpuint (plan->n_problems, ==, 1);
      g_assert_nonnull (strstr (plan->problems[0].reason, "can be stored"));
    }
}

/* A maximum whose gradient finds it again, by itself and within a fusion; the sign of "r" alone is read. */
static const char extremum[] = "module \"m\" { func @main #1 (%1 \"x\": f32[4,8]) -> (%9, %13, %15, %16, %17, %19) {"
                               "%2 \"zero\" = constant() {value = splat<f32[4,8]: 0>}: f32[4,8] %3 \"a\" = sine(%1): f32[4,8] %4 \"t\" = tanh(%3): f32[4,8]"
                               "%5 \"m\" = reduce(%4) {kind = \"max\", dimensions = [1]}: f32[4]"
                               "%6 \"s\" = cosine(%3): f32[4,8] %7 \"f\" = exponential(%3): f32[4,8] %8 \"r\" = negate(%3): f32[4,8]"
                               "%9 \"loss\" = reduce(%5) {kind = \"add\", dimensions = [0]}: f32[]"
                               "%10 = cosine(%1): f32[4,8] phase(backward) %16 = cosine(%3): f32[4,8] phase(backward)"
                               "%11 = broadcast_in_dim(%5) {shape = [4, 8], broadcast_dimensions = [0]}: f32[4,8] phase(backward)"
                               "%12 = compare(%4, %11) {comparison_direction = \"EQ\"}: bool[4,8] phase(backward)"
                               "%13 = select(%12, %10, %11): f32[4,8] phase(backward)"
                               "%14 = sort(%6, %10) {dimension = 1}: (f32[4,8], f32[4,8]) phase(backward)"
                               "%15 = result(%14) {index = 1}: f32[4,8] phase(backward)"
                               "%17 = fusion(%7, %10) {body = @equal #2}: bool[4,8] phase(backward)"
                               "%19 = compare(%8, %2) {comparison_direction = \"GT\"}: bool[4,8] phase(backward) }"
                               "func @equal #2 (%30: f32[4,8], %31: f32[4,8]) -> (%33) {"
                               "%32 = negate(%30): f32[4,8] %33 = compare(%32, %31) {comparison_direction = \"GE\"}: bool[4,8] } }";

static void
test_fewer_bits_compared (void)
{
  /* clang-format off */
  static const struct { const char *policy; guint n_problems; const char *refused, *problem; guint32 n_stored; } cases[] = {
    { "name:t bf16", 0, "later phases compare it", NULL, 0 }, { "name:m bf16", 0, "later phases compare it", NULL, 0 },
    { "name:s bf16", 0, "later phases compare it", NULL, 0 }, { "name:f int8", 0, "later phases compare it", NULL, 0 },
    { "name:r bf16", 0, NULL, NULL, 1 }, { "name:r int8", 0, "branch on its sign", NULL, 0 },
    { "name:a bf16; name:t recompute", 1, NULL, "what is made again from it is compared", 0 },
    { "name:a bf16; name:r recompute", 0, NULL, NULL, 1 },
    { "name:a int8; name:r recompute", 1, NULL, "what is made again from it is asked for its sign", 0 },
  };
  /* clang-format on */

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_auto (PlanTest) t = plan_test (extremum, cases[i].policy);
      const GantryPolicyReport *report = g_ptr_array_index (t.test.reports, 0);
      GantryCompressionSums sums;

      gantry_plan_sum_compression (t.plan, &sums);
      g_test_message ("%s", cases[i].policy);
      g_assert_cmpint (report->problem != NULL, ==, cases[i].refused != NULL);
      g_assert_true (cases[i].refused == NULL || strstr (report->problem, cases[i].refused) != NULL);
      g_assert_cmpuint (t.plan->n_problems, ==, cases[i].n_problems);
      if (cases[i].n_problems > 0)
        g_assert_nonnull (strstr (t.plan->problems[0].reason, cases[i].problem));
      g_assert_cmpuint (sums.values, ==, cases[i].n_stored);
    }
}

/* A branch of the forward phase that is taken once more, by whole numbers made of what was rounded. */
static void
test_fewer_bits_branch (void)
{
  static const char branch[] = "module \"m\" { func @main #1 (%1 \"x\": f32[4,64]) -> (%6, %7, %8) {"
                               "%2 \"h\" = sine(%1): f32[4,64] %3 \"three\" = constant() {value = splat<i32[4,64]: 3>}: i32[4,64]"
                               "%4 \"whole\" = convert(%2) {to = type i32[]}: i32[4,64]"
                               "%5 \"taken\" = compare(%4, %3) {comparison_direction = \"EQ\"}: bool[4,64]"
                               "%6 \"loss\" = reduce(%2) {kind = \"add\", dimensions = [0, 1]}: f32[]"
                               "%7 = select(%5, %1, %2): f32[4,64] phase(backward) %8 = cosine(%2): f32[4,64] phase(backward) } }";
  static const struct
  {
    const char *policy;
    guint n_problems;
  } cases[] = { { "name:h bf16", 0 }, { "name:h bf16; name:taken recompute", 1 } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_auto (PlanTest) t = plan_test (branch, cases[i].policy);
      g_autofree char *told = NULL;

      g_assert_cmpuint (t.plan->n_problems, ==, cases[i].n_problems);
      told = gantry_plan_approximate_text (t.plan);
      g_assert_cmpint (told == NULL, ==, cases[i].n_problems > 0);
    }
}

/* Four floats take 16 bytes, and 68 in a block of 8 bits. */
static void
test_fewer_bits_small (void)
{
  g_auto (PlanTest) t = plan_test (extremum, "name:m int8");
  const GantryPolicyReport *report = g_ptr_array_index (t.test.reports, 0);

  g_assert_nonnull (strstr (report->problem, "no fewer bytes"));
  g_assert_null (gantry_plan_approximate_text (t.plan));
}

/* What the step of @node reads first, or makes. Returns: a buffer */
static guint32
buffer_of (const GantryPlan *plan, guint32 node, gboolean made)
{
  for (guint32 s = plan->n_init_steps; s < plan->n_steps; s++)
    if (plan->steps[s].node == node && plan->steps[s].kind == GANTRY_STEP_RUN)
      return plan->refs[plan->steps[s].first_ref + (made ? plan->steps[s].n_refs - 1 : 0)];
  g_assert_not_reached ();
}

/* "h" is made again from what was rounded; the forward phase, which reads it after that, reads the first instance. */
static void
test_fewer_bits_forward (void)
{
  static const char late_loss[] = "module \"m\" { func @main #1 (%1 \"x\": f32[4,8]) -> (%4, %5) {"
                                  "%2 \"a\" = sine(%1): f32[4,8] %3 \"h\" = sine(%2): f32[4,8] %4 = cosine(%3): f32[4,8] phase(backward)"
                                  "%5 \"loss\" = reduce(%3) {kind = \"add\", dimensions = [0, 1]}: f32[] } }";
  static const struct
  {
    const char *policy;
    gboolean first;
  } cases[] = { { "name:a int8; name:h recompute", TRUE }, { "name:h recompute", FALSE } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_auto (PlanTest) t = plan_test (late_loss, cases[i].policy);

      g_assert_cmpuint (t.plan->n_problems, ==, 0);
      g_assert_cmpint (buffer_of (t.plan, 5, FALSE) == buffer_of (t.plan, 3, TRUE), ==, cases[i].first);
      g_assert_cmpuint (buffer_of (t.plan, 4, FALSE), !=, buffer_of (t.plan, 3, TRUE));
    }
}

/* The table and the planner mean the same values, and the same by what they call them. */
static void
check_candidates (const char *module)
{
  g_auto (PlanTest) t = plan_test (module, "");
  g_autofree guint8 *subjects = gantry_placement_subjects (t.test.module);
  g_autofree guint32 *owners = gantry_placement_owners (t.test.module);
  const GantryFunction *entry = gantry_module_entry (t.test.module);
  guint n;
  const GantryCandidate *candidates = gantry_planner_candidates (t.planner, &n);

  for (guint32 p = entry->first_node; p < entry->first_node + entry->n_nodes; p++)
    {
      const GantryNode *node = &t.test.module->nodes[p], *owner = &t.test.module->nodes[owners[p]];
      gint which = gantry_planner_candidate_of (t.planner, node->id);

      if (node->op == GANTRY_OP_TUPLE)
        continue;
      if (which < 0)
        g_assert_cmpint (subjects[owners[p]], ==, GANTRY_SUBJECT_NONE);
      else
        {
          g_assert_cmpuint (candidates[which].node, ==, owner->id);
          g_assert_cmpint (candidates[which].subject, ==, subjects[owners[p]]);
        }
    }
}

static const char layers[] =
  "module \"m\" { func @main #1 (%1: f32[4,16], %2: f32[2,16,16] {role = \"parameter\", alias = 1}, %3: f32[4,16]@pinned_host "
  "{role = \"state\"}) -> (%19, %24) {"
  "%4 = slice(%2) {start_indices = [0, 0, 0], limit_indices = [1, 16, 16]}: f32[1,16,16] scope(\"n/iteration.0\")"
  "%5 = reshape(%4) {shape = [16, 16]}: f32[16,16] scope(\"n/iteration.0\")"
  "%6 = dot_general(%1, %5) {lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]}: f32[4,16] scope(\"n/iteration.0\")"
  "%7 = tanh(%6): f32[4,16] scope(\"n/iteration.0\") %8 = negate(%7): f32[4,16] scope(\"n/iteration.0\")"
  "%9 = slice(%2) {start_indices = [1, 0, 0], limit_indices = [2, 16, 16]}: f32[1,16,16] scope(\"n/iteration.1\")"
  "%10 = reshape(%9) {shape = [16, 16]}: f32[16,16] scope(\"n/iteration.1\")"
  "%11 = dot_general(%8, %10) {lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]}: f32[4,16] scope(\"n/iteration.1\")"
  "%12 = checkpoint_name(%11) {name = \"h\"}: f32[4,16] scope(\"n/iteration.1\")"
  "%13 = tanh(%12): f32[4,16] scope(\"n/iteration.1\") %14 = negate(%13): f32[4,16] scope(\"n/iteration.1\")"
  "%15 = copy(%3) {memory = \"device\"}: f32[4,16] %16 = add(%14, %15): f32[4,16] %17 = exponential(%16): f32[4,16]"
  "%18 = reduce(%17) {kind = \"add\", dimensions = [0, 1]}: f32[] %19 = negate(%18): f32[]"
  "%20 = broadcast_in_dim(%18) {shape = [4, 16], broadcast_dimensions = ints[]}: f32[4,16] phase(backward)"
  "%21 = multiply(%20, %13): f32[4,16] phase(backward) scope(\"n/iteration.1\")"
  "%22 = multiply(%21, %7): f32[4,16] phase(backward) scope(\"n/iteration.0\")"
  "%23 = broadcast_in_dim(%22) {shape = [2, 16, 4, 16], broadcast_dimensions = [2, 3]}: f32[2,16,4,16] phase(backward)"
  "%25 = reduce(%23) {kind = \"add\", dimensions = [2]}: f32[2,16,16] phase(backward)"
  "%24 = add(%2, %25): f32[2,16,16] phase(update) } }";

static void
test_candidates (void)
{
  check_candidates (two_layers);
  check_candidates (layers);
}

static void
test_two_layers (void)
{
  expect_plan (two_layers, "policy everything_saveable", "", "");
  expect_plan (two_layers, "policy nothing_saveable", "4 5 7", "");
  expect_plan (two_layers, "policy dots_saveable", "5", "");
  expect_plan (two_layers, "policy save_only_these_names(h)", "7 4", "");
  expect_plan (two_layers, "policy save_and_offload_only_these_names([], [h])", "7 4", "5< 5>");
  expect_plan (two_layers, "policy offload_dot_with_no_batch_dims", "5", "4< 7< 7> 4>");
  expect_plan (two_layers, "role:residual offload", "", "4< 5< 7< 7> 5> 4>");
}

/* The carry %8 is read by no backward node, and the products before the tanh are not either. */
static void
test_start_of_recomputation (void)
{
  expect_plan (layers, "op:tanh recompute", "6 7 8 11 13", "3>");
  expect_plan (layers, "policy nothing_saveable", "11 13 6 7", "3>");
  expect_plan (layers, "policy dots_saveable", "13 7", "3>");
  expect_plan (layers, "policy save_only_these_names(h)", "13 6 7", "3>");
  expect_plan (layers, "policy save_and_offload_only_these_names([], [h])", "13 6 7", "11< 3> 11>");
  expect_plan (layers, "policy everything_saveable", "", "3>");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/planner/policy-plan/candidates", test_candidates);
  g_test_add_func ("/planner/policy-plan/fewer-bits", test_fewer_bits);
  g_test_add_func ("/planner/policy-plan/fewer-bits-refused", test_fewer_bits_refused);
  g_test_add_func ("/planner/policy-plan/fewer-bits-compared", test_fewer_bits_compared);
  g_test_add_func ("/planner/policy-plan/fewer-bits-branch", test_fewer_bits_branch);
  g_test_add_func ("/planner/policy-plan/fewer-bits-small", test_fewer_bits_small);
  g_test_add_func ("/planner/policy-plan/fewer-bits-forward", test_fewer_bits_forward);
  g_test_add_func ("/planner/policy-plan/two-layers", test_two_layers);
  g_test_add_func ("/planner/policy-plan/start-of-recomputation", test_start_of_recomputation);
  return g_test_run ();
}
