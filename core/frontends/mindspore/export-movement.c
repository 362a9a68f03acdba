/* SPDX-License-Identifier: Apache-2.0 */
/* Writing MindIR: what arranges elements, and elements at computed positions. */
#include "core/base/integers.h"
#include "core/frontends/mindspore/export-private.h"
#include "core/graph/op-attributes.h"
#include "core/graph/operation.h"
#include <string.h>

#define ELEMENT(value) ((GantryElementType) (value)->type->element)

/* Nodes that many rules add */

static gboolean
has_dims (const GantryType *type, guint rank, const GantryDim *dims)
{
  return type->rank == rank && memcmp (type->dims, dims, sizeof *dims * rank) == 0;
}

ExportValue *
gantry_mind_export_reshape (MindExport *e, ExportValue *x, guint rank, const GantryDim *dims)
{
  if (x == e->nobody || has_dims (x->type, rank, dims))
    return x;
  return gantry_mind_export_node (e, "Reshape", NULL, gantry_mind_export_type (e, ELEMENT (x), rank, dims), gantry_mind_export_use (e, x),
                                  gantry_mind_export_ints (e, dims, rank), NULL);
}

ExportValue *
gantry_mind_export_transpose (MindExport *e, ExportValue *x, const gint64 *permutation)
{
  GantryDim dims[GANTRY_MAX_RANK];
  gboolean moves = FALSE;

  for (guint i = 0; i < x->type->rank; i++)
    {
      dims[i] = x->type->dims[permutation[i]];
      moves = moves || permutation[i] != i;
    }
  if (x == e->nobody || !moves)
    return x;
  return gantry_mind_export_node (e, "Transpose", NULL, gantry_mind_export_type (e, ELEMENT (x), x->type->rank, dims), gantry_mind_export_use (e, x),
                                  gantry_mind_export_ints (e, permutation, x->type->rank), NULL);
}

/* The whole is made when somebody needs it. */
ExportValue *
gantry_mind_export_broadcast (MindExport *e, ExportValue *x, guint rank, const GantryDim *dims)
{
  ExportValue *wide;

  if (x == e->nobody || has_dims (x->type, rank, dims))
    return x;
  wide = gantry_mind_export_value (e, NULL, gantry_mind_export_type (e, ELEMENT (x), rank, dims));
  wide->narrow = x;
  return wide;
}

ExportValue *
gantry_mind_export_slice (MindExport *e, ExportValue *x, const gint64 *starts, const gint64 *limits, const gint64 *strides)
{
  GantryDim dims[GANTRY_MAX_RANK];
  const char *zero;

  for (guint i = 0; i < x->type->rank; i++)
    dims[i] = (limits[i] - starts[i] + strides[i] - 1) / strides[i];
  if (x == e->nobody || has_dims (x->type, x->type->rank, dims))
    return x;
  zero = gantry_mind_export_int (e, 0);
  return gantry_mind_export_node (e, "StridedSlice", NULL, gantry_mind_export_type (e, ELEMENT (x), x->type->rank, dims), gantry_mind_export_use (e, x),
                                  gantry_mind_export_ints (e, starts, x->type->rank), gantry_mind_export_ints (e, limits, x->type->rank),
                                  gantry_mind_export_ints (e, strides, x->type->rank), zero, zero, zero, zero, zero, NULL);
}

/* @interior elements between those of one axis: each becomes a row of them, all but the last of which go. */
static ExportValue *
spread (MindExport *e, ExportValue *x, guint axis, gint64 interior, double value)
{
  guint rank = x->type->rank;
  gint64 low[GANTRY_MAX_RANK] = { 0 }, high[GANTRY_MAX_RANK] = { 0 };
  GantryDim dims[GANTRY_MAX_RANK + 1], joined[GANTRY_MAX_RANK];

  if (rank >= GANTRY_MAX_RANK)
    {
      gantry_mind_export_fail (e, "padding between the elements of %u dimensions", rank);
      return e->nobody;
    }
  for (guint i = 0, k = 0; i < rank; i++)
    {
      joined[i] = i == axis ? x->type->dims[i] * (interior + 1) : x->type->dims[i];
      dims[k++] = x->type->dims[i];
      if (i == axis)
        dims[k++] = 1;
    }
  high[axis + 1] = interior;
  x = gantry_mind_export_pad (e, gantry_mind_export_reshape (e, x, rank + 1, dims), value, low, high, NULL);
  x = gantry_mind_export_reshape (e, x, rank, joined);
  memset (high, 0, sizeof high);
  high[axis] = joined[axis] > 0 ? -interior : 0;
  return gantry_mind_export_pad (e, x, value, low, high, NULL);
}

