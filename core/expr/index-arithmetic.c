/* SPDX-License-Identifier: Apache-2.0 */
/* Places in expressions: arithmetic, substitution of variables, and the order in which variables step through memory.
 * All schedules and the hand-written kernels use it. */
#include "core/expr/index-arithmetic.h"

/* Arithmetic */

guint32
gantry_index_const (GantryKx *kx, gint64 value)
{
  return gantry_kx_const_int (kx, GANTRY_I64, value);
}

guint32
gantry_index_sum (GantryKx *kx, guint32 x, gint64 p, guint32 y, gint64 q)
{
  return gantry_kx_linear (kx, 0, (GantryKxTerm[]){ { x, p }, { y, q } }, 2);
}

guint32
gantry_index_scale (GantryKx *kx, guint32 x, gint64 by)
{
  return gantry_kx_linear (kx, 0, (GantryKxTerm[]){ { x, by } }, 1);
}

guint32
gantry_index_shift (GantryKx *kx, guint32 x, gint64 constant)
{
  return gantry_kx_linear (kx, constant, (GantryKxTerm[]){ { x, 1 } }, 1);
}

guint32
gantry_index_divide (GantryKx *kx, guint32 x, gint64 by)
{
  return gantry_kx_binary (kx, GANTRY_I64, GANTRY_OP_DIVIDE, 0, x, gantry_index_const (kx, by));
}

guint32
gantry_index_remainder (GantryKx *kx, guint32 x, gint64 by)
{
  return gantry_kx_binary (kx, GANTRY_I64, GANTRY_OP_REMAINDER, 0, x, gantry_index_const (kx, by));
}

guint32
gantry_index_minimum (GantryKx *kx, guint32 x, gint64 with)
{
  return gantry_kx_binary (kx, GANTRY_I64, GANTRY_OP_MINIMUM, 0, x, gantry_index_const (kx, with));
}

guint32
gantry_index_xor (GantryKx *kx, guint32 x, guint32 y)
{
  return gantry_kx_binary (kx, GANTRY_I64, GANTRY_OP_XOR, 0, x, y);
}

guint32
gantry_index_less (GantryKx *kx, guint32 x, guint32 y)
{
  return gantry_kx_binary (kx, GANTRY_BOOL, GANTRY_OP_COMPARE, GANTRY_LT, x, y);
}

guint32
gantry_index_below (GantryKx *kx, guint32 x, gint64 count)
{
  return gantry_index_less (kx, x, gantry_index_const (kx, count));
}

/* Substitution */

void
gantry_substitution_clear (guint32 *substitution)
{
  for (guint v = 0; v < GANTRY_KX_MAX_VARS; v++)
    substitution[v] = G_MAXUINT32;
}

void
gantry_substitution_decode (guint32 *substitution, GantryKx *kx, guint32 flat, const guint *vars, guint n)
{
  for (guint i = n; i-- > 1;)
    {
      gint64 extent = kx->extents[vars[i]];

      substitution[vars[i]] = gantry_index_remainder (kx, flat, extent);
      flat = gantry_index_divide (kx, flat, extent);
    }
  if (n > 0)
    substitution[vars[0]] = flat;
}

guint32
gantry_substitute (GantryKx *kx, const guint32 *substitution, guint32 node)
{
  GantryKxRoot root = { .value = node, .address = node };

  gantry_kx_rebuild (kx, substitution, &root, 1);
  return root.value;
}

/* Memory */

static gint64
step_of (const GantryKx *kx, const GantryKxNode *address, guint v)
{
  gboolean other;

  if (address->kind == GANTRY_KX_INDEX)
    return address->a == v;
  return address->kind == GANTRY_KX_LINEAR ? gantry_kx_factor_of (kx, address, v, &other) : 0;
}

guint
gantry_vars_in_memory_order (const GantryKx *kx, guint64 set, guint32 address, guint *vars)
{
  const GantryKxNode *node = gantry_kx_node (kx, address);
  guint n = 0;

  for (guint v = 0; v < kx->n_vars; v++)
    if (set >> v & 1)
      {
        guint at = n++;

        for (; at > 0 && step_of (kx, node, vars[at - 1]) < step_of (kx, node, v); at--)
          vars[at] = vars[at - 1];
        vars[at] = v;
      }
  return n;
}

gboolean
gantry_address_steps_by_one (const GantryKx *kx, guint32 address, guint v)
{
  const GantryKxNode *node = gantry_kx_node (kx, address);
  gboolean other = FALSE;

  if (node->kind == GANTRY_KX_INDEX)
    return node->a == v;
  return node->kind == GANTRY_KX_LINEAR && gantry_kx_factor_of (kx, node, v, &other) == 1 && !other;
}

gint64
gantry_vars_count (const GantryKx *kx, guint64 set)
{
  gint64 n = 1;

  for (guint v = 0; v < kx->n_vars; v++)
    if (set >> v & 1)
      n *= kx->extents[v];
  return n;
}
