/* SPDX-License-Identifier: Apache-2.0 */
/* Importing what is sound: real models with the counts of their table, and small ones made here for
 * each promise of onnx-node.h: operands, results, attributes, subgraphs, names, scopes, places,
 * types. */
#include "core/frontends/onnx/onnx-node.h"
#include "core/graph/graph.h"
#include "tests/core/frontends/onnx/model-writer.h"
#include <string.h>

/* Real models: nodes with those of nested subgraphs, initializers, inputs, outputs. */
static const struct
{
  const char *name;
  guint nodes, initializers, inputs, outputs;
} models[] = {
  { "fastestdet", 218, 157, 1, 1 },
  { "fns_candy", 59, 64, 1, 1 },
  { "gonnx_gru", 5, 3, 2, 2 },
  { "light_bvlc_alexnet", 40, 17, 1, 1 },
  { "light_inception_v1", 237, 118, 1, 1 },
  { "light_resnet50", 415, 269, 1, 1 },
  { "light_shufflenet", 446, 281, 1, 1 },
  { "light_squeezenet", 105, 52, 1, 1 },
  { "light_vgg19", 82, 39, 1, 1 },
  { "light_zfnet512", 38, 18, 1, 1 },
  { "mnist", 12, 8, 1, 1 },
  { "nnfusion_gru_bidirectional", 4, 0, 1, 2 },
  { "silero_vad_16k_op15", 350, 15, 3, 2 },
  { "squeezenet_fp16", 66, 52, 1, 1 },
  { "super_resolution", 8, 8, 1, 1 },
  { "ultraface_rfb320", 242, 244, 1, 2 },
};

static guint
count_foreign (const GantryModule *module)
{
  guint n = 0;

  for (guint32 i = 0; i < module->n_nodes; i++)
    {
      n += module->nodes[i].op >= GANTRY_OP_FOREIGN;
      g_assert_cmpuint (module->nodes[i].location, !=, 0);
    }
  return n;
}

static void
test_model (gconstpointer data)
{
  gsize i = GPOINTER_TO_SIZE (data);
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GantryOnnxInfo) info = NULL;
  g_autoptr (GantryModule) module = NULL;
  g_autoptr (GError) error = NULL;
  g_autofree char *file = g_strconcat ("onnx/", models[i].name, ".onnx", NULL);
  g_autofree char *path = shared_data (file);

  if (path == NULL)
    return;
  module = gantry_onnx_import (context, path, NULL, &info, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (info->n_nodes, ==, models[i].nodes);
  g_assert_cmpuint (count_foreign (module), ==, models[i].nodes);
  g_assert_cmpuint (info->n_initializers, ==, models[i].initializers);
  g_assert_cmpuint (info->n_inputs, ==, models[i].inputs);
  g_assert_cmpuint (info->n_outputs, ==, models[i].outputs);
  g_assert_cmpuint (info->n_unsupported, ==, 0);
  for (guint k = 0; k < info->n_outputs; k++)
    g_assert_cmpuint (info->outputs[k].type, !=, 0);
  gantry_verify (module, NULL, &error);
  g_assert_no_error (error);
  /* Types were found in a scratch module that took no ids from this one. */
  g_assert_cmpuint (gantry_context_last_node_id (context), ==, module->n_nodes);
}

/* A mapped weight */

static void
test_mapped (void)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autofree char *path = shared_data ("onnx/super_resolution.onnx");
  g_autofree char *absolute = path != NULL ? g_canonicalize_filename (path, NULL) : NULL;
  g_autoptr (GantryModule) module = NULL;
  g_autoptr (GError) error = NULL;
  g_autofree char *contents = NULL;
  guint n = 0;
  gsize size;

  if (path == NULL)
    return;
  g_file_get_contents (path, &contents, &size, &error);
  g_assert_no_error (error);
  module = gantry_onnx_import (context, path, NULL, NULL, NULL, &error);
  g_assert_no_error (error);
  for (guint32 i = 0; i < module->n_nodes; i++)
    if (module->nodes[i].op == GANTRY_OP_CONSTANT)
      {
        const GantryAttr *value = gantry_attrs_find (context, module->nodes[i].attrs, "value");
        const GantryLiteral *literal = gantry_context_literal (context, value->id);

        g_assert_cmpstr (literal->source_path, ==, absolute);
        g_assert_cmpuint (literal->source_offset + literal->size, <=, size);
        g_assert_cmpmem (literal->data, literal->size, contents + literal->source_offset, literal->size);
        n++;
      }
  g_assert_cmpuint (n, ==, 8);
}

