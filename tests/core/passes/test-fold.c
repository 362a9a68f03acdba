/* SPDX-License-Identifier: Apache-2.0 */
/* fold, cse and dce: what depends on constants is computed, what is equal is computed once, what is unused goes; and
 * where each of them must hold back. */
#include "tests/core/passes/pass-test.h"

/* Fold */

static void
test_fold_acts (void)
{
  g_autoptr (PassCase)
    c = pass_case_new (&gantry_pass_fold, NULL,
                       PROGRAM ("%1: f32[2]", "%6",
                                "%2 = constant() {value = dense<f32[2]: 1.0, 2.0>}: f32[2] %3 = constant() {value = dense<f32[2]: 3.0, 5.0>}: f32[2] "
                                "%4 = multiply(%2, %3): f32[2] %5 = sqrt(%4): f32[2] %6 = add(%1, %5): f32[2]"));
  const GantryNode *constant = gantry_node_operand (c->after, pass_result (c->after, 0), 1);
  const GantryAttr *value;

  g_assert_cmpint (constant->op, ==, GANTRY_OP_CONSTANT);
  value = gantry_attrs_find (c->context, constant->attrs, "value");
  g_assert_cmpfloat_with_epsilon (gantry_literal_get_double (gantry_context_literal (c->context, value->id), 1), 3.1622777, 1e-6);
  g_assert_cmpuint (gantry_module_successor (c->after, 5), ==, constant->id);
}

/* A scalar constant under a broadcast is not blown up, whatever stands around it. */
static void
test_fold_keeps_broadcast (void)
{
  g_autoptr (PassCase) c = pass_case_new (&gantry_pass_fold, NULL,
                                          PROGRAM ("%1: f32[64,64]", "%4",
                                                   "%2 = constant() {value = splat<f32[]: 2.0>}: f32[] "
                                                   "%3 = broadcast_in_dim(%2) {shape = [64,64], broadcast_dimensions = ints[]}: f32[64,64] "
                                                   "%4 = multiply(%1, %3): f32[64,64]"));

  pass_assert_unchanged (c);
}

/* op (broadcast (c)) becomes broadcast (op (c)): one scalar is computed, none is blown up. */
static void
test_fold_sinks (void)
{
  g_autoptr (PassCase) c = pass_case_new (&gantry_pass_fold, NULL,
                                          PROGRAM ("%1: f32[64,64]", "%8",
                                                   "%2 = constant() {value = splat<f32[]: 2.0>}: f32[] %3 = constant() {value = splat<f32[]: 5.0>}: f32[] "
                                                   "%4 = broadcast_in_dim(%2) {shape = [64,64], broadcast_dimensions = ints[]}: f32[64,64] "
                                                   "%5 = broadcast_in_dim(%3) {shape = [64,64], broadcast_dimensions = ints[]}: f32[64,64] "
                                                   "%6 = add(%4, %5): f32[64,64] %7 = transpose(%6) {permutation = [1,0]}: f32[64,64] "
                                                   "%8 = multiply(%1, %7): f32[64,64]"));
  const GantryNode *factor = gantry_node_operand (c->after, pass_result (c->after, 0), 1);

  g_assert_cmpint (factor->op, ==, GANTRY_OP_BROADCAST_IN_DIM);
  g_assert_cmpint (gantry_node_operand (c->after, factor, 0)->op, ==, GANTRY_OP_CONSTANT);
  for (guint32 i = 0; i < c->after->n_nodes; i++)
    if (c->after->nodes[i].op == GANTRY_OP_CONSTANT)
      g_assert_cmpint (gantry_type_elements (gantry_node_type (c->after, &c->after->nodes[i])), ==, 1);
}

/* What would make the program bigger stays: an iota is made when it is needed; a padded vector is larger than the
 * vector. */
static void
test_fold_does_not_grow (void)
{
  g_autoptr (PassCase) iota = pass_case_new (&gantry_pass_fold, NULL, PROGRAM ("", "%1", "%1 = iota() {to = type i32[4096], iota_dimension = 0}: i32[4096]"));
  g_autoptr (PassCase) pad = pass_case_new (&gantry_pass_fold, NULL,
                                            PROGRAM ("", "%3",
                                                     "%1 = constant() {value = dense<f32[2]: 1.0, 2.0>}: f32[2] %2 = constant() {value = splat<f32[]: 0.0>}: "
                                                     "f32[] %3 = pad(%1, %2) {edge_padding_low = [2000], edge_padding_high = [0], interior_padding = [0]}: "
                                                     "f32[2002]"));

  pass_assert_unchanged (iota);
  pass_assert_unchanged (pad);
}

