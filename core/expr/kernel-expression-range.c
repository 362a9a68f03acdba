/* SPDX-License-Identifier: Apache-2.0 */
/* What is known of integer nodes: the smallest and largest value under the present ranges of the variables. */
#include "core/expr/kernel-expression.h"

#define UNKNOWN GANTRY_KX_UNKNOWN

/* What leaves the bounds may wrap around: then nothing is known. */
static GantryKxRange
bounded (__int128 lo, __int128 hi)
{
  if (lo <= -UNKNOWN || hi >= UNKNOWN)
    return (GantryKxRange) { -UNKNOWN, UNKNOWN };
  return (GantryKxRange) { (gint64) lo, (gint64) hi };
}

gboolean
_gantry_kx_is_known (GantryKxRange r)
{
  return r.lo > -UNKNOWN && r.hi < UNKNOWN;
}

static GantryKxRange
sum_range (GantryKx *kx, gint64 constant, const GantryKxTerm *terms, guint n)
{
  __int128 lo = constant, hi = constant;

  for (guint i = 0; i < n; i++)
    {
      GantryKxRange r = gantry_kx_range (kx, terms[i].node);
      __int128 p = (__int128) r.lo * terms[i].factor, q = (__int128) r.hi * terms[i].factor;

      if (!_gantry_kx_is_known (r))
        return r;
      lo += MIN (p, q);
      hi += MAX (p, q);
    }
  return bounded (lo, hi);
}

static GantryKxRange
type_range (GantryElementType type)
{
  switch (type)
    {
    case GANTRY_BOOL:
      return (GantryKxRange) { 0, 1 };
    case GANTRY_I8:
      return (GantryKxRange) { G_MININT8, G_MAXINT8 };
    case GANTRY_I16:
      return (GantryKxRange) { G_MININT16, G_MAXINT16 };
    case GANTRY_I32:
      return (GantryKxRange) { G_MININT32, G_MAXINT32 };
    case GANTRY_U8:
      return (GantryKxRange) { 0, G_MAXUINT8 };
    case GANTRY_U16:
      return (GantryKxRange) { 0, G_MAXUINT16 };
    case GANTRY_U32:
      return (GantryKxRange) { 0, G_MAXUINT32 };
    default:
      return (GantryKxRange) { -UNKNOWN, UNKNOWN };
    }
}

static GantryKxRange
binary_range (GantryKx *kx, const GantryKxNode *node)
{
  GantryKxRange x = gantry_kx_range (kx, node->a), y = gantry_kx_range (kx, node->b);

  if (node->type != GANTRY_I64)
    return type_range (node->type);
  switch (node->op)
    {
    case GANTRY_OP_MAXIMUM:
      return (GantryKxRange) { MAX (x.lo, y.lo), MAX (x.hi, y.hi) };
    case GANTRY_OP_MINIMUM:
      return (GantryKxRange) { MIN (x.lo, y.lo), MIN (x.hi, y.hi) };
    case GANTRY_OP_DIVIDE:
      if (x.lo >= 0 && y.lo >= 1)
        return (GantryKxRange) { x.lo / y.hi, x.hi / y.lo };
      break;
    case GANTRY_OP_REMAINDER:
      if (y.lo >= 1 && x.lo >= 0)
        return (GantryKxRange) { 0, MIN (x.hi, y.hi - 1) };
      if (y.lo >= 1)
        return (GantryKxRange) { 1 - y.hi, y.hi - 1 };
      break;
    case GANTRY_OP_MULTIPLY:
      if (x.lo >= 0 && y.lo >= 0)
        return bounded ((__int128) x.lo * y.lo, (__int128) x.hi * y.hi);
      break;
    default:
      break;
    }
  return (GantryKxRange) { -UNKNOWN, UNKNOWN };
}

GantryKxRange
gantry_kx_range (GantryKx *kx, guint32 id)
{
  GantryKxNode node = *gantry_kx_node (kx, id);
  GantryKxRange r;

  if (g_array_index (kx->stamps, guint32, id) == kx->epoch)
    return g_array_index (kx->known, GantryKxRange, id);
  r = type_range (node.type);
  switch (node.kind)
    {
    case GANTRY_KX_CONST:
      if (!gantry_element_is_float (node.type))
        r.lo = r.hi = CLAMP (node.i, -UNKNOWN, UNKNOWN);
      break;
    case GANTRY_KX_INDEX:
      r = kx->ranges[node.a];
      break;
    case GANTRY_KX_LINEAR:
      r = sum_range (kx, node.i, gantry_kx_terms (kx, &node), node.c);
      break;
    case GANTRY_KX_BINARY:
      r = binary_range (kx, &node);
      break;
    case GANTRY_KX_SELECT:
      {
        GantryKxRange x = gantry_kx_range (kx, node.b), y = gantry_kx_range (kx, node.c);

        r = (GantryKxRange) { MIN (x.lo, y.lo), MAX (x.hi, y.hi) };
        break;
      }
    case GANTRY_KX_CAST:
      {
        GantryElementType from = gantry_kx_node (kx, node.a)->type;

        if (node.type == GANTRY_I64 && !gantry_element_is_float (from) && from != GANTRY_U64)
          r = gantry_kx_range (kx, node.a);
        break;
      }
    case GANTRY_KX_VALUE:
      if (node.type == GANTRY_I64)
        r = g_array_index (kx->values, GantryKxValue, node.a).range;
      break;
    default:
      break;
    }
  g_array_index (kx->known, GantryKxRange, id) = r;
  g_array_index (kx->stamps, guint32, id) = kx->epoch;
  return r;
}
