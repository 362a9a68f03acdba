/* SPDX-License-Identifier: Apache-2.0 */
/* What is exported means what it meant: a model, a training step and each of their snapshots, written and read again, give the
 * evaluator the same values; so do the texts of the StableHLO conformance tests. */
#include "core/compiler/compiler.h"
#include "core/compiler/export.h"
#include "core/eval/evaluator.h"
#include "core/frontends/xla/xla.h"
#include "core/graph/operation.h"
#include "tests/random-seed.h"
#include "tests/test-files.h"
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

static const struct
{
  GantryExportFormat format;
  const char *ending, *dialect;
} formats[] = {
  { GANTRY_EXPORT_ONNX, "onnx", "onnx." },
  { GANTRY_EXPORT_STABLEHLO, "mlir", "none" },
  { GANTRY_EXPORT_TEXT, "gir", "" },
};

typedef struct
{
  char *folder;
} Place;

static void
set_up (Place *place, gconstpointer data)
{
  place->folder = g_dir_make_tmp ("gantry-test-XXXXXX", NULL);
}

static void
tear_down (Place *place, gconstpointer data)
{
  GDir *directory = g_dir_open (place->folder, 0, NULL);
  const char *name;

  while ((name = g_dir_read_name (directory)) != NULL)
    {
      g_autofree char *path = g_build_filename (place->folder, name, NULL);

      g_unlink (path);
    }
  g_dir_close (directory);
  g_assert_cmpint (g_rmdir (place->folder), ==, 0);
  g_free (place->folder);
}

/* Compilations */

static GantryCompilation *
compile (GantryModel *model, gboolean train, GError **error)
{
  g_auto (GantryCompileSettings) settings;

  gantry_compile_settings_init (&settings);
  settings.train = train;
  return gantry_compile (model, &settings, NULL, error);
}

static const GantryModule *
find_snapshot (const GantryCompilation *compilation, const char *pass)
{
  for (guint i = 0; i < compilation->n_snapshots; i++)
    if (strcmp (compilation->snapshots[i].pass, pass) == 0)
      return compilation->snapshots[i].module;
  return NULL;
}

/* Values */

static void
unref_literal (gpointer literal)
{
  if (literal != NULL)
    gantry_literal_unref (literal);
}

static GantryLiteral *
random_literal (const GantryType *type, GRand *rand)
{
  guint8 *data;
  GantryLiteral *literal = gantry_literal_new_zeroed (type, &data);
  gsize size = gantry_element_size ((GantryElementType) type->element);

  for (gint64 i = 0; i < gantry_type_elements (type); i++)
    if (gantry_element_is_float ((GantryElementType) type->element))
      gantry_element_write_double ((GantryElementType) type->element, data + size * (gsize) i, g_rand_double_range (rand, -1, 1));
    else
      gantry_element_write_int ((GantryElementType) type->element, data + size * (gsize) i, g_rand_int_range (rand, 0, type->element == GANTRY_BOOL ? 2 : 5));
  return literal;
}

/* By name: a parameter of a step has its first value in the file and is none of its inputs. */
static GHashTable *
random_arguments (const GantryModule *module, guint32 seed)
{
  GHashTable *values = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, unref_literal);
  const GantryFunction *entry = gantry_module_entry (module);
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);

  for (guint i = 0; i < entry->n_params; i++)
    {
      const GantryNode *node = &module->nodes[entry->first_node + i];
      const GantryAttr *initial = gantry_attrs_find (module->context, node->attrs, "initial");
      g_autofree char *plain = g_strdup_printf ("input_%u", i);
      const char *name = gantry_context_string (module->context, node->name);

      g_hash_table_insert (values, g_strdup (*name != '\0' ? name : plain),
                           initial != NULL ? gantry_literal_ref (gantry_context_literal (module->context, initial->id))
                                           : random_literal (gantry_node_type (module, node), rand));
    }
  return values;
}

