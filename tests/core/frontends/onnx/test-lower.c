/* SPDX-License-Identifier: Apache-2.0 */
/* Lowers single ONNX nodes (lower-cases.c) and small graphs with subgraphs, evaluates the result
 * and compares it with values computed by hand; checks that what cannot be lowered says why. */
#include "core/eval/eval.h"
#include "core/frontends/onnx/onnx-node.h"
#include "tests/core/frontends/onnx/lower-cases.h"
#include "tests/core/frontends/onnx/onnx-lowering.h"
#include <math.h>

/* "f32[2,2] 1 2 3 4" */
static GantryLiteral *
parse_value (GantryContext *context, const char *text)
{
  g_auto (GStrv) words = g_strsplit (text, " ", -1);
  char *bracket = strchr (words[0], '[');
  g_auto (GStrv) extents = NULL;
  GantryDim dims[GANTRY_MAX_RANK];
  GantryElementType element;
  GantryLiteral *literal;
  const GantryType *type;
  guint8 *data;
  guint rank;

  g_assert_nonnull (bracket);
  *bracket = '\0';
  bracket[strlen (bracket + 1)] = '\0';
  extents = g_strsplit (bracket + 1, ",", -1);
  rank = g_strv_length (extents);
  for (guint i = 0; i < rank; i++)
    dims[i] = g_ascii_strtoll (extents[i], NULL, 10);
  element = gantry_element_from_name (words[0]);
  type = gantry_context_type (context, gantry_context_tensor (context, element, rank, dims));
  literal = gantry_literal_new_zeroed (type, &data);
  g_assert_cmpint (gantry_type_elements (type), ==, g_strv_length (words) - 1);
  for (guint i = 0; words[i + 1] != NULL; i++)
    if (gantry_element_is_float (element))
      gantry_element_write_double (element, data + i * gantry_element_size (element), g_ascii_strtod (words[i + 1], NULL));
    else
      gantry_element_write_int (element, data + i * gantry_element_size (element), g_ascii_strtoll (words[i + 1], NULL, 10));
  return literal;
}

static gboolean
is_number (const char *text)
{
  return g_ascii_isdigit (text[*text == '-']);
}

/* A word ('_' stands for a space, which ends it), a whole number, a number with a point, or a list of one kind; an equation
 * is text whatever it looks like. One value for a key that is always a list in ONNX becomes a list too. */
static void
set_attr (GantryAttrList *list, const char *key, const char *text)
{
  static const char *const lists[] = { "axes", "pads",   "strides",     "dilations",      "kernel_shape", "starts",
                                       "ends", "scales", "activations", "output_padding", "bias_list",    NULL };
  g_auto (GStrv) parts = g_strsplit (text, ",", -1);
  guint n = g_strv_length (parts);
  gboolean many = n > 1 || g_strv_contains (lists, key);
  gboolean real = strchr (text, '.') != NULL;
  gint64 ints[16];
  double floats[16];

  g_assert_cmpuint (n, <=, 16);
  if (strcmp (key, "equation") == 0)
    {
      g_autofree char *equation = g_strdelimit (g_strdup (text), "_", ' ');

      gantry_attr_list_set_string (list, key, equation);
    }
  else if (!is_number (text) && strcmp (key, "activations") == 0)
    gantry_attr_list_set_strings (list, key, (const char *const *) parts, n);
  else if (!is_number (text))
    gantry_attr_list_set_string (list, key, text);
  else
    {
      for (guint i = 0; i < n; i++)
        {
          ints[i] = g_ascii_strtoll (parts[i], NULL, 10);
          floats[i] = g_ascii_strtod (parts[i], NULL);
        }
      if (many && real)
        gantry_attr_list_set_floats (list, key, floats, n);
      else if (many)
        gantry_attr_list_set_ints (list, key, ints, n);
      else if (real)
        gantry_attr_list_set_float (list, key, floats[0]);
      else
        gantry_attr_list_set_int (list, key, ints[0]);
    }
}

