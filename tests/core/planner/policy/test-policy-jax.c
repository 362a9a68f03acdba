/* SPDX-License-Identifier: Apache-2.0 */
/* Each policy of jax.checkpoint_policies against small training graphs: which residuals are saved, recomputed and
 * offloaded, as a whole program, by scope, and by iteration of an unrolled loop. */
#include "tests/core/planner/policy/policy-test.h"

static void
test_whole_program (void)
{
  g_auto (PolicyTest) test = policy_test (two_layers);

  expect_policy (&test, "policy everything_saveable", "4=keep 5=keep 7=keep", NULL);
  expect_policy (&test, "policy nothing_saveable", "4=recompute 5=recompute 7=recompute", NULL);
  expect_policy (&test, "policy dots_saveable", "4=keep 5=recompute 7=keep", NULL);
  expect_policy (&test, "policy checkpoint_dots", "4=keep 5=recompute 7=keep", NULL);
  expect_policy (&test, "policy dots_with_no_batch_dims_saveable", "4=keep 5=recompute 7=keep", NULL);
  expect_policy (&test, "policy checkpoint_dots_with_no_batch_dims", "4=keep 5=recompute 7=keep", NULL);
  expect_policy (&test, "policy offload_dot_with_no_batch_dims(\"device\", \"pinned_host\")", "4=offload 5=recompute 7=offload", NULL);
  expect_policy (&test, "policy offload_dot_with_no_batch_dims(offload_src='device', offload_dst='unpinned_host')",
                 "4=offload@unpinned_host 5=recompute 7=offload@unpinned_host", NULL);
  for (guint i = 0; i < test.table->entries->len; i++)
    g_assert_cmpint (g_array_index (test.table->entries, GantryPlacement, i).decider, ==, GANTRY_DECIDED_BY_POLICY);
}

static void
test_names (void)
{
  g_auto (PolicyTest) test = policy_test (two_layers);

  expect_policy (&test, "policy save_only_these_names(h)", "4=recompute 5=keep 7=recompute", NULL);
  expect_policy (&test, "policy save_any_names_but_these(h)", "4=recompute 5=recompute 7=recompute", NULL);
  expect_policy (&test, "policy save_any_names_but_these()", "4=recompute 5=keep 7=recompute", NULL);
  /* What its name says: the value that is named, and not only the identity that names it. */
  expect_policy (&test, "policy save_anything_except_these_names(h)", "4=keep 5=recompute 7=keep", NULL);
  expect_policy (&test, "policy save_and_offload_only_these_names([], [h])", "4=recompute 5=offload 7=recompute", NULL);
  expect_policy (&test,
                 "policy save_and_offload_only_these_names(names_which_can_be_saved=[\"h\"], names_which_can_be_offloaded=[],\n"
                 "  offload_src=\"device\", offload_dst=\"pinned_host\",\n)",
                 "4=recompute 5=keep 7=recompute", NULL);
  /* Names of the source are none of checkpoint_name. */
  expect_policy (&test, "policy save_only_these_names(a1, h)", "4=recompute 5=keep 7=recompute", "no checkpoint_name gives the name 'a1'");
  expect_policy (&test, "policy save_any_names_but_these(typo)", "4=recompute 5=keep 7=recompute", "'typo'");
}

static void
test_both (void)
{
  g_auto (PolicyTest) test = policy_test (two_layers);

  expect_policy (&test, "policy save_from_both_policies(dots_saveable, save_only_these_names(h))", "4=keep 5=keep 7=keep", NULL);
  expect_policy (&test, "policy save_from_both_policies(nothing_saveable, save_only_these_names(\"h\"))", "4=recompute 5=keep 7=recompute", NULL);
  expect_policy (&test, "policy save_from_both_policies(policy_2=nothing_saveable, policy_1=nothing_saveable)", "4=recompute 5=recompute 7=recompute", NULL);
}

