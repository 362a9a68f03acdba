/* SPDX-License-Identifier: Apache-2.0 */
/* No command replaces what it reads: the model and all files that belong to it, whatever front end reads them, under all their names,
 * and what its options read. */
#include "tests/app/cli/cli-test.h"
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

#define REFUSED "is what is read"

static char *
in (const char *folder, const char *name)
{
  return g_build_filename (folder, name, NULL);
}

static void
put (const char *folder, const char *name, const char *data, gssize n)
{
  g_autofree char *path = in (folder, name);

  g_assert_true (g_file_set_contents (path, data, n, NULL));
}

/* A file of the tree, "data/models/sample.onnx", as @name. */
static void
copy (const char *from, const char *folder, const char *name)
{
  g_autofree char *path = g_build_filename (g_getenv ("GANTRY_SOURCE_ROOT"), from, NULL), *bytes = NULL;
  gsize n;

  g_assert_true (g_file_get_contents (path, &bytes, &n, NULL));
  put (folder, name, bytes, (gssize) n);
}

/* "x + w": @w.bin has the values of w, whose first are 0. */
static void
put_text (const char *folder)
{
  g_autofree char *data = g_malloc0 (4096), *weights = in (folder, "w.bin"), *text = NULL;

  text = g_strdup_printf ("module \"m\" {\n  func @main #1 (%%1 \"x\": f32[1024]) -> (%%3) {\n"
                          "    %%2 = constant() {value = file<f32[1024]: \"%s\", 0, 4096>}: f32[1024]\n"
                          "    %%3 = add(%%1, %%2): f32[1024]\n  }\n}\n",
                          weights);
  put (folder, "w.bin", data, 4096);
  put (folder, "m.gir", text, -1);
}

static void
done (CliResult *result)
{
  cli_assert_status (result, 0);
  cli_result_free (result);
}

/* One of each front end. */

static void
make_onnx (const char *folder)
{
  g_autofree char *text = in (folder, "m.gir"), *model = in (folder, "model.onnx");

  put_text (folder);
  done (cli_run ("export", text, "--external-data", "-o", model, NULL));
}

static void
make_python (const char *folder)
{
  g_autofree char *parts = in (folder, "parts");

  put (folder, "program.py",
       "import jax\nimport jax.numpy as jnp\nimport helper\nfrom parts import layer\n\n"
       "f = jax.jit(lambda x: layer.tanh(helper.twice(x)))\nf(jnp.ones((4,)))\n",
       -1);
  put (folder, "helper.py", "def twice(x):\n  return x + x\n", -1);
  g_assert_cmpint (g_mkdir (parts, 0700), ==, 0);
  put (folder, "parts/__init__.py", "", 0);
  put (folder, "parts/layer.py", "import jax.numpy as jnp\ndef tanh(x):\n  return jnp.tanh(x)\n", -1);
}

static void
make_xla (const char *folder)
{
  copy ("data/programs/while.mlir", folder, "while.mlir");
}

static void
make_dump (const char *folder)
{
  g_autofree char *from = g_build_filename (g_getenv ("GANTRY_SOURCE_ROOT"), "tests", "fixtures", "xla-dump", NULL);
  g_autofree char *to = in (folder, "dump");
  g_autoptr (GDir) names = g_dir_open (from, 0, NULL);
  const char *name;

  g_assert_cmpint (g_mkdir (to, 0700), ==, 0);
  while ((name = g_dir_read_name (names)) != NULL)
    {
      g_autofree char *file = g_build_filename ("tests", "fixtures", "xla-dump", name, NULL);

      copy (file, to, name);
    }
  put (to, "module_0007.f.before_optimizations.txt", "HloModule f\nENTRY e {\n  ROOT x = f32[2]{0} parameter(0)\n}\n", -1);
  put (to, "module_0007.f.cpu_after_optimizations-memory-usage-report.txt", "what is not read for it", -1);
}

static void
make_torch (const char *folder)
{
  copy ("tests/fixtures/torch/small.pt2", folder, "small.pt2");
}

static void
make_session (const char *folder)
{
  g_autofree char *model = NULL, *session = in (folder, "s.gantry");

  make_onnx (folder);
  model = in (folder, "model.onnx");
  done (cli_run ("plan", model, "-o", session, NULL));
}