static void
test_read_tensor (void)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autofree char *path = shared_data ("onnx/light_squeezenet_output_0.pb");
  g_autofree char *name = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryLiteral) literal = NULL;

  if (path == NULL)
    return;
  literal = gantry_onnx_read_tensor (context, path, &name, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (literal->type->rank, ==, 4);
  g_assert_cmpint (gantry_type_elements (literal->type), ==, 1000);
  g_assert_cmpfloat (gantry_literal_get_double (literal, 0), >, 0);
}

/* Operands and results */

static Message *
simple_graph (void)
{
  Message *graph = message_new ();

  put_text (graph, 2, "simple");
  put_input (graph, write_value ("x", ELEMENT_FLOAT, "2,n"));
  put_output (graph, write_value ("y", ELEMENT_FLOAT, NULL));
  return graph;
}

static void
test_operands (void)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GantryModule) module = NULL;
  Message *graph = simple_graph ();
  const GantryNode *clip;

  put_initializer (graph, write_tensor ("top", ELEMENT_FLOAT, "", &(float){ 6 }, 4));
  put_node (graph, write_node ("Clip", "c", "x,,top", "y"));
  module = import_model (context, write_model (graph), NULL);
  clip = find_value (module, "y");
  g_assert_cmpstr (gantry_node_op_name (module, clip), ==, "onnx.Clip");
  g_assert_cmpuint (clip->n_operands, ==, 3);
  g_assert_cmpuint (gantry_node_operand_id (module, clip, 0), ==, find_value (module, "x")->id);
  g_assert_cmpuint (gantry_node_operand_id (module, clip, 1), ==, 0);
  g_assert_cmpuint (gantry_node_operand_id (module, clip, 2), ==, find_value (module, "top")->id);
  g_assert_cmpint (gantry_attrs_int (context, clip->attrs, "opset", 0), ==, 17);
  g_assert_null (gantry_attrs_find (context, clip->attrs, "captures"));
  assert_type (module, "y", "f32[2,n]");
}

static void
test_trailing_absent (void)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GantryModule) module = NULL;
  Message *graph = simple_graph ();

  put_node (graph, write_node ("Clip", "c", "x,,", "y"));
  module = import_model (context, write_model (graph), NULL);
  g_assert_cmpuint (find_value (module, "y")->n_operands, ==, 1);
}

static void
test_results (void)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GantryModule) module = NULL;
  Message *graph = message_new ();
  const GantryNode *first, *third;

  put_input (graph, write_value ("x", ELEMENT_FLOAT, "2,9"));
  put_output (graph, write_value ("c", ELEMENT_FLOAT, NULL));
  put_node (graph, write_node ("Odd", "odd", "x", "a,,c,"));
  module = import_model (context, write_model (graph), NULL);
  first = find_value (module, "a");
  third = find_value (module, "c");
  g_assert_cmpuint (first->op, ==, GANTRY_OP_RESULT);
  g_assert_cmpint (gantry_attrs_int (context, first->attrs, "index", -1), ==, 0);
  g_assert_cmpint (gantry_attrs_int (context, third->attrs, "index", -1), ==, 2);
  g_assert_cmpuint (gantry_node_operand_type (module, third, 0)->kind, ==, GANTRY_TYPE_TUPLE);
  g_assert_cmpuint (gantry_node_operand_type (module, third, 0)->rank, ==, 3);
  g_assert_cmpuint (module->n_nodes, ==, 4);
}

static void
test_order (void)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GantryModule) module = NULL;
  Message *graph = simple_graph ();

  put_node (graph, write_node ("Neg", "last", "b", "y"));
  put_node (graph, write_node ("Exp", "middle", "a", "b"));
  put_node (graph, write_node ("Relu", "first", "x", "a"));
  module = import_model (context, write_model (graph), NULL);
  g_assert_cmpstr (gantry_context_string (context, module->nodes[1].name), ==, "a");
  g_assert_cmpstr (gantry_context_string (context, module->nodes[2].name), ==, "b");
  g_assert_cmpstr (gantry_context_string (context, module->nodes[3].name), ==, "y");
  /* The place is that of the file. */
  g_assert_cmpuint (gantry_context_get_location (context, module->nodes[1].location)->line, ==, 3);
}

