/* SPDX-License-Identifier: Apache-2.0 */
/* Python programs run by the child as CPython would run them: those of the static-graph document, with the output or the error
 * that it gives, and one for each row of its index, which checks itself; and whole programs that check themselves. */
#include <gio/gio.h>
#include <string.h>

#define SECONDS "120"

typedef struct
{
  char *path; /* of the program */
} Program;

static void
program_free (gpointer data)
{
  g_free (((Program *) data)->path);
  g_free (data);
}

static char *
child_path (void)
{
  return g_build_filename (g_getenv ("GANTRY_BUILD_ROOT"), "app", "gantry-cli", NULL);
}

/* The file beside the program, or NULL. */
static char *
beside (const char *path, const char *suffix)
{
  g_autofree char *base = g_strndup (path, strlen (path) - strlen (".py"));
  g_autofree char *file = g_strconcat (base, suffix, NULL);
  char *text = NULL;

  return g_file_get_contents (file, &text, NULL, NULL) ? text : NULL;
}

static void
check_output (const char *expected, const char *output)
{
  g_autofree char *want = g_strchomp (g_strdup (expected)), *have = g_strchomp (g_strdup (output));

  if (*want != '\0')
    g_assert_cmpstr (have, ==, want);
}

static void
test_program (gconstpointer data)
{
  const Program *program = data;
  g_autofree char *cli = child_path (), *expected = beside (program->path, ".expected"), *refused = beside (program->path, ".error");
  g_autofree char *output = NULL, *errors = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (GSubprocess)
    child = g_subprocess_new (G_SUBPROCESS_FLAGS_STDOUT_PIPE | G_SUBPROCESS_FLAGS_STDERR_PIPE, &error, "timeout", SECONDS, cli, "python", program->path, NULL);

  g_assert_no_error (error);
  g_assert_true (g_subprocess_communicate_utf8 (child, NULL, NULL, &output, &errors, &error));
  g_assert_no_error (error);
  if (refused != NULL)
    {
      g_assert_false (g_subprocess_get_successful (child));
      if (strstr (errors, g_strchomp (refused)) == NULL)
        g_assert_cmpstr (errors, ==, refused);
      return;
    }
  if (!g_subprocess_get_successful (child))
    g_test_message ("%s", errors);
  g_assert_true (g_subprocess_get_successful (child));
  check_output (expected != NULL ? expected : "", output);
}

/* Returns: how many programs lie in @folder */
static guint
add_folder (const char *folder, const char *prefix)
{
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  const char *name;
  guint n = 0;

  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    if (g_str_has_suffix (name, ".py"))
      {
        g_autofree char *stem = g_strndup (name, strlen (name) - strlen (".py"));
        g_autofree char *test = g_strdup_printf ("/python/%s/%s", prefix, stem);
        Program *program = g_new0 (Program, 1);

        program->path = g_build_filename (folder, name, NULL);
        g_test_add_data_func_full (test, program, test_program, program_free);
        n++;
      }
  return n;
}

/* The lines of a list that are no remarks. */
static guint
count_lines (const char *folder, const char *name)
{
  g_autofree char *path = g_build_filename (folder, name, NULL), *text = NULL;
  g_auto (GStrv) lines = g_file_get_contents (path, &text, NULL, NULL) ? g_strsplit (text, "\n", -1) : g_new0 (char *, 1);
  guint n = 0;

  for (guint i = 0; lines[i] != NULL; i++)
    n += *lines[i] != '\0' && *lines[i] != '#';
  return n;
}

static void
skip (void)
{
  g_test_skip ("the programs of the static-graph document are not here: GANTRY_SHARED names their folder");
}

int
main (int argc, char **argv)
{
  g_autofree char *source = NULL, *shared = NULL, *rows = NULL, *programs = NULL;
  guint n_programs, n_rows;

  g_test_init (&argc, &argv, NULL);
  source = g_strdup (g_getenv ("GANTRY_SHARED"));
  if (source == NULL)
    source = g_build_filename (g_getenv ("GANTRY_SOURCE_ROOT"), "..", "shared", NULL);
  shared = g_build_filename (source, "conformance", "static-graph", NULL);
  rows = g_build_filename (g_getenv ("GANTRY_SOURCE_ROOT"), "tests", "core", "frontends", "python", "rows", NULL);
  n_programs = add_folder (shared, "static-graph");
  if (n_programs == 0)
    g_test_add_func ("/python/static-graph", skip);
  n_rows = add_folder (rows, "rows");
  programs = g_build_filename (g_getenv ("GANTRY_SOURCE_ROOT"), "tests", "core", "frontends", "python", "programs", NULL);
  add_folder (programs, "programs");
  g_test_message ("%u programs of the document, %u of rows, %u rows without behaviour", n_programs, n_rows, count_lines (rows, "none.txt"));
  return g_test_run ();
}
