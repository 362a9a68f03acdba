/* SPDX-License-Identifier: Apache-2.0 */
/* What is known of integer nodes: the smallest and largest value under the present ranges of the variables. */
#include "core/expr/kernel-expression.h"

static GantryIndexRange
sum_range (GantryKx *kx, gint64 constant, const GantryKxTerm *terms, guint n)
{
  GantryIndexRange range = { constant, constant };

  for (guint i = 0; i < n; i++)
    range = gantry_index_range_add (range, gantry_kx_range (kx, terms[i].node), terms[i].factor);
  return range;
}

static GantryIndexRange
range_of_node (GantryKx *kx, const GantryKxNode *node)
{
  GantryElementType from;

  if (node->kind == GANTRY_KX_CONST && !gantry_element_is_float (node->type))
    return (GantryIndexRange){ node->i, node->i };
  if (node->kind == GANTRY_KX_SELECT)
    return gantry_index_range_union (gantry_kx_range (kx, node->b), gantry_kx_range (kx, node->c));
  if (node->type != GANTRY_I64)
    return gantry_index_range_of_type (node->type);
  switch (node->kind)
    {
    case GANTRY_KX_INDEX: return kx->ranges[node->a];
    case GANTRY_KX_LINEAR: return sum_range (kx, node->i, gantry_kx_terms (kx, node), node->c);
    case GANTRY_KX_BINARY: return gantry_index_range_binary (node->op, gantry_kx_range (kx, node->a), gantry_kx_range (kx, node->b));
    case GANTRY_KX_CAST:
      from = gantry_kx_node (kx, node->a)->type;
      return !gantry_element_is_float (from) && from != GANTRY_U64 ? gantry_kx_range (kx, node->a) : GANTRY_INDEX_ANY;
    case GANTRY_KX_VALUE: return g_array_index (kx->values, GantryKxValue, node->a).range;
    default: return GANTRY_INDEX_ANY;
    }
}

GantryIndexRange
gantry_kx_range (GantryKx *kx, guint32 id)
{
  const GantryKxNode node = *gantry_kx_node (kx, id);
  GantryIndexRange range;

  if (g_array_index (kx->stamps, guint32, id) == kx->epoch)
    return g_array_index (kx->known, GantryIndexRange, id);
  range = range_of_node (kx, &node);
  g_array_index (kx->known, GantryIndexRange, id) = range;
  g_array_index (kx->stamps, guint32, id) = kx->epoch;
  return range;
}
