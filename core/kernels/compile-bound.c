/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs that become code by way of bound programs: for a GPU, or for the CPU in the shape that they have on the GPU. */
#include "core/base/error.h"
#include "core/kernels/compile-private.h"
#include "core/kernels/cpu/grid-cpu.h"
#include "core/kernels/gpu/grid-ptx.h"
#include "core/kernels/library/product.h"
#include <string.h>

static guint8
conflicts (const GantryGrid *grid, GantryGridKind one, GantryGridKind other)
{
  return (guint8) MIN (MAX (gantry_grid_bank_conflicts (grid, one), gantry_grid_bank_conflicts (grid, other)), 255);
}

/* @look: for conflicts of banks too */
static void
describe_launches (GantryJob *job, const GantryBound *bound, gboolean look)
{
  job->workspace_bytes = bound->workspace_bytes;
  job->n_launches = bound->grids->len;
  job->launches = g_new0 (GantryGpuLaunch, job->n_launches + 1);
  for (guint32 i = 0; i < job->n_launches; i++)
    {
      const GantryGrid *grid = g_ptr_array_index (bound->grids, i);
      GantryGpuLaunch *launch = &job->launches[i];

      launch->entry = i == 0 ? g_strdup (job->symbol) : g_strdup_printf ("%s_%u", job->symbol, i);
      memcpy (launch->grid, grid->grid, sizeof launch->grid);
      memcpy (launch->block, grid->block, sizeof launch->block);
      launch->shared_bytes = (guint32) gantry_grid_shared_bytes (grid);
      if (!look || launch->shared_bytes == 0)
        continue;
      launch->read_conflicts = conflicts (grid, GANTRY_GRID_GET, GANTRY_GRID_MATRIX_LOAD);
      launch->write_conflicts = conflicts (grid, GANTRY_GRID_SET, GANTRY_GRID_FETCH);
    }
}

static char *
schedule_text (const GantryJob *job, const GantryBound *bound)
{
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < bound->grids->len; i++)
    {
      g_autofree char *one = gantry_grid_to_text (g_ptr_array_index (bound->grids, i));

      g_string_append_printf (text, "%s%s\n%s", i > 0 ? "\n" : "", job->launches[i].entry, one);
    }
  return g_string_free (text, FALSE);
}

static void
make_ptx (GantryCompile *c, GantryCompiler *compiler, GantryJob *job, const GantryBound *bound, char **ir, char **assembly)
{
  GCancellable *cancellable = c->progress != NULL ? c->progress->cancellable : NULL;
  g_autofree char *ptx = gantry_grid_to_ptx (compiler, bound, job->symbol, job->source.n_inputs, job->n_results, ir, &job->error);

  if (ptx == NULL)
    return;
  if (c->ptxas == NULL)
    gantry_gpu_image_init_text (&job->image, ptx, c->gpu.arch);
  else
    gantry_ptxas_assemble (c->ptxas, ptx, c->gpu.arch, c->options.cache_folder, cancellable, &job->image, &job->error);
  if (assembly != NULL)
    *assembly = g_steal_pointer (&ptx);
}

static gboolean
check_grids (const GantryCompile *c, const GantryBound *bound, GError **error)
{
  for (guint i = 0; i < bound->grids->len; i++)
    if (!gantry_grid_check (g_ptr_array_index (bound->grids, i), &c->gpu, error))
      return FALSE;
  return TRUE;
}

void
gantry_compile_run_bound_job (GantryCompile *c, GantryCompiler *compiler, GantryJob *job, char **ir, char **assembly)
{
  g_autoptr (GantryBound) bound = job->bound != NULL ? g_steal_pointer (&job->bound) : gantry_bind (&job->source, &c->gpu, &job->error);

  if (bound == NULL || !check_grids (c, bound, &job->error))
    return;
  describe_launches (job, bound, c->options.keep_texts);
  if (c->options.keep_texts)
    {
      g_autofree char *schedule = schedule_text (job, bound);

      job->schedule = g_ref_string_new (schedule);
    }
  if (c->options.target == GANTRY_CODE_CUDA)
    make_ptx (c, compiler, job, bound, ir, assembly);
  else
    job->object = gantry_grid_to_cpu (compiler, bound, job->symbol, job->source.n_inputs, job->n_results, &job->n_tasks, ir, assembly, &job->error);
}

void
gantry_compile_finish_bound (GantryCompile *c, GantryKernel *kernel, const GantryJob *job, guint32 image)
{
  kernel->workspace_bytes = job->workspace_bytes;
  kernel->schedule = job->schedule != NULL ? g_ref_string_acquire (job->schedule) : NULL;
  if (c->options.target != GANTRY_CODE_CUDA)
    return;
  kernel->gpu = g_new0 (GantryGpuKernel, 1);
  kernel->gpu->n_launches = job->n_launches;
  kernel->gpu->launches = g_memdup2 (job->launches, job->n_launches * sizeof *job->launches);
  for (guint32 i = 0; i < job->n_launches; i++)
    {
      kernel->gpu->launches[i].entry = g_strdup (job->launches[i].entry);
      kernel->gpu->launches[i].image = image;
    }
  kernel->gpu->product = kernel->node != GANTRY_NO_NODE ? gantry_product_of (c->module, gantry_module_node (c->module, kernel->node)) : NULL;
  /* Its address comes behind the kernel's own, which takes no notice of it. */
  if (c->options.gpu_library && kernel->gpu->product != NULL)
    kernel->workspace_bytes = MAX (kernel->workspace_bytes, GANTRY_GPU_LIBRARY_WORKSPACE);
}