static GPtrArray *
evaluate (const GantryModule *module, GHashTable *values, GError **error)
{
  const GantryFunction *entry = gantry_module_entry (module);
  g_autoptr (GPtrArray) arguments = g_ptr_array_new ();
  g_autoptr (GPtrArray) results = g_ptr_array_new_with_free_func (unref_literal);

  for (guint i = 0; i < entry->n_params; i++)
    {
      const char *name = gantry_context_string (module->context, module->nodes[entry->first_node + i].name);
      g_autofree char *plain = g_strdup_printf ("input_%u", i);
      gpointer value = g_hash_table_lookup (values, *name != '\0' ? name : plain);

      g_assert_nonnull (value);
      g_ptr_array_add (arguments, value);
    }
  g_ptr_array_set_size (results, (gint) entry->n_results);
  if (!gantry_evaluate (module, entry, (GantryLiteral *const *) arguments->pdata, (GantryLiteral **) results->pdata, NULL, error))
    return NULL;
  return g_steal_pointer (&results);
}

static gboolean
close_enough (double a, double b, double relative, double absolute)
{
  return a == b || (isnan (a) && isnan (b)) || fabs (a - b) <= absolute + relative * fmax (fabs (a), fabs (b));
}

/* What ONNX lacks is a formula that rounds more often: a few units of the result's element, and of what sums have cancelled. */
static void
assert_agree (const char *what, const GantryLiteral *a, const GantryLiteral *b)
{
  GantryElementType element = (GantryElementType) a->type->element;
  double unit = element == GANTRY_BF16 ? 0x1p-8 : element == GANTRY_F16 ? 0x1p-11 : element == GANTRY_F32 ? 0x1p-24 : 0x1p-53;
  double most = 0;

  g_assert_true (gantry_type_same_shape (a->type, b->type));
  for (gint64 i = 0; i < gantry_type_elements (a->type); i++)
    if (isfinite (gantry_literal_get_double (a, i)))
      most = fmax (most, fabs (gantry_literal_get_double (a, i)));
  for (gint64 i = 0; i < gantry_type_elements (a->type); i++)
    {
      double x = gantry_literal_get_double (a, i), y = gantry_literal_get_double (b, i);

      if (!close_enough (x, y, 64 * unit, 64 * unit * most))
        {
          g_test_fail_printf ("%s: element %" G_GINT64_FORMAT " is %.9g and was %.9g", what, i, y, x);
          return;
        }
    }
}

static void
assert_same_values (const char *what, const GantryModule *before, const GantryModule *after, guint32 seed)
{
  g_autoptr (GHashTable) arguments = random_arguments (before, seed);
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) old = evaluate (before, arguments, &error), new = NULL;

  g_assert_no_error (error);
  new = evaluate (after, arguments, &error);
  if (new == NULL)
    {
      g_test_fail_printf ("%s: %s", what, error->message);
      return;
    }
  g_assert_cmpuint (old->len, ==, new->len);
  for (guint i = 0; i < old->len; i++)
    assert_agree (what, g_ptr_array_index (old, i), g_ptr_array_index (new, i));
}

/* Models */

static GantryModel *
open_model (const char *path)
{
  g_autoptr (GantryBindings) bindings = gantry_bindings_new ();
  g_autoptr (GError) error = NULL;
  GantryModel *model;

  /* Texts name the files that weights lie in. */
  bindings->outside = TRUE;
  model = gantry_model_open (path, bindings, -1, NULL, &error);
  g_assert_no_error (error);
  return model;
}

/* Whether what was not legalized is in operations that the format can say. */
static gboolean
is_said (const GantryModule *module, const char *dialect)
{
  for (guint32 i = 0; i < module->n_nodes; i++)
    if (module->nodes[i].op >= GANTRY_OP_FOREIGN && !g_str_has_prefix (gantry_node_op_name (module, &module->nodes[i]), dialect))
      return FALSE;
  return TRUE;
}

static void
check_snapshot (const Place *place, const GantryCompilation *compilation, const GantrySnapshot *snapshot, guint format, guint32 seed)
{
  g_autofree char *path = g_strdup_printf ("%s/%s.%s", place->folder, snapshot->pass, formats[format].ending);
  const GantryModule *meant = strcmp (snapshot->pass, "import") == 0 || strcmp (snapshot->pass, "parameterize") == 0 ? find_snapshot (compilation, "legalize")
                                                                                                                     : snapshot->module;
  GantryExportOptions options = { .snapshot = snapshot->pass };
  g_autoptr (GantryModel) model = NULL;
  g_autoptr (GantryCompilation) again = NULL;
  g_autoptr (GError) error = NULL;

  if (!is_said (snapshot->module, formats[format].dialect))
    {
      /* Operations of another format: refused by name, and nothing is written. */
      g_unlink (path);
      g_assert_null (gantry_compilation_export (compilation, formats[format].format, path, &options, NULL, &error));
      g_assert_error (error, GANTRY_ERROR, GANTRY_ERROR_UNSUPPORTED);
      g_assert_false (g_file_test (path, G_FILE_TEST_EXISTS));
      return;
    }
  g_assert_cmpstr (gantry_compilation_export (compilation, formats[format].format, path, &options, NULL, &error), ==, snapshot->pass);
  g_assert_no_error (error);
  model = open_model (path);
  again = compile (model, FALSE, &error);
  g_assert_no_error (error);
  g_assert_no_error (again->refusal);
  assert_same_values (path, meant, find_snapshot (again, "legalize"), seed);
}

