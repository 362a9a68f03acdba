/* SPDX-License-Identifier: Apache-2.0 */
/* From a compilation to a program in one call: what it computes is what the evaluator computes, what its kernels need is known from the
 * cache without making them, and what cannot be built says why. */
#include "core/build/build.h"
#include "core/build/sizes.h"
#include "core/eval/evaluator.h"
#include "core/runtime/cpu/cpu.h"
#include "core/runtime/runtime.h"

static GantryCompilation *
compile (const char *program, GantryCompileSettings *settings)
{
  g_autofree char *path = g_build_filename (g_getenv ("GANTRY_SOURCE_ROOT"), "data", "programs", program, NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryModel) model = gantry_model_open (path, NULL, 1, NULL, &error);
  GantryCompilation *compilation;

  g_assert_no_error (error);
  gantry_compile_settings_init (settings);
  compilation = gantry_compile (model, settings, NULL, &error);
  g_assert_no_error (error);
  return compilation;
}

/* Small numbers of f32, other ones for each input. */
static GantryLiteral *
made_up (const GantryType *type, guint seed)
{
  guint8 *bytes;
  GantryLiteral *literal = gantry_literal_new_zeroed (type, &bytes);
  float *values = (float *) (gpointer) bytes;

  g_assert_cmpint (type->element, ==, GANTRY_F32);
  for (gint64 i = 0; i < gantry_type_elements (type); i++)
    values[i] = (float) ((i * 7 + seed * 13) % 11 - 5) / 16;
  return literal;
}

static void
test_computes (void)
{
  GantryCompileSettings settings;
  const GantryBuildOptions options = { .threads = 1 };
  g_autoptr (GantryCompilation) compilation = compile ("mlp.gir", &settings);
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryProgram) program = gantry_build (compilation, &settings, &options, NULL, &error);
  g_autoptr (GantryDevice) device = gantry_cpu_device_new (1);
  g_autoptr (GantryExecutor) executor = NULL;
  g_autofree GantryLiteral **inputs = NULL, **outputs = NULL, **wanted = NULL;
  GantryModule *module;

  g_assert_no_error (error);
  g_assert_cmpuint (program->n_threads, ==, 1);
  g_assert_nonnull (program->sizes->program);
  module = program->executable->module;
  executor = gantry_executor_new (device, program->executable, NULL, &error);
  g_assert_no_error (error);
  inputs = g_new0 (GantryLiteral *, program->executable->n_inputs + 1);
  outputs = g_new0 (GantryLiteral *, program->executable->n_outputs + 1);
  wanted = g_new0 (GantryLiteral *, program->executable->n_outputs + 1);
  for (guint i = 0; i < program->executable->n_inputs; i++)
    inputs[i] = made_up (gantry_node_type (module, &module->nodes[gantry_module_entry (module)->first_node + i]), i);
  g_assert_true (gantry_executor_run_literals (executor, inputs, program->executable->n_inputs, outputs, program->executable->n_outputs, NULL, NULL, &error));
  g_assert_true (gantry_evaluate (module, gantry_module_entry (module), inputs, wanted, NULL, &error));
  g_assert_no_error (error);
  for (guint i = 0; i < program->executable->n_outputs; i++)
    for (gint64 k = 0; k < gantry_type_elements (wanted[i]->type); k++)
      g_assert_cmpfloat_with_epsilon (gantry_literal_get_double (outputs[i], k), gantry_literal_get_double (wanted[i], k), 1e-4);
  for (guint i = 0; i < program->executable->n_inputs; i++)
    gantry_literal_unref (inputs[i]);
  for (guint i = 0; i < program->executable->n_outputs; i++)
    {
      gantry_literal_unref (outputs[i]);
      gantry_literal_unref (wanted[i]);
    }
}

/* Sizes that were kept are read, not made: what is kept here no kernel needs. */
static void
test_sizes (void)
{
  GantryCompileSettings settings;
  const GantryBuildOptions options = { .threads = 1 }, others = { .threads = 1, .no_library = TRUE };
  g_autoptr (GantryCompilation) compilation = compile ("mlp.gir", &settings);
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryKernelSizes) made = gantry_build_sizes (compilation, &options, NULL, &error);
  g_autoptr (GantryKernelSizes) read = NULL, other = NULL;

  g_assert_no_error (error);
  made->code_bytes += 4096;
  gantry_build_sizes_keep (made, &options);
  read = gantry_build_sizes (compilation, &options, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (read->code_bytes, ==, made->code_bytes);
  other = gantry_build_sizes (compilation, &others, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (other->code_bytes, !=, made->code_bytes);
  g_assert_cmpstr (other->conditions, !=, made->conditions);
}

static void
test_refused (void)
{
  GantryCompileSettings settings;
  const GantryBuildOptions options = { .threads = 1 };
  g_autoptr (GantryCompilation) compilation = compile ("mlp.gir", &settings);
  g_autoptr (GError) error = NULL;

  settings.target.memory_limit = 1;
  g_assert_null (gantry_build (compilation, &settings, &options, NULL, &error));
  g_assert_error (error, GANTRY_ERROR, GANTRY_ERROR_NO_MEMORY);
}

int
main (int argc, char **argv)
{
  g_autofree char *cache = g_dir_make_tmp ("gantry-build-XXXXXX", NULL);

  /* Before anybody asks for it: what is kept here is not true for others. */
  g_setenv ("XDG_CACHE_HOME", cache, TRUE);
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/build/computes", test_computes);
  g_test_add_func ("/build/sizes", test_sizes);
  g_test_add_func ("/build/refused", test_refused);
  return g_test_run ();
}
