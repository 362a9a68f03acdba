/* SPDX-License-Identifier: Apache-2.0 */
/* Schedules for a GPU: results of one shape go to the first scheduler that takes them. What it made is checked before
 * anything is generated from it. */
#include "core/kernels/schedule/bind.h"
#include "core/base/error.h"
#include <string.h>

static const GantryScheduler schedulers[] = {
  gantry_bind_tensor_core, gantry_bind_contraction, gantry_bind_rows, gantry_bind_columns, gantry_bind_transpose, gantry_bind_map,
};

static gboolean
schedule (GantryBound *bound, GantryKx *kx, const GantryGpu *gpu, GError **error)
{
  guint first = bound->grids->len;
  gboolean taken = FALSE;

  for (guint i = 0; i < G_N_ELEMENTS (schedulers) && !taken; i++)
    taken = schedulers[i](bound, kx, gpu);
  if (!g_ptr_array_find (bound->expressions, kx, NULL))
    gantry_kx_free (kx);
  if (!taken)
    {
      g_set_error_literal (error, GANTRY_ERROR, GANTRY_ERROR_TOO_LARGE, "the result has more elements than a grid has threads");
      return FALSE;
    }
  for (guint i = first; i < bound->grids->len; i++)
    if (!gantry_grid_check (g_ptr_array_index (bound->grids, i), gpu, error))
      return FALSE;
  return TRUE;
}

GantryBound *
gantry_bind (const GantryKernelSource *source, const GantryGpu *gpu, GError **error)
{
  g_autoptr (GantryBound) bound = gantry_bound_new ();

  for (guint i = 0; i < source->results->len; i++)
    {
      g_autoptr (GantryKx) kx = NULL;

      if (!gantry_kernel_source_leads (source, i))
        continue;
      kx = gantry_kernel_source_group (source, i, error);
      if (kx == NULL || !schedule (bound, gantry_kx_compact (kx), gpu, error))
        return NULL;
    }
  return g_steal_pointer (&bound);
}
