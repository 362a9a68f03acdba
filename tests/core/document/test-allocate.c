/* SPDX-License-Identifier: Apache-2.0 */
/* Every reader without memory: of the calls that take as much as a file says, the first fails, then the second, and so on: each
 * time reading ends in an error that tells the size, and nothing is left behind. */
#include "app/cli/frames.h"
#include "core/base/allocate.h"
#include "core/compiler/tensor-file.h"
#include "core/document/session-private.h"
#include "core/frontends/onnx/onnx.h"
#include "core/graph/text.h"
#include <glib/gstdio.h>
#include <string.h>

/* The linker gives the readers' calls to the first of these, and its own to the second. */
gpointer __wrap_gantry_try_allocate (gsize n, gsize size, const char *what, GError **error);
gpointer __real_gantry_try_allocate (gsize n, gsize size, const char *what, GError **error);

static struct
{
  guint calls, fatal; /* fatal: the call that fails, from 1; 0: none */
} memory;

gpointer
__wrap_gantry_try_allocate (gsize n, gsize size, const char *what, GError **error)
{
  if (++memory.calls == memory.fatal)
    return __real_gantry_try_allocate (G_MAXSIZE / 2, 1, what, error);
  return __real_gantry_try_allocate (n, size, what, error);
}

typedef gboolean (*Reader) (const char *path, GError **error);

static gboolean
read_onnx (const char *path, GError **error)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GantryOnnxInfo) info = NULL;
  g_autoptr (GantryModule) module = gantry_onnx_import (context, path, &(GantryOnnxOptions){ .max_nodes = 5000 }, &info, NULL, error);

  return module != NULL;
}

static gboolean
read_text (const char *path, GError **error)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autofree char *text = NULL;
  g_autoptr (GantryModule) module = NULL;

  if (!g_file_get_contents (path, &text, NULL, error))
    return FALSE;
  module = gantry_module_from_text (context, text, -1, path, error);
  return module != NULL;
}

static gboolean
read_tensor (const char *path, GError **error)
{
  const GantryDim four = 4;
  g_autoptr (GantryContext) context = gantry_context_new ();
  const GantryType *type = gantry_context_type (context, gantry_context_tensor (context, GANTRY_BF16, 1, &four));
  g_autoptr (GantryLiteral) literal = gantry_tensor_file_read (context, path, type, error);

  return literal != NULL;
}

static gboolean
read_session (const char *path, GError **error)
{
  g_autoptr (GantryDocument) document = gantry_document_new ();

  return gantry_document_open (document, path, NULL, NULL, error);
}

static gboolean
read_frames (const char *path, GError **error)
{
  g_autofree char *bytes = NULL;
  gsize size = 0;
  g_autoptr (GInputStream) stream = NULL;
  GantryFrame frame = { 0 };
  gboolean read;

  if (!g_file_get_contents (path, &bytes, &size, error))
    return FALSE;
  stream = g_memory_input_stream_new_from_data (bytes, (gssize) size, NULL);
  read = gantry_frame_read (stream, &frame, error);
  gantry_frame_clear (&frame);
  return read;
}

/* Returns: how many calls were made to fail */
static guint
fail_each (Reader read, const char *path)
{
  g_autoptr (GError) error = NULL;
  guint n;

  memory.calls = memory.fatal = 0;
  if (!read (path, &error))
    return 0; /* no file that can be read */
  n = memory.calls;
  for (guint i = 1; i <= n; i++)
    {
      g_autoptr (GError) refused = NULL;

      memory.calls = 0;
      memory.fatal = i;
      g_assert_false (read (path, &refused));
      g_assert_error (refused, GANTRY_ERROR, GANTRY_ERROR_NO_MEMORY);
      g_assert_nonnull (strstr (refused->message, "would take"));
    }
  memory.fatal = 0;
  return n;
}