static guint32
parse_attrs (GantryContext *context, const char *text, int opset)
{
  g_auto (GStrv) words = g_strsplit (text, " ", -1);
  GantryAttrList *list = gantry_attr_list_new (context);

  gantry_attr_list_set_int (list, "opset", opset);
  for (guint i = 0; words[i] != NULL; i++)
    if (*words[i] != '\0')
      {
        char *equals = strchr (words[i], '=');

        *equals = '\0';
        set_attr (list, words[i], equals + 1);
      }
  return gantry_attr_list_end (list);
}

static guint
count_values (const char *const *values)
{
  guint n = 0;

  while (n < LOWER_MOST_VALUES && values[n] != NULL)
    n++;
  return n;
}

static guint32
foreign_op (GantryContext *context, const char *operation)
{
  g_autofree char *name = g_strconcat (GANTRY_ONNX_PREFIX, operation, NULL);

  return gantry_context_foreign_op (context, name);
}

/* A module of the one node, as the importer would make it, without types. @arguments gets the
 * values of its parameters. */
static GantryModule *
build_case (GantryContext *context, const LowerCase *c, GPtrArray *arguments)
{
  g_autoptr (GantryBuilder) b = gantry_builder_new (context, "case");
  guint n = count_values (c->operands);
  guint n_results = MAX (count_values (c->results), 1);
  guint32 operands[LOWER_MOST_VALUES] = { 0 };
  guint32 results[LOWER_MOST_VALUES];
  guint32 unknown[LOWER_MOST_VALUES] = { 0 };
  GantryModule *module;
  g_autoptr (GError) error = NULL;
  guint32 node;

  gantry_builder_begin (b, "main", 0);
  gantry_builder_set_place (b, 0, gantry_context_location (context, &(GantryLocation){ .line = 1 }));
  for (guint i = 0; i < n; i++)
    if (*c->operands[i] != '=' && strcmp (c->operands[i], "-") != 0)
      {
        GantryLiteral *value = parse_value (context, c->operands[i]);

        operands[i] = gantry_builder_parameter (b, gantry_context_type_id (context, value->type), "x");
        g_ptr_array_add (arguments, value);
      }
  for (guint i = 0; i < n; i++)
    if (*c->operands[i] == '=')
      {
        g_autoptr (GantryLiteral) value = parse_value (context, c->operands[i] + 1);

        operands[i] = gantry_builder_literal (b, value);
      }
  node = gantry_builder_add_typed (b, foreign_op (context, c->op), operands, n, parse_attrs (context, c->attrs, c->opset),
                                   n_results > 1 ? gantry_context_tuple (context, n_results, unknown) : 0);
  for (guint i = 0; i < n_results; i++)
    results[i] = n_results > 1 ? gantry_builder_result (b, node, i) : node;
  gantry_builder_end (b, results, n_results);
  module = gantry_builder_finish (b, &error);
  g_assert_no_error (error);
  return module;
}

static void
assert_value (const LowerCase *c, guint which, const GantryLiteral *got, const GantryLiteral *wanted)
{
  g_assert_cmpstr (gantry_element_name (got->type->element), ==, gantry_element_name (wanted->type->element));
  g_assert_true (gantry_type_same_shape (got->type, wanted->type));
  for (gint64 i = 0; i < gantry_type_elements (wanted->type); i++)
    {
      double x = gantry_literal_get_double (got, i);
      double y = gantry_literal_get_double (wanted, i);

      if (!(x == y || (isnan (x) && isnan (y)) || fabs (x - y) <= 1e-6 + 1e-5 * fabs (y)))
        g_error ("%s (%s): element %" G_GINT64_FORMAT " of result %u is %g, not %g", c->op, c->attrs, i, which, x, y);
    }
}

