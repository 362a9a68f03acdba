/* SPDX-License-Identifier: Apache-2.0 */
/* Where the values of tensors come from: raw bytes, typed lists of each kind, files beside the
 * model. */
#include "core/graph/graph.h"
#include "tests/core/frontends/onnx/model-writer.h"
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

/* A model whose one weight "w" is @tensor. */
static Message *
model_of (Message *tensor)
{
  Message *graph = message_new ();

  put_initializer (graph, tensor);
  put_node (graph, write_node ("Identity", "i", "w", "y"));
  put_output (graph, write_value ("y", ELEMENT_FLOAT, NULL));
  return write_model (graph);
}

static GantryLiteral *
value_of (const GantryModule *module, const char *name)
{
  const GantryAttr *value = gantry_attrs_find (module->context, find_value (module, name)->attrs, "value");

  g_assert_nonnull (value);
  g_assert_cmpuint (value->kind, ==, GANTRY_ATTR_LITERAL);
  return gantry_context_literal (module->context, value->id);
}

/* Typed lists */

static void
test_packed_numbers (void)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GantryModule) module = NULL;
  Message *tensor = write_tensor ("w", ELEMENT_INT64, "3", NULL, 0);

  put_bytes (tensor, 7, "\x05\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x80\x01", 13);
  module = import_model (context, model_of (tensor), NULL);
  g_assert_cmpint (gantry_literal_get_int (value_of (module, "w"), 0), ==, 5);
  g_assert_cmpint (gantry_literal_get_int (value_of (module, "w"), 1), ==, -1);
  g_assert_cmpint (gantry_literal_get_int (value_of (module, "w"), 2), ==, 128);
}

static void
test_single_numbers (void)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GantryModule) module = NULL;
  Message *tensor = write_tensor ("w", ELEMENT_INT8, "2", NULL, 0);

  put_int (tensor, 5, 7);
  put_int (tensor, 5, -8);
  module = import_model (context, model_of (tensor), NULL);
  assert_type (module, "w", "i8[2]");
  g_assert_cmpint (gantry_literal_get_int (value_of (module, "w"), 1), ==, -8);
}

/* Above a kilobyte the numbers are not unpacked with the graph. */
static void
test_many_numbers (void)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GantryModule) module = NULL;
  Message *tensor = write_tensor ("w", ELEMENT_INT32, "3000", NULL, 0), *numbers = message_new ();

  for (guint i = 0; i < 3000; i++)
    {
      guint8 bytes[2] = { (guint8) (0x80 | (i & 0x7f)), (guint8) (i >> 7) };

      g_byte_array_append (numbers, bytes, 2);
    }
  put_message (tensor, 5, numbers);
  module = import_model (context, model_of (tensor), NULL);
  for (gint64 i = 0; i < 3000; i++)
    g_assert_cmpint (gantry_literal_get_int (value_of (module, "w"), i), ==, i);
}

static void
check_floats (guint n)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GantryModule) module = NULL;
  g_autofree float *data = g_new (float, n);
  g_autofree char *dims = g_strdup_printf ("%u", n);
  Message *tensor = write_tensor ("w", ELEMENT_FLOAT, dims, NULL, 0);

  for (guint i = 0; i < n; i++)
    data[i] = (float) i / 8;
  put_bytes (tensor, 4, data, n * sizeof *data);
  module = import_model (context, model_of (tensor), NULL);
  g_assert_cmpmem (value_of (module, "w")->data, value_of (module, "w")->size, data, n * sizeof *data);
}

static void
test_floats (void)
{
  check_floats (3);
  check_floats (5000);
}

/* Large weights lie in the bytes of the model and nowhere else. */
static void
test_no_copy (void)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autofree guint8 *data = g_malloc0 (40000);
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryModule) module = NULL;
  g_autoptr (GBytes) bytes = finish_model (model_of (write_tensor ("w", ELEMENT_FLOAT, "10000", data, 40000)));
  gsize size;
  const guint8 *start = g_bytes_get_data (bytes, &size);

  module = gantry_onnx_import_bytes (context, bytes, "test.onnx", NULL, NULL, NULL, &error);
  g_assert_no_error (error);
  g_assert_true (value_of (module, "w")->data > start && value_of (module, "w")->data + 40000 <= start + size);
  g_assert_true (value_of (module, "w")->data == start + value_of (module, "w")->source_offset);
}

static void
test_booleans (void)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GantryModule) module = NULL;

  module = import_model (context, model_of (write_tensor ("w", ELEMENT_BOOL, "3", "\x00\x01\xff", 3)), NULL);
  g_assert_cmpmem (value_of (module, "w")->data, 3, "\x00\x01\x01", 3);
}

static void
test_empty (void)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GantryModule) module = NULL;

  module = import_model (context, model_of (write_tensor ("w", ELEMENT_FLOAT, "0,3", "", 0)), NULL);
  assert_type (module, "w", "f32[0,3]");
  g_assert_cmpuint (value_of (module, "w")->size, ==, 0);
}

