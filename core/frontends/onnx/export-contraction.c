/* SPDX-License-Identifier: Apache-2.0 */
/* Writing ONNX: products and convolutions. */
#include "core/frontends/onnx/export-private.h"
#include "core/base/integers.h"
#include <string.h>

#define ELEMENT(value) ((GantryElementType) (value)->type->element)

/* One operand as [batch, rows, sum] or [batch, sum, columns]. */
typedef struct
{
  ExportValue *value;
  const gint64 *batch, *sum;
  gsize n_batch, n_sum;
  gint64 free[GANTRY_MAX_RANK]; /* dimensions that are neither */
  guint n_free;
} Side;

static void
read_side (GantryOnnxExport *e, Side *side, ExportValue *x, const char *batch, const char *sum)
{
  side->value = x;
  side->batch = gantry_attrs_ints (e->context, e->node->attrs, batch, &side->n_batch);
  side->sum = gantry_attrs_ints (e->context, e->node->attrs, sum, &side->n_sum);
  for (guint i = 0; i < x->type->rank; i++)
    if (!gantry_ints_contain (side->batch, side->n_batch, i) && !gantry_ints_contain (side->sum, side->n_sum, i))
      side->free[side->n_free++] = i;
}

static gint64
product (const Side *side, const gint64 *list, gsize n)
{
  gint64 all = 1;

  for (gsize i = 0; i < n; i++)
    all *= side->value->type->dims[list[i]];
  return all;
}

/* @sum_first: as the right operand of a matrix product. Many batches are one dimension, none is none. */
static ExportValue *
as_matrix (GantryOnnxExport *e, const Side *side, gboolean sum_first)
{
  gint64 order[GANTRY_MAX_RANK], dims[GANTRY_MAX_RANK];
  gint64 rows = product (side, side->free, side->n_free), sum = product (side, side->sum, side->n_sum);
  guint n = 0, rank = 0;

  for (gsize i = 0; i < side->n_batch; i++)
    order[n++] = side->batch[i];
  for (guint turn = 0; turn < 2; turn++)
    {
      gboolean sums = (turn == 0) == sum_first;

      for (gsize i = 0; i < (sums ? side->n_sum : side->n_free); i++)
        order[n++] = sums ? side->sum[i] : side->free[i];
    }
  for (gsize i = 0; i < side->n_batch; i++)
    dims[rank++] = side->value->type->dims[side->batch[i]];
  if (rank + 2 > GANTRY_MAX_RANK)
    {
      gantry_export_fail (e, "too many batch dimensions");
      return e->nobody;
    }
  dims[rank++] = sum_first ? sum : rows;
  dims[rank++] = sum_first ? rows : sum;
  return gantry_export_reshape (e, gantry_export_transpose (e, side->value, order), rank, dims);
}

/* What is multiplied in: MatMul's result has its operands' element, and it takes no narrow integers. */
static GantryElementType
multiplied_in (GantryElementType element, GantryElementType to)
{
  if (gantry_element_size (to) > gantry_element_size (element))
    element = to;
  if (gantry_element_is_integer (element) && gantry_element_size (element) < 4)
    return GANTRY_I32;
  return element;
}

ExportValue *
gantry_export_dot (GantryOnnxExport *e, ExportValue **in, G_GNUC_UNUSED guint n)
{
  const GantryType *type = gantry_node_type (e->module, e->node);
  GantryElementType to = (GantryElementType) type->element, element = multiplied_in (ELEMENT (in[0]), to);
  Side left = { 0 }, right = { 0 };
  ExportValue *x, *y;
  gint64 dims[GANTRY_MAX_RANK];
  guint rank;

  read_side (e, &left, gantry_export_cast (e, in[0], element), "lhs_batching_dimensions", "lhs_contracting_dimensions");
  read_side (e, &right, gantry_export_cast (e, in[1], element), "rhs_batching_dimensions", "rhs_contracting_dimensions");
  x = as_matrix (e, &left, FALSE);
  y = as_matrix (e, &right, TRUE);
  if (e->error != NULL)
    return e->nobody;
  rank = x->type->rank;
  memcpy (dims, x->type->dims, sizeof *dims * rank);
  dims[rank - 1] = y->type->dims[rank - 1];
  x = gantry_export_op (e, "MatMul", gantry_export_type (e, element, rank, dims), 2, x, y);
  return gantry_export_cast (e, gantry_export_reshape (e, x, type->rank, type->dims), to);
}

/* Convolutions */

/* Conv is specified for floating point without bf16; whole numbers up to 32 bits are exact in f64. */
static GantryElementType
convolved_in (GantryElementType element)
{
  if (element == GANTRY_BF16)
    return GANTRY_F32;
  return gantry_element_is_float (element) ? element : GANTRY_F64;
}

