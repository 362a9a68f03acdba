/* SPDX-License-Identifier: Apache-2.0 */
/* Reading StableHLO: places, memory kinds, donation, regions and what they capture, constants, errors with line and
 * column. */
#include "core/base/error.h"
#include "core/eval/evaluator.h"
#include "core/frontends/xla/xla.h"
#include "core/graph/graph.h"
#include "core/passes/passes.h"
#include "core/plan/plan.h"
#include "tests/core/frontends/xla/read-case.h"
#include <string.h>

static GantryModule *
read_text (GantryContext *context, const char *text, GError **error)
{
  return read_case (context, text, "test.mlir", NULL, error);
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
  static const char text[] = "func.func @main(%x: tensor<i32>, %n: tensor<i32>) -> tensor<i32> {\n"
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
  static const struct
  {
    const char *constant;
    double first, last;
  } cases[] = {
    { "dense<[1.5, 2.5]> : tensor<2xf32>", 1.5, 2.5 },
    { "dense<3> : tensor<4xi8>", 3, 3 },
    { "dense<\"0x0000803F00000040\"> : tensor<2xf32>", 1, 2 },
    { "dense<[0x3F800000, -1.0]> : tensor<2xf32>", 1, -1 },
    { "dense<[18446744073709551615, 7]> : tensor<2xui64>", 18446744073709551616.0, 7 },
    { "dense<[true, false]> : tensor<2xi1>", 1, 0 },
    { "dense<\"0x02\"> : tensor<2xi1>", 0, 1 },
    { "dense<[-010, 010]> : tensor<2xi32>", -10, 10 },
    { "dense<[-128, 255]> : tensor<2xi8>", -128, -1 },
    { "dense<[0x10, 0xFF]> : tensor<2xui8>", 16, 255 },
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

/* The same in the generic form, with what describes a function before its region and behind it; cut off anywhere it is an error. */
static void
test_generic (void)
{
#define GENERIC_BODY \
  "({\n  ^bb0(%a: tensor<2xf32> loc(\"x\"), %b: tensor<2xf32>):\n" \
  "    %0 = \"func.call\"(%a) <{callee = @twice}> : (tensor<2xf32>) -> tensor<2xf32>\n" \
  "    %1 = \"stablehlo.add\"(%0, %b) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32> loc(#loc1)\n" \
  "    \"func.return\"(%1) : (tensor<2xf32>) -> ()\n  })"
#define GENERIC_ABOUT \
  "arg_attrs = [{mhlo.memory_kind = \"pinned_host\", tf.aliasing_output = 0 : i32}, {}], " \
  "function_type = (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>, " \
  "res_attrs = [{jax.result_info = \"result\"}], sym_name = \"main\", sym_visibility = \"public\""
#define GENERIC_TWICE \
  "  \"func.func\"() <{function_type = (tensor<2xf32>) -> tensor<2xf32>, sym_name = \"twice\", sym_visibility = \"private\"}> ({\n" \
  "  ^bb0(%c: tensor<2xf32>):\n    %d = \"stablehlo.add\"(%c, %c) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>\n" \
  "    \"func.return\"(%d) : (tensor<2xf32>) -> ()\n  }) : () -> ()\n"
  static const char *const texts[] = {
    "#loc1 = loc(\"net.py\":7:3)\n\"builtin.module\"() <{sym_name = \"m\"}> ({\n  \"func.func\"() <{" GENERIC_ABOUT "}> " GENERIC_BODY
    " : () -> () loc(#loc1)\n" GENERIC_TWICE "}) {mhlo.num_partitions = 1 : i32} : () -> () loc(unknown)\n",
    "\"builtin.module\"() ({\n  \"func.func\"() " GENERIC_BODY " {" GENERIC_ABOUT "} : () -> ()\n" GENERIC_TWICE
    "}) {sym_name = \"m\"} : () -> ()\n#loc1 = loc(\"net.py\":7:3)\n",
  };

  for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
    {
      g_autoptr (GantryContext) context = gantry_context_new ();
      g_autoptr (GError) error = NULL;
      g_autoptr (GantryModule) module = read_text (context, texts[i], &error);
      g_autofree char *where = NULL;
      const GantryNode *parameter;

      g_assert_no_error (error);
      g_assert_true (gantry_verify (module, NULL, &error));
      g_assert_no_error (error);
      parameter = &module->nodes[gantry_module_entry (module)->first_node];
      g_assert_cmpuint (gantry_node_type (module, parameter)->memory, ==, GANTRY_MEMORY_PINNED_HOST);
      g_assert_cmpint (gantry_attrs_int (context, parameter->attrs, "tf.aliasing_output", -1), ==, 0);
      g_assert_cmpuint (gantry_module_entry (module)->n_results, ==, 1);
      g_assert_nonnull (find_op (module, "call"));
      for (gsize n = 0; n < strlen (texts[i]); n++)
        {
          g_autofree char *cut = g_strndup (texts[i], n);
          g_autoptr (GantryContext) other = gantry_context_new ();
          g_autoptr (GError) wrong = NULL;
          g_autoptr (GantryModule) part = read_text (other, cut, &wrong);

          g_assert_true ((part != NULL) == (wrong == NULL));
        }
    }
}

static void
test_errors (void)
{
  static const ReadError cases[] = {
    { "func.func @main() {\n  %0 = stablehlo.add %1, %1 : tensor<f32>\n  return\n}\n", "test.mlir:2:24: value %1 is not defined before", GANTRY_ERROR_INVALID },
    { "func.func @main() {\n  return\n", "test.mlir:3:1: a bracket is not closed", GANTRY_ERROR_TRUNCATED },
    { "func.func @main() {\n  %c = stablehlo.constant dense<[1, 2]> : tensor<3xi32>\n  return\n}", "test.mlir:2:", GANTRY_ERROR_INVALID },
    { "\"builtin.module\"() ({\n  \"func.func\"() <{function_type = () -> ()}> ({\n  }) : () -> ()\n}) : () -> ()\n",
      "test.mlir:3:16: a function has no 'sym_name'", GANTRY_ERROR_INVALID },
    { "module {\n}\n", "test.mlir: no function is defined in it", GANTRY_ERROR_INVALID },
    { "func.func @main() {\n  call @main() : () -> ()\n  return\n}", "function @main calls itself", GANTRY_ERROR_INVALID },
    { "func.func @main() {\n  %c = stablehlo.constant dense<[1,\n 99999999999999999999]> : tensor<2xi32>\n  return\n}\n",
      "test.mlir:3:2: '99999999999999999999' is no value of a constant of i32", GANTRY_ERROR_INVALID },
    { "func.func @main() {\n  %c = stablehlo.constant dense<300> : tensor<i8>\n  return\n}\n", "test.mlir:2:33: '300'", GANTRY_ERROR_INVALID },
    { "func.func @main() {\n  %c = stablehlo.constant dense<-129> : tensor<i8>\n  return\n}\n", "test.mlir:2:33: '-129'", GANTRY_ERROR_INVALID },
    { "func.func @main() {\n  %c = stablehlo.constant dense<-1> : tensor<ui8>\n  return\n}\n", "test.mlir:2:33: '-1'", GANTRY_ERROR_INVALID },
    { "func.func @main() {\n  %c = stablehlo.constant dense<0x100000000> : tensor<f32>\n  return\n}\n", "test.mlir:2:33: '0x100000000'", GANTRY_ERROR_INVALID },
    { "func.func @main(%a: tensor<f32>) -> tensor<f32> {\n  %0 = stablehlo.add %a, %a : tensor<f32>\n}\n",
      "test.mlir:3:2: function @main returns 0 values, and declares 1", GANTRY_ERROR_INVALID },
    { "func.func @main(%a: tensor<f32>) -> tensor<f32> {\n  return %a : tensor<f32>\n}\n}}} ]] garbage", "test.mlir:4:1: '}' closes nothing",
      GANTRY_ERROR_INVALID },
    { "func.func @main(%a: tensor<f32>) {\n  %0 = \"stablehlo.add\"(%a, %a) {n_captures = 1 : i64} : (tensor<f32>, tensor<f32>) -> tensor<f32>\n  return\n}\n",
      "n_captures", GANTRY_ERROR_INVALID },
    { "func.func @main(%a: tensor<9223372036854775807xf32>) {\n  return\n}", "too large", GANTRY_ERROR_TOO_LARGE },
  };

  read_case_errors ("test.mlir", cases, G_N_ELEMENTS (cases));
}

/* The names that JAX gives operations tell the phases of a step that it differentiated, and the call of a function those of its
 * nodes; a step without names has one phase. */
static void
test_phases (void)
{
  static const char body[] = "func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {\n"
                             "  %a = stablehlo.sine %x : tensor<4xf32> loc(\"jit(s)/jvp(net)/sin\")\n"
                             "  %b = stablehlo.cosine %x : tensor<4xf32> loc(\"jit(s)/jvp(transpose(jvp(net)))/cos\")\n"
                             "  %c = stablehlo.multiply %a, %b : tensor<4xf32> loc(\"jit(s)/vmap(transpose(jvp(net)))/mul\")\n"
                             "  %d = func.call @norm(%c) : (tensor<4xf32>) -> tensor<4xf32> loc(\"jit(s)/transpose(jvp(jit(norm)))\")\n"
                             "  %e = stablehlo.add %d, %x : tensor<4xf32> loc(\"jit(s)/add\")\n"
                             "  %f = stablehlo.negate %x : tensor<4xf32> loc(\"jit(s)/neg\")\n"
                             "  return %e, %f : tensor<4xf32>, tensor<4xf32>\n}\n"
                             "func.func private @norm(%x: tensor<4xf32>) -> tensor<4xf32> {\n"
                             "  %a = stablehlo.tanh %x : tensor<4xf32> loc(\"tanh\")\n  return %a : tensor<4xf32>\n}\n";
  static const struct
  {
    guint16 op;
    GantryPhase phase;
  } expected[] = {
    { GANTRY_OP_SINE, GANTRY_PHASE_FORWARD },  { GANTRY_OP_COSINE, GANTRY_PHASE_FORWARD }, { GANTRY_OP_MULTIPLY, GANTRY_PHASE_BACKWARD },
    { GANTRY_OP_TANH, GANTRY_PHASE_BACKWARD }, { GANTRY_OP_ADD, GANTRY_PHASE_UPDATE },     { GANTRY_OP_NEGATE, GANTRY_PHASE_FORWARD },
  };
  g_autofree char *unnamed = NULL;
  g_autoptr (GRegex) places = g_regex_new (" loc\\([^\n]*\\)", 0, 0, NULL);

  unnamed = g_regex_replace_literal (places, body, -1, 0, "", 0, NULL);
  for (guint named = 0; named < 2; named++)
    {
      g_autoptr (GantryContext) context = gantry_context_new ();
      g_autoptr (GError) error = NULL;
      g_autoptr (GantryModule) module = read_text (context, named ? body : unnamed, &error), core = NULL, flat = NULL;
      const GantryFunction *entry;
      const GantryPassOptions options = { .max_nodes = 1000 };

      g_assert_no_error (error);
      core = gantry_pass_legalize.run (module, &options, NULL, &error);
      g_assert_no_error (error);
      flat = gantry_pass_inline.run (core, &options, NULL, &error);
      g_assert_no_error (error);
      entry = gantry_module_entry (flat);
      g_assert_cmpuint (entry->n_nodes, ==, 1 + G_N_ELEMENTS (expected));
      for (guint i = 0; i < G_N_ELEMENTS (expected); i++)
        {
          const GantryNode *node = &flat->nodes[entry->first_node + 1 + i];

          g_assert_cmpuint (node->op, ==, expected[i].op);
          g_assert_cmpuint (node->phase, ==, named ? expected[i].phase : GANTRY_PHASE_FORWARD);
          if (named && node->op == GANTRY_OP_TANH)
            g_assert_cmpstr (gantry_context_scope_path (context, node->scope), ==, "jit(s)/transpose(jvp(jit(norm)))");
        }
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

/* What no operation takes is refused before its rule runs. */
static void
test_refused (void)
{
  static const struct
  {
    const char *text, *message;
  } cases[] = {
    { "func.func @main(%a: tensor<200x128xf32>, %b: tensor<200x1xf32>) -> tensor<200x1xf32> {\n"
      "  %0 = \"stablehlo.triangular_solve\"(%a, %b) {left_side = true, lower = true, unit_diagonal = true, transpose_a = #stablehlo<transpose "
      "NO_TRANSPOSE>} : (tensor<200x128xf32>, tensor<200x1xf32>) -> tensor<200x1xf32>\n  return %0 : tensor<200x1xf32>\n}\n",
      "not square" },
    { "func.func @main(%a: tensor<128x128xf32>, %b: tensor<200x1xf32>) -> tensor<200x1xf32> {\n"
      "  %0 = \"stablehlo.triangular_solve\"(%a, %b) {left_side = true, lower = true, unit_diagonal = true, transpose_a = #stablehlo<transpose "
      "NO_TRANSPOSE>} : (tensor<128x128xf32>, tensor<200x1xf32>) -> tensor<200x1xf32>\n  return %0 : tensor<200x1xf32>\n}\n",
      "one row for each row" },
    { "func.func @main(%a: tensor<4x3xf32>) -> tensor<4x3xf32> {\n"
      "  %0 = \"stablehlo.cholesky\"(%a) {lower = true} : (tensor<4x3xf32>) -> tensor<4x3xf32>\n  return %0 : tensor<4x3xf32>\n}\n",
      "not square" },
    { "func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {\n  %0 = \"stablehlo.real_dynamic_slice\"(%a) : (tensor<4xf32>) -> tensor<4xf32>\n"
      "  return %0 : tensor<4xf32>\n}\n",
      "it has 1 operands, and takes 4" },
    { "func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {\n"
      "  %0 = \"stablehlo.dynamic_pad\"(%a, %a) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>\n  return %0 : tensor<4xf32>\n}\n",
      "it has 2 operands, and takes 5" },
    { "func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {\n  %0 = \"stablehlo.batch_norm_inference\"(%a) : (tensor<4xf32>) -> tensor<4xf32>\n"
      "  return %0 : tensor<4xf32>\n}\n",
      "it has 1 operands, and takes 5" },
    { "func.func @main(%a: tensor<4xf32>) -> tensor<4x4xf32> {\n"
      "  %0 = \"stablehlo.custom_call\"() {call_target_name = \"mhlo.cholesky\"} : () -> tensor<4x4xf32>\n  return %0 : tensor<4x4xf32>\n}\n",
      "it has 0 operands, and takes 1" },
    { "func.func @main(%a: tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>> {\n"
      "  %0 = \"stablehlo.custom_call\"(%a) {call_target_name = \"mhlo.exponential\"} : (tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>>\n"
      "  return %0 : tensor<4xcomplex<f32>>\n}\n",
      "not compiled" },
    { "func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {\n  %0 = \"stablehlo.sort\"(%a) ({\n"
      "^bb0(%p: tensor<f32>, %q: tensor<f32>, %r: tensor<f32>, %s: tensor<f32>):\n"
      "    %t = stablehlo.compare LT, %r, %s : (tensor<f32>, tensor<f32>) -> tensor<i1>\n    stablehlo.return %t : tensor<i1>\n"
      "  }) {dimension = 0 : i64} : (tensor<4xf32>) -> tensor<4xf32>\n  return %0 : tensor<4xf32>\n}\n",
      "a region does not take 2 values" },
    { "func.func @main(%a: tensor<8xf32>, %b: tensor<f32>) -> tensor<8xf32> {\n  %0 = \"stablehlo.reduce_window\"(%a, %b) ({\n"
      "^bb0(%p: tensor<f32>, %q: tensor<f32>):\n    %t = stablehlo.subtract %p, %q : tensor<f32>\n    stablehlo.return %t : tensor<f32>\n"
      "  }) {window_dimensions = array<i64: 2>, padding = dense<-9223372036854775808> : tensor<1x2xi64>} : (tensor<8xf32>, tensor<f32>) -> "
      "tensor<8xf32>\n  return %0 : tensor<8xf32>\n}\n",
      "a window of these sizes" },
    { "func.func @main() -> tensor<2xcomplex<f32>> {\n  %0 = stablehlo.constant dense<[(1.0, 2.0), (3.0, 4.0)]> : tensor<2xcomplex<f32>>\n"
      "  return %0 : tensor<2xcomplex<f32>>\n}\n",
      "stablehlo.constant: element type c64 of result 0 is not compiled" },
    { "func.func @main() -> tensor<ui4> {\n  %0 = \"stablehlo.constant\"() {value = dense<1> : tensor<ui4>} : () -> tensor<ui4>\n"
      "  return %0 : tensor<ui4>\n}\n",
      "stablehlo.constant: element type u4 of result 0 is not compiled" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GantryContext) context = gantry_context_new ();
      g_autoptr (GError) error = NULL;
      g_autoptr (GantryModule) module = read_text (context, cases[i].text, &error), core = NULL;

      g_assert_no_error (error);
      core = gantry_pass_legalize.run (module, NULL, NULL, &error);
      g_assert_null (core);
      g_assert_nonnull (error);
      if (strstr (error->message, cases[i].message) == NULL)
        g_error ("%s: \"%s\" is not in it", error->message, cases[i].message);
    }
}

/* All of it is listed, each reason once, with its line, also what uses what is refused. */
static void
test_listed (void)
{
  static const char text[] = "func.func @main(%x: tensor<f32>, %n: tensor<i32>) -> (tensor<f32>, tensor<f32>) {\n"
                             "  %c = stablehlo.constant dense<0> : tensor<i32>\n"
                             "  %a = stablehlo.custom_call @magic(%x) : (tensor<f32>) -> tensor<f32>\n"
                             "  %b = stablehlo.custom_call @magic(%a) : (tensor<f32>) -> tensor<f32>\n"
                             "  %e = stablehlo.custom_call @wizard(%b) : (tensor<f32>) -> tensor<f32>\n"
                             "  %0:2 = stablehlo.while(%i = %c, %y = %x) : tensor<i32>, tensor<f32>\n"
                             "   cond {\n"
                             "    %1 = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
                             "    stablehlo.return %1 : tensor<i1>\n"
                             "  } do {\n"
                             "    %1 = stablehlo.add %i, %i : tensor<i32>\n"
                             "    stablehlo.return %1, %y : tensor<i32>, tensor<f32>\n"
                             "  }\n"
                             "  return %0#1, %e : tensor<f32>, tensor<f32>\n"
                             "}\n";
  static const struct
  {
    const char *why, *where;
    guint count;
  } expected[] = { { "'magic'", "test.mlir:3:3", 2 }, { "'wizard'", "test.mlir:5:3", 1 } };
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryModule) module = read_text (context, text, &error);
  g_autoptr (GPtrArray) list = gantry_legalize_refusals (module, NULL, &error);

  g_assert_no_error (error);
  g_assert_cmpuint (list->len, ==, G_N_ELEMENTS (expected));
  for (guint i = 0; i < list->len; i++)
    {
      const GantryRefusal *refusal = g_ptr_array_index (list, i);

      g_assert_nonnull (strstr (refusal->why, expected[i].why));
      g_assert_cmpstr (refusal->where, ==, expected[i].where);
      g_assert_cmpuint (refusal->count, ==, expected[i].count);
    }
}

static GantryModule *
legalize_case (GantryContext *context, guint n, guint index, GError **error)
{
  g_autoptr (GString) text = g_string_new ("func.func @main() -> tensor<i32> {\n");
  g_autoptr (GantryModule) module = NULL;

  g_string_append_printf (text, "  %%i = stablehlo.constant dense<%u> : tensor<i32>\n  %%0 = \"stablehlo.case\"(%%i) (", index);
  for (guint i = 0; i < n; i++)
    g_string_append_printf (text, "%s{\n  %%c = stablehlo.constant dense<%u> : tensor<i32>\n  stablehlo.return %%c : tensor<i32>\n}", i > 0 ? ", " : "", i);
  g_string_append (text, ") : (tensor<i32>) -> tensor<i32>\n  return %0 : tensor<i32>\n}\n");
  module = read_text (context, text->str, error);
  return module != NULL ? gantry_pass_legalize.run (module, NULL, NULL, error) : NULL;
}

/* Every branch counts; too many are refused. */
static void
test_many_branches (void)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryModule) module = legalize_case (context, 1200, 1150, &error), none = NULL;
  const GantryNode *result;
  const GantryAttr *value;

  g_assert_no_error (error);
  result = gantry_module_node (module, gantry_function_result_id (module, gantry_module_entry (module), 0));
  value = gantry_attrs_find (context, result->attrs, "value");
  g_assert_nonnull (value);
  g_assert_cmpfloat (gantry_literal_get_double (gantry_context_literal (context, value->id), 0), ==, 1150);
  none = legalize_case (context, 4097, 1, &error);
  g_assert_null (none);
  g_assert_error (error, GANTRY_ERROR, GANTRY_ERROR_UNSUPPORTED);
}

/* Every module of the samples opens, with the operations that their table counts. */
static void
test_samples (void)
{
  static const ReadSample samples[] = {
    { "fullyconnected.mlir", 67, 1 },
    { "mnist_fake_weights.mlir", 28, 1 },
    { "resnet50_fake_weights.mlir", 948, 1 },
    { "bert_encoder_unrolled_fake_weights.mlir", 5445, 1 },
    { "16_jax_annotate_device_placement.stablehlo.mlir", 0, 10 },
    { "17_jax_backcompat_modules.stablehlo.mlir", 0, 142 },
  };

  read_case_samples ("data/stablehlo", samples, G_N_ELEMENTS (samples));
}

/* clang-format off */
#define DOT(result, x, y, contract, types) \
  "    %" result " = stablehlo.dot_general %" x ", %" y ", contracting_dims = " contract " : " types "\n"
#define FORWARD \
  DOT ("h", "x", "w1", "[1] x [0]", "(tensor<3x4xf32>, tensor<4x8xf32>) -> tensor<3x8xf32>") \
  "    %a = stablehlo.tanh %h : tensor<3x8xf32>\n" \
  DOT ("y", "a", "w2", "[1] x [0]", "(tensor<3x8xf32>, tensor<8x2xf32>) -> tensor<3x2xf32>")
#define BACKWARD \
  "    %g2 = stablehlo.add %y, %y : tensor<3x2xf32>\n" \
  "    %at = stablehlo.transpose %a, dims = [1, 0] : (tensor<3x8xf32>) -> tensor<8x3xf32>\n" \
  DOT ("d2", "at", "g2", "[1] x [0]", "(tensor<8x3xf32>, tensor<3x2xf32>) -> tensor<8x2xf32>") \
  DOT ("gh", "g2", "w2", "[1] x [1]", "(tensor<3x2xf32>, tensor<8x2xf32>) -> tensor<3x8xf32>") \
  "    %s = stablehlo.multiply %a, %gh : tensor<3x8xf32>\n" \
  DOT ("d1", "x", "s", "[0] x [0]", "(tensor<3x4xf32>, tensor<3x8xf32>) -> tensor<4x8xf32>")
/* clang-format on */
#define PARAMETERS "%w1: tensor<4x8xf32>, %w2: tensor<8x2xf32>, %x: tensor<3x4xf32>"
#define HEAD(results) "func.func public @main(" PARAMETERS ") -> (" results ") {\n"

/* Phases of a step without names, by what is computed from what; two results of a model that is not trained are none. */
static void
test_structure (void)
{
  static const struct
  {
    const char *text, *phases; /* "h:f": of each named value: forward, backward, update */
  } cases[] = {
    { HEAD ("tensor<f32>, tensor<4x8xf32>, tensor<8x2xf32>") FORWARD
      "    %zero = stablehlo.constant dense<0.0> : tensor<f32>\n    %sq = stablehlo.multiply %y, %y : tensor<3x2xf32>\n"
      "    %loss = stablehlo.reduce(%sq init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<3x2xf32>, tensor<f32>) -> "
      "tensor<f32>\n" BACKWARD "    %n1 = stablehlo.subtract %w1, %d1 : tensor<4x8xf32>\n    %n2 = stablehlo.subtract %w2, %d2 : tensor<8x2xf32>\n"
      "    return %loss, %n1, %n2 : tensor<f32>, tensor<4x8xf32>, tensor<8x2xf32>\n}\n",
      "h:f a:f y:f sq:f loss:f g2:b at:b d2:b gh:b s:b d1:b n1:u n2:u" },
    { HEAD ("tensor<4x8xf32>, tensor<8x2xf32>") FORWARD BACKWARD "    return %d1, %d2 : tensor<4x8xf32>, tensor<8x2xf32>\n}\n",
      "h:f a:f y:f g2:f at:b d2:b gh:b s:b d1:b" },
    { HEAD ("tensor<3x8xf32>, tensor<3x2xf32>") FORWARD "    return %h, %y : tensor<3x8xf32>, tensor<3x2xf32>\n}\n", "h:f a:f y:f" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GantryContext) context = gantry_context_new ();
      g_autoptr (GError) error = NULL;
      g_autoptr (GantryModule) module = read_text (context, cases[i].text, &error);
      g_auto (GStrv) phases = g_strsplit (cases[i].phases, " ", -1);

      g_assert_no_error (error);
      for (guint k = 0; phases[k] != NULL; k++)
        {
          char *colon = strchr (phases[k], ':');
          const GantryNode *node = NULL;

          *colon = 0;
          for (guint32 n = 0; n < module->n_nodes && node == NULL; n++)
            if (strcmp (gantry_context_string (context, module->nodes[n].name), phases[k]) == 0)
              node = &module->nodes[n];
          g_assert_nonnull (node);
          if (*gantry_phase_name (node->phase) != colon[1])
            g_error ("case %u: %s is of the %s phase", i, phases[k], gantry_phase_name (node->phase));
        }
    }
}

static const GantryNode *
named (const GantryModule *module, const char *name)
{
  for (guint32 n = 0; n < module->n_nodes; n++)
    if (strcmp (gantry_context_string (module->context, module->nodes[n].name), name) == 0)
      return &module->nodes[n];
  g_error ("no %s", name);
}

/* A long chain of views that many products read. */
static void
test_long_structure (void)
{
  g_autoptr (GString) text = g_string_new (HEAD ("tensor<4x8xf32>, tensor<8x2xf32>") FORWARD);
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryModule) module = NULL;
  const guint n = 30000;

  for (guint i = 0; i < n; i++)
    g_string_append_printf (text, "    %%v%u = stablehlo.transpose %%%s%.0u, dims = [%s] : (tensor<%s>) -> tensor<%s>\n", i + 1, i > 0 ? "v" : "x", i, "1, 0",
                            i % 2 != 0 ? "4x3xf32" : "3x4xf32", i % 2 != 0 ? "3x4xf32" : "4x3xf32");
  for (guint i = 0; i < n; i++)
    g_string_append_printf (text,
                            "    %%p%u = stablehlo.dot_general %%v%u, %%v%u, contracting_dims = [0] x [0] : "
                            "(tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<4x4xf32>\n",
                            i, n, n);
  g_string_append (text, BACKWARD "    return %d1, %d2 : tensor<4x8xf32>, tensor<8x2xf32>\n}\n");
  module = read_text (context, text->str, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (named (module, "y")->phase, ==, GANTRY_PHASE_FORWARD);
  g_assert_cmpuint (named (module, "d2")->phase, ==, GANTRY_PHASE_BACKWARD);
}

/* Of more results than anybody looks through, a step is of one phase. */
static void
test_many_results (void)
{
  for (guint many = 0; many < 2; many++)
    {
      const guint n = many ? 300000 : 3000;
      g_autoptr (GString) text = g_string_new ("func.func public @main(" PARAMETERS ") -> (tensor<4x8xf32>");
      g_autoptr (GantryContext) context = gantry_context_new ();
      g_autoptr (GError) error = NULL;
      g_autoptr (GantryModule) module = NULL;

      for (guint i = 0; i < n; i++)
        g_string_append (text, ", tensor<8x2xf32>");
      g_string_append (text, ") {\n" FORWARD BACKWARD);
      for (guint i = 0; i < 30000; i++)
        g_string_append_printf (text, "    %%n%u = stablehlo.add %%x, %%x : tensor<3x4xf32>\n", i);
      g_string_append (text, "    return %d1");
      for (guint i = 0; i < n; i++)
        g_string_append (text, ", %d2");
      g_string_append (text, " : tensor<4x8xf32>");
      for (guint i = 0; i < n; i++)
        g_string_append (text, ", tensor<8x2xf32>");
      g_string_append (text, "\n}\n");
      module = read_text (context, text->str, &error);
      g_assert_no_error (error);
      g_assert_cmpuint (named (module, "d2")->phase, ==, many ? GANTRY_PHASE_FORWARD : GANTRY_PHASE_BACKWARD);
    }
}

/* chlo.scan along a dimension that is not the first, from either end; what its body uses of outside is the same for all steps. */
static void
test_scan (void)
{
  static const char text[] = "func.func @main() -> (tensor<2x3xi32>, tensor<2xi32>) {\n"
                             "  %x = stablehlo.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>\n"
                             "  %init = stablehlo.constant dense<0> : tensor<2xi32>\n"
                             "  %two = stablehlo.constant dense<2> : tensor<2xi32>\n"
                             "  %0:2 = chlo.scan(%x) inits(%init) dimension=1 attributes {is_reverse = @} {\n"
                             "  ^bb0(%a: tensor<2xi32>, %b: tensor<2xi32>):\n"
                             "    %1 = stablehlo.add %a, %b : tensor<2xi32>\n"
                             "    %2 = stablehlo.multiply %1, %two : tensor<2xi32>\n"
                             "    stablehlo.return %2, %1 : tensor<2xi32>, tensor<2xi32>\n"
                             "  } : (tensor<2x3xi32>, tensor<2xi32>) -> (tensor<2x3xi32>, tensor<2xi32>)\n"
                             "  return %0#0, %0#1 : tensor<2x3xi32>, tensor<2xi32>\n}\n";
  static const gint64 expected[2][8] = { { 2, 6, 12, 8, 18, 30, 6, 15 }, { 12, 10, 6, 30, 22, 12, 6, 15 } };

  for (guint reverse = 0; reverse < 2; reverse++)
    {
      g_auto (GStrv) parts = g_strsplit (text, "@}", 2);
      g_autofree char *whole = g_strjoinv (reverse ? "true}" : "false}", parts);
      g_autoptr (GantryContext) context = gantry_context_new ();
      g_autoptr (GError) error = NULL;
      g_autoptr (GantryModule) module = read_text (context, whole, &error), core = NULL;
      GantryLiteral *results[2];

      g_assert_no_error (error);
      core = gantry_pass_legalize.run (module, NULL, NULL, &error);
      g_assert_no_error (error);
      g_assert_true (gantry_evaluate (core, gantry_module_entry (core), NULL, results, NULL, &error));
      for (guint i = 0; i < 8; i++)
        g_assert_cmpint (gantry_literal_get_int (results[i / 6], i % 6), ==, expected[reverse][i]);
      gantry_literal_unref (results[0]);
      gantry_literal_unref (results[1]);
    }
}

/* What a loop moves to the host for a later loop stays there in between: it is not fetched to be stacked. */
static void
test_stacked_in_the_host (void)
{
#define PLACED(value, operand, kind) \
  "    " value " = stablehlo.custom_call @annotate_device_placement(" operand ") {has_side_effect = true, mhlo.frontend_attributes = " \
  "{_xla_buffer_placement = \"" kind "\"}} : (tensor<4xf32>) -> tensor<4xf32>\n"
#define THREE_TIMES \
  "   cond {\n    %n = stablehlo.constant dense<3> : tensor<i32>\n    %t = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>\n" \
  "    stablehlo.return %t : tensor<i1>\n  } do {\n    %one = stablehlo.constant dense<1> : tensor<i32>\n    %j = stablehlo.add %i, %one : tensor<i32>\n"
  static const char text[] =
    "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n"
    "  %zero = stablehlo.constant dense<0> : tensor<i32>\n"
    "  %stack = stablehlo.constant dense<0.0> : tensor<3x4xf32>\n"
    "  %0:3 = stablehlo.while(%i = %zero, %c = %x, %s = %stack) : tensor<i32>, tensor<4xf32>, tensor<3x4xf32>\n" THREE_TIMES
    "    %h = stablehlo.tanh %c : tensor<4xf32>\n" PLACED (
      "%m", "%h",
      "pinned_host") "    %b = stablehlo.broadcast_in_dim %m, dims = [1] : (tensor<4xf32>) -> tensor<1x4xf32>\n"
                     "    %u = stablehlo.dynamic_update_slice %s, %b, %i, %zero : (tensor<3x4xf32>, tensor<1x4xf32>, tensor<i32>, tensor<i32>) -> "
                     "tensor<3x4xf32>\n"
                     "    stablehlo.return %j, %h, %u : tensor<i32>, tensor<4xf32>, tensor<3x4xf32>\n  }\n"
                     "  %1:2 = stablehlo.while(%i = %zero, %c = %0#1) : tensor<i32>, tensor<4xf32>\n" THREE_TIMES
                     "    %p = stablehlo.dynamic_slice %0#2, %i, %zero, sizes = [1, 4] : (tensor<3x4xf32>, tensor<i32>, tensor<i32>) -> tensor<1x4xf32>\n"
                     "    %r = stablehlo.reshape %p : (tensor<1x4xf32>) -> tensor<4xf32>\n" PLACED (
                       "%d", "%r", "device") "    %e = stablehlo.multiply %c, %d : tensor<4xf32>\n"
                                             "    stablehlo.return %j, %e : tensor<i32>, tensor<4xf32>\n  }\n"
                                             "  return %1#1 : tensor<4xf32>\n}\n";
  static const GantryPass *const passes[] = { &gantry_pass_legalize, &gantry_pass_inline, &gantry_pass_count, &gantry_pass_unroll, &gantry_pass_dce };
  const GantryPassOptions options = { .max_nodes = 1000 };
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryModule) module = read_text (context, text, &error);
  guint to_host = 0;

  g_assert_no_error (error);
  for (guint i = 0; i < G_N_ELEMENTS (passes); i++)
    {
      GantryModule *next = passes[i]->run (module, &options, NULL, &error);

      g_assert_no_error (error);
      gantry_module_unref (module);
      module = next;
    }
  for (guint32 i = 0; i < module->n_nodes; i++)
    {
      const GantryNode *node = &module->nodes[i];

      to_host += node->op == GANTRY_OP_COPY && gantry_node_type (module, node)->memory == GANTRY_MEMORY_PINNED_HOST;
      g_assert_cmpuint (node->op, !=, GANTRY_OP_BROADCAST_IN_DIM);
    }
  g_assert_cmpuint (to_host, ==, 3);
}

