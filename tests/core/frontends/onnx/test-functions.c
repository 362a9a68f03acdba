/* SPDX-License-Identifier: Apache-2.0 */
/* Subgraphs become closed functions with their captures as parameters; functions of the model are
 * written out where they are called. */
#include "core/graph/graph.h"
#include "core/passes/passes.h"
#include "tests/core/frontends/onnx/model-writer.h"
#include <string.h>

static const GantryFunction *
body_of (const GantryModule *module, const GantryNode *node, const char *attribute)
{
  const GantryAttr *attr = gantry_attrs_find (module->context, node->attrs, attribute);

  g_assert_nonnull (attr);
  g_assert_cmpuint (attr->kind, ==, GANTRY_ATTR_FUNCTION);
  return gantry_module_function (module, attr->id);
}

static const char *
parameter_name (const GantryModule *module, const GantryFunction *function, guint i)
{
  return gantry_context_string (module->context, module->nodes[function->first_node + i].name);
}

/* Subgraphs */

static Message *
branch (const char *operation, const char *inputs, const char *output)
{
  Message *graph = message_new ();

  put_text (graph, 2, "branch");
  put_node (graph, write_node (operation, "", inputs, output));
  put_output (graph, write_value (output, ELEMENT_FLOAT, NULL));
  return graph;
}

static void
test_if (void)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GantryOnnxInfo) info = NULL;
  g_autoptr (GantryModule) module = NULL;
  Message *graph = message_new (), *node = write_node ("If", "choose", "c", "y");
  const GantryFunction *then, *other;
  const GantryNode *choose, *neg;

  put_input (graph, write_value ("c", ELEMENT_BOOL, ""));
  put_input (graph, write_value ("p", ELEMENT_FLOAT, "2"));
  put_input (graph, write_value ("q", ELEMENT_FLOAT, "2"));
  put_attribute (node, write_attribute_graph ("then_branch", branch ("Add", "p,q", "sum")));
  put_attribute (node, write_attribute_graph ("else_branch", branch ("Neg", "q", "neg")));
  put_node (graph, node);
  put_output (graph, write_value ("y", ELEMENT_FLOAT, NULL));
  module = import_model (context, write_model (graph), &info);
  g_assert_cmpuint (info->n_nodes, ==, 3);
  choose = find_value (module, "y");
  g_assert_cmpuint (choose->n_operands, ==, 3);
  g_assert_cmpint (gantry_attrs_int (context, choose->attrs, "captures", 0), ==, 2);
  then = body_of (module, choose, "then_branch");
  other = body_of (module, choose, "else_branch");
  /* Both take what either needs, in one order. */
  g_assert_cmpuint (then->n_params, ==, 2);
  g_assert_cmpuint (other->n_params, ==, 2);
  g_assert_cmpstr (parameter_name (module, other, 0), ==, "p");
  g_assert_cmpstr (parameter_name (module, other, 1), ==, "q");
  neg = find_value (module, "neg");
  g_assert_cmpuint (gantry_node_operand_id (module, neg, 0), ==, module->nodes[other->first_node + 1].id);
  assert_type (module, "neg", "f32[2]");
  assert_type (module, "y", "f32[2]");
  g_assert_cmpuint (gantry_context_get_location (context, neg->location)->line, ==, 1);
  g_assert_cmpstr (gantry_context_string (context, gantry_context_get_location (context, neg->location)->text), ==,
                   "node 1 'choose' (If), else_branch, node 1");
}

/* A value from two graphs further out passes through the one between. */
static void
test_nested (void)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GantryModule) module = NULL;
  Message *graph = message_new (), *middle = message_new (), *inner, *outer;
  const GantryNode *deep;

  inner = write_node ("If", "inner", "c", "m");
  put_attribute (inner, write_attribute_graph ("then_branch", branch ("Neg", "far", "deep")));
  put_attribute (inner, write_attribute_graph ("else_branch", branch ("Abs", "near", "shallow")));
  put_node (middle, write_node ("Exp", "e", "far", "near"));
  put_node (middle, inner);
  put_output (middle, write_value ("m", ELEMENT_FLOAT, NULL));
  outer = write_node ("If", "outer", "c", "y");
  put_attribute (outer, write_attribute_graph ("then_branch", middle));
  put_attribute (outer, write_attribute_graph ("else_branch", branch ("Relu", "far", "flat")));
  put_input (graph, write_value ("c", ELEMENT_BOOL, ""));
  put_input (graph, write_value ("x", ELEMENT_FLOAT, "3"));
  put_node (graph, outer);
  put_node (graph, write_node ("Floor", "f", "x", "far")); /* after its user: that is an order of captures, too */
  put_output (graph, write_value ("y", ELEMENT_FLOAT, NULL));
  module = import_model (context, write_model (graph), NULL);
  g_assert_cmpuint (module->n_functions, ==, 5);
  deep = find_value (module, "deep");
  g_assert_cmpuint (gantry_node_operand (module, deep, 0)->op, ==, GANTRY_OP_PARAMETER);
  assert_type (module, "deep", "f32[3]");
  assert_type (module, "y", "f32[3]");
}