static void
test_case (gconstpointer data)
{
  const LowerCase *c = data;
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GPtrArray) arguments = g_ptr_array_new_with_free_func ((GDestroyNotify) gantry_literal_unref);
  g_autoptr (GantryModule) source = NULL;
  g_autoptr (GantryModule) lowered = NULL;
  GantryLiteral *results[LOWER_MOST_VALUES];
  g_autoptr (GError) error = NULL;
  const GantryFunction *f;

  gantry_context_add_dialect (context, gantry_onnx_dialect ());
  source = build_case (context, c, arguments);
  lowered = onnx_lowering_run (source, NULL, &error);
  if (*c->results[0] == '!')
    {
      g_assert_null (lowered);
      g_assert_cmpstr (error->message, ==, c->results[0] + 1);
      return;
    }
  g_assert_no_error (error);
  gantry_verify (lowered, NULL, &error);
  g_assert_no_error (error);
  f = gantry_module_entry (lowered);
  gantry_evaluate (lowered, f, (GantryLiteral *const *) arguments->pdata, results, NULL, &error);
  g_assert_no_error (error);
  for (guint i = 0; i < f->n_results; i++)
    {
      g_autoptr (GantryLiteral) wanted = parse_value (context, c->results[i]);

      assert_value (c, i, results[i], wanted);
      gantry_literal_unref (results[i]);
    }
}

/* What a test of a graph needs. */
typedef struct
{
  GantryContext *context;
  GantryBuilder *b;
} Graph;

static guint32
add (Graph *g, const char *op, const char *attrs, guint32 x, guint32 y)
{
  guint32 operands[] = { x, y };

  return gantry_builder_add_typed (g->b, foreign_op (g->context, op), operands, y != 0 ? 2 : 1, parse_attrs (g->context, attrs, 13), 0);
}

/* A function x, captured -> x op captured (or captured alone). */
static guint32
body_of_two (Graph *g, const char *op, guint32 type)
{
  guint32 function = gantry_builder_begin (g->b, "body", 0);
  guint32 x = gantry_builder_parameter (g->b, type, "x");
  guint32 y = gantry_builder_parameter (g->b, type, "y");
  guint32 result = add (g, op, "", x, y);

  gantry_builder_end (g->b, &result, 1);
  return function;
}

static guint32
add_if (Graph *g, guint32 condition, guint32 x, guint32 y, guint32 type)
{
  GantryAttrList *attrs = gantry_attr_list_new (g->context);
  guint32 operands[] = { condition, x, y };

  gantry_attr_list_set_int (attrs, "opset", 13);
  gantry_attr_list_set_int (attrs, "captures", 2);
  gantry_attr_list_set_function (attrs, "then_branch", body_of_two (g, "Add", type));
  gantry_attr_list_set_function (attrs, "else_branch", body_of_two (g, "Mul", type));
  return gantry_builder_add_typed (g->b, foreign_op (g->context, "If"), operands, 3, gantry_attr_list_end (attrs), 0);
}

static Graph
begin_graph (void)
{
  Graph g = { gantry_context_new (), NULL };

  gantry_context_add_dialect (g.context, gantry_onnx_dialect ());
  g.b = gantry_builder_new (g.context, "graph");
  gantry_builder_begin (g.b, "main", 0);
  gantry_builder_set_place (g.b, 0, gantry_context_location (g.context, &(GantryLocation){ .line = 1 }));
  return g;
}

