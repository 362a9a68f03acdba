/* SPDX-License-Identifier: Apache-2.0 */
/* The child and the files of the command line's tests. */
#include "tests/app/cli/cli-test.h"
#include <glib/gstdio.h>
#include <string.h>

char *
cli_program (void)
{
  const char *given = g_getenv ("GANTRY_CLI"), *root = g_getenv ("GANTRY_BUILD_ROOT");

  return given != NULL ? g_strdup (given) : g_build_filename (root != NULL ? root : ".", "app", "gantry-cli", NULL);
}

/* Scripts split what is printed at plain spaces: a no-break or thin one glues a figure to its unit. */
static void
assert_plain_spaces (const char *text)
{
  for (const char *at = text; *at != '\0'; at = g_utf8_next_char (at))
    {
      gunichar c = g_utf8_get_char (at);

      if (c > 0x7f && g_unichar_isspace (c))
        g_error ("U+%04X is printed after '%.*s'", c, (int) MIN (at - text, 20), at - MIN (at - text, 20));
    }
}

CliResult *
cli_runv (GPtrArray *arguments)
{
  CliResult *result = g_new0 (CliResult, 1);
  g_autoptr (GPtrArray) all = g_ptr_array_new ();
  g_autofree char *program = cli_program ();
  g_autoptr (GSubprocess) process = NULL;
  g_autoptr (GError) error = NULL;

  g_ptr_array_add (all, program);
  for (guint i = 0; i < arguments->len && g_ptr_array_index (arguments, i) != NULL; i++)
    g_ptr_array_add (all, g_ptr_array_index (arguments, i));
  g_ptr_array_add (all, NULL);
  process = g_subprocess_newv ((const char *const *) all->pdata, G_SUBPROCESS_FLAGS_STDOUT_PIPE | G_SUBPROCESS_FLAGS_STDERR_PIPE, &error);
  g_assert_no_error (error);
  g_subprocess_communicate_utf8 (process, NULL, NULL, &result->out, &result->err, &error);
  g_assert_no_error (error);
  assert_plain_spaces (result->out);
  assert_plain_spaces (result->err);
  result->status = g_subprocess_get_if_exited (process) ? g_subprocess_get_exit_status (process) : -1;
  return result;
}

CliResult *
cli_run (const char *command, ...)
{
  g_autoptr (GPtrArray) arguments = g_ptr_array_new ();
  va_list list;

  va_start (list, command);
  for (const char *argument = command; argument != NULL; argument = va_arg (list, const char *))
    g_ptr_array_add (arguments, (gpointer) argument);
  va_end (list);
  return cli_runv (arguments);
}

void
cli_result_free (CliResult *result)
{
  g_free (result->out);
  g_free (result->err);
  g_free (result);
}

void
cli_assert_status (const CliResult *result, int status)
{
  if (result->status != status)
    g_test_message ("standard output:\n%s\nstandard error:\n%s", result->out, result->err);
  g_assert_cmpint (result->status, ==, status);
}

/* What follows the warnings: a sanitizer's memory, for one, is more than any run may take beside its plan. */
static const char *
after_warnings (const char *text)
{
  const char *end, *warning;

  while ((end = strchr (text, '\n')) != NULL && (warning = strstr (text, ": warning: ")) != NULL && warning < end)
    text = end + 1;
  return text;
}

void
cli_assert_one_error (const CliResult *result, const char *what)
{
  const char *error = after_warnings (result->err);
  gsize length = strlen (error);

  if (strstr (error, what) == NULL)
    g_test_message ("standard error:\n%s", result->err);
  g_assert_true (g_str_has_prefix (error, "gantry-cli"));
  g_assert_nonnull (strstr (error, what));
  g_assert_cmpuint (length, >, 1);
  g_assert_true (strchr (error, '\n') == error + length - 1);
  g_assert_cmpstr (result->out, ==, "");
}

JsonNode *
cli_json (const CliResult *result)
{
  g_autoptr (GError) error = NULL;
  JsonNode *root = json_from_string (result->out, &error);

  g_assert_no_error (error);
  g_assert_nonnull (root);
  g_assert_true (JSON_NODE_HOLDS_OBJECT (root));
  return root;
}

char *
cli_own_file (const char *name)
{
  const char *root = g_getenv ("GANTRY_SOURCE_ROOT");

  return g_build_filename (root != NULL ? root : ".", "data", "models", name, NULL);
}

char *
cli_shared_file (const char *folder, const char *name)
{
  const char *shared = g_getenv ("GANTRY_SHARED"), *root = g_getenv ("GANTRY_SOURCE_ROOT");
  g_autofree char *beside = g_build_filename (root != NULL ? root : ".", "..", "shared", NULL);
  char *path = g_build_filename (shared != NULL ? shared : beside, "data", folder, name, NULL);

  if (g_file_test (path, G_FILE_TEST_EXISTS))
    return path;
  g_test_skip ("the data folder is not there (GANTRY_SHARED)");
  g_free (path);
  return NULL;
}

char *
cli_temporary_folder (void)
{
  g_autoptr (GError) error = NULL;
  char *path = g_dir_make_tmp ("gantry-test-XXXXXX", &error);

  g_assert_no_error (error);
  return path;
}

void
cli_remove_folder (char *path)
{
  g_autoptr (GDir) directory = g_dir_open (path, 0, NULL);
  const char *name;

  while (directory != NULL && (name = g_dir_read_name (directory)) != NULL)
    {
      char *inside = g_build_filename (path, name, NULL);

      if (g_file_test (inside, G_FILE_TEST_IS_DIR) && !g_file_test (inside, G_FILE_TEST_IS_SYMLINK))
        {
          cli_remove_folder (inside);
          continue;
        }
      g_unlink (inside);
      g_free (inside);
    }
  g_rmdir (path);
  g_free (path);
}
