/* SPDX-License-Identifier: Apache-2.0 */
/* Files that are cut, damaged, too large, contradictory or no ONNX at all: each gives one error
 * that says what, where and what to do, and nothing that a file holds ends the program. */
#include "core/graph/graph.h"
#include "tests/core/frontends/onnx/model-writer.h"
#include "tests/random-seed.h"
#include <glib/gstdio.h>
#include <string.h>

static Message *
graph_with (Message *node)
{
  Message *graph = message_new ();

  put_input (graph, write_value ("x", ELEMENT_FLOAT, "2"));
  put_output (graph, write_value ("y", ELEMENT_FLOAT, NULL));
  if (node != NULL)
    put_node (graph, node);
  return graph;
}

static Message *
from_bytes (const char *bytes, gsize size)
{
  Message *m = message_new ();

  g_byte_array_append (m, (const guint8 *) bytes, (guint) size);
  return m;
}

/* No ONNX model */

static void
test_not_onnx (void)
{
  g_autofree char *zeros = g_malloc0 (64);

  assert_refused (from_bytes ("", 0), GANTRY_ERROR_TRUNCATED, "the file is empty", NULL);
  assert_refused (from_bytes ("\x89PNG\r\n\x1a\n", 8), GANTRY_ERROR_INVALID, "not an ONNX model: it is a PNG picture", NULL);
  assert_refused (from_bytes ("PK\x03\x04....", 8), GANTRY_ERROR_INVALID, "not an ONNX model", "torch.onnx", NULL);
  assert_refused (from_bytes ("module { }\n", 11), GANTRY_ERROR_INVALID, "not an ONNX model: it is text", NULL);
  assert_refused (from_bytes ("version https://git-lfs.github.com/spec/v1\n", 43), GANTRY_ERROR_INVALID, "git lfs pull", NULL);
  assert_refused (from_bytes (zeros, 64), GANTRY_ERROR_INVALID, "not an ONNX model", "0x00", NULL);
  assert_refused (from_bytes ("\x08\x07", 2), GANTRY_ERROR_INVALID, "not an ONNX model: it has no graph", NULL);
}

static void
test_no_file (void)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GError) error = NULL;

  g_assert_null (gantry_onnx_import (context, "no-such-file.onnx", NULL, NULL, NULL, &error));
  g_assert_error (error, G_FILE_ERROR, G_FILE_ERROR_NOENT);
  g_clear_error (&error);
  g_assert_null (gantry_onnx_import (context, g_get_tmp_dir (), NULL, NULL, NULL, &error));
  g_assert_error (error, G_FILE_ERROR, G_FILE_ERROR_ISDIR);
  g_clear_error (&error);
  g_assert_null (gantry_onnx_import (context, "/dev/null", NULL, NULL, NULL, &error));
  g_assert_error (error, G_FILE_ERROR, G_FILE_ERROR_INVAL);
}

/* Wire form */

