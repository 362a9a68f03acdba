/* SPDX-License-Identifier: Apache-2.0 */
/* The memory analysis against the plan step by step, and its savings against predictions asked one by one. */
#include "core/graph/node-text.h"
#include "core/planner/report.h"
#include "core/plan/plan-alive.h"
#include "tests/core/planner/policy/policy-test.h"

typedef struct
{
  PolicyTest test;
  GantryPlanner *planner;
  GantryPlan *plan;
  GantryMemoryAnalysis *analysis;
} ReportTest;

static void
report_test_clear (ReportTest *t)
{
  gantry_memory_analysis_free (t->analysis);
  gantry_plan_unref (t->plan);
  gantry_planner_free (t->planner);
  policy_test_clear (&t->test);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (ReportTest, report_test_clear)

static ReportTest
report_test (const char *module, const char *policy, guint most)
{
  static const GantryTarget target = { "test", 1e9, 1e9, 1, 1e8, 0 };
  GantryPlanOptions options = { .target = &target };
  ReportTest t = { policy_test (module) };
  g_autoptr (GError) error = NULL;

  apply_policy (&t.test, policy);
  t.planner = gantry_planner_new (t.test.module, &options, NULL, &error);
  g_assert_no_error (error);
  t.plan = gantry_planner_plan (t.planner, t.test.table, NULL, &error);
  g_assert_no_error (error);
  t.analysis = gantry_memory_analysis_new (t.test.module, t.plan, t.planner, t.test.table, most);
  return t;
}

/* Sums by role, step by step, in the slow way. */
static void
check_sums (const ReportTest *t)
{
  const GantryMemoryAnalysis *analysis = t->analysis;
  guint64 largest[GANTRY_N_ROLES] = { 0 }, sum = 0;

  for (guint32 s = 0; s < t->plan->n_steps; s++)
    {
      g_autoptr (GArray) alive = gantry_plan_alive_at (t->plan, s);
      guint64 now[GANTRY_N_ROLES] = { 0 };

      for (guint i = 0; i < alive->len; i++)
        {
          const GantryPlanAlive *entry = &g_array_index (alive, GantryPlanAlive, i);

          now[t->plan->buffers[entry->buffer].role] += entry->bytes;
        }
      for (guint role = 0; role < GANTRY_N_ROLES; role++)
        {
          largest[role] = MAX (largest[role], now[role]);
          if (s == t->plan->peak_step)
            g_assert_cmpuint (analysis->at_peak[role], ==, now[role]);
        }
    }
  for (guint role = 0; role < GANTRY_N_ROLES; role++)
    {
      g_assert_cmpuint (analysis->largest[role], ==, largest[role]);
      sum += analysis->at_peak[role];
    }
  g_assert_cmpuint (sum, ==, analysis->live_bytes);
  g_assert_cmpuint (sum, ==, t->plan->live_bytes[t->plan->peak_step]);
  g_assert_cmpuint (analysis->lower_bound_bytes, <=, analysis->peak_bytes);
}

/* What each line says, asked anew. */
static void
check_savings (const ReportTest *t, guint most)
{
  g_autoptr (GantryPrediction) now = gantry_prediction_new ();
  g_autoptr (GantryPrediction) then = gantry_prediction_new ();
  guint n;
  const GantryCandidate *candidates = gantry_planner_candidates (t->planner, &n);

  gantry_planner_predict (t->planner, t->test.table, now);
  for (guint i = 0; i < t->analysis->holders->len; i++)
    {
      const GantryMemoryHolder *holder = &g_array_index (t->analysis->holders, GantryMemoryHolder, i);
      gint which = gantry_planner_candidate_of (t->planner, holder->node);

      g_assert_true (i == 0 || holder->bytes <= g_array_index (t->analysis->holders, GantryMemoryHolder, i - 1).bytes);
      for (GantryPlacementKind kind = GANTRY_PLACEMENT_RECOMPUTE; kind <= GANTRY_PLACEMENT_OFFLOAD; kind++)
        {
          gint64 saves = kind == GANTRY_PLACEMENT_RECOMPUTE ? holder->saves_recompute : holder->saves_offload;
          double costs = kind == GANTRY_PLACEMENT_RECOMPUTE ? holder->costs_recompute : holder->costs_offload;
          g_autoptr (GantryPlacements) changed = gantry_placements_copy (t->test.table);

          if (i >= most || holder->subject == GANTRY_SUBJECT_NONE || which < 0 || !(candidates[which].allowed & 1u << kind) || holder->kind == kind)
            {
              g_assert_cmpint (saves, ==, G_MININT64);
              continue;
            }
          gantry_placements_set (changed, &(GantryPlacement){ holder->node, (guint8) kind, GANTRY_DECIDED_BY_CLICK,
                                                              kind == GANTRY_PLACEMENT_OFFLOAD ? GANTRY_MEMORY_PINNED_HOST : 0, holder->subject });
          gantry_planner_predict (t->planner, changed, then);
          g_assert_cmpint (saves, ==, (gint64) now->peak_bytes - (gint64) then->peak_bytes);
          g_assert_cmpfloat (costs, ==, then->step_us - now->step_us);
        }
    }
}

static void
check_scopes (const ReportTest *t)
{
  GantryContext *context = t->test.context;
  const GArray *scopes = t->analysis->scopes;

  g_assert_cmpuint (g_array_index (scopes, GantryMemoryScope, 0).bytes, ==, t->analysis->live_bytes);
  for (guint i = 0; i < scopes->len; i++)
    {
      const GantryMemoryScope *scope = &g_array_index (scopes, GantryMemoryScope, i);
      const char *path = gantry_context_scope_path (context, scope->scope);
      gsize length = strlen (path);
      guint64 sum = 0;

      for (guint k = 0; k < t->analysis->holders->len; k++)
        {
          const GantryMemoryHolder *holder = &g_array_index (t->analysis->holders, GantryMemoryHolder, k);
          const GantryNode *node = gantry_module_node (t->test.module, holder->node);
          const char *own = gantry_context_scope_path (context, node->scope);

          if (length == 0 || (g_str_has_prefix (own, path) && (own[length] == '/' || own[length] == '\0')))
            sum += holder->bytes;
        }
      g_assert_cmpuint (scope->bytes, ==, sum);
      g_assert_cmpuint (sum, >, 0);
    }
}

static const GantryMemoryHolder *
holder_of (const ReportTest *t, guint32 node)
{
  for (guint i = 0; i < t->analysis->holders->len; i++)
    if (g_array_index (t->analysis->holders, GantryMemoryHolder, i).node == node)
      return &g_array_index (t->analysis->holders, GantryMemoryHolder, i);
  return NULL;
}

static const char *const policies[] = {
  "",
  "policy nothing_saveable",
  "policy dots_saveable",
  "policy save_and_offload_only_these_names([], [h])",
  "role:residual offload",
  "role:parameter offload; id:4 recompute",
};

static void
test_two_layers (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (policies); i++)
    {
      g_auto (ReportTest) t = report_test (two_layers, policies[i], 100);

      check_sums (&t);
      check_savings (&t, 100);
      check_scopes (&t);
      g_assert_cmpuint (t.analysis->peak_bytes, ==, gantry_plan_memory_bytes (t.plan, GANTRY_MEMORY_DEVICE));
      g_assert_cmpuint (t.analysis->host_peak_bytes, ==, gantry_plan_host_bytes (t.plan));
      g_assert_cmpuint (t.analysis->device.bytes[GANTRY_PART_ARGUMENTS], ==, t.analysis->argument_bytes + t.analysis->output_bytes - t.analysis->alias_bytes);
    }
}

