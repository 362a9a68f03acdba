/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a fuzz target over the seeds it is given, one case a file, without a fuzzer: so every build, with every
 * compiler and sanitizer, reads each input that once failed. Linked with one target; writes TAP.
 * Usage: replay-NAME FILE-OR-FOLDER... */

#include <glib.h>

int LLVMFuzzerTestOneInput (const guint8 *data, gsize size);

static void
replay_file (gconstpointer user_data)
{
  const char *path = user_data;
  g_autofree char *bytes = NULL;
  g_autoptr (GError) error = NULL;
  gsize size = 0;

  g_file_get_contents (path, &bytes, &size, &error);
  g_assert_no_error (error);
  /* A copy of the exact size: reading one byte further is a finding of AddressSanitizer. */
  g_autofree guint8 *exact = g_memdup2 (bytes, size);
  LLVMFuzzerTestOneInput (exact, size);
  /* Cut in half it is broken at another place. */
  g_autofree guint8 *half = g_memdup2 (bytes, size / 2);
  LLVMFuzzerTestOneInput (half, size / 2);
}

static void
add_file (const char *path)
{
  g_autofree char *name = g_path_get_basename (path);
  g_autofree char *test = g_strconcat ("/replay/", name, NULL);

  g_test_add_data_func_full (test, g_strdup (path), replay_file, g_free);
}

static void
add_path (const char *path)
{
  g_autoptr (GDir) folder = g_dir_open (path, 0, NULL);
  const char *name;

  if (folder == NULL)
    {
      add_file (path);
      return;
    }
  while ((name = g_dir_read_name (folder)) != NULL)
    {
      g_autofree char *child = g_build_filename (path, name, NULL);
      add_file (child);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (int i = 1; i < argc; i++)
    add_path (argv[i]);
  return g_test_run ();
}
