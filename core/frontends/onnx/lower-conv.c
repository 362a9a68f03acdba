/* SPDX-License-Identifier: Apache-2.0 */
/* Convolutions of any spatial rank, and the window (kernel, strides, dilations, padding) that they
 * share with pooling. */
#include "core/frontends/onnx/onnx-lower.h"

/* Attributes beyond this are nonsense or an attack; within it no product below overflows. */
#define MOST ((gint64) 1 << 24)

static gboolean
window_values_fit (GantryLower *l, const gint64 *values, guint n, gint64 least, const char *key)
{
  for (guint i = 0; i < n; i++)
    if (values[i] < least || values[i] > MOST)
      {
        gantry_lower_invalid (l, "%s has the value %" G_GINT64_FORMAT, key, values[i]);
        return FALSE;
      }
  return TRUE;
}

/* Reads kernel_shape, strides and dilations; the operand must be N, C, spatial... with known
 * spatial extents. */
static gboolean
read_window (GantryLower *l, guint32 x, const GantryDim *kernel, GantryLowerWindow *w)
{
  guint rank = gantry_lower_rank (l, x);
  const gint64 *strides, *dilations, *shape;
  gsize n = 0;

  if (rank < 3 || rank > GANTRY_MAX_RANK)
    {
      gantry_lower_invalid (l, "operand 0 has %u dimensions: there is no spatial one", rank);
      return FALSE;
    }
  w->n = rank - 2;
  shape = gantry_lower_ints (l, "kernel_shape", &n);
  if (shape == NULL)
    shape = kernel;
  else if (n != w->n)
    shape = NULL;
  if (shape == NULL)
    {
      gantry_lower_invalid (l, "kernel_shape is missing or does not have %u values", w->n);
      return FALSE;
    }
  strides = gantry_lower_ints_or (l, "strides", w->n, 1);
  dilations = gantry_lower_ints_or (l, "dilations", w->n, 1);
  if (l->failed || !window_values_fit (l, shape, w->n, 1, "kernel_shape") || !window_values_fit (l, strides, w->n, 1, "strides")
      || !window_values_fit (l, dilations, w->n, 1, "dilations"))
    return FALSE;
  for (guint i = 0; i < w->n; i++)
    {
      w->in[i] = gantry_lower_dim (l, x, i + 2);
      w->kernel[i] = shape[i];
      w->strides[i] = strides[i];
      w->dilations[i] = dilations[i];
      if (!GANTRY_DIM_IS_STATIC (w->in[i]))
        return gantry_lower_require_static (l, x);
      if (kernel != NULL && kernel[i] != shape[i])
        {
          gantry_lower_invalid (l, "kernel_shape differs from the weights");
          return FALSE;
        }
    }
  return TRUE;
}

/* auto_pad SAME: as many windows as strides fit, the odd pixel of padding at the end (UPPER) or
 * begin (LOWER). */
static void
pad_same (GantryLowerWindow *w, guint i, gboolean upper)
{
  gint64 span = (w->kernel[i] - 1) * w->dilations[i] + 1;
  gint64 total;

  w->out[i] = (w->in[i] + w->strides[i] - 1) / w->strides[i];
  total = MAX ((w->out[i] - 1) * w->strides[i] + span - w->in[i], 0);
  w->low[i] = upper ? total / 2 : total - total / 2;
  w->high[i] = total - w->low[i];
}

static gboolean
pad_explicit (GantryLower *l, GantryLowerWindow *w, guint i, gboolean ceil_mode)
{
  gint64 span = (w->kernel[i] - 1) * w->dilations[i] + 1;
  gint64 room = w->in[i] + w->low[i] + w->high[i] - span;

  if (room < 0)
    {
      gantry_lower_invalid (l, "the window exceeds the padded extent %" G_GINT64_FORMAT, room + span);
      return FALSE;
    }
  w->out[i] = room / w->strides[i] + 1;
  /* One more window for the rest, unless it would begin in the padding at the end. */
  if (ceil_mode && room % w->strides[i] != 0 && w->out[i] * w->strides[i] < w->in[i] + w->low[i])
    {
      w->out[i]++;
      w->high[i] = (w->out[i] - 1) * w->strides[i] + span - w->in[i] - w->low[i];
    }
  return TRUE;
}

