/* SPDX-License-Identifier: Apache-2.0 */
/* Every subcommand prints figures that a script can split: cli_run() fails at a space that is none of ASCII. */
#include "tests/app/cli/cli-test.h"
#include <glib/gstdio.h>
#include <string.h>

#define MOST_ARGUMENTS 8

/* "@step" and the like are files of the test. */
typedef struct
{
  const char *command;
  const char *arguments[MOST_ARGUMENTS];
  int status;
} Sample;

static const Sample samples[] = {
  { "info", { "@model" } },
  { "info", { "@trace" } },
  { "passes", { "@model" } },
  { "compile", { "@model" } },
  { "run", { "--runs=1", "--warmup=0", "--slowest=3", "@model" } },
  { "run", { "--runs=1", "--limit=1", "@model" }, 1 },
  { "profile", { "--runs=1", "--output=@folder/p.gantry", "@model" } },
  { "train", { "--optimizer=adam", "--output=@folder/s.gantry", "@program" } },
  { "plan", { "@step" } },
  { "plan", { "--rules=* offload", "--limit=8KiB", "@step" } },
  { "plan", { "--limit=16", "@step" }, 1 },
  { "solve", { "--no-kernels", "--fit=60%", "--seconds=1", "@step" } },
  { "solve", { "--fit=16", "--seconds=1", "@step" }, 1 },
  { "pareto", { "--points=3", "--seconds=1", "@step" } },
  { "render", { "--view=graph", "--output=@folder/g.svg", "@model" } },
  { "export", { "--output=@folder/e.json", "@run" } },
  { "export", { "--snapshot=legalize", "--output=@folder/e.onnx", "@model" } },
  { "export", { "--output=@folder/e.mlir", "@model" } },
  { "export", { "--snapshot=none", "--output=@folder/e.onnx", "@model" }, 1 },
  { "runs", { "@run" } },
  { "import", { "@trace" } },
  { "verify", { "@folder/verify" }, 1 },
  { "devices", { NULL } },
  { "calibrate", { "--seconds=0.001", "--output=@folder/c.target" } },
  { "serve", { "--help" }, 1 },
  { "python", { "--help" } },
  { "check", { "--help" } },
  { "pack", { "@table" } },
};

static char *
source_file (const char *path)
{
  const char *root = g_getenv ("GANTRY_SOURCE_ROOT");

  return g_build_filename (root != NULL ? root : ".", path, NULL);
}

static void
add_file (GHashTable *files, const char *name, char *path)
{
  g_hash_table_insert (files, (gpointer) name, path);
}

/* The argument with the names of files in it replaced. (transfer full) */
static char *
resolve (GHashTable *files, const char *argument)
{
  GString *text = g_string_new (argument);
  GHashTableIter iter;
  gpointer name, path;

  g_hash_table_iter_init (&iter, files);
  while (g_hash_table_iter_next (&iter, &name, &path))
    g_string_replace (text, name, path, 0);
  return g_string_free (text, FALSE);
}

static GHashTable *
make_files (const char *folder)
{
  GHashTable *files = g_hash_table_new_full (g_str_hash, g_str_equal, NULL, g_free);
  g_autofree char *verify = g_build_filename (folder, "verify", NULL);
  g_autoptr (CliResult) step = NULL, run = NULL;

  add_file (files, "@folder", g_strdup (folder));
  add_file (files, "@model", cli_own_file ("linear.onnx"));
  add_file (files, "@program", source_file ("data/programs/layers-tiny.gir"));
  add_file (files, "@trace", source_file ("tests/fixtures/recordings/kineto.json.gz"));
  add_file (files, "@step", g_build_filename (folder, "step.gantry", NULL));
  add_file (files, "@run", g_build_filename (folder, "run.gantry", NULL));
  add_file (files, "@table", g_build_filename (folder, "table.csv", NULL));
  g_assert_true (g_file_set_contents (g_hash_table_lookup (files, "@table"), "id,lower,upper,size\n1,0,2,4096\n2,1,3,81920\n", -1, NULL));
  g_assert_cmpint (g_mkdir (verify, 0777), ==, 0);
  step = cli_run ("train", "--output", g_hash_table_lookup (files, "@step"), g_hash_table_lookup (files, "@program"), NULL);
  cli_assert_status (step, 0);
  run = cli_run ("run", "--runs=1", "--output", g_hash_table_lookup (files, "@run"), g_hash_table_lookup (files, "@model"), NULL);
  cli_assert_status (run, 0);
  return files;
}

static void
run_sample (GHashTable *files, const Sample *sample)
{
  g_autoptr (GPtrArray) arguments = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (CliResult) result = NULL;

  g_ptr_array_add (arguments, g_strdup (sample->command));
  for (guint i = 0; i < MOST_ARGUMENTS && sample->arguments[i] != NULL; i++)
    g_ptr_array_add (arguments, resolve (files, sample->arguments[i]));
  g_test_message ("gantry-cli %s", sample->command);
  result = cli_runv (arguments);
  cli_assert_status (result, sample->status);
}

/* A subcommand that is new has a sample here too: the list is the program's own. */
static void
assert_all_sampled (void)
{
  g_autoptr (CliResult) help = cli_run ("--help", NULL);
  g_auto (GStrv) lines = g_strsplit (help->out, "\n", -1);
  guint n = 0;

  cli_assert_status (help, 0);
  for (guint l = 0; lines[l] != NULL; l++)
    {
      gboolean found = FALSE;
      g_autofree char *name = NULL;

      if (!g_str_has_prefix (lines[l], "  "))
        continue;
      name = g_strndup (lines[l] + 2, strcspn (lines[l] + 2, " "));
      for (guint i = 0; i < G_N_ELEMENTS (samples); i++)
        found |= strcmp (samples[i].command, name) == 0;
      if (!found)
        g_error ("this test does not run gantry-cli %s", name);
      n++;
    }
  g_assert_cmpuint (n, >, 10);
}

static void
test_spaces (void)
{
  char *folder = cli_temporary_folder ();
  g_autoptr (GHashTable) files = make_files (folder);

  assert_all_sampled ();
  for (guint i = 0; i < G_N_ELEMENTS (samples); i++)
    run_sample (files, &samples[i]);
  cli_remove_folder (folder);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/cli/spaces", test_spaces);
  return g_test_run ();
}