/* One spatial dimension where there is none. */
static ExportValue *
with_space (GantryOnnxExport *e, ExportValue *x)
{
  gint64 dims[3] = { x->type->dims[0], x->type->dims[1], 1 };

  return x->type->rank == 2 ? gantry_export_reshape (e, x, 3, dims) : x;
}

/* What Conv cannot do is done to its operand before: zeros between elements, and edges that are cut. */
static ExportValue *
prepare (GantryOnnxExport *e, ExportValue *x, guint spatial, gint64 *padding)
{
  gint64 low[GANTRY_MAX_RANK] = { 0 }, high[GANTRY_MAX_RANK] = { 0 }, interior[GANTRY_MAX_RANK] = { 0 };
  gint64 dilation[GANTRY_MAX_RANK];
  gboolean needed = FALSE;

  gantry_export_read (e, "lhs_dilation", spatial, 1, dilation);
  for (guint i = 0; i < spatial; i++)
    {
      interior[2 + i] = dilation[i] - 1;
      low[2 + i] = MIN (padding[2 * i], 0);
      high[2 + i] = MIN (padding[2 * i + 1], 0);
      padding[2 * i] = MAX (padding[2 * i], 0);
      padding[2 * i + 1] = MAX (padding[2 * i + 1], 0);
      needed = needed || dilation[i] != 1 || low[2 + i] != 0 || high[2 + i] != 0;
    }
  return needed ? gantry_export_pad (e, x, gantry_export_scalar (e, ELEMENT (x), 0), low, high, interior) : x;
}

static ExportValue *
conv_node (GantryOnnxExport *e, ExportValue **in, guint n, const GantryType *type, guint spatial)
{
  gint64 strides[GANTRY_MAX_RANK], dilations[GANTRY_MAX_RANK], padding[2 * GANTRY_MAX_RANK], pads[2 * GANTRY_MAX_RANK];
  guint space = MAX (spatial, 1);
  ExportNode node;

  gantry_export_read (e, "window_strides", space, 1, strides);
  gantry_export_read (e, "rhs_dilation", space, 1, dilations);
  gantry_export_read (e, "padding", 2 * space, 0, padding);
  in[0] = prepare (e, in[0], spatial, padding);
  for (guint i = 0; i < space; i++)
    {
      pads[i] = padding[2 * i];
      pads[space + i] = padding[2 * i + 1];
    }
  gantry_export_begin (e, &node, "Conv");
  for (guint i = 0; i < n; i++)
    gantry_export_input (&node, in[i]);
  gantry_export_ints (&node, "kernel_shape", in[1]->type->dims + 2, space);
  gantry_export_ints (&node, "strides", strides, space);
  gantry_export_ints (&node, "dilations", dilations, space);
  gantry_export_ints (&node, "pads", pads, 2 * space);
  gantry_export_int (&node, "group", gantry_attrs_int (e->context, e->node->attrs, "feature_group_count", 1));
  return gantry_export_end (&node, type);
}

ExportValue *
gantry_export_convolution (GantryOnnxExport *e, ExportValue **in, guint n)
{
  const GantryType *type = gantry_node_type (e->module, e->node);
  GantryElementType to = (GantryElementType) type->element, element = ELEMENT (in[0]);
  GantryElementType wide = convolved_in (gantry_element_size (to) > gantry_element_size (element) ? to : element);
  guint spatial = type->rank - 2;
  gint64 dims[3] = { type->dims[0], type->dims[1], 1 };
  ExportValue *x;

  if (gantry_element_is_integer (element) && gantry_element_size (element) > 4)
    {
      gantry_export_fail (e, "ONNX's Conv takes no %s", gantry_element_name (element));
      return e->nobody;
    }
  for (guint i = 0; i < n; i++)
    in[i] = gantry_export_cast (e, in[i], wide);
  in[0] = with_space (e, in[0]);
  in[1] = with_space (e, in[1]);
  x = conv_node (e, in, n, spatial == 0 ? gantry_export_type (e, wide, 3, dims) : gantry_export_type (e, wide, type->rank, type->dims), spatial);
  x = gantry_export_reshape (e, x, type->rank, type->dims);
  if (g_strcmp0 (gantry_attrs_string (e->context, e->node->attrs, "post", NULL), "relu") == 0)
    x = gantry_export_op (e, "Relu", x->type, 1, x);
  if (gantry_element_is_integer (to))
    x = gantry_export_cast (e, x, GANTRY_I64); /* wraps from there on */
  return gantry_export_cast (e, x, to);
}
