/* SPDX-License-Identifier: Apache-2.0 */
/* What the pass fuse asks of a node alone. */
#include "core/passes/fuse-private.h"
#include "core/graph/operation.h"

gboolean
_gantry_fuse_is_compiled (const GantryModule *module, const GantryNode *node)
{
  const GantryType *type = gantry_node_type (module, node);

  return gantry_type_is_static (type) && gantry_element_is_compiled (type->element);
}

gboolean
_gantry_fuse_is_scalar_broadcast (const GantryModule *module, const GantryNode *node)
{
  const GantryNode *operand;

  if (node->op != GANTRY_OP_BROADCAST_IN_DIM)
    return FALSE;
  operand = gantry_node_operand (module, node, 0);
  return operand != NULL && gantry_type_is_tensor (gantry_node_type (module, operand)) && gantry_node_type (module, operand)->rank == 0
         && _gantry_fuse_is_compiled (module, operand);
}

gboolean
_gantry_fuse_is_splat_constant (const GantryModule *module, const GantryNode *node)
{
  const GantryLiteral *literal = node->op == GANTRY_OP_CONSTANT ? gantry_node_literal (module, node) : NULL;

  return literal != NULL && literal->splat && gantry_node_type (module, node)->rank > 0 && _gantry_fuse_is_compiled (module, node);
}

gboolean
_gantry_fuse_enlarges (const GantryModule *module, const GantryNode *node, gint64 times)
{
  const GantryNode *operand = gantry_node_operand (module, node, 0);

  if (node->op != GANTRY_OP_BROADCAST_IN_DIM)
    return node->op == GANTRY_OP_IOTA;
  return _gantry_fuse_is_compiled (module, operand)
         && gantry_type_elements (gantry_node_type (module, node)) / times >= gantry_type_elements (gantry_node_type (module, operand));
}

gboolean
_gantry_fuse_is_elementwise (const GantryNode *node)
{
  const GantryOpInfo *info = gantry_op_info (node->op);

  return info != NULL && (info->flags & GANTRY_OP_ELEMENTWISE) != 0 && (info->flags & GANTRY_OP_VIEW) == 0 && node->op != GANTRY_OP_COPY;
}

gboolean
_gantry_fuse_is_joinable_movement (const GantryNode *node)
{
  return node->op == GANTRY_OP_BROADCAST_IN_DIM || node->op == GANTRY_OP_RESHAPE || node->op == GANTRY_OP_TRANSPOSE || node->op == GANTRY_OP_SLICE
         || node->op == GANTRY_OP_REVERSE || node->op == GANTRY_OP_IOTA;
}

gboolean
_gantry_fuse_is_product (const GantryNode *node)
{
  return node->op == GANTRY_OP_DOT_GENERAL || node->op == GANTRY_OP_CONVOLUTION;
}

gboolean
_gantry_fuse_may_end_group (const GantryModule *module, const GantryNode *node)
{
  return _gantry_fuse_is_compiled (module, node) && (_gantry_fuse_is_elementwise (node) || node->op == GANTRY_OP_REDUCE);
}