static const char dots[] = "module \"m\" { func @main #1 (%1: f32[2,4,4], %2: f32[2,4,4], %3: f32[4,4]) -> (%12) {"
                           "%4 = dot_general(%1, %2) {lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], "
                           "lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]}: f32[2,4,4]"
                           "%5 = dot_general(%4, %3) {lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [0]}: f32[2,4,4]"
                           "%6 = convolution(%5, %2) {window_strides = [1], padding = [0, 0]}: f32[2,2,1]"
                           "%7 = fusion(%5, %1) {body = @dot_tanh #2, kind = \"epilogue\"}: f32[2,4,4]"
                           "%8 = sine(%5): f32[2,4,4]"
                           "%9 = negate(%4): f32[2,4,4] phase(backward) %10 = negate(%5): f32[2,4,4] phase(backward) "
                           "%11 = negate(%6): f32[2,2,1] phase(backward) %12 = multiply(%7, %8): f32[2,4,4] phase(backward) }"
                           "func @dot_tanh #2 (%13: f32[2,4,4], %14: f32[2,4,4]) -> (%16) {"
                           "%15 = dot_general(%13, %14) {lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], "
                           "lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]}: f32[2,4,4] %16 = tanh(%15): f32[2,4,4] } }";

/* Batch dimensions, convolutions, and a product within a fusion. */
static void
test_dots (void)
{
  g_auto (PolicyTest) test = policy_test (dots);

  expect_policy (&test, "policy dots_saveable", "4=keep 5=keep 6=keep 7=keep 8=recompute", NULL);
  expect_policy (&test, "policy dots_with_no_batch_dims_saveable", "4=recompute 5=keep 6=recompute 7=recompute 8=recompute", NULL);
  expect_policy (&test, "policy offload_dot_with_no_batch_dims", "4=recompute 5=offload 6=recompute 7=recompute 8=recompute", NULL);
}

static void
test_by_scope (void)
{
  g_auto (PolicyTest) test = policy_test (two_layers);

  /* h leaves net/one, and net/two reads it: as its input it is saved. */
  expect_policy (&test, "policy nothing_saveable in net/*", "4=recompute 5=keep 7=recompute", NULL);
  expect_policy (&test, "policy nothing_saveable in net/one", "4=recompute 5=keep", NULL);
  expect_policy (&test, "policy nothing_saveable in scope:net", "4=recompute 5=recompute 7=recompute", NULL);
  /* The longest one counts: both are functions of their own. */
  expect_policy (&test, "policy nothing_saveable in **", "4=recompute 5=keep 7=recompute", NULL);
  expect_policy (&test, "policy nothing_saveable in \"net/t*\"", "5=keep 7=recompute", NULL);
  expect_policy (&test, "policy nothing_saveable in n*o", "", "no scope matches 'n*o'");
  expect_policy (&test, "policy save_only_these_names(h) in net/two", "5=keep 7=recompute", "outside of the checkpointed functions");
  /* Given in net/one, h is to net/two an input without a name. */
  expect_policy (&test, "policy save_and_offload_only_these_names([], [h]) in net/*", "4=recompute 5=keep 7=recompute",
                 "'h' stays on the device: it is the input of another checkpointed function");
}

/* Layers of y = x w1; x = y w2, unrolled; x is named where @carry says: by the iteration that reads it ("in"), by the
 * one that makes it ("out"). Residuals: of each layer but the first x, and y. */
static char *
unrolled_layers (guint n, gboolean named_inside)
{
  static const char dot[] = "{lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]}: f32[4,4] scope(\"layers/iteration.%u\")";
  g_autoptr (GString) text = g_string_new ("module \"m\" { func @main #1 (%1: f32[4,4], %2: f32[4,4] {role = \"parameter\"}) -> (%9) {");
  guint x = 1;

  /* The numbers of layer i: 10 (i + 1) + 0 x named inside, 1 y, 2 y named, 3 x of the next, 4 named outside. */
  for (guint i = 0; i < n; i++)
    {
      guint first = 10 * (i + 1);

      if (named_inside)
        g_string_append_printf (text, "%%%u = checkpoint_name(%%%u) {name = \"x\"}: f32[4,4] scope(\"layers/iteration.%u\")", first, x, i);
      g_string_append_printf (text, "%%%u = dot_general(%%%u, %%2) ", first + 1, named_inside ? first : x);
      g_string_append_printf (text, dot, i);
      g_string_append_printf (text, "%%%u = checkpoint_name(%%%u) {name = \"y\"}: f32[4,4] scope(\"layers/iteration.%u\")", first + 2, first + 1, i);
      g_string_append_printf (text, "%%%u = dot_general(%%%u, %%2) ", first + 3, first + 2);
      g_string_append_printf (text, dot, i);
      if (!named_inside)
        g_string_append_printf (text, "%%%u = checkpoint_name(%%%u) {name = \"x\"}: f32[4,4] scope(\"layers/iteration.%u\")", first + 4, first + 3, i);
      x = named_inside ? first + 3 : first + 4;
    }
  g_string_append_printf (text, "%%3 = negate(%%%u): f32[4,4]", x);
  for (guint i = n; i-- > 0;)
    g_string_append_printf (text, "%%%u = add(%%%u, %%%u): f32[4,4] phase(backward) scope(\"layers/iteration.%u\")", 10 * (i + 1) + 5,
                            i == 0 ? 1 : 10 * i + 3 + !named_inside, 10 * (i + 1) + 2, i);
  g_string_append (text, "%9 = add(%15, %25): f32[4,4] phase(backward) } }");
  return g_string_free (g_steal_pointer (&text), FALSE);
}

