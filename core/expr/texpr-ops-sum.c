/* SPDX-License-Identifier: Apache-2.0 */
/* The meaning of reductions, windows, matrix products and convolutions. */
#include "core/expr/texpr-private.h"
#include "core/graph/op-attributes.h"

guint32
_gantry_tx_reduction (GantryTxOp *o)
{
  const GantryType *type = _gantry_tx_operand (o, 0);
  GantryElementType element = o->result->element, sum = element;
  GantryOp op = gantry_reduction_op (gantry_attrs_string (o->context, o->node->attrs, "kind", "add"));
  guint32 reduced = gantry_op_mask (o->context, o->node->attrs, "dimensions");
  guint32 at[GANTRY_MAX_RANK], x;
  guint axes[GANTRY_MAX_RANK], n_axes = 0, next = 0;

  if (gantry_element_is_float (element))
    sum = _gantry_tx_accumulator (element, element);
  for (guint d = 0; d < type->rank; d++)
    if (reduced & (1u << d))
      {
        axes[n_axes] = gantry_tx_axis (o->b, type->dims[d]);
        at[d] = gantry_tx_index (o->b, axes[n_axes++]);
      }
    else
      at[d] = gantry_tx_index (o->b, next++);
  x = gantry_tx_cast (o->b, gantry_tx_load (o->b, 0, at), sum);
  return gantry_tx_cast (o->b, gantry_tx_reduce (o->b, op, x, axes, n_axes), element);
}

/* Position @index * stride + @window * dilation - low in a base whose elements lie base_dilation apart; joins to
 * @condition that there is one. Returns: the coordinate in the operand. */
static guint32
window_position (GantryTxOp *o, const GantryWindow *w, gint64 size, guint32 index, guint32 window, guint32 *condition)
{
  GantryTexprBuilder *b = o->b;
  guint32 p, step = gantry_tx_int (b, w->base_dilation);

  p = gantry_tx_binary (b, GANTRY_OP_MULTIPLY, index, gantry_tx_int (b, w->stride));
  p = gantry_tx_binary (b, GANTRY_OP_ADD, p, gantry_tx_binary (b, GANTRY_OP_MULTIPLY, window, gantry_tx_int (b, w->window_dilation)));
  p = gantry_tx_binary (b, GANTRY_OP_SUBTRACT, p, gantry_tx_int (b, w->low));
  *condition = _gantry_tx_within (o, *condition, p, 0, (size - 1) * w->base_dilation + 1);
  if (w->base_dilation > 1)
    *condition = gantry_tx_binary (b, GANTRY_OP_AND, *condition,
                                   gantry_tx_compare (b, GANTRY_EQ, gantry_tx_binary (b, GANTRY_OP_REMAINDER, p, step), gantry_tx_int (b, 0)));
  return gantry_tx_binary (b, GANTRY_OP_DIVIDE, p, step);
}

guint32
_gantry_tx_reduce_window (GantryTxOp *o)
{
  const GantryType *type = _gantry_tx_operand (o, 0);
  GantryElementType element = o->result->element, sum = element;
  GantryOp op = gantry_reduction_op (gantry_attrs_string (o->context, o->node->attrs, "kind", "add"));
  GantryWindow windows[GANTRY_MAX_RANK];
  guint32 at[GANTRY_MAX_RANK], condition = _gantry_tx_true (o->b), x;
  guint axes[GANTRY_MAX_RANK], n_axes = 0;

  if (gantry_element_is_float (element))
    sum = _gantry_tx_accumulator (element, element);
  gantry_op_windows (o->context, o->node->attrs, GANTRY_OP_REDUCE_WINDOW, type->rank, windows);
  for (guint d = 0; d < type->rank; d++)
    {
      guint32 window = gantry_tx_int (o->b, 0);

      if (windows[d].size > 1)
        {
          axes[n_axes] = gantry_tx_axis (o->b, windows[d].size);
          window = gantry_tx_index (o->b, axes[n_axes++]);
        }
      at[d] = window_position (o, &windows[d], type->dims[d], gantry_tx_index (o->b, d), window, &condition);
    }
  x = gantry_tx_cast (o->b, gantry_tx_load (o->b, 0, at), sum);
  x = gantry_tx_select (o->b, condition, x, _gantry_tx_identity (o->b, op, sum));
  return gantry_tx_cast (o->b, gantry_tx_reduce (o->b, op, x, axes, n_axes), element);
}

