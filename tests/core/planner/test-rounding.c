/* SPDX-License-Identifier: Apache-2.0 */
/* Which residuals may be stored in fewer bits: by what the backward phase makes of them. A rule and a click are refused for the same
 * reason. */
#include "core/planner/planner.h"
#include "tests/core/planner/policy/policy-test.h"

enum
{
  NEITHER,
  BF16,
  BOTH
};

/* "h", %3, is the residual; %8, f32[4,64] of the backward phase, is made from it and from %2, of which nothing is known. %20 is 0, %21 is 1,
 * %22 is 1e-5 and %23 is 2. A node ends with a semicolon. */
static const struct
{
  const char *made;
  guint8 allowed;
} cases[] = {
  { "%8 = multiply(%3, %2): <T>;", BOTH },
  { "%8 = tanh(%3): <T>;", BOTH },
  /* comparisons */
  { "%4 = compare(%3, %2) {comparison_direction = \"GT\"}: <P>; %8 = select(%4, %2, %3): <T>;", NEITHER },
  { "%4 = compare(%3, %20) {comparison_direction = \"GT\"}: <P>; %8 = select(%4, %2, %3): <T>;", BF16 },
  { "%5 = tanh(%3): <T>; %4 = compare(%5, %20) {comparison_direction = \"LE\"}: <P>; %8 = select(%4, %2, %3): <T>;", BF16 },
  { "%5 = multiply(%3, %2): <T>; %4 = compare(%5, %20) {comparison_direction = \"LE\"}: <P>; %8 = select(%4, %2, %3): <T>;", BF16 },
  { "%5 = subtract(%21, %3): <T>; %4 = compare(%5, %20) {comparison_direction = \"GT\"}: <P>; %8 = select(%4, %2, %3): <T>;", NEITHER },
  { "%5 = cosine(%3): <T>; %4 = compare(%5, %20) {comparison_direction = \"GT\"}: <P>; %8 = select(%4, %2, %3): <T>;", NEITHER },
  { "%4 = compare(%3, %3) {comparison_direction = \"NE\"}: <P>; %8 = select(%4, %2, %3): <T>;", BOTH },
  { "%5 = exponential(%3): <T>; %4 = compare(%5, %20) {comparison_direction = \"GT\"}: <P>; %8 = select(%4, %2, %3): <T>;", BOTH },
  { "%5 = dot_general(%3, %2) {lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]}: f32[4,4];"
    "%6 = broadcast_in_dim(%5) {shape = [4,4,64], broadcast_dimensions = [0,1]}: f32[4,4,64];"
    "%7 = reduce(%6) {kind = \"max\", dimensions = [0]}: <T>; %4 = compare(%7, %2) {comparison_direction = \"GT\"}: <P>;"
    "%8 = select(%4, %2, %7): <T>;",
    BOTH },
  /* whole numbers */
  { "%4 = convert(%3) {to = type i32[]}: i32[4,64]; %8 = convert(%4) {to = type f32[]}: <T>;", NEITHER },
  { "%5 = multiply(%3, %21): <T>; %8 = floor(%5): <T>;", NEITHER },
  { "%8 = round_nearest_even(%3): <T>;", NEITHER },
  { "%8 = remainder(%3, %2): <T>;", NEITHER },
  { "%8 = sign(%3): <T>;", BF16 },
  /* divisors, roots and logarithms */
  { "%8 = divide(%3, %2): <T>;", BOTH },
  { "%8 = divide(%2, %3): <T>;", BF16 },
  { "%5 = multiply(%3, %3): <T>; %8 = divide(%2, %5): <T>;", BF16 },
  { "%5 = subtract(%21, %3): <T>; %8 = divide(%2, %5): <T>;", NEITHER },
  { "%5 = multiply(%3, %3): <T>; %6 = subtract(%21, %5): <T>; %8 = rsqrt(%6): <T>;", NEITHER },
  { "%5 = multiply(%3, %3): <T>; %6 = add(%21, %5): <T>; %8 = divide(%2, %6): <T>;", BOTH },
  { "%5 = multiply(%3, %3): <T>; %6 = add(%22, %5): <T>; %8 = rsqrt(%6): <T>;", BF16 },
  { "%5 = exponential(%3): <T>; %6 = reduce(%5) {kind = \"add\", dimensions = [1]}: f32[4];"
    "%7 = broadcast_in_dim(%6) {shape = [4,64], broadcast_dimensions = [0]}: <T>; %8 = divide(%5, %7): <T>;",
    BOTH },
  { "%5 = abs(%3): <T>; %6 = reduce(%5) {kind = \"add\", dimensions = [1]}: f32[4];"
    "%7 = broadcast_in_dim(%6) {shape = [4,64], broadcast_dimensions = [0]}: <T>; %8 = divide(%2, %7): <T>;",
    BF16 },
  /* a variance */
  { "%4 = subtract(%3, %2): <T>; %5 = multiply(%4, %4): <T>; %6 = reduce(%5) {kind = \"add\", dimensions = [1]}: f32[4];"
    "%7 = broadcast_in_dim(%6) {shape = [4,64], broadcast_dimensions = [0]}: <T>; %10 = add(%7, %22): <T>; %8 = rsqrt(%10): <T>;",
    BOTH },
  { "%8 = log(%3): <T>;", BF16 },
  { "%8 = log_plus_one(%3): <T>;", NEITHER },
  { "%5 = exponential(%3): <T>; %8 = log_plus_one(%5): <T>;", BOTH },
  { "%8 = sqrt(%3): <T>;", BOTH },
  { "%5 = subtract(%3, %2): <T>; %8 = sqrt(%5): <T>;", NEITHER },
  { "%8 = power(%3, %23): <T>;", BOTH },
  { "%8 = power(%2, %3): <T>;", BOTH },
  { "%8 = power(%3, %2): <T>;", BF16 },
  { "%8 = atanh(%3): <T>;", NEITHER },
  /* within fusions, branches and loops */
  { "%8 = fusion(%2, %3) {body = @over #2}: <T>;", BF16 },
  { "%4 = fusion(%21, %3) {body = @difference #3}: <T>; %8 = divide(%2, %4): <T>;", NEITHER },
  { "%8 = call(%2, %3) {body = @over #2}: <T>;", BF16 },
  { "%4 = multiply(%3, %3): <T>; %5 = scan(%4) {body = @square #5, length = 4, n_carries = 0, n_xs = 1, axes = [0], y_axes = [0]}: <T>;"
    "%6 = add(%22, %5): <T>; %8 = rsqrt(%6): <T>;",
    BF16 },
  /* restored as a whole for a loop that reads a slice at a time */
  { "%8 = scan(%3) {body = @square #5, length = 4, n_carries = 0, n_xs = 1, axes = [0], y_axes = [0]}: <T>;", NEITHER },
  { "%4 = scan(%2, %3) {body = @trip #4, length = 5, n_carries = 2, n_xs = 0}: (<T>, <T>); %8 = result(%4) {index = 0}: <T>;", BF16 },
  { "%4 = scan(%3, %2) {body = @trip #4, length = 5, n_carries = 2, n_xs = 0}: (<T>, <T>); %8 = result(%4) {index = 0}: <T>;", BOTH },
};

