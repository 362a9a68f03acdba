/* SPDX-License-Identifier: Apache-2.0 */
/* Which constants of an imported program become parameters, and that nothing else about them changes. */
#include "tests/core/autodiff/training-test.h"
#include <string.h>

/* A convolution with weights, a normalization with statistics, a scaled resize, and constants that are no weights:
 * a scalar, integers, one that only integers are made of, one that nobody reads, a splat. */
static const char program[] = "module \"net\" {\n"
                              "  func @main #1 (%1 \"x\": f32[1,2,4,4]) -> (%20) {\n"
                              "    %2 \"w\" = constant() {value = dense<f32[2,2,1,1]: 1.0, 2.0, 3.0, 4.0>}: f32[2,2,1,1] scope(\"conv\")\n"
                              "    %3 \"b\" = constant() {value = dense<f32[2]: 1.0, 2.0>}: f32[2]\n"
                              "    %4 \"scale\" = constant() {value = dense<f32[2]: 1.0, 2.0>}: f32[2]\n"
                              "    %5 \"bias\" = constant() {value = dense<f32[2]: 0.0, 2.0>}: f32[2]\n"
                              "    %6 \"mean\" = constant() {value = dense<f32[2]: 0.5, 2.0>}: f32[2]\n"
                              "    %7 \"variance\" = constant() {value = dense<f32[2]: 1.0, 4.0>}: f32[2]\n"
                              "    %8 \"scales\" = constant() {value = dense<f32[4]: 1.0, 1.0, 2.0, 2.0>}: f32[4]\n"
                              "    %9 \"half\" = constant() {value = dense<f32[]: 0.5>}: f32[]\n"
                              "    %10 \"axes\" = constant() {value = dense<i64[2]: 2, 3>}: i64[2]\n"
                              "    %11 \"sizes\" = constant() {value = dense<f32[2]: 8.0, 8.0>}: f32[2]\n"
                              "    %12 \"unread\" = constant() {value = dense<f32[2]: 8.0, 9.0>}: f32[2]\n"
                              "    %13 \"ones\" = constant() {value = splat<f32[1,2,8,8]: 1.0>}: f32[1,2,8,8]\n"
                              "    %14 \"c\" = \"onnx.Conv\"(%1, %2, %3): f32[1,2,4,4]\n"
                              "    %15 = \"onnx.BatchNormalization\"(%14, %4, %5, %6, %7): f32[1,2,4,4]\n"
                              "    %16 = \"onnx.Resize\"(%15, _, %8): f32[1,2,8,8]\n"
                              "    %17 = \"onnx.Cast\"(%11) {to = 7}: i64[2]\n"
                              "    %18 = \"onnx.Mul\"(%16, %9): f32[1,2,8,8]\n"
                              "    %19 = \"onnx.Pad\"(%18, %10, _, %17): f32[1,2,8,8]\n"
                              "    %20 = \"onnx.Add\"(%19, %13): f32[1,2,8,8]\n"
                              "  }\n"
                              "}\n";

static GantryModule *
parameterize (GantryModule *module, char *const *names)
{
  g_autoptr (GError) error = NULL;
  GantryModule *next = gantry_parameterize (module, names, NULL, &error);

  g_assert_no_error (error);
  gantry_verify (next, module, &error);
  g_assert_no_error (error);
  return next;
}

static void
assert_parameters (const GantryModule *module, const char *expected)
{
  const GantryFunction *entry = gantry_module_entry (module);
  g_autoptr (GString) found = g_string_new (NULL);

  for (guint32 i = 0; i < entry->n_params; i++)
    if (gantry_parameter_role (module, &module->nodes[entry->first_node + i]) == GANTRY_SUBJECT_PARAMETER)
      g_string_append_printf (found, "%s ", gantry_context_string (module->context, module->nodes[i].name));
  g_assert_cmpstr (found->str, ==, expected);
}

