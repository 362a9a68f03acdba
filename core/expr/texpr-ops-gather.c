/* SPDX-License-Identifier: Apache-2.0 */
/* The meaning of gather and of the dynamic slices. A start is moved so that the whole slice lies inside, as StableHLO
 * says; so no read of the operand is ever outside. */
#include "core/expr/texpr-private.h"
#include "core/graph/op-attributes.h"

/* Loads an index of operand @i as i64, moved into [0, @last]. */
static guint32
load_start (GantryTxOp *o, guint i, const guint32 *at, gint64 last)
{
  GantryTexprBuilder *b = o->b;
  GantryElementType element = _gantry_tx_operand (o, i)->element;
  guint32 x = gantry_tx_load (b, i, at);

  /* Beyond 2^63 an unsigned index would turn negative: move it before it is cast. */
  if (element == GANTRY_U64)
    x = gantry_tx_binary (b, GANTRY_OP_MINIMUM, x, gantry_tx_const_int (b, element, last));
  x = gantry_tx_cast (b, x, GANTRY_I64);
  x = gantry_tx_binary (b, GANTRY_OP_MAXIMUM, x, gantry_tx_int (b, 0));
  return gantry_tx_binary (b, GANTRY_OP_MINIMUM, x, gantry_tx_int (b, last));
}

guint32
_gantry_tx_dynamic_slice (GantryTxOp *o)
{
  const GantryType *type = _gantry_tx_operand (o, 0);
  guint32 at[GANTRY_MAX_RANK];

  for (guint i = 0; i < type->rank; i++)
    at[i] = gantry_tx_binary (o->b, GANTRY_OP_ADD, gantry_tx_index (o->b, i), load_start (o, 1 + i, NULL, type->dims[i] - o->result->dims[i]));
  return gantry_tx_load (o->b, 0, at);
}

guint32
_gantry_tx_dynamic_update_slice (GantryTxOp *o)
{
  const GantryType *update = _gantry_tx_operand (o, 1);
  guint32 at[GANTRY_MAX_RANK], condition = _gantry_tx_true (o->b), x;

  for (guint i = 0; i < update->rank; i++)
    {
      at[i] = gantry_tx_binary (o->b, GANTRY_OP_SUBTRACT, gantry_tx_index (o->b, i), load_start (o, 2 + i, NULL, o->result->dims[i] - update->dims[i]));
      condition = _gantry_tx_within (o, condition, at[i], 0, update->dims[i]);
    }
  x = gantry_tx_load (o->b, 1, at);
  return gantry_tx_select (o->b, condition, x, _gantry_tx_load_same (o, 0));
}

/* The coordinate of each dimension of the start indices for this result element; that of index_vector_dim is left. */
static void
batch_coordinates (GantryTxOp *o, guint32 offset_dims, guint rank, guint vector, guint32 *at)
{
  guint next = 0;

  for (guint i = 0; i < o->result->rank; i++)
    {
      if (offset_dims & (1u << i))
        continue;
      if (next == vector)
        next++;
      at[next++] = gantry_tx_index (o->b, i);
    }
}

guint32
_gantry_tx_gather (GantryTxOp *o)
{
  const GantryType *type = _gantry_tx_operand (o, 0), *indices = _gantry_tx_operand (o, 1);
  guint32 attrs = o->node->attrs, offset_dims = gantry_op_mask (o->context, attrs, "offset_dims");
  guint32 removed = gantry_op_mask (o->context, attrs, "collapsed_slice_dims");
  guint32 batching = gantry_op_mask (o->context, attrs, "operand_batching_dims");
  guint vector = (guint) gantry_attrs_int (o->context, attrs, "index_vector_dim", 0);
  gint64 sizes[GANTRY_MAX_RANK];
  guint32 at[GANTRY_MAX_RANK], from[GANTRY_MAX_RANK + 1], offset = 0;
  const gint64 *map, *operand_batching, *indices_batching;
  gsize n_map, n_batching, n;

  map = gantry_attrs_ints (o->context, attrs, "start_index_map", &n_map);
  operand_batching = gantry_attrs_ints (o->context, attrs, "operand_batching_dims", &n_batching);
  indices_batching = gantry_attrs_ints (o->context, attrs, "start_indices_batching_dims", &n);
  gantry_op_ints (o->context, attrs, "slice_sizes", type->rank, 1, sizes);
  batch_coordinates (o, offset_dims, indices->rank, vector, from);
  for (guint d = 0; d < type->rank; d++)
    {
      at[d] = gantry_tx_int (o->b, 0);
      if ((removed | batching) & (1u << d))
        continue;
      while (!(offset_dims & (1u << offset)))
        offset++;
      at[d] = gantry_tx_index (o->b, offset++);
    }
  for (guint i = 0; i < n_batching; i++)
    at[operand_batching[i]] = from[indices_batching[i]];
  for (guint k = 0; k < n_map; k++)
    {
      if (vector < indices->rank)
        from[vector] = gantry_tx_int (o->b, k);
      at[map[k]] = gantry_tx_binary (o->b, GANTRY_OP_ADD, at[map[k]], load_start (o, 1, from, type->dims[map[k]] - sizes[map[k]]));
    }
  return gantry_tx_load (o->b, 0, at);
}
