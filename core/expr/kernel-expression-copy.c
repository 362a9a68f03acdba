/* SPDX-License-Identifier: Apache-2.0 */
/* A copy of an expression that holds only what its results need: splitting and joining variables leaves variables and
 * nodes behind, and what is bound to a grid wants new ones. */
#include "core/expr/kernel-expression.h"

/* The step of result variable @v in the first result. */
static gint64
step_of (const GantryKx *kx, guint v)
{
  const GantryKxNode *node = gantry_kx_node (kx, kx->roots[0].address);
  gboolean other;

  if (node->kind == GANTRY_KX_INDEX)
    return node->a == v;
  return node->kind == GANTRY_KX_LINEAR ? ABS (gantry_kx_factor_of (kx, node, v, &other)) : 0;
}

static guint64
variables_in_use (const GantryKx *kx, const guint8 *needed)
{
  guint64 used = 0;

  for (guint32 id = 0; id < kx->nodes->len; id++)
    if (needed[id] && gantry_kx_node (kx, id)->kind == GANTRY_KX_INDEX)
      used |= G_GUINT64_CONSTANT (1) << gantry_kx_node (kx, id)->a;
    else if (needed[id] && gantry_kx_node (kx, id)->kind == GANTRY_KX_REDUCE)
      used |= gantry_kx_node (kx, id)->u;
  return used;
}

/* @number: of each variable of @kx, in the copy. */
static void
number_variables (const GantryKx *kx, const guint8 *needed, GantryKx *copy, guint *number)
{
  guint64 used = variables_in_use (kx, needed), left = used & kx->result_vars;

  while (left != 0)
    {
      guint outermost = (guint) __builtin_ctzll (left);

      for (guint v = outermost + 1; v < kx->n_vars; v++)
        if (left >> v & 1 && step_of (kx, v) > step_of (kx, outermost))
          outermost = v;
      left &= ~(G_GUINT64_CONSTANT (1) << outermost);
      number[outermost] = gantry_kx_add_variable (copy, kx->extents[outermost]);
      copy->result_vars |= G_GUINT64_CONSTANT (1) << number[outermost];
    }
  for (left = used & ~kx->result_vars; left != 0; left &= left - 1)
    {
      guint v = (guint) __builtin_ctzll (left);

      number[v] = gantry_kx_add_variable (copy, kx->extents[v]);
    }
}

static guint32
copy_sum (const GantryKx *kx, const GantryKxNode *node, GantryKx *copy, const guint32 *map)
{
  g_autofree GantryKxTerm *terms = g_memdup2 (gantry_kx_terms (kx, node), node->c * sizeof *terms);

  for (guint i = 0; i < node->c; i++)
    terms[i].node = map[terms[i].node];
  return gantry_kx_linear (copy, node->i, terms, node->c);
}

static guint64
copy_set (guint64 set, const guint *number)
{
  guint64 result = 0;

  for (; set != 0; set &= set - 1)
    result |= G_GUINT64_CONSTANT (1) << number[__builtin_ctzll (set)];
  return result;
}

static guint32
copy_node (const GantryKx *kx, const GantryKxNode *node, GantryKx *copy, const guint32 *map, const guint *number)
{
  switch ((GantryKxKind) node->kind)
    {
    case GANTRY_KX_CONST:
      return gantry_element_is_float (node->type) ? gantry_kx_const_float (copy, node->type, node->f) : gantry_kx_const_int (copy, node->type, node->i);
    case GANTRY_KX_INDEX: return gantry_kx_index (copy, number[node->a]);
    case GANTRY_KX_LINEAR: return copy_sum (kx, node, copy, map);
    case GANTRY_KX_LOAD: return gantry_kx_load (copy, node->a, copy_sum (kx, node, copy, map));
    case GANTRY_KX_UNARY: return gantry_kx_unary (copy, node->type, node->op, map[node->a]);
    case GANTRY_KX_BINARY: return gantry_kx_binary (copy, node->type, node->op, node->direction, map[node->a], map[node->b]);
    case GANTRY_KX_SELECT: return gantry_kx_select (copy, map[node->a], map[node->b], map[node->c]);
    case GANTRY_KX_CAST: return gantry_kx_cast (copy, node->type, map[node->a]);
    case GANTRY_KX_BITCAST: return gantry_kx_bitcast (copy, node->type, map[node->a]);
    case GANTRY_KX_REDUCE: return gantry_kx_reduce (copy, node->op, map[node->a], copy_set (node->u, number));
    default: /* values belong to a program */ g_assert_not_reached ();
    }
}

GantryKx *
gantry_kx_compact (const GantryKx *kx)
{
  g_autofree guint8 *needed = gantry_kx_needed (kx, kx->roots, kx->n_roots);
  g_autofree guint32 *map = g_new0 (guint32, kx->nodes->len);
  GantryKx *copy = gantry_kx_new (kx->inputs, kx->n_inputs);
  guint number[GANTRY_KX_MAX_VARS] = { 0 };

  number_variables (kx, needed, copy, number);
  copy->overflow = copy->overflow || kx->overflow;
  for (guint32 id = 0; id < kx->nodes->len; id++)
    if (needed[id])
      map[id] = copy_node (kx, gantry_kx_node (kx, id), copy, map, number);
  copy->n_roots = kx->n_roots;
  copy->roots = g_memdup2 (kx->roots, kx->n_roots * sizeof *kx->roots);
  for (guint i = 0; i < kx->n_roots; i++)
    {
      copy->roots[i].value = map[kx->roots[i].value];
      copy->roots[i].address = map[kx->roots[i].address];
    }
  return copy;
}