static void
test_wire (void)
{
  Message *m;

  /* A bytes field that claims more than there is, two messages deep. */
  m = write_model (from_bytes ("\x2a\x06\x42\x01w\x4a\x7f\x00", 8));
  assert_refused (m, GANTRY_ERROR_INVALID, "graph.initializer[0].raw_data: length 127 at byte", "past the end of its message", NULL);
  m = from_bytes ("\x08\x07\x3a\x08\x2a\x06\x42\x01w\x4a\x7f\x00", 12);
  assert_refused (m, GANTRY_ERROR_INVALID, "graph.initializer[0].raw_data: length 127 at byte 9", NULL);
  m = from_bytes ("\x08\x07\x3a\x20\x2a\x12\x42\x01w\x4a\x0d\x00\x00\x00", 14);
  assert_refused (m, GANTRY_ERROR_TRUNCATED, "graph.initializer[0].raw_data: length 13 at byte 9 runs past the end of the file (14 bytes)", NULL);
  m = from_bytes ("\x08\x07\x3d\x00\x00\x00\x00", 7);
  assert_refused (m, GANTRY_ERROR_INVALID, "graph: the field at byte 2 has wire type 5 instead of 2", NULL);
  m = from_bytes ("\x08\x07\x3a\x03\x12\x01\xff", 7);
  assert_refused (m, GANTRY_ERROR_INVALID, "graph.name: the string at byte 4 is not UTF-8", NULL);
  m = from_bytes ("\x08\x07\x3a\x00\x3a\x00", 6);
  assert_refused (m, GANTRY_ERROR_INVALID, "graph: stands a second time at byte 4", NULL);
  m = from_bytes ("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 13);
  assert_refused (m, GANTRY_ERROR_INVALID, "ir_version: no number begins at byte 1", NULL);
  m = from_bytes ("\x08\x07\x3b", 3);
  assert_refused (m, GANTRY_ERROR_INVALID, "wire type 3", NULL);
}

static void
test_nesting (void)
{
  Message *inner = message_new ();

  for (guint i = 0; i < 60; i++)
    {
      Message *node = write_node ("If", "", "", ""), *graph = message_new ();

      put_attribute (node, write_attribute_graph ("then_branch", inner));
      put_node (graph, node);
      inner = graph;
    }
  assert_refused (write_model (inner), GANTRY_ERROR_TOO_LARGE, "messages nest more than 100 deep", NULL);
}

/* The scanner's own fields must not come from a file: they would let it name any place in it. */
static void
test_private_fields (void)
{
  Message *graph = graph_with (write_node ("Add", "a", "x,w", "y")), *tensor, *span = message_new ();

  tensor = write_tensor ("w", ELEMENT_FLOAT, "2", NULL, 0);
  put_int (span, 1, 9);
  put_int (span, 2, G_GINT64_CONSTANT (1) << 40);
  put_int (span, 3, 8);
  put_message (tensor, 100000001, span);
  put_initializer (graph, tensor);
  assert_refused (write_model (graph), GANTRY_ERROR_INVALID, "initializer 'w'", "float_data has 0 bytes", NULL);
}

/* Graphs */

static void
test_cyclic (void)
{
  Message *graph = graph_with (write_node ("Add", "a", "x,c", "b"));

  put_node (graph, write_node ("Neg", "n", "b", "c"));
  put_node (graph, write_node ("Relu", "r", "b", "y"));
  assert_refused (write_model (graph), GANTRY_ERROR_INVALID, "the graph is cyclic", "node 1 'a' (Add) needs node 2 'n' (Neg) needs the first again", NULL);
  assert_refused (write_model (graph_with (write_node ("Add", "self", "x,y", "y"))), GANTRY_ERROR_INVALID,
                  "the graph is cyclic: node 1 'self' (Add) needs the first again", NULL);
}

static void
test_names (void)
{
  Message *graph = graph_with (write_node ("Neg", "a", "x", "y"));

  put_node (graph, write_node ("Abs", "b", "x", "y"));
  assert_refused (write_model (graph), GANTRY_ERROR_INVALID, "value 'y' is produced by node 1 'a' (Neg) and by node 2 'b' (Abs)", NULL);
  graph = graph_with (write_node ("Neg", "a", "x", "x"));
  assert_refused (write_model (graph), GANTRY_ERROR_INVALID, "value 'x' is produced by an input or initializer and by node 1", NULL);
  graph = graph_with (write_node ("Neg", "a", "x", "y"));
  put_input (graph, write_value ("x", ELEMENT_FLOAT, "2"));
  assert_refused (write_model (graph), GANTRY_ERROR_INVALID, "value 'x' is given twice", NULL);
  graph = graph_with (write_node ("Add", "a", "x,ghost", "y"));
  assert_refused (write_model (graph), GANTRY_ERROR_INVALID, "node 1 'a' (Add): input 'ghost' is produced by no node", NULL);
  assert_refused (write_model (graph_with (NULL)), GANTRY_ERROR_INVALID, "output 'y' is produced by no node", NULL);
  assert_refused (write_model (graph_with (write_node ("", "a", "x", "y"))), GANTRY_ERROR_INVALID, "names no operation", NULL);
}

static void
test_no_opset (void)
{
  Message *model = message_new ();

  put_int (model, 1, 8);
  put_message (model, 7, graph_with (write_node ("Neg", "a", "x", "y")));
  assert_refused (model, GANTRY_ERROR_INVALID, "opset_import", NULL);
}

/* Tensors */

static void
refuse_weight (Message *tensor, gint code, const char *what)
{
  Message *graph = graph_with (write_node ("Add", "a", "x,w", "y"));

  put_initializer (graph, tensor);
  assert_refused (write_model (graph), code, "initializer 'w': ", what, NULL);
}

static void
test_weights (void)
{
  static const float data[4] = { 1, 2, 3, 4 };
  Message *tensor;

  refuse_weight (write_tensor ("w", ELEMENT_FLOAT, "3", data, 16), GANTRY_ERROR_INVALID, "raw_data has 16 bytes, but its type f32[3] needs 12");
  refuse_weight (write_tensor ("w", ELEMENT_FLOAT, "-3", data, 12), GANTRY_ERROR_INVALID, "dimension 0 is -3");
  refuse_weight (write_tensor ("w", 77, "2", data, 8), GANTRY_ERROR_INVALID, "data_type 77");
  refuse_weight (write_tensor ("w", ELEMENT_FLOAT, "4294967296,4294967296,4294967296", data, 8), GANTRY_ERROR_TOO_LARGE, "more than any memory");
  refuse_weight (write_tensor ("w", ELEMENT_FLOAT, "2,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1", data, 8), GANTRY_ERROR_TOO_LARGE, "17 dimensions");
  tensor = write_tensor ("w", ELEMENT_INT8, "2", NULL, 0);
  put_int (tensor, 5, 1);
  put_int (tensor, 5, 300);
  refuse_weight (tensor, GANTRY_ERROR_INVALID, "int32_data[1] is 300, which is no i8");
  tensor = write_tensor ("w", ELEMENT_INT32, "1", NULL, 0);
  put_bytes (tensor, 5, "\x01\x02", 2);
  refuse_weight (tensor, GANTRY_ERROR_INVALID, "more than the 1 numbers");
  tensor = write_tensor ("w", ELEMENT_FLOAT, "2", NULL, 0);
  put_bytes (tensor, 4, data, 8);
  put_bytes (tensor, 4, data, 8);
  refuse_weight (tensor, GANTRY_ERROR_INVALID, "float_data has 16 bytes");
}

/* Cut and damaged files */

static GBytes *
good_model (void)
{
  static const float data[16] = { 1 };
  Message *graph = message_new (), *node = write_node ("If", "if", "c", "y"), *one = message_new (), *two = message_new ();
  Message *model;

  put_node (one, write_node ("Add", "/b/add", "m,w", "s"));
  put_output (one, write_value ("s", ELEMENT_FLOAT, "n,4"));
  put_node (two, write_node ("Neg", "/b/neg", "m", "t"));
  put_output (two, write_value ("t", ELEMENT_FLOAT, "n,4"));
  put_attribute (node, write_attribute_graph ("then_branch", one));
  put_attribute (node, write_attribute_graph ("else_branch", two));
  put_input (graph, write_value ("x", ELEMENT_FLOAT, "n,4"));
  put_input (graph, write_value ("c", ELEMENT_BOOL, ""));
  put_initializer (graph, write_tensor ("v", ELEMENT_FLOAT, "4,4", data, sizeof data));
  put_initializer (graph, write_tensor ("w", ELEMENT_FLOAT, "4", data, 16));
  put_node (graph, write_node ("MatMul", "/a/matmul", "x,v", "m"));
  put_node (graph, node);
  put_output (graph, write_value ("y", ELEMENT_FLOAT, NULL));
  model = write_model (graph);
  return finish_model (model);
}

/* Imports and says what came of it; the caller cares only that something did. */
static gboolean
import_any (const guint8 *data, gsize size, GError **error)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  /* A copy of its own, so that a read past the end is found. */
  g_autoptr (GBytes) bytes = g_bytes_new (data, size);
  g_autoptr (GantryOnnxInfo) info = NULL;
  GantryOnnxOptions options = { .max_nodes = 10000 };
  g_autoptr (GantryModule) module = gantry_onnx_import_bytes (context, bytes, "test.onnx", &options, &info, NULL, error);

  if (module == NULL)
    return FALSE;
  gantry_verify (module, NULL, error);
  g_assert_no_error (*error);
  return TRUE;
}

