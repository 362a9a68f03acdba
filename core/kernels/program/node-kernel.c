/* SPDX-License-Identifier: Apache-2.0 */
/* What makers of kernels ask about a node. */
#include "core/kernels/program/node-kernel.h"
#include "core/graph/operation.h"

guint
gantry_node_n_results (const GantryModule *module, const GantryNode *node)
{
  const GantryType *type = gantry_node_type (module, node);

  return type->kind == GANTRY_TYPE_TUPLE ? type->rank : 1;
}

const GantryType *
gantry_node_result_type (const GantryModule *module, const GantryNode *node, guint i)
{
  const GantryType *type = gantry_node_type (module, node);

  return type->kind == GANTRY_TYPE_TUPLE ? gantry_context_type (module->context, gantry_context_tuple_member (module->context, node->type, i)) : type;
}

GantryLiteral *
gantry_node_operand_literal (const GantryModule *module, const GantryNode *node, guint i)
{
  const GantryNode *operand = gantry_node_operand (module, node, i);

  return operand != NULL ? gantry_node_literal (module, operand) : NULL;
}

char *
gantry_node_kernel_name (const GantryModule *module, const GantryNode *node, gboolean with_id)
{
  GString *name = g_string_new (gantry_node_op_name (module, node));
  const GantryFunction *function = gantry_node_fusion_body (module, node);

  if (with_id)
    g_string_append_printf (name, "_%u", node->id);
  for (guint32 i = 0; function != NULL && i < function->n_nodes && name->len < 48; i++)
    {
      const GantryNode *inner = &module->nodes[function->first_node + i];
      const GantryOpInfo *info = gantry_op_info (inner->op);

      if (info != NULL && !(info->flags & GANTRY_OP_STRUCTURE))
        g_string_append_printf (name, "_%s", info->name);
    }
  return g_string_free (name, FALSE);
}
