/* SPDX-License-Identifier: Apache-2.0 */
/* Writing MindIR: products and convolutions. */
#include "core/base/integers.h"
#include "core/frontends/mindspore/export-private.h"
#include "core/graph/op-attributes.h"
#include <string.h>

#define ELEMENT(value) ((GantryElementType) (value)->type->element)

/* An operand as a matrix, or several: [batch, rows, sum], with the sum first where @sum_first. */
static ExportValue *
matrices (MindExport *e, ExportValue *x, const char *batch_key, const char *sum_key, gboolean sum_first)
{
  gsize n_batch = 0, n_sum = 0;
  const gint64 *batch = gantry_attrs_ints (e->context, e->node->attrs, batch_key, &n_batch),
               *sum = gantry_attrs_ints (e->context, e->node->attrs, sum_key, &n_sum);
  gint64 order[GANTRY_MAX_RANK];
  GantryDim parts[3] = { 1, 1, 1 }; /* batch, free, summed */
  guint n = 0;

  for (gsize i = 0; i < n_batch; i++)
    order[n++] = batch[i];
  for (guint turn = 0; turn < 2; turn++)
    if ((turn == 0) == sum_first)
      for (gsize i = 0; i < n_sum; i++)
        order[n++] = sum[i];
    else
      for (guint i = 0; i < x->type->rank; i++)
        if (!gantry_ints_contain (batch, n_batch, i) && !gantry_ints_contain (sum, n_sum, i))
          order[n++] = i;
  for (guint i = 0; i < x->type->rank; i++)
    parts[gantry_ints_contain (batch, n_batch, i) ? 0 : gantry_ints_contain (sum, n_sum, i) ? 2 : 1] *= x->type->dims[i];
  x = gantry_mind_export_transpose (e, x, order);
  if (n_batch == 0)
    return gantry_mind_export_reshape (e, x, 2, (GantryDim[]){ sum_first ? parts[2] : parts[1], sum_first ? parts[1] : parts[2] });
  return gantry_mind_export_reshape (e, x, 3, (GantryDim[]){ parts[0], sum_first ? parts[2] : parts[1], sum_first ? parts[1] : parts[2] });
}

ExportValue *
gantry_mind_export_dot (MindExport *e, ExportValue **in, guint n)
{
  const GantryType *type = gantry_node_type (e->module, e->node);
  GantryElementType to = (GantryElementType) type->element;
  ExportValue *x = matrices (e, gantry_mind_export_cast (e, in[0], to), "lhs_batching_dimensions", "lhs_contracting_dimensions", FALSE),
              *y = matrices (e, gantry_mind_export_cast (e, in[1], to), "rhs_batching_dimensions", "rhs_contracting_dimensions", TRUE);
  const char *no = gantry_mind_export_bool (e, FALSE);
  guint rank = x->type->rank;
  GantryDim dims[3];

  (void) n;
  if (e->error != NULL)
    return e->nobody;
  memcpy (dims, x->type->dims, sizeof *dims * rank);
  dims[rank - 1] = y->type->dims[rank - 1];
  x = gantry_mind_export_node (e, rank == 3 ? "BatchMatMul" : "MatMul", NULL, gantry_mind_export_type (e, to, rank, dims), gantry_mind_export_use (e, x),
                               gantry_mind_export_use (e, y), no, no, NULL);
  return gantry_mind_export_reshape (e, x, type->rank, type->dims);
}

/* Convolutions */

/** @n: spatial dimensions */
typedef struct
{
  guint n;
  gint64 groups;
  GantryWindow windows[GANTRY_MAX_RANK];
} Window;

static ExportValue *
with_dim (MindExport *e, ExportValue *x)
{
  GantryDim dims[4] = { x->type->dims[0], x->type->dims[1], 1, x->type->dims[2] };

  return gantry_mind_export_reshape (e, x, 4, dims);
}