static void
cut_everywhere (const guint8 *data, gsize size)
{
  for (guint i = 0; i < 200; i++)
    {
      g_autoptr (GError) error = NULL;

      g_assert_false (import_any (data, size * i / 200, &error));
      g_assert_true (error->domain == GANTRY_ERROR);
      g_assert_true (error->code == GANTRY_ERROR_TRUNCATED || error->code == GANTRY_ERROR_INVALID);
      g_assert_true (g_str_has_prefix (error->message, "test.onnx: "));
    }
}

static void
test_cut (void)
{
  g_autoptr (GBytes) model = good_model ();
  gsize size;
  const guint8 *data = g_bytes_get_data (model, &size);
  g_autoptr (GError) error = NULL;

  g_assert_true (import_any (data, size, &error));
  g_assert_no_error (error);
  cut_everywhere (data, size);
}

static void
test_cut_real (void)
{
  g_autofree char *path = shared_data ("onnx/silero_vad_16k_op15.onnx");
  g_autofree char *contents = NULL;
  gsize size;

  if (path == NULL)
    return;
  g_assert_true (g_file_get_contents (path, &contents, &size, NULL));
  cut_everywhere ((const guint8 *) contents, size);
}

static void
flip (const guint8 *data, gsize size, guint times)
{
  g_autofree guint8 *copy = g_memdup2 (data, size);
  GRand *rand = test_rand (20240229);
  guint opened = 0;

  for (guint i = 0; i < times; i++)
    {
      gsize at = (gsize) g_rand_int (rand) % size;
      guint8 bits = (guint8) g_rand_int_range (rand, 1, 256);
      g_autoptr (GError) error = NULL;

      copy[at] ^= bits;
      if (import_any (copy, size, &error))
        opened++;
      else
        g_assert_true (strlen (error->message) > strlen ("test.onnx: "));
      copy[at] ^= bits;
    }
  g_rand_free (rand);
  g_test_message ("%u of %u damaged files opened", opened, times);
}

