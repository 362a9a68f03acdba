/* SPDX-License-Identifier: Apache-2.0 */
/* Documents that are planned with what their kernels need. */
#include "app/cli/kernel-table.h"
#include "core/build/sizes.h"

gboolean
gantry_kernel_table_use (GantryDocument *document, const GantryProgramOptions *options, const GantryProgress *progress, GError **error)
{
  const GantryBuildOptions build = gantry_program_build_options (options);
  g_autoptr (GantryKernelSizes) sizes = gantry_build_sizes (gantry_document_get_compilation (document), &build, progress, error);

  if (sizes == NULL)
    return FALSE;
  gantry_document_set_kernel_sizes (document, sizes);
  gantry_document_wait (document);
  return TRUE;
}

void
gantry_kernel_table_use_for_search (GantryDocument *document, const GantryProgress *progress)
{
  const GantryProgramOptions usual = { 0 };
  g_autoptr (GError) error = NULL;

  if (gantry_document_get_settings (document)->target.arch[0] != '\0' || gantry_document_get_compilation (document)->refusal != NULL
      || gantry_kernel_table_use (document, &usual, progress, &error))
    return;
  fprintf (stderr, "%s: what kernels need is not counted: %s\n", g_get_prgname (), error->message);
}

static gboolean
use_kernels (GantryDocument *document, gconstpointer how, const GantryProgress *progress, GError **error)
{
  const GantryProgramOptions *options = how;

  /* What a driver makes of code for a GPU is not known before a run. */
  return options->code != GANTRY_CODE_CPU || gantry_kernel_table_use (document, options, progress, error);
}

static char *
conditions (gconstpointer how)
{
  return gantry_program_conditions (how);
}

static guint
threads (gconstpointer how)
{
  return (guint) MAX (((const GantryProgramOptions *) how)->threads, 0);
}

void
gantry_kernel_table_count_in (GantryCliOptions *common, const GantryProgramOptions *how)
{
  common->conditions = conditions;
  common->use_kernels = use_kernels;
  common->threads = threads;
  common->how = how;
}

void
gantry_kernel_table_keep (const GantryKernelSizes *sizes, const GantryProgramOptions *options)
{
  const GantryBuildOptions build = gantry_program_build_options (options);

  gantry_build_sizes_keep (sizes, &build);
}
