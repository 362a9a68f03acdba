/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzz target of references to external data. The input is lines "location", "offset", "length", "dims" (as many as there
 * are) of one weight; a model with it is written here, beside a file "w.bin" of 64 bytes and a link "link.bin" to it. It imports, and then
 * the bytes of the weight can be read, or ends in an error. */

#include "core/frontends/onnx/onnx.h"
#include "core/graph/graph.h"
#include "fuzz/fuzz-file.h"
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput (const guint8 *data, gsize size);

static void
put_varint (GByteArray *out, guint64 value)
{
  do
    {
      guint8 byte = (guint8) ((value & 0x7f) | (value > 0x7f ? 0x80 : 0));

      g_byte_array_append (out, &byte, 1);
      value >>= 7;
    }
  while (value > 0);
}

static void
put_bytes (GByteArray *out, guint field, gconstpointer data, gsize size)
{
  put_varint (out, field << 3 | 2);
  put_varint (out, size);
  g_byte_array_append (out, data, (guint) size);
}

static void
put_text (GByteArray *out, guint field, const char *text)
{
  put_bytes (out, field, text, strlen (text));
}

static void
put_number (GByteArray *out, guint field, guint64 value)
{
  put_varint (out, field << 3);
  put_varint (out, value);
}

/* Takes @message into @out as a field of it. */
static void
put_message (GByteArray *out, guint field, GByteArray *message)
{
  put_bytes (out, field, message->data, message->len);
  g_byte_array_unref (message);
}

/* TensorProto: dims 1, data_type 2, name 8, external_data 13 (key 1, value 2), data_location 14. */
static GByteArray *
make_weight (char **lines)
{
  static const char *const keys[] = { "location", "offset", "length" };
  GByteArray *tensor = g_byte_array_new ();

  for (guint i = 0, n = g_strv_length (lines); i < n; i++)
    if (i < 3 && *lines[i] != '\0')
      {
        GByteArray *entry = g_byte_array_new ();

        put_text (entry, 1, keys[i]);
        put_text (entry, 2, lines[i]);
        put_message (tensor, 13, entry);
      }
    else if (i >= 3 && i < 8)
      put_number (tensor, 1, (guint64) g_ascii_strtoll (lines[i], NULL, 10));
  put_number (tensor, 2, 1); /* FLOAT */
  put_text (tensor, 8, "w");
  put_number (tensor, 14, 1); /* EXTERNAL */
  return tensor;
}

/* ModelProto: ir_version 1, graph 7, opset_import 8 (version 2); GraphProto: node 1, name 2, initializer 5, output 12;
 * NodeProto: input 1, output 2, op_type 4; ValueInfoProto: name 1. (transfer full) */
static GByteArray *
make_model (char **lines)
{
  GByteArray *model = g_byte_array_new (), *graph = g_byte_array_new (), *node = g_byte_array_new ();
  GByteArray *opset = g_byte_array_new (), *output = g_byte_array_new ();

  put_text (node, 1, "w");
  put_text (node, 2, "y");
  put_text (node, 4, "Relu");
  put_message (graph, 1, node);
  put_text (graph, 2, "g");
  put_message (graph, 5, make_weight (lines));
  put_text (output, 1, "y");
  put_message (graph, 12, output);
  put_number (opset, 2, 17);
  put_number (model, 1, 8);
  put_message (model, 7, graph);
  put_message (model, 8, opset);
  return model;
}

static void
make_neighbours (void)
{
  static const guint8 values[64] = { 0, 0, 128, 63, 0, 0, 0, 64 };
  g_autofree char *weights = fuzz_file_path ("w.bin"), *link_path = fuzz_file_path ("link.bin");

  if (g_file_test (weights, G_FILE_TEST_EXISTS))
    return;
  g_free (fuzz_file_write ("w.bin", values, sizeof values));
  g_assert (symlink ("w.bin", link_path) == 0);
}

int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  g_autofree char *text = g_strndup ((const char *) data, size), *path = NULL;
  g_auto (GStrv) lines = g_strsplit (text, "\n", 9);
  g_autoptr (GByteArray) bytes = make_model (lines);
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GantryOnnxInfo) info = NULL;
  g_autoptr (GantryModule) module = NULL;
  g_autoptr (GError) error = NULL;
  const GantryOnnxOptions options = { .max_nodes = 100 };

  make_neighbours ();
  path = fuzz_file_write ("m.onnx", bytes->data, bytes->len);
  module = gantry_onnx_import (context, path, &options, &info, NULL, &error);
  g_assert ((module == NULL) == (error != NULL));
  if (module == NULL)
    g_assert (error->message[0] != '\0');
  else
    {
      /* Every byte that it says it has is there: the text form reads them all. */
      g_autofree char *all = gantry_module_to_text (module, NULL);

      g_assert (all[0] != '\0');
    }
  return 0;
}
