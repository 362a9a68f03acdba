/* SPDX-License-Identifier: Apache-2.0 */
/* The figures of a plan. */
#include "core/plan/plan-figures.h"

void
gantry_plan_figures_set_parts (GantryPlanFigures *figures, const GantryMemoryParts *parts)
{
  figures->parts = *parts;
  figures->peak_bytes = gantry_memory_parts_total (parts);
  figures->temp_bytes = parts->bytes[GANTRY_PART_TEMPORARIES] + parts->bytes[GANTRY_PART_WORKSPACES];
}

void
gantry_plan_figures (const GantryPlan *plan, GantryPlanFigures *figures)
{
  GantryMemoryParts parts;

  g_return_if_fail (plan != NULL);
  *figures = (GantryPlanFigures){ .host_bytes = gantry_plan_host_bytes (plan),
                                  .copied_bytes = plan->copied_bytes,
                                  .step_us = plan->total_us,
                                  .recompute_us = plan->recompute_us,
                                  .stall_us = plan->stall_us,
                                  .sizes_known = plan->sizes_known,
                                  .fits = !plan->refused };
  gantry_plan_memory_parts (plan, GANTRY_MEMORY_DEVICE, &parts);
  gantry_plan_figures_set_parts (figures, &parts);
}