/* All of @made is of the backward phase. (transfer full) */
static char *
module_text (const char *made)
{
  GString *text = g_string_new ("module \"m\" { func @main #1 (%1 \"x\": <T>, %2 \"y\": <T>) -> (%8, %9) { %3 \"h\" = sine(%1): <T> "
                                "%20 = constant() {value = splat<f32[4,64]: 0>}: <T> %21 = constant() {value = splat<f32[4,64]: 1>}: <T> "
                                "%22 = constant() {value = splat<f32[4,64]: 1e-5>}: <T> %23 = constant() {value = splat<f32[4,64]: 2>}: <T> ");

  g_string_append (text, made);
  g_string_append (text, " %9 = negate(%3): <T>; }"
                         " func @over #2 (%30: <T>, %31: <T>) -> (%33) { %32 = negate(%31): <T> %33 = divide(%30, %32): <T> }"
                         " func @difference #3 (%40: <T>, %41: <T>) -> (%42) { %42 = subtract(%40, %41): <T> }"
                         /* what divides in a trip was the second carry of the one before */
                         " func @trip #4 (%50: <T>, %51: <T>) -> (%52, %53) { %52 = divide(%50, %51): <T> %53 = negate(%51): <T> }"
                         " func @square #5 (%60: f32[64]) -> (%61) { %61 = multiply(%60, %60): f32[64] } }");
  g_string_replace (text, ";", " phase(backward)", 0);
  g_string_replace (text, "<T>", "f32[4,64]", 0);
  g_string_replace (text, "<P>", "bool[4,64]", 0);
  return g_string_free (text, FALSE);
}

static void
check (guint i, GantryPlacementKind kind, gboolean allowed)
{
  g_autofree char *text = module_text (cases[i].made), *policy = g_strdup_printf ("name:h %s", gantry_placement_kind_name (kind));
  g_auto (PolicyTest) t = policy_test (text);
  g_autoptr (GantryPlanner) planner = NULL;
  g_autoptr (GError) error = NULL;
  const GantryCandidate *candidate;
  const GantryPolicyReport *report;
  const char *why;
  guint n;

  g_test_message ("%s: %s", cases[i].made, gantry_placement_kind_name (kind));
  apply_policy (&t, policy);
  report = g_ptr_array_index (t.reports, 0);
  planner = gantry_planner_new (t.module, NULL, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpint (gantry_planner_candidate_of (planner, 3), >=, 0);
  candidate = &gantry_planner_candidates (planner, &n)[gantry_planner_candidate_of (planner, 3)];
  why = gantry_candidate_why_not (candidate, kind);
  if (why != NULL)
    g_test_message ("  %s", why);
  g_assert_cmpint (why == NULL, ==, allowed);
  g_assert_cmpint (report->problem == NULL, ==, allowed);
  if (why != NULL)
    g_assert_nonnull (strstr (report->problem, why));
}

static void
test_rules (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      check (i, GANTRY_PLACEMENT_BF16, cases[i].allowed >= BF16);
      check (i, GANTRY_PLACEMENT_INT8, cases[i].allowed >= BOTH);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/planner/rounding/rules", test_rules);
  return g_test_run ();
}