static void
test_snapshots (Place *place, gconstpointer data)
{
  /* clang-format off */
  static const struct { const char *path; gboolean train; } models[] = {
    { "data/models/sample.onnx", FALSE },        { "data/models/linear.onnx", TRUE },
    { "data/programs/mlp.gir", TRUE },           { "data/programs/lstm.gir", FALSE },
    { "data/programs/convnet.gir", FALSE },      { "data/programs/layers-tiny.gir", TRUE },
    { "data/programs/transformer-tiny.gir", TRUE }, { "data/programs/while.mlir", FALSE },
  };
  /* clang-format on */
  guint32 seed = test_seed (7);

  for (guint i = 0; i < G_N_ELEMENTS (models); i++)
    {
      g_autofree char *path = test_source_file (models[i].path, NULL);
      g_autoptr (GantryModel) model = open_model (path);
      g_autoptr (GError) error = NULL;
      g_autoptr (GantryCompilation) compilation = compile (model, models[i].train, &error);

      g_assert_no_error (error);
      g_test_message ("%s", models[i].path);
      for (guint format = 0; format < G_N_ELEMENTS (formats); format++)
        for (guint j = 0; j < compilation->n_snapshots; j++)
          check_snapshot (place, compilation, &compilation->snapshots[j], format, seed);
    }
}

/* What files say besides values */

static GantryCompilation *
compile_text (const Place *place, const char *text)
{
  g_autofree char *path = g_build_filename (place->folder, "own.gir", NULL);
  g_autoptr (GantryModel) model = NULL;
  g_autoptr (GError) error = NULL;
  GantryCompilation *compilation;

  g_assert_true (g_file_set_contents (path, text, -1, NULL));
  model = open_model (path);
  compilation = compile (model, FALSE, &error);
  g_assert_no_error (error);
  return compilation;
}

