/* SPDX-License-Identifier: Apache-2.0 */
/* absorb: updates that follow a backward loop's stacks element by element go into the loop. That the value is the same, that the module is
 * sound and that every new node has an origin is held by pass_case_new(). */
#include "tests/core/passes/pass-test.h"

/* Gradients %31 of four slices of w, and a sum %30. */
#define LOOP \
  "%20 = constant() {value = splat<f32[4096]: 1.0>}: f32[4096] phase(backward) " \
  "%21 = scan(%20, %2, %1) {axes = [0, 0], body = #2, length = 4, n_carries = 1, n_xs = 2, reverse = 1, y_axes = [0, 0]}:" \
  " (f32[4096], f32[4,4096], f32[4,4096]) phase(backward) " \
  "%30 = result(%21) {index = 0}: f32[4096] phase(backward) " \
  "%31 = result(%21) {index = 1}: f32[4,4096] phase(backward) " \
  "%32 = result(%21) {index = 2}: f32[4,4096] phase(backward) "
#define BODY \
  "func @back #2 (%11: f32[4096] phase(backward), %12: f32[4096] phase(backward), %13: f32[4096] phase(backward)) -> (%14, %15, %16) { " \
  "%14 = multiply(%11, %12): f32[4096] phase(backward) " \
  "%15 = multiply(%11, %13): f32[4096] phase(backward) " \
  "%16 = add(%14, %15): f32[4096] phase(backward) } "
/* m = 0.9 m + (1 - 0.9) g and w = w - rate m, where the rate is worked out behind the loop, and each column has one of its own. */
#define UPDATE \
  "%40 = constant() {value = dense<f32[]: 0.9>}: f32[] phase(update) " \
  "%41 = broadcast_in_dim(%40) {broadcast_dimensions = ints[], shape = [4, 4096]}: f32[4,4096] phase(update) " \
  "%42 = multiply(%3, %41): f32[4,4096] phase(update) " \
  "%43 = add(%42, %31): f32[4,4096] phase(update) " \
  "%44 = multiply(%4, %4): f32[4096] phase(update) " \
  "%45 = broadcast_in_dim(%44) {broadcast_dimensions = [1], shape = [4, 4096]}: f32[4,4096] phase(update) " \
  "%46 = multiply(%43, %45): f32[4,4096] phase(update) " \
  "%47 \"w/new\" = subtract(%2, %46): f32[4,4096] phase(update) "
#define PARAMETERS "%1: f32[4,4096], %2: f32[4,4096] {role = \"parameter\"}, %3: f32[4,4096] {role = \"state\"}, %4: f32[4096]"
#define TWO(results, nodes) "module \"test\" { func @main #1 (" PARAMETERS ") -> (" results ") { " nodes " } " BODY "}"

static PassCase *
run (const char *text)
{
  return pass_case_new (&gantry_pass_absorb, NULL, text);
}

/* Nodes of the entry function that are @op. */
static guint
count_outside (const GantryModule *module, GantryOp op)
{
  const GantryFunction *entry = gantry_module_entry (module);
  guint n = 0;

  for (guint32 i = 0; i < entry->n_nodes; i++)
    n += module->nodes[entry->first_node + i].op == op;
  return n;
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

/* The stack of gradients is gone, parameter and state are walked along, and the other stack stays. */
static void
test_update (void)
{
  g_autoptr (PassCase) c = run (TWO ("%30, %32, %43, %47", LOOP UPDATE));
  GantryScan scan = scan_of (c->after);

  g_assert_cmpuint (count_outside (c->after, GANTRY_OP_SUBTRACT), ==, 0);
  g_assert_cmpuint (count_outside (c->after, GANTRY_OP_ADD), ==, 0);
  g_assert_cmpuint (count_outside (c->after, GANTRY_OP_MULTIPLY), ==, 1); /* the rate */
  g_assert_cmpuint (scan.n_xs, ==, 3);
  g_assert_cmpuint (scan.n_captures, ==, 1);
  g_assert_cmpuint (scan.n_ys, ==, 3);
}

static void
assert_left_alone (const char *text)
{
  g_autoptr (PassCase) c = run (text);

  g_assert_true (c->before == c->after);
}

/* Somebody reads the gradients before the update can begin, or beside it; what is made is read by other than the program's caller; a
 * factor differs from trip to trip. */
static void
test_left_alone (void)
{
  assert_left_alone (TWO ("%30, %32, %43, %47, %31", LOOP UPDATE));
  assert_left_alone (TWO ("%30, %32, %50", LOOP "%48 = multiply(%31, %31): f32[4,4096] phase(update) "
                                                "%49 = reduce(%48) {dimensions = [0, 1], kind = \"add\"}: f32[] phase(update) "
                                                "%51 = broadcast_in_dim(%49) {broadcast_dimensions = ints[], shape = [4, 4096]}: f32[4,4096] phase(update) "
                                                "%50 = multiply(%31, %51): f32[4,4096] phase(update) "));
  assert_left_alone (TWO ("%32, %48", LOOP UPDATE "%48 = reduce(%47) {dimensions = [0], kind = \"add\"}: f32[4096] phase(update) "));
  assert_left_alone (TWO ("%32, %48", LOOP "%49 = broadcast_in_dim(%30) {broadcast_dimensions = [1], shape = [4, 4096]}: f32[4,4096] phase(update) "
                                           "%48 = add(%31, %49): f32[4,4096] phase(update) "));
}

/* A stack of small slices is no more than what its trips would cost. */
static void
test_small (void)
{
  GString *text = g_string_new (TWO ("%30, %32, %43, %47", LOOP UPDATE));

  g_string_replace (text, "4096", "32", 0);
  assert_left_alone (text->str);
  g_string_free (text, TRUE);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/absorb/update", test_update);
  g_test_add_func ("/absorb/left-alone", test_left_alone);
  g_test_add_func ("/absorb/small", test_small);
  return g_test_run ();
}