static void
test_fold_leaves_random_and_parameters (void)
{
  g_autoptr (PassCase) random = pass_case_new (&gantry_pass_fold, NULL,
                                               PROGRAM ("", "%3",
                                                        "%1 = constant() {value = dense<u64[2]: 1, 2>}: u64[2] "
                                                        "%2 = rng_bit_generator(%1) {shape = [3], to = type u32[]}: (u64[2], u32[3]) "
                                                        "%3 = result(%2) {index = 1}: u32[3]"));
  g_autoptr (PassCase) parameter = pass_case_new (&gantry_pass_fold, NULL, PROGRAM ("%1: f32[2]", "%2", "%2 = negate(%1): f32[2]"));
  g_autoptr (PassCase) barrier = pass_case_new (
    &gantry_pass_fold, NULL, PROGRAM ("", "%2", "%1 = constant() {value = dense<f32[2]: 1.0, 2.0>}: f32[2] %2 = optimization_barrier(%1): f32[2]"));

  pass_assert_unchanged (random);
  pass_assert_unchanged (parameter);
  pass_assert_unchanged (barrier);
}

/* CSE */

static void
test_cse_acts (void)
{
  /* Two equal subgraphs of depth two, the second with a sum's operands the other way round. */
  g_autoptr (PassCase) c = pass_case_new (&gantry_pass_cse, NULL,
                                          PROGRAM ("%1: f32[2], %2: f32[2]", "%9",
                                                   "%3 = add(%1, %2): f32[2] %4 = tanh(%3): f32[2] %5 = negate(%4): f32[2] "
                                                   "%6 = add(%2, %1): f32[2] %7 = tanh(%6): f32[2] %8 = negate(%7): f32[2] %9 = multiply(%5, %8): f32[2]"));

  g_assert_cmpuint (c->after->n_nodes, ==, c->before->n_nodes - 3);
  g_assert_cmpuint (gantry_module_successor (c->after, 6), ==, 3);
  g_assert_cmpuint (gantry_module_successor (c->after, 8), ==, 5);
  g_assert_cmpuint (gantry_node_operand_id (c->after, pass_result (c->after, 0), 0), ==, 5);
  g_assert_cmpuint (gantry_node_operand_id (c->after, pass_result (c->after, 0), 1), ==, 5);
}

static const PassText different[] = {
  /* Attributes are part of the key. */
  { "attributes", PROGRAM ("%1: f32[2,3]", "%4",
                           "%2 = reduce(%1) {kind = \"add\", dimensions = [0,1]}: f32[] "
                           "%3 = reduce(%1) {kind = \"max\", dimensions = [0,1]}: f32[] %4 = add(%2, %3): f32[]") },
  { "permutation", PROGRAM ("%1: f32[2,2]", "%4",
                            "%2 = transpose(%1) {permutation = [1,0]}: f32[2,2] "
                            "%3 = transpose(%1) {permutation = [0,1]}: f32[2,2] %4 = add(%2, %3): f32[2,2]") },
  /* So is the order of operands, where it matters. */
  { "order", PROGRAM ("%1: f32[2], %2: f32[2]", "%5",
                      "%3 = subtract(%1, %2): f32[2] %4 = subtract(%2, %1): f32[2] "
                      "%5 = multiply(%3, %4): f32[2]") },
  { "type", PROGRAM ("%1: f32[2]", "%4, %3",
                     "%2 = convert(%1) {to = type f16[]}: f16[2] %3 = convert(%1) {to = type f64[]}: "
                     "f64[2] %4 = convert(%2) {to = type f64[]}: f64[2]") },
  /* Random bits are drawn as often as is written. */
  { "random", PROGRAM ("%1: u64[2]", "%6",
                       "%2 = rng_bit_generator(%1) {shape = [3], to = type u32[]}: (u64[2], u32[3]) "
                       "%3 = rng_bit_generator(%1) {shape = [3], to = type u32[]}: (u64[2], u32[3]) "
                       "%4 = result(%2) {index = 1}: u32[3] %5 = result(%3) {index = 1}: u32[3] %6 = add(%4, %5): u32[3]") },
  /* Not even when a function hides them. */
  { "random-in-a-call", "module \"test\" { func @main #1 (%1: u64[2]) -> (%4) { %2 = call(%1) {body = @draw #2}: u32[3] "
                        "%3 = call(%1) {body = @draw #2}: u32[3] %4 = add(%2, %3): u32[3] } "
                        "func @draw #2 (%5: u64[2]) -> (%7) { %6 = rng_bit_generator(%5) {shape = [3], to = type u32[]}: (u64[2], u32[3]) "
                        "%7 = result(%6) {index = 1}: u32[3] } }" },
  { "barrier", PROGRAM ("%1: f32[2]", "%4",
                        "%2 = optimization_barrier(%1): f32[2] %3 = optimization_barrier(%1): f32[2] "
                        "%4 = add(%2, %3): f32[2]") },
};

