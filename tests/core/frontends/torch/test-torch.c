/* SPDX-License-Identifier: Apache-2.0 */
/* torch.export archives: the program of tests/fixtures/torch computes what torch computed, names and places are kept, weights
 * are mapped, sizes are bound, and archives that are spoilt or hold what is not read end in an error that says so. */
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/compiler/compiler.h"
#include "core/eval/evaluator.h"
#include "core/frontends/torch/torch.h"
#include "core/graph/graph.h"
#include "core/graph/text.h"
#include "core/passes/passes.h"
#include "tests/core/frontends/torch/zip-writer.h"
#include "tests/core/frontends/xla/run-case.h"
#include <glib/gstdio.h>
#include <string.h>

static char *
fixture (const char *name)
{
  return g_build_filename (g_getenv ("GANTRY_SOURCE_ROOT"), "tests", "fixtures", "torch", name, NULL);
}

static GantryModule *
read_fixture (GantryContext *context, const char *name, const GantryTorchOptions *options, GantryTorchInfo **info)
{
  g_autofree char *path = fixture (name);
  g_autoptr (GError) error = NULL;
  GantryModule *module;

  g_assert_true (gantry_torch_reads (path));
  module = gantry_torch_import (context, path, options, info, NULL, &error);
  g_assert_no_error (error);
  g_assert_true (gantry_verify (module, NULL, &error));
  g_assert_no_error (error);
  return module;
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

/* What the module means, without code. */
static GPtrArray *
evaluate (GantryModule *module, const GPtrArray *inputs, GError **error)
{
  g_autoptr (GantryModule) core = gantry_pass_legalize.run (module, NULL, NULL, error);
  g_autoptr (GPtrArray) results = g_ptr_array_new_with_free_func ((GDestroyNotify) gantry_literal_unref);

  if (core == NULL)
    return NULL;
  g_ptr_array_set_size (results, (gint) gantry_module_entry (core)->n_results);
  return gantry_evaluate (core, gantry_module_entry (core), (GantryLiteral *const *) inputs->pdata, (GantryLiteral **) results->pdata, NULL, error)
           ? g_steal_pointer (&results)
           : NULL;
}

/* Results and inputs of the archive @name are those of the file beside it. @back_end: RUN_N_BACK_ENDS for the evaluator */
static void
check_values (const char *name, RunBackEnd back_end)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autofree char *archive = g_strconcat (name, ".pt2", NULL), *values = g_strconcat (name, ".values", NULL);
  g_autoptr (GantryModule) module = read_fixture (context, archive, NULL, NULL);
  const GantryFunction *entry = gantry_module_entry (module);
  g_autofree char *path = fixture (values), *bytes = NULL;
  g_autoptr (GPtrArray) inputs = g_ptr_array_new_with_free_func ((GDestroyNotify) gantry_literal_unref), results = NULL;
  g_autoptr (GError) error = NULL;
  gsize size, at = 0;

  g_assert_true (g_file_get_contents (path, &bytes, &size, NULL));
  for (guint i = 0; i < entry->n_params; i++)
    g_ptr_array_add (inputs, next_value (gantry_node_type (module, &module->nodes[entry->first_node + i]), bytes, size, &at));
  results = back_end < RUN_N_BACK_ENDS ? run_case (module, inputs, back_end, &error) : evaluate (module, inputs, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (results->len, ==, entry->n_results);
  for (guint i = 0; i < results->len; i++)
    {
      const GantryLiteral *result = g_ptr_array_index (results, i);
      g_autoptr (GantryLiteral) expected = next_value (result->type, bytes, size, &at);
      g_autofree char *why = NULL;

      if (!run_agree (result, expected, FALSE, 1e-5, &why))
        g_error ("result %u: %s", i, why);
    }
  g_assert_cmpuint (at, ==, size);
}

static void
test_values (gconstpointer data)
{
  check_values ("small", (RunBackEnd) GPOINTER_TO_UINT (data));
}

/* Most rules, and what they say of infinities, of what is no number, of quotients that are rounded. */
static void
test_programs (void)
{
  check_values ("programs", RUN_N_BACK_ENDS);
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
  g_autoptr (GantryTorchInfo) info = NULL;
  g_autoptr (GantryModule) module = read_fixture (context, "small.pt2", NULL, &info);
  const GantryNode *norm = find_node (module, "aten.batch_norm.default", 0), *conv = find_node (module, "aten.conv2d.default", 0);
  const GantryNode *weight = gantry_node_operand (module, conv, 1);
  g_autofree char *label = gantry_node_label (module, weight), *place = gantry_context_location_text (context, conv->location);
  g_autofree char *path = fixture ("small.pt2"), *bytes = NULL;
  GantryLiteral *literal = gantry_context_literal (context, gantry_attrs_find (context, weight->attrs, "value")->id);
  guint constants = 0;
  gsize size;

  g_assert_cmpstr (gantry_context_scope_path (context, norm->scope), ==, "norm");
  g_assert_cmpstr (label, ==, "conv.weight");
  /* What is not trained says so. */
  g_assert_cmpstr (gantry_attrs_string (context, weight->attrs, "role", ""), ==, "");
  g_assert_cmpstr (gantry_attrs_string (context, gantry_node_operand (module, norm, 3)->attrs, "role", ""), ==, "buffer");
  g_assert_true (g_str_has_prefix (place, "/make.py:"));
  g_assert_true (g_file_get_contents (path, &bytes, &size, NULL));
  g_assert_true (literal->mapped);
  g_assert_cmpstr (literal->source_path, ==, path);
  g_assert_cmpmem (literal->data, literal->size, bytes + literal->source_offset, literal->size);
  g_assert_cmpuint (info->unknown->len, ==, 0);
  g_assert_cmpuint (info->n_weights, ==, 13);
  g_assert_true (g_str_has_prefix (info->producer, "torch 2."));
  /* The head's weight is the table's: one tensor, not two. What only training counts is not there. */
  for (guint32 i = 0; i < module->n_nodes; i++)
    constants += module->nodes[i].op == GANTRY_OP_CONSTANT;
  g_assert_cmpuint (constants, ==, 11);
}

static void
test_sizes (void)
{
  static const GantryTorchDim by_symbol = { "s77", 5 }, by_axis = { "x:0", 5 };
  const GantryTorchDim *const dims[] = { NULL, &by_symbol, &by_axis };
  static const char *const results[] = { "f32[?]", "f32[20]", "f32[20]" }, *const inputs[] = { "f32[s77,4]", "f32[5,4]", "f32[5,4]" };

  for (guint i = 0; i < G_N_ELEMENTS (dims); i++)
    {
      g_autoptr (GantryContext) context = gantry_context_new ();
      GantryTorchOptions options = { .dims = dims[i], .n_dims = dims[i] != NULL };
      g_autoptr (GantryTorchInfo) info = NULL;
      g_autoptr (GantryModule) module = read_fixture (context, "dynamic.pt2", &options, &info);
      const GantryFunction *entry = gantry_module_entry (module);
      guint32 result = gantry_module_node (module, gantry_function_result_id (module, entry, 0))->type;
      g_autofree char *text = gantry_context_type_text (context, result);
      g_autofree char *input = gantry_context_type_text (context, module->nodes[entry->first_node].type);

      g_assert_cmpstr (text, ==, results[i]);
      g_assert_cmpstr (input, ==, inputs[i]);
      g_assert_cmpuint (info->unbound->len, ==, i == 0);
    }
}

/* Refusing the unbound size by name. */
static void
test_unbound (void)
{
  g_autofree char *path = fixture ("dynamic.pt2");
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryModel) model = gantry_model_open (path, NULL, -1, NULL, &error);
  g_autoptr (GantryCompilation) compilation = NULL;
  g_auto (GantryCompileSettings) settings;

  g_assert_no_error (error);
  gantry_compile_settings_init (&settings);
  compilation = gantry_compile (model, &settings, NULL, &error);
  g_assert_no_error (error);
  g_assert_nonnull (compilation->refusal);
  g_assert_cmpstr (compilation->refusal->message, ==, "the size of s77 is not given: set the size of it");
}