/* Element types that are not compiled open all the same. */
static void
test_uncompiled (void)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GantryOnnxInfo) info = NULL;
  g_autoptr (GantryOnnxInfo) other = NULL;
  g_autoptr (GantryModule) nibbles = NULL;
  g_autoptr (GantryModule) strings = NULL;
  Message *tensor = write_tensor ("w", ELEMENT_STRING, "2", NULL, 0);
  const GantryAttr *texts;

  nibbles = import_model (context, model_of (write_tensor ("w", ELEMENT_INT4, "2", "\x21", 1)), &info);
  assert_op (nibbles, "w", "onnx.Initializer");
  assert_type (nibbles, "w", "i4[2]");
  g_assert_cmpstr (info->unsupported[0].operation, ==, "Initializer");
  g_assert_cmpstr (info->unsupported[0].why, ==, "element type i4 is not compiled");
  put_text (tensor, 6, "one");
  put_text (tensor, 6, "t\377o");
  strings = import_model (context, model_of (tensor), &other);
  texts = gantry_attrs_find (context, find_value (strings, "w")->attrs, "value");
  g_assert_cmpuint (texts->kind, ==, GANTRY_ATTR_STRINGS);
  g_assert_cmpuint (texts->n, ==, 2);
  g_assert_cmpstr (gantry_context_string (context, texts->ids[0]), ==, "one");
  g_assert_cmpstr (gantry_context_string (context, texts->ids[1]), ==, "t\xef\xbf\xbdo");
}

/* Files beside the model */

typedef struct
{
  char *folder;
  char *model;
} Files;

static void
files_up (Files *files, gconstpointer data)
{
  g_autofree char *weights = NULL;
  float numbers[8] = { 0, 1, 2, 3, 4, 5, 6, 7 };

  files->folder = g_dir_make_tmp ("gantry-onnx-XXXXXX", NULL);
  files->model = g_build_filename (files->folder, "model.onnx", NULL);
  weights = g_build_filename (files->folder, "weights.bin", NULL);
  g_assert_true (g_file_set_contents (weights, (const char *) numbers, sizeof numbers, NULL));
}

static void
files_down (Files *files, gconstpointer data)
{
  g_autofree char *weights = g_build_filename (files->folder, "weights.bin", NULL);

  g_remove (weights);
  g_remove (files->model);
  g_rmdir (files->folder);
  g_free (files->folder);
  g_free (files->model);
}

static void
put_entry (Message *tensor, const char *key, const char *value)
{
  Message *entry = message_new ();

  if (value == NULL)
    {
      g_byte_array_unref (entry);
      return;
    }
  put_text (entry, 1, key);
  put_text (entry, 2, value);
  put_message (tensor, 13, entry);
}

static GantryModule *
open_external (Files *files, GantryContext *context, const char *location, const char *offset, const char *length, GError **error)
{
  Message *tensor = write_tensor ("w", ELEMENT_FLOAT, "3", NULL, 0), *model;

  put_entry (tensor, "location", location);
  put_entry (tensor, "offset", offset);
  put_entry (tensor, "length", length);
  put_int (tensor, 14, 1);
  model = model_of (tensor);
  g_assert_true (g_file_set_contents (files->model, (const char *) model->data, model->len, NULL));
  g_byte_array_unref (model);
  return gantry_onnx_import (context, files->model, NULL, NULL, NULL, error);
}

static void
test_external (Files *files, gconstpointer data)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryModule) module = open_external (files, context, "weights.bin", "8", "12", &error);
  g_autoptr (GantryModule) short_form = NULL;
  g_autofree char *weights = g_build_filename (files->folder, "weights.bin", NULL);

  g_assert_no_error (error);
  g_assert_cmpfloat (gantry_literal_get_double (value_of (module, "w"), 0), ==, 2);
  g_assert_cmpfloat (gantry_literal_get_double (value_of (module, "w"), 2), ==, 4);
  g_assert_cmpstr (value_of (module, "w")->source_path, ==, weights);
  g_assert_cmpuint (value_of (module, "w")->source_offset, ==, 8);
  short_form = open_external (files, context, "./weights.bin", NULL, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpfloat (gantry_literal_get_double (value_of (short_form, "w"), 2), ==, 2);
}

static void
refuse (Files *files, const char *location, const char *offset, const char *length, GQuark domain, gint code, const char *what)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryModule) module = open_external (files, context, location, offset, length, &error);

  g_assert_null (module);
  g_assert_error (error, domain, code);
  g_assert_nonnull (strstr (error->message, "model.onnx: initializer 'w': "));
  if (strstr (error->message, what) == NULL)
    g_error ("the message lacks \"%s\": %s", what, error->message);
}

