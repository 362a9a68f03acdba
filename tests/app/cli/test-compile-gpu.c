/* SPDX-License-Identifier: Apache-2.0 */
/* All models of the data folder, and the sample programs with their training steps, are compiled for a GPU: every kernel's
 * PTX assembles. Registers and spills go into ptx-table.txt in the build folder. What is assembled is kept there too,
 * by content, so that a second run is quick. */
#include "tests/app/cli/cli-test.h"
#include <glib/gstdio.h>
#include <string.h>

typedef struct
{
  const char *model, *options[2];
} Model;

static const Model models[] = {
  { "fastestdet", { NULL } },
  { "fns_candy", { NULL } },
  { "gonnx_gru", { NULL } },
  { "light_bvlc_alexnet", { NULL } },
  { "light_inception_v1", { NULL } },
  { "light_resnet50", { NULL } },
  { "light_shufflenet", { NULL } },
  { "light_squeezenet", { NULL } },
  { "light_vgg19", { NULL } },
  { "light_zfnet512", { NULL } },
  { "mnist", { NULL } },
  { "nnfusion_gru_bidirectional", { NULL } },
  { "silero_vad_16k_op15", { "--dim=batch=1", "--dim=sequence=512" } },
  { "squeezenet_fp16", { NULL } },
  { "super_resolution", { NULL } },
  { "ultraface_rfb320", { NULL } },
};

static const char *const programs[] = { "convnet", "layers",      "layers-tiny",      "layers-unrolled-tiny", "lstm",
                                        "mlp",     "optimizer-8", "transformer-tiny", "transformer-4",        "vgg19" };

static gint64
number_of (JsonObject *object, const char *member)
{
  return json_object_has_member (object, member) ? json_object_get_int_member (object, member) : 0;
}

static void
append_line (const char *line)
{
  g_autofree char *path = g_test_build_filename (G_TEST_BUILT, "ptx-table.txt", NULL);
  g_autofree char *before = NULL, *all = NULL;

  if (!g_file_get_contents (path, &before, NULL, NULL))
    before = g_strdup_printf ("%-36s %7s %7s %9s %7s %9s %9s\n", "program", "kernels", "images", "registers", "spills", "ms LLVM", "ms ptxas");
  all = g_strconcat (before, line, "\n", NULL);
  g_assert_true (g_file_set_contents (path, all, -1, NULL));
}

/* Every kernel has code; @is_assembled: by ptxas, which said what it takes. */
static void
check_kernels (const char *name, JsonArray *code)
{
  g_autoptr (GHashTable) seen = g_hash_table_new (NULL, NULL);
  gint64 registers = 0, spills = 0;
  double all_ms = 0, assembler_ms = 0;
  g_autofree char *line = NULL;

  g_assert_cmpuint (json_array_get_length (code), >, 0);
  for (guint i = 0; i < json_array_get_length (code); i++)
    {
      JsonObject *kernel = json_array_get_object_element (code, i);
      gint64 image = number_of (kernel, "image");

      if (image < 0 || !g_hash_table_add (seen, GINT_TO_POINTER ((int) image)))
        continue;
      g_assert_cmpint (number_of (kernel, "image_bytes"), >, 0);
      if (!json_object_get_boolean_member (kernel, "assembled"))
        continue;
      g_assert_cmpint (number_of (kernel, "registers"), >, 0);
      registers = MAX (registers, number_of (kernel, "registers"));
      spills += number_of (kernel, "spill_store_bytes") > 0;
      assembler_ms += json_object_get_double_member (kernel, "assemble_milliseconds");
      all_ms += json_object_get_double_member (kernel, "compile_milliseconds");
    }
  line = g_strdup_printf ("%-36s %7u %7u %9" G_GINT64_FORMAT " %7" G_GINT64_FORMAT " %9.0f %9.0f", name, json_array_get_length (code), g_hash_table_size (seen),
                          registers, spills, MAX (all_ms - assembler_ms, 0), assembler_ms);
  g_test_message ("%s", line);
  append_line (line);
}