/* Archives of one program */

#define META(sizes, strides) "{\"dtype\": 7, \"sizes\": [" sizes "], \"strides\": [" strides "], \"storage_offset\": {\"as_int\": 0}, \"layout\": 7}"
#define SIZE(n) "{\"as_int\": " #n "}"
#define MODEL(nodes, output) \
  "{\"schema_version\": {\"major\": 8}, \"graph_module\": {\"graph\": {\"inputs\": [], \"outputs\": [], \"nodes\": [" nodes "]," \
  "\"tensor_values\": {\"x\": " META (SIZE (4), SIZE (1)) ", \"w\": " META (SIZE (4), SIZE (1)) ", \"y\": " META ( \
    SIZE (4), SIZE (1)) "}}, \"signature\": {\"input_specs\": [{\"user_input\": {\"arg\": {\"as_tensor\": {\"name\": \"x\"}}}}," \
                        "{\"parameter\": {\"arg\": {\"name\": \"w\"}, \"parameter_name\": \"weight\"}}], \"output_specs\": [{\"user_output\": {\"arg\": " \
                        "{\"as_tensor\": {\"name\": \"" output "\"}}}}]}}}"
#define NODE(target) \
  "{\"target\": \"" target "\", \"inputs\": [{\"name\": \"self\", \"arg\": {\"as_tensor\": {\"name\": \"x\"}}}," \
  "{\"name\": \"other\", \"arg\": {\"as_tensor\": {\"name\": \"w\"}}}], \"outputs\": [{\"as_tensor\": {\"name\": \"y\"}}]," \
  "\"metadata\": {}, \"name\": \"y\"}"