guint32
_gantry_tx_dot_general (GantryTxOp *o)
{
  static const char *const batching[] = { "lhs_batching_dimensions", "rhs_batching_dimensions" };
  static const char *const contracting[] = { "lhs_contracting_dimensions", "rhs_contracting_dimensions" };
  GantryTexprBuilder *b = o->b;
  GantryElementType sum = _gantry_tx_accumulator (_gantry_tx_operand (o, 0)->element, o->result->element);
  guint axes[GANTRY_MAX_RANK], n_axes = 0, next = 0;
  guint32 factors[2], x;

  for (guint side = 0; side < 2; side++)
    {
      const GantryType *type = _gantry_tx_operand (o, side);
      guint32 at[GANTRY_MAX_RANK], done = 0;
      const gint64 *list;
      gsize n;

      list = gantry_attrs_ints (o->context, o->node->attrs, contracting[side], &n);
      for (guint i = 0; i < n; i++)
        {
          if (side == 0)
            axes[n_axes++] = gantry_tx_axis (b, type->dims[list[i]]);
          at[list[i]] = gantry_tx_index (b, axes[i]);
          done |= 1u << list[i];
        }
      list = gantry_attrs_ints (o->context, o->node->attrs, batching[side], &n);
      for (guint i = 0; i < n; i++)
        {
          at[list[i]] = gantry_tx_index (b, i);
          done |= 1u << list[i];
        }
      if (side == 0)
        next = (guint) n;
      for (guint d = 0; d < type->rank; d++)
        if (!(done & (1u << d)))
          at[d] = gantry_tx_index (b, next++);
      factors[side] = gantry_tx_cast (b, gantry_tx_load (b, side, at), sum);
    }
  x = gantry_tx_addend (b, factors[0], factors[1]);
  return gantry_tx_cast (b, gantry_tx_reduce (b, GANTRY_OP_ADD, x, axes, n_axes), o->result->element);
}

/* Adds the bias and applies what follows, in the type of the sum. */
static guint32
finish_convolution (GantryTxOp *o, guint32 x, GantryElementType sum)
{
  guint32 channel = gantry_tx_index (o->b, 1);

  if (o->node->n_operands > 2)
    x = gantry_tx_binary (o->b, GANTRY_OP_ADD, x, gantry_tx_cast (o->b, gantry_tx_load (o->b, 2, &channel), sum));
  if (gantry_attrs_string (o->context, o->node->attrs, "post", NULL) != NULL)
    x = gantry_tx_binary (o->b, GANTRY_OP_MAXIMUM, x, gantry_tx_const_int (o->b, sum, 0));
  return gantry_tx_cast (o->b, x, o->result->element);
}

guint32
_gantry_tx_convolution (GantryTxOp *o)
{
  const GantryType *data = _gantry_tx_operand (o, 0), *kernel = _gantry_tx_operand (o, 1);
  GantryTexprBuilder *b = o->b;
  GantryElementType sum = _gantry_tx_accumulator (data->element, o->result->element);
  gint64 groups = gantry_attrs_int (o->context, o->node->attrs, "feature_group_count", 1);
  gboolean skip = gantry_attrs_int (o->context, o->node->attrs, "skip_padding", 0) != 0;
  GantryWindow windows[GANTRY_MAX_RANK];
  guint axes[GANTRY_MAX_RANK], n_axes = 0, n = data->rank - 2;
  guint32 from[GANTRY_MAX_RANK], weight[GANTRY_MAX_RANK], condition = _gantry_tx_true (b), group, x;

  gantry_op_windows (o->context, o->node->attrs, GANTRY_OP_CONVOLUTION, n, windows);
  axes[n_axes] = gantry_tx_axis (b, kernel->dims[1]);
  weight[0] = gantry_tx_index (b, 1);
  weight[1] = gantry_tx_index (b, axes[n_axes++]);
  group = gantry_tx_binary (b, GANTRY_OP_DIVIDE, weight[0], gantry_tx_int (b, MAX (kernel->dims[0] / groups, 1)));
  from[0] = gantry_tx_index (b, 0);
  from[1] = gantry_tx_binary (b, GANTRY_OP_ADD, gantry_tx_binary (b, GANTRY_OP_MULTIPLY, group, gantry_tx_int (b, kernel->dims[1])), weight[1]);
  for (guint i = 0; i < n; i++)
    {
      axes[n_axes] = gantry_tx_axis (b, kernel->dims[2 + i]);
      weight[2 + i] = gantry_tx_index (b, axes[n_axes++]);
      from[2 + i] = window_position (o, &windows[i], data->dims[2 + i], gantry_tx_index (b, 2 + i), weight[2 + i], &condition);
    }
  x = gantry_tx_cast (b, gantry_tx_load (b, 0, from), sum);
  /* The two differ where a weight is not finite: 0 times that is NaN. */
  if (!skip)
    x = gantry_tx_select (b, condition, x, gantry_tx_const_int (b, sum, 0));
  x = gantry_tx_addend (b, x, gantry_tx_cast (b, gantry_tx_load (b, 1, weight), sum));
  if (skip)
    x = gantry_tx_select (b, condition, x, gantry_tx_const_int (b, sum, 0));
  return finish_convolution (o, gantry_tx_reduce (b, GANTRY_OP_ADD, x, axes, n_axes), sum);
}
