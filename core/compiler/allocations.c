/* SPDX-License-Identifier: Apache-2.0 */
/* Orders and allocators compared: each is planned as the compilation is, with nothing else changed. */
#include "core/compiler/allocations.h"
#include "core/plan/plan-figures.h"

static gboolean
add_row (GArray *rows, const GantryCompilation *compilation, const GantryCompileSettings *settings, GantryOrderPolicy order, GantryAllocator allocator,
         const GantryProgress *progress, GError **error)
{
  g_auto (GantryCompileSettings) changed;
  g_autoptr (GantryPlan) plan = NULL;
  GantryAllocation row = { (guint8) order, (guint8) allocator, settings->order == order && settings->allocator == allocator };

  gantry_compile_settings_copy (&changed, settings);
  changed.order = order;
  changed.allocator = allocator;
  changed.target.memory_limit = 0;
  changed.target.memory_part = 0;
  plan = gantry_compilation_plan (compilation, &changed, compilation->sizes, NULL, progress, error);
  if (plan == NULL)
    return FALSE;
  row.peak_bytes = gantry_plan_memory_bytes (plan, GANTRY_MEMORY_DEVICE);
  row.least_bytes = gantry_plan_least_bytes (plan);
  row.step_us = plan->total_us;
  g_array_append_val (rows, row);
  return TRUE;
}

GArray *
gantry_compilation_compare_allocations (const GantryCompilation *compilation, const GantryCompileSettings *settings, const GantryProgress *progress,
                                        GError **error)
{
  g_autoptr (GArray) rows = g_array_new (FALSE, FALSE, sizeof (GantryAllocation));

  for (GantryOrderPolicy order = 0; order < GANTRY_N_ORDERS; order++)
    for (GantryAllocator allocator = 0; allocator < GANTRY_N_ALLOCATORS; allocator++)
      {
        gantry_progress_report (progress, (double) rows->len / (GANTRY_N_ORDERS * GANTRY_N_ALLOCATORS), "Comparing orders and allocators");
        if (!add_row (rows, compilation, settings, order, allocator, progress, error))
          return NULL;
      }
  return g_steal_pointer (&rows);
}