/* With a number for an argument that the rule of no operation knows, or that says nothing. */
#define NODE_WITH(target, argument) \
  "{\"target\": \"" target "\", \"inputs\": [{\"name\": \"self\", \"arg\": {\"as_tensor\": {\"name\": \"x\"}}}," \
  "{\"name\": \"" argument "\", \"arg\": {\"as_int\": 3}}], \"outputs\": [{\"as_tensor\": {\"name\": \"y\"}}]," \
  "\"metadata\": {}, \"name\": \"y\"}"
#define WEIGHTS(path, extra, meta) "{\"config\": {\"weight\": {\"path_name\": \"" path "\"" extra ", \"tensor_meta\": " meta "}}}"
#define PLAIN WEIGHTS ("weight_0", "", META (SIZE (4), SIZE (1)))
#define ADD NODE ("torch.ops.aten.add.Tensor")
#define MODEL_NAME "m/models/model.json"
#define CONFIG_NAME "m/data/weights/model_weights_config.json"
#define WEIGHT_NAME "m/data/weights/weight_0"
#define BYTES "0123456789abcdef"

static GantryModule *
read_archive (GantryContext *context, const ZipEntry *entries, guint n, gboolean zip64, GantryTorchInfo **info, GError **error)
{
  g_autoptr (GBytes) bytes = zip_write (entries, n, zip64);

  return gantry_torch_import_bytes (context, bytes, "m.pt2", NULL, info, NULL, error);
}

static void
test_sound (void)
{
  const ZipEntry entries[] = { { MODEL_NAME, MODEL (ADD, "y") }, { CONFIG_NAME, PLAIN }, { WEIGHT_NAME, BYTES } };

  for (guint zip64 = 0; zip64 < 2; zip64++)
    {
      g_autoptr (GantryContext) context = gantry_context_new ();
      g_autoptr (GError) error = NULL;
      g_autoptr (GantryModule) module = read_archive (context, entries, G_N_ELEMENTS (entries), zip64, NULL, &error);

      g_assert_no_error (error);
      g_assert_cmpuint (module->n_nodes, ==, 3);
    }
}

/* The message that compiling is refused with. Returns: (transfer full) */
static char *
refusal_of (GantryModule *module)
{
  g_autoptr (GantryModel) model = gantry_model_new (module, "m.pt2");
  g_autoptr (GantryCompilation) compilation = NULL;
  g_autoptr (GError) error = NULL;
  g_auto (GantryCompileSettings) settings;

  gantry_compile_settings_init (&settings);
  compilation = gantry_compile (model, &settings, NULL, &error);
  g_assert_no_error (error);
  g_assert_nonnull (compilation->refusal);
  return g_strdup (compilation->refusal->message);
}

/* A number that data give is not taken for the default. */
static void
test_open_number (void)
{
  static const char node[] = "{\"target\": \"torch.ops.aten.add.Tensor\", \"inputs\": [{\"name\": \"self\", \"arg\": {\"as_tensor\": "
                             "{\"name\": \"x\"}}}, {\"name\": \"other\", \"arg\": {\"as_tensor\": {\"name\": \"w\"}}}, {\"name\": "
                             "\"alpha\", \"arg\": {\"as_sym_int\": {\"as_name\": \"u0\"}}}], \"outputs\": [{\"as_tensor\": {\"name\": "
                             "\"y\"}}], \"metadata\": {}, \"name\": \"y\"}";
  static const char begin[] = MODEL ("@", "y");
  const char *at = strchr (begin, '@');
  g_autofree char *text = g_strdup_printf ("%.*s%s%s", (int) (at - begin), begin, node, at + 1), *why = NULL;
  const ZipEntry entries[] = { { MODEL_NAME, text }, { CONFIG_NAME, PLAIN }, { WEIGHT_NAME, BYTES } };
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryModule) module = read_archive (context, entries, G_N_ELEMENTS (entries), FALSE, NULL, &error);

  g_assert_no_error (error);
  why = refusal_of (module);
  g_assert_nonnull (strstr (why, "aten.add.Tensor: argument 'alpha' is computed when it runs"));
}

