/* SPDX-License-Identifier: Apache-2.0 */
/* Writing ONNX: the nodes that many rules add. */
#include "core/frontends/onnx/export-private.h"
#include <string.h>

#define ELEMENT(value) ((GantryElementType) (value)->type->element)

void
gantry_export_read (GantryOnnxExport *e, const char *key, guint n, gint64 fallback, gint64 *values)
{
  gsize found;
  const gint64 *list = gantry_attrs_ints (e->context, e->node->attrs, key, &found);

  for (guint i = 0; i < n; i++)
    values[i] = i < found ? list[i] : fallback;
}

ExportValue *
gantry_export_cast (GantryOnnxExport *e, ExportValue *x, GantryElementType element)
{
  ExportNode node;

  if (ELEMENT (x) == element)
    return x;
  gantry_export_begin (e, &node, "Cast");
  gantry_export_input (&node, x);
  gantry_export_int (&node, "to", gantry_export_data_type (element));
  return gantry_export_end (&node, gantry_export_with (e, x, element));
}

static gboolean
has_dims (const ExportValue *x, guint rank, const gint64 *dims)
{
  return x->type->rank == rank && memcmp (x->type->dims, dims, sizeof *dims * rank) == 0;
}

ExportValue *
gantry_export_reshape (GantryOnnxExport *e, ExportValue *x, guint rank, const gint64 *dims)
{
  ExportNode node;
  gboolean empty = FALSE;

  if (has_dims (x, rank, dims))
    return x;
  for (guint i = 0; i < rank; i++)
    empty = empty || dims[i] == 0;
  gantry_export_begin (e, &node, "Reshape");
  gantry_export_input (&node, x);
  gantry_export_input (&node, gantry_export_vector (e, dims, rank));
  if (empty)
    gantry_export_int (&node, "allowzero", 1);
  return gantry_export_end (&node, gantry_export_type (e, ELEMENT (x), rank, dims));
}

ExportValue *
gantry_export_transpose (GantryOnnxExport *e, ExportValue *x, const gint64 *permutation)
{
  gint64 dims[GANTRY_MAX_RANK];
  gboolean same = TRUE;
  ExportNode node;

  for (guint i = 0; i < x->type->rank; i++)
    {
      dims[i] = x->type->dims[permutation[i]];
      same = same && permutation[i] == i;
    }
  if (same)
    return x;
  gantry_export_begin (e, &node, "Transpose");
  gantry_export_input (&node, x);
  gantry_export_ints (&node, "perm", permutation, x->type->rank);
  return gantry_export_end (&node, gantry_export_type (e, ELEMENT (x), x->type->rank, dims));
}

/* The limit that ONNX wants where a slice with a negative step begins at 0. */
static gint64
extent (gint64 start, gint64 limit, gint64 step)
{
  return limit > start ? (limit - start + step - 1) / step : 0;
}

ExportValue *
gantry_export_slice (GantryOnnxExport *e, ExportValue *x, const gint64 *starts, const gint64 *limits, const gint64 *steps)
{
  gint64 dims[GANTRY_MAX_RANK], from[GANTRY_MAX_RANK], to[GANTRY_MAX_RANK], by[GANTRY_MAX_RANK], axes[GANTRY_MAX_RANK];
  ExportNode node;
  guint n = 0;

  for (guint i = 0; i < x->type->rank; i++)
    {
      gint64 dim = x->type->dims[i];

      dims[i] = steps[i] < 0 ? dim : extent (starts[i], limits[i], steps[i]);
      if (steps[i] > 0 && starts[i] == 0 && limits[i] == dim && steps[i] == 1)
        continue;
      axes[n] = i;
      by[n] = steps[i];
      from[n] = steps[i] < 0 ? dim - 1 : starts[i];
      to[n++] = steps[i] < 0 ? G_MININT64 : limits[i];
    }
  if (n == 0)
    return x;
  gantry_export_begin (e, &node, "Slice");
  gantry_export_input (&node, x);
  gantry_export_input (&node, gantry_export_vector (e, from, n));
  gantry_export_input (&node, gantry_export_vector (e, to, n));
  gantry_export_input (&node, gantry_export_vector (e, axes, n));
  gantry_export_input (&node, gantry_export_vector (e, by, n));
  return gantry_export_end (&node, gantry_export_type (e, ELEMENT (x), x->type->rank, dims));
}

