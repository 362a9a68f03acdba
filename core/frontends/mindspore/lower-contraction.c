/* SPDX-License-Identifier: Apache-2.0 */
/* Products and convolutions. */
#include "core/frontends/mindspore/lower-private.h"

#define MOST_WINDOW ((gint64) 1 << 24)

/* Products */

static guint32
dot (MindLower *l, guint32 x, guint32 y, guint n_batch, gint64 x_axis, gint64 y_axis)
{
  gint64 batch[GANTRY_MAX_RANK];
  GantryAttrList *attrs;

  if (x == 0 || y == 0)
    return 0;
  for (guint i = 0; i < n_batch; i++)
    batch[i] = i;
  attrs = gantry_attr_list_new (l->context);
  gantry_attr_list_set_ints (attrs, "lhs_batching_dimensions", batch, n_batch);
  gantry_attr_list_set_ints (attrs, "rhs_batching_dimensions", batch, n_batch);
  gantry_attr_list_set_ints (attrs, "lhs_contracting_dimensions", &x_axis, 1);
  gantry_attr_list_set_ints (attrs, "rhs_contracting_dimensions", &y_axis, 1);
  return gantry_mind_add (l, GANTRY_OP_DOT_GENERAL, attrs, 2, x, y);
}

/* Dimensions before the last two of both, broadcast. FALSE where they do not fit. */
static gboolean
batch_dims (MindLower *l, guint32 x, guint32 y, GantryDim *dims, guint *n)
{
  guint nx = gantry_mind_rank (l, x) - 2, ny = gantry_mind_rank (l, y) - 2;

  *n = MAX (nx, ny);
  for (guint i = 0; i < *n; i++)
    {
      GantryDim a = i + nx >= *n ? gantry_mind_dim (l, x, i + nx - *n) : 1, b = i + ny >= *n ? gantry_mind_dim (l, y, i + ny - *n) : 1;

      if (a != b && a != 1 && b != 1)
        {
          gantry_mind_refuse (l, "batches of %" G_GINT64_FORMAT " and %" G_GINT64_FORMAT, a, b);
          return FALSE;
        }
      dims[i] = a == 1 ? b : a;
    }
  return TRUE;
}

static guint32
with_batch (MindLower *l, guint32 x, const GantryDim *dims, guint n)
{
  GantryDim all[GANTRY_MAX_RANK];
  guint rank = gantry_mind_rank (l, x);

  memcpy (all, dims, sizeof *dims * n);
  all[n] = gantry_mind_dim (l, x, (gint64) rank - 2);
  all[n + 1] = gantry_mind_dim (l, x, (gint64) rank - 1);
  return x != 0 && !l->failed ? gantry_builder_broadcast_to (l->b, x, n + 2, all) : 0;
}

/* A vector as a matrix of one row, or one column. */
static guint32
matrix (MindLower *l, guint32 x, gboolean column)
{
  GantryDim n = gantry_mind_dim (l, x, 0);

  if (gantry_mind_rank (l, x) != 1)
    return x;
  return gantry_builder_reshape (l->b, x, 2, column ? (GantryDim[]){ n, 1 } : (GantryDim[]){ 1, n });
}

static guint32
without_dim (MindLower *l, guint32 x, guint axis)
{
  GantryDim dims[GANTRY_MAX_RANK];
  guint n = 0;

  for (guint i = 0; i < gantry_mind_rank (l, x); i++)
    if (i != axis)
      dims[n++] = gantry_mind_dim (l, x, i);
  return gantry_builder_reshape (l->b, x, n, dims);
}

guint32
gantry_mind_matmul (MindLower *l, guint32 x, guint32 y, gboolean transpose_x, gboolean transpose_y)
{
  guint nx = gantry_mind_rank (l, x), ny = gantry_mind_rank (l, y), n, rank;
  GantryDim dims[GANTRY_MAX_RANK];
  guint32 z;

  if (x == 0 || y == 0 || nx == 0 || ny == 0)
    {
      gantry_mind_refuse (l, "a product of a number");
      return 0;
    }
  x = matrix (l, x, FALSE);
  y = matrix (l, y, TRUE);
  if (!batch_dims (l, x, y, dims, &n))
    return 0;
  if (gantry_mind_rank (l, y) == 2 && !transpose_x) /* one matrix for all rows */
    z = dot (l, x, y, 0, (gint64) gantry_mind_rank (l, x) - 1, transpose_y ? 1 : 0);
  else
    z = dot (l, with_batch (l, x, dims, n), with_batch (l, y, dims, n), n, transpose_x ? n : n + 1, transpose_y ? n + 1 : n);
  rank = gantry_mind_rank (l, z);
  if (ny == 1 && rank > 0)
    z = without_dim (l, z, rank - 1);
  if (nx == 1 && rank > 1)
    z = without_dim (l, z, rank - 2);
  return z;
}

