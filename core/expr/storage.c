/* SPDX-License-Identifier: Apache-2.0 */
/* Whether operands and results may stand in one storage: written over each other, as a view of a part, or made as parts of
 * a whole. What plans places and what chooses layouts both ask here, so that they mean the same values. */
#include "core/expr/storage.h"
#include "core/expr/texpr.h"
#include "core/graph/op-attributes.h"
#include <string.h>

/* TRUE when every load of @input is at the coordinates of the result element. */
static gboolean
loads_in_place (const GantryTexpr *texpr, guint input)
{
  for (guint32 i = 0; i < texpr->n_nodes; i++)
    {
      const GantryTx *node = &texpr->nodes[i];

      if (node->kind != GANTRY_TX_LOAD || node->a != input)
        continue;
      for (guint d = 0; d < node->c; d++)
        {
          const GantryTx *index = &texpr->nodes[texpr->pool[node->b + d]];

          if (texpr->shape[d] != 1 && !(index->kind == GANTRY_TX_INDEX && index->a == d))
            return FALSE;
        }
    }
  return TRUE;
}

static gboolean
fusion_may_alias (const GantryModule *module, const GantryNode *node, guint i)
{
  g_autoptr (GPtrArray) all = gantry_texpr_of_fusion (module, node, NULL);

  return all != NULL && all->len == 1 && loads_in_place (g_ptr_array_index (all, 0), i);
}

gboolean
gantry_node_may_alias (const GantryModule *module, const GantryNode *node, guint i)
{
  const GantryOpInfo *info = gantry_op_info (node->op);
  const GantryType *result = gantry_node_type (module, node), *operand = gantry_node_operand_type (module, node, i);
  gint64 bytes = gantry_type_bytes (result);

  if (info == NULL || i >= node->n_operands || bytes < 0 || gantry_type_bytes (operand) != bytes || operand->memory != result->memory)
    return FALSE;
  if (info->flags & GANTRY_OP_VIEW)
    return TRUE;
  if (gantry_element_size (operand->element) != gantry_element_size (result->element) || operand->rank != result->rank
      || memcmp (operand->dims, result->dims, sizeof (GantryDim) * result->rank) != 0)
    return FALSE;
  if (info->flags & GANTRY_OP_ELEMENTWISE)
    return TRUE;
  if (node->op == GANTRY_OP_DYNAMIC_UPDATE_SLICE)
    return i == 0;
  return node->op == GANTRY_OP_FUSION && fusion_may_alias (module, node, i);
}

/* Bytes of one index of dimension @d. */
static guint64
row_bytes (const GantryType *type, guint d)
{
  guint64 bytes = gantry_element_size (type->element);

  for (guint i = d + 1; i < type->rank; i++)
    bytes *= (guint64) type->dims[i];
  return bytes;
}

gboolean
gantry_slice_is_contiguous (const GantryModule *module, const GantryNode *node, guint64 *offset)
{
  const GantryType *from = gantry_node_operand_type (module, node, 0), *to = gantry_node_type (module, node);
  gsize n_start, n_strides;
  const gint64 *start = gantry_attrs_ints (module->context, node->attrs, "start_indices", &n_start);
  const gint64 *strides = gantry_attrs_ints (module->context, node->attrs, "strides", &n_strides);
  gboolean whole = FALSE; /* dimensions from here on must be whole: one before has more than one index */

  *offset = 0;
  if (n_start != from->rank || from->rank != to->rank || !gantry_type_is_static (from) || !gantry_type_is_static (to))
    return FALSE;
  for (guint d = 0; d < from->rank; d++)
    {
      if ((whole && to->dims[d] != from->dims[d]) || (to->dims[d] > 1 && n_strides == from->rank && strides[d] != 1))
        return FALSE;
      whole = whole || to->dims[d] != 1;
      *offset += (guint64) start[d] * row_bytes (from, d);
    }
  return TRUE;
}

gboolean
gantry_concatenate_is_contiguous (const GantryModule *module, const GantryNode *node)
{
  const GantryType *type = gantry_node_type (module, node);
  gint64 dimension = gantry_attrs_int (module->context, node->attrs, "dimension", 0);

  for (guint d = 0; d < type->rank && d < dimension; d++)
    if (type->dims[d] != 1)
      return FALSE;
  return TRUE;
}

gboolean
gantry_node_may_share (const GantryModule *module, const GantryNode *node, guint i)
{
  guint64 offset;

  switch (node->op)
    {
    case GANTRY_OP_SLICE: return gantry_slice_is_contiguous (module, node, &offset);
    case GANTRY_OP_CONCATENATE: return gantry_concatenate_is_contiguous (module, node);
    case GANTRY_OP_COPY: /* what is fetched for its users */
    case GANTRY_OP_TUPLE:
    case GANTRY_OP_RESULT: return TRUE;
    default: return gantry_node_may_alias (module, node, i);
    }
}