static void
test_external_refused (Files *files, gconstpointer data)
{
  g_autofree char *absolute = g_build_filename (files->folder, "weights.bin", NULL);
  GQuark domain = GANTRY_ERROR;

  refuse (files, "../weights.bin", NULL, NULL, domain, GANTRY_ERROR_OUTSIDE, "outside the model's folder");
  refuse (files, "a/../../weights.bin", NULL, NULL, domain, GANTRY_ERROR_OUTSIDE, "outside the model's folder");
  refuse (files, absolute, NULL, NULL, domain, GANTRY_ERROR_OUTSIDE, "outside the model's folder");
  refuse (files, "", NULL, NULL, domain, GANTRY_ERROR_INVALID, "has no name");
  refuse (files, NULL, NULL, NULL, domain, GANTRY_ERROR_INVALID, "no file is named");
  refuse (files, "weights.bin", "24", NULL, domain, GANTRY_ERROR_TRUNCATED, "bytes 24 to 36 of 'weights.bin', which has 32 bytes");
  refuse (files, "weights.bin", "18446744073709551600", NULL, domain, GANTRY_ERROR_INVALID, "offset");
  refuse (files, "weights.bin", "four", NULL, domain, GANTRY_ERROR_INVALID, "'four' is not a number");
  refuse (files, "weights.bin", "0", "16", domain, GANTRY_ERROR_INVALID, "has 16 bytes, but its type f32[3] needs 12");
  refuse (files, "none.bin", NULL, NULL, G_FILE_ERROR, G_FILE_ERROR_NOENT, "none.bin");
}

/* A link is followed as far as the folder goes, and farther where the user allows it. */
static void
test_external_link (Files *files, gconstpointer data)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autofree char *outside = g_dir_make_tmp ("onnx-outside-XXXXXX", NULL), *secret = g_build_filename (outside, "secret", NULL);
  g_autofree char *link = g_build_filename (files->folder, "link.bin", NULL), *weights = g_build_filename (files->folder, "weights.bin", NULL);
  GantryOnnxOptions options = { .outside = TRUE };
  const float three[3] = { 5, 6, 7 };
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryModule) module = NULL;

  g_assert_true (g_file_set_contents (secret, (const char *) three, sizeof three, NULL));
  g_assert_cmpint (symlink (secret, link), ==, 0);
  refuse (files, "link.bin", NULL, NULL, GANTRY_ERROR, GANTRY_ERROR_OUTSIDE, "outside the model's folder");
  module = gantry_onnx_import (context, files->model, &options, NULL, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpfloat (gantry_literal_get_double (value_of (module, "w"), 1), ==, 6);
  g_clear_pointer (&module, gantry_module_unref);
  g_unlink (link);
  g_assert_cmpint (symlink ("weights.bin", link), ==, 0);
  module = open_external (files, context, "link.bin", NULL, NULL, &error);
  g_assert_no_error (error);
  g_unlink (link);
  g_unlink (secret);
  g_rmdir (outside);
}

/* What the user allows lies where its path says, also for whoever reads the model's files again. */
static void
test_external_absolute (Files *files, gconstpointer data)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autofree char *weights = g_build_filename (files->folder, "weights.bin", NULL);
  GantryOnnxOptions options = { .outside = TRUE };
  g_autoptr (GantryOnnxInfo) info = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryModule) module = NULL;

  refuse (files, weights, NULL, NULL, GANTRY_ERROR, GANTRY_ERROR_OUTSIDE, "outside the model's folder");
  module = gantry_onnx_import (context, files->model, &options, &info, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (g_strv_length (info->data_files), ==, 1);
  g_assert_cmpstr (info->data_files[0], ==, weights);
  g_assert_cmpstr (value_of (module, "w")->source_path, ==, weights);
}

static void
test_external_in_memory (void)
{
  Message *tensor = write_tensor ("w", ELEMENT_FLOAT, "3", NULL, 0);

  put_entry (tensor, "location", "weights.bin");
  put_int (tensor, 14, 1);
  assert_refused (model_of (tensor), GANTRY_ERROR_UNSUPPORTED, "weights.bin", "open the model file itself", NULL);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/data/packed-numbers", test_packed_numbers);
  g_test_add_func ("/data/single-numbers", test_single_numbers);
  g_test_add_func ("/data/many-numbers", test_many_numbers);
  g_test_add_func ("/data/floats", test_floats);
  g_test_add_func ("/data/no-copy", test_no_copy);
  g_test_add_func ("/data/booleans", test_booleans);
  g_test_add_func ("/data/empty", test_empty);
  g_test_add_func ("/data/uncompiled", test_uncompiled);
  g_test_add ("/external/read", Files, NULL, files_up, test_external, files_down);
  g_test_add ("/external/refused", Files, NULL, files_up, test_external_refused, files_down);
  g_test_add ("/external/link", Files, NULL, files_up, test_external_link, files_down);
  g_test_add ("/external/absolute", Files, NULL, files_up, test_external_absolute, files_down);
  g_test_add_func ("/external/in-memory", test_external_in_memory);
  return g_test_run ();
}