static void
test_flip (void)
{
  g_autoptr (GBytes) model = good_model ();
  gsize size;
  const guint8 *data = g_bytes_get_data (model, &size);

  flip (data, size, 2000);
}

static void
test_flip_real (void)
{
  static const char *const names[] = { "onnx/light_zfnet512.onnx", "onnx/light_bvlc_alexnet.onnx" };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_autofree char *path = shared_data (names[i]);
      g_autofree char *contents = NULL;
      gsize size;

      if (path == NULL)
        return;
      g_assert_true (g_file_get_contents (path, &contents, &size, NULL));
      flip ((const guint8 *) contents, size, 300);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/broken/not-onnx", test_not_onnx);
  g_test_add_func ("/broken/no-file", test_no_file);
  g_test_add_func ("/broken/wire", test_wire);
  g_test_add_func ("/broken/nesting", test_nesting);
  g_test_add_func ("/broken/private-fields", test_private_fields);
  g_test_add_func ("/broken/cyclic", test_cyclic);
  g_test_add_func ("/broken/names", test_names);
  g_test_add_func ("/broken/no-opset", test_no_opset);
  g_test_add_func ("/broken/weights", test_weights);
  g_test_add_func ("/broken/cut", test_cut);
  g_test_add_func ("/broken/cut-real", test_cut_real);
  g_test_add_func ("/broken/flip", test_flip);
  g_test_add_func ("/broken/flip-real", test_flip_real);
  return g_test_run ();
}