/* Whoever writes imported operations into a text may write other types than they give, and shapes that none has. */
static void
test_mistyped (Place *place, gconstpointer data)
{
  static const struct
  {
    const char *node, *message;
  } cases[] = {
    { "\"stablehlo.negate\"(%1): f32[6,4]", NULL },
    { "\"stablehlo.negate\"(%1): f32[6,5]", "stablehlo.negate: it gives f32[6,4], but f32[6,5] is written as its type" },
    { "\"mindspore.Reshape\"(%1) {operand_names = [\"x\"], shape = [-21474836471, 4]}: f32[6,4]", "dimension 0 of its shape is -21474836471" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *text = g_strdup_printf ("module \"m\" {\n  func @main #1 (\n    %%1 \"x\": f32[6,4]) -> (%%2) {\n    %%2 = %s\n  }\n}\n", cases[i].node);
      g_autoptr (GantryCompilation) compilation = compile_text (place, text);

      if (cases[i].message == NULL)
        g_assert_no_error (compilation->refusal);
      else if (compilation->refusal == NULL || strstr (compilation->refusal->message, cases[i].message) == NULL)
        g_error ("case %u: '%s' does not say '%s'", i, compilation->refusal != NULL ? compilation->refusal->message : "", cases[i].message);
    }
}

/* A loop that the run decides: what its trips only read stands behind its carries, after the pass that keeps it and in the program. */
static void
test_loop_captures (Place *place, gconstpointer data)
{
  g_autoptr (GantryCompilation)
    compilation = compile_text (place, "module \"loop\" {\n  func @main #1 (%1 \"x\": f32[4], %2 \"n\": i32[]) -> (%9) {\n"
                                       "    %3 = constant() {value = dense<i32[]: 0>}: i32[]\n    %4 = constant() {value = dense<i32[]: 3>}: i32[]\n"
                                       "    %5 = clamp(%3, %2, %4): i32[]\n    %6 = negate(%1): f32[4]\n"
                                       "    %7 = while(%3, %1, %5, %6) {cond = #2, body = #3, n_carries = 2}: (i32[], f32[4])\n"
                                       "    %9 = result(%7) {index = 1}: f32[4]\n  }\n"
                                       "  func @more #2 (%11: i32[], %12: f32[4], %13: i32[], %14: f32[4]) -> (%15) {\n"
                                       "    %15 = compare(%11, %13) {comparison_direction = \"LT\"}: bool[]\n  }\n"
                                       "  func @trip #3 (%21: i32[], %22: f32[4], %23: i32[], %24: f32[4]) -> (%26, %28) {\n"
                                       "    %25 = constant() {value = dense<i32[]: 1>}: i32[]\n    %26 = add(%21, %25): i32[]\n"
                                       "    %27 = tanh(%22): f32[4]\n    %28 = add(%27, %24): f32[4]\n  }\n}\n");

  for (guint format = 0; format < G_N_ELEMENTS (formats); format++)
    for (guint j = 0; j < compilation->n_snapshots; j++)
      check_snapshot (place, compilation, &compilation->snapshots[j], format, 3);
}

/* Each snapshot of the module @text, in each format */
static void
check_snapshots (Place *place, const char *text)
{
  g_autoptr (GantryCompilation) compilation = compile_text (place, text);

  for (guint format = 0; format < G_N_ELEMENTS (formats); format++)
    for (guint j = 0; j < compilation->n_snapshots; j++)
      check_snapshot (place, compilation, &compilation->snapshots[j], format, 3);
}

/* The bits of floating-point numbers, for which ONNX has no operation: zeros of both signs, infinities, the smallest and largest normal and
 * subnormal numbers, and some between; and how many are set. */
static void
test_bits (Place *place, gconstpointer data)
{
  static const struct
  {
    const char *whole, *real, *back;
    guint width, mantissa;
  } kinds[] = {
    { "u32", "f32", "i32", 32, 23 },
    { "u64", "f64", "i64", 64, 52 },
    { "u16", "bf16", "u16", 16, 7 },
    { "u16", "f16", "i16", 16, 10 },
  };
  g_autoptr (GString) text = g_string_new ("module \"bits\" {\n  func @main #1 () -> (");

  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    g_string_append_printf (text, "%s%%%u, %%%u, %%%u, %%%u", i > 0 ? ", " : "", 10 * i + 12, 10 * i + 14, 10 * i + 15, 10 * i + 16);
  g_string_append (text, ") {\n");
  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    {
      guint64 sign = (guint64) 1 << (kinds[i].width - 1), unit = (guint64) 1 << kinds[i].mantissa, infinity = sign - unit;
      const guint64 values[] = { 0, 1, unit / 3, unit - 1, unit, unit + 1, infinity / 2, infinity / 2 + unit / 7, 5 * unit / 2, infinity - 1, infinity };
      guint n = G_N_ELEMENTS (values);

      g_string_append_printf (text, "    %%%u = constant() {value = dense<%s[%u]: ", 10 * i + 11, kinds[i].whole, 2 * n);
      for (guint k = 0; k < 2 * n; k++)
        g_string_append_printf (text, "%s%" G_GUINT64_FORMAT, k > 0 ? ", " : "", values[k % n] + (k < n ? 0 : sign));
      g_string_append_printf (text, ">}: %s[%u]\n    %%%u = bitcast_convert(%%%u) {to = type %s[]}: %s[%u]\n", kinds[i].whole, 2 * n, 10 * i + 12, 10 * i + 11,
                              kinds[i].real, kinds[i].real, 2 * n);
      g_string_append_printf (text, "    %%%u = negate(%%%u): %s[%u]\n    %%%u = bitcast_convert(%%%u) {to = type %s[]}: %s[%u]\n", 10 * i + 13, 10 * i + 12,
                              kinds[i].real, 2 * n, 10 * i + 14, 10 * i + 13, kinds[i].back, kinds[i].back, 2 * n);
      g_string_append_printf (text, "    %%%u = popcnt(%%%u): %s[%u]\n    %%%u = count_leading_zeros(%%%u): %s[%u]\n", 10 * i + 15, 10 * i + 14, kinds[i].back,
                              2 * n, 10 * i + 16, 10 * i + 14, kinds[i].back, 2 * n);
    }
  g_string_append (text, "  }\n}\n");
  check_snapshots (place, text->str);
}

/* Shifts, of which ONNX has those of unsigned numbers by less than their width: of all integers, some with the first bit set, by none to
 * more than all bits. */
static void
test_shifts (Place *place, gconstpointer data)
{
  static const char *const elements[] = { "u8", "i8", "u16", "i16", "u32", "i32", "u64", "i64" };
  static const char *const operations[] = { "shift_left", "shift_right_arithmetic", "shift_right_logical" };
  g_autoptr (GString) head = g_string_new ("module \"shifts\" {\n  func @main #1 () -> ("), text = g_string_new (") {\n");

  for (guint i = 0; i < G_N_ELEMENTS (elements); i++)
    {
      const char *element = elements[i];
      guint width = 8u << i / 2, first = 10 * i + 11, n = 24;
      guint64 sign = (guint64) 1 << (width - 1);
      const guint64 values[] = { 0, 1, sign - 1, sign / 3 };

      g_string_append_printf (text, "    %%%u = constant() {value = dense<%s[%u]: ", first, element, n);
      for (guint k = 0; k < n; k++)
        if (element[0] == 'u')
          g_string_append_printf (text, "%s%" G_GUINT64_FORMAT, k > 0 ? ", " : "", values[k % 4] + (k % 8 < 4 ? 0 : sign));
        else
          g_string_append_printf (text, "%s%" G_GINT64_FORMAT, k > 0 ? ", " : "", k % 8 < 4 ? (gint64) values[k % 4] : -1 - (gint64) values[k % 4]);
      g_string_append_printf (text, ">}: %s[%u]\n    %%%u = constant() {value = dense<%s[%u]: ", element, n, first + 1, element, n);
      for (guint k = 0; k < n; k++)
        g_string_append_printf (text, "%s%u", k > 0 ? ", " : "", ((const guint[]){ 0, 1, 3, width - 1, width, 100 })[k / 4]);
      g_string_append_printf (text, ">}: %s[%u]\n", element, n);
      for (guint k = 0; k < G_N_ELEMENTS (operations); k++)
        {
          g_string_append_printf (text, "    %%%u = %s(%%%u, %%%u): %s[%u]\n", first + 2 + k, operations[k], first, first + 1, element, n);
          g_string_append_printf (head, "%s%%%u", i + k > 0 ? ", " : "", first + 2 + k);
        }
    }
  g_string_append_printf (head, "%s  }\n}\n", text->str);
  check_snapshots (place, head->str);
}

/* All lines that call the host are named, and nothing is written. */
static void
test_host_calls (Place *place, gconstpointer data)
{
  g_autoptr (GantryCompilation)
    compilation = compile_text (place, "module \"calls\" {\n  func @main #1 (%1 \"x\": f32[4]) -> (%3) {\n"
                                       "    %2 = custom_call(%1) {target = \"first\", to = type f32[4]}: f32[4] loc(\"net.py\":7:3)\n"
                                       "    %3 = custom_call(%2) {target = \"second\", to = type f32[4]}: f32[4] loc(\"net.py\":9:3)\n  }\n}\n");
  GantryExportOptions options = { .snapshot = "import" };
  g_autofree char *path = g_build_filename (place->folder, "x.onnx", NULL);
  g_autoptr (GError) error = NULL;

  g_assert_null (gantry_compilation_export (compilation, GANTRY_EXPORT_ONNX, path, &options, NULL, &error));
  g_assert_error (error, GANTRY_ERROR, GANTRY_ERROR_UNSUPPORTED);
  g_assert_nonnull (strstr (error->message, "net.py:7:3"));
  g_assert_nonnull (strstr (error->message, "net.py:9:3"));
  g_assert_false (g_file_test (path, G_FILE_TEST_EXISTS));
}

/* Inputs and outputs keep their names where values are fused, are inputs, are results twice, or have no name. */
static void
test_names (Place *place, gconstpointer data)
{
  g_autoptr (GantryCompilation) compilation = compile_text (place, "module \"names\" {\n  func @main #1 (%1 \"x\": f32[4], %2: f32[4]) -> (%4, %1, %4, %3) {\n"
                                                                   "    %3 = exponential(%1): f32[4]\n    %4 \"y\" = add(%3, %2): f32[4]\n  }\n}\n");
  static const char *const outputs[] = { "y", "output_1", "y_", "output_3" };
  g_autofree char *path = g_build_filename (place->folder, "x.onnx", NULL);

  for (guint i = 0; i < compilation->n_snapshots; i++)
    {
      GantryExportOptions options = { .snapshot = compilation->snapshots[i].pass };
      g_autoptr (GError) error = NULL;
      g_autoptr (GantryModel) model = NULL;

      g_assert_nonnull (gantry_compilation_export (compilation, GANTRY_EXPORT_ONNX, path, &options, NULL, &error));
      g_assert_no_error (error);
      model = open_model (path);
      g_assert_cmpuint (model->n_inputs, ==, 2);
      g_assert_cmpstr (model->inputs[0].name, ==, "x");
      g_assert_cmpstr (model->inputs[1].name, ==, "input_1");
      g_assert_cmpuint (model->n_outputs, ==, G_N_ELEMENTS (outputs));
      g_assert_cmpstr (model->outputs[0].name, ==, outputs[0]);
      g_assert_true (g_str_has_prefix (model->outputs[2].name, outputs[2]));
    }
}

/* Weights beside the model are new files: those of the model that was there stay. */
static void
test_external (Place *place, gconstpointer data)
{
  g_autofree char *source = test_source_file ("data/models", "sample.onnx");
  g_autofree char *path = g_build_filename (place->folder, "x.onnx", NULL);
  g_autofree char *first = g_strconcat (path, ".data", NULL), *second = g_strconcat (path, ".data.1", NULL);
  g_autofree char *before = NULL, *after = NULL;
  g_autoptr (GantryModel) model = open_model (source), again = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryCompilation) compilation = compile (model, FALSE, &error), reread = NULL;
  GantryExportOptions options = { .snapshot = "legalize", .external = TRUE };
  gsize n_before, n_after;

  g_assert_no_error (error);
  for (guint i = 0; i < 2; i++)
    {
      g_assert_nonnull (gantry_compilation_export (compilation, GANTRY_EXPORT_ONNX, path, &options, NULL, &error));
      g_assert_no_error (error);
      if (i == 0)
        g_assert_true (g_file_get_contents (first, &before, &n_before, NULL));
    }
  g_assert_true (g_file_test (second, G_FILE_TEST_EXISTS));
  g_assert_true (g_file_get_contents (first, &after, &n_after, NULL));
  g_assert_cmpmem (before, n_before, after, n_after);
  again = open_model (path);
  reread = compile (again, FALSE, &error);
  g_assert_no_error (error);
  assert_same_values (path, find_snapshot (compilation, "legalize"), find_snapshot (reread, "legalize"), 3);
}