/* Ends the graph, lowers it, evaluates it with @arguments and gives element 0 of the one result. */
static double
finish_graph (Graph *g, guint32 result, const char *const *arguments, guint n_arguments, guint *n_ops, guint op)
{
  g_autoptr (GantryModule) source = NULL;
  g_autoptr (GantryModule) lowered = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) values = g_ptr_array_new_with_free_func ((GDestroyNotify) gantry_literal_unref);
  GantryLiteral *results[1];
  double value;

  gantry_builder_end (g->b, &result, 1);
  source = gantry_builder_finish (g->b, &error);
  g_assert_no_error (error);
  lowered = onnx_lowering_run (source, NULL, &error);
  g_assert_no_error (error);
  gantry_verify (lowered, NULL, &error);
  g_assert_no_error (error);
  *n_ops = 0;
  for (guint i = 0; i < lowered->n_nodes; i++)
    *n_ops += lowered->nodes[i].op == op;
  for (guint i = 0; i < n_arguments; i++)
    g_ptr_array_add (values, parse_value (g->context, arguments[i]));
  gantry_evaluate (lowered, gantry_module_entry (lowered), (GantryLiteral *const *) values->pdata, results, NULL, &error);
  g_assert_no_error (error);
  value = gantry_literal_get_double (results[0], 0);
  gantry_literal_unref (results[0]);
  gantry_builder_free (g->b);
  gantry_context_unref (g->context);
  return value;
}

static void
test_if_constant (void)
{
  const char *arguments[] = { "f32[1] 3", "f32[1] 4" };
  Graph g = begin_graph ();
  guint32 type = gantry_context_tensor (g.context, GANTRY_F32, 1, (GantryDim[]){ 1 });
  guint32 x = gantry_builder_parameter (g.b, type, "x");
  guint32 y = gantry_builder_parameter (g.b, type, "y");
  guint32 yes = gantry_builder_int_scalar (g.b, GANTRY_BOOL, 1);
  guint n_ifs;

  g_assert_cmpfloat (finish_graph (&g, add_if (&g, yes, x, y, type), arguments, 2, &n_ifs, GANTRY_OP_IF), ==, 7);
  g_assert_cmpuint (n_ifs, ==, 0);
}

static void
test_if_computed (gconstpointer data)
{
  gboolean yes = GPOINTER_TO_INT (data);
  const char *arguments[] = { yes ? "bool[] 1" : "bool[] 0", "f32[1] 3" };
  Graph g = begin_graph ();
  guint32 type = gantry_context_tensor (g.context, GANTRY_F32, 1, (GantryDim[]){ 1 });
  guint32 condition = gantry_builder_parameter (g.b, gantry_context_scalar (g.context, GANTRY_BOOL), "condition");
  guint32 x = gantry_builder_parameter (g.b, type, "x");
  guint32 y = gantry_builder_splat (g.b, GANTRY_F32, 4, 1, (GantryDim[]){ 1 });
  guint n_ifs;

  g_assert_cmpfloat (finish_graph (&g, add_if (&g, condition, x, y, type), arguments, 2, &n_ifs, GANTRY_OP_IF), ==, yes ? 7 : 12);
  g_assert_cmpuint (n_ifs, ==, 1);
}

/* Shape -> Gather -> Unsqueeze -> Concat -> Reshape must be constant without help. */
static void
test_shape_chain (void)
{
  const char *arguments[] = { "f32[2,3] 1 2 3 4 5 6" };
  Graph g = begin_graph ();
  guint32 x = gantry_builder_parameter (g.b, gantry_context_tensor (g.context, GANTRY_F32, 2, (GantryDim[]){ 2, 3 }), "x");
  guint32 index = gantry_builder_int_scalar (g.b, GANTRY_I64, 1);
  guint32 zero = gantry_builder_ints (g.b, (gint64[]){ 0 }, 1);
  guint32 rest = gantry_builder_ints (g.b, (gint64[]){ -1 }, 1);
  guint32 dim = add (&g, "Unsqueeze", "", add (&g, "Gather", "", add (&g, "Shape", "", x, 0), index), zero);
  guint32 y = add (&g, "Reshape", "", x, add (&g, "Concat", "axis=0", dim, rest));
  guint n_reshapes;

  g_assert_cmpfloat (finish_graph (&g, y, arguments, 1, &n_reshapes, GANTRY_OP_RESHAPE), ==, 1);
  g_assert_cmpuint (n_reshapes, ==, 1);
}