static void
fail_in_folder (Reader read, const char *folder)
{
  g_autofree char *path = g_build_filename (g_getenv ("GANTRY_SOURCE_ROOT"), folder, NULL);
  g_autoptr (GDir) dir = g_dir_open (path, 0, NULL);
  const char *name;
  guint n = 0;

  g_assert_nonnull (dir);
  while ((name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *file = g_build_filename (path, name, NULL);

      n += fail_each (read, file);
    }
  g_test_message ("%u calls", n);
  g_assert_cmpuint (n, >, 0);
}

static void
test_onnx (void)
{
  fail_in_folder (read_onnx, "fuzz/corpus/onnx");
}

static void
test_text (void)
{
  fail_in_folder (read_text, "fuzz/corpus/text");
}

static void
test_frames (void)
{
  fail_in_folder (read_frames, "fuzz/corpus/frames");
}

static void
write_file (const char *path, gconstpointer data, gsize size)
{
  g_autoptr (GError) error = NULL;

  g_file_set_contents (path, data, (gssize) size, &error);
  g_assert_no_error (error);
}

static void
test_tensor (void)
{
  static const char numpy[] = "\x93NUMPY\x01\x00\x42\x00{'descr': '<f4', 'fortran_order': False, 'shape': (4,), }        \n"
                              "\0\0\200\77\0\0\0\100\0\0\100\100\0\0\200\100";
  static const char proto[] = "\x08\x02\x10\x06\x2a\x02\x01\x02"; /* dims 2, INT32, int32_data 1 and 2 */
  g_autofree char *folder = g_dir_make_tmp ("gantry-test-XXXXXX", NULL);
  g_autofree char *npy = g_build_filename (folder, "t.npy", NULL), *pb = g_build_filename (folder, "t.pb", NULL);

  write_file (npy, numpy, sizeof numpy - 1);
  g_assert_cmpuint (fail_each (read_tensor, npy), >, 0);
  write_file (pb, proto, sizeof proto - 1);
  g_assert_cmpuint (fail_each (read_tensor, pb), >, 0);
  g_unlink (npy);
  g_unlink (pb);
  g_rmdir (folder);
}

/* A session with a run: plan, recording, code. */
static void
test_session (void)
{
  static const char model_text[] = "module \"m\" { func @main #1 (%1 \"x\": f32[2,4], %2 \"w\": f32[4,4] {role = \"parameter\"}) -> (%4) {"
                                   "%3 \"a\" = dot_general(%1, %2) {lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]}: f32[2,4]"
                                   "%4 \"y\" = tanh(%3): f32[2,4] } }";
  static const char more[] = "PRAGMA application_id = 1198421106; INSERT INTO plan_problems VALUES (1, 3, 1, 0, 'why');"
                             "UPDATE code SET cubin = x'0001';";
  g_autofree char *sql_path = g_build_filename (g_getenv ("GANTRY_SOURCE_ROOT"), "fuzz/corpus/session/run.sql", NULL);
  g_autofree char *folder = g_dir_make_tmp ("gantry-test-XXXXXX", NULL), *sql = NULL;
  g_autofree char *path = g_build_filename (folder, "s.gantry", NULL), *model = g_build_filename (folder, "model.gir", NULL);
  g_autoptr (GError) error = NULL;
  sqlite3 *db;

  g_file_get_contents (sql_path, &sql, NULL, &error);
  g_assert_no_error (error);
  write_file (model, model_text, strlen (model_text));
  g_assert_cmpint (sqlite3_open (path, &db), ==, SQLITE_OK);
  g_assert_cmpint (sqlite3_exec (db, sql, NULL, NULL, NULL), ==, SQLITE_OK);
  g_assert_cmpint (sqlite3_exec (db, more, NULL, NULL, NULL), ==, SQLITE_OK);
  sqlite3_close (db);
  g_assert_cmpuint (fail_each (read_session, path), >, 10);
  g_unlink (path);
  g_unlink (model);
  g_rmdir (folder);
}

/* What no machine has is refused, told with its size. */
static void
test_refused (void)
{
  g_autoptr (GError) error = NULL;

  g_assert_null (gantry_try_allocate (G_MAXSIZE / 4, 8, "a table", &error));
  g_assert_error (error, GANTRY_ERROR, GANTRY_ERROR_NO_MEMORY);
  g_assert_true (g_str_has_prefix (error->message, "a table would take more bytes than can be counted"));
  g_clear_error (&error);
  g_assert_null (gantry_try_allocate (1, G_GUINT64_CONSTANT (1) << 50, "a table", &error));
  g_assert_cmpstr (error->message, ==, "a table would take 1.00 PiB, which is more than this machine has");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/allocate/refused", test_refused);
  g_test_add_func ("/allocate/onnx", test_onnx);
  g_test_add_func ("/allocate/text", test_text);
  g_test_add_func ("/allocate/tensor", test_tensor);
  g_test_add_func ("/allocate/session", test_session);
  g_test_add_func ("/allocate/frames", test_frames);
  return g_test_run ();
}
