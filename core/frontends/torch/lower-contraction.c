/* SPDX-License-Identifier: Apache-2.0 */
/* Products, convolutions and attention. */
#include "core/frontends/torch/lower-private.h"

#define MOST_WINDOW ((gint64) 1 << 24)

static guint32
dot (AtenLower *l, guint32 x, guint32 y, guint n_batch, gint64 x_axis, gint64 y_axis)
{
  GantryAttrList *attrs;
  gint64 batch[GANTRY_MAX_RANK];

  if (x == 0 || y == 0)
    return 0;
  for (guint i = 0; i < n_batch; i++)
    batch[i] = i;
  attrs = gantry_attr_list_new (l->context);
  gantry_attr_list_set_ints (attrs, "lhs_batching_dimensions", batch, n_batch);
  gantry_attr_list_set_ints (attrs, "rhs_batching_dimensions", batch, n_batch);
  gantry_attr_list_set_ints (attrs, "lhs_contracting_dimensions", &x_axis, 1);
  gantry_attr_list_set_ints (attrs, "rhs_contracting_dimensions", &y_axis, 1);
  return gantry_aten_add (l, GANTRY_OP_DOT_GENERAL, attrs, 2, x, y);
}

/* Dimensions before the last two of both, broadcast. FALSE where they do not fit. */
static gboolean
batch_dims (AtenLower *l, guint32 x, guint32 y, GantryDim *dims, guint *n)
{
  guint nx = gantry_aten_rank (l, x) - 2, ny = gantry_aten_rank (l, y) - 2;

  *n = MAX (nx, ny);
  for (guint i = 0; i < *n; i++)
    {
      GantryDim a = i + nx >= *n ? gantry_aten_dim (l, x, i + nx - *n) : 1, b = i + ny >= *n ? gantry_aten_dim (l, y, i + ny - *n) : 1;

      if (a != b && a != 1 && b != 1)
        {
          gantry_aten_refuse (l, "batches of %" G_GINT64_FORMAT " and %" G_GINT64_FORMAT, a, b);
          return FALSE;
        }
      dims[i] = a == 1 ? b : a;
    }
  return TRUE;
}

static guint32
with_batch (AtenLower *l, guint32 x, const GantryDim *dims, guint n)
{
  GantryDim all[GANTRY_MAX_RANK];
  guint rank = gantry_aten_rank (l, x);

  memcpy (all, dims, sizeof *dims * n);
  all[n] = gantry_aten_dim (l, x, (gint64) rank - 2);
  all[n + 1] = gantry_aten_dim (l, x, (gint64) rank - 1);
  return x != 0 && !l->failed ? gantry_builder_broadcast_to (l->b, x, n + 2, all) : 0;
}

guint32
gantry_aten_matmul (AtenLower *l, guint32 x, guint32 y)
{
  guint nx = gantry_aten_rank (l, x), ny = gantry_aten_rank (l, y), n;
  GantryDim dims[GANTRY_MAX_RANK];

  if (x == 0 || y == 0 || nx == 0 || ny == 0)
    return 0;
  /* A vector has no batches; a matrix on the right serves every row on the left. */
  if (ny == 1)
    return dot (l, x, y, 0, (gint64) nx - 1, 0);
  if (ny == 2)
    return dot (l, x, y, 0, (gint64) nx - 1, 0);
  if (nx == 1)
    {
      guint32 z = gantry_aten_matmul (l, gantry_builder_reshape (l->b, x, 2, (GantryDim[]){ 1, gantry_aten_dim (l, x, 0) }), y);

      for (guint i = 0; i < ny; i++)
        dims[i < ny - 2 ? i : ny - 2] = gantry_aten_dim (l, z, i);
      return gantry_builder_reshape (l->b, z, ny - 1, dims);
    }
  if (!batch_dims (l, x, y, dims, &n))
    return 0;
  return dot (l, with_batch (l, x, dims, n), with_batch (l, y, dims, n), n, (gint64) n + 1, n);
}

static void
matmul (AtenLower *l)
{
  const char *second = gantry_aten_in (l, "mat2") != 0     ? "mat2"
                       : gantry_aten_in (l, "vec") != 0    ? "vec"
                       : gantry_aten_in (l, "tensor") != 0 ? "tensor"
                                                           : "other";

  l->out[0] = gantry_aten_matmul (l, gantry_aten_need (l, "self"), gantry_aten_need (l, second));
}

/* beta * self + alpha * product */
static void
addmm (AtenLower *l)
{
  static const char *const names[][2] = { { "mat1", "mat2" }, { "batch1", "batch2" }, { "mat", "vec" } };
  guint32 x = gantry_builder_scale (l->b, gantry_aten_need (l, "self"), gantry_aten_number (l, "beta", 1));
  guint32 product = gantry_aten_matmul (l, gantry_aten_need (l, names[l->rule->arg][0]), gantry_aten_need (l, names[l->rule->arg][1]));

  l->out[0] = gantry_builder_binary_broadcast (l->b, GANTRY_OP_ADD, gantry_builder_scale (l->b, product, gantry_aten_number (l, "alpha", 1)), x);
}