gboolean
gantry_lower_window (GantryLower *l, guint32 x, const GantryDim *kernel, gboolean ceil_mode, GantryLowerWindow *w)
{
  const char *auto_pad = gantry_lower_string (l, "auto_pad", "NOTSET");
  gboolean upper = strcmp (auto_pad, "SAME_UPPER") == 0;
  gboolean same = upper || strcmp (auto_pad, "SAME_LOWER") == 0;
  gboolean given = strcmp (auto_pad, "NOTSET") == 0 || *auto_pad == '\0';
  const gint64 *pads;

  if (!read_window (l, x, kernel, w))
    return FALSE;
  if (!same && !given && strcmp (auto_pad, "VALID") != 0)
    {
      gantry_lower_invalid (l, "auto_pad '%s' is not known", auto_pad);
      return FALSE;
    }
  pads = gantry_lower_ints_or (l, "pads", 2 * w->n, 0);
  if (l->failed || !window_values_fit (l, pads, 2 * w->n, -MOST, "pads"))
    return FALSE;
  for (guint i = 0; i < w->n; i++)
    {
      w->low[i] = given ? pads[i] : 0;
      w->high[i] = given ? pads[w->n + i] : 0;
      if (same)
        pad_same (w, i, upper);
      else if (!pad_explicit (l, w, i, ceil_mode && given))
        return FALSE;
    }
  return TRUE;
}

static void
set_padding (GantryAttrList *attrs, const GantryLowerWindow *w)
{
  gint64 padding[2 * GANTRY_MAX_RANK];

  for (guint i = 0; i < w->n; i++)
    {
      padding[2 * i] = w->low[i];
      padding[2 * i + 1] = w->high[i];
    }
  gantry_attr_list_set_ints (attrs, "padding", padding, 2 * w->n);
}

guint32
gantry_lower_convolution (GantryLower *l, guint32 x, guint32 weights, guint32 bias, const GantryLowerWindow *w, gint64 groups)
{
  GantryAttrList *attrs;

  if (x == 0 || weights == 0 || l->failed)
    return 0;
  attrs = gantry_lower_attrs (l);
  gantry_attr_list_set_ints (attrs, "window_strides", w->strides, w->n);
  gantry_attr_list_set_ints (attrs, "rhs_dilation", w->dilations, w->n);
  gantry_attr_list_set_int (attrs, "feature_group_count", groups);
  set_padding (attrs, w);
  return bias != 0 ? gantry_lower_add (l, GANTRY_OP_CONVOLUTION, attrs, 3, x, weights, bias)
                   : gantry_lower_add (l, GANTRY_OP_CONVOLUTION, attrs, 2, x, weights);
}

static void
conv (GantryLower *l)
{
  guint32 x = gantry_lower_operand (l, 0);
  guint rank = gantry_lower_rank (l, x);
  GantryLowerWindow w;
  GantryDim kernel[GANTRY_MAX_RANK];

  if (!gantry_lower_check_rank (l, 1, rank, rank) || !gantry_lower_require_static (l, l->in[1]))
    return;
  gantry_lower_dims (l, l->in[1], kernel);
  if (gantry_lower_window (l, x, kernel + 2, FALSE, &w))
    l->out[0] = gantry_lower_convolution (l, x, l->in[1], gantry_lower_operand (l, 2), &w, gantry_lower_int (l, "group", 1));
}