/* In version 3 and before, weights are listed as inputs, too. */
static void
test_weights_among_inputs (void)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GantryOnnxInfo) info = NULL;
  g_autoptr (GantryModule) module = NULL;
  Message *graph = simple_graph ();

  put_input (graph, write_value ("w", ELEMENT_FLOAT, "1"));
  put_initializer (graph, write_tensor ("w", ELEMENT_FLOAT, "1", &(float){ 3 }, 4));
  put_node (graph, write_node ("Mul", "m", "x,w", "y"));
  module = import_model (context, write_model_with (graph, 3, 8), &info);
  g_assert_cmpuint (info->n_inputs, ==, 1);
  g_assert_cmpstr (info->inputs[0].name, ==, "x");
  g_assert_cmpstr (info->inputs[0].type_text, ==, "f32[2,n]");
  g_assert_cmpuint (find_value (module, "w")->op, ==, GANTRY_OP_CONSTANT);
  g_assert_cmpint (info->ir_version, ==, 3);
  g_assert_cmpstr (info->producer, ==, "model-writer");
}

/* Attributes */

static void
test_attributes (void)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GantryModule) module = NULL;
  static const float two[2] = { 1.5f, -2 };
  Message *graph = simple_graph (), *node = write_node ("Odd", "o", "x", "y");
  guint32 attrs;
  gsize n;

  put_attribute (node, write_attribute_int ("i", -7));
  put_attribute (node, write_attribute_float ("f", 0.5f));
  put_attribute (node, write_attribute_text ("s", "text"));
  put_attribute (node, write_attribute_ints ("is", "4,-5"));
  put_attribute (node, write_attribute_tensor ("t", write_tensor ("", ELEMENT_FLOAT, "2", two, sizeof two)));
  put_attribute (node, write_attribute_int ("opset", 99));
  put_node (graph, node);
  module = import_model (context, write_model (graph), NULL);
  attrs = find_value (module, "y")->attrs;
  g_assert_cmpint (gantry_attrs_int (context, attrs, "i", 0), ==, -7);
  g_assert_cmpfloat (gantry_attrs_float (context, attrs, "f", 0), ==, 0.5);
  g_assert_cmpstr (gantry_attrs_string (context, attrs, "s", ""), ==, "text");
  g_assert_cmpint (gantry_attrs_ints (context, attrs, "is", &n)[1], ==, -5);
  g_assert_cmpuint (n, ==, 2);
  g_assert_cmpfloat (gantry_literal_get_double (gantry_context_literal (context, gantry_attrs_find (context, attrs, "t")->id), 1), ==, -2);
  g_assert_cmpint (gantry_attrs_int (context, attrs, "opset", 0), ==, 17);
  g_assert_cmpint (gantry_attrs_int (context, attrs, "opset_", 0), ==, 99);
}

/* Names, scopes, places */

static const struct
{
  const char *node, *output, *scope;
} scopes[] = {
  { "/layer1/conv/Conv", "a", "layer1/conv" },
  { "gpu_0/conv1", "b", "gpu_0" },
  { "plain", "/block/out", "block" },
  { "plain", "plain_out", "" },
};

static void
test_scopes (void)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GantryModule) module = NULL;
  Message *graph = message_new ();

  put_input (graph, write_value ("x", ELEMENT_FLOAT, "2"));
  put_initializer (graph, write_tensor ("w", ELEMENT_FLOAT, "2", (float[2]){ 1, 2 }, 8));
  for (guint i = 0; i < G_N_ELEMENTS (scopes); i++)
    put_node (graph, write_node ("Mul", scopes[i].node, i < 1 ? "x,w" : "x,x", scopes[i].output));
  put_output (graph, write_value ("a", ELEMENT_FLOAT, NULL));
  module = import_model (context, write_model (graph), NULL);
  for (guint i = 0; i < G_N_ELEMENTS (scopes); i++)
    g_assert_cmpstr (node_scope (module, find_value (module, scopes[i].output)), ==, scopes[i].scope);
  /* A weight stands beside its only user. */
  g_assert_cmpstr (node_scope (module, find_value (module, "w")), ==, "layer1/conv");
}

