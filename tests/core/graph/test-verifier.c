/* SPDX-License-Identifier: Apache-2.0 */
/* The verifier accepts what is sound and says of each kind of fault what it is and where. */
#include "core/graph/graph.h"
#include <string.h>

typedef struct
{
  const char *path;
  const char *text;
  const char *parts[3]; /* of the message; none: the module is sound */
} Case;

#define MODULE(functions) "module \"m\" {\n" functions "}\n"
#define MAIN(nodes) MODULE ("func @main #1 (%1 \"x\": f32[2]) -> (%1) {\n" nodes "}\n")

static const Case cases[] = {
  { "/sound/empty", MAIN (""), { NULL } },
  { "/sound/add", MAIN ("%2 = add(%1, %1): f32[2]\n"), { NULL } },
  { "/sound/foreign-absent-operand", MAIN ("%2 = \"onnx.Clip\"(%1, _, %1): ?\n"), { NULL } },
  { "/sound/unknown-type", MAIN ("%2 = \"onnx.Odd\"(%1): ?\n%3 = add(%2, %1): ?\n"), { NULL } },
  { "/sound/symbols", MODULE ("func @main #1 (%1: f32[batch,3]) -> (%2) { %2 = negate(%1): f32[batch,3] }\n"), { NULL } },
  { "/sound/more-is-known-later", MODULE ("func @main #1 (%1: f32[4,3]) -> (%2) { %2 = negate(%1): f32[batch,3] }\n"), { NULL } },
  { "/sound/call",
    MODULE ("func @main #1 (%1: f32[2]) -> (%2) { %2 = call(%1) {body = #2}: f32[2] }\n"
            "func @f #2 (%3: f32[2]) -> (%3) { }\n"),
    { NULL } },
  { "/operand/missing",
    MAIN ("%2 \"y\" = add(%1, %7): f32[2] loc(\"net.py\":7:3)\n"),
    { "function @main, node %2 'y', add (net.py:7:3)", "operand 1, %7, is not in this module" } },
  { "/operand/later", MAIN ("%2 = negate(%3): f32[2]\n%3 = negate(%1): f32[2]\n"), { "node %2", "does not come earlier" } },
  { "/operand/itself", MAIN ("%2 = negate(%2): f32[2]\n"), { "node %2", "does not come earlier" } },
  { "/operand/of-another-function",
    MODULE ("func @main #1 (%1: f32[2]) -> (%1) { }\nfunc @other #2 () -> () { %2 = negate(%1): f32[2] }\n"),
    { "function @other, node %2", "is of another function" } },
  { "/operand/of-a-later-function",
    MODULE ("func @main #1 (%1: f32[2]) -> (%1) { %3 = negate(%2): f32[2] }\nfunc @other #2 (%2: f32[2]) -> () { }\n"),
    { "node %3", "does not come earlier" } },
  { "/operand/absent", MAIN ("%2 = add(%1, _): f32[2]\n"), { "node %2", "operand 1, %0, is not in this module" } },
  { "/operand/too-many", MAIN ("%2 = negate(%1, %1): f32[2]\n"), { "negate", "takes 1 operands, not 2" } },
  { "/type/wrong-shape", MAIN ("%2 = add(%1, %1): f32[3]\n"), { "node %2", "its type is f32[3], but should be f32[2]" } },
  { "/type/wrong-element", MAIN ("%2 = compare(%1, %1) {comparison_direction = \"EQ\"}: f32[2]\n"), { "its type is f32[2], but should be bool[2]" } },
  { "/type/operands-differ", MAIN ("%2 = constant() {value = dense<i32[2]: 1, 2>}: i32[2]\n%3 = add(%1, %2): f32[2]\n"), { "node %3", "add" } },
  { "/attribute/missing", MAIN ("%2 = transpose(%1): f32[2]\n"), { "node %2", "permutation" } },
  { "/attribute/constant-without-value", MAIN ("%2 = constant(): f32[2]\n"), { "node %2", "value is missing" } },
  { "/attribute/checkpoint-without-name", MAIN ("%2 = checkpoint_name(%1): f32[2]\n"), { "node %2", "name" } },
  { "/location/none", MAIN ("%2 = negate(%1): f32[2] loc(none)\n"), { "node %2", "it has no location" } },
  { "/origin/zero", MAIN ("%2 = negate(%1): f32[2] from(_)\n"), { "node %2", "origin 0" } },
  { "/function/none", MODULE (""), { "function" } },
  { "/function/same-id", MODULE ("func @a #1 () -> () { }\nfunc @b #1 () -> () { }\n"), { "function @b", "id 1" } },
  { "/function/unknown", MAIN ("%2 = call(%1) {body = #9}: f32[2]\n"), { "node %2", "names function 9, which is not in this module" } },
  { "/function/result-missing", MODULE ("func @main #1 () -> (%4) { }\n"), { "function @main", "result 0, %4" } },
  { "/function/result-of-another", MODULE ("func @main #1 () -> (%2) { }\nfunc @b #2 (%2: f32[]) -> (%2) { }\n"), { "function @main", "result 0, %2" } },
  { "/function/calls-itself", MODULE ("func @main #1 (%1: f32[]) -> (%2) { %2 = call(%1) {body = #1}: f32[] }\n"), { "function @main calls itself" } },
  { "/function/circle",
    MODULE ("func @main #1 (%1: f32[]) -> (%2) { %2 = call(%1) {body = #2}: f32[] }\n"
            "func @a #2 (%3: f32[]) -> (%4) { %4 = call(%3) {body = #3}: f32[] }\n"
            "func @b #3 (%5: f32[]) -> (%6) { %6 = call(%5) {body = #2}: f32[] }\n"),
    { "@a calls itself" } },
  { "/scan/sound",
    MODULE ("func @main #1 (%1: f32[2], %2: f32[3,2]) -> (%3) {\n"
            "%3 = scan(%1, %2, %1) {body = #2, length = 3, n_carries = 1, n_xs = 1, axes = [0], y_axes = ints[]}: f32[2]\n"
            "}\n"
            "func @f #2 (%4: f32[2], %5: f32[2], %6: f32[2]) -> (%7) { %7 = add(%4, %5): f32[2] }\n"),
    { NULL } },
  { "/scan/slice",
    MODULE ("func @main #1 (%1: f32[2], %2: f32[3,2]) -> (%3) {\n"
            "%3 = scan(%1, %2) {body = #2, length = 3, n_carries = 1, n_xs = 1, axes = [0], y_axes = ints[]}: f32[2]\n"
            "}\n"
            "func @f #2 (%4: f32[2], %5: f32[3,2]) -> (%4) { }\n"),
    { "node %3", "operand 1 is f32[2], but parameter 1 of body is f32[3,2]" } },
  { "/scan/parameters",
    MODULE ("func @main #1 (%1: f32[2]) -> (%3) {\n"
            "%3 = scan(%1, %1) {body = #2, length = 3, n_carries = 1, n_xs = 0, axes = ints[], y_axes = ints[]}: f32[2]\n"
            "}\n"
            "func @f #2 (%4: f32[2]) -> (%4) { }\n"),
    { "node %3", "takes 1 values, but 2 are given" } },
  { "/scan/type",
    MODULE ("func @main #1 (%1: f32[2]) -> (%3) {\n"
            "%3 = scan(%1) {body = #2, length = 3, n_carries = 1, n_xs = 0, axes = ints[], y_axes = [0]}: "
            "(f32[2], f32[4,2])\n"
            "}\n"
            "func @f #2 (%4: f32[2]) -> (%4, %4) { }\n"),
    { "node %3", "but should be (f32[2], f32[3,2])" } },
  { "/function/arguments",
    MODULE ("func @main #1 (%1: f32[2]) -> (%2) { %2 = call(%1, %1) {body = #2}: f32[2] }\n"
            "func @f #2 (%3: f32[2]) -> (%3) { }\n"),
    { "node %2", "takes 1 values, but 2 are given" } },
};

