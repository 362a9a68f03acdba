/* SPDX-License-Identifier: Apache-2.0 */
/* Life of a measurement of memory, and the names of who owns it. */
#include "core/plan/memory-measure.h"

static const char *const names[] = {
  [GANTRY_OWNER_PROGRAMS] = "program and libraries", [GANTRY_OWNER_FILES] = "other files",  [GANTRY_OWNER_LIBRARY] = "scratch of libraries",
  [GANTRY_OWNER_HEAP] = "heap and stacks",           [GANTRY_OWNER_PASSING] = "gone again",
};
G_STATIC_ASSERT (G_N_ELEMENTS (names) == GANTRY_N_MEMORY_OWNERS);

const char *
gantry_memory_owner_name (GantryMemoryOwner owner)
{
  g_return_val_if_fail (owner < GANTRY_N_MEMORY_OWNERS, NULL);
  return names[owner];
}

GantryMemoryMeasure *
gantry_memory_measure_new (guint32 n_steps)
{
  GantryMemoryMeasure *measure = g_new0 (GantryMemoryMeasure, 1);

  g_atomic_ref_count_init (&measure->ref_count);
  measure->n_steps = n_steps;
  measure->curve = g_new0 (guint64, n_steps + (gsize) 1);
  measure->outside.step = measure->beside.step = G_MAXUINT32;
  return measure;
}

GantryMemoryMeasure *
gantry_memory_measure_ref (GantryMemoryMeasure *measure)
{
  g_atomic_ref_count_inc (&measure->ref_count);
  return measure;
}

void
gantry_memory_measure_unref (GantryMemoryMeasure *measure)
{
  if (measure == NULL || !g_atomic_ref_count_dec (&measure->ref_count))
    return;
  g_free (measure->curve);
  g_free (measure);
}

gboolean
gantry_memory_measure_exceeds (const GantryMemoryMeasure *measure, guint64 limit)
{
  return limit > 0 && measure->peak_bytes > limit && measure->peak_bytes - limit > measure->rounding_bytes;
}
