/* SPDX-License-Identifier: Apache-2.0 */
/* MindIR: the models of tests/fixtures/mindspore compute what MindSpore computed, names and places are kept, weights stay mapped,
 * branches and loops are regions; older forms are read, and models that are spoilt or hold what is not read end in an error that
 * says so. */
#include "core/base/error.h"
#include "core/base/wire.h"
#include "core/compiler/compiler.h"
#include "core/compiler/export.h"
#include "core/frontends/mindspore/mindspore.h"
#include "core/graph/graph.h"
#include "tests/core/frontends/xla/run-case.h"
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

static const char *const models[] = { "network", "control", "parts", "recurrent", "assigned", "updates", "step" };

static char *
fixture (const char *name, const char *ending)
{
  g_autofree char *file = g_strconcat (name, ending, NULL);

  return g_build_filename (g_getenv ("GANTRY_SOURCE_ROOT"), "tests", "fixtures", "mindspore", file, NULL);
}

static GantryModule *
read_file (GantryContext *context, const char *path, GantryMindsporeInfo **info)
{
  g_autoptr (GError) error = NULL;
  GantryModule *module;

  g_assert_true (gantry_mindspore_reads (path));
  module = gantry_mindspore_import (context, path, NULL, info, NULL, &error);
  g_assert_no_error (error);
  g_assert_true (gantry_verify (module, NULL, &error));
  g_assert_no_error (error);
  return module;
}

static GantryModule *
read_fixture (GantryContext *context, const char *name, GantryMindsporeInfo **info)
{
  g_autofree char *path = fixture (name, ".mindir");

  return read_file (context, path, info);
}

/* Values of the given types one behind the other. */
static GantryLiteral *
next_value (const GantryType *type, const char *bytes, gsize size, gsize *at)
{
  gsize n = (gsize) gantry_type_bytes (type);
  g_autoptr (GBytes) part = NULL;
  GantryLiteral *literal;

  g_assert_cmpuint (*at + n, <=, size);
  part = g_bytes_new (bytes + *at, n);
  *at += n;
  literal = gantry_literal_new (type, part, FALSE, NULL);
  g_assert_nonnull (literal);
  return literal;
}

static void
check_file (const char *model, const char *values, RunBackEnd back_end)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GantryModule) module = read_file (context, model, NULL);
  const GantryFunction *entry = gantry_module_entry (module);
  g_autofree char *bytes = NULL;
  g_autoptr (GPtrArray) inputs = g_ptr_array_new_with_free_func ((GDestroyNotify) gantry_literal_unref), results = NULL;
  g_autoptr (GError) error = NULL;
  gsize size, at = 0;

  g_assert_true (g_file_get_contents (values, &bytes, &size, NULL));
  for (guint i = 0; i < entry->n_params; i++)
    g_ptr_array_add (inputs, next_value (gantry_node_type (module, &module->nodes[entry->first_node + i]), bytes, size, &at));
  results = run_case (module, inputs, back_end, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (results->len, ==, entry->n_results);
  for (guint i = 0; i < results->len; i++)
    {
      const GantryLiteral *result = g_ptr_array_index (results, i);
      g_autoptr (GantryLiteral) expected = next_value (result->type, bytes, size, &at);
      g_autofree char *why = NULL;

      if (!run_agree (result, expected, FALSE, 1e-5, &why))
        g_error ("%s: result %u: %s", model, i, why);
    }
  g_assert_cmpuint (at, ==, size);
}

static void
check_values (const char *name, RunBackEnd back_end)
{
  g_autofree char *model = fixture (name, ".mindir"), *values = fixture (name, ".values");

  check_file (model, values, back_end);
}

static void
test_values (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (models); i++)
    check_values (models[i], RUN_CPU);
}

/* Random numbers: the state is an input and the last result. */

static GantryLiteral *
filled (GantryModule *module, guint parameter, guint value)
{
  const GantryFunction *entry = gantry_module_entry (module);
  const GantryType *type = gantry_node_type (module, &module->nodes[entry->first_node + parameter]);
  guint8 *data;
  GantryLiteral *literal = gantry_literal_new_zeroed (type, &data);

  for (gint64 i = 0; i < gantry_type_elements (type); i++)
    if (type->element == GANTRY_F32)
      ((float *) (gpointer) data)[i] = (float) value;
    else
      ((guint64 *) (gpointer) data)[i] = value;
  return literal;
}