static guint
stops_in (const GantryModule *module)
{
  guint n = 0;

  for (guint32 k = 0; k < module->n_nodes; k++)
    n += module->nodes[k].op == GANTRY_OP_STOP_GRADIENT;
  return n;
}

/* Nothing is differentiated through detach, and it is no work. */
static void
test_detached (void)
{
  static const char node[] = "{\"target\": \"torch.ops.aten.detach.default\", \"inputs\": [{\"name\": \"self\", \"arg\": {\"as_tensor\": "
                             "{\"name\": \"x\"}}}], \"outputs\": [{\"as_tensor\": {\"name\": \"y\"}}], \"metadata\": {}, \"name\": \"y\"}";
  static const char begin[] = MODEL ("@", "y");
  const char *at = strchr (begin, '@');
  g_autofree char *text = g_strdup_printf ("%.*s%s%s", (int) (at - begin), begin, node, at + 1);
  const ZipEntry entries[] = { { MODEL_NAME, text }, { CONFIG_NAME, PLAIN }, { WEIGHT_NAME, BYTES } };
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryModule) module = read_archive (context, entries, G_N_ELEMENTS (entries), FALSE, NULL, &error);
  g_autoptr (GantryModel) model = gantry_model_new (module, "m.pt2");
  g_autoptr (GantryCompilation) compilation = NULL;
  g_auto (GantryCompileSettings) settings;

  g_assert_no_error (error);
  gantry_compile_settings_init (&settings);
  compilation = gantry_compile (model, &settings, NULL, &error);
  g_assert_no_error (error);
  g_assert_no_error (compilation->refusal);
  for (guint i = 0; i < compilation->n_snapshots; i++)
    if (strcmp (compilation->snapshots[i].pass, "legalize") == 0)
      g_assert_cmpuint (stops_in (compilation->snapshots[i].module), ==, 1);
  g_assert_cmpuint (stops_in (compilation->snapshots[compilation->n_snapshots - 1].module), ==, 0);
}

/* What torch's no_grad is around is detached, and a parameter that needs no gradient is a buffer. */
static void
test_without_gradient (void)
{
  static const char meta[] = META (SIZE (4), SIZE (1));
  static const char begin[] = MODEL (
    "{\"target\": \"torch.ops.higher_order.wrap_with_set_grad_enabled\", \"inputs\": [{\"name\": \"\", \"arg\": {\"as_bool\": ENABLED}},"
    "{\"name\": \"\", \"arg\": {\"as_graph\": {\"name\": \"inside\", \"graph\": {\"inputs\": [{\"as_tensor\": {\"name\": \"x\"}},"
    "{\"as_tensor\": {\"name\": \"w\"}}], \"outputs\": [{\"as_tensor\": {\"name\": \"y\"}}], \"nodes\": [" ADD "],"
    "\"tensor_values\": {\"y\": " META (
      SIZE (4), SIZE (1)) "}}}}},"
                          "{\"name\": \"\", \"arg\": {\"as_tensor\": {\"name\": \"x\"}}}, {\"name\": \"\", \"arg\": {\"as_tensor\": {\"name\": \"w\"}}}],"
                          "\"outputs\": [{\"as_tensor\": {\"name\": \"y\"}}], \"metadata\": {}, \"name\": \"y\"}",
    "y");

  for (guint enabled = 0; enabled < 2; enabled++)
    {
      g_autoptr (GString) text = g_string_new (begin);
      g_autofree char *frozen = g_strndup (meta, strlen (meta) - 1),
                      *weights = g_strdup_printf ("{\"config\": {\"weight\": {\"path_name\": \"weight_0\", \"tensor_meta\": %s, \"requires_grad\": %s}}}}",
                                                  frozen, enabled ? "true" : "false");
      const ZipEntry entries[] = { { MODEL_NAME, (g_string_replace (text, "ENABLED", enabled ? "true" : "false", 0), text->str) },
                                   { CONFIG_NAME, weights },
                                   { WEIGHT_NAME, BYTES } };
      g_autoptr (GantryContext) context = gantry_context_new ();
      g_autoptr (GError) error = NULL;
      g_autoptr (GantryModule) module = read_archive (context, entries, G_N_ELEMENTS (entries), FALSE, NULL, &error);
      guint n_detached = 0, n_buffers = 0;

      g_assert_no_error (error);
      for (guint32 i = 0; i < module->n_nodes; i++)
        {
          n_detached += strstr (gantry_node_op_name (module, &module->nodes[i]), "detach") != NULL;
          n_buffers += g_str_equal (gantry_attrs_string (context, module->nodes[i].attrs, "role", ""), "buffer");
        }
      g_assert_cmpuint (n_detached, ==, !enabled);
      g_assert_cmpuint (n_buffers, ==, !enabled);
    }
}

