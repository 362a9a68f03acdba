/* SPDX-License-Identifier: Apache-2.0 */
/* Pooling over windows and over all positions, local response normalisation, and Col2Im, the sum
 * that turns windows back into a picture. */
#include "core/frontends/onnx/onnx-lower.h"

/* A window over all dimensions: 1 over N and C, w over the rest. */
static guint32
reduce_window (GantryLower *l, const char *kind, guint32 x, const GantryLowerWindow *w)
{
  gint64 sizes[GANTRY_MAX_RANK] = { 1, 1 }, strides[GANTRY_MAX_RANK] = { 1, 1 }, dilations[GANTRY_MAX_RANK] = { 1, 1 };
  gint64 padding[2 * GANTRY_MAX_RANK] = { 0 };
  GantryAttrList *attrs;

  if (x == 0)
    return 0;
  for (guint i = 0; i < w->n; i++)
    {
      sizes[i + 2] = w->kernel[i];
      strides[i + 2] = w->strides[i];
      dilations[i + 2] = w->dilations[i];
      padding[2 * (i + 2)] = w->low[i];
      padding[2 * (i + 2) + 1] = w->high[i];
    }
  attrs = gantry_lower_attrs (l);
  gantry_attr_list_set_string (attrs, "kind", kind);
  gantry_attr_list_set_ints (attrs, "window_dimensions", sizes, w->n + 2);
  gantry_attr_list_set_ints (attrs, "window_strides", strides, w->n + 2);
  gantry_attr_list_set_ints (attrs, "window_dilations", dilations, w->n + 2);
  gantry_attr_list_set_ints (attrs, "padding", padding, 2 * (w->n + 2));
  return gantry_lower_add (l, GANTRY_OP_REDUCE_WINDOW, attrs, 1, x);
}

/* The flat index of each element of x in x, or with the spatial dimensions counted the other way
 * round. */
static guint32
flat_indices (GantryLower *l, guint32 x, gboolean column_major)
{
  GantryDim dims[GANTRY_MAX_RANK];
  guint rank = gantry_lower_dims (l, x, dims);
  GantryDim turned[GANTRY_MAX_RANK];
  gint64 order[GANTRY_MAX_RANK];
  gint64 total = gantry_type_elements (gantry_lower_type (l, x));
  guint32 flat = gantry_builder_iota (l->b, GANTRY_I64, 1, &total, 0);

  for (guint i = 0; i < rank; i++)
    {
      order[i] = column_major && i >= 2 ? rank + 1 - i : i;
      turned[i] = dims[order[i]];
    }
  return gantry_builder_transpose (l->b, gantry_builder_reshape (l->b, flat, rank, turned), order);
}

#define MOST_POSITIONS 256

/* The value and index of the maximum of each window, by walking over the kernel's positions: the
 * first one wins. */
static void
max_pool_with_indices (GantryLower *l, guint32 x, const GantryLowerWindow *w)
{
  gint64 low[GANTRY_MAX_RANK] = { 0 }, high[GANTRY_MAX_RANK] = { 0 };
  gint64 positions = 1;
  guint32 indices = flat_indices (l, x, gantry_lower_int (l, "storage_order", 0) != 0);
  guint32 value = 0, index = 0;

  for (guint i = 0; i < w->n && positions <= MOST_POSITIONS; i++)
    {
      low[i + 2] = w->low[i];
      high[i + 2] = w->high[i];
      positions *= w->kernel[i];
    }
  if (positions > MOST_POSITIONS)
    {
      gantry_lower_fail (l, "indices of windows of more than %d elements", MOST_POSITIONS);
      return;
    }
  x = gantry_builder_pad_if_any (l->b, x, gantry_lower_lowest (l, x), low, high, NULL);
  indices = gantry_builder_pad_if_any (l->b, indices, gantry_builder_int_scalar (l->b, GANTRY_I64, -1), low, high, NULL);
  for (gint64 position = 0; position < positions && !l->failed; position++)
    {
      gint64 rest = position;
      guint32 v = x, at = indices, better;

      for (gint i = (gint) w->n - 1; i >= 0; i--)
        {
          gint64 start = rest % w->kernel[i] * w->dilations[i];

          v = gantry_builder_slice_axis (l->b, v, i + 2, start, start + (w->out[i] - 1) * w->strides[i] + 1, w->strides[i]);
          at = gantry_builder_slice_axis (l->b, at, i + 2, start, start + (w->out[i] - 1) * w->strides[i] + 1, w->strides[i]);
          rest /= w->kernel[i];
        }
      if (value == 0)
        {
          value = v;
          index = at;
          continue;
        }
      /* A padded position (index -1) gives way to any real one. */
      better = gantry_builder_compare (l->b, "GT", v, value);
      better = gantry_builder_binary_broadcast (l->b, GANTRY_OP_OR, better,
                                                gantry_builder_compare (l->b, "LT", index, gantry_builder_int_scalar (l->b, GANTRY_I64, 0)));
      value = gantry_builder_select (l->b, better, v, value);
      index = gantry_builder_select (l->b, better, at, index);
    }
  l->out[1] = index;
}