static ExportValue *
convolve (MindExport *e, ExportValue *x, ExportValue *weight, const Window *w)
{
  GByteArray *attrs = g_byte_array_new ();
  gint64 kernel[3], pads[6], strides[5] = { 1, 1, 1, 1, 1 }, dilations[5] = { 1, 1, 1, 1, 1 };
  GantryDim dims[5] = { x->type->dims[0], weight->type->dims[0] };

  for (guint i = 0; i < w->n; i++)
    {
      const GantryWindow *window = &w->windows[i];

      kernel[i] = weight->type->dims[i + 2];
      pads[2 * i] = window->low;
      pads[2 * i + 1] = window->high;
      strides[i + 2] = window->stride;
      dilations[i + 2] = window->window_dilation;
      dims[i + 2] = (x->type->dims[i + 2] + window->low + window->high - (window->window_dilation * (kernel[i] - 1) + 1)) / window->stride + 1;
    }
  gantry_mind_attr_ints (attrs, "kernel_size", kernel, w->n);
  gantry_mind_attr_int (attrs, "mode", 1);
  gantry_mind_attr_int (attrs, w->n == 3 ? "out_channels" : "out_channel", weight->type->dims[0]);
  gantry_mind_attr_string (attrs, "pad_mode", "pad");
  gantry_mind_attr_ints (attrs, "pad", pads, 2 * w->n);
  gantry_mind_attr_ints (attrs, "pad_list", pads, 2 * w->n);
  gantry_mind_attr_string (attrs, "format", w->n == 3 ? "NCDHW" : "NCHW");
  gantry_mind_attr_string (attrs, "data_format", w->n == 3 ? "NCDHW" : "NCHW");
  gantry_mind_attr_int (attrs, "groups", w->groups);
  gantry_mind_attr_int (attrs, "group", w->groups);
  gantry_mind_attr_ints (attrs, w->n == 3 ? "strides" : "stride", strides, w->n + 2);
  gantry_mind_attr_ints (attrs, w->n == 3 ? "dilations" : "dilation", dilations, w->n + 2);
  return gantry_mind_export_node (e, w->n == 3 ? "Conv3D" : "Conv2D", attrs, gantry_mind_export_type (e, ELEMENT (x), w->n + 2, dims),
                                  gantry_mind_export_use (e, x), gantry_mind_export_use (e, weight), NULL);
}

/* Zeros between elements, and edges that are cut, are written out before. */
static ExportValue *
prepared (MindExport *e, ExportValue *x, Window *w)
{
  gint64 low[GANTRY_MAX_RANK] = { 0 }, high[GANTRY_MAX_RANK] = { 0 }, interior[GANTRY_MAX_RANK] = { 0 };

  for (guint i = 0; i < w->n; i++)
    {
      GantryWindow *window = &w->windows[i];

      interior[i + 2] = window->base_dilation - 1;
      low[i + 2] = MIN (window->low, 0);
      high[i + 2] = MIN (window->high, 0);
      window->low = MAX (window->low, 0);
      window->high = MAX (window->high, 0);
    }
  return gantry_mind_export_pad (e, x, 0, low, high, interior);
}

ExportValue *
gantry_mind_export_convolution (MindExport *e, ExportValue **in, guint n)
{
  const GantryType *type = gantry_node_type (e->module, e->node);
  GantryElementType element = (GantryElementType) type->element;
  ExportValue *x = gantry_mind_export_cast (e, in[0], element), *weight = gantry_mind_export_cast (e, in[1], element);
  Window w = { x->type->rank - 2, gantry_attrs_int (e->context, e->node->attrs, "feature_group_count", 1), { { 0 } } };
  GantryDim channels[GANTRY_MAX_RANK];

  gantry_op_windows (e->context, e->node->attrs, GANTRY_OP_CONVOLUTION, w.n, w.windows);
  if (w.n == 1)
    {
      x = with_dim (e, x);
      weight = with_dim (e, weight);
      w.windows[1] = w.windows[0];
      w.windows[0] = (GantryWindow){ 1, 1, 0, 0, 1, 1 };
      w.n = 2;
    }
  if (w.n < 2 || w.n > 3 || !gantry_element_is_float (element))
    {
      gantry_mind_export_fail (e, "a convolution in %u dimensions, or of whole numbers, has no primitive", w.n);
      return e->nobody;
    }
  x = gantry_mind_export_reshape (e, convolve (e, prepared (e, x, &w), weight, &w), type->rank, type->dims);
  for (guint i = 0; i < type->rank; i++)
    channels[i] = i == 1 ? type->dims[1] : 1;
  if (n > 2)
    x = gantry_mind_export_binary (e, "Add", x, gantry_mind_export_reshape (e, gantry_mind_export_cast (e, in[2], element), type->rank, channels), element);
  if (strcmp (gantry_attrs_string (e->context, e->node->attrs, "post", ""), "relu") == 0)
    x = gantry_mind_export_node (e, "ReLU", NULL, type, gantry_mind_export_use (e, x), NULL);
  return x;
}
