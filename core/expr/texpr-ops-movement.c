/* SPDX-License-Identifier: Apache-2.0 */
/* The meaning of the operations that move elements: each result element is one element of an operand, and the
 * expression says which. What may fall outside an operand is guarded by a select, whose other arm is not read. */
#include "core/expr/texpr-private.h"
#include "core/graph/op-attributes.h"

guint32
_gantry_tx_broadcast (GantryTxOp *o)
{
  const GantryType *type = _gantry_tx_operand (o, 0);
  gint64 map[GANTRY_MAX_RANK];
  guint32 at[GANTRY_MAX_RANK];

  gantry_op_ints (o->context, o->node->attrs, "broadcast_dimensions", type->rank, 0, map);
  for (guint i = 0; i < type->rank; i++)
    at[i] = type->dims[i] == 1 ? gantry_tx_int (o->b, 0) : gantry_tx_index (o->b, (guint) map[i]);
  return gantry_tx_load (o->b, 0, at);
}

/* The element with the same row-major number. */
guint32
_gantry_tx_reshape (GantryTxOp *o)
{
  const GantryType *type = _gantry_tx_operand (o, 0);
  GantryTexprBuilder *b = o->b;
  guint32 number = gantry_tx_int (b, 0), at[GANTRY_MAX_RANK];
  gint64 stride = 1;

  for (guint i = o->result->rank; i-- > 0;)
    {
      number = gantry_tx_binary (b, GANTRY_OP_ADD, number, gantry_tx_binary (b, GANTRY_OP_MULTIPLY, gantry_tx_index (b, i), gantry_tx_int (b, stride)));
      stride *= o->result->dims[i];
    }
  stride = 1;
  for (guint i = type->rank; i-- > 0;)
    {
      gint64 size = MAX (type->dims[i], 1); /* with a size of 0 there is no element to find */

      at[i] = gantry_tx_binary (b, GANTRY_OP_DIVIDE, number, gantry_tx_int (b, stride));
      at[i] = gantry_tx_binary (b, GANTRY_OP_REMAINDER, at[i], gantry_tx_int (b, size));
      stride *= size;
    }
  return gantry_tx_load (b, 0, at);
}

guint32
_gantry_tx_transpose (GantryTxOp *o)
{
  gint64 permutation[GANTRY_MAX_RANK];
  guint32 at[GANTRY_MAX_RANK];

  gantry_op_ints (o->context, o->node->attrs, "permutation", o->result->rank, 0, permutation);
  for (guint i = 0; i < o->result->rank; i++)
    at[permutation[i]] = gantry_tx_index (o->b, i);
  return gantry_tx_load (o->b, 0, at);
}

guint32
_gantry_tx_reverse (GantryTxOp *o)
{
  guint32 reversed = gantry_op_mask (o->context, o->node->attrs, "dimensions");
  guint32 at[GANTRY_MAX_RANK];

  for (guint i = 0; i < o->result->rank; i++)
    {
      at[i] = gantry_tx_index (o->b, i);
      if (reversed & (1u << i))
        at[i] = gantry_tx_binary (o->b, GANTRY_OP_SUBTRACT, gantry_tx_int (o->b, o->result->dims[i] - 1), at[i]);
    }
  return gantry_tx_load (o->b, 0, at);
}

guint32
_gantry_tx_slice (GantryTxOp *o)
{
  gint64 start[GANTRY_MAX_RANK], strides[GANTRY_MAX_RANK];
  guint32 at[GANTRY_MAX_RANK];
  GantryTexprBuilder *b = o->b;

  gantry_op_ints (o->context, o->node->attrs, "start_indices", o->result->rank, 0, start);
  gantry_op_ints (o->context, o->node->attrs, "strides", o->result->rank, 1, strides);
  for (guint i = 0; i < o->result->rank; i++)
    {
      at[i] = gantry_tx_binary (b, GANTRY_OP_MULTIPLY, gantry_tx_index (b, i), gantry_tx_int (b, strides[i]));
      at[i] = gantry_tx_binary (b, GANTRY_OP_ADD, at[i], gantry_tx_int (b, start[i]));
    }
  return gantry_tx_load (b, 0, at);
}

guint32
_gantry_tx_pad (GantryTxOp *o)
{
  const GantryType *type = _gantry_tx_operand (o, 0);
  GantryTexprBuilder *b = o->b;
  gint64 low[GANTRY_MAX_RANK], interior[GANTRY_MAX_RANK];
  guint32 at[GANTRY_MAX_RANK], condition = _gantry_tx_true (b);
  guint32 x;

  gantry_op_ints (o->context, o->node->attrs, "edge_padding_low", type->rank, 0, low);
  gantry_op_ints (o->context, o->node->attrs, "interior_padding", type->rank, 0, interior);
  for (guint i = 0; i < type->rank; i++)
    {
      gint64 step = interior[i] + 1;
      guint32 p = gantry_tx_binary (b, GANTRY_OP_SUBTRACT, gantry_tx_index (b, i), gantry_tx_int (b, low[i]));

      condition = _gantry_tx_within (o, condition, p, 0, (type->dims[i] - 1) * step + 1);
      if (step > 1)
        condition = gantry_tx_binary (
          b, GANTRY_OP_AND, condition,
          gantry_tx_compare (b, GANTRY_EQ, gantry_tx_binary (b, GANTRY_OP_REMAINDER, p, gantry_tx_int (b, step)), gantry_tx_int (b, 0)));
      at[i] = gantry_tx_binary (b, GANTRY_OP_DIVIDE, p, gantry_tx_int (b, step));
    }
  x = gantry_tx_load (b, 0, at);
  return gantry_tx_select (b, condition, x, gantry_tx_load (b, 1, NULL));
}

/* A select tree over operands [first, last): @begin are their first coordinates along @axis. Halving keeps the tree
 * as deep as the logarithm of their number. */
static guint32
choose (GantryTxOp *o, guint axis, const gint64 *begin, guint first, guint last)
{
  GantryTexprBuilder *b = o->b;
  guint32 at[GANTRY_MAX_RANK], x, y;
  guint middle = (first + last) / 2;

  if (last - first == 1)
    {
      for (guint d = 0; d < o->result->rank; d++)
        at[d] = gantry_tx_index (b, d);
      at[axis] = gantry_tx_binary (b, GANTRY_OP_SUBTRACT, at[axis], gantry_tx_int (b, begin[first]));
      return gantry_tx_load (b, first, at);
    }
  x = choose (o, axis, begin, first, middle);
  y = choose (o, axis, begin, middle, last);
  return gantry_tx_select (b, gantry_tx_compare (b, GANTRY_LT, gantry_tx_index (b, axis), gantry_tx_int (b, begin[middle])), x, y);
}

guint32
_gantry_tx_concatenate (GantryTxOp *o)
{
  guint axis = (guint) gantry_attrs_int (o->context, o->node->attrs, "dimension", 0);
  guint n = o->node->n_operands;
  g_autofree gint64 *begin = g_new0 (gint64, n + 1);

  for (guint i = 0; i < n; i++)
    begin[i + 1] = begin[i] + _gantry_tx_operand (o, i)->dims[axis];
  return choose (o, axis, begin, 0, n);
}
