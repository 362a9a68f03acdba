/* SPDX-License-Identifier: Apache-2.0 */
/* simplify: sums of gradients of slices, each in its own place. */
#include "core/passes/simplify-private.h"

typedef struct
{
  GantryBuilder *b;
  const GantryModule *module;
  const GantryNode *node; /* the sum, of the snapshot before */
  const guint32 *x;       /* its operands, new ids */
  const GantryUses *uses;
  const GantryType *type;
} Match;

gboolean
_gantry_simplify_is_uniform (GantryBuilder *b, guint32 id, double *value)
{
  GantryLiteral *literal = gantry_builder_constant_of (b, id);
  gint64 n = literal != NULL ? gantry_type_elements (literal->type) : 0;

  if (n <= 0 || (!literal->splat && n > 64))
    return FALSE;
  *value = gantry_literal_get_double (literal, 0);
  for (gint64 i = 1; !literal->splat && i < n; i++)
    if (gantry_literal_get_double (literal, i) != *value)
      return FALSE;
  return TRUE;
}

static gboolean
is_zero (const Match *m, guint32 id)
{
  double value;

  return _gantry_simplify_is_uniform (m->b, id, &value) && value == 0;
}

/* The gradient of a slice: its cotangent among zeros. */
typedef struct
{
  guint32 update;
  guint32 starts[GANTRY_MAX_RANK];
  gint64 low[GANTRY_MAX_RANK]; /* where @is_static */
  gboolean is_static;
} Window;

static gboolean
window_of_pad (const Match *m, const GantryNode *pad, Window *window)
{
  guint rank = m->type->rank;
  gsize n_low, n_high, n_interior;
  const gint64 *low = gantry_attrs_ints (gantry_builder_context (m->b), pad->attrs, "edge_padding_low", &n_low);
  const gint64 *high = gantry_attrs_ints (gantry_builder_context (m->b), pad->attrs, "edge_padding_high", &n_high);
  const gint64 *interior = gantry_attrs_ints (gantry_builder_context (m->b), pad->attrs, "interior_padding", &n_interior);

  if (n_low != rank || n_high != rank || !is_zero (m, gantry_builder_operand_of (m->b, pad->id, 1)))
    return FALSE;
  for (guint d = 0; d < rank; d++)
    if (low[d] < 0 || high[d] < 0 || low[d] > G_MAXINT32 || (d < n_interior && interior[d] != 0))
      return FALSE;
  window->update = gantry_builder_operand_of (m->b, pad->id, 0);
  window->is_static = TRUE;
  for (guint d = 0; d < rank; d++)
    window->low[d] = low[d];
  for (guint d = 0; d < rank; d++)
    window->starts[d] = gantry_builder_scalar (m->b, GANTRY_I32, (double) low[d]);
  return TRUE;
}

static gboolean
window_of_update (const Match *m, const GantryNode *update, Window *window)
{
  guint32 id = update->id;

  if (update->n_operands != 2 + m->type->rank || !is_zero (m, gantry_builder_operand_of (m->b, id, 0)))
    return FALSE;
  window->update = gantry_builder_operand_of (m->b, id, 1);
  window->is_static = FALSE;
  for (guint d = 0; d < m->type->rank; d++)
    window->starts[d] = gantry_builder_operand_of (m->b, id, 2 + d);
  return TRUE;
}

/* Operand @i of a sum, which nobody else reads. */
static gboolean
is_window (const Match *m, guint i, Window *window)
{
  const GantryNode *source = gantry_node_operand (m->module, m->node, i);
  const GantryNode *node = gantry_builder_node (m->b, m->x[i]);
  guint32 position = gantry_module_position (m->module, source);

  if (node == NULL || m->uses->first[position + 1] - m->uses->first[position] != 1)
    return FALSE;
  return node->op == GANTRY_OP_PAD ? window_of_pad (m, node, window) : node->op == GANTRY_OP_DYNAMIC_UPDATE_SLICE && window_of_update (m, node, window);
}

static guint32
piece_of (const Match *m, guint32 total, const Window *window)
{
  const GantryType *type = gantry_builder_get_type (m->b, window->update);
  guint32 operands[1 + GANTRY_MAX_RANK] = { total };
  gint64 limit[GANTRY_MAX_RANK], sizes[GANTRY_MAX_RANK];
  GantryAttrList *attrs;

  for (guint d = 0; d < type->rank; d++)
    {
      sizes[d] = type->dims[d];
      limit[d] = window->is_static ? window->low[d] + sizes[d] : 0;
      operands[1 + d] = window->starts[d];
    }
  if (window->is_static)
    return gantry_builder_slice (m->b, total, window->low, limit, NULL);
  attrs = gantry_attr_list_new (gantry_builder_context (m->b));
  gantry_attr_list_set_ints (attrs, "slice_sizes", sizes, type->rank);
  return gantry_builder_add (m->b, GANTRY_OP_DYNAMIC_SLICE, operands, 1 + type->rank, gantry_attr_list_end (attrs));
}

guint32
_gantry_simplify_add_in_place (GantryBuilder *b, const GantryModule *module, const GantryNode *node, const guint32 *x, const GantryUses *uses)
{
  const GantryType *type = gantry_node_type (module, node);
  const Match match = { b, module, node, x, uses, type };

  if (node->phase == GANTRY_PHASE_FORWARD || !gantry_type_is_static (type) || type->rank == 0)
    return 0;
  for (guint i = 2; i-- > 0;)
    {
      guint32 operands[2 + GANTRY_MAX_RANK] = { x[1 - i] };
      Window window;

      if (!is_window (&match, i, &window))
        continue;
      operands[1] = gantry_builder_binary (b, GANTRY_OP_ADD, piece_of (&match, x[1 - i], &window), window.update);
      for (guint d = 0; d < type->rank; d++)
        operands[2 + d] = window.starts[d];
      return gantry_builder_add (b, GANTRY_OP_DYNAMIC_UPDATE_SLICE, operands, 2 + type->rank, 0);
    }
  return 0;
}
