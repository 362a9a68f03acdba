/* SPDX-License-Identifier: Apache-2.0 */
/* Writing ONNX: operations that move elements: broadcast, reshape, slice, pad and their like. */
#include "core/frontends/onnx/export-private.h"
#include <string.h>

static ExportValue *
iota (GantryOnnxExport *e, const GantryType *type)
{
  gint64 axis = gantry_attrs_int (e->context, e->node->attrs, "iota_dimension", 0);
  ExportValue *x = gantry_export_range (e, type->dims[axis], 1, type->rank, axis);

  return gantry_export_expand (e, gantry_export_cast (e, x, (GantryElementType) type->element), type->rank, type->dims);
}

static ExportValue *
broadcast (GantryOnnxExport *e, ExportValue *x, const GantryType *type)
{
  gint64 dims[GANTRY_MAX_RANK], to[GANTRY_MAX_RANK], order[GANTRY_MAX_RANK];
  guint rank = x->type->rank;

  gantry_export_read (e, "broadcast_dimensions", rank, 0, to);
  for (guint i = 0; i < type->rank; i++)
    dims[i] = 1;
  for (guint i = 0; i < rank; i++)
    {
      guint place = 0;

      for (guint j = 0; j < rank; j++)
        place += to[j] < to[i] ? 1 : 0;
      order[place] = i;
      dims[to[i]] = x->type->dims[i];
    }
  x = gantry_export_reshape (e, gantry_export_transpose (e, x, order), type->rank, dims);
  return gantry_export_expand_late (e, x, type->rank, type->dims);
}

static ExportValue *
reverse (GantryOnnxExport *e, ExportValue *x)
{
  gint64 zeros[GANTRY_MAX_RANK] = { 0 }, steps[GANTRY_MAX_RANK];
  gsize n;
  const gint64 *dimensions = gantry_attrs_ints (e->context, e->node->attrs, "dimensions", &n);

  for (guint i = 0; i < x->type->rank; i++)
    steps[i] = 1;
  for (gsize i = 0; i < n; i++)
    steps[dimensions[i]] = -1;
  return gantry_export_slice (e, x, zeros, x->type->dims, steps);
}

static ExportValue *
slice (GantryOnnxExport *e, ExportValue *x)
{
  gint64 starts[GANTRY_MAX_RANK], limits[GANTRY_MAX_RANK], steps[GANTRY_MAX_RANK];

  gantry_export_read (e, "start_indices", x->type->rank, 0, starts);
  gantry_export_read (e, "limit_indices", x->type->rank, 0, limits);
  gantry_export_read (e, "strides", x->type->rank, 1, steps);
  return gantry_export_slice (e, x, starts, limits, steps);
}

static ExportValue *
pad (GantryOnnxExport *e, ExportValue *x, ExportValue *value)
{
  gint64 low[GANTRY_MAX_RANK], high[GANTRY_MAX_RANK], interior[GANTRY_MAX_RANK];

  gantry_export_read (e, "edge_padding_low", x->type->rank, 0, low);
  gantry_export_read (e, "edge_padding_high", x->type->rank, 0, high);
  gantry_export_read (e, "interior_padding", x->type->rank, 0, interior);
  return gantry_export_pad (e, x, value, low, high, interior);
}

static ExportValue *
concatenate (GantryOnnxExport *e, ExportValue **in, guint n, const GantryType *type)
{
  ExportNode node;

  gantry_export_begin (e, &node, "Concat");
  for (guint i = 0; i < n; i++)
    gantry_export_input (&node, in[i]);
  gantry_export_int (&node, "axis", gantry_attrs_int (e->context, e->node->attrs, "dimension", 0));
  return gantry_export_end (&node, type);
}

/* Where a slice of @size begins that was asked to begin at @start: inside. */
static ExportValue *
begin_of (GantryOnnxExport *e, ExportValue *start, gint64 dim, gint64 size)
{
  return gantry_export_bound (e, gantry_export_cast (e, start, GANTRY_I64), 0, dim - size);
}

/* By indices: a Slice would have a size that nobody knows before it runs. */
static ExportValue *
dynamic_slice (GantryOnnxExport *e, ExportValue **in, const GantryType *type)
{
  ExportValue *x = in[0];

  for (guint i = 0; i < type->rank; i++)
    {
      gint64 dim = x->type->dims[i];

      if (type->dims[i] != dim)
        x = gantry_export_take (
          e, x, gantry_export_binary (e, "Add", gantry_export_range (e, type->dims[i], 1, 1, 0), begin_of (e, in[1 + i], dim, type->dims[i])), i);
    }
  return x;
}

/* Each element says by itself whether it comes from the update: from which place there, and whether there is one. */
static ExportValue *
dynamic_update (GantryOnnxExport *e, ExportValue **in, const GantryType *type)
{
  ExportValue *update = in[1], *inside = NULL;

  for (guint i = 0; i < type->rank; i++)
    {
      gint64 size = in[1]->type->dims[i], dim = type->dims[i];
      gint64 dims[GANTRY_MAX_RANK];
      ExportValue *place, *here;

      if (size == dim)
        continue;
      if (size == 0)
        return in[0];
      place = gantry_export_binary (e, "Sub", gantry_export_range (e, dim, 1, 1, 0), begin_of (e, in[2 + i], dim, size));
      update = gantry_export_take (e, update, gantry_export_bound (e, place, 0, size - 1), i);
      for (guint d = 0; d < type->rank; d++)
        dims[d] = d == i ? dim : 1;
      place = gantry_export_reshape (e, place, type->rank, dims);
      here = gantry_export_binary (e, "And", gantry_export_compare (e, "GreaterOrEqual", place, gantry_export_scalar (e, GANTRY_I64, 0)),
                                   gantry_export_compare (e, "Less", place, gantry_export_scalar (e, GANTRY_I64, (double) size)));
      inside = inside != NULL ? gantry_export_binary (e, "And", inside, here) : here;
    }
  return inside != NULL ? gantry_export_select (e, inside, update, in[0]) : update;
}

ExportValue *
gantry_export_movement (GantryOnnxExport *e, ExportValue **in, guint n)
{
  const GantryType *type = gantry_node_type (e->module, e->node);
  gint64 permutation[GANTRY_MAX_RANK];

  switch (e->node->op)
    {
    case GANTRY_OP_IOTA: return iota (e, type);
    case GANTRY_OP_BROADCAST_IN_DIM: return broadcast (e, in[0], type);
    case GANTRY_OP_RESHAPE: return gantry_export_reshape (e, in[0], type->rank, type->dims);
    case GANTRY_OP_TRANSPOSE: gantry_export_read (e, "permutation", type->rank, 0, permutation); return gantry_export_transpose (e, in[0], permutation);
    case GANTRY_OP_REVERSE: return reverse (e, in[0]);
    case GANTRY_OP_SLICE: return slice (e, in[0]);
    case GANTRY_OP_PAD: return pad (e, in[0], in[1]);
    case GANTRY_OP_CONCATENATE: return concatenate (e, in, n, type);
    case GANTRY_OP_DYNAMIC_SLICE: return dynamic_slice (e, in, type);
    default: return dynamic_update (e, in, type);
    }
}