/* The program of JAX's page on host offloading: the carry is named within the body. */
static void
test_iterations (void)
{
  g_autofree char *module = unrolled_layers (3, TRUE);
  g_auto (PolicyTest) test = policy_test (module);

  expect_policy (&test, "policy nothing_saveable", "11=recompute 13=keep 21=recompute 23=keep 31=recompute", NULL);
  expect_policy (&test, "policy save_and_offload_only_these_names([], [x])", "11=recompute 13=offload 21=recompute 23=offload 31=recompute", NULL);
  expect_policy (&test, "policy save_and_offload_only_these_names([y], [x])", "11=keep 13=offload 21=keep 23=offload 31=keep", NULL);
  expect_policy (&test, "policy save_and_offload_only_these_names([x], [y])", "11=offload 13=keep 21=offload 23=keep 31=offload", NULL);
  expect_policy (&test, "policy dots_saveable", "11=keep 13=keep 21=keep 23=keep 31=keep", NULL);
  expect_policy (&test, "policy everything_saveable in layers/iteration.1", "13=keep 21=keep 23=keep", NULL);
  g_assert_cmpuint (report_of (&test, 0)->n_matched, ==, 3);
}

/* A carry that is named where it is made is an input without a name where it is read. */
static void
test_carry_named_outside (void)
{
  g_autofree char *module = unrolled_layers (3, FALSE);
  g_auto (PolicyTest) test = policy_test (module);

  expect_policy (&test, "policy save_and_offload_only_these_names([], [y])", "11=offload 13=keep 21=offload 23=keep 31=offload", NULL);
  apply_policy (&test, "policy save_and_offload_only_these_names([], [x, y])");
  g_assert_cmpint (gantry_placements_kind (test.table, 13), ==, GANTRY_PLACEMENT_KEEP);
  g_assert_cmpint (gantry_placements_kind (test.table, 23), ==, GANTRY_PLACEMENT_KEEP);
}

/* The last carry leaves all functions. What the program around reads of it in its backward pass is saved. */
static void
test_result_of_a_function (void)
{
  static const char module[] = "module \"m\" { func @main #1 (%1: f32[4]) -> (%8) { %2 = sine(%1): f32[4] scope(\"f\") %3 = sine(%2): f32[4] scope(\"f\")"
                               "%4 = sine(%3): f32[4] scope(\"f\") %5 = sine(%4): f32[4]"
                               "%6 = cosine(%4): f32[4] phase(backward) %7 = cosine(%3): f32[4] phase(backward) scope(\"f\")"
                               "%8 = multiply(%6, %7): f32[4] phase(backward) scope(\"f\") } }";
  g_auto (PolicyTest) test = policy_test (module);

  expect_policy (&test, "policy nothing_saveable in f", "3=recompute 4=keep", NULL);
}

/* What the backward pass does not read itself is saved where a function is computed again from it: its input, and what
 * the policy lets it save. */
