/* SPDX-License-Identifier: Apache-2.0 */
/* unroll-small: where loops are written out for what their trips cost, and where not. */
#include "tests/core/passes/pass-test.h"

#define FUNCTION(name, id, parameters, results, body) "  func @" name " #" id " (" parameters ") -> (" results ") {\n" body "\n  }\n"
#define MAIN(parameters, results, body) FUNCTION ("main", "1", parameters, results, body)
#define MODULE(main, functions) "module \"loops\" {\n" main functions "}\n"

/* x = tanh (x) + y of a stack of slices, which are stacked again. */
#define SMALL(length) \
  MODULE (MAIN ("%1: f32[4], %2: f32[" length ",4]", "%4, %5", \
                "%3 = scan(%1, %2) {body = #2, length = " length ", n_carries = 1, n_xs = 1, axes = [0], y_axes = [0]}: (f32[4], f32[" length ",4])" \
                " %4 = result(%3) {index = 0}: f32[4] %5 = result(%3) {index = 1}: f32[" length ",4]"), \
          FUNCTION ("f", "2", "%11: f32[4], %12: f32[4]", "%14, %14", "%13 = tanh(%11): f32[4] %14 = add(%13, %12): f32[4]"))

#define PRODUCT(result, a, b) result " = dot_general(" a ", " b ") {lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]}: f32[128,128] "
#define WIDE_FUNCTION(id) FUNCTION ("wide", id, "%21: f32[128,128]", "%23", PRODUCT ("%22", "%21", "%21") "%23 = tanh(%22): f32[128,128]")

static PassCase *
run (const char *text, guint32 most_unrolled)
{
  GantryPassOptions options = GANTRY_PASS_OPTIONS_INIT;

  options.most_unrolled = most_unrolled;
  return pass_case_new (&gantry_pass_unroll_small, &options, text);
}

/* It becomes what unroll makes of it, whatever the user asked to be unrolled. */
static void
test_small (void)
{
  g_autoptr (PassCase) c = run (SMALL ("6"), 1), unrolled = pass_case_new (&gantry_pass_unroll, NULL, SMALL ("6"));

  g_assert_cmpuint (pass_count (c->after, GANTRY_OP_SCAN), ==, 0);
  g_assert_cmpuint (pass_count (c->after, GANTRY_OP_TANH), ==, 6);
  g_assert_cmpuint (c->after->n_nodes, ==, unrolled->after->n_nodes);
}

/* What is not small, by time or by nodes, stays as it is; so does what unroll writes out by itself. */
static void
test_kept (void)
{
  g_autoptr (PassCase) wide = run (
    MODULE (MAIN ("%1: f32[128,128]", "%2", "%2 = scan(%1) {body = #2, length = 3, n_carries = 1, n_xs = 0, axes = ints[], y_axes = ints[]}: f32[128,128]"),
            WIDE_FUNCTION ("2")),
    1);
  g_autoptr (PassCase) longer = run (SMALL ("20000"), 1), few = run (SMALL ("6"), 0);

  pass_assert_unchanged (wide);
  pass_assert_unchanged (longer);
  pass_assert_unchanged (few);
}

/* An inner loop is written out in the body of one that stays. */
static void
test_nested (void)
{
  g_autoptr (PassCase) c = run (
    MODULE (MAIN ("%1: f32[128,128]", "%2", "%2 = scan(%1) {body = #2, length = 3, n_carries = 1, n_xs = 0, axes = ints[], y_axes = ints[]}: f32[128,128]"),
            FUNCTION ("outer", "2", "%21: f32[128,128]", "%26",
                      PRODUCT ("%22", "%21", "%21") "%23 = reduce(%22) {dimensions = [0, 1], kind = \"add\"}: f32[]"
                                                    " %24 = scan(%23) {body = #3, length = 5, n_carries = 1, n_xs = 0, axes = ints[], y_axes = ints[]}: f32[]"
                                                    " %25 = broadcast_in_dim(%24) {broadcast_dimensions = ints[], shape = [128,128]}: f32[128,128]"
                                                    " %26 = multiply(%21, %25): f32[128,128]")
              FUNCTION ("inner", "3", "%31: f32[]", "%32", "%32 = tanh(%31): f32[]")),
    1);

  g_assert_cmpuint (pass_count (c->after, GANTRY_OP_SCAN), ==, 1);
  g_assert_cmpuint (pass_count (c->after, GANTRY_OP_TANH), ==, 5);
  g_assert_cmpuint (pass_count (c->after, GANTRY_OP_DOT_GENERAL), ==, 1);
  g_assert_cmpuint (c->after->n_functions, ==, 2);
}

/* A loop, and another one that walks back along what it has stacked. */
#define PAIR(size, body) \
  MODULE (MAIN ("%1: " size ", %2: " size, "%6", \
                "%3 = scan(%1) {body = #2, length = 3, n_carries = 1, n_xs = 0, axes = ints[], y_axes = [0]}: (" size ", f32[3,128,128])" \
                " %4 = result(%3) {index = 0}: " size " %5 = result(%3) {index = 1}: f32[3,128,128]" \
                " %6 = scan(%2, %5) {body = #3, length = 3, n_carries = 1, n_xs = 1, axes = [0], y_axes = ints[], reverse = 1}: " size), \
          FUNCTION ("forward", "2", "%11: " size, "%12, %13", \
                    "%12 = negate(%11): " size " %13 = broadcast_in_dim(%12) {broadcast_dimensions = ints[]," \
                    " shape = [128,128]}: f32[128,128]") FUNCTION ("backward", "3", "%21: " size ", %22: f32[128,128]", "%29", body))

/* One that would be small stays beside one that is not. */
static void
test_pair (void)
{
  g_autoptr (PassCase)
    wide = run (PAIR ("f32[]", PRODUCT ("%23", "%22", "%22") PRODUCT ("%24", "%23", "%22") PRODUCT ("%25", "%24", "%22")
                                 PRODUCT ("%26", "%25", "%22") "%27 = reduce(%26) {dimensions = [0, 1], kind = \"add\"}: f32[] %29 = add(%27, %21): f32[]"),
                1);

  pass_assert_unchanged (wide);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/passes/unroll-small/small", test_small);
  g_test_add_func ("/passes/unroll-small/kept", test_kept);
  g_test_add_func ("/passes/unroll-small/nested", test_nested);
  g_test_add_func ("/passes/unroll-small/pair", test_pair);
  return g_test_run ();
}
