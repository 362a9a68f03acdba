/* SPDX-License-Identifier: Apache-2.0 */
/* Reading HLO: counts of real modules, places of both generations, memory spaces and moves, fusions, tuples, errors;
 * and what a program of most kinds of instruction computes. */
#include "core/base/error.h"
#include "core/frontends/xla/xla.h"
#include "core/graph/graph.h"
#include "core/plan/plan.h"
#include "tests/core/frontends/xla/read-case.h"
#include "tests/core/frontends/xla/run-case.h"
#include <string.h>

static GantryModule *
read_text (GantryContext *context, const char *text, GantryXlaInfo **info, GError **error)
{
  return read_case (context, text, "test.hlo", info, error);
}

static const GantryNode *
find_name (const GantryModule *module, const char *name)
{
  for (guint32 i = 0; i < module->n_nodes; i++)
    if (strcmp (gantry_context_string (module->context, module->nodes[i].name), name) == 0)
      return &module->nodes[i];
  g_error ("no node is named %s", name);
}

static const char places[] =
  "HloModule m, is_scheduled=true, input_output_alias={ {0}: (1, {}, may-alias) }, entry_computation_layout={(f32[2]{0})->f32[2]{0:S(5)}}\n"
  "FileNames\n1 \"net.py\"\n\nFunctionNames\n1 \"f\"\n\nFileLocations\n"
  "1 {file_name_id=1 function_name_id=1 line=7 end_line=7 column=3 end_column=9}\n\n"
  "StackFrames\n1 {file_location_id=1 parent_frame_id=1}\n\n\n"
  "%fused (p: f32[2]) -> f32[2] {\n"
  "  %p = f32[2]{0} parameter(0)\n"
  "  ROOT %inner = f32[2]{0} negate(f32[2]{0} %p), metadata={op_name=\"jit(f)/neg\" source_file=\"old.py\" source_line=5}\n"
  "}\n\n"
  "ENTRY %main (a: f32[2], b: f32[2]) -> (f32[2], f32[2]) {\n"
  "  %a = f32[2]{0} parameter(0)\n"
  "  %b = f32[2]{0:S(5)} parameter(1)\n"
  "  %start = (f32[2]{0}, f32[2]{0:S(5)}, u32[]) copy-start(%b)\n"
  "  %sum = f32[2]{0} add(%a, %a), metadata={op_type=\"add\" op_name=\"jit(f)/layer/add\" stack_frame_id=1}\n"
  "  %done = f32[2]{0} copy-done(%start)\n"
  "  %fusion.1 = f32[2]{0:T(8,128)} fusion(%sum), kind=kLoop, calls=%fused\n"
  "  %host = f32[2]{0:S(5)} custom-call(%fusion.1), custom_call_target=\"MoveToHost\"\n"
  "  %odd = f32[2]{0} frobnicate(%done), extra={a={b=[1]},c=\"}\"}\n"
  "  ROOT %t = (f32[2]{0:S(5)}, /*index=1*/f32[2]{0}) tuple(%host, %odd)\n"
  "} // main\n";

static void
test_places (void)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GantryXlaInfo) info = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryModule) module = read_text (context, places, &info, &error);
  const GantryFunction *entry;
  g_autofree char *where = NULL, *old = NULL, *here = NULL;

  g_assert_no_error (error);
  entry = gantry_module_entry (module);
  g_assert_cmpuint (info->n_operations, ==, 11);
  g_assert_cmpuint (info->unknown->len, ==, 1);
  g_assert_cmpstr (g_ptr_array_index (info->unknown, 0), ==, "hlo.frobnicate");
  where = gantry_context_location_text (context, find_name (module, "sum")->location);
  old = gantry_context_location_text (context, find_name (module, "inner")->location);
  here = gantry_context_location_text (context, find_name (module, "odd")->location);
  g_assert_cmpstr (where, ==, "net.py:7:3");
  g_assert_cmpstr (old, ==, "old.py:5");
  g_assert_cmpstr (here, ==, "test.hlo:28:3");
  g_assert_cmpstr (gantry_context_scope_path (context, find_name (module, "sum")->scope), ==, "jit(f)/layer");
  g_assert_cmpstr (gantry_context_scope_path (context, find_name (module, "inner")->scope), ==, "fusion.1");
  g_assert_cmpuint (gantry_node_type (module, find_name (module, "b"))->memory, ==, GANTRY_MEMORY_PINNED_HOST);
  g_assert_cmpint (gantry_attrs_int (context, find_name (module, "b")->attrs, "alias", -1), ==, 0);
  g_assert_cmpuint (find_name (module, "start")->op, ==, GANTRY_OP_COPY);
  g_assert_cmpuint (gantry_node_type (module, find_name (module, "start"))->memory, ==, GANTRY_MEMORY_DEVICE);
  g_assert_cmpuint (find_name (module, "host")->op, ==, GANTRY_OP_COPY);
  g_assert_cmpuint (gantry_node_type (module, find_name (module, "host"))->memory, ==, GANTRY_MEMORY_PINNED_HOST);
  g_assert_cmpuint (gantry_node_operand_id (module, find_name (module, "odd"), 0), ==, find_name (module, "start")->id);
  g_assert_cmpstr (gantry_attrs_string (context, find_name (module, "odd")->attrs, "extra", ""), ==, "{a={b=[1]},c=\"}\"}");
  g_assert_cmpuint (entry->n_results, ==, 2);
  g_assert_true (gantry_verify (module, NULL, &error));
}

