/* SPDX-License-Identifier: Apache-2.0 */
/* Reading StableHLO: places, memory kinds, donation, regions and what they capture, constants, errors with line and
 * column. */
#include "core/base/error.h"
#include "core/frontends/xla/xla.h"
#include "core/ir/ir.h"
#include <string.h>

static GantryModule *
read_text (GantryContext *context, const char *text, GError **error)
{
  g_autofree char *copy = g_memdup2 (text, strlen (text) + 1);

  copy[strlen (text)] = 'X'; /* the reader gets a length, no NUL */
  return gantry_xla_import_text (context, copy, strlen (text), "test.mlir", NULL, NULL, NULL, error);
}

static const GantryNode *
find_op (const GantryModule *module, const char *name)
{
  for (guint32 i = 0; i < module->n_nodes; i++)
    if (strcmp (gantry_node_op_name (module, &module->nodes[i]), name) == 0)
      return &module->nodes[i];
  return NULL;
}

static void
test_places (void)
{
  static const char text[] =
    "#loc1 = loc(\"x\")\n"
    "module @m {\n"
    "  func.func public @main(%arg0: tensor<2xf32> {mhlo.memory_kind = \"pinned_host\", tf.aliasing_output = 0 : i32} loc(\"x\")) -> tensor<2xf32> {\n"
    "    %0 = stablehlo.add %arg0, %arg0 : tensor<2xf32> loc(#loc3)\n"
    "    %1 = stablehlo.negate %0 : tensor<2xf32>\n"
    "    return %1 : tensor<2xf32>\n"
    "  }\n"
    "}\n"
    "#loc2 = loc(\"net.py\":7:3)\n"
    "#loc3 = loc(\"jit(f)/layer.1/add\"(callsite(#loc2 at unknown)))\n";
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryModule) module = read_text (context, text, &error);
  const GantryNode *add, *negate, *parameter;
  g_autofree char *where = NULL, *here = NULL;

  g_assert_no_error (error);
  add = find_op (module, "stablehlo.add");
  negate = find_op (module, "stablehlo.negate");
  parameter = &module->nodes[gantry_module_entry (module)->first_node];
  where = gantry_context_location_text (context, add->location);
  here = gantry_context_location_text (context, negate->location);
  g_assert_cmpstr (where, ==, "net.py:7:3");
  g_assert_cmpstr (gantry_context_scope_path (context, add->scope), ==, "jit(f)/layer.1");
  g_assert_cmpstr (here, ==, "test.mlir:5:5");
  g_assert_cmpstr (gantry_context_string (context, parameter->name), ==, "x");
  g_assert_cmpuint (gantry_node_type (module, parameter)->memory, ==, GANTRY_MEMORY_PINNED_HOST);
  g_assert_cmpint (gantry_attrs_int (context, parameter->attrs, "tf.aliasing_output", -1), ==, 0);
}

/* What a region uses of outside is an operand of its operation, once. */
static void
test_captures (void)
{
  static const char text[] =
    "func.func @main(%x: tensor<i32>, %n: tensor<i32>) -> tensor<i32> {\n"
    "  %0 = stablehlo.while(%i = %x) : tensor<i32>\n"
    "   cond {\n"
    "    %1 = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
    "    stablehlo.return %1 : tensor<i1>\n"
    "  } do {\n"
    "    %1 = stablehlo.add %i, %n : tensor<i32>\n"
    "    stablehlo.return %1 : tensor<i32>\n"
    "  }\n"
    "  return %0 : tensor<i32>\n"
    "}\n";
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryModule) module = read_text (context, text, &error);
  const GantryNode *loop;

  g_assert_no_error (error);
  loop = find_op (module, "stablehlo.while");
  g_assert_cmpuint (loop->n_operands, ==, 2);
  g_assert_cmpint (gantry_attrs_int (context, loop->attrs, "n_captures", 0), ==, 1);
  for (guint i = 0; i < 2; i++)
    {
      g_autofree char *key = g_strdup_printf ("region_%u", i);
      const GantryAttr *attr = gantry_attrs_find (context, loop->attrs, key);

      g_assert_cmpuint (gantry_module_function (module, attr->id)->n_params, ==, 2);
    }
  g_assert_true (gantry_verify (module, NULL, &error));
}