static void
test_scopes_of_parameters (void)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GantryModule) module = NULL;
  Message *graph = message_new ();

  put_input (graph, write_value ("x", ELEMENT_FLOAT, "1"));
  put_initializer (graph, write_tensor ("net.0.conv.weight", ELEMENT_FLOAT, "1", &(float){ 1 }, 4));
  put_initializer (graph, write_tensor ("net.0.fc.weight", ELEMENT_FLOAT, "1", &(float){ 1 }, 4));
  put_node (graph, write_node ("Mul", "", "x,net.0.conv.weight", "1"));
  put_node (graph, write_node ("Relu", "", "1", "2"));
  put_node (graph, write_node ("Mul", "", "2,net.0.fc.weight", "3"));
  put_output (graph, write_value ("3", ELEMENT_FLOAT, NULL));
  module = import_model (context, write_model (graph), NULL);
  g_assert_cmpstr (node_scope (module, find_value (module, "1")), ==, "net/0/conv");
  g_assert_cmpstr (node_scope (module, find_value (module, "2")), ==, "net/0");
  g_assert_cmpstr (node_scope (module, find_value (module, "3")), ==, "net/0/fc");
}

static void
test_places (void)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GantryModule) module = NULL;
  Message *graph = simple_graph ();
  g_autofree char *text = NULL;
  const GantryLocation *location;

  put_node (graph, write_node ("Relu", "", "x", "a"));
  put_node (graph, write_node ("Neg", "n", "a", "y"));
  module = import_model (context, write_model (graph), NULL);
  location = gantry_context_get_location (context, find_value (module, "y")->location);
  g_assert_cmpuint (location->line, ==, 2);
  g_assert_cmpstr (gantry_context_string (context, location->text), ==, "node 2 'n'");
  text = gantry_context_location_text (context, find_value (module, "a")->location);
  g_assert_cmpstr (text, ==, "test.onnx: node 1");
}

/* Types */

static GantryModule *
import_bound (GantryContext *context, const char *dim, gint64 value, GantryOnnxInfo **info, GError **error)
{
  GantryOnnxDim dims[1] = { { dim, value } };
  GantryOnnxOptions options = { .dims = dims, .n_dims = dim != NULL };
  Message *graph = message_new (), *concat = write_node ("Concat", "c", "a,a", "y");
  g_autoptr (GBytes) bytes = NULL;

  put_input (graph, write_value ("x", ELEMENT_FLOAT, "n,3,?"));
  put_output (graph, write_value ("y", ELEMENT_FLOAT, NULL));
  put_node (graph, write_node ("Relu", "r", "x", "a"));
  put_attribute (concat, write_attribute_int ("axis", 0));
  put_node (graph, concat);
  bytes = finish_model (write_model (graph));
  return gantry_onnx_import_bytes (context, bytes, "test.onnx", &options, info, NULL, error);
}

static void
test_free_dims (void)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GantryOnnxInfo) info = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryModule) module = import_bound (context, NULL, 0, &info, &error);

  g_assert_no_error (error);
  g_assert_cmpstr (info->unbound[0], ==, "n");
  g_assert_cmpstr (info->unbound[1], ==, "x:2");
  g_assert_null (info->unbound[2]);
  assert_type (module, "x", "f32[n,3,?]");
  assert_type (module, "a", "f32[n,3,?]");
  /* Two batches one after the other are neither a known number nor one of the names. */
  assert_type (module, "y", "f32[?,3,?]");
}

