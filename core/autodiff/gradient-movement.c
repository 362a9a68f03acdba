/* SPDX-License-Identifier: Apache-2.0 */
/* Derivatives of the operations that only move elements: each is linear, and its derivative moves
 * them back and sums those that were copied. */
#include "core/autodiff/gradient-private.h"
#include "core/graph/operation.h"
#include <string.h>

#define B d->builder

static const gint64 *
ints (const GantryDiff *d, const GantryNode *node, const char *key)
{
  gsize n;

  return gantry_attrs_ints (d->context, node->attrs, key, &n);
}

void
_gantry_gradient_broadcast (GantryDiff *d, const GantryNode *node, guint32 g)
{
  const GantryType *x = _gantry_diff_operand_type (d, node, 0), *y = gantry_node_type (d->module, node);
  const gint64 *map = ints (d, node, "broadcast_dimensions");
  gint64 axes[GANTRY_MAX_RANK], permutation[GANTRY_MAX_RANK], kept[GANTRY_MAX_RANK];
  gint64 from[GANTRY_MAX_RANK];
  guint n_axes = 0, n_kept = 0, n = 0;

  for (guint i = 0; i < y->rank; i++)
    from[i] = -1;
  for (guint i = 0; i < x->rank; i++)
    from[map[i]] = i;
  for (guint i = 0; i < y->rank; i++)
    if (from[i] < 0 || x->dims[from[i]] != y->dims[i])
      axes[n_axes++] = i;
    else
      kept[n_kept++] = from[i];
  if (n_axes > 0)
    g = gantry_builder_reduce (B, "add", g, axes, n_axes);
  /* What is left stands in the order of the result's dimensions; the operand's may be another. */
  for (guint i = 0; i < x->rank; i++)
    for (guint k = 0; k < n_kept; k++)
      if (kept[k] == i)
        permutation[n++] = k;
  _gantry_diff_give (d, node, 0, _gantry_diff_reshape (d, gantry_builder_transpose (B, g, permutation), x));
}

void
_gantry_gradient_reshape (GantryDiff *d, const GantryNode *node, guint32 g)
{
  _gantry_diff_give (d, node, 0, _gantry_diff_reshape (d, g, _gantry_diff_operand_type (d, node, 0)));
}

void
_gantry_gradient_transpose (GantryDiff *d, const GantryNode *node, guint32 g)
{
  const gint64 *permutation = ints (d, node, "permutation");
  gint64 inverse[GANTRY_MAX_RANK];

  for (guint i = 0; i < gantry_node_type (d->module, node)->rank; i++)
    inverse[permutation[i]] = i;
  _gantry_diff_give (d, node, 0, gantry_builder_transpose (B, g, inverse));
}

void
_gantry_gradient_reverse (GantryDiff *d, const GantryNode *node, guint32 g)
{
  _gantry_diff_give (d, node, 0, gantry_builder_add (B, GANTRY_OP_REVERSE, &g, 1, node->attrs));
}

void
_gantry_gradient_slice (GantryDiff *d, const GantryNode *node, guint32 g)
{
  const GantryType *x = _gantry_diff_operand_type (d, node, 0), *y = gantry_node_type (d->module, node);
  const gint64 *start = ints (d, node, "start_indices"), *stride = ints (d, node, "strides");
  gint64 high[GANTRY_MAX_RANK], interior[GANTRY_MAX_RANK];

  if (gantry_type_elements (y) == 0 || !_gantry_diff_wants (d, node, 0)
      || _gantry_diff_give_piece (d, node, _gantry_diff_operand_slot (d, node, 0), g, start, stride))
    return;
  for (guint i = 0; i < x->rank; i++)
    {
      interior[i] = stride != NULL ? stride[i] - 1 : 0;
      high[i] = x->dims[i] - start[i] - (y->dims[i] - 1) * (interior[i] + 1) - 1;
    }
  _gantry_diff_give (d, node, 0, gantry_builder_pad (B, g, gantry_builder_scalar (B, x->element, 0), start, high, interior));
}

