/* SPDX-License-Identifier: Apache-2.0 */
/* hoist: sums of products over the trips of a backward loop become products over all trips. That the value is the same, that the module is
 * sound and that every new node has an origin is held by pass_case_new(). */
#include "tests/core/passes/pass-test.h"

/* The gradients %32 of a weight and %33 of a bias are summed over six trips; each trip makes %16 from what it is handed. */
#define STEP(results, tail, x_dims, weight, results_of_body) \
  "module \"test\" { func @main #1 (%1: f32[6,2," x_dims "], %2: f32[6,2,16], %3: f32[2,16]) -> (" results ") { " \
  "%20 = constant() {value = splat<f32[" weight "]: 0.0>}: f32[" weight "] phase(backward) " \
  "%21 = constant() {value = splat<f32[16]: 0.5>}: f32[16] phase(backward) " \
  "%30 = scan(%3, %20, %21, %1, %2) {axes = [0, 0], body = #2, length = 6, n_carries = 3, n_xs = 2, reverse = 1, y_axes = ints[]}:" \
  " (f32[2,16], f32[" weight "], f32[16]) phase(backward) " \
  "%31 = result(%30) {index = 0}: f32[2,16] phase(backward) " \
  "%32 \"w/gradient\" = result(%30) {index = 1}: f32[" weight "] phase(backward) " \
  "%33 = result(%30) {index = 2}: f32[16] phase(backward) " tail "} " \
  "func @back #2 (%10: f32[2,16] phase(backward), %11: f32[" weight "] phase(backward), %12: f32[16] phase(backward)," \
  " %13: f32[2," x_dims "] phase(backward), %14: f32[2,16] phase(backward)) -> (" results_of_body ") { " \
  "%16 = multiply(%10, %14): f32[2,16] phase(backward) " \
  "%17 = dot_general(%13, %16) {lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]}: f32[" weight "] phase(backward) " \
  "%18 = add(%11, %17): f32[" weight "] phase(backward) " \
  "%15 = reduce(%16) {dimensions = [0], kind = \"add\"}: f32[16] phase(backward) " \
  "%19 = add(%15, %12): f32[16] phase(backward) } }"

static PassCase *
run (const char *text)
{
  return pass_case_new (&gantry_pass_hoist, NULL, text);
}

static GantryScan
scan_of (const GantryModule *module)
{
  const GantryFunction *entry = gantry_module_entry (module);
  GantryScan scan = { 0 };

  for (guint32 i = 0; i < entry->n_nodes; i++)
    if (module->nodes[entry->first_node + i].op == GANTRY_OP_SCAN)
      gantry_scan_of (module, &module->nodes[entry->first_node + i], &scan);
  return scan;
}

/* The product is one of all trips, of an argument and of what is stacked; the sum is one of what is stacked anyway. */
static void
test_sums (void)
{
  g_autoptr (PassCase) c = run (STEP ("%31, %32, %33", "", "32", "32,16", "%16, %18, %19"));
  const GantryScan scan = scan_of (c->after);
  const GantryFunction *entry = gantry_module_entry (c->after), *body = gantry_module_function (c->after, scan.body);
  guint n_products = 0;

  g_assert_cmpuint (scan.n_carries, ==, 1);
  g_assert_cmpuint (scan.n_ys, ==, 1);
  g_assert_cmpuint (body->n_nodes, ==, 4);
  for (guint32 i = 0; i < entry->n_nodes; i++)
    n_products += c->after->nodes[entry->first_node + i].op == GANTRY_OP_DOT_GENERAL;
  g_assert_cmpuint (n_products, ==, 1);
  g_assert_cmpstr (gantry_context_string (c->after->context, pass_result (c->after, 1)->name), ==, "w/gradient");
}

/* Slices along another dimension than the first. */
static void
test_axis (void)
{
  GString *other = g_string_new (STEP ("%31, %32, %33", "", "32", "32,16", "%16, %18, %19"));
  g_autoptr (PassCase) c = NULL;

  g_string_replace (other, "%1: f32[6,2,32]", "%1: f32[2,6,32]", 0);
  g_string_replace (other, "axes = [0, 0], body", "axes = [1, 0], body", 0);
  c = run (other->str);
  g_assert_cmpuint (scan_of (c->after).n_carries, ==, 1);
  g_string_free (other, TRUE);
}

/* What is multiplied is not much smaller than what is summed, the sum is read while it is made, or all results are read as one. */
static void
test_left_alone (void)
{
  g_autoptr (PassCase) large = run (STEP ("%31, %32, %33", "", "4", "4,16", "%16, %18, %19"));
  g_autoptr (PassCase) read = run (
    "module \"test\" { func @main #1 (%1: f32[6,2,32], %3: f32[2,16]) -> (%31, %32) { "
    "%20 = constant() {value = splat<f32[32,16]: 0.0>}: f32[32,16] phase(backward) "
    "%30 = scan(%3, %20, %1) {axes = [0], body = #2, length = 6, n_carries = 2, n_xs = 1, y_axes = ints[]}: (f32[2,16], f32[32,16]) phase(backward) "
    "%31 = result(%30) {index = 0}: f32[2,16] phase(backward) %32 = result(%30) {index = 1}: f32[32,16] phase(backward) } "
    "func @back #2 (%10: f32[2,16] phase(backward), %11: f32[32,16] phase(backward), %13: f32[2,32] phase(backward)) -> (%16, %18) { "
    "%16 = dot_general(%13, %11) {lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]}: f32[2,16] phase(backward) "
    "%17 = dot_general(%13, %10) {lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]}: f32[32,16] phase(backward) "
    "%18 = add(%11, %17): f32[32,16] phase(backward) } }");
  g_autoptr (PassCase) one = run (STEP ("%31, %32, %35",
                                        "%34 = optimization_barrier(%30): (f32[2,16], f32[32,16], f32[16]) phase(backward) "
                                        "%35 = result(%34) {index = 2}: f32[16] phase(backward) ",
                                        "32", "32,16", "%16, %18, %19"));

  pass_assert_unchanged (one);
  pass_assert_unchanged (large);
  pass_assert_unchanged (read);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/hoist/sums", test_sums);
  g_test_add_func ("/hoist/axis", test_axis);
  g_test_add_func ("/hoist/left-alone", test_left_alone);
  return g_test_run ();
}