static void
test_unknown (void)
{
  const ZipEntry entries[] = { { MODEL_NAME, MODEL (NODE ("torch.ops.mine.do.default"), "y") }, { CONFIG_NAME, PLAIN }, { WEIGHT_NAME, BYTES } };
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GantryTorchInfo) info = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryModule) module = read_archive (context, entries, G_N_ELEMENTS (entries), FALSE, &info, &error);
  g_autofree char *why = NULL;

  g_assert_no_error (error);
  g_assert_cmpuint (info->unknown->len, ==, 1);
  g_assert_cmpstr (g_ptr_array_index (info->unknown, 0), ==, "mine.do.default");
  why = refusal_of (module);
  g_assert_nonnull (strstr (why, "mine.do.default: unknown operation"));
}

static void
test_refused (void)
{
  g_autofree char *deep = g_strnfill (200, '[');
  const struct
  {
    ZipEntry entries[3];
    const char *message;
  } cases[] = {
    { { { MODEL_NAME, MODEL (ADD, "y"), .flags = 1 } }, "'" MODEL_NAME "' is encrypted" },
    { { { MODEL_NAME, MODEL (ADD, "y"), .method = 12 } }, "compressed by method 12" },
    { { { MODEL_NAME, MODEL (ADD, "y"), .spoil_checksum = 1 } }, "another checksum" },
    { { { MODEL_NAME, "short", .method = 8, .unpacked = 100 } }, "does not unpack to its 100 bytes" },
    { { { MODEL_NAME, "short", .method = 8, .unpacked = 100000000 } }, "cannot have 100000000 bytes unpacked of 5" },
    { { { MODEL_NAME, "{}", .unpacked = 3 } }, "is stored, but its sizes differ" },
    { { { MODEL_NAME, "{}" }, { MODEL_NAME, "{}" } }, "two entries are named" },
    { { { MODEL_NAME, "{}" }, { "m/other", "{}", .place_of = 1 } }, "lies over" },
    { { { "m/something", "{}" } }, "holds no models/model.json" },
    { { { "serialized_exported_program.json", "{}" } }, "weights are pickled, as torch before 2.9 saved them" },
    { { { "m/data.pkl", "x" } }, "it is what torch.save writes: weights or a module as a pickle" },
    { { { "m/data.pkl", "x" } }, "export the module: torch.export.save (torch.export.export (module, (example_input,)), \"model.pt2\")" },
    { { { "m/data.pkl", "x" }, { "m/code/m.py", "x" }, { "m/constants.pkl", "x" } }, "it is TorchScript" },
    { { { MODEL_NAME, deep } }, "nested more than 96 deep" },
    { { { MODEL_NAME, "[1]" } }, "not a JSON object" },
    { { { MODEL_NAME, "{\"a\"" } }, MODEL_NAME },
    { { { MODEL_NAME, "{}" } }, "has no graph or no signature" },
    { { { MODEL_NAME, MODEL (ADD, "z") }, { CONFIG_NAME, PLAIN }, { WEIGHT_NAME, BYTES } }, "output 'z' is given by no node" },
    { { { MODEL_NAME, MODEL ("", "y") } }, "output 'y' is given by no node" },
    { { { MODEL_NAME, MODEL (ADD, "y") } }, "node 1 (torch.ops.aten.add.Tensor): weight 'weight' is not in the archive" },
    { { { MODEL_NAME, MODEL (ADD, "y") }, { "m/data/weights/model.pt", "x" } }, "which is pickled, as torch before 2.9 saved" },
    { { { MODEL_NAME, MODEL (ADD, "y") }, { CONFIG_NAME, PLAIN } }, "the archive has no '" WEIGHT_NAME "'" },
    { { { MODEL_NAME, MODEL (ADD, "y") }, { CONFIG_NAME, PLAIN }, { WEIGHT_NAME, "0123" } }, "4 bytes, which are too few for its sizes" },
    { { { MODEL_NAME, MODEL (ADD, "y") }, { CONFIG_NAME, WEIGHTS ("weight_0", "", META (SIZE (4), SIZE (9223372036854775807))) }, { WEIGHT_NAME, BYTES } },
      "too few for its sizes" },
    { { { MODEL_NAME, MODEL (ADD, "y") }, { CONFIG_NAME, WEIGHTS ("weight_0", "", META (SIZE (1099511627776), SIZE (0))) }, { WEIGHT_NAME, BYTES } },
      "it repeats elements of its 16 bytes to 4398046511104" },
    { { { MODEL_NAME, MODEL (ADD, "y") }, { CONFIG_NAME, WEIGHTS ("weight_0", ", \"use_pickle\": true", "null") }, { WEIGHT_NAME, BYTES } },
      "weight 'weight': '" WEIGHT_NAME "' is pickled" },
    { { { MODEL_NAME, MODEL (ADD ", " ADD, "y") }, { CONFIG_NAME, PLAIN }, { WEIGHT_NAME, BYTES } }, "'y' is given by two nodes" },
    { { { MODEL_NAME, "{\"graph_module\": {\"graph\": {\"nodes\": []}, \"signature\": {}}}" } }, "the program has no output" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GantryContext) context = gantry_context_new ();
      g_autoptr (GError) error = NULL;
      guint n = cases[i].entries[1].name == NULL ? 1 : cases[i].entries[2].name == NULL ? 2 : 3;

      g_assert_null (read_archive (context, cases[i].entries, n, FALSE, NULL, &error));
      g_assert_true (g_str_has_prefix (error->message, "m.pt2: "));
      if (strstr (error->message, cases[i].message) == NULL)
        g_error ("case %u: '%s' does not say '%s'", i, error->message, cases[i].message);
    }
}