/* @victims: with a space between: what belongs to @model */
static const struct
{
  const char *name;
  void (*make) (const char *folder);
  const char *model, *entry, *victims;
} kinds[] = {
  { "onnx", make_onnx, "model.onnx", NULL, "model.onnx model.onnx.data" },
  { "text", put_text, "m.gir", NULL, "m.gir w.bin" },
  { "python", make_python, "program.py", NULL, "program.py helper.py parts/__init__.py parts/layer.py" },
  { "xla", make_xla, "while.mlir", NULL, "while.mlir" },
  { "dump", make_dump, "dump", "--entry=jit_step",
    "dump/module_0000.jit_step.cpu_after_optimizations.txt dump/module_0000.jit_step.cpu_after_optimizations-buffer-assignment.txt "
    "dump/module_0000.jit_step.cpu_after_optimizations-live-range.txt dump/module_0007.f.before_optimizations.txt "
    "dump/module_0007.f.cpu_after_optimizations-memory-usage-report.txt" },
  { "torch", make_torch, "small.pt2", NULL, "small.pt2" },
  { "session", make_session, "s.gantry", NULL, "s.gantry model.onnx model.onnx.data" },
};

/* Exporting over @victim fails, and what was there is there. */
static void
assert_refused (const char *model, const char *entry, const char *victim)
{
  g_autofree char *before = NULL, *after = NULL;
  g_autoptr (CliResult) result = NULL;
  gsize n_before, n_after;

  g_assert_true (g_file_get_contents (victim, &before, &n_before, NULL));
  result = cli_run ("export", "--to=gir", "-o", victim, model, entry, NULL);
  g_test_message ("%s: %s", victim, result->err);
  g_assert_cmpint (result->status, ==, 1);
  g_assert_nonnull (strstr (result->err, REFUSED));
  g_assert_nonnull (strstr (result->err, victim));
  g_assert_nonnull (strstr (result->err, "name another file"));
  g_assert_true (g_file_get_contents (victim, &after, &n_after, NULL));
  g_assert_cmpmem (before, n_before, after, n_after);
}

static void
test_kind (gconstpointer data)
{
  const guint i = GPOINTER_TO_UINT (data);
  char *folder = cli_temporary_folder ();
  g_autofree char *model = in (folder, kinds[i].model), *hard = in (folder, "hard"), *soft = in (folder, "soft"), *other = in (folder, "other.gir");
  g_auto (GStrv) victims = g_strsplit (kinds[i].victims, " ", -1);

  kinds[i].make (folder);
  if (g_str_has_suffix (model, ".py"))
    {
      g_autoptr (CliResult) opened = cli_run ("info", model, NULL);

      if (strstr (opened->err, "CPython") != NULL)
        {
          g_test_skip ("built without CPython");
          cli_remove_folder (folder);
          return;
        }
    }
  for (guint k = 0; victims[k] != NULL; k++)
    {
      g_autofree char *victim = in (folder, victims[k]);

      assert_refused (model, kinds[i].entry, victim);
      g_assert_cmpint (link (victim, hard), ==, 0);
      g_assert_cmpint (symlink (victim, soft), ==, 0);
      assert_refused (model, kinds[i].entry, hard);
      assert_refused (model, kinds[i].entry, soft);
      g_assert_true (g_file_test (soft, G_FILE_TEST_IS_SYMLINK));
      g_unlink (hard);
      g_unlink (soft);
    }
  /* What it did not read it replaces, again and again. */
  done (cli_run ("export", "-o", other, model, kinds[i].entry, NULL));
  done (cli_run ("export", "-o", other, model, kinds[i].entry, NULL));
  cli_remove_folder (folder);
}