static void
test_loop (void)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GantryModule) module = NULL;
  static const gint64 trips = 3;
  static const guint8 yes = 1;
  Message *graph = message_new (), *body = message_new (), *loop = write_node ("Loop", "l", "trips,yes,x", "y");
  const GantryFunction *function;

  put_input (body, write_value ("i", ELEMENT_INT64, NULL));
  put_input (body, write_value ("go", ELEMENT_BOOL, NULL));
  put_input (body, write_value ("state", ELEMENT_FLOAT, NULL));
  put_node (body, write_node ("Add", "a", "state,step", "next"));
  put_node (body, write_node ("Identity", "g", "go", "go_on"));
  put_output (body, write_value ("go_on", ELEMENT_BOOL, ""));
  put_output (body, write_value ("next", ELEMENT_FLOAT, NULL));
  put_attribute (loop, write_attribute_graph ("body", body));
  put_input (graph, write_value ("x", ELEMENT_FLOAT, "4"));
  put_input (graph, write_value ("step", ELEMENT_FLOAT, "4"));
  put_initializer (graph, write_tensor ("trips", ELEMENT_INT64, "", &trips, 8));
  put_initializer (graph, write_tensor ("yes", ELEMENT_BOOL, "", &yes, 1));
  put_node (graph, loop);
  put_output (graph, write_value ("y", ELEMENT_FLOAT, NULL));
  module = import_model (context, write_model (graph), NULL);
  function = body_of (module, find_value (module, "y"), "body");
  g_assert_cmpuint (function->n_params, ==, 4);
  g_assert_cmpstr (parameter_name (module, function, 3), ==, "step");
  assert_type (module, "i", "i64[]");
  assert_type (module, "go", "bool[]");
  assert_type (module, "state", "f32[4]");
  assert_type (module, "next", "f32[4]");
  assert_type (module, "y", "f32[4]");
}

/* A value that is longer after each trip, in a loop whose end depends on what it computes, and one that becomes another type. */
static void
test_loop_grows (void)
{
  static const char *const ops[] = { "Concat", "Cast" }, *const said[] = { "is f32[4] before a trip and f32[8] after it",
                                                                           "is f32[4] before a trip and f64[4] after it" };
  static const gint64 trips = 3;
  static const float most = 100;

  for (guint i = 0; i < G_N_ELEMENTS (ops); i++)
    {
      g_autoptr (GantryContext) context = gantry_context_new ();
      g_autoptr (GantryModule) module = NULL, lowered = NULL;
      g_autoptr (GError) error = NULL;
      Message *graph = message_new (), *body = message_new (), *loop = write_node ("Loop", "l", "trips,,x", "y"),
              *grow = write_node (ops[i], "g", i == 0 ? "state,state" : "state", "next");

      put_attribute (grow, i == 0 ? write_attribute_int ("axis", 0) : write_attribute_int ("to", ELEMENT_DOUBLE));
      put_input (body, write_value ("i", ELEMENT_INT64, NULL));
      put_input (body, write_value ("go", ELEMENT_BOOL, NULL));
      put_input (body, write_value ("state", ELEMENT_FLOAT, NULL));
      put_node (body, grow);
      put_node (body, write_node ("ReduceSum", "s", "state", "sum"));
      put_node (body, write_node ("Less", "c", "sum,most", "go_on"));
      put_output (body, write_value ("go_on", ELEMENT_BOOL, NULL));
      put_output (body, write_value ("next", i == 0 ? ELEMENT_FLOAT : ELEMENT_DOUBLE, NULL));
      put_attribute (loop, write_attribute_graph ("body", body));
      put_input (graph, write_value ("x", ELEMENT_FLOAT, "4"));
      put_initializer (graph, write_tensor ("trips", ELEMENT_INT64, "", &trips, 8));
      put_initializer (graph, write_tensor ("most", ELEMENT_FLOAT, "", &most, 4));
      put_node (graph, loop);
      put_output (graph, write_value ("y", i == 0 ? ELEMENT_FLOAT : ELEMENT_DOUBLE, NULL));
      module = import_model (context, write_model (graph), NULL);
      lowered = gantry_pass_legalize.run (module, &(GantryPassOptions) GANTRY_PASS_OPTIONS_INIT, NULL, &error);
      g_assert_null (lowered);
      g_assert_error (error, GANTRY_ERROR, GANTRY_ERROR_UNSUPPORTED);
      g_assert_nonnull (strstr (error->message, "carried value 0 ('state')"));
      g_assert_nonnull (strstr (error->message, said[i]));
    }
}