/* Texts of single operations */

typedef struct
{
  guint same, refused, other;
} Counts;

/* Whether the parameters of the entry have values that can be made, and names that tell them apart. */
static gboolean
has_arguments (const GantryModule *module)
{
  const GantryFunction *entry = gantry_module_entry (module);
  g_autoptr (GHashTable) names = g_hash_table_new (NULL, NULL);

  for (guint i = 0; i < entry->n_params; i++)
    {
      const GantryNode *node = &module->nodes[entry->first_node + i];
      const GantryType *type = gantry_node_type (module, node);

      if (!gantry_type_is_static (type) || !gantry_element_is_compiled ((GantryElementType) type->element)
          || (node->name != 0 && !g_hash_table_add (names, GUINT_TO_POINTER (node->name))))
        return FALSE;
    }
  return TRUE;
}

/* Returns: FALSE where the text is not for this test: what it computes is not evaluated. */
static gboolean
check_text (const Place *place, GantryContext *context, GantryModule *module, guint format, Counts *counts)
{
  g_autofree char *path = g_strdup_printf ("%s/text.%s", place->folder, formats[format].ending);
  g_autoptr (GantryModel) model = gantry_model_new (module, "text"), reread = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryCompilation) compilation = compile (model, FALSE, &error), again = NULL;
  GantryExportOptions options = { .snapshot = "legalize" };
  g_autoptr (GHashTable) arguments = NULL;
  g_autoptr (GPtrArray) values = NULL;
  const GantryModule *core = compilation != NULL ? find_snapshot (compilation, "legalize") : NULL;

  if (core == NULL || gantry_module_entry (core)->n_results == 0 || !has_arguments (core))
    return FALSE;
  arguments = random_arguments (core, 1);
  values = evaluate (core, arguments, NULL);
  if (values == NULL)
    return FALSE;
  if (gantry_compilation_export (compilation, formats[format].format, path, &options, NULL, &error) == NULL)
    {
      g_assert_error (error, GANTRY_ERROR, GANTRY_ERROR_UNSUPPORTED);
      g_test_message ("%s: %s", gantry_context_string (context, module->name), error->message);
      counts->refused++;
      return TRUE;
    }
  reread = open_model (path);
  again = compile (reread, FALSE, &error);
  if (again == NULL || find_snapshot (again, "legalize") == NULL)
    {
      g_test_fail_printf ("%s: %s", gantry_context_string (context, module->name), again != NULL ? again->refusal->message : error->message);
      return TRUE;
    }
  assert_same_values (gantry_context_string (context, module->name), core, find_snapshot (again, "legalize"), 1);
  counts->same++;
  return TRUE;
}