/* Over these dimensions of both. */
static void
tensordot (AtenLower *l)
{
  guint32 x = gantry_aten_need (l, "self"), y = gantry_aten_need (l, "other");
  gint64 left[GANTRY_MAX_RANK], right[GANTRY_MAX_RANK];
  gsize n, m;
  const gint64 *xs = gantry_aten_ints (l, "dims_self", &n), *ys = gantry_aten_ints (l, "dims_other", &m);
  GantryAttrList *attrs;

  if (n != m || n > GANTRY_MAX_RANK)
    gantry_aten_refuse (l, "%" G_GSIZE_FORMAT " and %" G_GSIZE_FORMAT " dimensions", n, m);
  for (gsize i = 0; i < n && !l->failed; i++)
    {
      left[i] = gantry_aten_axis (l, xs[i], gantry_aten_rank (l, x));
      right[i] = gantry_aten_axis (l, ys[i], gantry_aten_rank (l, y));
    }
  if (l->failed)
    return;
  attrs = gantry_attr_list_new (l->context);
  gantry_attr_list_set_ints (attrs, "lhs_contracting_dimensions", left, n);
  gantry_attr_list_set_ints (attrs, "rhs_contracting_dimensions", right, n);
  l->out[0] = gantry_aten_add (l, GANTRY_OP_DOT_GENERAL, attrs, 2, x, y);
}

static void
linear (AtenLower *l)
{
  guint32 x = gantry_aten_need (l, "input"), weight = gantry_aten_need (l, "weight"), bias = gantry_aten_in (l, "bias");
  guint32 y = dot (l, x, weight, 0, (gint64) gantry_aten_rank (l, x) - 1, (gint64) gantry_aten_rank (l, weight) - 1);

  l->out[0] = bias != 0 ? gantry_builder_binary_broadcast (l->b, GANTRY_OP_ADD, y, bias) : y;
}

/* Convolutions */

typedef struct
{
  guint n; /* spatial dimensions */
  gint64 groups;
  gint64 stride[GANTRY_MAX_RANK], padding[GANTRY_MAX_RANK], dilation[GANTRY_MAX_RANK], output_padding[GANTRY_MAX_RANK];
} Window;

static gboolean
read_window (AtenLower *l, guint32 weight, Window *w)
{
  guint rank = gantry_aten_rank (l, weight);
  const char *padding = gantry_aten_string (l, "padding", "");

  if (rank < 3)
    {
      gantry_aten_refuse (l, "a weight of %u dimensions", rank);
      return FALSE;
    }
  w->n = rank - 2;
  w->groups = gantry_aten_int (l, "groups", 1);
  if (!gantry_aten_ints_of (l, "stride", w->n, 1, w->stride) || !gantry_aten_ints_of (l, "padding", w->n, 0, w->padding)
      || !gantry_aten_ints_of (l, "dilation", w->n, 1, w->dilation) || !gantry_aten_ints_of (l, "output_padding", w->n, 0, w->output_padding))
    return FALSE;
  for (guint i = 0; i < w->n; i++)
    if (w->stride[i] < 1 || w->stride[i] > MOST_WINDOW || w->dilation[i] < 1 || w->dilation[i] > MOST_WINDOW || w->padding[i] < 0 || w->padding[i] > MOST_WINDOW
        || w->output_padding[i] < 0 || w->output_padding[i] > MOST_WINDOW || w->groups < 1 || gantry_aten_dim (l, weight, i + 2) > MOST_WINDOW
        || gantry_aten_dim (l, weight, 0) % w->groups != 0)
      {
        gantry_aten_refuse (l, "a stride, padding, dilation or group count is out of range");
        return FALSE;
      }
  if (strcmp (padding, "") != 0 && strcmp (padding, "valid") != 0 && strcmp (padding, "same") != 0)
    gantry_aten_refuse (l, "padding '%s'", padding);
  return !l->failed;
}

static GantryAttrList *
convolution_attrs (AtenLower *l, const Window *w, const gint64 *low, const gint64 *high, const gint64 *lhs_dilation, const gint64 *stride)
{
  GantryAttrList *attrs = gantry_attr_list_new (l->context);
  gint64 padding[2 * GANTRY_MAX_RANK];

  for (guint i = 0; i < w->n; i++)
    {
      padding[2 * i] = low[i];
      padding[2 * i + 1] = high[i];
    }
  gantry_attr_list_set_ints (attrs, "window_strides", stride, w->n);
  gantry_attr_list_set_ints (attrs, "padding", padding, 2 * w->n);
  if (lhs_dilation != NULL)
    gantry_attr_list_set_ints (attrs, "lhs_dilation", lhs_dilation, w->n);
  gantry_attr_list_set_ints (attrs, "rhs_dilation", w->dilation, w->n);
  gantry_attr_list_set_int (attrs, "feature_group_count", w->groups);
  return attrs;
}