/* Calls of a function without effects are one call. */
static void
test_cse_calls (void)
{
  g_autoptr (PassCase) c = pass_case_new (&gantry_pass_cse, NULL,
                                          "module \"test\" { func @main #1 (%1: f32[3]) -> (%4) { %2 = call(%1) {body = @f #2}: f32[3] "
                                          "%3 = call(%1) {body = @f #2}: f32[3] %4 = add(%2, %3): f32[3] } "
                                          "func @f #2 (%5: f32[3]) -> (%6) { %6 = tanh(%5): f32[3] } }");

  g_assert_cmpuint (pass_count (c->after, GANTRY_OP_CALL), ==, 1);
}

/* Dead code */

static void
test_dce_acts (void)
{
  g_autoptr (PassCase) c = pass_case_new (&gantry_pass_dce, NULL,
                                          "module \"test\" { func @main #1 (%1: f32[3], %2: f32[3]) -> (%3) { %3 = negate(%1): f32[3] %4 = tanh(%2): f32[3] "
                                          "%5 = call(%4) {body = @f #2}: f32[3] } func @f #2 (%6: f32[3]) -> (%7) { %7 = tanh(%6): f32[3] } }");

  /* Both parameters stay: they are the interface; the function that nobody calls any more goes. */
  g_assert_cmpuint (c->after->n_nodes, ==, 3);
  g_assert_cmpuint (gantry_module_entry (c->after)->n_params, ==, 2);
  g_assert_cmpuint (c->after->n_functions, ==, 1);
  g_assert_cmpuint (gantry_module_successor (c->after, 5), ==, 0);
}

static void
test_dce_leaves (void)
{
  g_autoptr (PassCase) used = pass_case_new (&gantry_pass_dce, NULL, PROGRAM ("%1: f32[3]", "%2, %2, %1", "%2 = negate(%1): f32[3]"));

  pass_assert_unchanged (used);
}

/* Nodes with an effect are never removed, nor calls of functions that have one. They cannot be evaluated. */
static void
test_dce_effects (void)
{
  const GantryPassOptions options = GANTRY_PASS_OPTIONS_INIT;
  const char *text = "module \"test\" { func @main #1 (%1: f32[3]) -> (%2) { %2 = negate(%1): f32[3] "
                     "%3 = custom_call(%1) {target = \"print\", to = type f32[3]}: f32[3] %4 = call(%1) {body = @f #2}: f32[3] "
                     "%8 = tanh(%1): f32[3] } "
                     "func @f #2 (%5: f32[3]) -> (%7) { %6 = custom_call(%5) {target = \"print\", to = type f32[3]}: f32[3] "
                     "%7 = tanh(%5): f32[3] } }";
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryModule) before = gantry_module_from_text (context, text, -1, "test.gir", &error);
  g_autoptr (GantryModule) after = NULL;
  g_autoptr (GantryModule) merged = NULL;

  g_assert_no_error (error);
  after = gantry_pass_dce.run (before, &options, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (pass_count (after, GANTRY_OP_CUSTOM_CALL), ==, 2);
  g_assert_cmpuint (pass_count (after, GANTRY_OP_CALL), ==, 1);
  g_assert_cmpuint (after->n_nodes, ==, before->n_nodes - 1);
  merged = gantry_pass_cse.run (after, &options, NULL, &error);
  g_assert_true (merged == after);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/passes/fold/acts", test_fold_acts);
  g_test_add_func ("/passes/fold/sinks-under-broadcasts", test_fold_sinks);
  g_test_add_func ("/passes/fold/leaves/scalar-under-broadcast", test_fold_keeps_broadcast);
  g_test_add_func ("/passes/fold/leaves/what-grows", test_fold_does_not_grow);
  g_test_add_func ("/passes/fold/leaves/random-and-parameters", test_fold_leaves_random_and_parameters);
  g_test_add_func ("/passes/cse/acts", test_cse_acts);
  g_test_add_func ("/passes/cse/calls", test_cse_calls);
  pass_add_unchanged ("/passes/cse/leaves", &gantry_pass_cse, different, G_N_ELEMENTS (different));
  g_test_add_func ("/passes/dce/acts", test_dce_acts);
  g_test_add_func ("/passes/dce/leaves", test_dce_leaves);
  g_test_add_func ("/passes/dce/effects", test_dce_effects);
  return g_test_run ();
}