static void
check_moments (const GantryLiteral *x, double mean, double variance)
{
  gint64 n = gantry_type_elements (x->type);
  double sum = 0, squares = 0;

  for (gint64 i = 0; i < n; i++)
    {
      double v = gantry_literal_get_double (x, i);

      sum += v;
      squares += (v - mean) * (v - mean);
    }
  /* Six deviations of either; the fourth moment of none of these is more than six times the square of the second. */
  g_assert_cmpfloat (fabs (sum / (double) n - mean), <, 6 * sqrt (variance / (double) n));
  g_assert_cmpfloat (fabs (squares / (double) n - variance), <, 6 * variance * sqrt (6.0 / (double) n));
}

static void
test_random (void)
{
  static const struct
  {
    double mean, variance;
  } moments[] = { { 0, 4 }, { 0.5, 1.0 / 12 }, { 1, 1.0 / 3 }, { 1, 4 }, { 0, 2 } };
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GantryModule) module = read_fixture (context, "random", NULL);
  g_autoptr (GPtrArray) inputs = g_ptr_array_new_with_free_func ((GDestroyNotify) gantry_literal_unref), results = NULL, again = NULL;
  g_autoptr (GError) error = NULL;
  const GantryLiteral *state;

  g_assert_cmpuint (gantry_module_entry (module)->n_params, ==, 2);
  g_ptr_array_add (inputs, filled (module, 0, 1));
  g_ptr_array_add (inputs, filled (module, 1, 7));
  results = run_case (module, inputs, RUN_CPU, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (results->len, ==, G_N_ELEMENTS (moments) + 2);
  for (guint i = 0; i < G_N_ELEMENTS (moments); i++)
    check_moments (g_ptr_array_index (results, i), moments[i].mean, moments[i].variance);
  state = g_ptr_array_index (results, results->len - 1);
  g_assert_true (gantry_literal_get_int (state, 1) != 7);
  g_ptr_array_remove_index (inputs, 1);
  g_ptr_array_add (inputs, gantry_literal_ref ((GantryLiteral *) state));
  again = run_case (module, inputs, RUN_CPU, &error);
  g_assert_no_error (error);
  g_assert_cmpfloat (gantry_literal_get_double (g_ptr_array_index (again, 0), 0), !=, gantry_literal_get_double (g_ptr_array_index (results, 0), 0));
}

/* In a range of more integers than f32 has between 0 and 1 the low bits are drawn too. */
static void
test_random_integers (void)
{
  static const char text[] = "module \"m\" {\n  func @main#1(\n    %1 \"state\": u64[2]) -> (%5, %6) {\n"
                             "    %2 = constant() {value = dense<i32[]: -1073741824>}: i32[]\n"
                             "    %3 = constant() {value = dense<i32[]: 1073741824>}: i32[]\n"
                             "    %4 = \"mindspore.UniformInt\"(%2, %3, %1) {operand_names = [\"minval\", \"maxval\", \"random_state\"], "
                             "shape = [4096], updates = 1}: (i32[4096], u64[2])\n"
                             "    %5 = result(%4) {index = 0}: i32[4096]\n    %6 = result(%4) {index = 1}: u64[2]\n  }\n}\n";
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GPtrArray) inputs = g_ptr_array_new_with_free_func ((GDestroyNotify) gantry_literal_unref), results = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryModule) module = NULL;
  guint counts[64] = { 0 };
  gint64 last = 0, sum = 0;

  gantry_model_add_dialects (context);
  module = gantry_module_from_text (context, text, -1, "m.gir", &error);
  g_assert_no_error (error);
  g_ptr_array_add (inputs, filled (module, 0, 7));
  results = run_case (module, inputs, RUN_CPU, &error);
  g_assert_no_error (error);
  for (gint64 i = 0; i < 4096; i++)
    {
      gint64 x = gantry_literal_get_int (g_ptr_array_index (results, 0), i);

      g_assert_true (x >= -1073741824 && x < 1073741824);
      counts[(x - last) & 63]++;
      last = x;
      sum += x;
    }
  /* 64 expected of each remainder, whose deviation is 8; the mean has one of 9.7e6. */
  for (guint i = 0; i < G_N_ELEMENTS (counts); i++)
    g_assert_cmpuint (counts[i], >, 16);
  g_assert_cmpint (ABS (sum / 4096), <, 58200000);
}

