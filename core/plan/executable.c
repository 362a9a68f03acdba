/* SPDX-License-Identifier: Apache-2.0 */
/* Life of an executable: what its kernels own goes before the code that they live in. */
#include "core/plan/executable.h"

GantryExecutable *
gantry_executable_ref (GantryExecutable *executable)
{
  g_atomic_ref_count_inc (&executable->ref_count);
  return executable;
}

void
gantry_gpu_kernel_free (GantryGpuKernel *gpu)
{
  if (gpu == NULL)
    return;
  for (guint32 i = 0; i < gpu->n_launches; i++)
    {
      g_free (gpu->launches[i].entry);
      g_free (gpu->launches[i].maps);
    }
  g_free (gpu->launches);
  g_free (gpu->product);
  g_free (gpu);
}

void
gantry_gpu_image_clear (GantryGpuImage *image)
{
  g_clear_pointer (&image->code, g_bytes_unref);
  g_clear_pointer (&image->arch, g_free);
}

void
gantry_kernel_clear (GantryKernel *kernel)
{
  if (kernel->free_state != NULL)
    kernel->free_state (kernel->state);
  gantry_gpu_kernel_free (kernel->gpu);
  g_free (kernel->name);
  g_free (kernel->texpr);
  g_clear_pointer (&kernel->llvm_ir, g_ref_string_release);
  g_clear_pointer (&kernel->assembly, g_ref_string_release);
  g_clear_pointer (&kernel->schedule, g_ref_string_release);
}

void
gantry_executable_unref (GantryExecutable *executable)
{
  if (executable == NULL || !g_atomic_ref_count_dec (&executable->ref_count))
    return;
  for (guint32 i = 0; i < executable->n_controls; i++)
    {
      for (guint r = 0; r < 2; r++)
        {
          gantry_executable_unref (executable->controls[i].regions[r]);
          gantry_region_layout_free (executable->controls[i].layouts[r]);
        }
      g_free (executable->controls[i].pieces);
    }
  g_free (executable->controls);
  if (executable->whole == NULL)
    {
      for (guint32 i = 0; i < executable->n_kernels; i++)
        gantry_kernel_clear (&executable->kernels[i]);
      for (guint32 i = 0; i < executable->n_images; i++)
        gantry_gpu_image_clear (&executable->images[i]);
      g_free (executable->images);
      g_free (executable->kernels);
    }
  g_free (executable->instructions);
  g_free (executable->buffer_refs);
  g_free (executable->packed_offsets);
  g_free (executable->inputs);
  g_free (executable->outputs);
  g_clear_pointer (&executable->plan, gantry_plan_unref);
  g_clear_pointer (&executable->module, gantry_module_unref);
  if (executable->whole == NULL && executable->free_code != NULL)
    executable->free_code (executable->code);
  g_free (executable);
}
