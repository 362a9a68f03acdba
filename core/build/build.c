/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels, plan, executable: in this order, since the plan counts what the kernels need. */
#include "core/build/build.h"

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

GantryProgram *
gantry_build (const GantryCompilation *compilation, const GantryCompileSettings *settings, const GantryBuildOptions *options, const GantryProgress *progress,
              GError **error)
{
  g_autoptr (GantryKernelSet) kernels = NULL;
  g_autoptr (GantryPlan) plan = NULL;
  g_autoptr (GantryProgram) program = g_new0 (GantryProgram, 1);

  if (compilation->refusal != NULL)
    {
      g_propagate_error (error, g_error_copy (compilation->refusal));
      return NULL;
    }
  program->n_threads = options->threads > 0 ? options->threads : g_get_num_processors ();
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