static ExportValue *
pad_node (GantryOnnxExport *e, ExportValue *x, ExportValue *value, const gint64 *low, const gint64 *high)
{
  guint rank = x->type->rank;
  gint64 pads[2 * GANTRY_MAX_RANK], dims[GANTRY_MAX_RANK];
  gboolean any = FALSE;

  for (guint i = 0; i < rank; i++)
    {
      pads[i] = MAX (low[i], 0);
      pads[rank + i] = MAX (high[i], 0);
      dims[i] = x->type->dims[i] + pads[i] + pads[rank + i];
      any = any || pads[i] != 0 || pads[rank + i] != 0;
    }
  if (!any)
    return x;
  return gantry_export_op (e, "Pad", gantry_export_type (e, ELEMENT (x), rank, dims), 3, x, gantry_export_vector (e, pads, 2 * rank), value);
}

/* Elements between those of dimension @axis: behind each, in a dimension of its own, and not behind the last. */
static ExportValue *
pad_between (GantryOnnxExport *e, ExportValue *x, ExportValue *value, guint axis, gint64 between)
{
  guint rank = x->type->rank;
  gint64 dims[GANTRY_MAX_RANK + 1], none[GANTRY_MAX_RANK + 1] = { 0 }, high[GANTRY_MAX_RANK + 1] = { 0 };
  gint64 ones[GANTRY_MAX_RANK];

  if (rank == GANTRY_MAX_RANK)
    {
      gantry_export_fail (e, "elements between those of %u dimensions", rank);
      return e->nobody;
    }
  for (guint i = 0; i < rank; i++)
    {
      dims[i + (i > axis ? 1 : 0)] = x->type->dims[i];
      ones[i] = 1;
    }
  dims[axis + 1] = 1;
  high[axis + 1] = between;
  x = pad_node (e, gantry_export_reshape (e, x, rank + 1, dims), value, none, high);
  for (guint i = axis + 1; i < rank; i++)
    dims[i] = dims[i + 1];
  dims[axis] *= between + 1;
  x = gantry_export_reshape (e, x, rank, dims);
  dims[axis] = MAX (dims[axis] - between, 0);
  return gantry_export_slice (e, x, none, dims, ones);
}

ExportValue *
gantry_export_pad (GantryOnnxExport *e, ExportValue *x, ExportValue *value, const gint64 *low, const gint64 *high, const gint64 *interior)
{
  guint rank = x->type->rank;
  gint64 starts[GANTRY_MAX_RANK], limits[GANTRY_MAX_RANK], ones[GANTRY_MAX_RANK];

  for (guint i = 0; i < rank; i++)
    if (interior != NULL && interior[i] > 0 && x->type->dims[i] > 1)
      x = pad_between (e, x, value, i, interior[i]);
  x = pad_node (e, x, value, low, high);
  if (e->error != NULL)
    return e->nobody;
  for (guint i = 0; i < rank; i++)
    {
      starts[i] = MAX (-low[i], 0);
      limits[i] = x->type->dims[i] - MAX (-high[i], 0);
      ones[i] = 1;
    }
  return gantry_export_slice (e, x, starts, limits, ones);
}

ExportValue *
gantry_export_expand (GantryOnnxExport *e, ExportValue *x, guint rank, const gint64 *dims)
{
  if (has_dims (x, rank, dims))
    return x;
  return gantry_export_op (e, "Expand", gantry_export_type (e, ELEMENT (x), rank, dims), 2, x, gantry_export_vector (e, dims, rank));
}

ExportValue *
gantry_export_expand_late (GantryOnnxExport *e, ExportValue *x, guint rank, const gint64 *dims)
{
  ExportValue *value;

  if (e->error != NULL || has_dims (x, rank, dims))
    return x;
  value = gantry_export_value (e, NULL, gantry_export_type (e, ELEMENT (x), rank, dims));
  value->narrow = x;
  return value;
}