static void
max_pool (GantryLower *l)
{
  guint32 x = gantry_lower_operand (l, 0);
  GantryLowerWindow w;

  if (!gantry_lower_window (l, x, NULL, gantry_lower_int (l, "ceil_mode", 0) != 0, &w))
    return;
  l->out[0] = reduce_window (l, "max", x, &w);
  if (gantry_lower_wants (l, 1) && gantry_lower_require_static (l, x))
    max_pool_with_indices (l, x, &w);
}

/* How many elements each window along spatial dimension @i counts. TRUE when all count the same. */
static gboolean
window_counts (const GantryLowerWindow *w, guint i, gint64 low, gint64 high, double *counts)
{
  gboolean uniform = TRUE;

  for (gint64 o = 0; o < w->out[i]; o++)
    {
      gint64 begin = o * w->strides[i] - w->low[i];

      counts[o] = 0;
      for (gint64 k = 0; k < w->kernel[i]; k++)
        if (begin + k * w->dilations[i] >= -low && begin + k * w->dilations[i] < w->in[i] + high)
          counts[o]++;
      uniform = uniform && counts[o] == counts[0];
    }
  return uniform;
}

static void
average_pool (GantryLower *l)
{
  guint32 x = gantry_lower_operand (l, 0);
  GantryElementType element = gantry_lower_element (l, x);
  gboolean count_pads = gantry_lower_int (l, "count_include_pad", 0) != 0;
  GantryLowerWindow w, plain;
  guint32 sum;
  double factor = 1;

  /* Of the padding only what the attributes ask for counts, not what ceil_mode adds. */
  if (!gantry_lower_window (l, x, NULL, gantry_lower_int (l, "ceil_mode", 0) != 0, &w) || !gantry_lower_window (l, x, NULL, FALSE, &plain))
    return;
  sum = reduce_window (l, "add", gantry_builder_widen (l->b, x), &w);
  for (guint i = 0; i < w.n; i++)
    {
      double *counts = gantry_arena_new0 (l->arena, double, w.out[i] + 1);
      gint64 low = count_pads ? plain.low[i] : 0;
      gint64 high = count_pads ? plain.high[i] : 0;

      if (window_counts (&w, i, low, high, counts))
        factor *= w.out[i] > 0 ? counts[0] : 1;
      else
        {
          guint32 divisor = gantry_builder_floats (l->b, gantry_lower_element (l, sum), counts, w.out[i]);

          sum = gantry_builder_binary_broadcast (l->b, GANTRY_OP_DIVIDE, sum, gantry_builder_along (l->b, divisor, w.n + 2, i + 2));
        }
    }
  if (factor != 1)
    sum = gantry_builder_binary_broadcast (l->b, GANTRY_OP_DIVIDE, sum, gantry_builder_like (l->b, sum, factor));
  l->out[0] = gantry_builder_convert (l->b, sum, element);
}

/* |x| to the power p, summed by @sum, to the power 1 / p. */
static guint32
lp_root (GantryLower *l, guint32 sum, gint64 p)
{
  if (p == 1)
    return sum;
  if (p == 2)
    return gantry_lower_unary (l, GANTRY_OP_SQRT, sum);
  return gantry_builder_binary_broadcast (l->b, GANTRY_OP_POWER, sum, gantry_builder_like (l->b, sum, 1.0 / (double) p));
}

static guint32
lp_power (GantryLower *l, guint32 x, gint64 p)
{
  x = gantry_builder_widen (l->b, x);
  if (p == 2)
    return gantry_builder_binary_broadcast (l->b, GANTRY_OP_MULTIPLY, x, x);
  x = gantry_lower_unary (l, GANTRY_OP_ABS, x);
  return p == 1 ? x : gantry_builder_binary_broadcast (l->b, GANTRY_OP_POWER, x, gantry_builder_like (l->b, x, (double) p));
}

static void
lp_pool (GantryLower *l)
{
  guint32 x = gantry_lower_operand (l, 0);
  gint64 p = gantry_lower_int (l, "p", 2);
  GantryLowerWindow w;

  if (!gantry_lower_window (l, x, NULL, gantry_lower_int (l, "ceil_mode", 0) != 0, &w))
    return;
  l->out[0] = gantry_builder_convert (l->b, lp_root (l, reduce_window (l, "add", lp_power (l, x, p), &w), p), gantry_lower_element (l, x));
}

