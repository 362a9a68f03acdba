/* SPDX-License-Identifier: Apache-2.0 */
/* Names of events: a step is called the same in what a plan predicts and in what a run measured. */
#include "profiler/names.h"

char *
gantry_label_of (const GantryModule *module, guint32 id)
{
  const GantryNode *node = gantry_module_node (module, id);

  if (node == NULL)
    return g_strdup_printf ("%%%u", id);
  /* What the source gave no name is told by what it does. */
  return node->name != 0 ? gantry_node_label (module, node) : g_strdup_printf ("%s %%%u", gantry_node_op_name (module, node), id);
}

char *
gantry_step_name (const GantryPlanStep *step, const char *label)
{
  if (step->kind == GANTRY_STEP_RECOMPUTE)
    return g_strconcat ("recompute ", label, NULL);
  if (step->kind == GANTRY_STEP_CONVERT)
    return g_strconcat (step->instance > 0 ? "restore " : "compress ", label, NULL);
  if (step->kind != GANTRY_STEP_COPY)
    return g_strdup (label);
  switch ((GantryQueue) step->queue)
    {
    case GANTRY_QUEUE_TO_HOST: return g_strconcat (label, " to host", NULL);
    case GANTRY_QUEUE_TO_DEVICE: return g_strconcat (label, " to device", NULL);
    default: return g_strconcat ("copy ", label, NULL);
    }
}
