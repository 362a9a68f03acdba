/* SPDX-License-Identifier: Apache-2.0 */
/* Made-up weights: which constants they replace, and with which numbers. */
#include "core/base/random.h"
#include "core/compiler/random-weights.h"
#include "core/graph/graph.h"
#include <math.h>
#include <string.h>

/* Weights of a branch, of a detector whose result is of integers, and of a shape that a node gives; what stays is what a
 * resize and a clip are told, a scalar, integers, and numbers of the formula. */
static const char program[] = "module \"net\" {\n"
                              "  func @main #1 (%1 \"x\": f32[1,2,4,4], %2 \"yes\": bool[]) -> (%20, %22) {\n"
                              "    %3 \"w\" = constant() {value = dense<f32[2,2,1,1]: 1.0, 2.0, 3.0, 4.0>}: f32[2,2,1,1]\n"
                              "    %4 \"b\" = constant() {value = dense<f32[2]: 1.0, 2.0>}: f32[2]\n"
                              "    %5 \"scales\" = constant() {value = dense<f32[4]: 1.0, 1.0, 2.0, 2.0>}: f32[4]\n"
                              "    %6 \"most\" = constant() {value = dense<f32[2]: 6.0, 6.0>}: f32[2]\n"
                              "    %7 \"half\" = constant() {value = dense<f32[1]: 0.5>}: f32[1]\n"
                              "    %8 \"axes\" = constant() {value = dense<i64[2]: 2, 3>}: i64[2]\n"
                              "    %9 \"prior\" = \"onnx.Constant\"() {value = dense<f32[2]: 3.0, 4.0>}: f32[2]\n"
                              "    %10 \"shape\" = constant() {value = dense<i64[2]: 2, 3>}: i64[2]\n"
                              "    %11 \"hidden\" = \"onnx.ConstantOfShape\"(%10): f32[2,3]\n"
                              "    %12 \"branch\" = constant() {value = dense<f32[2]: 1.0, 2.0>}: f32[2]\n"
                              "    %13 = \"onnx.Conv\"(%1, %3, %4): f32[1,2,4,4]\n"
                              "    %14 = \"onnx.Resize\"(%13, _, %5): f32[1,2,8,8]\n"
                              "    %15 = \"onnx.Clip\"(%14, _, %6): f32[1,2,8,8]\n"
                              "    %16 = \"onnx.Mul\"(%15, %7): f32[1,2,8,8]\n"
                              "    %17 = \"onnx.ReduceSum\"(%16, %8) {keepdims = 0}: f32[1,2]\n"
                              "    %18 = \"onnx.Add\"(%17, %9): f32[1,2]\n"
                              "    %19 = \"onnx.MatMul\"(%18, %11): f32[1,3]\n"
                              "    %20 = \"onnx.ArgMax\"(%19) {axis = 1}: i64[1,1]\n"
                              "    %22 = if(%2, %12) {then = #2, else = #3}: f32[2]\n"
                              "  }\n"
                              "  func @yes #2 (%30: f32[2]) -> (%32) {\n"
                              "    %31 \"inner\" = constant() {value = dense<f32[2]: 3.0, 4.0>}: f32[2]\n"
                              "    %32 = multiply(%30, %31): f32[2]\n"
                              "  }\n"
                              "  func @no #3 (%33: f32[2]) -> (%33) { }\n"
                              "}\n";

static const struct
{
  guint32 id;
  gboolean replaced;
} constants[] = {
  { 3, TRUE }, { 4, TRUE }, { 5, FALSE }, { 6, FALSE }, { 7, FALSE }, { 8, FALSE }, { 9, FALSE }, { 10, FALSE }, { 11, TRUE }, { 12, TRUE }, { 31, TRUE },
};

/* Node @id, by its name where the rewriting gave it another id. */
static const GantryNode *
find_node (const GantryModule *module, const char *name)
{
  for (guint32 i = 0; i < module->n_nodes; i++)
    if (g_strcmp0 (gantry_context_string (module->context, module->nodes[i].name), name) == 0)
      return &module->nodes[i];
  g_error ("there is no '%s'", name);
}

static void
assert_made_up (const GantryLiteral *literal, const char *name, gint64 seed)
{
  gint64 n = gantry_type_elements (literal->type);
  gboolean is_vector = literal->type->rank == 1;
  double bound = is_vector ? 0 : sqrt (6.0 / ((double) n / (double) literal->type->dims[0]));
  guint64 start = gantry_random_start (name, seed);

  for (gint64 i = 0; i < n; i++)
    {
      double u = gantry_random_at (start, (guint64) i);

      g_assert_cmpfloat ((float) gantry_literal_get_double (literal, i), ==, (float) (is_vector ? 0.25 + u / 2 : (2 * u - 1) * bound));
    }
}

static void
test_which (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GantryModule) module = gantry_module_from_text (context, program, -1, "test", &error);
  g_autoptr (GantryModule) made = NULL;

  g_assert_no_error (error);
  made = gantry_randomize_weights (module, 7, NULL, &error);
  g_assert_no_error (error);
  gantry_verify (made, NULL, &error);
  g_assert_no_error (error);
  for (guint i = 0; i < G_N_ELEMENTS (constants); i++)
    {
      const GantryNode *old = gantry_module_node (module, constants[i].id);
      const char *name = gantry_context_string (context, old->name);
      const GantryNode *node = find_node (made, name);
      const GantryAttr *before = gantry_attrs_find (context, old->attrs, "value");
      const GantryAttr *after = gantry_attrs_find (context, node->attrs, "value");

      if (constants[i].replaced)
        assert_made_up (gantry_context_literal (context, after->id), name, 7);
      else
        g_assert_true (node->op == old->op && after->id == before->id);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/random-weights/which", test_which);
  return g_test_run ();
}
