/* SPDX-License-Identifier: Apache-2.0 */
/* What StableHLO's operations mean, without generated code: a program of many of them, in forms that networks seldom have, computes what
 * XLA computes from it. tests/fixtures/xla/make-operations.py makes both. */
#include "core/eval/evaluator.h"
#include "core/frontends/xla/xla.h"
#include "core/graph/graph.h"
#include "core/passes/passes.h"
#include "tests/core/frontends/xla/run-case.h"
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

static char *
fixture (const char *name)
{
  return g_build_filename (g_getenv ("GANTRY_SOURCE_ROOT"), "tests", "fixtures", "xla", name, NULL);
}

/* Values one behind the other. (transfer full) */
static GantryLiteral *
next_value (const GantryType *type, const char *bytes, gsize size, gsize *at)
{
  gsize n = (gsize) gantry_type_bytes (type);
  g_autoptr (GBytes) part = NULL;

  g_assert_cmpuint (*at + n, <=, size);
  part = g_bytes_new (bytes + *at, n);
  *at += n;
  return gantry_literal_new (type, part, FALSE, NULL);
}

static void
test_values (void)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autofree char *path = fixture ("operations.mlir"), *values = fixture ("operations.values"), *bytes = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryModule) module = gantry_xla_import (context, path, NULL, NULL, NULL, &error), core = NULL;
  g_autoptr (GPtrArray) inputs = g_ptr_array_new_with_free_func ((GDestroyNotify) gantry_literal_unref);
  g_autofree GantryLiteral **results = NULL;
  const GantryFunction *entry;
  gsize size, at = 0;
  guint n_wrong = 0;

  g_assert_no_error (error);
  core = gantry_pass_legalize.run (module, NULL, NULL, &error);
  g_assert_no_error (error);
  entry = gantry_module_entry (core);
  g_assert_true (g_file_get_contents (values, &bytes, &size, NULL));
  for (guint i = 0; i < entry->n_params; i++)
    g_ptr_array_add (inputs, next_value (gantry_node_type (core, &core->nodes[entry->first_node + i]), bytes, size, &at));
  results = g_new0 (GantryLiteral *, entry->n_results);
  gantry_evaluate (core, entry, (GantryLiteral *const *) inputs->pdata, results, NULL, &error);
  g_assert_no_error (error);
  for (guint i = 0; i < entry->n_results; i++)
    {
      g_autoptr (GantryLiteral) expected = next_value (results[i]->type, bytes, size, &at);
      g_autofree char *why = NULL;

      if (!run_agree (results[i], expected, FALSE, 1e-5, &why))
        g_test_message ("result %u: %s", i, why);
      n_wrong += why != NULL;
      gantry_literal_unref (results[i]);
    }
  g_assert_cmpuint (at, ==, size);
  g_assert_cmpuint (n_wrong, ==, 0);
}

#define REDUCER "({ ^bb0(%a: tensor<i32>, %b: tensor<i32>): %s = stablehlo.add %a, %b : tensor<i32> stablehlo.return %s : tensor<i32> })"
#define BRANCH(name, number) name " { p = s32[] parameter(0) c = s32[] constant(" number ") ROOT r = s32[] add(p, c) }\n"