ExportValue *
gantry_mind_export_pad (MindExport *e, ExportValue *x, double value, const gint64 *low, const gint64 *high, const gint64 *interior)
{
  guint rank = x->type->rank;
  gint64 starts[GANTRY_MAX_RANK] = { 0 }, limits[GANTRY_MAX_RANK] = { 0 }, ones[GANTRY_MAX_RANK] = { 0 }, list[2 * GANTRY_MAX_RANK];
  GantryDim dims[GANTRY_MAX_RANK];
  GByteArray *attrs;
  gboolean any = FALSE;

  for (guint i = 0; interior != NULL && i < rank; i++)
    if (interior[i] > 0)
      x = spread (e, x, i, interior[i], value);
  if (x == e->nobody)
    return x;
  for (guint i = 0; i < rank; i++)
    {
      gint64 size = x->type->dims[i];

      starts[i] = CLAMP (-low[i], 0, size);
      limits[i] = size - CLAMP (-high[i], 0, size - starts[i]);
      ones[i] = 1;
      list[2 * (rank - 1 - i)] = MAX (low[i], 0);
      list[2 * (rank - 1 - i) + 1] = MAX (high[i], 0);
      dims[i] = limits[i] - starts[i] + MAX (low[i], 0) + MAX (high[i], 0);
      any = any || low[i] > 0 || high[i] > 0;
    }
  x = gantry_mind_export_slice (e, x, starts, limits, ones);
  if (!any)
    return x;
  attrs = g_byte_array_new ();
  gantry_mind_attr_string (attrs, "mode", "constant");
  gantry_mind_attr_bool (attrs, "paddings_contiguous", TRUE);
  return gantry_mind_export_node (e, "PadV3", attrs, gantry_mind_export_type (e, ELEMENT (x), rank, dims), gantry_mind_export_use (e, x),
                                  gantry_mind_export_ints (e, list, 2 * rank), gantry_mind_export_scalar (e, ELEMENT (x), value)->name, NULL);
}

ExportValue *
gantry_mind_export_concat (MindExport *e, ExportValue **xs, guint n, gint64 axis, const GantryType *type)
{
  ExportValue *tuple = gantry_mind_export_tuple (e, xs, n);

  return gantry_mind_export_node (e, "Concat", NULL, type, gantry_mind_export_use (e, tuple), gantry_mind_export_int (e, axis), NULL);
}

ExportValue *
gantry_mind_export_take (MindExport *e, ExportValue *x, ExportValue *indices, gint64 axis)
{
  GantryDim dims[2 * GANTRY_MAX_RANK];
  guint n = 0;

  for (guint i = 0; i < x->type->rank; i++)
    if (i != axis)
      dims[n++] = x->type->dims[i];
    else
      for (guint k = 0; k < indices->type->rank; k++)
        dims[n++] = indices->type->dims[k];
  if (n > GANTRY_MAX_RANK)
    gantry_mind_export_fail (e, "the result has %u dimensions", n);
  if (e->error != NULL)
    return e->nobody;
  return gantry_mind_export_node (e, "Gather", NULL, gantry_mind_export_type (e, ELEMENT (x), n, dims), gantry_mind_export_use (e, x),
                                  gantry_mind_export_use (e, indices), gantry_mind_export_int (e, axis), gantry_mind_export_int (e, 0), NULL);
}

/* Rules */

static ExportValue *
broadcast_in_dim (MindExport *e, ExportValue *x, const GantryType *type)
{
  gsize n = 0;
  const gint64 *map = gantry_attrs_ints (e->context, e->node->attrs, "broadcast_dimensions", &n);
  GantryDim dims[GANTRY_MAX_RANK];

  for (guint i = 0; i < type->rank; i++)
    dims[i] = 1;
  for (gsize i = 0; i < n && i < x->type->rank; i++)
    dims[map[i]] = x->type->dims[i];
  if (x->type->rank > 0) /* a scalar broadcasts as it is */
    x = gantry_mind_export_reshape (e, x, type->rank, dims);
  return gantry_mind_export_broadcast (e, x, type->rank, type->dims);
}