static const char program[] =
  "HloModule program\n"
  "add (x: f32[], y: f32[]) -> f32[] {\n  x = f32[] parameter(0)\n  y = f32[] parameter(1)\n  ROOT s = f32[] add(x, y)\n}\n"
  "cond (s: (s32[], f32[2,3])) -> pred[] {\n  s = (s32[], f32[2,3]) parameter(0)\n  i = s32[] get-tuple-element(s), index=0\n"
  "  n = s32[] constant(3)\n  ROOT l = pred[] compare(i, n), direction=LT\n}\n"
  "body (s: (s32[], f32[2,3])) -> (s32[], f32[2,3]) {\n  s = (s32[], f32[2,3]) parameter(0)\n  i = s32[] get-tuple-element(s), index=0\n"
  "  v = f32[2,3] get-tuple-element(s), index=1\n  one = s32[] constant(1)\n  j = s32[] add(i, one)\n  w = f32[2,3] add(v, v)\n"
  "  ROOT t = (s32[], f32[2,3]) tuple(j, w)\n}\n"
  "yes (v: f32[2]) -> f32[2] {\n  v = f32[2] parameter(0)\n  ROOT n = f32[2] negate(v)\n}\n"
  "no (v: f32[2], w: f32[2]) -> f32[2] {\n  t = (f32[2], f32[2]) parameter(0)\n  v = f32[2] get-tuple-element(t), index=0\n"
  "  w = f32[2] get-tuple-element(t), index=1\n  ROOT n = f32[2] multiply(v, w)\n}\n"
  "fused (a: f32[2,3], b: f32[3]) -> f32[2,3] {\n  b = f32[3] parameter(1)\n  a = f32[2,3] parameter(0)\n"
  "  wide = f32[2,3] broadcast(b), dimensions={1}\n  ROOT m = f32[2,3] multiply(a, wide)\n}\n"
  "ENTRY main (a: f32[2,3], b: f32[3], p: pred[]) -> (f32[2], f32[2,2], f32[3,2], f32[1]) {\n"
  "  a = f32[2,3] parameter(0)\n  b = f32[3] parameter(1)\n  p = pred[] parameter(2)\n"
  "  f = f32[2,3] fusion(a, b), kind=kLoop, calls=fused\n"
  "  zero = s32[] constant(0)\n  state = (s32[], f32[2,3]) tuple(zero, f)\n"
  "  loop = (s32[], f32[2,3]) while(state), condition=cond, body=body\n"
  "  v = f32[2,3] get-tuple-element(loop), index=1\n  null = f32[] constant(0)\n"
  "  sums = f32[2] reduce(v, null), dimensions={1}, to_apply=add\n"
  "  both = (f32[2], f32[2]) tuple(sums, sums)\n"
  "  c = f32[2] conditional(p, sums, both), true_computation=yes, false_computation=no\n"
  "  d = f32[2,2] dot(a, a), lhs_contracting_dims={1}, rhs_contracting_dims={1}\n"
  "  tr = f32[3,2] transpose(a), dimensions={1,0}\n  sl = f32[1] slice(b), slice={[1:3:2]}\n"
  "  ROOT r = (f32[2], f32[2,2], f32[3,2], f32[1]) tuple(c, d, tr, sl)\n}\n";