static void
matmul (MindLower *l)
{
  guint32 x = gantry_mind_need (l, "x"), y = gantry_mind_need (l, "y");

  l->out[0] = gantry_mind_matmul (l, x, y, gantry_mind_int (l, "transpose_a", gantry_mind_int (l, "transpose_x1", 0)) != 0,
                                  gantry_mind_int (l, "transpose_b", gantry_mind_int (l, "transpose_x2", 0)) != 0);
}

/* The channel is dimension 1, or the last. */
static void
bias_add (MindLower *l)
{
  guint32 x = gantry_mind_need (l, "x"), bias = gantry_mind_need (l, "bias");
  guint rank = gantry_mind_rank (l, x);
  gint64 axis = rank == 2 || gantry_mind_int (l, "data_format", 0) == 1
                    || strcmp (gantry_mind_string (l, "data_format", gantry_mind_string (l, "format", "")), "NHWC") == 0
                  ? (gint64) rank - 1
                  : 1;

  l->out[0] = rank > 1 ? BINARY (ADD, x, gantry_builder_along (l->b, bias, rank, axis)) : 0;
}

static void
dense (MindLower *l)
{
  guint32 x = gantry_mind_need (l, "x"), weight = gantry_mind_need (l, "weight"), bias = gantry_mind_in (l, "bias");
  guint32 y = dot (l, x, weight, 0, (gint64) gantry_mind_rank (l, x) - 1, (gint64) gantry_mind_rank (l, weight) - 1);

  l->out[0] = bias != 0 ? BINARY (ADD, y, bias) : y;
}

/* beta * input + alpha * product */
static void
add_product (MindLower *l)
{
  guint32 product = gantry_mind_matmul (l, gantry_mind_need (l, "x"), gantry_mind_need (l, "y"), FALSE, FALSE);

  l->out[0] = BINARY (ADD, gantry_builder_scale (l->b, product, gantry_mind_number (l, "alpha", 1)),
                      gantry_builder_scale (l->b, gantry_mind_need (l, "input"), gantry_mind_number (l, "beta", 1)));
}

static void
outer (MindLower *l)
{
  guint32 x = gantry_mind_need (l, "x"), y = gantry_mind_need (l, "y");

  l->out[0] = BINARY (MULTIPLY, gantry_builder_along (l->b, x, 2, 0), gantry_builder_along (l->b, y, 2, 1));
}

/* Convolutions */

typedef struct
{
  guint n; /* spatial dimensions */
  gint64 groups;
  gint64 stride[GANTRY_MAX_RANK], dilation[GANTRY_MAX_RANK], low[GANTRY_MAX_RANK], high[GANTRY_MAX_RANK];
} Window;

/* A list with or without places for batch and channel, or one number for all. */
static void
spatial (MindLower *l, const char *name, guint n, gint64 fallback, gint64 *values)
{
  gint64 list[GANTRY_MAX_RANK];
  gint count = gantry_mind_ints (l, name, list, n + 2);

  for (guint i = 0; i < n; i++)
    {
      values[i] = count < 0 ? fallback : count == 1 ? list[0] : count == (gint) n ? list[i] : count == (gint) n + 2 ? list[i + 2] : -1;
      if (values[i] < 0 || values[i] > MOST_WINDOW)
        gantry_mind_refuse (l, "'%s' does not fit %u dimensions", name, n);
    }
}

/* As much on both sides as lets the result have a place for each stride. */
static void
same_padding (MindLower *l, guint32 x, guint32 weight, Window *w)
{
  for (guint i = 0; i < w->n; i++)
    {
      gint64 size = gantry_mind_dim (l, x, i + 2), span = w->dilation[i] * (gantry_mind_dim (l, weight, i + 2) - 1) + 1,
             total = MAX (((size + w->stride[i] - 1) / w->stride[i] - 1) * w->stride[i] + span - size, 0);

      w->low[i] = total / 2;
      w->high[i] = total - total / 2;
    }
}

MindPadding
gantry_mind_padding (MindLower *l, MindPadding absent)
{
  static const char *const names[MIND_N_PADDINGS] = { "pad", "same", "valid" };
  const char *text = gantry_mind_string (l, "pad_mode", NULL);
  gint64 number = text == NULL ? gantry_mind_int (l, "pad_mode", absent) : -1;

  for (guint i = 0; text != NULL && i < G_N_ELEMENTS (names); i++)
    if (g_ascii_strcasecmp (text, names[i]) == 0)
      number = i;
  if (number >= 0 && number < MIND_N_PADDINGS)
    return (MindPadding) number;
  if (text != NULL)
    gantry_mind_refuse (l, "its pad_mode is '%s': it is pad, same or valid", text);
  else
    gantry_mind_refuse (l, "its pad_mode is %" G_GINT64_FORMAT ": it is 0 (pad), 1 (same) or 2 (valid)", number);
  return absent;
}