/* What is written again from core operations gives the same values: primitives, regions, weights. */
static void
test_export (void)
{
  g_autofree char *folder = g_dir_make_tmp ("mindir-XXXXXX", NULL), *written = g_build_filename (folder, "m.mindir", NULL);

  for (guint i = 0; i < G_N_ELEMENTS (models); i++)
    {
      g_autofree char *path = fixture (models[i], ".mindir"), *values = fixture (models[i], ".values");
      g_autoptr (GantryContext) context = gantry_context_new ();
      g_autoptr (GError) error = NULL;
      gboolean draws;
      guint n_assigned;
      g_autoptr (GantryModule) module = gantry_module_load (context, path, NULL, &draws, &n_assigned, &error);

      g_assert_no_error (error);
      g_assert_true (gantry_module_export (module, written, NULL, NULL, &error));
      g_assert_no_error (error);
      check_file (written, values, RUN_CPU);
    }
  g_unlink (written);
  g_rmdir (folder);
}

/* What MindSpore has no primitive for is refused with its place, and nothing is written. */
static void
test_export_refused (void)
{
  g_autofree char *folder = g_dir_make_tmp ("mindir-XXXXXX", NULL), *path = g_build_filename (folder, "m.mindir", NULL);
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GantryBuilder) b = gantry_builder_new (context, "m");
  g_autoptr (GantryModule) module = NULL;
  g_autoptr (GError) error = NULL;
  guint32 x, y;

  gantry_builder_begin (b, "main", 0);
  x = gantry_builder_parameter (b, gantry_context_scalar (context, GANTRY_I32), "x");
  y = gantry_builder_binary (b, GANTRY_OP_SHIFT_LEFT, x, x);
  gantry_builder_end (b, &y, 1);
  module = gantry_builder_finish (b, &error);
  g_assert_no_error (error);
  g_assert_false (gantry_module_export (module, path, NULL, NULL, &error));
  g_assert_error (error, GANTRY_ERROR, GANTRY_ERROR_UNSUPPORTED);
  g_assert_nonnull (strstr (error->message, "shift_left"));
  g_assert_false (g_file_test (path, G_FILE_TEST_EXISTS));
  g_rmdir (folder);
}

static const GantryNode *
find_node (const GantryModule *module, const char *op, guint which)
{
  for (guint32 i = 0; i < module->n_nodes; i++)
    if (strcmp (gantry_node_op_name (module, &module->nodes[i]), op) == 0 && which-- == 0)
      return &module->nodes[i];
  g_error ("no such node: %s", op);
}

static void
test_names (void)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GantryMindsporeInfo) info = NULL;
  g_autoptr (GantryModule) module = read_fixture (context, "network", &info);
  const GantryNode *norm = find_node (module, "mindspore.BatchNorm", 0), *conv = find_node (module, "mindspore.Conv2D", 0);
  const GantryNode *weight = gantry_node_operand (module, conv, 1);
  g_autofree char *label = gantry_node_label (module, weight), *place = gantry_context_location_text (context, conv->location);
  g_autofree char *path = fixture ("network", ".mindir"), *bytes = NULL;
  GantryLiteral *literal = gantry_context_literal (context, gantry_attrs_find (context, weight->attrs, "value")->id);
  gsize size;

  g_assert_cmpstr (gantry_context_scope_path (context, norm->scope), ==, "norm");
  g_assert_cmpstr (label, ==, "conv.weight");
  g_assert_nonnull (strstr (place, "network.mindir: node "));
  g_assert_cmpstr (gantry_attrs_string (context, weight->attrs, "role", ""), ==, "");
  g_assert_cmpstr (gantry_attrs_string (context, gantry_node_operand (module, norm, 3)->attrs, "role", ""), ==, "buffer");
  g_assert_cmpstr (gantry_attrs_string (context, conv->attrs, "pad_mode", ""), ==, "same");
  g_assert_true (g_file_get_contents (path, &bytes, &size, NULL));
  g_assert_true (literal->mapped);
  g_assert_cmpstr (literal->source_path, ==, path);
  g_assert_cmpmem (literal->data, literal->size, bytes + literal->source_offset, literal->size);
  g_assert_cmpuint (info->unknown->len, ==, 0);
  g_assert_cmpstr (info->producer, ==, "MindSpore 2.7.0");
  g_assert_cmpuint (info->n_weights, ==, 13);
  /* Of a normalization's results only those that somebody takes are nodes. */
  g_assert_cmpuint (gantry_context_type (context, norm->type)->rank, ==, 5);
  for (guint32 i = 0, n = 0; i < module->n_nodes; i++)
    if (module->nodes[i].op == GANTRY_OP_RESULT && gantry_node_operand (module, &module->nodes[i], 0) == norm)
      g_assert_cmpuint (++n, ==, 1);
}

