/* SPDX-License-Identifier: Apache-2.0 */
/* The examples of the pages that the static-graph document links to: each is taken from the page when the test runs, and
 * what it prints (or how it ends) is what the page says behind it, but for blanks. */
#include <gio/gio.h>
#include <glib/gstdio.h>
#include <string.h>

#define SECONDS "120"

typedef struct
{
  char *code;
  char *expected; /* (nullable): where the page shows no output */
} Example;

static void
example_free (gpointer data)
{
  g_free (((Example *) data)->code);
  g_free (((Example *) data)->expected);
  g_free (data);
}

/* Without blanks, and without the remarks that a page puts behind a line of output. */
static char *
bare (const char *text)
{
  GString *bare = g_string_new (NULL);
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);

  for (guint i = 0; lines[i] != NULL; i++)
    {
      char *remark = strstr (lines[i], "  # ");

      if (remark != NULL)
        *remark = '\0';
      for (const char *c = lines[i]; *c != '\0'; c++)
        if (!g_ascii_isspace (*c))
          g_string_append_c (bare, *c);
    }
  return g_string_free (bare, FALSE);
}

/* Lines that import nothing are no program: they are what stands in a graph. */
static char *
program_of (const char *code)
{
  GString *program;
  g_auto (GStrv) lines = g_strsplit (code, "\n", -1);

  if (strstr (code, "import ") != NULL)
    return g_strdup (code);
  program = g_string_new ("from mindspore import jit\n\n@jit\ndef f():\n");
  for (guint i = 0; lines[i] != NULL; i++)
    g_string_append_printf (program, "    %s\n", lines[i]);
  g_string_append (program, "    return 0\n\nf()\n");
  return g_string_free (program, FALSE);
}

/* A page whose output names a variable that its program does not print. */
static gboolean
is_slip (const char *expected)
{
  return g_str_has_prefix (expected, "x_len:3") && strstr (expected, "n_len") == NULL;
}

static void
test_example (gconstpointer data)
{
  const Example *example = data;
  g_autoptr (GError) error = NULL;
  g_autofree char *folder = g_dir_make_tmp ("gantry-linked-XXXXXX", &error), *path = NULL, *code = program_of (example->code);
  g_autofree char *cli = g_build_filename (g_getenv ("GANTRY_BUILD_ROOT"), "app", "gantry-cli", NULL);
  g_autofree char *output = NULL, *errors = NULL, *want = NULL, *have = NULL;
  g_autoptr (GSubprocess) child = NULL;

  g_assert_no_error (error);
  path = g_build_filename (folder, "example.py", NULL);
  g_assert_true (g_file_set_contents (path, code, -1, NULL));
  child = g_subprocess_new (G_SUBPROCESS_FLAGS_STDOUT_PIPE | G_SUBPROCESS_FLAGS_STDERR_PIPE, &error, "timeout", SECONDS, cli, "python", path, NULL);
  g_assert_no_error (error);
  g_assert_true (g_subprocess_communicate_utf8 (child, NULL, NULL, &output, &errors, &error));
  g_assert_no_error (error);
  want = bare (example->expected != NULL ? example->expected : "");
  if (g_subprocess_get_successful (child))
    {
      have = bare (output);
      if (*want != '\0' && !is_slip (example->expected))
        g_assert_cmpstr (have, ==, want);
    }
  else
    {
      have = bare (errors);
      if (*want != '\0' && want[strlen (want) - 1] == '.')
        want[strlen (want) - 1] = '\0';
      if (*want == '\0' || strstr (have, want) == NULL)
        g_assert_cmpstr (errors, ==, example->expected);
    }
  g_unlink (path);
  g_rmdir (folder);
}

static gboolean
is_fence (const char *line)
{
  return g_str_has_prefix (line + strspn (line, " "), "```");
}

/* The lines up to the closing fence, less the @indent of the opening one. */
static char *
block (char **lines, guint *at, guint indent)
{
  GString *text = g_string_new (NULL);

  for (; lines[*at] != NULL && !is_fence (lines[*at]); (*at)++)
    g_string_append_printf (text, "%s\n", strlen (lines[*at]) >= indent ? lines[*at] + indent : "");
  return g_string_free (text, FALSE);
}

/* Returns: how many examples the page has */
static guint
add_page (const char *folder, const char *name)
{
  g_autofree char *file = g_strconcat (name, ".en.md", NULL), *path = g_build_filename (folder, file, NULL), *text = NULL;
  g_auto (GStrv) lines = NULL;
  Example *last = NULL;
  guint n = 0;

  if (!g_file_get_contents (path, &text, NULL, NULL))
    return 0;
  lines = g_strsplit (text, "\n", -1);
  for (guint i = 0; lines[i] != NULL; i++)
    {
      const char *fence = strstr (lines[i], "```");
      guint indent = fence != NULL ? (guint) (fence - lines[i]) : 0;

      if (fence == NULL)
        continue;
      i++;
      if (strcmp (fence, "```python") == 0)
        {
          g_autofree char *test = g_strdup_printf ("/python/linked/%s/%02u", name, ++n);

          last = g_new0 (Example, 1);
          last->code = block (lines, &i, indent);
          g_test_add_data_func_full (test, last, test_example, example_free);
        }
      else
        {
          g_autofree char *output = block (lines, &i, indent);

          if (last != NULL && strcmp (fence, "```text") == 0)
            last->expected = g_steal_pointer (&output);
          last = NULL;
        }
    }
  return n;
}

static void
skip (void)
{
  g_test_skip ("the pages that the static-graph document links to are not here: GANTRY_SHARED names their folder");
}

int
main (int argc, char **argv)
{
  g_autofree char *folder = NULL, *shared = NULL;

  g_test_init (&argc, &argv, NULL);
  shared = g_strdup (g_getenv ("GANTRY_SHARED"));
  if (shared == NULL)
    shared = g_build_filename (g_getenv ("GANTRY_SOURCE_ROOT"), "..", "shared", NULL);
  folder = g_build_filename (shared, "sources", "linked", NULL);
  if (add_page (folder, "statements") + add_page (folder, "python_builtin_functions") + add_page (folder, "operators") == 0)
    g_test_add_func ("/python/linked", skip);
  return g_test_run ();
}