/* Arguments are the caller's and stay: the table of the analysis and the list at any step have the same words for it. */
static void
check_arguments (const ReportTest *t)
{
  g_autofree char *text = gantry_memory_analysis_to_text (t->analysis, t->test.module, 100);
  guint n = 0;

  g_assert_true (t->plan->resident);
  g_assert_nonnull (strstr (text, "until the end (argument)"));
  for (guint32 s = 0; s < t->plan->n_steps; s++)
    {
      g_autoptr (GArray) alive = gantry_plan_alive_at (t->plan, s);

      for (guint i = 0; i < alive->len; i++)
        {
          const GantryPlanAlive *entry = &g_array_index (alive, GantryPlanAlive, i);
          gboolean is_argument = t->plan->buffers[entry->buffer].category == GANTRY_BUFFER_INPUT;
          g_autofree char *until = gantry_node_until_text (t->test.module, entry->until_node, is_argument);

          g_assert_cmpint (strcmp (until, "the end (argument)") == 0, ==, is_argument);
          n += is_argument;
        }
    }
  g_assert_cmpuint (n, >, 0);
}

/* Sizes by hand: x 128 bytes, w1 and w2 256 each; results 64 (a scalar) and 256 each, nothing donated. */
static void
test_sizes (void)
{
  g_auto (ReportTest) keep = report_test (two_layers, "", 0);
  g_auto (ReportTest) host = report_test (two_layers, "role:parameter offload; role:residual offload", 0);

  g_assert_cmpuint (keep.analysis->argument_bytes, ==, 128 + 256 + 256);
  g_assert_cmpuint (keep.analysis->output_bytes, ==, 64 + 256 + 256);
  g_assert_cmpuint (keep.analysis->alias_bytes, ==, 0);
  g_assert_cmpuint (keep.analysis->temp_bytes, ==,
                    keep.analysis->peak_bytes - keep.analysis->device.bytes[GANTRY_PART_CONSTANTS] - keep.analysis->argument_bytes
                      - keep.analysis->output_bytes);
  g_assert_cmpuint (keep.analysis->host_argument_bytes, ==, 0);
  g_assert_cmpuint (keep.analysis->host_temp_bytes, ==, 0);
  g_assert_cmpuint (keep.analysis->largest[GANTRY_ROLE_PARAMETER], ==, 512);
  g_assert_cmpuint (keep.analysis->largest[GANTRY_ROLE_INPUT], ==, 128);
  /* Three residuals of 128 bytes together, when the last is made. */
  g_assert_cmpuint (keep.analysis->largest[GANTRY_ROLE_RESIDUAL], ==, 384);
  g_assert_cmpint (holder_of (&keep, 2)->subject, ==, GANTRY_SUBJECT_PARAMETER);
  g_assert_cmpuint (holder_of (&keep, 2)->until_node, ==, 0);
  check_arguments (&keep);
  g_assert_cmpint (holder_of (&keep, 2)->saves_offload, ==, G_MININT64);
  g_assert_cmpuint (host.analysis->argument_bytes, ==, 128);
  g_assert_cmpuint (host.analysis->host_argument_bytes, ==, 512);
  g_assert_cmpuint (host.analysis->host_temp_bytes, >=, 128);
}