/* What the body hands on as it is, is no carry; a break makes the loop carry whether it was left, and what it gave. */
static void
test_control (void)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GantryModule) module = read_fixture (context, "control", NULL);
  guint n_loops = 0, n_branches = 0;

  for (guint32 i = 0; i < module->n_nodes; i++)
    {
      const GantryNode *node = &module->nodes[i];

      n_loops += node->op == GANTRY_OP_WHILE;
      n_branches += node->op == GANTRY_OP_IF;
      if (node->op == GANTRY_OP_WHILE)
        g_assert_cmpint (gantry_attrs_int (context, node->attrs, "n_carries", 0), <, node->n_operands);
      if (node->op >= GANTRY_OP_FOREIGN)
        {
          g_assert_cmpstr (gantry_node_op_name (module, node), !=, "mindspore.call");
          g_assert_cmpstr (gantry_node_op_name (module, node), !=, "mindspore.switch");
        }
    }
  g_assert_cmpuint (n_loops, ==, 2);
  g_assert_cmpuint (n_branches, >=, 3);
}

/* Models made here */

#define WIRE(name) g_autoptr (GByteArray) name = g_byte_array_new ()

static GByteArray *
tensor (guint data_type, const char *name, gconstpointer data, gsize length, guint n_dims, ...)
{
  GByteArray *message = g_byte_array_new ();
  va_list dims;

  va_start (dims, n_dims);
  for (guint i = 0; i < n_dims; i++)
    gantry_wire_put_int (message, 1, (guint64) va_arg (dims, gint64));
  va_end (dims);
  gantry_wire_put_int (message, 2, data_type);
  if (name != NULL)
    gantry_wire_put_string (message, 7, name);
  if (data != NULL)
    gantry_wire_put_bytes (message, 9, data, length);
  return message;
}

/* An attribute as versions before 2.0 write it. */
static GByteArray *
formed (const char *name, const char *form, guint type)
{
  GByteArray *message = g_byte_array_new ();

  gantry_wire_put_string (message, 1, name);
  gantry_wire_put_string (message, 15, form);
  gantry_wire_put_int (message, 16, type);
  return message;
}

static GByteArray *
node (const char *output, const char *operation, const char *const *inputs)
{
  GByteArray *message = g_byte_array_new ();

  for (guint i = 0; inputs[i] != NULL; i++)
    gantry_wire_put_string (message, 1, inputs[i]);
  gantry_wire_put_string (message, 2, output);
  gantry_wire_put_string (message, 4, operation);
  return message;
}

static GByteArray *
value_info (const char *name, GByteArray *type)
{
  GByteArray *message = g_byte_array_new ();

  gantry_wire_put_string (message, 1, name);
  if (type != NULL)
    gantry_wire_put_message (message, 2, type);
  return message;
}

/* graph (x: f32[2, 3]) with @nodes, that gives @output. */
static GBytes *
model (GByteArray *nodes, GByteArray *parameters, const char *output)
{
  GByteArray *graph = g_byte_array_new (), *whole = g_byte_array_new ();

  g_byte_array_append (graph, nodes->data, nodes->len);
  gantry_wire_put_string (graph, 2, "main");
  if (parameters != NULL)
    g_byte_array_append (graph, parameters->data, parameters->len);
  gantry_wire_put_message (graph, 5, value_info ("main:x", tensor (1, NULL, NULL, 0, 2, (gint64) 2, (gint64) 3)));
  gantry_wire_put_message (graph, 6, value_info (output, NULL));
  gantry_wire_put_string (whole, 2, "MindSpore");
  gantry_wire_put_string (whole, 5, "1.9.0");
  gantry_wire_put_message (whole, 7, graph);
  return g_byte_array_free_to_bytes (whole);
}

static GantryModule *
read_model (GantryContext *context, GBytes *bytes, const GantryMindsporeOptions *options, GError **error)
{
  GantryModule *module = gantry_mindspore_import_bytes (context, bytes, "m.mindir", options, NULL, NULL, error);

  g_assert_true (module == NULL || gantry_verify (module, NULL, NULL));
  return module;
}