static void
check_file (const Place *place, const char *path, guint format, Counts *counts)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GantryXlaInfo) info = NULL;
  g_autoptr (GantryModule) first = gantry_xla_import (context, path, NULL, &info, NULL, NULL);

  for (guint i = 0; first != NULL && i < info->functions->len; i++)
    {
      GantryXlaOptions options = { .entry = g_ptr_array_index (info->functions, i), .checks = TRUE, .max_nodes = 20000 };
      g_autoptr (GantryXlaInfo) checked = NULL;
      g_autoptr (GantryModule) module = NULL;

      options.module = g_array_index (info->function_modules, gint, i);
      module = gantry_xla_import (context, path, &options, &checked, NULL, NULL);
      if (module != NULL && checked->checks->len == 0)
        {
          /* A program and no test: its own results count. */
          g_clear_pointer (&module, gantry_module_unref);
          options.checks = FALSE;
          module = gantry_xla_import (context, path, &options, NULL, NULL, NULL);
        }
      if (module == NULL || !check_text (place, context, module, format, counts))
        counts->other++;
    }
}

static void
test_conformance (Place *place, gconstpointer data)
{
  guint format = GPOINTER_TO_UINT (data);
  g_autofree char *folder = test_shared_file ("data", "stablehlo-conformance");
  g_autofree char *modules = test_shared_file ("data", "stablehlo");
  g_autoptr (GPtrArray) files = g_ptr_array_new_with_free_func (g_free);
  Counts counts = { 0 };

  test_find_files (files, folder, ".mlir");
  test_find_files (files, modules, ".mlir");
  if (files->len == 0)
    {
      g_test_skip ("no shared data");
      return;
    }
  for (guint i = 0; i < files->len; i++)
    check_file (place, g_ptr_array_index (files, i), format, &counts);
  g_test_message ("%u programs the same, %u refused, %u others", counts.same, counts.refused, counts.other);
  g_assert_cmpuint (counts.same, >, 10 * counts.refused);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add ("/export/snapshots", Place, NULL, set_up, test_snapshots, tear_down);
  g_test_add ("/export/loop-captures", Place, NULL, set_up, test_loop_captures, tear_down);
  g_test_add ("/export/mistyped", Place, NULL, set_up, test_mistyped, tear_down);
  g_test_add ("/export/bits", Place, NULL, set_up, test_bits, tear_down);
  g_test_add ("/export/shifts", Place, NULL, set_up, test_shifts, tear_down);
  g_test_add ("/export/host-calls", Place, NULL, set_up, test_host_calls, tear_down);
  g_test_add ("/export/names", Place, NULL, set_up, test_names, tear_down);
  g_test_add ("/export/external", Place, NULL, set_up, test_external, tear_down);
  for (guint i = 0; i < G_N_ELEMENTS (formats); i++)
    {
      g_autofree char *path = g_strdup_printf ("/export/conformance/%s", formats[i].ending);

      g_test_add (path, Place, GUINT_TO_POINTER (i), set_up, test_conformance, tear_down);
    }
  return g_test_run ();
}