static void
test_capture_missing (void)
{
  Message *graph = message_new (), *node = write_node ("If", "choose", "c", "y");

  put_input (graph, write_value ("c", ELEMENT_BOOL, ""));
  put_attribute (node, write_attribute_graph ("then_branch", branch ("Neg", "ghost", "a")));
  put_attribute (node, write_attribute_graph ("else_branch", branch ("Neg", "c", "b")));
  put_node (graph, node);
  put_output (graph, write_value ("y", ELEMENT_FLOAT, NULL));
  assert_refused (write_model (graph), GANTRY_ERROR_INVALID, "node 1 'choose' (If)", "subgraph 'ghost'", "produced by no node", NULL);
}

/* Functions */

/* scale (x, w; by = 2) = x * w + by; tail is optional and added when given. */
static Message *
scale_function (void)
{
  Message *function = write_function ("scale", "x,w", "r", "");
  Message *constant = write_node ("Constant", "k", "", "by"), *fallback;

  put_attribute (constant, write_attribute_reference ("value_float", 1, "by"));
  put_message (function, 7, write_node ("Mul", "m", "x,w", "product"));
  put_message (function, 7, constant);
  put_message (function, 7, write_node ("Add", "a", "product,by", "r"));
  fallback = write_attribute_float ("by", 2);
  put_message (function, 11, fallback);
  return function;
}

static Message *
call (const char *function, const char *name, const char *inputs, const char *outputs)
{
  Message *node = write_node (function, name, inputs, outputs);

  put_text (node, 7, "local");
  return node;
}

static void
test_function (void)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GantryOnnxInfo) info = NULL;
  g_autoptr (GantryModule) module = NULL;
  Message *graph = message_new (), *model, *node;
  const GantryNode *by;

  put_input (graph, write_value ("a", ELEMENT_FLOAT, "2"));
  put_output (graph, write_value ("z", ELEMENT_FLOAT, NULL));
  put_node (graph, call ("scale", "/block/first", "a,a", "y"));
  node = call ("scale", "/block/second", "y,a", "z");
  put_attribute (node, write_attribute_float ("by", 5));
  put_node (graph, node);
  model = write_model (graph);
  put_function (model, scale_function ());
  module = import_model (context, model, &info);
  g_assert_cmpuint (info->n_nodes, ==, 2);
  g_assert_cmpuint (info->n_functions, ==, 1);
  g_assert_cmpuint (info->n_unsupported, ==, 0);
  g_assert_cmpuint (module->n_nodes, ==, 7);
  assert_op (module, "y", "onnx.Add");
  assert_op (module, "z", "onnx.Add");
  assert_type (module, "z", "f32[2]");
  g_assert_cmpstr (node_scope (module, find_value (module, "y")), ==, "block/first");
  by = find_value (module, "/block/first/by");
  g_assert_cmpfloat (gantry_attrs_float (context, by->attrs, "value_float", 0), ==, 2);
  by = find_value (module, "/block/second/by");
  g_assert_cmpfloat (gantry_attrs_float (context, by->attrs, "value_float", 0), ==, 5);
  /* The version of the function's own operator set. */
  g_assert_cmpint (gantry_attrs_int (context, by->attrs, "opset", 0), ==, 13);
  g_assert_cmpstr (gantry_context_string (context, gantry_context_get_location (context, by->location)->text), ==,
                   "node 2 '/block/second' (scale), function scale, node 2 'k'");
}

static void
test_function_in_function (void)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GantryModule) module = NULL;
  Message *graph = message_new (), *model, *outer = write_function ("outer", "p", "s", "amount"), *node;
  const GantryNode *by;

  node = call ("scale", "inner", "p,p", "s");
  put_attribute (node, write_attribute_reference ("by", 1, "amount"));
  put_message (outer, 7, node);
  put_input (graph, write_value ("a", ELEMENT_FLOAT, "2"));
  put_output (graph, write_value ("z", ELEMENT_FLOAT, NULL));
  node = call ("outer", "top", "a", "z");
  put_attribute (node, write_attribute_float ("amount", 9));
  put_node (graph, node);
  model = write_model (graph);
  put_function (model, outer);
  put_function (model, scale_function ());
  module = import_model (context, model, NULL);
  by = find_value (module, "top/inner/by");
  g_assert_cmpfloat (gantry_attrs_float (context, by->attrs, "value_float", 0), ==, 9);
  g_assert_cmpstr (node_scope (module, by), ==, "top/inner");
  assert_type (module, "z", "f32[2]");
}