/* Programs of constants, and all numbers that they give; -0.5 ends them. */
static const struct
{
  const char *name, *text;
  double expected[26];
} cases[] = {
  /* The dimensions that are there stand last. */
  { "t.mlir",
    "func.func @main() -> tensor<2x3xi32> { %x = stablehlo.constant dense<[1, 2, 3]> : tensor<3xi32>\n"
    "%r = \"stablehlo.broadcast\"(%x) {broadcast_sizes = array<i64: 2>} : (tensor<3xi32>) -> tensor<2x3xi32>\n"
    "return %r : tensor<2x3xi32> }",
    { 1, 2, 3, 1, 2, 3, -0.5 } },
  /* Dimension 0 of the result is what lies closest. */
  { "t.hlo",
    "HloModule m\nENTRY e { p = s32[24]{0} iota(), iota_dimension=0\n q = s32[2,3,4]{2,1,0} reshape(p)\n"
    " ROOT b = s32[4,2,3]{0,2,1} bitcast(q) }\n",
    { 0, 4, 8, 12, 16, 20, 1, 5, 9, 13, 17, 21, 2, 6, 10, 14, 18, 22, 3, 7, 11, 15, 19, 23, -0.5 } },
  { "t.mlir",
    "func.func @main() -> tensor<1x1x3xf32> { %x = stablehlo.constant dense<[[[1.0, 2.0, 3.0, 4.0]]]> : tensor<1x1x4xf32>\n"
    "%k = stablehlo.constant dense<[[[10.0, 1.0]]]> : tensor<1x1x2xf32>\n"
    "%r = stablehlo.convolution(%x, %k) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {reverse = [true]} "
    "{batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x1x4xf32>, tensor<1x1x2xf32>) -> tensor<1x1x3xf32>\n"
    "return %r : tensor<1x1x3xf32> }",
    { 21, 32, 43, -0.5 } },
  /* A window that begins with 1, over elements with 1 between them: 1 1 2 1 3 1 4. */
  { "t.mlir",
    "func.func @main() -> tensor<5xi32> { %x = stablehlo.constant dense<[1, 2, 3, 4]> : tensor<4xi32>\n"
    "%one = stablehlo.constant dense<1> : tensor<i32>\n"
    "%r = \"stablehlo.reduce_window\"(%x, %one) <{window_dimensions = array<i64: 2>, window_strides = array<i64: 1>, "
    "base_dilations = array<i64: 2>, window_dilations = array<i64: 2>}> " REDUCER " : (tensor<4xi32>, tensor<i32>) -> tensor<5xi32>\n"
    "return %r : tensor<5xi32> }",
    { 4, 3, 6, 3, 8, -0.5 } },
  /* Another padding in front than behind, and the least of numbers with and without a sign. */
  { "t.mlir",
    "func.func @main() -> (tensor<4xi8>, tensor<4xui8>) { %x = stablehlo.constant dense<[100, -5, 127]> : tensor<3xi8>\n"
    "%m = stablehlo.constant dense<127> : tensor<i8>\n%y = stablehlo.constant dense<[200, 255, 7]> : tensor<3xui8>\n"
    "%n = stablehlo.constant dense<255> : tensor<ui8>\n"
    "%r = \"stablehlo.reduce_window\"(%x, %m) <{window_dimensions = array<i64: 2>, padding = dense<[[0, 2]]> : tensor<1x2xi64>}> "
    "({ ^bb0(%a: tensor<i8>, %b: tensor<i8>): %s = stablehlo.minimum %a, %b : tensor<i8> stablehlo.return %s : tensor<i8> }) : "
    "(tensor<3xi8>, tensor<i8>) -> tensor<4xi8>\n"
    "%t = \"stablehlo.reduce_window\"(%y, %n) <{window_dimensions = array<i64: 2>, padding = dense<[[0, 2]]> : tensor<1x2xi64>}> "
    "({ ^bb0(%a: tensor<ui8>, %b: tensor<ui8>): %s = stablehlo.minimum %a, %b : tensor<ui8> stablehlo.return %s : tensor<ui8> }) : "
    "(tensor<3xui8>, tensor<ui8>) -> tensor<4xui8>\nreturn %r, %t : tensor<4xi8>, tensor<4xui8> }",
    { -5, -5, 127, 127, 200, 7, 7, 255, -0.5 } },
  { "t.mlir",
    "func.func @main() -> tensor<3xi32> { %x = stablehlo.constant dense<[2, 3, 1]> : tensor<3xi32>\n"
    "%r = \"stablehlo.sort\"(%x) <{dimension = 0 : i64, is_stable = true}> ({ ^bb0(%a: tensor<i32>, %b: tensor<i32>): "
    "%c = stablehlo.compare LT, %b, %a : (tensor<i32>, tensor<i32>) -> tensor<i1> stablehlo.return %c : tensor<i1> }) : "
    "(tensor<3xi32>) -> tensor<3xi32>\nreturn %r : tensor<3xi32> }",
    { 3, 2, 1, -0.5 } },
  { "t.mlir",
    "func.func @main() -> tensor<i32> { %p = stablehlo.constant dense<true> : tensor<i1>\n"
    "%x = stablehlo.constant dense<1> : tensor<i32>\n%y = stablehlo.constant dense<2> : tensor<i32>\n"
    "%r = \"stablehlo.if\"(%p) ({ stablehlo.return %x : tensor<i32> }, { stablehlo.return %y : tensor<i32> }) : (tensor<i1>) -> tensor<i32>\n"
    "return %r : tensor<i32> }",
    { 1, -0.5 } },
  /* An index outside takes the last branch. */
  { "t.hlo",
    "HloModule m\n" BRANCH ("b0", "10") BRANCH ("b1", "20") BRANCH ("b2", "30") "ENTRY e { i = s32[] constant(7) x = s32[] constant(1)\n"
                                                                                " ROOT c = s32[] conditional(i, x, x, x), branch_computations={b0, b1, b2} }\n",
    { 31, -0.5 } },
  /* Halves between two numbers of ten bits go to the even one. */
  { "t.mlir",
    "func.func @main() -> tensor<2xf32> { %x = stablehlo.constant dense<[1.00048828125, 1.00146484375]> : tensor<2xf32>\n"
    "%r = stablehlo.reduce_precision %x, format = e5m10 : tensor<2xf32>\nreturn %r : tensor<2xf32> }",
    { 1, 1.001953125, -0.5 } },
  { "t.mlir",
    "func.func @main() -> tensor<3xi1> { %x = stablehlo.constant dense<[0xFF800000, 0x7F800000, 0.0]> : tensor<3xf32>\n"
    "%r = chlo.is_neg_inf %x : tensor<3xf32> -> tensor<3xi1>\nreturn %r : tensor<3xi1> }",
    { 1, 0, 0, -0.5 } },
  { "t.mlir",
    "func.func @main() -> tensor<2x2xf32> { %x = stablehlo.constant dense<[[4.0, 2.0], [2.0, 5.0]]> : tensor<2x2xf32>\n"
    "%r = \"stablehlo.cholesky\"(%x) <{lower = false}> : (tensor<2x2xf32>) -> tensor<2x2xf32>\nreturn %r : tensor<2x2xf32> }",
    { 2, 1, 0, 2, -0.5 } },
  { "t.jaxpr",
    "{ lambda ; . let\n    a:i32[3] = iota[dimension=0 dtype=int32 shape=(3,) sharding=None] \n"
    "    b:i32[3] = cumsum[axis=0 reverse=True] a\n  in (b,) }\n",
    { 3, 3, 2, -0.5 } },
  /* zeta (1.1) and zeta (2, 0.3) */
  { "t.mlir",
    "func.func @main() -> tensor<2xf64> { %x = stablehlo.constant dense<[1.1, 2.0]> : tensor<2xf64>\n"
    "%q = stablehlo.constant dense<[1.0, 0.3]> : tensor<2xf64>\n"
    "%r = chlo.zeta %x, %q : tensor<2xf64>, tensor<2xf64> -> tensor<2xf64>\nreturn %r : tensor<2xf64> }",
    { 10.584448464950810, 12.245364546108, -0.5 } },
  /* Threefry, as XLA has it: the lower halves of two values, and the state. */
  { "t.mlir",
    "func.func @main() -> (tensor<2xui32>, tensor<2xui64>) { %s = stablehlo.constant dense<[1, 2]> : tensor<2xui64>\n"
    "%n, %r = stablehlo.rng_bit_generator %s, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<2xui64>)\n"
    "%l = stablehlo.convert %r : (tensor<2xui64>) -> tensor<2xui32>\nreturn %l, %n : tensor<2xui32>, tensor<2xui64> }",
    { 43444564, 3979645651, 1, 4, -0.5 } },
  /* Two operands at once, each with updates of its own. */
  { "t.mlir",
    "func.func @main() -> (tensor<3xi32>, tensor<3xi32>) { %x = stablehlo.constant dense<0> : tensor<3xi32>\n"
    "%i = stablehlo.constant dense<1> : tensor<1x1xi32>\n%u = stablehlo.constant dense<5> : tensor<1xi32>\n"
    "%v = stablehlo.constant dense<7> : tensor<1xi32>\n"
    "%r:2 = \"stablehlo.scatter\"(%x, %x, %i, %u, %v) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], "
    "scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({ ^bb0(%a: tensor<i32>, %b: tensor<i32>, %c: tensor<i32>, %d: tensor<i32>): "
    "stablehlo.return %c, %d : tensor<i32>, tensor<i32> }) : (tensor<3xi32>, tensor<3xi32>, tensor<1x1xi32>, tensor<1xi32>, tensor<1xi32>) -> "
    "(tensor<3xi32>, tensor<3xi32>)\nreturn %r#0, %r#1 : tensor<3xi32>, tensor<3xi32> }",
    { 0, 5, 0, 0, 7, 0, -0.5 } },
};