/* Primitives by name, their attributes at the node; a tuple as a form with a list of numbers. */
static void
test_older (void)
{
  const char *const none[] = { NULL }, *const reduced[] = { "main:x", "axes", NULL };
  g_autoptr (GantryContext) context = gantry_context_new ();
  GByteArray *constant = node ("axes", "Constant", none), *sum = node ("main:sum:1", "ReduceSum", reduced), *attr;
  WIRE (nodes);
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) bytes = NULL;
  g_autoptr (GantryModule) module = NULL;
  g_autoptr (GPtrArray) results = NULL, inputs = g_ptr_array_new_with_free_func ((GDestroyNotify) gantry_literal_unref);
  guint8 *data;
  gsize n = 0;
  const GantryNode *found;

  attr = formed ("value", "scalar:Tuple[value1,value2,]", 7);
  gantry_wire_put_int (attr, 10, 0);
  gantry_wire_put_int (attr, 10, (guint64) -1);
  gantry_wire_put_message (constant, 5, attr);
  attr = formed ("keep_dims", "scalar:value0", 9);
  gantry_wire_put_int (attr, 3, 1);
  gantry_wire_put_message (sum, 5, attr);
  attr = formed ("shape", "shape:shape0", 0);
  gantry_wire_put_message (attr, 12, tensor (1, "shape0", NULL, 0, 2, (gint64) 1, (gint64) 1));
  gantry_wire_put_message (sum, 5, attr);
  gantry_wire_put_message (nodes, 1, constant);
  gantry_wire_put_message (nodes, 1, sum);
  bytes = model (nodes, NULL, "main:sum:1");
  module = read_model (context, bytes, NULL, &error);
  g_assert_no_error (error);
  found = find_node (module, "mindspore.ReduceSum", 0);
  g_assert_cmpint (gantry_attrs_ints (context, found->attrs, "axis", &n)[1], ==, -1);
  g_assert_cmpuint (n, ==, 2);
  g_ptr_array_add (inputs, gantry_literal_new_zeroed (gantry_node_type (module, module->nodes), &data));
  for (guint i = 0; i < 6; i++)
    ((float *) (gpointer) data)[i] = (float) i;
  results = run_case (module, inputs, RUN_CPU, &error);
  g_assert_no_error (error);
  g_assert_cmpfloat (gantry_literal_get_double (g_ptr_array_index (results, 0), 0), ==, 15);
}

/* An unknown primitive is drawn with its operands, and compiling is refused by its name. */
static void
test_unknown (void)
{
  const char *const inputs[] = { "main:x", "main:x", NULL };
  GByteArray *strange = node ("main:y:1", "Frobnicate", inputs);
  WIRE (nodes);
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) bytes = NULL;
  g_autofree char *folder = g_dir_make_tmp ("mindir-XXXXXX", NULL), *path = g_build_filename (folder, "m.mindir", NULL);
  g_autoptr (GantryModel) opened = NULL;
  g_autoptr (GantryCompilation) compilation = NULL;
  g_auto (GantryCompileSettings) settings;

  gantry_wire_put_message (nodes, 1, strange);
  bytes = model (nodes, NULL, "main:y:1");
  g_assert_true (g_file_set_contents (path, g_bytes_get_data (bytes, NULL), (gssize) g_bytes_get_size (bytes), NULL));
  opened = gantry_model_open (path, NULL, -1, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (opened->format, ==, "MindIR");
  g_assert_cmpuint (find_node (opened->module, "mindspore.Frobnicate", 0)->n_operands, ==, 2);
  g_assert_cmpstr (opened->unsupported[0].operation, ==, "mindspore.Frobnicate");
  gantry_compile_settings_init (&settings);
  compilation = gantry_compile (opened, &settings, NULL, &error);
  g_assert_no_error (error);
  g_assert_nonnull (strstr (compilation->refusal->message, "mindspore.Frobnicate: no lowering"));
  g_unlink (path);
  g_rmdir (folder);
}

/* Compiles the text of a module. @message: (nullable): what the refusal says; NULL where there is none */
static void
check_refusal (const char *text, const char *message)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *folder = g_dir_make_tmp ("mindir-XXXXXX", NULL), *path = g_build_filename (folder, "m.gir", NULL);
  g_autoptr (GantryModel) opened = NULL;
  g_autoptr (GantryCompilation) compilation = NULL;
  g_auto (GantryCompileSettings) settings;

  g_assert_true (g_file_set_contents (path, text, -1, NULL));
  opened = gantry_model_open (path, NULL, -1, NULL, &error);
  g_assert_no_error (error);
  gantry_compile_settings_init (&settings);
  compilation = gantry_compile (opened, &settings, NULL, &error);
  g_assert_no_error (error);
  if (message == NULL)
    g_assert_no_error (compilation->refusal);
  else if (compilation->refusal == NULL || strstr (compilation->refusal->message, message) == NULL)
    g_error ("'%s' does not say '%s': %s", compilation->refusal != NULL ? compilation->refusal->message : "", message, text);
  g_unlink (path);
  g_rmdir (folder);
}