/* A subgraph inside a function sees the function's values, and the attribute that the call leaves
 * out is absent. */
static void
test_function_with_subgraph (void)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GantryModule) module = NULL;
  Message *graph = message_new (), *model, *function = write_function ("pick", "c,v", "out", "alpha"), *node, *leaky;

  node = write_node ("If", "if", "c", "out");
  put_attribute (node, write_attribute_graph ("then_branch", branch ("Neg", "v", "n")));
  leaky = message_new ();
  {
    Message *inner = write_node ("LeakyRelu", "", "v", "l");

    put_attribute (inner, write_attribute_reference ("alpha", 1, "alpha"));
    put_node (leaky, inner);
    put_output (leaky, write_value ("l", ELEMENT_FLOAT, NULL));
  }
  put_attribute (node, write_attribute_graph ("else_branch", leaky));
  put_message (function, 7, node);
  put_input (graph, write_value ("flag", ELEMENT_BOOL, ""));
  put_input (graph, write_value ("x", ELEMENT_FLOAT, "5"));
  put_node (graph, call ("pick", "p", "flag,x", "y"));
  put_output (graph, write_value ("y", ELEMENT_FLOAT, NULL));
  model = write_model (graph);
  put_function (model, function);
  module = import_model (context, model, NULL);
  assert_type (module, "y", "f32[5]");
  g_assert_null (gantry_attrs_find (context, find_value (module, "p/l")->attrs, "alpha"));
}

static void
test_recursion (void)
{
  Message *graph = message_new (), *model, *f = write_function ("f", "x", "y", ""), *g = write_function ("g", "x", "y", "");

  put_message (f, 7, call ("g", "to_g", "x", "y"));
  put_message (g, 7, call ("f", "to_f", "x", "y"));
  put_input (graph, write_value ("a", ELEMENT_FLOAT, "2"));
  put_output (graph, write_value ("b", ELEMENT_FLOAT, NULL));
  put_node (graph, call ("f", "start", "a", "b"));
  model = write_model (graph);
  put_function (model, f);
  put_function (model, g);
  assert_refused (model, GANTRY_ERROR_INVALID, "node 1 'start' (f)", "function 'f' calls itself", NULL);
}

/* Each function calls the one before twice: with n of f0 and 2 n + 2 of the next, f40 has 3 * 2^40 - 2 nodes and calls.
 * They are counted, not written: the limit is the default. */
static void
test_explosion (void)
{
  Message *graph = message_new (), *model, *first = write_function ("f0", "x", "y", "");

  put_input (graph, write_value ("a", ELEMENT_FLOAT, "2"));
  put_output (graph, write_value ("b", ELEMENT_FLOAT, NULL));
  put_node (graph, call ("f40", "start", "a", "b"));
  model = write_model (graph);
  put_message (first, 7, write_node ("Relu", "", "x", "y"));
  put_function (model, first);
  for (guint i = 1; i <= 40; i++)
    {
      g_autofree char *name = g_strdup_printf ("f%u", i), *before = g_strdup_printf ("f%u", i - 1);
      Message *function = write_function (name, "x", "y", "");

      put_message (function, 7, call (before, "", "x", "m"));
      put_message (function, 7, call (before, "", "m", "y"));
      put_function (model, function);
    }
  {
    g_autoptr (GantryContext) context = gantry_context_new ();
    g_autoptr (GBytes) bytes = finish_model (model);
    g_autoptr (GError) error = NULL;

    g_assert_null (gantry_onnx_import_bytes (context, bytes, "test.onnx", NULL, NULL, NULL, &error));
    g_assert_error (error, GANTRY_ERROR, GANTRY_ERROR_TOO_LARGE);
    g_assert_nonnull (strstr (error->message, "3298534883327 nodes and calls"));
    g_assert_nonnull (strstr (error->message, "the limit is 4194304"));
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/subgraph/if", test_if);
  g_test_add_func ("/subgraph/nested", test_nested);
  g_test_add_func ("/subgraph/loop", test_loop);
  g_test_add_func ("/subgraph/loop-grows", test_loop_grows);
  g_test_add_func ("/subgraph/capture-missing", test_capture_missing);
  g_test_add_func ("/function/call", test_function);
  g_test_add_func ("/function/in-function", test_function_in_function);
  g_test_add_func ("/function/with-subgraph", test_function_with_subgraph);
  g_test_add_func ("/function/recursion", test_recursion);
  g_test_add_func ("/function/explosion", test_explosion);
  return g_test_run ();
}