static GantryModule *
parse (GantryContext *context, const char *text)
{
  g_autoptr (GError) error = NULL;
  GantryModule *module = gantry_module_from_text (context, text, -1, "case", &error);

  if (module == NULL) /* what the builder refuses itself */
    g_assert_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID);
  return module;
}

static void
test_case (gconstpointer data)
{
  const Case *c = data;
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryModule) module = parse (context, c->text);

  if (c->parts[0] == NULL)
    {
      gantry_verify (module, NULL, &error);
      g_assert_no_error (error);
      return;
    }
  if (module == NULL)
    return;
  g_assert_false (gantry_verify (module, NULL, &error));
  g_assert_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID);
  for (guint i = 0; i < G_N_ELEMENTS (c->parts) && c->parts[i] != NULL; i++)
    if (strstr (error->message, c->parts[i]) == NULL)
      g_error ("'%s' is not in '%s'", c->parts[i], error->message);
}

static void
test_origins (void)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryModule) before = parse (context, MAIN ("%2 = negate(%1): f32[2]\n"));
  g_autoptr (GantryModule) kept = parse (context, MAIN ("%2 = negate(%1): f32[2]\n"));
  g_autoptr (GantryModule) made = parse (context, MAIN ("%3 = negate(%1): f32[2] from(%2, %1)\n"));
  g_autoptr (GantryModule) from_nothing = parse (context, MAIN ("%3 = negate(%1): f32[2]\n"));
  g_autoptr (GantryModule) from_elsewhere = parse (context, MAIN ("%3 = negate(%1): f32[2] from(%9)\n"));

  gantry_verify (kept, before, &error);
  g_assert_no_error (error);
  gantry_verify (made, before, &error);
  g_assert_no_error (error);
  g_assert_false (gantry_verify (from_nothing, before, &error));
  g_assert_nonnull (strstr (error->message, "names no origin"));
  g_clear_error (&error);
  g_assert_false (gantry_verify (from_elsewhere, before, &error));
  g_assert_nonnull (strstr (error->message, "origin 0, %9"));
  g_clear_error (&error);
  gantry_verify (from_elsewhere, NULL, &error);
  g_assert_no_error (error);
}