static GantryLiteral *
numbers (GantryContext *context, GantryElementType element, guint rank, const GantryDim *dims, const double *values)
{
  const GantryType *type = gantry_context_type (context, gantry_context_tensor (context, element, rank, dims));
  guint8 *data;
  GantryLiteral *literal = gantry_literal_new_zeroed (type, &data);

  for (gint64 i = 0; i < gantry_type_elements (type); i++)
    gantry_element_write_double (element, data + (gsize) i * gantry_element_size (element), values[i]);
  return literal;
}

static void
assert_values (const GPtrArray *results, guint which, const double *values, guint n)
{
  for (guint i = 0; i < n; i++)
    g_assert_cmpfloat (gantry_literal_get_double (g_ptr_array_index (results, which), i), ==, values[i]);
}

static void
test_program (gconstpointer data)
{
  static const double a[] = { 1, 2, 3, 4, 5, 6 }, b[] = { 1, 10, 100 };
  static const double products[] = { 14, 32, 32, 77 }, turned[] = { 1, 4, 2, 5, 3, 6 }, cut[] = { 10 };
  /* 8 (1 + 20 + 300), 8 (4 + 50 + 600) */
  static const double negated[] = { -2568, -5232 }, squared[] = { 2568.0 * 2568.0, 5232.0 * 5232.0 };

  for (guint yes = 0; yes < 2; yes++)
    {
      g_autoptr (GantryContext) context = gantry_context_new ();
      g_autoptr (GError) error = NULL;
      g_autoptr (GantryModule) module = read_text (context, program, NULL, &error);
      g_autoptr (GPtrArray) inputs = g_ptr_array_new_with_free_func ((GDestroyNotify) gantry_literal_unref);
      g_autoptr (GPtrArray) results = NULL;
      double truth = yes;

      g_assert_no_error (error);
      g_ptr_array_add (inputs, numbers (context, GANTRY_F32, 2, (GantryDim[]){ 2, 3 }, a));
      g_ptr_array_add (inputs, numbers (context, GANTRY_F32, 1, (GantryDim[]){ 3 }, b));
      g_ptr_array_add (inputs, numbers (context, GANTRY_BOOL, 0, NULL, &truth));
      results = run_case (module, inputs, (RunBackEnd) GPOINTER_TO_UINT (data), &error);
      g_assert_no_error (error);
      assert_values (results, 0, yes ? negated : squared, 2);
      assert_values (results, 1, products, 4);
      assert_values (results, 2, turned, 6);
      assert_values (results, 3, cut, 1);
    }
}

/* The same bytes are other elements where one of the layouts is not row-major. */
static void
test_bitcast (void)
{
  static const double a[] = { 1, 2, 3, 4, 5, 6 }, turned[] = { 1, 4, 2, 5, 3, 6 };
  static const struct
  {
    const char *body;
    const double *values;
  } cases[] = {
    { "  p = f32[2,3]{0,1} parameter(0)\n  ROOT b = f32[3,2]{1,0} bitcast(p)\n", turned },
    { "  p = f32[2,3]{1,0} parameter(0)\n  c = f32[2,3]{0,1} copy(p)\n  ROOT b = f32[3,2]{1,0} bitcast(c)\n", turned },
    { "  p = f32[2,3]{1,0} parameter(0)\n  b = f32[3,2]{0,1} bitcast(p)\n  ROOT n = f32[3,2]{1,0} copy(b)\n", turned },
    { "  p = f32[2,3]{1,0} parameter(0)\n  ROOT b = f32[3,2]{1,0} bitcast(p)\n", a },
    { "  p = f32[2,3]{1,0} parameter(0)\n  ROOT b = f32[6,1,1]{0,2,1} bitcast(p)\n", a },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *text = g_strdup_printf ("HloModule m\nENTRY e {\n%s}\n", cases[i].body);
      g_autoptr (GantryContext) context = gantry_context_new ();
      g_autoptr (GError) error = NULL;
      g_autoptr (GantryModule) module = read_text (context, text, NULL, &error);
      g_autoptr (GPtrArray) inputs = g_ptr_array_new_with_free_func ((GDestroyNotify) gantry_literal_unref);
      g_autoptr (GPtrArray) results = NULL;

      g_assert_no_error (error);
      g_ptr_array_add (inputs, numbers (context, GANTRY_F32, 2, (GantryDim[]){ 2, 3 }, a));
      results = run_case (module, inputs, RUN_CPU, &error);
      g_assert_no_error (error);
      assert_values (results, 0, cases[i].values, 6);
    }
}