/* A small archive whose program is large: how much is read is limited by values, which take memory, and not by bytes alone. */
static void
test_limits (void)
{
  const gsize n = 8000001;
  g_autofree char *many = g_malloc (2 * n + 16), *text = g_strnfill ((1 << 20) + 1, 'x');
  g_autofree char *name = g_strconcat ("{\"", text, "\": 0}", NULL), *string = g_strconcat ("{\"a\": \"", text, "\"}", NULL);
  const ZipEntry entries[] = { { MODEL_NAME, many }, { MODEL_NAME, name }, { MODEL_NAME, string } };
  static const char *const messages[] = { "more than 8000000 values", "a string of more than 1 MiB", "a string of more than 1 MiB" };
  char *at = g_stpcpy (many, "{\"a\":[0");

  for (gsize i = 1; i < n; i++)
    at = g_stpcpy (at, ",0");
  g_stpcpy (at, "]}");
  for (guint i = 0; i < G_N_ELEMENTS (entries); i++)
    {
      g_autoptr (GantryContext) context = gantry_context_new ();
      g_autoptr (GError) error = NULL;

      g_assert_null (read_archive (context, &entries[i], 1, FALSE, NULL, &error));
      g_assert_error (error, GANTRY_ERROR, GANTRY_ERROR_TOO_LARGE);
      g_assert_true (g_str_has_prefix (error->message, "m.pt2: " MODEL_NAME ", byte "));
      g_assert_nonnull (strstr (error->message, messages[i]));
    }
}

/* Operations on values v0, v1, ...: the one at @from[i] is read by node i, and node i gives v(i+1). */
static GantryModule *
read_chain (GantryContext *context, const char *const *operations, const guint *from, const guint *other, guint n, GError **error)
{
  g_autoptr (GString) text = g_string_new ("{\"schema_version\": {\"major\": 8}, \"graph_module\": {\"graph\": {\"inputs\": [], \"outputs\": [], \"nodes\": [");

  for (guint i = 0; i < n; i++)
    {
      g_string_append_printf (text,
                              "%s{\"target\": \"torch.ops.aten.%s\", \"inputs\": [{\"name\": \"self\", \"arg\": {\"as_tensor\": "
                              "{\"name\": \"v%u\"}}}",
                              i > 0 ? ", " : "", operations[i], from[i]);
      if (other != NULL && other[i] != 0)
        g_string_append_printf (text, ", {\"name\": \"other\", \"arg\": {\"as_tensor\": {\"name\": \"v%u\"}}}", other[i]);
      g_string_append_printf (text, "%s], \"outputs\": [{\"as_tensor\": {\"name\": \"v%u\"}}], \"metadata\": {}}",
                              g_str_has_prefix (operations[i], "view.") ? ", {\"name\": \"size\", \"arg\": {\"as_ints\": [4]}}" : "", i + 1);
    }
  g_string_append (text, "], \"tensor_values\": {");
  for (guint i = 0; i <= n; i++)
    g_string_append_printf (text, "%s\"v%u\": " META (SIZE (4), SIZE (1)), i > 0 ? ", " : "", i);
  g_string_append_printf (text,
                          "}}, \"signature\": {\"input_specs\": [{\"user_input\": {\"arg\": {\"as_tensor\": {\"name\": \"v0\"}}}}], "
                          "\"output_specs\": [{\"user_output\": {\"arg\": {\"as_tensor\": {\"name\": \"v%u\"}}}}]}}}",
                          n);
  return read_archive (context, &(ZipEntry){ MODEL_NAME, text->str }, 1, FALSE, NULL, error);
}