static void
test_start_of_recomputation (void)
{
  static const char module[] =
    "module \"m\" { func @main #1 (%1: f32[4,4], %2: f32[4,4] {role = \"parameter\"}) -> (%12) {"
    "%3 = dot_general(%1, %2) {lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]}: f32[4,4] scope(\"a/iteration.0\")"
    "%4 = tanh(%3): f32[4,4] scope(\"a/iteration.0\") %5 = negate(%4): f32[4,4] scope(\"a/iteration.0\")"
    "%6 = dot_general(%5, %2) {lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]}: f32[4,4] scope(\"a/iteration.1\")"
    "%7 = checkpoint_name(%6) {name = \"h\"}: f32[4,4] scope(\"a/iteration.1\")"
    "%8 = tanh(%7): f32[4,4] scope(\"a/iteration.1\") %9 = negate(%8): f32[4,4] scope(\"a/iteration.1\")"
    "%10 = negate(%8): f32[4,4] phase(backward) scope(\"a/iteration.1\") %11 = negate(%4): f32[4,4] phase(backward) scope(\"a/iteration.0\")"
    "%12 = multiply(%10, %11): f32[4,4] phase(backward) } }";
  g_auto (PolicyTest) test = policy_test (module);

  /* Not the products before the tanh, but the carry %5, which only the next iteration reads. */
  expect_policy (&test, "policy nothing_saveable", "4=recompute 5=keep(n) 8=recompute", NULL);
  g_assert_cmpuint (report_of (&test, 0)->n_matched, ==, 3);
  g_assert_cmpuint (report_of (&test, 0)->n_decided, ==, 3);
  expect_policy (&test, "policy dots_saveable", "3=keep(n) 4=recompute 6=keep(n) 8=recompute", NULL);
  expect_policy (&test, "policy save_only_these_names(h)", "4=recompute 6=keep(n) 8=recompute", NULL);
  expect_policy (&test, "policy everything_saveable", "4=keep 8=keep", NULL);
  expect_policy (&test, "policy nothing_saveable in a", "4=recompute 8=recompute", NULL);
}

static void
test_what_cannot_be_done_again (void)
{
  static const char module[] = "module \"m\" { func @main #1 (%1: f32[4], %2: u64[2]) -> (%9, %6) {"
                               "%3 = custom_call(%1) {target = \"log\", to = type f32[4]}: f32[4] %4 = rng_bit_generator(%2) {shape = [4]}: (u64[2], u32[4])"
                               "%5 = result(%4) {index = 1}: u32[4] %6 = sine(%3): f32[4]"
                               "%7 = negate(%3): f32[4] phase(backward) %8 = convert(%5) {to = type f32[]}: f32[4] phase(backward) "
                               "%9 = clamp(%7, %8, %6): f32[4] phase(backward) } }";
  g_auto (PolicyTest) test = policy_test (module);

  /* An effect happens once. Random bits come again from their state, which is an input. A result is there anyway. */
  expect_policy (&test, "policy nothing_saveable", "3=keep 4=recompute 6=keep", "it has an effect");
  expect_policy (&test, "policy save_only_these_names(q)", "3=keep 4=recompute 6=keep", "'q'");
}

/* A loop saves in the place of products what is computed of them: of %12, a fusion with a product in it, whose two results are 4x4, %15 directly,
 * %19 by way of others. %17 is of no product. */