static void
test_errors (void)
{
  static const ReadError cases[] = {
    { "HloModule m\nENTRY e {\n  ROOT a = f32[] add(b, b)\n}\n", "test.hlo:3:22: instruction 'b'", GANTRY_ERROR_INVALID },
    { "HloModule m\nENTRY e {\n  a = f32[] parameter(0)\n  ROOT b = f32[] add(a,\n    zz)\n}\n", "test.hlo:5:5: instruction 'zz'", GANTRY_ERROR_INVALID },
    { "HloModule m\nENTRY e {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1000000000)\n  ROOT c = f32[] add(a, b)\n}\n",
      "test.hlo:4:3: parameter(1000000000) of a computation with 2 parameters", GANTRY_ERROR_INVALID },
    { "HloModule m\nENTRY e {\n  a = f32[] parameter(0)\n  b = f32[] parameter(0)\n  ROOT c = f32[] add(a, b)\n}\n", "test.hlo:4:3: parameter(0)",
      GANTRY_ERROR_INVALID },
    { "HloModule m\nENTRY e {\n  ROOT a = f32[2] parameter(0)\n", "a bracket is not closed", GANTRY_ERROR_TRUNCATED },
    { "HloModule m\n", "no computation is in it", GANTRY_ERROR_INVALID },
    { "HloModule m\nENTRY e {\n  p = f32[2] parameter(0)\n  ROOT a = f32[] get-tuple-element(p), index=0\n}\n", "test.hlo:4:3: get-tuple-element of no member",
      GANTRY_ERROR_INVALID },
    { "HloModule m\nENTRY e {\n  p = f32[2] parameter(0)\n  ROOT a = f32[2] call(p), to_apply=e\n}\n", "@e calls itself", GANTRY_ERROR_INVALID },
    { "HloModule m\nENTRY e {\n  ROOT p = f32[9000000000,9000000000] parameter(0)\n}\n", "too large", GANTRY_ERROR_TOO_LARGE },
  };

  read_case_errors ("test.hlo", cases, G_N_ELEMENTS (cases));
}

/* Tuples of tuples, as deep as a hostile text likes. */
static void
test_depth (void)
{
  GString *text = g_string_new ("HloModule m\nENTRY e {\n  ROOT p = ");
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryModule) module = NULL;

  for (guint i = 0; i < 100000; i++)
    g_string_append_c (text, '(');
  g_string_append (text, "f32[]");
  for (guint i = 0; i < 100000; i++)
    g_string_append_c (text, ')');
  g_string_append (text, " parameter(0)\n}\n");
  module = read_text (context, text->str, NULL, &error);
  g_assert_null (module);
  g_assert_error (error, GANTRY_ERROR, GANTRY_ERROR_TOO_LARGE);
  g_string_free (text, TRUE);
}

static void
test_samples (void)
{
  static const ReadSample samples[] = {
    { "resnet50_keras_jax_f32.hlo", 1755, 1 },
    { "dlrm_keras_jax_f32_train_step.hlo", 1386, 1 },
    { "mha_block_1x12x128x64_bf16.hlo", 41, 1 },
    { "layer_norm_1x4096x768_bf16.hlo", 37, 1 },
    { "mobilenet_v2.hlo", 3924, 1 },
    { "nv_maxtext_1n1g_jit_train_step_before_optimization.hlo", 1947, 1 },
    { "hlo_gemma4_2b_bf16.hlo", 19205, 1 },
    { "llama31_8b_bf16_1x8.hlo", 31855, 1 },
    { "offload_scan_output.hlo", 26, 1 },
    { "large_loop_16k_instructions.hlo", 16828, 1 },
    { "xla_host_offload_unit_modules.hlo", 0, 97 },
    { "op_coverage.hlo", 0, 134 },
  };

  read_case_samples ("data/hlo", samples, G_N_ELEMENTS (samples));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/xla/hlo/places", test_places);
  g_test_add_data_func ("/xla/hlo/program/cpu", GUINT_TO_POINTER (RUN_CPU), test_program);
  g_test_add_data_func ("/xla/hlo/program/grid", GUINT_TO_POINTER (RUN_GRID), test_program);
  g_test_add_func ("/xla/hlo/errors", test_errors);
  g_test_add_func ("/xla/hlo/bitcast", test_bitcast);
  g_test_add_func ("/xla/hlo/depth", test_depth);
  g_test_add_func ("/xla/hlo/samples", test_samples);
  return g_test_run ();
}