static void
check_case (GantryModule *module, const GPtrArray *inputs, const double *expected)
{
  g_autoptr (GError) error = NULL;
  GantryLiteral *results[2] = { NULL };
  guint k = 0;

  g_assert_cmpuint (gantry_module_entry (module)->n_params, ==, inputs->len);
  gantry_evaluate (module, gantry_module_entry (module), (GantryLiteral *const *) inputs->pdata, results, NULL, &error);
  g_assert_no_error (error);
  for (guint i = 0; i < gantry_module_entry (module)->n_results; i++)
    {
      gboolean is_float = gantry_element_is_float ((GantryElementType) results[i]->type->element);

      for (gint64 at = 0; at < gantry_type_elements (results[i]->type); at++, k++)
        {
          gint64 from = results[i]->splat ? 0 : at;
          double value = is_float ? gantry_literal_get_double (results[i], from) : (double) gantry_literal_get_int (results[i], from);

          if (!(fabs (value - expected[k]) <= 1e-9 * fabs (expected[k])))
            g_error ("number %u: %.12g in place of %.12g", k, value, expected[k]);
        }
      gantry_literal_unref (results[i]);
    }
  g_assert_cmpfloat (expected[k], ==, -0.5);
}

/* As it is read, and as it is written and read again. Arrays of constants are inputs, so that nothing is computed ahead. */
static void
test_case (gconstpointer data)
{
  guint which = GPOINTER_TO_UINT (data);
  g_autoptr (GantryContext) context = gantry_context_new (), again = gantry_context_new ();
  g_autoptr (GError) error = NULL;
  const GantryXlaOptions options = { .module = -1, .feed = 1 };
  g_autoptr (GantryXlaInfo) info = NULL;
  g_autoptr (GantryModule)
    module = gantry_xla_import_text (context, cases[which].text, strlen (cases[which].text), cases[which].name, &options, &info, NULL, &error);
  g_autoptr (GantryModule) core = NULL, read = NULL, other = NULL;
  g_autofree char *folder = g_dir_make_tmp ("gantry-operations-XXXXXX", NULL), *path = g_build_filename (folder, "t.mlir", NULL);

  g_assert_no_error (error);
  core = gantry_pass_legalize.run (module, NULL, NULL, &error);
  g_assert_no_error (error);
  check_case (core, info->feeds, cases[which].expected);
  gantry_stablehlo_export (core, path, NULL, NULL, &error);
  g_assert_no_error (error);
  read = gantry_xla_import (again, path, NULL, NULL, NULL, &error);
  g_assert_no_error (error);
  other = gantry_pass_legalize.run (read, NULL, NULL, &error);
  g_assert_no_error (error);
  check_case (other, info->feeds, cases[which].expected);
  g_unlink (path);
  g_rmdir (folder);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/xla/operations/values", test_values);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *name = g_strdup_printf ("/xla/operations/case-%u", i);

      g_test_add_data_func (name, GUINT_TO_POINTER (i), test_case);
    }
  return g_test_run ();
}
