/* SPDX-License-Identifier: Apache-2.0 */
/* The options of a build as those of its kernels, and as the conditions that sizes and times hold for. */
#include "core/build/build-kernels.h"

char *
gantry_build_conditions (const GantryBuildOptions *options)
{
  static const char *const devices[] = { [GANTRY_CODE_CPU] = NULL, [GANTRY_CODE_CUDA] = "cuda", [GANTRY_CODE_GRID_ON_CPU] = "grid" };
  const GantryKernelConditions conditions = {
    .n_threads = options->threads,
    .no_library = options->no_library,
    .quick_compile = options->quick_compile,
    .allow_tf32 = options->allow_tf32 && options->code != GANTRY_CODE_CPU,
    .layout_block = options->layout_block,
    .instructions = options->instructions != GANTRY_INSTRUCTIONS_NATIVE ? gantry_instruction_set_name (options->instructions) : NULL,
    .device = devices[options->code],
  };

  return gantry_kernel_conditions_text (&conditions);
}

GantryKernelSet *
gantry_build_kernels (const GantryCompilation *compilation, const GantryBuildOptions *options, const GantryProgress *progress, GError **error)
{
  GantryKernelOptions kernels = GANTRY_KERNEL_OPTIONS_INIT;
  g_autoptr (GArray) compressions = gantry_placements_compressions (compilation->placements, gantry_compilation_module (compilation));

  kernels.n_threads = options->threads > 0 ? options->threads : g_get_num_processors ();
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
  kernels.compressions = compressions;
  return gantry_kernels_compile (gantry_compilation_module (compilation), &kernels, progress, error);
}

GantryKernelSizes *
gantry_build_sizes_of (const GantryCompilation *compilation, const GantryBuildOptions *options, const GantryKernelSet *kernels)
{
  const GantryModule *module = gantry_compilation_module (compilation);
  GantryKernelSizes *sizes = gantry_kernel_set_sizes (kernels, module);

  sizes->program = gantry_module_content (module);
  sizes->conditions = gantry_build_conditions (options);
  sizes->arch = options->code != GANTRY_CODE_CPU ? g_strdup (options->arch != NULL ? options->arch : "sm_90a") : NULL;
  return sizes;
}