static void
test_fusion_of_two_results (void)
{
#define TRIP(f, x, w, phase) \
  "    %" f "2 = fusion(%" x ", %" w ") {body = @two #4}: (f32[4,4], f32[4,4])" phase "\n" \
  "    %" f "3 = result(%" f "2) {index = 0}: f32[4,4]" phase "\n" \
  "    %" f "4 = result(%" f "2) {index = 1}: f32[4,4]" phase "\n" \
  "    %" f "5 = tanh(%" f "3): f32[4,4]" phase "\n" \
  "    %" f "7 = tanh(%" x "): f32[4,4]" phase "\n" \
  "    %" f "8 = tanh(%" f "4): f32[4,4]" phase "\n" \
  "    %" f "9 = sine(%" f "8): f32[4,4]" phase "\n"
#define RESULT(id, of, index, type, phase) "    %" id " = result(%" of ") {index = " index "}: " type phase "\n"
  static const char module[] =
    "module \"m\" {\n"
    "  func @main #1 (%1: f32[4,4], %2: f32[8,4,4] {role = \"parameter\"}, %3: f32[4,4]) -> (%90, %4) {\n"
    "    %9 = scan(%1, %2) {axes = [0], body = #2, length = 8, n_carries = 1, n_xs = 1, y_axes = [0, 0, 0, 0]}:"
    " (f32[4,4], f32[8,4,4], f32[8,4,4], f32[8,4,4], f32[8,4,4])\n" RESULT ("90", "9", "0", "f32[4,4]", "") RESULT ("91", "9", "1", "f32[8,4,4]", "")
      RESULT ("92", "9", "2", "f32[8,4,4]", "") RESULT ("93", "9", "3", "f32[8,4,4]", "") RESULT (
        "94", "9", "4", "f32[8,4,4]",
        "") "    %4 = scan(%3, %91, %92, %93, %94, %2) {axes = [0, 0, 0, 0, 0], body = #3, length = 8, n_carries = 1, n_xs = 5, reverse = 1,"
            " y_axes = ints[]}: f32[4,4] phase(backward)\n"
            "  }\n"
            "  func @forward #2 (%10: f32[4,4], %11: f32[4,4]) -> (%16, %15, %17, %19, %10) {\n" TRIP (
              "1", "10", "11",
              "") "    %16 = add(%15, %19): f32[4,4]\n"
                  "  }\n"
                  "  func @back #3 (%20: f32[4,4] phase(backward), %30: f32[4,4] phase(backward), %31: f32[4,4] phase(backward),"
                  " %32: f32[4,4] phase(backward), %33: f32[4,4] phase(backward), %34: f32[4,4] phase(backward)) -> (%43) {\n" TRIP (
                    "2", "33", "34",
                    " phase(backward)") "    %35 = rematerialize(%30, %25): f32[4,4] phase(backward)\n"
                                        "    %36 = rematerialize(%31, %27): f32[4,4] phase(backward)\n"
                                        "    %37 = rematerialize(%32, %29): f32[4,4] phase(backward)\n"
                                        "    %41 = multiply(%20, %35): f32[4,4] phase(backward)\n"
                                        "    %42 = multiply(%41, %36): f32[4,4] phase(backward)\n"
                                        "    %43 = multiply(%42, %37): f32[4,4] phase(backward)\n"
                                        "  }\n"
                                        "  func @two #4 (%50: f32[4,4], %51: f32[4,4]) -> (%52, %53) {\n"
                                        "    %52 = dot_general(%50, %51) {lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]}: f32[4,4]\n"
                                        "    %53 = negate(%52): f32[4,4]\n"
                                        "  }\n"
                                        "}\n";
#undef RESULT
#undef TRIP
  g_auto (PolicyTest) test = policy_test (module);

  expect_policy (&test, "policy nothing_saveable", "91=recompute 92=recompute 93=recompute 94=keep", NULL);
  expect_policy (&test, "policy dots_saveable", "91=keep 92=recompute 93=keep 94=keep", NULL);
}

static void
test_not_training (void)
{
  g_auto (PolicyTest) test = policy_test ("module \"m\" { func @main #1 (%1: f32[4]) -> (%2) { %2 = sine(%1): f32[4] } }");

  expect_policy (&test, "policy nothing_saveable", "", "no backward pass");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/planner/policy-jax/whole-program", test_whole_program);
  g_test_add_func ("/planner/policy-jax/names", test_names);
  g_test_add_func ("/planner/policy-jax/both", test_both);
  g_test_add_func ("/planner/policy-jax/dots", test_dots);
  g_test_add_func ("/planner/policy-jax/by-scope", test_by_scope);
  g_test_add_func ("/planner/policy-jax/iterations", test_iterations);
  g_test_add_func ("/planner/policy-jax/carry-named-outside", test_carry_named_outside);
  g_test_add_func ("/planner/policy-jax/result-of-a-function", test_result_of_a_function);
  g_test_add_func ("/planner/policy-jax/start-of-recomputation", test_start_of_recomputation);
  g_test_add_func ("/planner/policy-jax/fusion-of-two-results", test_fusion_of_two_results);
  g_test_add_func ("/planner/policy-jax/what-cannot-be-done-again", test_what_cannot_be_done_again);
  g_test_add_func ("/planner/policy-jax/not-training", test_not_training);
  return g_test_run ();
}
