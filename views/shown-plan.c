/* SPDX-License-Identifier: Apache-2.0 */
/* Which plan the views show. */
#include "views/shown-plan.h"

GantryPlan *
gantry_shown_plan (const GantryCompilation *compilation, const GantryRunResult *run)
{
  GantryPlan *own = compilation->plan, *ran = run != NULL ? run->plan : NULL;

  if (own == NULL || ran == NULL || ran->n_steps != own->n_steps || ran->n_init_steps != own->n_init_steps)
    return own;
  /* Ids are never used twice: a step of another program names a node that this one does not have. */
  for (guint32 i = 0; i < ran->n_steps; i++)
    if (gantry_module_node (gantry_compilation_module (compilation), ran->steps[i].node) == NULL)
      return own;
  for (guint32 i = 0; i < ran->n_buffers; i++)
    if (gantry_module_node (gantry_compilation_module (compilation), ran->buffers[i].node) == NULL)
      return own;
  return ran;
}
