/* SPDX-License-Identifier: Apache-2.0 */
/* The buffers of a plan that parameters are given in and results are read from. */
#include "core/base/error.h"
#include "core/plan/plan.h"

/* A value may be both, then it has a buffer (a view) of each category. */
typedef struct
{
  const GantryModule *module;
  const GantryPlan *plan;
  guint32 *input, *output; /* by node id: 1 + buffer; 0: none */
} Ends;

static void
find (Ends *ends)
{
  for (guint32 b = 0; b < ends->plan->n_buffers; b++)
    {
      const GantryPlanBuffer *buffer = &ends->plan->buffers[b];
      guint32 *slot;

      if (buffer->node >= ends->module->n_index || buffer->member != 0 || (buffer->category != GANTRY_BUFFER_INPUT && buffer->category != GANTRY_BUFFER_OUTPUT))
        continue;
      slot = buffer->category == GANTRY_BUFFER_INPUT ? &ends->input[buffer->node] : &ends->output[buffer->node];
      /* Of two the one that is outside the device: a copy that is made because the result is wanted there. */
      if (*slot == 0 || (buffer->memory != GANTRY_MEMORY_DEVICE && ends->plan->buffers[*slot - 1].memory == GANTRY_MEMORY_DEVICE))
        *slot = b + 1;
    }
}

static gboolean
take (const Ends *ends, guint32 id, const guint32 *first, const guint32 *second, guint32 *buffer, GError **error)
{
  const GantryNode *node = gantry_module_node (ends->module, id);
  g_autofree char *label = NULL;

  *buffer = first[id] != 0 ? first[id] - 1 : second[id] != 0 ? second[id] - 1 : gantry_plan_buffer_of (ends->plan, id, 0);
  if (*buffer != GANTRY_NO_BUFFER)
    return TRUE;
  label = gantry_node_label (ends->module, node);
  g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "plan and kernels do not fit together at '%s' (%s): the plan has no buffer for it", label,
               gantry_node_op_name (ends->module, node));
  return FALSE;
}

gboolean
gantry_plan_find_ends (const GantryPlan *plan, const GantryModule *module, guint32 *inputs, guint32 *outputs, GError **error)
{
  const GantryFunction *entry = gantry_module_entry (module);
  g_autofree guint32 *input = g_new0 (guint32, module->n_index + 1), *output = g_new0 (guint32, module->n_index + 1);
  Ends ends = { module, plan, input, output };

  find (&ends);
  for (guint32 i = 0; i < entry->n_params; i++)
    if (!take (&ends, module->nodes[entry->first_node + i].id, input, output, &inputs[i], error))
      return FALSE;
  for (guint32 i = 0; i < entry->n_results; i++)
    if (!take (&ends, gantry_function_result_id (module, entry, i), output, input, &outputs[i], error))
      return FALSE;
  return TRUE;
}