static ExportValue *
reverse (MindExport *e, ExportValue *x)
{
  gsize n = 0;
  const gint64 *axes = gantry_attrs_ints (e->context, e->node->attrs, "dimensions", &n);

  return n > 0 ? gantry_mind_export_node (e, "ReverseV2", NULL, x->type, gantry_mind_export_use (e, x), gantry_mind_export_ints (e, axes, (guint) n), NULL) : x;
}

/* The scalar has to be known: a primitive pads with what it is given, but only constants are seen here. */
static ExportValue *
pad (MindExport *e, ExportValue **in)
{
  guint rank = in[0]->type->rank;
  gint64 low[GANTRY_MAX_RANK], high[GANTRY_MAX_RANK], interior[GANTRY_MAX_RANK];
  const GantryNode *operand = gantry_node_operand (e->module, e->node, 1);
  GantryLiteral *literal = operand != NULL ? gantry_node_literal (e->module, operand) : NULL;

  if (literal == NULL)
    {
      gantry_mind_export_fail (e, "padding with a value that is computed is not written");
      return e->nobody;
    }
  gantry_op_ints (e->context, e->node->attrs, "edge_padding_low", rank, 0, low);
  gantry_op_ints (e->context, e->node->attrs, "edge_padding_high", rank, 0, high);
  gantry_op_ints (e->context, e->node->attrs, "interior_padding", rank, 0, interior);
  return gantry_mind_export_pad (e, in[0], gantry_literal_get_double (literal, 0), low, high, interior);
}

static ExportValue *
slice (MindExport *e, ExportValue *x)
{
  gint64 starts[GANTRY_MAX_RANK], limits[GANTRY_MAX_RANK], strides[GANTRY_MAX_RANK];
  guint rank = x->type->rank;

  gantry_op_ints (e->context, e->node->attrs, "start_indices", rank, 0, starts);
  gantry_op_ints (e->context, e->node->attrs, "limit_indices", rank, 0, limits);
  gantry_op_ints (e->context, e->node->attrs, "strides", rank, 1, strides);
  return gantry_mind_export_slice (e, x, starts, limits, strides);
}

/* start + 0, 1, ... of each dimension that is cut, moved inside. */
static ExportValue *
dynamic_slice (MindExport *e, ExportValue **in, guint n)
{
  gint64 sizes[GANTRY_MAX_RANK];
  ExportValue *x = in[0];

  gantry_op_ints (e->context, e->node->attrs, "slice_sizes", in[0]->type->rank, 0, sizes);
  for (guint i = 0; i + 1 < n && x != e->nobody; i++)
    {
      gint64 size = in[0]->type->dims[i];
      ExportValue *at = gantry_mind_export_cast (e, in[i + 1], GANTRY_I64);

      if (sizes[i] == size)
        continue;
      at = gantry_mind_export_binary (e, "Maximum", at, gantry_mind_export_scalar (e, GANTRY_I64, 0), GANTRY_I64);
      at = gantry_mind_export_binary (e, "Minimum", at, gantry_mind_export_scalar (e, GANTRY_I64, (double) (size - sizes[i])), GANTRY_I64);
      at = gantry_mind_export_binary (e, "Add", at, gantry_mind_export_range (e, GANTRY_I64, sizes[i], 1, 0), GANTRY_I64);
      x = gantry_mind_export_take (e, x, at, i);
    }
  return x;
}