void
gantry_export_settle (GantryOnnxExport *e, ExportValue *value)
{
  if (value->name == NULL)
    {
      ExportValue *whole = gantry_export_expand (e, value->narrow, value->type->rank, value->type->dims);

      value->name = whole->name;
      value->made_in = whole->made_in;
    }
  value->slot = NULL;
}

ExportValue *
gantry_export_take (GantryOnnxExport *e, ExportValue *x, ExportValue *indices, gint64 axis)
{
  gint64 dims[2 * GANTRY_MAX_RANK];
  guint rank = 0;
  ExportNode node;

  if (x->type->rank + indices->type->rank > GANTRY_MAX_RANK + 1)
    {
      gantry_export_fail (e, "more dimensions than %d", GANTRY_MAX_RANK);
      return e->nobody;
    }
  for (gint64 i = 0; i < axis; i++)
    dims[rank++] = x->type->dims[i];
  for (guint i = 0; i < indices->type->rank; i++)
    dims[rank++] = indices->type->dims[i];
  for (guint i = (guint) axis + 1; i < x->type->rank; i++)
    dims[rank++] = x->type->dims[i];
  gantry_export_begin (e, &node, "Gather");
  gantry_export_input (&node, x);
  gantry_export_input (&node, indices);
  gantry_export_int (&node, "axis", axis);
  return gantry_export_end (&node, gantry_export_type (e, ELEMENT (x), rank, dims));
}

/* numpy's rule. */
static const GantryType *
broadcast_type (GantryOnnxExport *e, GantryElementType element, const ExportValue *x, const ExportValue *y)
{
  guint rank = MAX (x->type->rank, y->type->rank);
  gint64 dims[GANTRY_MAX_RANK];

  for (guint i = 0; i < rank; i++)
    {
      gint64 a = i < x->type->rank ? x->type->dims[x->type->rank - 1 - i] : 1;
      gint64 b = i < y->type->rank ? y->type->dims[y->type->rank - 1 - i] : 1;

      dims[rank - 1 - i] = a == 1 ? b : a;
    }
  return gantry_export_type (e, element, rank, dims);
}

ExportValue *
gantry_export_binary (GantryOnnxExport *e, const char *operation, ExportValue *x, ExportValue *y)
{
  return gantry_export_op (e, operation, broadcast_type (e, ELEMENT (x), x, y), 2, x, y);
}

ExportValue *
gantry_export_compare (GantryOnnxExport *e, const char *operation, ExportValue *x, ExportValue *y)
{
  return gantry_export_op (e, operation, broadcast_type (e, GANTRY_BOOL, x, y), 2, x, y);
}

/* onnxruntime has Where of few elements: a wider one that keeps the number. */
static GantryElementType
chosen_in (GantryElementType element)
{
  switch (element)
    {
    case GANTRY_I8:
    case GANTRY_I16:
    case GANTRY_U16:
    case GANTRY_U32:
    case GANTRY_U64: return GANTRY_I64; /* and back: the same bits */
    case GANTRY_F16:
    case GANTRY_BF16: return GANTRY_F32;
    default: return element;
    }
}

ExportValue *
gantry_export_select (GantryOnnxExport *e, ExportValue *condition, ExportValue *x, ExportValue *y)
{
  GantryElementType element = ELEMENT (x), in = chosen_in (element);
  ExportValue both = { .type = broadcast_type (e, in, x, y) };

  x = gantry_export_cast (e, x, in);
  y = gantry_export_cast (e, y, in);
  return gantry_export_cast (e, gantry_export_op (e, "Where", broadcast_type (e, in, condition, &both), 3, condition, x, y), element);
}

ExportValue *
gantry_export_bound (GantryOnnxExport *e, ExportValue *x, gint64 low, gint64 high)
{
  return gantry_export_op (e, "Clip", x->type, 3, x, gantry_export_scalar (e, GANTRY_I64, (double) low), gantry_export_scalar (e, GANTRY_I64, (double) high));
}