/* What an argument would change that no rule asks for is not guessed. */
static void
test_unasked (void)
{
  static const char *const models[] = { MODEL (NODE_WITH ("torch.ops.aten.sin.default", "twice"), "y"),
                                        MODEL (NODE_WITH ("torch.ops.aten.sin.default", "non_blocking"), "y") };

  for (guint i = 0; i < G_N_ELEMENTS (models); i++)
    {
      g_autoptr (GantryContext) context = gantry_context_new ();
      const ZipEntry entries[] = { { MODEL_NAME, models[i] }, { CONFIG_NAME, PLAIN }, { WEIGHT_NAME, BYTES } };
      g_autoptr (GError) error = NULL;
      g_autoptr (GantryModule) module = read_archive (context, entries, G_N_ELEMENTS (entries), FALSE, NULL, &error);
      g_autoptr (GantryModule) legal = NULL;

      g_assert_no_error (error);
      legal = gantry_pass_legalize.run (module, NULL, NULL, &error);
      if (i == 0)
        g_assert_error (error, GANTRY_ERROR, GANTRY_ERROR_UNSUPPORTED);
      else
        g_assert_no_error (error);
      g_assert_true (i > 0 || strstr (error->message, "aten.sin.default: argument 'twice' is not supported") != NULL);
    }
}

/* A name that is written to again and again, and a view of a view of it as often: each write is one node, and each view one more
 * where it is read after a write. A write to the last of the views writes all that they are views of. */
static void
test_chain (void)
{
  static const struct
  {
    guint writes, views;
    gboolean first; /* the write behind them is to the first value, else to the last view */
    guint n;        /* nodes */
  } cases[] = {
    { 20000, 0, TRUE, 20000 + 3 },
    { 0, 120000, TRUE, 2 * 120000 + 3 },
    { 0, 120000, FALSE, 2 * 120000 + 3 },
  };

  for (guint c = 0; c < G_N_ELEMENTS (cases); c++)
    {
      const guint n = cases[c].writes + cases[c].views + 2;
      g_autofree const char **operations = g_new (const char *, n);
      g_autofree guint *from = g_new (guint, n);
      g_autoptr (GantryContext) context = gantry_context_new ();
      g_autoptr (GError) error = NULL;
      g_autoptr (GantryModule) module = NULL;

      for (guint i = 0; i < n; i++)
        {
          operations[i] = i < cases[c].writes ? "relu_.default" : i < n - 2 ? "view.default" : i == n - 2 ? "relu_.default" : "neg.default";
          from[i] = i < n - 2 ? i : i == n - 2 ? (cases[c].first ? 0 : n - 2) : (cases[c].first ? n - 2 : 0);
        }
      module = read_chain (context, operations, from, NULL, n, &error);
      g_assert_no_error (error);
      g_assert_cmpuint (module->n_nodes, ==, cases[c].n);
    }
}

/* Views whose sizes are those of stale views. */
static void
test_nested_views (void)
{
  for (guint many = 0; many < 2; many++)
    {
      const guint n = many ? 1000 : 100;
      g_autofree const char **operations = g_new (const char *, n);
      g_autofree guint *from = g_new0 (guint, n), *other = g_new0 (guint, n);
      g_autoptr (GantryContext) context = gantry_context_new ();
      g_autoptr (GError) error = NULL;
      g_autoptr (GantryModule) module = NULL;

      for (guint i = 0; i < n; i++)
        {
          operations[i] = i < n - 2 ? "expand_as.default" : i == n - 2 ? "relu_.default" : "neg.default";
          other[i] = i < n - 2 ? i : 0;
        }
      from[n - 1] = n - 2;
      module = read_chain (context, operations, from, other, n, &error);
      if (many)
        {
          g_assert_error (error, GANTRY_ERROR, GANTRY_ERROR_TOO_LARGE);
          g_assert_nonnull (strstr (error->message, "nested more than 256 deep"));
          continue;
        }
      g_assert_no_error (error);
      g_assert_cmpuint (module->n_nodes, ==, 2 * (n - 2) + 3);
    }
}