/* What no text says: a frozen module written to by hand. */
static void
test_broken_frame (void)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryModule) module = parse (context, MAIN ("%2 = negate(%1): f32[2]\n"));

  module->functions[0].n_params = 2;
  g_assert_false (gantry_verify (module, NULL, &error));
  g_clear_error (&error);
  module->functions[0].n_params = 1;
  module->functions[0].n_nodes = 1;
  g_assert_false (gantry_verify (module, NULL, &error));
  g_clear_error (&error);
  module->functions[0].n_nodes = 2;
  module->nodes[1].id = 1;
  g_assert_false (gantry_verify (module, NULL, &error));
  g_clear_error (&error);
  module->nodes[1].id = 2;
  module->nodes[1].operands = 1000;
  g_assert_false (gantry_verify (module, NULL, &error));
  g_clear_error (&error);
  module->nodes[1].operands = 0;
  module->nodes[1].op = GANTRY_N_OPS;
  g_assert_false (gantry_verify (module, NULL, &error));
  g_clear_error (&error);
  module->nodes[1].op = GANTRY_OP_NEGATE;
  module->functions[0].results = 1000;
  g_assert_false (gantry_verify (module, NULL, &error));
  g_clear_error (&error);
  module->functions[0].results = 1;
  gantry_verify (module, NULL, &error);
  g_assert_no_error (error);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *path = g_strconcat ("/verifier", cases[i].path, NULL);

      g_test_add_data_func (path, &cases[i], test_case);
    }
  g_test_add_func ("/verifier/origins", test_origins);
  g_test_add_func ("/verifier/broken-frame", test_broken_frame);
  return g_test_run ();
}
