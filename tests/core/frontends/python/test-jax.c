/* SPDX-License-Identifier: Apache-2.0 */
/* Programs in JAX's style run by the child: those of the document on host offloading as they are written, one test for each row of
 * its index, and small programs whose values JAX gave. Each program checks itself. */
#include <gio/gio.h>
#include <glib/gstdio.h>
#include <string.h>

#define SECONDS "150"

static gboolean have_document;

/* Rows that run programs of the document: they import their text. */
static gboolean
needs_document (const char *path)
{
  g_autofree char *text = NULL;

  return g_file_get_contents (path, &text, NULL, NULL) && strstr (text, "import document") != NULL;
}

static void
test_program (gconstpointer data)
{
  const char *path = data;
  g_autofree char *cli = g_build_filename (g_getenv ("GANTRY_BUILD_ROOT"), "app", "gantry-cli", NULL);
  g_autofree char *output = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (GSubprocess) child = NULL;

  if (needs_document (path) && !have_document)
    {
      g_test_skip ("the programs of the host-offloading document are not here: GANTRY_SHARED names their folder");
      return;
    }
  child = g_subprocess_new (G_SUBPROCESS_FLAGS_STDOUT_PIPE | G_SUBPROCESS_FLAGS_STDERR_MERGE, &error, "timeout", SECONDS, cli, "python",
                            path, NULL);
  g_assert_no_error (error);
  g_assert_true (g_subprocess_communicate_utf8 (child, NULL, NULL, &output, NULL, &error));
  g_assert_no_error (error);
  if (!g_subprocess_get_successful (child))
    g_test_message ("%s", output);
  g_assert_true (g_subprocess_get_successful (child));
}

/* A name that is not there says what is near and what there is. */
static void
test_unknown_name (void)
{
  g_autofree char *cli = g_build_filename (g_getenv ("GANTRY_BUILD_ROOT"), "app", "gantry-cli", NULL);
  g_autofree char *path = NULL, *errors = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (GSubprocess) child = NULL;
  int file = g_file_open_tmp ("jax-XXXXXX.py", &path, &error);

  g_assert_no_error (error);
  g_close (file, NULL);
  g_assert_true (g_file_set_contents (path, "import jax.numpy as jnp\njnp.argmx([1])\n", -1, &error));
  child = g_subprocess_new (G_SUBPROCESS_FLAGS_STDERR_PIPE, &error, cli, "python", path, NULL);
  g_assert_no_error (error);
  g_assert_true (g_subprocess_communicate_utf8 (child, NULL, NULL, NULL, &errors, &error));
  g_assert_false (g_subprocess_get_successful (child));
  g_assert_nonnull (strstr (errors, "AttributeError: module 'jax.numpy' has no attribute 'argmx'"));
  g_assert_nonnull (strstr (errors, "Near: argmax"));
  g_assert_nonnull (strstr (errors, "There is: "));
  g_unlink (path);
}

static guint
add_folder (const char *name)
{
  g_autofree char *folder = g_build_filename (g_getenv ("GANTRY_SOURCE_ROOT"), "tests", "core", "frontends", "python", "jax", name, NULL);
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  const char *file;
  guint n = 0;

  while (dir != NULL && (file = g_dir_read_name (dir)) != NULL)
    if (g_str_has_suffix (file, ".py"))
      {
        g_autofree char *stem = g_strndup (file, strlen (file) - strlen (".py"));
        g_autofree char *test = g_strdup_printf ("/jax/%s/%s", name, stem);

        g_test_add_data_func_full (test, g_build_filename (folder, file, NULL), test_program, g_free);
        n++;
      }
  return n;
}

/* Each row has a program, or stands in the list with the reason. */
static void
test_rows_complete (void)
{
  const char *source = g_getenv ("GANTRY_SOURCE_ROOT");
  g_autofree char *list = g_build_filename (source, "tests", "core", "frontends", "python", "jax", "rows", "none.txt", NULL);
  g_autofree char *none = NULL;
  guint n = 0;

  g_assert_true (g_file_get_contents (list, &none, NULL, NULL));
  for (guint i = 1; i <= 12 + 27; i++)
    {
      g_autofree char *id = i <= 12 ? g_strdup_printf ("s0.%03u", i) : g_strdup_printf ("s0.R%03u", i - 12);
      g_autofree char *name = g_strconcat (id, ".py", NULL), *line = g_strconcat ("\n", id, "\t", NULL);
      g_autofree char *path = g_build_filename (source, "tests", "core", "frontends", "python", "jax", "rows", name, NULL);
      gboolean has = g_file_test (path, G_FILE_TEST_EXISTS);

      if (!has && strstr (none, line) == NULL)
        g_test_message ("%s has no test", id);
      n += has || strstr (none, line) != NULL;
    }
  g_assert_cmpuint (n, ==, 12 + 27);
}

int
main (int argc, char **argv)
{
  g_autofree char *shared = NULL, *folder = NULL;

  g_test_init (&argc, &argv, NULL);
  shared = g_strdup (g_getenv ("GANTRY_SHARED"));
  if (shared == NULL)
    shared = g_build_filename (g_getenv ("GANTRY_SOURCE_ROOT"), "..", "shared", NULL);
  folder = g_build_filename (shared, "conformance", "host-offloading", NULL);
  have_document = g_file_test (folder, G_FILE_TEST_IS_DIR);
  g_test_add_func ("/jax/rows/complete", test_rows_complete);
  g_test_add_func ("/jax/unknown-name", test_unknown_name);
  add_folder ("rows");
  add_folder ("cases");
  return g_test_run ();
}