/* A donated argument that the last step writes over is needed until then, whoever asks; one that stays until the end. */
static void
test_donated (void)
{
  g_auto (ReportTest) t = report_test ("module \"m\" { func @main #1 (%1: f32[64] {role = \"state\", alias = 0}, %2: f32[64]) -> (%4) {"
                                       "%3 = tanh(%2): f32[64] %4 = add(%1, %3): f32[64] phase(update) } }",
                                       "", 0);
  guint n = 0;

  for (guint32 s = 0; s < t.plan->n_steps; s++)
    {
      g_autoptr (GArray) alive = gantry_plan_alive_at (t.plan, s);

      for (guint i = 0; i < alive->len; i++)
        {
          const GantryPlanAlive *entry = &g_array_index (alive, GantryPlanAlive, i);

          g_assert_cmpuint (gantry_plan_until_node (t.plan, entry->buffer), ==, entry->until_node);
          n += entry->until_node != 0 && t.plan->buffers[entry->buffer].category == GANTRY_BUFFER_INPUT;
        }
    }
  g_assert_cmpuint (n, >, 0);
  g_assert_cmpuint (gantry_plan_until_node (t.plan, gantry_plan_buffer_of (t.plan, 1, 0)), ==, 4);
  g_assert_cmpuint (gantry_plan_until_node (t.plan, gantry_plan_buffer_of (t.plan, 2, 0)), ==, 0);
  g_assert_cmpuint (gantry_plan_until_node (t.plan, gantry_plan_buffer_of (t.plan, 4, 0)), ==, 0);
}