/* The padding of the convolution over the spread operand that a transposed convolution is. */
static gboolean
transpose_padding (GantryLower *l, GantryLowerWindow *w)
{
  const char *auto_pad = gantry_lower_string (l, "auto_pad", "NOTSET");
  gboolean upper = strcmp (auto_pad, "SAME_UPPER") == 0;
  gboolean same = upper || strcmp (auto_pad, "SAME_LOWER") == 0;
  const gint64 *pads = gantry_lower_ints_or (l, "pads", 2 * w->n, 0);
  const gint64 *extra = gantry_lower_ints_or (l, "output_padding", w->n, 0);
  gsize n_shape;
  const gint64 *shape = gantry_lower_ints (l, "output_shape", &n_shape);

  /* Some exporters write the batch and the channels too. */
  if (shape != NULL && n_shape == w->n + 2)
    shape += 2;
  else if (shape != NULL && n_shape != w->n)
    gantry_lower_invalid (l, "output_shape does not have %u values", w->n);
  if (l->failed || !window_values_fit (l, pads, 2 * w->n, -MOST, "pads") || !window_values_fit (l, extra, w->n, 0, "output_padding")
      || (shape != NULL && !window_values_fit (l, shape, w->n, 1, "output_shape")))
    return FALSE;
  for (guint i = 0; i < w->n; i++)
    {
      gint64 reach = (w->kernel[i] - 1) * w->dilations[i];
      gint64 full = w->strides[i] * (w->in[i] - 1) + reach + 1;
      gint64 low = strcmp (auto_pad, "VALID") == 0 ? 0 : pads[i];
      gint64 out = full + extra[i] - low - (strcmp (auto_pad, "VALID") == 0 ? 0 : pads[w->n + i]);

      if (shape != NULL || same)
        {
          gint64 total;

          out = shape != NULL ? shape[i] : w->in[i] * w->strides[i];
          total = MAX (full + extra[i] - out, 0);
          low = upper ? total / 2 : total - total / 2;
        }
      w->low[i] = reach - low;
      w->high[i] = out - (full - low) + reach;
      w->out[i] = out;
    }
  return TRUE;
}

/* Weights C, M/group, k... as M, C/group, k... with the kernel turned around. */
static guint32
transpose_weights (GantryLower *l, guint32 weights, gint64 groups)
{
  GantryDim d[GANTRY_MAX_RANK], split[GANTRY_MAX_RANK + 1];
  gint64 order[GANTRY_MAX_RANK + 1], spatial[GANTRY_MAX_RANK];
  guint rank = gantry_lower_dims (l, weights, d);

  split[0] = groups;
  split[1] = d[0] / groups;
  split[2] = d[1];
  for (guint i = 0; i <= rank; i++)
    {
      order[i] = i;
      if (i >= 3)
        split[i] = d[i - 1];
    }
  order[1] = 2;
  order[2] = 1;
  weights = gantry_builder_transpose (l->b, gantry_builder_reshape (l->b, weights, rank + 1, split), order);
  d[1] = d[0] / groups;
  d[0] = groups * split[2];
  weights = gantry_builder_reshape (l->b, weights, rank, d);
  for (guint i = 2; i < rank; i++)
    spatial[i - 2] = i;
  return gantry_builder_reverse (l->b, weights, spatial, rank - 2);
}

/* Whether every weight is known now and a number. */
static gboolean
is_finite (GantryLower *l, guint32 weights)
{
  GantryLiteral *literal = gantry_lower_literal (l, weights);
  gint64 n;

  if (literal == NULL)
    return FALSE;
  n = literal->splat ? MIN (gantry_type_elements (literal->type), 1) : gantry_type_elements (literal->type);
  for (gint64 i = 0; i < n; i++)
    if (!isfinite (gantry_literal_get_double (literal, i)))
      return FALSE;
  return TRUE;
}

/* The operand's elements are spread over the result, each with its own products: between and around them there are none.
 * As a convolution that is one over zeros, and only where a weight is not finite do the two differ. */