/* A mode of padding that MindSpore has not, and padding that no window could have, are refused; they are not taken for no padding. */
static void
test_padding (void)
{
  static const struct
  {
    const char *attributes, *message;
  } cases[] = {
    { "kernel_size = [2, 2], pad_mode = \"VALID\", strides = [2, 2]", NULL },
    { "kernel_size = [2, 2], pad_mode = 2, strides = [2, 2]", NULL },
    { "kernel_size = [2, 2], pad_mode = \"smae\", strides = [2, 2]", "its pad_mode is 'smae': it is pad, same or valid" },
    { "kernel_size = [2, 2], pad_mode = 7, strides = [2, 2]", "its pad_mode is 7" },
    { "kernel_size = [2, 2], pad_list = [0, -1, 0, 0], pad_mode = \"pad\", strides = [2, 2]", "its padding does not fit 2 dimensions" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *text = g_strdup_printf ("module \"m\" {\n  func @main#1(\n    %%1 \"x\": f32[1,2,8,8]) -> (%%2) {\n"
                                               "    %%2 = \"mindspore.MaxPool\"(%%1) {%s, operand_names = [\"x\"]}: f32[1,2,4,4]\n  }\n}\n",
                                               cases[i].attributes);

      check_refusal (text, cases[i].message);
    }
}

/* What a primitive writes over is among its results, whatever the text says of how many there are. */
static void
test_results_missing (void)
{
  static const struct
  {
    const char *node, *message;
  } cases[] = {
    { "\"mindspore.SGD\"(%1, %1, %1, %1, %1, %1) {operand_names = [\"parameters\", \"gradient\", \"learning_rate\", \"accum\", \"momentum\", "
      "\"stat\"], updates = 3}: f32[4]",
      "it writes over 3 values and has 1 results" },
    { "\"mindspore.SGD\"(%1, %1, %1, %1, %1, %1) {operand_names = [\"parameters\", \"gradient\", \"learning_rate\", \"accum\", \"momentum\", "
      "\"stat\"]}: f32[4]",
      "what it writes over is no parameter of the model" },
    { "\"mindspore.Dropout\"(%1, %2) {keep_prob = 0.5, operand_names = [\"x\", \"random_state\"]}: f32[4]", "the state that it draws from is no result of it" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *text = g_strdup_printf ("module \"m\" {\n  func @main#1(\n    %%1 \"x\": f32[4],\n    %%2 \"s\": u64[2]) -> (%%3) {\n"
                                               "    %%3 = %s\n  }\n}\n",
                                               cases[i].node);

      check_refusal (text, cases[i].message);
    }
}

/* An attribute of a file that is called as one of the import's own is not taken for it. */
static void
test_attributes_of_import (void)
{
  const char *const inputs[] = { "main:x", "main:x", "main:x", "main:x", "main:x", "main:x", NULL };
  GByteArray *step = node ("main:y:1", "SGD", inputs), *attr = formed ("updates", "scalar:value0", 9);
  WIRE (nodes);
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) bytes = NULL;
  g_autoptr (GantryModule) module = NULL;

  gantry_wire_put_int (attr, 3, 3);
  gantry_wire_put_message (step, 5, attr);
  gantry_wire_put_message (nodes, 1, step);
  bytes = model (nodes, NULL, "main:y:1");
  module = read_model (context, bytes, NULL, &error);
  g_assert_no_error (error);
  g_assert_null (gantry_attrs_find (context, find_node (module, "mindspore.SGD", 0)->attrs, "updates"));
}

/* Weights in a file beside the model; outside of its folder only with leave. */
static void
test_external (void)
{
  static const float values[] = { 0, 1, 2, 3 };
  const char *const inputs[] = { "main:x", "main:w", NULL };
  g_autofree char *folder = g_dir_make_tmp ("mindir-XXXXXX", NULL), *path = g_build_filename (folder, "m.mindir", NULL);
  g_autofree char *data = g_build_filename (folder, "w.data", NULL);
  g_autofree char *outside = fixture ("network", ".mindir");
  const struct
  {
    const char *location;
    gint64 offset;
    const char *message;
  } cases[] = {
    { "w.data", 4, NULL },
    { "w.data", 8, "lie outside of" },
    { outside, 4, "outside" },
  };

  g_assert_true (g_file_set_contents (data, (const char *) values, sizeof values, NULL));
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GantryContext) context = gantry_context_new ();
      GByteArray *weight = tensor (1, "main:w", NULL, 0, 1, (gint64) 3), *external = g_byte_array_new ();
      WIRE (nodes);
      WIRE (parameters);
      g_autoptr (GBytes) bytes = NULL;
      g_autoptr (GError) error = NULL;
      g_autoptr (GantryMindsporeInfo) info = NULL;
      g_autoptr (GantryModule) module = NULL;

      gantry_wire_put_string (external, 1, cases[i].location);
      gantry_wire_put_int (external, 2, (guint64) cases[i].offset);
      gantry_wire_put_int (external, 3, 12);
      gantry_wire_put_message (weight, 12, external);
      gantry_wire_put_message (parameters, 3, weight);
      gantry_wire_put_message (nodes, 1, node ("main:y:1", "Add", inputs));
      bytes = model (nodes, parameters, "main:y:1");
      g_assert_true (g_file_set_contents (path, g_bytes_get_data (bytes, NULL), (gssize) g_bytes_get_size (bytes), NULL));
      module = gantry_mindspore_import (context, path, NULL, &info, NULL, &error);
      if (cases[i].message != NULL)
        {
          g_assert_null (module);
          if (strstr (error->message, cases[i].message) == NULL)
            g_error ("'%s' does not say '%s'", error->message, cases[i].message);
          continue;
        }
      g_assert_no_error (error);
      g_assert_cmpuint (info->files->len, ==, 1);
      g_assert_cmpfloat (gantry_literal_get_double (gantry_node_literal (module, find_node (module, "constant", 0)), 0), ==, 1);
    }
  g_unlink (path);
  g_unlink (data);
  g_rmdir (folder);
}