/* Each command that writes, to a link to the weights that has the name which the command wants. */
static void
test_commands (void)
{
  /* clang-format off */
  static const struct { const char *name, *arguments; } cases[] = {
    { "x.svg", "render -o %s" },          { "x.png", "render --view=memory -o %s" }, { "x.dot", "render -o %s" },
    { "x.onnx", "export -o %s" },         { "x.mlir", "export -o %s" },              { "x.gir", "export -o %s" },
    { "x.csv", "run --runs=1 --kernels %s" },  { "output_0.npy", "run --runs=1 --output-dir ." }, { "x.gantry", "plan -o %s" },
    { "x.gantry", "run --runs=1 -o %s" },      { "x.gantry", "compile -o %s" },           { "x.gantry", "pareto --points=2 -o %s" },
  };
  /* clang-format on */
  char *folder = cli_temporary_folder ();
  g_autofree char *model = in (folder, "m.gir"), *weights = in (folder, "w.bin");

  put_text (folder);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *path = in (folder, cases[i].name), *before = NULL, *after = NULL;
      g_auto (GStrv) words = g_strsplit (cases[i].arguments, " ", -1);
      g_autoptr (GPtrArray) arguments = g_ptr_array_new ();
      g_autoptr (CliResult) result = NULL;
      gsize n_before, n_after;

      for (guint k = 0; words[k] != NULL; k++)
        g_ptr_array_add (arguments, strcmp (words[k], "%s") == 0 ? path : strcmp (words[k], ".") == 0 ? folder : words[k]);
      g_ptr_array_add (arguments, model);
      g_assert_cmpint (link (weights, path), ==, 0);
      g_assert_true (g_file_get_contents (path, &before, &n_before, NULL));
      result = cli_runv (arguments);
      g_test_message ("%s: %s", cases[i].arguments, result->err);
      g_assert_cmpint (result->status, ==, 1);
      g_assert_nonnull (strstr (result->err, REFUSED));
      g_assert_true (g_file_get_contents (path, &after, &n_after, NULL));
      g_assert_cmpmem (before, n_before, after, n_after);
      g_unlink (path);
    }
  cli_remove_folder (folder);
}

/* What options read; FOLDER is that of the files. */
static void
test_options (void)
{
  static const struct
  {
    const char *file, *arguments;
  } cases[] = {
    { "output_0.npy", "export --set x=@FOLDER/output_0.npy --to=gir -o FOLDER/output_0.npy" },
    { "output_0.npy", "run --runs=1 --input x=FOLDER/output_0.npy --output-dir FOLDER" },
    { "output_0.npy", "run --runs=1 --expect FOLDER/output_0.npy --output-dir FOLDER" },
    { "rules", "run --runs=1 --policy FOLDER/rules --kernels FOLDER/rules" },
    { "target", "run --runs=1 --target FOLDER/target --kernels FOLDER/target" },
  };
  char *folder = cli_temporary_folder ();
  g_autofree char *model = in (folder, "m.gir");

  put_text (folder);
  put (folder, "rules", "role:parameter keep\n", -1);
  put (folder, "target", "[target]\nname=here\n", -1);
  done (cli_run ("run", "--runs=1", "--output-dir", folder, model, NULL));
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *path = in (folder, cases[i].file), *before = NULL, *after = NULL;
      g_auto (GStrv) parts = g_strsplit (cases[i].arguments, "FOLDER", -1), words = NULL;
      g_autofree char *all = g_strjoinv (folder, parts);
      g_autoptr (GPtrArray) arguments = g_ptr_array_new ();
      g_autoptr (CliResult) result = NULL;
      gsize n_before, n_after;

      words = g_strsplit (all, " ", -1);
      for (guint k = 0; words[k] != NULL; k++)
        g_ptr_array_add (arguments, words[k]);
      g_ptr_array_add (arguments, model);
      g_assert_true (g_file_get_contents (path, &before, &n_before, NULL));
      result = cli_runv (arguments);
      g_test_message ("%s: %s", all, result->err);
      g_assert_cmpint (result->status, ==, 1);
      g_assert_nonnull (strstr (result->err, REFUSED));
      g_assert_true (g_file_get_contents (path, &after, &n_after, NULL));
      g_assert_cmpmem (before, n_before, after, n_after);
    }
  cli_remove_folder (folder);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    {
      g_autofree char *name = g_strdup_printf ("/cli/read-files/%s", kinds[i].name);

      g_test_add_data_func (name, GUINT_TO_POINTER (i), test_kind);
    }
  g_test_add_func ("/cli/read-files/commands", test_commands);
  g_test_add_func ("/cli/read-files/options", test_options);
  return g_test_run ();
}