static void
conv_transpose (GantryLower *l)
{
  guint32 x = gantry_lower_operand (l, 0);
  guint rank = gantry_lower_rank (l, x);
  gint64 groups = gantry_lower_int (l, "group", 1);
  GantryLowerWindow w;
  GantryDim kernel[GANTRY_MAX_RANK];
  GantryAttrList *attrs;
  guint32 weights;

  if (!gantry_lower_check_rank (l, 0, 3, GANTRY_MAX_RANK - 1) || !gantry_lower_check_rank (l, 1, rank, rank))
    return;
  gantry_lower_dims (l, l->in[1], kernel);
  if (groups < 1 || kernel[0] % groups != 0 || kernel[0] != gantry_lower_dim (l, x, 1))
    {
      gantry_lower_invalid (l, "group or the weights do not fit the channels");
      return;
    }
  if (!read_window (l, x, kernel + 2, &w) || !transpose_padding (l, &w))
    return;
  weights = transpose_weights (l, l->in[1], groups);
  attrs = gantry_lower_attrs (l);
  gantry_attr_list_set_ints (attrs, "lhs_dilation", w.strides, w.n);
  gantry_attr_list_set_ints (attrs, "rhs_dilation", w.dilations, w.n);
  gantry_attr_list_set_int (attrs, "feature_group_count", groups);
  set_padding (attrs, &w);
  if (!is_finite (l, l->in[1]))
    gantry_attr_list_set_int (attrs, "skip_padding", 1);
  l->out[0] = gantry_lower_has (l, 2) ? gantry_lower_add (l, GANTRY_OP_CONVOLUTION, attrs, 3, x, weights, l->in[2])
                                      : gantry_lower_add (l, GANTRY_OP_CONVOLUTION, attrs, 2, x, weights);
}

/* Depthwise convolution that looks back only, over the past state and the operand together. */
static void
causal_conv_with_state (GantryLower *l)
{
  guint32 x = gantry_lower_operand (l, 0);
  const char *activation = gantry_lower_string (l, "activation", "none");
  gint64 zeros[3] = { 0 }, low[3] = { 0 };
  gint64 past, length;
  GantryLowerWindow w = { .n = 1, .strides = { 1 }, .dilations = { 1 } };
  guint32 y;

  if (!gantry_lower_check_rank (l, 0, 3, 3) || !gantry_lower_check_rank (l, 1, 3, 3))
    return;
  past = gantry_lower_dim (l, l->in[1], 2) - 1;
  low[2] = past;
  if (gantry_lower_has (l, 3))
    x = past > 0 ? gantry_builder_concatenate (l->b, (guint32[]){ l->in[3], x }, 2, 2) : x;
  else
    x = gantry_builder_pad_if_any (l->b, x, gantry_builder_like (l->b, x, 0), low, zeros, NULL);
  y = gantry_lower_convolution (l, x, l->in[1], gantry_lower_operand (l, 2), &w, gantry_lower_dim (l, x, 1));
  if (strcmp (activation, "silu") == 0 || strcmp (activation, "swish") == 0)
    y = gantry_builder_binary_broadcast (l->b, GANTRY_OP_MULTIPLY, y, gantry_lower_unary (l, GANTRY_OP_LOGISTIC, y));
  else if (strcmp (activation, "none") != 0)
    gantry_lower_fail (l, "activation '%s' is not supported", activation);
  l->out[0] = y;
  length = gantry_lower_dim (l, x, 2);
  if (gantry_lower_wants (l, 1))
    l->out[1] = gantry_builder_slice_axis (l->b, x, 2, length - past, length, 1);
}

/* clang-format off */
const GantryLowerRule gantry_lower_conv_rules[] = {
  { "Conv", conv, GANTRY_CLASS_CONTRACTION, GANTRY_LOWER_ANY_SHAPE, 0, NULL },
  { "ConvTranspose", conv_transpose, GANTRY_CLASS_CONTRACTION, 0, 0, NULL },
  { "CausalConvWithState", causal_conv_with_state, GANTRY_CLASS_CONTRACTION, 0, 0, NULL },
  { NULL },
};
/* clang-format on */
