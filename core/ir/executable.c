/* SPDX-License-Identifier: Apache-2.0 */
/* Life of an executable: what its kernels own goes before the code that they live in. */
#include "core/ir/executable.h"

GantryExecutable *
gantry_executable_ref (GantryExecutable *executable)
{
  g_atomic_ref_count_inc (&executable->ref_count);
  return executable;
}

static void
clear_kernel (GantryKernel *kernel)
{
  if (kernel->free_state != NULL)
    kernel->free_state (kernel->state);
  g_free (kernel->name);
  g_free (kernel->texpr);
  g_free (kernel->llvm_ir);
  g_free (kernel->assembly);
}

void
gantry_executable_unref (GantryExecutable *executable)
{
  if (executable == NULL || !g_atomic_ref_count_dec (&executable->ref_count))
    return;
  for (guint32 i = 0; i < executable->n_kernels; i++)
    clear_kernel (&executable->kernels[i]);
  g_free (executable->kernels);
  g_free (executable->instructions);
  g_free (executable->buffer_refs);
  g_free (executable->packed_offsets);
  g_free (executable->inputs);
  g_free (executable->outputs);
  g_clear_pointer (&executable->plan, gantry_plan_unref);
  g_clear_pointer (&executable->module, gantry_module_unref);
  if (executable->free_code != NULL)
    executable->free_code (executable->code);
  g_free (executable);
}
