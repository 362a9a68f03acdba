/* SPDX-License-Identifier: Apache-2.0 */
/* stack: what follows the slices of a backward loop, alike for each, is done with the stack. That the value is the same, that the module is
 * sound and that every new node has an origin is held by pass_case_new(). */
#include "tests/core/passes/pass-test.h"

/* Gradients %31 of four slices, of w0 to w3, which are parameters of their own. */
#define LOOP \
  "%20 = constant() {value = splat<f32[64,64]: 1.0>}: f32[64,64] phase(backward) " \
  "%22 = reshape(%2) {shape = [1, 64, 64]}: f32[1,64,64] %23 = reshape(%3) {shape = [1, 64, 64]}: f32[1,64,64] " \
  "%24 = reshape(%4) {shape = [1, 64, 64]}: f32[1,64,64] %25 = reshape(%5) {shape = [1, 64, 64]}: f32[1,64,64] " \
  "%26 = concatenate(%22, %23, %24, %25) {dimension = 0}: f32[4,64,64] " \
  "%21 = scan(%20, %26, %1) {axes = [0, 0], body = #2, length = 4, n_carries = 1, n_xs = 2, reverse = 1, y_axes = [0]}:" \
  " (f32[64,64], f32[4,64,64]) phase(backward) " \
  "%30 = result(%21) {index = 0}: f32[64,64] phase(backward) " \
  "%31 = result(%21) {index = 1}: f32[4,64,64] phase(backward) "
#define SLICE(id, view, from, limit) \
  "%" id " = slice(%31) {limit_indices = [" limit ", 64, 64], start_indices = [" from ", 0, 0], strides = [1, 1, 1]}: f32[1,64,64] phase(backward) " \
  "%" view " = reshape(%" id ") {shape = [64, 64]}: f32[64,64] phase(backward) "
#define SLICES SLICE ("32", "42", "0", "1") SLICE ("33", "43", "1", "2") SLICE ("34", "44", "2", "3") SLICE ("35", "45", "3", "4")
/* m = 0.9 m + g and w = w - rate m */
#define UPDATE(k, w, m, g) \
  "%5" k " = constant() {value = dense<f32[]: 0.9>}: f32[] phase(update) " \
  "%6" k " = broadcast_in_dim(%5" k ") {broadcast_dimensions = ints[], shape = [64, 64]}: f32[64,64] phase(update) " \
  "%7" k " = multiply(%" m ", %6" k "): f32[64,64] phase(update) " \
  "%8" k " = add(%7" k ", %" g "): f32[64,64] phase(update) " \
  "%10" k " = broadcast_in_dim(%60) {broadcast_dimensions = ints[], shape = [64, 64]}: f32[64,64] phase(update) " \
  "%11" k " = multiply(%8" k ", %10" k "): f32[64,64] phase(update) " \
  "%12" k " \"w" k "/new\" = subtract(%" w ", %11" k "): f32[64,64] phase(update) "
#define RATE "%60 = multiply(%10, %10): f32[] phase(update) "
#define UPDATES RATE UPDATE ("2", "2", "6", "42") UPDATE ("3", "3", "7", "43") UPDATE ("4", "4", "8", "44") UPDATE ("5", "5", "9", "45")
#define PARAMETER(id, role) ", %" id ": f32[64,64] {role = \"" role "\"}"
#define STEP(results, nodes) \
  "module \"test\" { func @main #1 (%1: f32[4,64,64]" PARAMETER ("2", "parameter") PARAMETER ("3", "parameter") PARAMETER ("4", "parameter") \
    PARAMETER ("5", "parameter") PARAMETER ("6", "state") PARAMETER ("7", "state") PARAMETER ("8", "state") PARAMETER ( \
      "9", "state") ", %10: f32[]) -> (" results ") { " nodes " } " \
                    "func @back #2 (%11: f32[64,64] phase(backward), %12: f32[64,64] phase(backward), %13: f32[64,64] phase(backward)) -> (%14, %15) { " \
                    "%14 = multiply(%11, %12): f32[64,64] phase(backward) " \
                    "%15 = multiply(%11, %13): f32[64,64] phase(backward) } }"
#define RESULTS "%30, %82, %122, %83, %123, %84, %124, %85, %125"

static guint
count (const GantryModule *module, GantryOp op)
{
  const GantryFunction *entry = gantry_module_entry (module);
  guint n = 0;

  for (guint32 i = 0; i < entry->n_nodes; i++)
    n += module->nodes[entry->first_node + i].op == op;
  return n;
}

/* One update in place of four; the weights are put together once, for both readers; results keep their names. */
static void
test_update (void)
{
  g_autoptr (PassCase) c = pass_case_new (&gantry_pass_stack, NULL, STEP (RESULTS, LOOP SLICES UPDATES));
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryModule) absorbed = NULL;
  const GantryNode *new_w2;

  g_assert_cmpuint (count (c->after, GANTRY_OP_SUBTRACT), ==, 1);
  g_assert_cmpuint (count (c->after, GANTRY_OP_MULTIPLY), ==, 3); /* one is the rate */
  g_assert_cmpuint (count (c->after, GANTRY_OP_CONCATENATE), ==, 2);
  g_assert_cmpuint (count (c->after, GANTRY_OP_SLICE), ==, 8);
  new_w2 = gantry_module_node (c->after, gantry_function_result_id (c->after, gantry_module_entry (c->after), 6));
  g_assert_cmpstr (gantry_context_string (c->after->context, new_w2->name), ==, "w4/new");
  absorbed = gantry_pass_absorb.run (c->after, NULL, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (count (absorbed, GANTRY_OP_SUBTRACT), ==, 0);
}

static void
assert_left_alone (const char *text)
{
  g_autoptr (PassCase) c = pass_case_new (&gantry_pass_stack, NULL, text);

  g_assert_true (c->before == c->after);
}

/* One of the updates differs, a gradient is read beside, not all of the new values are results, or a slice is missing. */
static void
test_left_alone (void)
{
  assert_left_alone (STEP (RESULTS, LOOP SLICES RATE UPDATE ("2", "2", "6", "42") UPDATE ("3", "3", "7", "43") UPDATE (
                                      "4", "4", "8", "44") "%95 = add(%9, %45): f32[64,64] phase(update) "
                                                           "%85 = add(%95, %9): f32[64,64] phase(update) %125 = subtract(%5, %85): f32[64,64] phase(update) "));
  assert_left_alone (STEP (RESULTS ", %130", LOOP SLICES UPDATES "%130 = reduce(%43) {dimensions = [0, 1], kind = \"add\"}: f32[] phase(update) "));
  assert_left_alone (STEP ("%30, %122, %123, %124, %85, %125", LOOP SLICES UPDATES));
  assert_left_alone (STEP ("%30, %82, %122, %83, %123, %84, %124",
                           LOOP SLICE ("32", "42", "0", "1") SLICE ("33", "43", "1", "2") SLICE ("34", "44", "2", "3") RATE UPDATE ("2", "2", "6", "42")
                             UPDATE ("3", "3", "7", "43") UPDATE ("4", "4", "8", "44")));
}

/* A trip would take a kernel for next to nothing. */
static void
test_small (void)
{
  GString *text = g_string_new (STEP (RESULTS, LOOP SLICES UPDATES));

  g_string_replace (text, "64", "16", 0);
  assert_left_alone (text->str);
  g_string_free (text, TRUE);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/stack/update", test_update);
  g_test_add_func ("/stack/left-alone", test_left_alone);
  g_test_add_func ("/stack/small", test_small);
  return g_test_run ();
}