static void
test_constants (void)
{
  static const struct { const char *constant; double first, last; } cases[] = {
    { "dense<[1.5, 2.5]> : tensor<2xf32>", 1.5, 2.5 },
    { "dense<3> : tensor<4xi8>", 3, 3 },
    { "dense<\"0x0000803F00000040\"> : tensor<2xf32>", 1, 2 },
    { "dense<[0x3F800000, -1.0]> : tensor<2xf32>", 1, -1 },
    { "dense<[18446744073709551615, 7]> : tensor<2xui64>", 18446744073709551616.0, 7 },
    { "dense<[true, false]> : tensor<2xi1>", 1, 0 },
    { "dense<\"0x02\"> : tensor<2xi1>", 0, 1 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *text = g_strdup_printf ("func.func @main() {\n  %%c = stablehlo.constant %s\n  return\n}\n", cases[i].constant);
      g_autoptr (GantryContext) context = gantry_context_new ();
      g_autoptr (GError) error = NULL;
      g_autoptr (GantryModule) module = read_text (context, text, &error);
      const GantryLiteral *literal;

      g_assert_no_error (error);
      literal = gantry_context_literal (context, gantry_attrs_find (context, find_op (module, "constant")->attrs, "value")->id);
      g_assert_cmpfloat (gantry_literal_get_double (literal, 0), ==, cases[i].first);
      g_assert_cmpfloat (gantry_literal_get_double (literal, gantry_type_elements (literal->type) - 1), ==, cases[i].last);
    }
}

static void
test_errors (void)
{
  static const struct { const char *text, *message; GantryError code; } cases[] = {
    { "func.func @main() {\n  %0 = stablehlo.add %1, %1 : tensor<f32>\n  return\n}\n", "test.mlir:2:24: value %1 is not defined before", GANTRY_ERROR_INVALID },
    { "func.func @main() {\n  return\n", "test.mlir:3:1: a bracket is not closed", GANTRY_ERROR_TRUNCATED },
    { "func.func @main() {\n  %c = stablehlo.constant dense<[1, 2]> : tensor<3xi32>\n  return\n}", "test.mlir:2:", GANTRY_ERROR_INVALID },
    { "module {\n}\n", "test.mlir: no function is defined in it", GANTRY_ERROR_INVALID },
    { "func.func @main() {\n  call @main() : () -> ()\n  return\n}", "function @main calls itself", GANTRY_ERROR_INVALID },
    { "func.func @main(%a: tensor<9223372036854775807xf32>) {\n  return\n}", "too large", GANTRY_ERROR_TOO_LARGE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GantryContext) context = gantry_context_new ();
      g_autoptr (GError) error = NULL;
      g_autoptr (GantryModule) module = read_text (context, cases[i].text, &error);

      g_assert_null (module);
      g_assert_error (error, GANTRY_ERROR, (int) cases[i].code);
      if (strstr (error->message, cases[i].message) == NULL)
        g_error ("%s: \"%s\" is not in it", error->message, cases[i].message);
    }
}

static void
test_depth (void)
{
  GString *text = g_string_new ("func.func @main() {\n  %0 = stablehlo.iota dim = 0, a = ");
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryModule) module = NULL;

  for (guint i = 0; i < 100000; i++)
    g_string_append (text, "{a = ");
  for (guint i = 0; i < 100000; i++)
    g_string_append (text, "}");
  g_string_append (text, " : tensor<2xf32>\n  return\n}\n");
  module = read_text (context, text->str, &error);
  g_assert_null (module);
  g_assert_error (error, GANTRY_ERROR, GANTRY_ERROR_TOO_LARGE);
  g_string_free (text, TRUE);
}

/* Every module of the samples opens, with the operations that their table counts. */
static void
test_samples (void)
{
  static const struct { const char *name; guint operations, modules; } samples[] = {
    { "fullyconnected.mlir", 67, 1 },
    { "mnist_fake_weights.mlir", 28, 1 },
    { "resnet50_fake_weights.mlir", 948, 1 },
    { "bert_encoder_unrolled_fake_weights.mlir", 5445, 1 },
    { "16_jax_annotate_device_placement.stablehlo.mlir", 0, 10 },
    { "17_jax_backcompat_modules.stablehlo.mlir", 0, 142 },
  };
  const char *shared = g_getenv ("GANTRY_SHARED");

  for (guint i = 0; i < G_N_ELEMENTS (samples); i++)
    {
      g_autofree char *path = g_build_filename (shared != NULL ? shared : "../shared", "data", "stablehlo", samples[i].name, NULL);
      g_autoptr (GantryContext) context = gantry_context_new ();
      g_autoptr (GantryXlaInfo) info = NULL;
      g_autoptr (GError) error = NULL;
      g_autoptr (GantryModule) module = NULL;

      if (!g_file_test (path, G_FILE_TEST_EXISTS))
        {
          g_test_skip ("no folder shared/data/stablehlo");
          return;
        }
      module = gantry_xla_import (context, path, NULL, &info, NULL, &error);
      g_assert_no_error (error);
      g_assert_cmpuint (info->n_modules, ==, samples[i].modules);
      if (samples[i].operations > 0)
        g_assert_cmpuint (info->n_operations, ==, samples[i].operations);
      for (guint32 n = 0; n < module->n_nodes; n++)
        g_assert_cmpuint (module->nodes[n].location, !=, 0);
      g_assert_true (gantry_verify (module, NULL, &error));
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/xla/stablehlo/places", test_places);
  g_test_add_func ("/xla/stablehlo/captures", test_captures);
  g_test_add_func ("/xla/stablehlo/constants", test_constants);
  g_test_add_func ("/xla/stablehlo/errors", test_errors);
  g_test_add_func ("/xla/stablehlo/depth", test_depth);
  g_test_add_func ("/xla/stablehlo/samples", test_samples);
  return g_test_run ();
}
