/* SPDX-License-Identifier: Apache-2.0 */
/* What a run took as the driver of its device counts it: by how much the device's free memory fell from before the program was loaded
 * until its run was over. Of that the driver says what each allocation took; the rest is what it took by itself, for code and for
 * launching, and whatever other programs took meanwhile. */
#include "core/runtime/executor-private.h"

void
_gantry_executor_note_free (GantryExecutor *executor)
{
  if (!gantry_device_count_free (executor->device, &executor->free_before))
    executor->free_before = 0;
}

/* Adds what @memory, of @bytes that were asked for, took. */
static gboolean
add_taken (const GantryExecutor *executor, const void *memory, gsize bytes, GantryMemoryMeasure *measure, GantryMemoryPart part)
{
  guint64 taken;

  if (memory == NULL)
    return TRUE;
  if (!gantry_device_count_taken (executor->device, memory, &taken))
    return FALSE;
  measure->touched.bytes[part] += taken;
  measure->rounding_bytes += taken > bytes ? taken - bytes : 0;
  return TRUE;
}

/* Those of what control runs, too. */
static gboolean
add_constants (const GantryExecutor *executor, GantryMemoryMeasure *measure)
{
  const GantryExecutable *executable = executor->executable;

  if (!add_taken (executor, executor->constants, executor->constant_bytes, measure, GANTRY_PART_CONSTANTS))
    return FALSE;
  for (guint32 i = 0; executor->controls != NULL && i < executable->n_controls; i++)
    for (guint r = 0; r < executable->controls[i].control.n_regions; r++)
      if (!add_constants (executor->controls[i].regions[r], measure))
        return FALSE;
  return TRUE;
}

/* What is not known of a driver's own is no reason to say that the program broke its limit: it counts as rest of pages. */
static void
add_rest (const GantryExecutor *executor, guint64 left, GantryMemoryMeasure *measure)
{
  guint64 taken = gantry_memory_parts_total (&measure->touched), fallen = executor->free_before > left ? executor->free_before - left : 0;
  guint64 rest = fallen > taken ? fallen - taken : 0, planned = executor->executable->plan->code_bytes;

  measure->touched.bytes[GANTRY_PART_CODE] = rest;
  measure->rounding_bytes += rest > planned ? rest - planned : 0;
}

void
_gantry_executor_count_by_driver (GantryExecutor *executor)
{
  g_autoptr (GantryMemoryMeasure) measure = gantry_memory_measure_new (0);
  guint64 left;

  g_clear_pointer (&executor->measure, gantry_memory_measure_unref);
  measure->driver = TRUE;
  g_clear_pointer (&measure->curve, g_free);
  measure->peak_step = G_MAXUINT32;
  if (executor->free_before == 0 || !gantry_device_count_free (executor->device, &left) || !add_constants (executor, measure)
      || !add_taken (executor, executor->arenas[GANTRY_MEMORY_DEVICE], executor->arena_bytes[GANTRY_MEMORY_DEVICE], measure, GANTRY_PART_TEMPORARIES))
    return;
  add_rest (executor, left, measure);
  measure->peak_bytes = gantry_memory_parts_total (&measure->touched);
  executor->measure = g_steal_pointer (&measure);
}