/* An open dimension has a name, and is bound by it or by input and axis. */
static void
test_sizes (void)
{
  static const GantryMindsporeDim by_symbol = { "x_0", 5 }, by_axis = { "x:0", 5 };
  const GantryMindsporeDim *const dims[] = { NULL, &by_symbol, &by_axis };
  static const char *const texts[] = { "f32[x_0,3]", "f32[5,3]", "f32[5,3]" };
  const char *const inputs[] = { "main:x", NULL };
  WIRE (nodes);

  gantry_wire_put_message (nodes, 1, node ("main:y:1", "ReLU", inputs));
  for (guint i = 0; i < G_N_ELEMENTS (dims); i++)
    {
      GantryMindsporeOptions options = { .dims = dims[i], .n_dims = dims[i] != NULL };
      g_autoptr (GantryContext) context = gantry_context_new ();
      GByteArray *graph = g_byte_array_new (), *whole = g_byte_array_new ();
      g_autoptr (GError) error = NULL;
      g_autoptr (GBytes) open = NULL;
      g_autoptr (GantryModule) module = NULL;
      g_autofree char *text = NULL;

      g_byte_array_append (graph, nodes->data, nodes->len);
      gantry_wire_put_message (graph, 5, value_info ("main:x", tensor (1, NULL, NULL, 0, 2, (gint64) -1, (gint64) 3)));
      gantry_wire_put_message (graph, 6, value_info ("main:y:1", NULL));
      gantry_wire_put_message (whole, 7, graph);
      open = g_byte_array_free_to_bytes (whole);
      module = read_model (context, open, &options, &error);
      g_assert_no_error (error);
      text = gantry_context_type_text (context, module->nodes[0].type);
      g_assert_cmpstr (text, ==, texts[i]);
    }
}

static void
test_refused (void)
{
  const char *const x[] = { "main:x", NULL }, *const missing[] = { "main:z", NULL }, *const none[] = { NULL };
  const struct
  {
    GByteArray *node;
    const char *output, *message;
  } cases[] = {
    { node ("main:y:1", "ReLU", missing), "main:y:1", "node 1 'y': 'main:z' is given by no node before" },
    { node ("main:y:1", "ReLU", x), "main:z", "output 'main:z' is given by no node" },
    { node ("main:y:1", "Constant", none), "main:y:1", "a constant has no value" },
    { node ("main:y:1", "UpdateState", x), "main:y:1", "no output that is a tensor" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GantryContext) context = gantry_context_new ();
      WIRE (nodes);
      g_autoptr (GBytes) bytes = NULL;
      g_autoptr (GError) error = NULL;

      gantry_wire_put_message (nodes, 1, cases[i].node);
      bytes = model (nodes, NULL, cases[i].output);
      g_assert_null (read_model (context, bytes, NULL, &error));
      g_assert_true (g_str_has_prefix (error->message, "m.mindir: "));
      if (strstr (error->message, cases[i].message) == NULL)
        g_error ("case %u: '%s' does not say '%s'", i, error->message, cases[i].message);
    }
}