/* Many writers name all dimensions that they do not know "?": they need not be equal, and each is bound for itself. */
static void
test_question_marks (void)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GantryModule) module = NULL;
  g_autoptr (GantryOnnxInfo) info = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) bytes = NULL;
  GantryOnnxDim dims[] = { { "x:0", 2 } };
  GantryOnnxOptions options = { .dims = dims, .n_dims = 1 };
  Message *graph = message_new ();

  put_input (graph, write_value ("x", ELEMENT_FLOAT, "'?',?,'?'"));
  put_output (graph, write_value ("y", ELEMENT_FLOAT, NULL));
  put_node (graph, write_node ("Relu", "r", "x", "y"));
  bytes = finish_model (write_model (graph));
  module = gantry_onnx_import_bytes (context, bytes, "test.onnx", &options, &info, NULL, &error);
  g_assert_no_error (error);
  assert_type (module, "y", "f32[2,?,?]");
  g_assert_cmpstr (info->unbound[0], ==, "x:1");
  g_assert_cmpstr (info->unbound[1], ==, "x:2");
  g_assert_null (info->unbound[2]);
}

/* The versions that README.md promises are those that no warning is given for. */
static void
test_opsets (void)
{
  const char *root = g_getenv ("GANTRY_SOURCE_ROOT");
  g_autofree char *path = g_build_filename (root != NULL ? root : ".", "README.md", NULL), *text = NULL, *said = NULL;

  g_assert_true (g_file_get_contents (path, &text, NULL, NULL));
  said = g_strdup_printf ("ONNX, opsets %d to %d,", GANTRY_ONNX_OLDEST_OPSET, GANTRY_ONNX_NEWEST_OPSET);
  g_assert_nonnull (strstr (text, said));
  for (gint64 opset = GANTRY_ONNX_OLDEST_OPSET - 1; opset <= GANTRY_ONNX_NEWEST_OPSET + 1; opset++)
    {
      g_autoptr (GantryContext) context = gantry_context_new ();
      g_autoptr (GantryOnnxInfo) info = NULL;
      g_autoptr (GantryModule) module = NULL;
      Message *graph = message_new ();
      gboolean known = opset >= GANTRY_ONNX_OLDEST_OPSET && opset <= GANTRY_ONNX_NEWEST_OPSET;

      put_input (graph, write_value ("x", ELEMENT_FLOAT, "2"));
      put_output (graph, write_value ("y", ELEMENT_FLOAT, NULL));
      put_node (graph, write_node ("Relu", "r", "x", "y"));
      module = import_model (context, write_model_with (graph, 8, opset), &info);
      g_assert_cmpuint (g_strv_length (info->warnings), ==, known ? 0 : 1);
    }
}

static void
test_bound_dims (void)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryModule) by_name = import_bound (context, "n", 4, NULL, &error);
  g_autoptr (GantryModule) by_place = NULL;

  g_assert_no_error (error);
  assert_type (by_name, "a", "f32[4,3,?]");
  assert_type (by_name, "y", "f32[8,3,?]");
  by_place = import_bound (context, "x:2", 5, NULL, &error);
  g_assert_no_error (error);
  assert_type (by_place, "a", "f32[n,3,5]");
}

static void
test_wrong_dim (void)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryModule) module = import_bound (context, "batch", 4, NULL, &error);

  g_assert_null (module);
  g_assert_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID);
  g_assert_cmpstr (error->message, ==, "test.onnx: no input has a dimension 'batch' to bind; the dimensions still free are: n, x:2");
}

static void
test_folded_shape (void)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GantryModule) module = NULL;
  static const gint64 minus_one = -1, zero = 0;
  Message *graph = message_new (), *concat = write_node ("Concat", "c", "first,rest", "wanted");

  put_input (graph, write_value ("x", ELEMENT_FLOAT, "2,3,4"));
  put_output (graph, write_value ("y", ELEMENT_FLOAT, NULL));
  put_initializer (graph, write_tensor ("rest", ELEMENT_INT64, "1", &minus_one, 8));
  put_initializer (graph, write_tensor ("zero", ELEMENT_INT64, "1", &zero, 8));
  put_node (graph, write_node ("Shape", "s", "x", "shape"));
  put_node (graph, write_node ("Gather", "g", "shape,zero", "first"));
  put_attribute (concat, write_attribute_int ("axis", 0));
  put_node (graph, concat);
  put_node (graph, write_node ("Reshape", "r", "x,wanted", "y"));
  module = import_model (context, write_model (graph), NULL);
  assert_type (module, "y", "f32[2,12]");
}

/* Unknown operations */