ExportValue *
gantry_mind_export_movement (MindExport *e, ExportValue **in, guint n)
{
  const GantryType *type = gantry_node_type (e->module, e->node);
  gint64 permutation[GANTRY_MAX_RANK];

  switch ((GantryOp) e->node->op)
    {
    case GANTRY_OP_RESHAPE: return gantry_mind_export_reshape (e, in[0], type->rank, type->dims);
    case GANTRY_OP_BROADCAST_IN_DIM: return broadcast_in_dim (e, in[0], type);
    case GANTRY_OP_TRANSPOSE:
      gantry_op_ints (e->context, e->node->attrs, "permutation", type->rank, 0, permutation);
      return gantry_mind_export_transpose (e, in[0], permutation);
    case GANTRY_OP_REVERSE: return reverse (e, in[0]);
    case GANTRY_OP_SLICE: return slice (e, in[0]);
    case GANTRY_OP_PAD: return pad (e, in);
    case GANTRY_OP_CONCATENATE: return gantry_mind_export_concat (e, in, n, gantry_attrs_int (e->context, e->node->attrs, "dimension", 0), type);
    case GANTRY_OP_DYNAMIC_SLICE: return dynamic_slice (e, in, n);
    default: break;
    }
  gantry_mind_export_fail (e, "it is not written as MindIR");
  return e->nobody;
}

/* Gather: of whole slices along some axes, the place of each in a vector of the indices. */
ExportValue *
gantry_mind_export_gather (MindExport *e, ExportValue **in, guint n)
{
  const GantryType *x = in[0]->type, *type = gantry_node_type (e->module, e->node);
  gsize n_map = 0, n_collapsed = 0, n_batch = 0, n_offset = 0;
  const gint64 *map = gantry_attrs_ints (e->context, e->node->attrs, "start_index_map", &n_map),
               *collapsed = gantry_attrs_ints (e->context, e->node->attrs, "collapsed_slice_dims", &n_collapsed),
               *offsets = gantry_attrs_ints (e->context, e->node->attrs, "offset_dims", &n_offset);
  gint64 sizes[GANTRY_MAX_RANK], depth = gantry_attrs_int (e->context, e->node->attrs, "index_vector_dim", 0);
  guint index_rank = in[1]->type->rank;
  gboolean single = depth == index_rank || in[1]->type->dims[index_rank - 1] == 1, plain;
  ExportValue *indices = gantry_mind_export_cast (e, in[1], GANTRY_I64), *size;

  (void) n;
  gantry_attrs_ints (e->context, e->node->attrs, "operand_batching_dims", &n_batch);
  gantry_op_ints (e->context, e->node->attrs, "slice_sizes", x->rank, 0, sizes);
  plain = n_batch == 0 && n_map == n_collapsed && depth + 1 >= index_rank;
  for (gsize i = 0; i < n_map && plain; i++)
    plain = map[i] == collapsed[i] && (map[i] == (gint64) i || n_map == 1);
  for (guint i = 0; i < x->rank && plain; i++)
    plain = gantry_ints_contain (map, n_map, i) ? sizes[i] == 1 : sizes[i] == x->dims[i];
  if (!plain || (n_map == 1) != single)
    {
      gantry_mind_export_fail (e, "a gather of this form has no primitive");
      return e->nobody;
    }
  if (n_map == 1)
    {
      /* Where the index stands in a dimension of its own, that goes; the offsets have to be where Gather puts them. */
      if (depth < index_rank)
        indices = gantry_mind_export_reshape (e, indices, index_rank - 1, in[1]->type->dims);
      for (gsize i = 0; i < n_offset; i++)
        plain = plain && offsets[i] == ((gint64) i < map[0] ? (gint64) i : (gint64) (i + type->rank - n_offset));
      size = gantry_mind_export_scalar (e, GANTRY_I64, (double) (x->dims[map[0]] - 1));
      indices = gantry_mind_export_binary (e, "Maximum", indices, gantry_mind_export_scalar (e, GANTRY_I64, 0), GANTRY_I64);
      indices = gantry_mind_export_binary (e, "Minimum", indices, size, GANTRY_I64);
      if (plain)
        return gantry_mind_export_take (e, in[0], indices, map[0]);
    }
  for (gsize i = 0; i < n_offset; i++)
    plain = plain && n_map > 1 && offsets[i] == (gint64) (type->rank - n_offset + i);
  if (plain)
    return gantry_mind_export_node (e, "GatherNd", NULL, type, gantry_mind_export_use (e, in[0]), gantry_mind_export_use (e, indices), NULL);
  gantry_mind_export_fail (e, "a gather of this form has no primitive");
  return e->nobody;
}