/* A large constant tensor stays one scalar and a broadcast. */
static void
test_constant_of_shape_is_small (void)
{
  Graph g = begin_graph ();
  guint32 shape = gantry_builder_ints (g.b, (gint64[]){ 1000, 1000 }, 2);
  guint32 y = add (&g, "ConstantOfShape", "", shape, 0);
  g_autoptr (GantryModule) source = NULL;
  g_autoptr (GantryModule) lowered = NULL;
  g_autoptr (GError) error = NULL;

  gantry_builder_end (g.b, &y, 1);
  source = gantry_builder_finish (g.b, &error);
  lowered = onnx_lowering_run (source, NULL, &error);
  g_assert_no_error (error);
  for (guint i = 0; i < lowered->n_nodes; i++)
    if (lowered->nodes[i].op == GANTRY_OP_CONSTANT)
      g_assert_cmpint (gantry_type_elements (gantry_node_type (lowered, &lowered->nodes[i])), <=, 2);
  gantry_builder_free (g.b);
  gantry_context_unref (g.context);
}

static void
test_symbolic_dimension (void)
{
  Graph g = begin_graph ();
  GantryDim dims[] = { GANTRY_DIM_SYMBOL (gantry_context_intern (g.context, "batch")), 4 };
  guint32 x = gantry_builder_parameter (g.b, gantry_context_tensor (g.context, GANTRY_F32, 2, dims), "x");
  guint32 y = add (&g, "Size", "", add (&g, "Relu", "", x, 0), 0);
  g_autoptr (GantryModule) source = NULL;
  g_autoptr (GError) error = NULL;

  gantry_builder_end (g.b, &y, 1);
  source = gantry_builder_finish (g.b, NULL);
  g_assert_null (onnx_lowering_run (source, NULL, &error));
  g_assert_error (error, GANTRY_ERROR, GANTRY_ERROR_UNSUPPORTED);
  g_assert_cmpstr (error->message, ==, "Size: dimension 'batch' is not bound: set the size of it");
  gantry_builder_free (g.b);
  gantry_context_unref (g.context);
}

static void
test_classes (void)
{
  const GantryDialect *dialect = gantry_onnx_dialect ();

  g_assert_cmpstr (dialect->name, ==, "onnx");
  g_assert_cmpint (dialect->classify ("onnx.Conv"), ==, GANTRY_CLASS_CONTRACTION);
  g_assert_cmpint (dialect->classify ("onnx.Relu"), ==, GANTRY_CLASS_ELEMENTWISE);
  g_assert_cmpint (dialect->classify ("onnx.MaxPool"), ==, GANTRY_CLASS_REDUCTION);
  g_assert_cmpint (dialect->classify ("onnx.com.example.Thing"), ==, GANTRY_CLASS_OTHER);
  g_assert_true (gantry_onnx_knows_operation ("Conv"));
  g_assert_false (gantry_onnx_knows_operation ("com.microsoft.Conv"));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < n_lower_cases; i++)
    {
      g_autofree char *name = g_strdup_printf ("/frontends/onnx/lower/%s/%u", lower_cases[i].op, i);

      g_test_add_data_func (name, &lower_cases[i], test_case);
    }
  g_test_add_func ("/frontends/onnx/lower-graph/if-constant", test_if_constant);
  g_test_add_data_func ("/frontends/onnx/lower-graph/if-then", GINT_TO_POINTER (TRUE), test_if_computed);
  g_test_add_data_func ("/frontends/onnx/lower-graph/if-else", GINT_TO_POINTER (FALSE), test_if_computed);
  g_test_add_func ("/frontends/onnx/lower-graph/shape-chain", test_shape_chain);
  g_test_add_func ("/frontends/onnx/lower-graph/constant-of-shape", test_constant_of_shape_is_small);
  g_test_add_func ("/frontends/onnx/lower-graph/symbolic-dimension", test_symbolic_dimension);
  g_test_add_func ("/frontends/onnx/lower-graph/classes", test_classes);
  return g_test_run ();
}