static void
compile_and_check (const char *name, const char *path, const char *const *options)
{
  g_autoptr (GPtrArray) arguments = g_ptr_array_new ();
  g_autoptr (CliResult) result = NULL;
  g_autoptr (JsonNode) node = NULL;

  g_ptr_array_add (arguments, (gpointer) "compile");
  g_ptr_array_add (arguments, (gpointer) "--target=sm_90a");
  g_ptr_array_add (arguments, (gpointer) "--json");
  for (guint i = 0; options != NULL && i < 2 && options[i] != NULL; i++)
    g_ptr_array_add (arguments, (gpointer) options[i]);
  g_ptr_array_add (arguments, (gpointer) path);
  result = cli_runv (arguments);
  cli_assert_status (result, 0);
  node = cli_json (result);
  check_kernels (name, json_object_get_array_member (json_node_get_object (node), "code"));
}

static void
test_model (gconstpointer data)
{
  const Model *model = data;
  g_autofree char *file = g_strconcat (model->model, ".onnx", NULL);
  g_autofree char *path = cli_shared_file ("onnx", file);

  if (path != NULL)
    compile_and_check (model->model, path, model->options);
}

static char *
program_file (const char *name)
{
  const char *root = g_getenv ("GANTRY_SOURCE_ROOT");
  g_autofree char *file = g_strconcat (name, ".gir", NULL);

  return g_build_filename (root != NULL ? root : ".", "data", "programs", file, NULL);
}

static void
test_program (gconstpointer name)
{
  g_autofree char *path = program_file (name);

  compile_and_check (name, path, NULL);
}

static void
test_training (gconstpointer name)
{
  g_autofree char *path = program_file (name);
  char *folder = cli_temporary_folder ();
  g_autofree char *session = g_build_filename (folder, "step.gantry", NULL);
  g_autofree char *what = g_strdup_printf ("%s, training", (const char *) name);
  g_autoptr (CliResult) trained = cli_run ("train", path, "-o", session, NULL);

  cli_assert_status (trained, 0);
  compile_and_check (what, session, NULL);
  cli_remove_folder (folder);
}

/* The forms that code is shown in. */
static void
test_emit (void)
{
  g_autofree char *path = program_file ("mlp");
  static const struct
  {
    const char *emit, *holds;
  } forms[] = {
    { "ptx", ".visible .entry" },
    { "schedule", "block" },
    { "texpr", "=" },
    { "llvm", "target triple = \"nvptx64" },
  };
  g_autoptr (CliResult) wrong = cli_run ("compile", path, "--emit=ptx", "--device=cpu", NULL);
  g_autoptr (CliResult) unknown = cli_run ("compile", path, "--target=sm_42", NULL);

  for (guint i = 0; i < G_N_ELEMENTS (forms); i++)
    {
      g_autofree char *emit = g_strconcat ("--emit=", forms[i].emit, NULL);
      g_autoptr (CliResult) result = cli_run ("compile", path, "--target=sm_80", emit, NULL);

      cli_assert_status (result, 0);
      g_assert_nonnull (strstr (result->out, forms[i].holds));
    }
  cli_assert_one_error (wrong, "--emit ptx is of a GPU");
  cli_assert_one_error (unknown, "sm_42");
}

int
main (int argc, char **argv)
{
  g_autofree char *table = NULL, *cache = NULL;

  g_test_init (&argc, &argv, NULL);
  table = g_test_build_filename (G_TEST_BUILT, "ptx-table.txt", NULL);
  cache = g_test_build_filename (G_TEST_BUILT, "ptx-cache", NULL);
  g_remove (table);
  g_setenv ("XDG_CACHE_HOME", cache, TRUE);
  g_test_add_func ("/compile-gpu/emit", test_emit);
  for (guint i = 0; i < G_N_ELEMENTS (models); i++)
    {
      g_autofree char *path = g_strdup_printf ("/compile-gpu/onnx/%s", models[i].model);

      g_test_add_data_func (path, &models[i], test_model);
    }
  for (guint i = 0; i < G_N_ELEMENTS (programs); i++)
    {
      g_autofree char *path = g_strdup_printf ("/compile-gpu/program/%s", programs[i]);
      g_autofree char *step = g_strdup_printf ("/compile-gpu/training/%s", programs[i]);

      g_test_add_data_func (path, programs[i], test_program);
      g_test_add_data_func (step, programs[i], test_training);
    }
  return g_test_run ();
}