static void
test_unknown (void)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GantryOnnxInfo) info = NULL;
  g_autoptr (GantryModule) module = NULL;
  Message *graph = message_new (), *node;

  put_input (graph, write_value ("x", ELEMENT_FLOAT, "2"));
  put_output (graph, write_value ("y", ELEMENT_FLOAT, NULL));
  put_message (graph, 13, write_value ("b", ELEMENT_FLOAT, "2"));
  put_node (graph, write_node ("Odd", "first", "x", "a"));
  put_node (graph, write_node ("Odd", "second", "a", "b"));
  node = write_node ("FusedThing", "third", "b", "c");
  put_text (node, 7, "com.example");
  put_node (graph, node);
  put_node (graph, write_node ("Relu", "after", "b", "y"));
  module = import_model (context, write_model (graph), &info);
  assert_op (module, "c", "onnx.com.example.FusedThing");
  g_assert_true (gantry_context_dialect_of (context, find_value (module, "c")->op) == gantry_onnx_dialect ());
  g_assert_cmpuint (info->n_unsupported, ==, 2);
  g_assert_cmpstr (info->unsupported[0].operation, ==, "Odd");
  g_assert_cmpuint (info->unsupported[0].count, ==, 2);
  g_assert_cmpstr (info->unsupported[0].first, ==, "node 1 'first'");
  g_assert_cmpstr (info->unsupported[1].operation, ==, "com.example.FusedThing");
  /* What the file declares goes on from there. */
  assert_type (module, "a", "?");
  assert_type (module, "b", "f32[2]");
  assert_type (module, "y", "f32[2]");
  g_assert_cmpuint (info->n_untyped, ==, 2);
  /* Nobody said of which version that domain is. */
  g_assert_nonnull (strstr (info->warnings[0], "com.example"));
}

static void
test_opset_warning (void)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GantryOnnxInfo) info = NULL;
  g_autoptr (GantryModule) module = NULL;
  Message *graph = simple_graph ();

  put_node (graph, write_node ("Relu", "r", "x", "y"));
  module = import_model (context, write_model_with (graph, 10, 30), &info);
  g_assert_cmpuint (g_strv_length (info->warnings), ==, 1);
  g_assert_nonnull (strstr (info->warnings[0], "operator set 30"));
  g_assert_cmpint (info->opsets[0].version, ==, 30);
}

static void
test_cancelled (void)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) bytes = NULL;
  GantryProgress progress = { .cancellable = cancellable };
  Message *graph = simple_graph ();

  put_node (graph, write_node ("Relu", "r", "x", "y"));
  bytes = finish_model (write_model (graph));
  g_cancellable_cancel (cancellable);
  g_assert_null (gantry_onnx_import_bytes (context, bytes, "test.onnx", NULL, NULL, &progress, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (gsize i = 0; i < G_N_ELEMENTS (models); i++)
    {
      g_autofree char *name = g_strconcat ("/models/", models[i].name, NULL);

      g_test_add_data_func (name, GSIZE_TO_POINTER (i), test_model);
    }
  g_test_add_func ("/data/mapped", test_mapped);
  g_test_add_func ("/data/read-tensor", test_read_tensor);
  g_test_add_func ("/node/operands", test_operands);
  g_test_add_func ("/node/trailing-absent", test_trailing_absent);
  g_test_add_func ("/node/results", test_results);
  g_test_add_func ("/node/attributes", test_attributes);
  g_test_add_func ("/graph/order", test_order);
  g_test_add_func ("/graph/weights-among-inputs", test_weights_among_inputs);
  g_test_add_func ("/names/scopes", test_scopes);
  g_test_add_func ("/names/scopes-of-parameters", test_scopes_of_parameters);
  g_test_add_func ("/names/places", test_places);
  g_test_add_func ("/types/free-dims", test_free_dims);
  g_test_add_func ("/types/question-marks", test_question_marks);
  g_test_add_func ("/types/opsets", test_opsets);
  g_test_add_func ("/types/bound-dims", test_bound_dims);
  g_test_add_func ("/types/wrong-dim", test_wrong_dim);
  g_test_add_func ("/types/folded-shape", test_folded_shape);
  g_test_add_func ("/unknown/operation", test_unknown);
  g_test_add_func ("/unknown/opset", test_opset_warning);
  g_test_add_func ("/cancelled", test_cancelled);
  return g_test_run ();
}