static void
read_padding (MindLower *l, guint32 x, guint32 weight, Window *w)
{
  gint64 list[2 * GANTRY_MAX_RANK];
  MindPadding mode = gantry_mind_padding (l, MIND_PADDING_GIVEN);
  gint n;

  if (mode == MIND_PADDING_VALID)
    return;
  if (mode == MIND_PADDING_SAME)
    {
      same_padding (l, x, weight, w);
      return;
    }
  n = gantry_mind_ints (l, "pad", list, 2 * w->n);
  if (n < 0)
    n = gantry_mind_ints (l, "pad_list", list, 2 * w->n);
  for (guint i = 0; i < w->n && n >= 0; i++)
    {
      w->low[i] = n == 1 ? list[0] : n == (gint) w->n ? list[i] : n == (gint) (2 * w->n) ? list[2 * i] : -1;
      w->high[i] = n == (gint) (2 * w->n) ? list[2 * i + 1] : w->low[i];
      if (w->low[i] < 0 || w->low[i] > MOST_WINDOW || w->high[i] < 0 || w->high[i] > MOST_WINDOW)
        gantry_mind_refuse (l, "its padding does not fit %u dimensions", w->n);
    }
}

static gboolean
read_window (MindLower *l, guint32 x, guint32 weight, Window *w)
{
  guint rank = gantry_mind_rank (l, weight);
  const char *format = gantry_mind_string (l, "format", gantry_mind_string (l, "data_format", "NC"));

  if (rank < 3 || gantry_mind_rank (l, x) != rank || !g_str_has_prefix (format, "NC"))
    {
      gantry_mind_refuse (l, "a weight of %u dimensions, or the format %s", rank, format);
      return FALSE;
    }
  w->n = rank - 2;
  w->groups = gantry_mind_int (l, "group", gantry_mind_int (l, "groups", 1));
  spatial (l, gantry_mind_has (l, "strides") ? "strides" : "stride", w->n, 1, w->stride);
  spatial (l, gantry_mind_has (l, "dilations") ? "dilations" : "dilation", w->n, 1, w->dilation);
  for (guint i = 0; i < w->n && !l->failed; i++)
    if (w->stride[i] < 1 || w->dilation[i] < 1 || gantry_mind_dim (l, weight, i + 2) > MOST_WINDOW)
      gantry_mind_refuse (l, "a stride or dilation of 0, or a window of more than %" G_GINT64_FORMAT, MOST_WINDOW);
  if (w->groups < 1 || gantry_mind_dim (l, weight, 0) % w->groups != 0)
    gantry_mind_refuse (l, "%" G_GINT64_FORMAT " groups do not divide the channels", w->groups);
  return !l->failed;
}

static guint32
convolve (MindLower *l, guint32 x, guint32 weight, const Window *w, const gint64 *stride, const gint64 *lhs_dilation)
{
  GantryAttrList *attrs = gantry_attr_list_new (l->context);
  gint64 padding[2 * GANTRY_MAX_RANK];

  for (guint i = 0; i < w->n; i++)
    {
      padding[2 * i] = w->low[i];
      padding[2 * i + 1] = w->high[i];
    }
  gantry_attr_list_set_ints (attrs, "window_strides", stride, w->n);
  gantry_attr_list_set_ints (attrs, "padding", padding, 2 * w->n);
  if (lhs_dilation != NULL)
    gantry_attr_list_set_ints (attrs, "lhs_dilation", lhs_dilation, w->n);
  gantry_attr_list_set_ints (attrs, "rhs_dilation", w->dilation, w->n);
  gantry_attr_list_set_int (attrs, "feature_group_count", w->groups);
  return gantry_mind_add (l, GANTRY_OP_CONVOLUTION, attrs, 2, x, weight);
}

static void
convolution (MindLower *l)
{
  guint32 x = gantry_mind_need (l, "x"), weight = gantry_mind_need (l, "weight"), bias = gantry_mind_in (l, "bias"), y;
  Window w = { 0 };

  if (!read_window (l, x, weight, &w))
    return;
  read_padding (l, x, weight, &w);
  y = l->failed ? 0 : convolve (l, x, weight, &w, w.stride, NULL);
  l->out[0] = bias != 0 ? BINARY (ADD, y, gantry_builder_along (l->b, bias, w.n + 2, 1)) : y;
}