/* Tuples of tuples, which would take a stack or a memory without end. */
static void
test_limits (void)
{
  static const char *const messages[] = { "nested more than 32 deep", "nested more than 32 deep" };

  for (guint pass = 0; pass < 2; pass++)
    {
      g_autoptr (GantryContext) context = gantry_context_new ();
      WIRE (nodes);
      g_autoptr (GBytes) bytes = NULL;
      g_autoptr (GError) error = NULL;

      for (guint i = 0; i < 40; i++)
        {
          g_autofree char *before = g_strdup_printf ("main:t%u", i), *name = g_strdup_printf ("main:t%u", i + 1);
          const char *const inputs[] = { i > 0 ? before : "main:x", pass == 0 ? NULL : i > 0 ? before : "main:x", NULL };

          gantry_wire_put_message (nodes, 1, node (name, "MakeTuple", inputs));
        }
      bytes = model (nodes, NULL, "main:t40");
      g_assert_null (read_model (context, bytes, NULL, &error));
      g_assert_error (error, GANTRY_ERROR, GANTRY_ERROR_TOO_LARGE);
      g_assert_nonnull (strstr (error->message, messages[pass]));
    }
}

/* A text of save_graphs: types, operands, Cells and source lines as it has them; a branch is one. */
static void
test_text (void)
{
  g_autofree char *path = fixture ("validate", ".ir"), *place = NULL, *type = NULL;
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GantryModule) module = read_file (context, path, NULL);
  const GantryNode *product = find_node (module, "mindspore.MatMul", 0), *branch = find_node (module, "if", 0);

  place = gantry_context_location_text (context, product->location);
  type = gantry_context_type_text (context, product->type);
  g_assert_cmpstr (type, ==, "f32[2,4]");
  g_assert_cmpstr (place, ==, "/net.py:8");
  g_assert_cmpstr (gantry_context_scope_path (context, product->scope), ==, "fc");
  g_assert_cmpint (gantry_attrs_int (context, product->attrs, "transpose_b", 0), ==, 1);
  g_assert_cmpuint (gantry_module_entry (module)->n_params, ==, 3);
  g_assert_nonnull (branch);
  g_assert_nonnull (find_node (module, "mindspore.Muls", 0));
}

static void
damage (const char *name, const char *ending)
{
  g_autofree char *path = fixture (name, ending), *text = NULL, *called = g_strconcat ("m", ending, NULL);
  gsize size;

  g_assert_true (g_file_get_contents (path, &text, &size, NULL));
  for (gsize i = 0; i < size; i += 97)
    for (guint pass = 0; pass < 2; pass++)
      {
        g_autoptr (GantryContext) context = gantry_context_new ();
        g_autofree char *copy = g_memdup2 (text, size);
        g_autoptr (GBytes) bytes = NULL;
        g_autoptr (GError) error = NULL;
        g_autoptr (GantryModule) module = NULL;

        copy[i] = (char) (copy[i] ^ 0x15);
        bytes = pass == 0 ? g_bytes_new (text, i) : g_bytes_new (copy, size);
        module = gantry_mindspore_import_bytes (context, bytes, called, NULL, NULL, NULL, &error);
        g_assert_true ((module == NULL) == (error != NULL));
        g_assert_true (pass == 1 || module == NULL || strcmp (ending, ".ir") == 0);
      }
}

/* Whatever of a file is there, or was changed: reading it ends. */
static void
test_damaged (void)
{
  damage ("control", ".mindir");
  damage ("validate", ".ir");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/mindir/values", test_values);
  g_test_add_func ("/mindir/random", test_random);
  g_test_add_func ("/mindir/random-integers", test_random_integers);
  g_test_add_func ("/mindir/export", test_export);
  g_test_add_func ("/mindir/export-refused", test_export_refused);
  g_test_add_func ("/mindir/names", test_names);
  g_test_add_func ("/mindir/control", test_control);
  g_test_add_func ("/mindir/older", test_older);
  g_test_add_func ("/mindir/unknown", test_unknown);
  g_test_add_func ("/mindir/external", test_external);
  g_test_add_func ("/mindir/sizes", test_sizes);
  g_test_add_func ("/mindir/padding", test_padding);
  g_test_add_func ("/mindir/results-missing", test_results_missing);
  g_test_add_func ("/mindir/attributes-of-import", test_attributes_of_import);
  g_test_add_func ("/mindir/refused", test_refused);
  g_test_add_func ("/mindir/limits", test_limits);
  g_test_add_func ("/mindir/text", test_text);
  g_test_add_func ("/mindir/damaged", test_damaged);
  return g_test_run ();
}