/* The weight of a transposed convolution, I O/g spatial, as O I/g spatial and turned round. */
static guint32
turned (AtenLower *l, guint32 weight, const Window *w)
{
  GantryDim dims[GANTRY_MAX_RANK + 1];
  gint64 axes[GANTRY_MAX_RANK], in = gantry_aten_dim (l, weight, 0), out = gantry_aten_dim (l, weight, 1);

  dims[0] = w->groups;
  dims[1] = in / w->groups;
  dims[2] = out;
  for (guint i = 0; i < w->n; i++)
    {
      axes[i] = i + 2;
      dims[i + 3] = gantry_aten_dim (l, weight, i + 2);
    }
  weight = gantry_builder_reverse (l->b, weight, axes, w->n);
  if (w->n + 3 > GANTRY_MAX_RANK)
    return 0;
  weight = gantry_builder_swap_axes (l->b, gantry_builder_reshape (l->b, weight, w->n + 3, dims), 1, 2);
  dims[1] = w->groups * out;
  dims[2] = in / w->groups;
  return gantry_builder_reshape (l->b, weight, w->n + 2, dims + 1);
}

static guint32
convolve (AtenLower *l, guint32 x, guint32 weight, guint32 bias, const Window *w, gboolean transposed)
{
  static const gint64 ones[GANTRY_MAX_RANK] = { 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1 };
  gint64 low[GANTRY_MAX_RANK], high[GANTRY_MAX_RANK];
  gboolean same = strcmp (gantry_aten_string (l, "padding", ""), "same") == 0;
  GantryAttrList *attrs;

  for (guint i = 0; i < w->n; i++)
    {
      gint64 span = w->dilation[i] * (gantry_aten_dim (l, weight, i + 2) - 1);

      low[i] = transposed ? span - w->padding[i] : same ? span / 2 : w->padding[i];
      high[i] = transposed ? low[i] + w->output_padding[i] : same ? span - low[i] : low[i];
    }
  attrs = convolution_attrs (l, w, low, high, transposed ? w->stride : NULL, transposed ? ones : w->stride);
  if (transposed)
    weight = turned (l, weight, w);
  return bias != 0 ? gantry_aten_add (l, GANTRY_OP_CONVOLUTION, attrs, 3, x, weight, bias) : gantry_aten_add (l, GANTRY_OP_CONVOLUTION, attrs, 2, x, weight);
}

static void
convolution (AtenLower *l)
{
  guint32 x = gantry_aten_need (l, "input"), weight = gantry_aten_need (l, "weight");
  guint rank = gantry_aten_rank (l, x);
  const GantryType *type = gantry_aten_declared (l, 0);
  GantryDim dims[GANTRY_MAX_RANK] = { 1 };
  Window w;

  if (!read_window (l, weight, &w))
    return;
  /* One picture without a batch. */
  for (guint i = 0; i < rank && rank + 1 == w.n + 2; i++)
    dims[i + 1] = gantry_aten_dim (l, x, i);
  if (rank + 1 == w.n + 2)
    x = gantry_builder_reshape (l->b, x, rank + 1, dims);
  x = convolve (l, x, weight, gantry_aten_in (l, "bias"), &w, gantry_aten_int (l, "transposed", l->rule->arg) != 0);
  l->out[0] = rank + 1 == w.n + 2 ? gantry_builder_reshape (l->b, x, type->rank, type->dims) : x;
}

/* Attention */

/* Keys and values of fewer heads serve several heads of the query, one behind the other. */
static guint32
repeat_heads (AtenLower *l, guint32 x, gint64 heads)
{
  guint rank = gantry_aten_rank (l, x), n = 0;
  gint64 axis = (gint64) rank - 3, own = gantry_aten_dim (l, x, axis);
  GantryDim split[GANTRY_MAX_RANK + 1], wide[GANTRY_MAX_RANK + 1], joined[GANTRY_MAX_RANK];

  if (rank < 3 || rank >= GANTRY_MAX_RANK || own < 1 || own == heads || heads % own != 0)
    return x;
  for (guint i = 0; i < rank; i++)
    {
      joined[i] = i == axis ? heads : gantry_aten_dim (l, x, i);
      split[n] = wide[n] = gantry_aten_dim (l, x, i);
      n++;
      if (i == axis)
        {
          split[n] = 1;
          wide[n++] = heads / own;
        }
    }
  x = gantry_builder_reshape (l->b, x, n, split);
  x = x != 0 && !l->failed ? gantry_builder_broadcast_to (l->b, x, n, wide) : 0;
  return gantry_builder_reshape (l->b, x, rank, joined);
}