/* Archives that torch writes otherwise are told by what lies in them, whatever the file is called. */
static void
test_reads (void)
{
  static const struct
  {
    const char *entry;
    gboolean reads;
  } cases[] = {
    { "m/models/model.json", TRUE },
    { "m/data.pkl", TRUE },
    { "m/serialized_exported_program.json", TRUE },
    { "m/data.txt", FALSE },
  };
  g_autofree char *folder = g_dir_make_tmp ("gantry-torch-XXXXXX", NULL), *path = g_build_filename (folder, "weights.bin", NULL);

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      const ZipEntry entry = { cases[i].entry, "x" };
      g_autoptr (GBytes) bytes = zip_write (&entry, 1, FALSE);

      g_assert_true (g_file_set_contents (path, g_bytes_get_data (bytes, NULL), (gssize) g_bytes_get_size (bytes), NULL));
      g_assert_cmpint (gantry_torch_reads (path), ==, cases[i].reads);
    }
  g_unlink (path);
  g_rmdir (folder);
}

/* Of two members of one name the last counts, among few and among many; others are found whatever their order. */
static void
test_members (void)
{
  static const char *const more[] = { "", ", \"z\": 1, \"y\": 2, \"x\": 3, \"a\": 4, \"b\": 5, \"c\": 6, \"d\": 7, \"e\": [\"\\u00e9\", null, -1e3]" };

  for (guint i = 0; i < G_N_ELEMENTS (more); i++)
    {
      g_autofree char *text = g_strdup_printf ("{\"torch_version\": \"1\"%s, \"torch_version\": \"2.9\", %s", more[i], &(MODEL (ADD, "y"))[1]);
      const ZipEntry entries[] = { { MODEL_NAME, text }, { CONFIG_NAME, PLAIN }, { WEIGHT_NAME, BYTES } };
      g_autoptr (GantryContext) context = gantry_context_new ();
      g_autoptr (GantryTorchInfo) info = NULL;
      g_autoptr (GError) error = NULL;
      g_autoptr (GantryModule) module = read_archive (context, entries, G_N_ELEMENTS (entries), FALSE, &info, &error);

      g_assert_no_error (error);
      g_assert_cmpuint (module->n_nodes, ==, 3);
      g_assert_cmpstr (info->producer, ==, "torch 2.9");
    }
}

/* Every byte cut off, and every byte changed, of a small archive: an error or a module, never a crash. */
static void
test_spoilt (void)
{
  const ZipEntry entries[] = { { MODEL_NAME, MODEL (ADD, "y") }, { CONFIG_NAME, PLAIN }, { WEIGHT_NAME, BYTES } };
  g_autoptr (GBytes) whole = zip_write (entries, G_N_ELEMENTS (entries), FALSE);
  gsize size;
  const guint8 *data = g_bytes_get_data (whole, &size);

  for (gsize i = 0; i < size; i++)
    for (guint cut = 0; cut < 2; cut++)
      {
        g_autofree guint8 *copy = g_memdup2 (data, size);
        g_autoptr (GBytes) bytes = NULL;
        g_autoptr (GantryContext) context = gantry_context_new ();
        g_autoptr (GError) error = NULL;
        g_autoptr (GantryModule) module = NULL;

        copy[i] ^= 0xff;
        bytes = g_bytes_new (copy, cut ? i : size);
        module = gantry_torch_import_bytes (context, bytes, "m.pt2", NULL, NULL, NULL, &error);
        g_assert_true ((module == NULL) == (error != NULL));
        g_assert_true (!cut || module == NULL);
      }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_data_func ("/torch/values/cpu", GUINT_TO_POINTER (RUN_CPU), test_values);
  g_test_add_data_func ("/torch/values/grid", GUINT_TO_POINTER (RUN_GRID), test_values);
  g_test_add_func ("/torch/programs", test_programs);
  g_test_add_func ("/torch/names", test_names);
  g_test_add_func ("/torch/sizes", test_sizes);
  g_test_add_func ("/torch/unasked", test_unasked);
  g_test_add_func ("/torch/unbound", test_unbound);
  g_test_add_func ("/torch/sound", test_sound);
  g_test_add_func ("/torch/detached", test_detached);
  g_test_add_func ("/torch/without-gradient", test_without_gradient);
  g_test_add_func ("/torch/unknown", test_unknown);
  g_test_add_func ("/torch/open-number", test_open_number);
  g_test_add_func ("/torch/refused", test_refused);
  g_test_add_func ("/torch/limits", test_limits);
  g_test_add_func ("/torch/chain", test_chain);
  g_test_add_func ("/torch/nested-views", test_nested_views);
  g_test_add_func ("/torch/reads", test_reads);
  g_test_add_func ("/torch/members", test_members);
  g_test_add_func ("/torch/spoilt", test_spoilt);
  return g_test_run ();
}