/* What recomputation frees at the peak shows in the ranking before it is asked for. */
static void
test_ranking (void)
{
  g_autofree char *module = g_strdup (
    "module \"m\" { func @main #1 (%1: f32[4]) -> (%12) {"
    "%2 = broadcast_in_dim(%1) {shape = [64, 4], broadcast_dimensions = [1]}: f32[64,4] scope(\"net/small\")"
    "%3 = tanh(%2): f32[64,4] scope(\"net/small\")"
    "%4 = reduce(%3) {kind = \"add\", dimensions = [0]}: f32[4] scope(\"net/small\")"
    "%5 = broadcast_in_dim(%4) {shape = [1000, 4], broadcast_dimensions = [1]}: f32[1000,4] scope(\"net/big\")"
    "%6 = sine(%5): f32[1000,4] scope(\"net/big\")"
    "%7 = reduce(%6) {kind = \"add\", dimensions = [0, 1]}: f32[] scope(\"net/big\")"
    "%8 = broadcast_in_dim(%7) {shape = [1000, 4], broadcast_dimensions = ints[]}: f32[1000,4] phase(backward) scope(\"net/big\")"
    "%9 = cosine(%6): f32[1000,4] phase(backward) scope(\"net/big\")"
    "%10 = multiply(%8, %9): f32[1000,4] phase(backward) scope(\"net/big\")"
    "%11 = reduce(%10) {kind = \"add\", dimensions = [0]}: f32[4] phase(backward) scope(\"net/big\")"
    "%14 = broadcast_in_dim(%11) {shape = [64, 4], broadcast_dimensions = [1]}: f32[64,4] phase(backward) scope(\"net/small\")"
    "%13 = multiply(%3, %14): f32[64,4] phase(backward) scope(\"net/small\")"
    "%12 = reduce(%13) {kind = \"add\", dimensions = [0]}: f32[4] phase(backward) } }");
  g_auto (ReportTest) t = report_test (module, "", 5);
  const GantryMemoryHolder *small = holder_of (&t, 3);
  g_autofree char *text = gantry_memory_analysis_to_text (t.analysis, t.test.module, 5);
  g_autofree char *one = gantry_memory_analysis_to_text (t.analysis, t.test.module, 1);
  g_autofree char *none = gantry_memory_analysis_to_text (t.analysis, t.test.module, 0);

  check_sums (&t);
  check_savings (&t, 5);
  check_scopes (&t);
  /* %3 waits through the whole of net/big for %13. */
  g_assert_nonnull (small);
  g_assert_cmpuint (small->bytes, ==, 1024);
  g_assert_cmpuint (small->until_node, ==, 13);
  g_assert_cmpint (small->saves_recompute, ==, 1024);
  g_assert_cmpfloat (small->costs_recompute, >, 0);
  g_assert_cmpint (small->saves_offload, ==, 1024);
  g_assert_nonnull (strstr (text, "1.00 KiB"));
  g_assert_nonnull (strstr (text, "%3 tanh '%3', until %13 multiply '%13'"));
  g_assert_nonnull (strstr (text, "net/big"));
  /* As many lines as were asked for, and how many there are beside them. */
  g_assert_cmpuint (t.analysis->holders->len, >, 1);
  g_assert_nonnull (strstr (one, "recompute saves"));
  g_assert_nonnull (strstr (one, " smaller ones\n"));
  g_assert_cmpuint (strlen (one), <, strlen (text));
  g_assert_null (strstr (none, "recompute saves"));
  /* Who adds up the roles gets the peak. */
  g_assert_nonnull (strstr (strstr (none, "\nrole "), "\nsum, at least "));
  g_assert_nonnull (strstr (text, "(all values; constants and code are of no scope)"));
}

static void
test_no_steps (void)
{
  g_auto (ReportTest) t = report_test ("module \"m\" { func @main #1 (%1: f32[4]) -> (%1) { } }", "", 5);
  g_autofree char *text = gantry_memory_analysis_to_text (t.analysis, t.test.module, 5);

  /* The argument is there all the same. */
  g_assert_cmpuint (t.analysis->holders->len, ==, 1);
  g_assert_cmpuint (t.analysis->at_peak[t.plan->buffers[0].role], ==, 64);
  g_assert_cmpuint (t.analysis->largest[t.plan->buffers[0].role], ==, 64);
  g_assert_cmpuint (t.analysis->live_bytes, ==, 64);
  g_assert_cmpuint (t.analysis->argument_bytes, ==, 64);
  g_assert_cmpuint (t.analysis->temp_bytes, ==, 0);
  g_assert_cmpuint (t.analysis->peak_bytes, ==, 64);
  g_assert_true (g_str_has_prefix (text, "peak "));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/planner/report/two-layers", test_two_layers);
  g_test_add_func ("/planner/report/sizes", test_sizes);
  g_test_add_func ("/planner/report/donated", test_donated);
  g_test_add_func ("/planner/report/ranking", test_ranking);
  g_test_add_func ("/planner/report/no-steps", test_no_steps);
  return g_test_run ();
}
