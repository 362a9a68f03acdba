/* SPDX-License-Identifier: Apache-2.0 */
/* Which concatenations loops alone walk along. */
#include "core/plan/pieces.h"
#include "core/graph/operation.h"

static gboolean
is_stack_of_slices (const GantryModule *module, const GantryNode *node)
{
  if (node->op != GANTRY_OP_CONCATENATE || node->n_operands < 2 || gantry_node_type (module, node)->memory != GANTRY_MEMORY_DEVICE
      || gantry_attrs_int (module->context, node->attrs, "dimension", 0) != 0)
    return FALSE;
  for (guint i = 0; i < node->n_operands; i++)
    if (gantry_node_operand_type (module, node, i)->dims[0] != 1 || gantry_node_operand_type (module, node, i)->memory != GANTRY_MEMORY_DEVICE)
      return FALSE;
  return TRUE;
}

/* Whether operand @i of @node, a stack of slices, is one that a loop walks along from its first slice to its last or back. */
static gboolean
walks_along (const GantryModule *module, const GantryNode *node, guint i)
{
  GantryScan scan;

  if (node->op != GANTRY_OP_SCAN)
    return FALSE;
  gantry_scan_of (module, node, &scan);
  return i >= scan.n_carries && i < scan.n_carries + scan.n_xs && scan.axes[i - scan.n_carries] == 0
         && scan.length == gantry_node_operand (module, node, i)->n_operands;
}

/* Notes of each concatenation that @node reads whether it walks along it, or reads it in another way. */
static void
note_operands (const GantryModule *module, const GantryFunction *function, const GantryNode *node, guint8 *walked, guint8 *read)
{
  for (guint i = 0; i < node->n_operands; i++)
    {
      const GantryNode *operand = gantry_node_operand (module, node, i);
      guint32 position;

      if (operand == NULL || operand->op != GANTRY_OP_CONCATENATE)
        continue;
      position = gantry_module_position (module, operand) - function->first_node;
      if (is_stack_of_slices (module, operand) && walks_along (module, node, i))
        walked[position] = TRUE;
      else
        read[position] = TRUE;
    }
}

guint8 *
gantry_function_find_walked (const GantryModule *module, const GantryFunction *function, const guint8 *needed)
{
  guint8 *walked = g_new0 (guint8, function->n_nodes + (gsize) 1);
  g_autofree guint8 *read = g_new0 (guint8, function->n_nodes + (gsize) 1);

  for (guint32 n = 0; n < function->n_nodes; n++)
    if (needed == NULL || needed[n])
      note_operands (module, function, &module->nodes[function->first_node + n], walked, read);
  for (guint i = 0; i < function->n_results; i++)
    {
      const GantryNode *node = gantry_module_node (module, gantry_function_result_id (module, function, i));

      if (node != NULL)
        read[gantry_module_position (module, node) - function->first_node] = TRUE;
    }
  for (guint32 n = 0; n < function->n_nodes; n++)
    walked[n] = walked[n] && !read[n];
  return walked;
}
