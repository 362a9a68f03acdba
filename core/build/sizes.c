/* SPDX-License-Identifier: Apache-2.0 */
/* Sizes of kernels in the user's cache. */
#include "core/build/sizes.h"
#include "core/base/cache.h"
#include "core/base/output.h"
#include <string.h>

/* The conditions, and with which versions of the libraries. (transfer full) */
static char *
describe (const GantryBuildOptions *options)
{
  g_autofree char *conditions = gantry_build_conditions (options), *versions = gantry_kernels_describe ();

  return g_strdup_printf ("%s (%s)", conditions, versions);
}

/* (transfer full) (nullable): what is made for a GPU is not kept: what its driver makes of it is not known before a run */
static char *
cache_file (const GantryBuildOptions *options, const char *program)
{
  g_autofree char *description = describe (options), *all = g_strconcat (program, "\n", description, NULL), *name = NULL;

  if (options->code != GANTRY_CODE_CPU)
    return NULL;
  name = g_compute_checksum_for_string (G_CHECKSUM_SHA256, all, -1);
  return g_build_filename (g_get_user_cache_dir (), "gantry", "kernels", name, NULL);
}

static GantryKernelSizes *
read_cache (const char *path, const char *program)
{
  g_autofree char *text = NULL;
  g_autoptr (GantryKernelSizes) sizes = NULL;

  text = path != NULL ? gantry_cache_read (path, NULL) : NULL;
  if (text == NULL)
    return NULL;
  sizes = gantry_kernel_sizes_parse (text, NULL);
  return sizes != NULL && g_strcmp0 (sizes->program, program) == 0 ? g_steal_pointer (&sizes) : NULL;
}

/* A cache that cannot be written is none: nothing is lost but time. */
void
gantry_build_sizes_keep (const GantryKernelSizes *sizes, const GantryBuildOptions *options)
{
  g_autofree char *path = cache_file (options, sizes->program), *text = NULL, *folder = NULL;

  if (path == NULL)
    return;
  text = gantry_kernel_sizes_to_text (sizes);
  folder = g_path_get_dirname (path);
  if (g_mkdir_with_parents (folder, 0700) == 0)
    gantry_output_write (path, NULL, text, strlen (text), NULL);
}

GantryKernelSizes *
gantry_build_sizes (const GantryCompilation *compilation, const GantryBuildOptions *options, const GantryProgress *progress, GError **error)
{
  g_autofree char *program = NULL, *path = NULL;
  g_autoptr (GantryKernelSet) kernels = NULL;
  GantryKernelSizes *known;

  if (compilation->refusal != NULL)
    {
      g_propagate_error (error, g_error_copy (compilation->refusal));
      return NULL;
    }
  program = gantry_module_content (gantry_compilation_module (compilation));
  path = cache_file (options, program);
  known = read_cache (path, program);
  if (known != NULL)
    return known;
  kernels = gantry_build_kernels (compilation, options, progress, error);
  if (kernels == NULL)
    return NULL;
  known = gantry_build_sizes_of (compilation, options, kernels);
  gantry_build_sizes_keep (known, options);
  return known;
}