/* A mask of bools says what counts; one of numbers is added. */
static guint32
apply_mask (AtenLower *l, guint32 scores, guint32 mask)
{
  if (gantry_aten_element (l, mask) == GANTRY_BOOL)
    return gantry_builder_select (l->b, mask, scores, gantry_builder_like (l->b, scores, -INFINITY));
  return gantry_builder_binary_broadcast (l->b, GANTRY_OP_ADD, scores, gantry_builder_convert (l->b, mask, gantry_aten_element (l, scores)));
}

static guint32
causal_mask (AtenLower *l, guint32 scores)
{
  guint rank = gantry_aten_rank (l, scores);
  GantryDim dims[2] = { gantry_aten_dim (l, scores, (gint64) rank - 2), gantry_aten_dim (l, scores, (gint64) rank - 1) };

  return gantry_builder_compare (l->b, "GE", gantry_aten_iota (l, 2, dims, 0), gantry_aten_iota (l, 2, dims, 1));
}

/* softmax (q k^T * scale + mask) v; a row that the mask leaves nothing of gives zeros, as torch has it. */
static void
attention (AtenLower *l)
{
  guint32 q = gantry_aten_need (l, "query"), k = gantry_aten_need (l, "key"), v = gantry_aten_need (l, "value"), scores, mask, weights;
  guint rank = gantry_aten_rank (l, q);
  double scale = gantry_aten_number (l, "scale", 1 / sqrt ((double) MAX (gantry_aten_dim (l, q, (gint64) rank - 1), 1)));
  gint64 last = (gint64) rank - 1;

  if (gantry_aten_number (l, "dropout_p", 0) != 0)
    {
      gantry_aten_refuse (l, "dropout draws random numbers; export the model after model.eval ()");
      return;
    }
  if (rank < 2 || gantry_aten_rank (l, k) != rank || gantry_aten_rank (l, v) != rank)
    {
      gantry_aten_refuse (l, "query, key and value differ in rank");
      return;
    }
  if (gantry_aten_int (l, "enable_gqa", 0) != 0)
    {
      k = repeat_heads (l, k, gantry_aten_dim (l, q, last - 2));
      v = repeat_heads (l, v, gantry_aten_dim (l, q, last - 2));
    }
  scores = gantry_builder_scale (l->b, gantry_builder_widen (l->b, gantry_aten_matmul (l, q, gantry_builder_swap_axes (l->b, k, last - 1, last))), scale);
  mask = gantry_aten_in (l, "attn_mask");
  if (gantry_aten_int (l, "is_causal", 0) != 0)
    scores = apply_mask (l, scores, causal_mask (l, scores));
  if (mask != 0)
    scores = apply_mask (l, scores, mask);
  weights = gantry_aten_softmax (l, scores, last, FALSE);
  if (mask != 0 && gantry_aten_element (l, mask) == GANTRY_BOOL)
    {
      guint32 top = gantry_builder_reduce_axes (l->b, "max", scores, &last, 1, TRUE);

      weights = gantry_builder_select (l->b, gantry_builder_compare (l->b, "EQ", top, gantry_builder_like (l->b, top, -INFINITY)),
                                       gantry_builder_like (l->b, weights, 0), weights);
    }
  l->out[0] = gantry_aten_matmul (l, gantry_builder_convert (l->b, weights, gantry_aten_element (l, v)), v);
}

/* clang-format off */
#define RULE(name, function, arg) { name, function, GANTRY_CLASS_CONTRACTION, arg, NULL }

const AtenRule gantry_aten_contraction_rules[] = {
  RULE ("matmul", matmul, 0), RULE ("mm", matmul, 0), RULE ("bmm", matmul, 0), RULE ("mv", matmul, 0), RULE ("dot", matmul, 0),
  RULE ("addmm", addmm, 0), RULE ("baddbmm", addmm, 1), RULE ("addmv", addmm, 2), RULE ("linear", linear, 0), RULE ("tensordot", tensordot, 0),
  RULE ("conv1d", convolution, FALSE), RULE ("conv2d", convolution, FALSE), RULE ("conv3d", convolution, FALSE),
  RULE ("convolution", convolution, FALSE), RULE ("_convolution", convolution, FALSE), RULE ("conv_transpose1d", convolution, TRUE),
  RULE ("conv_transpose2d", convolution, TRUE), RULE ("conv_transpose3d", convolution, TRUE),
  RULE ("scaled_dot_product_attention", attention, 0), RULE ("_scaled_dot_product_flash_attention_for_cpu", attention, 0),
  { NULL },
};
/* clang-format on */