static guint
spatial_axes (GantryLower *l, guint32 x, gint64 *axes)
{
  guint rank = gantry_lower_rank (l, x);

  for (guint i = 2; i < rank; i++)
    axes[i - 2] = i;
  return rank - 2;
}

static void
global_pool (GantryLower *l)
{
  guint32 x = gantry_lower_operand (l, 0);
  gint64 p = gantry_lower_int (l, "p", 2);
  gint64 axes[GANTRY_MAX_RANK];
  guint n;

  if (!gantry_lower_check_rank (l, 0, 3, GANTRY_MAX_RANK))
    return;
  n = spatial_axes (l, x, axes);
  if (l->rule->arg == 'm')
    l->out[0] = gantry_builder_reduce_axes (l->b, "max", x, axes, n, TRUE);
  else if (l->rule->arg == 'a')
    l->out[0] = gantry_builder_convert (l->b, gantry_builder_mean (l->b, x, axes, n), gantry_lower_element (l, x));
  else
    l->out[0] = gantry_builder_convert (l->b, lp_root (l, gantry_builder_reduce_axes (l->b, "add", lp_power (l, x, p), axes, n, TRUE), p),
                                        gantry_lower_element (l, x));
}

/* x / (bias + alpha / size * sum of squares over `size` channels around) ^ beta */
static void
lrn (GantryLower *l)
{
  guint32 x = gantry_lower_operand (l, 0);
  GantryElementType element = gantry_lower_element (l, x);
  gint64 size = gantry_lower_int (l, "size", 0);
  guint rank = gantry_lower_rank (l, x);
  gint64 sizes[GANTRY_MAX_RANK], padding[2 * GANTRY_MAX_RANK] = { 0 };
  guint32 wide = gantry_builder_widen (l->b, x);
  guint32 sum, divisor;
  GantryAttrList *attrs;

  if (!gantry_lower_check_rank (l, 0, 2, GANTRY_MAX_RANK))
    return;
  if (size < 1 || size > (1 << 20))
    {
      gantry_lower_invalid (l, "size is %" G_GINT64_FORMAT, size);
      return;
    }
  for (guint i = 0; i < rank; i++)
    sizes[i] = i == 1 ? size : 1;
  padding[2] = (size - 1) / 2;
  padding[3] = size - 1 - padding[2];
  attrs = gantry_lower_attrs (l);
  gantry_attr_list_set_string (attrs, "kind", "add");
  gantry_attr_list_set_ints (attrs, "window_dimensions", sizes, rank);
  gantry_attr_list_set_ints (attrs, "padding", padding, 2 * rank);
  sum = gantry_lower_add (l, GANTRY_OP_REDUCE_WINDOW, attrs, 1, gantry_builder_binary_broadcast (l->b, GANTRY_OP_MULTIPLY, wide, wide));
  divisor = gantry_builder_scale (l->b, sum, gantry_lower_float (l, "alpha", 0.0001) / (double) size);
  divisor = gantry_builder_offset (l->b, divisor, gantry_lower_float (l, "bias", 1));
  divisor = gantry_builder_binary_broadcast (l->b, GANTRY_OP_POWER, divisor, gantry_builder_like (l->b, divisor, gantry_lower_float (l, "beta", 0.75)));
  l->out[0] = gantry_builder_convert (l->b, gantry_builder_binary_broadcast (l->b, GANTRY_OP_DIVIDE, wide, divisor), element);
}

/* The places of the picture that kernel position @position of all blocks covers; FALSE when that is
 * nowhere. */
static guint32
col2im_part (GantryLower *l, guint32 x, const GantryLowerWindow *w, gint64 position)
{
  gint64 low[GANTRY_MAX_RANK] = { 0 }, high[GANTRY_MAX_RANK] = { 0 }, interior[GANTRY_MAX_RANK] = { 0 };

  for (gint i = (gint) w->n - 1; i >= 0; i--)
    {
      gint64 span = (w->out[i] - 1) * w->strides[i] + 1;

      low[i + 2] = position % w->kernel[i] * w->dilations[i] - w->low[i];
      high[i + 2] = w->in[i] - low[i + 2] - span;
      interior[i + 2] = w->strides[i] - 1;
      position /= w->kernel[i];
    }
  return x != 0 ? gantry_builder_pad (l->b, x, gantry_builder_like (l->b, x, 0), low, high, interior) : 0;
}