static void
test_weights (void)
{
  g_autoptr (GantryModule) module = training_from_text (program);
  g_autoptr (GantryModule) next = parameterize (module, NULL);
  g_autoptr (GantryModule) again = NULL;

  assert_parameters (next, "w b scale bias ");
  g_assert_cmpuint (next->n_nodes, ==, module->n_nodes);
  /* The same id, name, scope and value; what read the constant reads the parameter. */
  for (guint32 i = 0; i < module->n_nodes; i++)
    {
      const GantryNode *old = &module->nodes[i];
      const GantryNode *node = gantry_module_node (next, old->id);

      g_assert_nonnull (node);
      g_assert_cmpuint (node->name, ==, old->name);
      g_assert_cmpuint (node->scope, ==, old->scope);
      g_assert_cmpuint (node->type, ==, old->type);
      g_assert_cmpuint (node->location, ==, old->location);
      for (guint j = 0; j < node->n_operands; j++)
        g_assert_cmpuint (gantry_node_operand_id (next, node, j), ==, gantry_node_operand_id (module, old, j));
      if (node->op == GANTRY_OP_PARAMETER && old->op == GANTRY_OP_CONSTANT)
        g_assert_cmpuint (gantry_attrs_find (next->context, node->attrs, "initial")->id, ==, gantry_attrs_find (module->context, old->attrs, "value")->id);
    }
  again = parameterize (next, NULL);
  g_assert_true (again == next);
}

static void
test_names (void)
{
  g_autoptr (GantryModule) module = training_from_text (program);
  char *names[] = { (char *) "mean", (char *) "var*", (char *) "b", NULL };
  char *wrong[] = { (char *) "w", (char *) "scales", NULL };
  g_autoptr (GantryModule) next = parameterize (module, names);
  g_autoptr (GError) error = NULL;

  assert_parameters (next, "b mean variance ");
  g_assert_null (gantry_parameterize (module, wrong, NULL, &error));
  g_assert_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID);
  g_assert_nonnull (strstr (error->message, "'scales'"));
}

/* What a node among the others makes belongs to the formula, unless it is named. */
static void
test_formula (void)
{
  g_autoptr (GantryModule) module = training_from_text ("module \"m\" { func @main #1 (%1 \"x\": f32[2]) -> (%6) { "
                                                        "%2 \"w\" = constant() {value = dense<f32[2]: 1.0, 2.0>}: f32[2] "
                                                        "%3 \"prior\" = \"onnx.Constant\"() {value = dense<f32[2]: 3.0, 4.0>}: f32[2] "
                                                        "%4 \"half\" = \"onnx.Constant\"() {value = dense<f32[]: 0.5>}: f32[] "
                                                        "%5 = \"onnx.Mul\"(%1, %2, %4): f32[2] %6 = \"onnx.Add\"(%5, %3): f32[2] } }");
  char *names[] = { (char *) "pri*", NULL }, *numbers[] = { (char *) "ha*", NULL }, *number[] = { (char *) "half", NULL };
  g_autoptr (GantryModule) next = parameterize (module, NULL);
  g_autoptr (GantryModule) named = parameterize (module, names);
  g_autoptr (GantryModule) alone = parameterize (module, number);
  g_autoptr (GError) error = NULL;

  assert_parameters (next, "w ");
  assert_parameters (named, "prior ");
  assert_parameters (alone, "half "); /* a number alone by its whole name */
  g_assert_null (gantry_parameterize (module, numbers, NULL, &error));
  g_assert_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID);
}

/* Core operations, a loop body with a constant of its own, and no node but parameters. */
static void
test_other_programs (void)
{
  g_autoptr (GantryModule) core = training_from_text ("module \"m\" { func @main #1 (%1 \"x\": f32[2], %2 \"old\": f32[2] {role = \"parameter\"}) -> (%5) { "
                                                      "%3 \"w\" = constant() {value = dense<f32[2]: 1.0, 2.0>}: f32[2] %4 = add(%1, %3): f32[2] "
                                                      "%5 = call(%4) {body = #2}: f32[2] } "
                                                      "func @f #2 (%6: f32[2]) -> (%8) { %7 \"inner\" = constant() {value = dense<f32[2]: 3.0, 4.0>}: f32[2] "
                                                      "%8 = multiply(%6, %7): f32[2] } }");
  g_autoptr (GantryModule) bare = training_from_text ("module \"m\" { func @main #1 (%1 \"x\": f32[2]) -> (%1) { } }");
  char *names[] = { (char *) "ol*", NULL };
  g_autoptr (GantryModule) next = parameterize (core, NULL);
  g_autoptr (GantryModule) none = parameterize (core, names);
  g_autoptr (GantryModule) same = parameterize (bare, NULL);

  assert_parameters (next, "old w ");
  assert_parameters (none, "old ");
  g_assert_cmpint (gantry_module_node (next, 7)->op, ==, GANTRY_OP_CONSTANT);
  g_assert_true (same == bare);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/parameterize/weights", test_weights);
  g_test_add_func ("/parameterize/names", test_names);
  g_test_add_func ("/parameterize/formula", test_formula);
  g_test_add_func ("/parameterize/other-programs", test_other_programs);
  return g_test_run ();
}