/* Each channel by itself: a weight of 1 C spatial. */
static void
depthwise (MindLower *l)
{
  guint32 x = gantry_mind_need (l, "x"), weight = gantry_builder_swap_axes (l->b, gantry_mind_need (l, "weight"), 0, 1);
  Window w = { 0 };

  if (!read_window (l, x, weight, &w))
    return;
  w.groups = gantry_mind_dim (l, x, 1);
  read_padding (l, x, weight, &w);
  l->out[0] = l->failed ? 0 : convolve (l, x, weight, &w, w.stride, NULL);
}

/* The weight of a transposed convolution, I O/g spatial, as O I/g spatial and turned round. */
static guint32
turned (MindLower *l, guint32 weight, const Window *w)
{
  GantryDim dims[GANTRY_MAX_RANK + 1];
  gint64 axes[GANTRY_MAX_RANK], in = gantry_mind_dim (l, weight, 0), out = gantry_mind_dim (l, weight, 1);

  if (w->n + 3 > GANTRY_MAX_RANK)
    return 0;
  dims[0] = w->groups;
  dims[1] = in / w->groups;
  dims[2] = out;
  for (guint i = 0; i < w->n; i++)
    {
      axes[i] = i + 2;
      dims[i + 3] = gantry_mind_dim (l, weight, i + 2);
    }
  weight = gantry_builder_reverse (l->b, weight, axes, w->n);
  weight = gantry_builder_swap_axes (l->b, gantry_builder_reshape (l->b, weight, w->n + 3, dims), 1, 2);
  dims[1] = gantry_dim_multiply (w->groups, out);
  dims[2] = in / w->groups;
  return gantry_builder_reshape (l->b, weight, w->n + 2, dims + 1);
}

/* The gradient of a convolution by its input, whose shape is given: what is written is as large as that. */
static void
transposed (MindLower *l)
{
  static const gint64 ones[GANTRY_MAX_RANK] = { 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1 };
  guint32 x = gantry_mind_need (l, "x"), weight = gantry_mind_need (l, "weight");
  gint64 shape[GANTRY_MAX_RANK];
  MindPadding mode = gantry_mind_padding (l, MIND_PADDING_VALID);
  Window w = { 0 };

  if (!read_window (l, x, weight, &w))
    return;
  if (gantry_mind_ints (l, "shape", shape, GANTRY_MAX_RANK) != (gint) w.n + 2)
    {
      gantry_mind_refuse (l, "the shape of its result is not known");
      return;
    }
  if (mode == MIND_PADDING_GIVEN)
    read_padding (l, x, weight, &w);
  for (guint i = 0; i < w.n && !l->failed; i++)
    {
      gint64 wide = (gantry_mind_dim (l, x, i + 2) - 1) * w.stride[i] + 1, span = w.dilation[i] * (gantry_mind_dim (l, weight, i + 2) - 1);

      if (mode == MIND_PADDING_SAME)
        w.low[i] = MAX (wide + span - shape[i + 2], 0) / 2;
      w.low[i] = span - w.low[i];
      w.high[i] = shape[i + 2] - wide - w.low[i] + span;
    }
  l->out[0] = l->failed ? 0 : convolve (l, x, turned (l, weight, &w), &w, ones, w.stride);
}

/* clang-format off */
#define P(name, arguments, function) { name, arguments, function, GANTRY_CLASS_CONTRACTION, 0, NULL }

const MindRule gantry_mind_contraction_rules[] = {
  P ("MatMul", "x y transpose_a transpose_b", matmul), P ("BatchMatMul", "x y transpose_a transpose_b", matmul),
  P ("MatMulExt", "x y", matmul), P ("BatchMatMulExt", "x y", matmul), P ("Mm", "x y", matmul),
  P ("MatMulV2", "x y transpose_a transpose_b", matmul), P ("Mv", "x y", matmul), P ("Dot", "x y", matmul), P ("Outer", "x y", outer),
  P ("Dense", "x weight bias", dense), P ("Addmm", "input x y beta alpha", add_product),
  P ("Baddbmm", "input x y beta alpha", add_product), P ("BiasAdd", "x bias data_format", bias_add),
  P ("Conv2D", "x weight", convolution), P ("Conv3D", "x weight", convolution),
  P ("Conv2DExt", "x weight bias stride pad dilation groups", convolution), P ("DepthwiseConv2dNative", "x weight", depthwise),
  P ("Conv2DTranspose", "x weight shape", transposed), P ("Conv2DBackpropInput", "x weight shape", transposed),
  { NULL },
};
/* clang-format on */