/* Fills the window of Col2Im: in = picture, kernel = block, out = blocks that fit. */
static gboolean
col2im_window (GantryLower *l, GantryLowerWindow *w, gint64 *blocks, gint64 *positions)
{
  gsize n_picture = 0, n_block = 0;
  const gint64 *picture = gantry_lower_constant_ints (l, 1, &n_picture, "shape of the picture");
  const gint64 *block = l->failed ? NULL : gantry_lower_constant_ints (l, 2, &n_block, "shape of the blocks");
  const gint64 *strides = gantry_lower_ints_or (l, "strides", n_picture, 1);
  const gint64 *dilations = gantry_lower_ints_or (l, "dilations", n_picture, 1);
  const gint64 *pads = gantry_lower_ints_or (l, "pads", 2 * n_picture, 0);

  if (l->failed || block == NULL || picture == NULL)
    return FALSE;
  w->n = n_picture;
  *blocks = *positions = 1;
  if (n_picture < 1 || n_picture != n_block || n_picture > GANTRY_MAX_RANK - 2)
    gantry_lower_invalid (l, "picture and blocks differ in rank");
  for (gsize i = 0; i < n_picture && !l->failed; i++)
    {
      if (picture[i] < 1 || block[i] < 1 || strides[i] < 1 || dilations[i] < 1 || MAX (picture[i], block[i]) > 65536 || MAX (strides[i], dilations[i]) > 65536
          || MAX (ABS (pads[i]), ABS (pads[n_picture + i])) > 65536)
        gantry_lower_invalid (l, "a shape, stride or dilation is out of range");
      w->in[i] = picture[i];
      w->kernel[i] = block[i];
      w->strides[i] = strides[i];
      w->dilations[i] = dilations[i];
      w->low[i] = pads[i];
      w->out[i] = (picture[i] + pads[i] + pads[n_picture + i] - (dilations[i] * (block[i] - 1) + 1)) / strides[i] + 1;
      *blocks *= w->out[i];
      *positions *= block[i];
      if (*positions > MOST_POSITIONS)
        gantry_lower_fail (l, "blocks of more than %d elements", MOST_POSITIONS);
    }
  return !l->failed;
}

static void
col2im (GantryLower *l)
{
  guint32 x = gantry_lower_operand (l, 0);
  GantryLowerWindow w;
  GantryDim dims[GANTRY_MAX_RANK];
  gint64 blocks, positions;
  guint32 sum = 0;

  if (!gantry_lower_check_rank (l, 0, 3, 3) || !col2im_window (l, &w, &blocks, &positions))
    return;
  if (gantry_lower_dim (l, x, 1) % positions != 0 || gantry_lower_dim (l, x, 2) != blocks)
    {
      gantry_lower_invalid (l, "the operand does not hold the blocks of the picture");
      return;
    }
  dims[0] = gantry_lower_dim (l, x, 0);
  dims[1] = gantry_lower_dim (l, x, 1) / positions;
  x = gantry_builder_reshape (l->b, x, 4, (GantryDim[]){ dims[0], dims[1], positions, blocks });
  for (guint i = 0; i < w.n; i++)
    dims[i + 2] = w.out[i];
  for (gint64 position = 0; position < positions && !l->failed; position++)
    {
      guint32 part = gantry_builder_slice_axis (l->b, x, 2, position, position + 1, 1);

      part = col2im_part (l, gantry_builder_reshape (l->b, part, w.n + 2, dims), &w, position);
      sum = sum == 0 ? part : gantry_builder_binary_broadcast (l->b, GANTRY_OP_ADD, sum, part);
    }
  l->out[0] = sum;
}

/* clang-format off */
const GantryLowerRule gantry_lower_pool_rules[] = {
  { "MaxPool", max_pool, GANTRY_CLASS_REDUCTION, GANTRY_LOWER_ANY_SHAPE, 0, NULL },
  { "AveragePool", average_pool, GANTRY_CLASS_REDUCTION, GANTRY_LOWER_ANY_SHAPE, 0, NULL },
  { "LpPool", lp_pool, GANTRY_CLASS_REDUCTION, GANTRY_LOWER_ANY_SHAPE, 0, NULL },
  { "GlobalAveragePool", global_pool, GANTRY_CLASS_REDUCTION, 0, 'a', NULL },
  { "GlobalMaxPool", global_pool, GANTRY_CLASS_REDUCTION, 0, 'm', NULL },
  { "GlobalLpPool", global_pool, GANTRY_CLASS_REDUCTION, 0, 'l', NULL },
  { "LRN", lrn, GANTRY_CLASS_REDUCTION, 0, 0, NULL },
  { "Col2Im", col2im, GANTRY_CLASS_REDUCTION, 0, 0, NULL },
  { NULL },
};
/* clang-format on */