guint32
_gantry_diff_unpad (GantryDiff *d, guint32 g, const gint64 *low, const gint64 *high, const gint64 *interior, const GantryType *type)
{
  gint64 minus_low[GANTRY_MAX_RANK], minus_high[GANTRY_MAX_RANK], start[GANTRY_MAX_RANK] = { 0 };
  gint64 limit[GANTRY_MAX_RANK], stride[GANTRY_MAX_RANK];
  gboolean crops = FALSE, strides = FALSE, adds = FALSE;

  if (gantry_type_elements (type) == 0)
    return _gantry_diff_splat (d, type, 0);
  for (guint i = 0; i < type->rank; i++)
    {
      minus_low[i] = -low[i];
      minus_high[i] = -high[i];
      stride[i] = (interior != NULL ? interior[i] : 0) + 1;
      limit[i] = (type->dims[i] - 1) * stride[i] + 1;
      crops |= low[i] != 0 || high[i] != 0;
      adds |= low[i] < 0 || high[i] < 0;
      strides |= stride[i] != 1;
    }
  /* Where the padding was no crop, the inverse is a slice, which is fused with what is around it. */
  for (guint i = 0; i < type->rank && !adds; i++)
    {
      start[i] = low[i];
      limit[i] += low[i];
    }
  if (crops && adds)
    g = gantry_builder_pad (B, g, gantry_builder_scalar (B, type->element, 0), minus_low, minus_high, NULL);
  return strides || (crops && !adds) ? gantry_builder_slice (B, g, start, limit, stride) : g;
}

static guint32
sum_all (GantryDiff *d, guint32 x)
{
  gint64 axes[GANTRY_MAX_RANK];
  guint rank = gantry_builder_get_type (B, x)->rank;

  for (guint i = 0; i < rank; i++)
    axes[i] = i;
  return rank > 0 ? gantry_builder_reduce (B, "add", x, axes, rank) : x;
}

/* What is not the operand's is the padding's. */
void
_gantry_gradient_pad (GantryDiff *d, const GantryNode *node, guint32 g)
{
  guint32 x = _gantry_diff_unpad (d, g, ints (d, node, "edge_padding_low"), ints (d, node, "edge_padding_high"), ints (d, node, "interior_padding"),
                                  _gantry_diff_operand_type (d, node, 0));

  _gantry_diff_give (d, node, 0, x);
  if (_gantry_diff_wants (d, node, 1))
    _gantry_diff_give (d, node, 1, gantry_builder_binary (B, GANTRY_OP_SUBTRACT, sum_all (d, g), sum_all (d, x)));
}

void
_gantry_gradient_concatenate (GantryDiff *d, const GantryNode *node, guint32 g)
{
  const GantryType *y = gantry_node_type (d->module, node);
  gint64 axis = gantry_attrs_int (d->context, node->attrs, "dimension", 0), at = 0;
  gint64 start[GANTRY_MAX_RANK] = { 0 }, limit[GANTRY_MAX_RANK];

  for (guint i = 0; i < y->rank; i++)
    limit[i] = y->dims[i];
  for (guint i = 0; i < node->n_operands; i++)
    {
      start[axis] = at;
      at += _gantry_diff_operand_type (d, node, i)->dims[axis];
      limit[axis] = at;
      if (_gantry_diff_wants (d, node, i))
        _gantry_diff_give (d, node, i, node->n_operands == 1 ? g : gantry_builder_slice (B, g, start, limit, NULL));
    }
}

/* @first and the starts of @node from operand @from on, for an operation of its kind. */
static guint32
with_starts (GantryDiff *d, const GantryNode *node, guint from, guint op, guint32 x, guint32 update, guint32 attrs)
{
  g_autofree guint32 *operands = g_new (guint32, node->n_operands + 2);
  guint n = 0;

  operands[n++] = x;
  if (update != 0)
    operands[n++] = update;
  for (guint i = from; i < node->n_operands; i++)
    operands[n++] = _gantry_diff_operand (d, node, i);
  return gantry_builder_add (B, op, operands, n, attrs);
}

void
_gantry_gradient_dynamic_slice (GantryDiff *d, const GantryNode *node, guint32 g)
{
  guint32 zeros = _gantry_diff_splat (d, _gantry_diff_operand_type (d, node, 0), 0);

  _gantry_diff_give (d, node, 0, with_starts (d, node, 1, GANTRY_OP_DYNAMIC_UPDATE_SLICE, zeros, g, 0));
}

void
_gantry_gradient_dynamic_update_slice (GantryDiff *d, const GantryNode *node, guint32 g)
{
  const GantryType *update = _gantry_diff_operand_type (d, node, 1);
  GantryAttrList *attrs;

  if (_gantry_diff_wants (d, node, 0))
    _gantry_diff_give (d, node, 0, with_starts (d, node, 2, GANTRY_OP_DYNAMIC_UPDATE_SLICE, g, _gantry_diff_splat (d, update, 0), 0));
  if (!_gantry_diff_wants (d, node, 1))
    return;
  attrs = gantry_attr_list_new (d->context);
  gantry_attr_list_set_ints (attrs, "slice_sizes", update->dims, update->rank);
  _gantry_diff_give (d, node, 1, with_starts (d, node, 2, GANTRY_OP_DYNAMIC_SLICE, g, 0, gantry_attr_list_end (attrs)));
}
