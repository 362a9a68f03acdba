/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels, plan, executable: in this order, since the plan counts what the kernels need. */
#include "core/build/build.h"
#include "core/build/sizes.h"

void
gantry_program_free (GantryProgram *program)
{
  if (program == NULL)
    return;
  gantry_executable_unref (program->executable);
  g_free (program->target);
  gantry_kernel_sizes_unref (program->sizes);
  g_free (program);
}

char *
gantry_build_conditions (const GantryBuildOptions *options)
{
  static const char *const devices[] = { [GANTRY_CODE_CPU] = NULL, [GANTRY_CODE_CUDA] = "cuda", [GANTRY_CODE_GRID_ON_CPU] = "grid" };
  const GantryKernelConditions conditions = {
    .n_threads = options->threads, .no_library = options->no_library, .quick_compile = options->quick_compile,
    .allow_tf32 = options->allow_tf32 && options->code != GANTRY_CODE_CPU, .layout_block = options->layout_block,
    .instructions = options->instructions != GANTRY_INSTRUCTIONS_NATIVE ? gantry_instruction_set_name (options->instructions) : NULL,
    .device = devices[options->code],
  };

  return gantry_kernel_conditions_text (&conditions);
}

static guint
thread_count (const GantryBuildOptions *options)
{
  return options->threads > 0 ? options->threads : g_get_num_processors ();
}

GantryKernelSet *
gantry_build_kernels (const GantryCompilation *compilation, const GantryBuildOptions *options, const GantryProgress *progress,
                      GError **error)
{
  GantryKernelOptions kernels = GANTRY_KERNEL_OPTIONS_INIT;

  kernels.n_threads = thread_count (options);
  kernels.use_library = !options->no_library;
  kernels.allow_tf32 = options->allow_tf32;
  kernels.gpu_library = options->gpu_library;
  kernels.keep_texts = options->keep_texts;
  kernels.target = options->code;
  kernels.instructions = options->instructions;
  kernels.layout_block = options->layout_block;
  if (options->quick_compile)
    kernels.optimization = 0;
  kernels.arch = options->arch;
  kernels.cache_folder = options->cache_folder;
  return gantry_kernels_compile (gantry_compilation_module (compilation), &kernels, progress, error);
}

GantryProgram *
gantry_build (const GantryCompilation *compilation, const GantryCompileSettings *settings, const GantryBuildOptions *options,
              const GantryProgress *progress, GError **error)
{
  g_autoptr (GantryKernelSet) kernels = NULL;
  g_autoptr (GantryPlan) plan = NULL;
  g_autoptr (GantryProgram) program = g_new0 (GantryProgram, 1);

  if (compilation->refusal != NULL)
    {
      g_propagate_error (error, g_error_copy (compilation->refusal));
      return NULL;
    }
  program->n_threads = thread_count (options);
  kernels = gantry_build_kernels (compilation, options, progress, error);
  if (kernels == NULL)
    return NULL;
  program->target = g_strdup (kernels->target);
  program->compile_ms = kernels->compile_ms;
  program->sizes = gantry_build_sizes_of (compilation, options, kernels);
  plan = gantry_compilation_plan (compilation, settings, program->sizes, NULL, progress, error);
  if (plan == NULL)
    return NULL;
  program->executable = gantry_executable_new (gantry_compilation_module (compilation), plan, g_steal_pointer (&kernels), error);
  return program->executable != NULL ? g_steal_pointer (&program) : NULL;
}
