/* SPDX-License-Identifier: Apache-2.0 */
/* Schedules for a GPU: results of one shape go to the first scheduler that takes them. What it made is checked before
 * anything is generated from it. */
#include "core/kernels/bind-private.h"
#include "core/base/error.h"
#include <string.h>

static const GantryScheduler schedulers[] = {
  gantry_bind_tensor_core, gantry_bind_contraction, gantry_bind_rows,
  gantry_bind_columns,     gantry_bind_transpose,   gantry_bind_map,
};

static gboolean
same_shape (const GantryTexpr *a, const GantryTexpr *b)
{
  return a->rank == b->rank && memcmp (a->shape, b->shape, a->rank * sizeof *a->shape) == 0;
}

static gboolean
is_empty (const GantryTexpr *texpr)
{
  for (guint d = 0; d < texpr->rank; d++)
    if (texpr->shape[d] == 0)
      return TRUE;
  return FALSE;
}

/* All results of the shape of result @first that stand at or after it. (transfer full) */
static GantryKx *
expressions_like (const GantryKernelSource *source, guint first, GError **error)
{
  g_autoptr (GantryKx) kx = gantry_kx_new (source->inputs, source->n_inputs);
  const GantryTexpr *leader = g_ptr_array_index (source->results, first);

  for (guint i = first; i < source->results->len; i++)
    if (same_shape (leader, g_ptr_array_index (source->results, i))
        && !gantry_kx_add (kx, g_ptr_array_index (source->results, i), i, &source->layouts[i], error))
      return NULL;
  gantry_kx_canonicalize (kx);
  return gantry_kx_compact (kx);
}

static gboolean
schedule (GantryBound *bound, GantryKx *kx, const GantryGpu *gpu, GError **error)
{
  guint first = bound->grids->len;
  gboolean taken = FALSE;

  for (guint i = 0; i < G_N_ELEMENTS (schedulers) && !taken; i++)
    taken = schedulers[i] (bound, kx, gpu);
  if (!g_ptr_array_find (bound->expressions, kx, NULL))
    gantry_kx_free (kx);
  if (!taken)
    {
      g_set_error_literal (error, GANTRY_ERROR, GANTRY_ERROR_TOO_LARGE,
                           "the result has more elements than a grid has threads");
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
      const GantryTexpr *texpr = g_ptr_array_index (source->results, i);
      gboolean seen = is_empty (texpr);
      GantryKx *kx;

      for (guint j = 0; j < i && !seen; j++)
        seen = same_shape (texpr, g_ptr_array_index (source->results, j));
      if (seen)
        continue;
      kx = expressions_like (source, i, error);
      if (kx == NULL || !schedule (bound, kx, gpu, error))
        return NULL;
    }
  return g_steal_pointer (&bound);
}