/* What JAX asks LAPACK for on the processor: letters of the call's configuration are numbers. */
static void
test_lapack (void)
{
  static const char text[] =
    "func.func @main() -> (tensor<2x2x2xf32>, tensor<2x2xi32>, tensor<2x2x2xf32>, tensor<2xi32>, tensor<2x2xf32>) {\n"
    "  %a = stablehlo.constant dense<[[[1.0, 2.0], [4.0, 3.0]], [[2.0, 1.0], [1.0, 3.0]]]> : tensor<2x2x2xf32>\n"
    "  %b = stablehlo.constant dense<[[[4.0, 2.0], [2.0, 5.0]], [[1.0, 2.0], [2.0, 1.0]]]> : tensor<2x2x2xf32>\n"
    "  %t = stablehlo.constant dense<[[2.0, 9.0], [1.0, 4.0]]> : tensor<2x2xf32>\n"
    "  %x = stablehlo.constant dense<[[2.0, 8.0], [4.0, 6.0]]> : tensor<2x2xf32>\n"
    "  %0:3 = stablehlo.custom_call @lapack_sgetrf_ffi(%a) {mhlo.backend_config = {}} : (tensor<2x2x2xf32>) -> (tensor<2x2x2xf32>, tensor<2x2xi32>, "
    "tensor<2xi32>)\n"
    "  %1:2 = stablehlo.custom_call @lapack_spotrf_ffi(%b) {mhlo.backend_config = {uplo = 76 : ui8}} : (tensor<2x2x2xf32>) -> (tensor<2x2x2xf32>, "
    "tensor<2xi32>)\n"
    "  %2 = stablehlo.custom_call @lapack_strsm_ffi(%t, %x) {mhlo.backend_config = {diag = 78 : ui8, side = 82 : ui8, trans_x = 84 : ui8, uplo = 76 : "
    "ui8}} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>\n"
    "  return %0#0, %0#1, %1#0, %1#1, %2 : tensor<2x2x2xf32>, tensor<2x2xi32>, tensor<2x2x2xf32>, tensor<2xi32>, tensor<2x2xf32>\n}\n";
  /* Of the second matrix of the third result, which is not positive definite, nothing is expected but the number of the fourth. */
  static const struct
  {
    guint n;
    double values[8];
  } expected[] = { { 8, { 4, 3, 0.25, 1.25, 2, 1, 0.5, 2.5 } }, { 4, { 2, 2, 1, 2 } }, { 4, { 2, 0, 1, 2 } }, { 2, { 0, 1 } }, { 4, { 1, 1.75, 2, 1 } } };
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryModule) module = read_text (context, text, &error), core = NULL;
  GantryLiteral *results[G_N_ELEMENTS (expected)];

  g_assert_no_error (error);
  core = gantry_pass_legalize.run (module, NULL, NULL, &error);
  g_assert_no_error (error);
  g_assert_true (gantry_evaluate (core, gantry_module_entry (core), NULL, results, NULL, &error));
  for (guint i = 0; i < G_N_ELEMENTS (expected); i++)
    {
      gboolean is_float = gantry_element_is_float ((GantryElementType) results[i]->type->element);

      for (guint k = 0; k < expected[i].n; k++)
        g_assert_cmpfloat (is_float ? gantry_literal_get_double (results[i], k) : (double) gantry_literal_get_int (results[i], k), ==, expected[i].values[k]);
      gantry_literal_unref (results[i]);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/xla/stablehlo/places", test_places);
  g_test_add_func ("/xla/stablehlo/phases", test_phases);
  g_test_add_func ("/xla/stablehlo/captures", test_captures);
  g_test_add_func ("/xla/stablehlo/constants", test_constants);
  g_test_add_func ("/xla/stablehlo/generic", test_generic);
  g_test_add_func ("/xla/stablehlo/errors", test_errors);
  g_test_add_func ("/xla/stablehlo/refused", test_refused);
  g_test_add_func ("/xla/stablehlo/listed", test_listed);
  g_test_add_func ("/xla/stablehlo/many-branches", test_many_branches);
  g_test_add_func ("/xla/stablehlo/depth", test_depth);
  g_test_add_func ("/xla/stablehlo/samples", test_samples);
  g_test_add_func ("/xla/stablehlo/structure", test_structure);
  g_test_add_func ("/xla/stablehlo/long-structure", test_long_structure);
  g_test_add_func ("/xla/stablehlo/many-results", test_many_results);
  g_test_add_func ("/xla/stablehlo/scan", test_scan);
  g_test_add_func ("/xla/stablehlo/stacked-in-the-host", test_stacked_in_the_host);
  g_test_add_func ("/xla/stablehlo/lapack", test_lapack);
  return g_test_run ();
}
