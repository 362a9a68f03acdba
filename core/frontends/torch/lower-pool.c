/* SPDX-License-Identifier: Apache-2.0 */
/* Pooling over windows of the last dimensions, and adaptive pooling. */
#include "core/frontends/torch/lower-private.h"

#define MOST_WINDOW ((gint64) 1 << 24)
#define MOST_POSITIONS 256

typedef struct
{
  guint n, first; /* spatial dimensions, and the first of them */
  gint64 size[GANTRY_MAX_RANK], stride[GANTRY_MAX_RANK], dilation[GANTRY_MAX_RANK], padding[GANTRY_MAX_RANK];
  gint64 high[GANTRY_MAX_RANK]; /* padding behind, with what ceil_mode adds */
  gint64 out[GANTRY_MAX_RANK];
} Pool;

/* @n: spatial dimensions. The sizes of the result are the archive's: they say what ceil_mode adds. */
static gboolean
read_pool (AtenLower *l, guint32 x, guint n, Pool *p)
{
  guint rank = gantry_aten_rank (l, x);
  const GantryType *type = gantry_aten_declared (l, 0);

  *p = (Pool){ .n = n, .first = rank - n };
  if (rank < n + 1 || type->rank != rank || !gantry_aten_ints_of (l, "kernel_size", n, 1, p->size) || !gantry_aten_ints_of (l, "padding", n, 0, p->padding)
      || !gantry_aten_ints_of (l, "dilation", n, 1, p->dilation))
    {
      gantry_aten_refuse (l, "windows of %u dimensions of an input of %u", n, rank);
      return FALSE;
    }
  for (guint i = 0; i < n; i++)
    {
      gsize given;

      gantry_aten_ints (l, "stride", &given);
      p->stride[i] = p->size[i];
      if ((given > 0 || gantry_aten_int (l, "stride", 0) > 0) && !gantry_aten_ints_of (l, "stride", n, 1, p->stride))
        return FALSE;
    }
  for (guint i = 0; i < n; i++)
    {
      gint64 in = gantry_aten_dim (l, x, p->first + i), span;

      if (p->size[i] < 1 || p->size[i] > MOST_WINDOW || p->stride[i] < 1 || p->stride[i] > MOST_WINDOW || p->dilation[i] < 1 || p->dilation[i] > MOST_WINDOW
          || p->padding[i] < 0 || p->padding[i] > MOST_WINDOW || type->dims[p->first + i] > MOST_WINDOW)
        {
          gantry_aten_refuse (l, "a kernel size, stride, dilation, padding or number of windows is out of range");
          return FALSE;
        }
      span = (p->size[i] - 1) * p->dilation[i] + 1;
      p->out[i] = type->dims[p->first + i];
      p->high[i] = (p->out[i] - 1) * p->stride[i] + span - in - p->padding[i];
    }
  return TRUE;
}

static guint32
reduce_window (AtenLower *l, const char *kind, guint32 x, const Pool *p)
{
  gint64 sizes[GANTRY_MAX_RANK], strides[GANTRY_MAX_RANK], dilations[GANTRY_MAX_RANK], padding[2 * GANTRY_MAX_RANK] = { 0 };
  guint rank = gantry_aten_rank (l, x);
  GantryAttrList *attrs;

  for (guint i = 0; i < rank; i++)
    {
      sizes[i] = i < p->first ? 1 : p->size[i - p->first];
      strides[i] = i < p->first ? 1 : p->stride[i - p->first];
      dilations[i] = i < p->first ? 1 : p->dilation[i - p->first];
    }
  /* What no window covers is cut off. */
  for (guint i = 0; i < p->n; i++)
    {
      gint64 in = gantry_aten_dim (l, x, p->first + i);

      if (p->high[i] < 0)
        x = gantry_builder_slice_axis (l->b, x, p->first + i, 0, in + p->high[i], 1);
      padding[2 * (p->first + i)] = p->padding[i];
      padding[2 * (p->first + i) + 1] = MAX (p->high[i], 0);
    }
  attrs = gantry_attr_list_new (l->context);
  gantry_attr_list_set_string (attrs, "kind", kind);
  gantry_attr_list_set_ints (attrs, "window_dimensions", sizes, rank);
  gantry_attr_list_set_ints (attrs, "window_strides", strides, rank);
  gantry_attr_list_set_ints (attrs, "window_dilations", dilations, rank);
  gantry_attr_list_set_ints (attrs, "padding", padding, 2 * rank);
  return gantry_aten_add (l, GANTRY_OP_REDUCE_WINDOW, attrs, 1, x);
}

/* arg: spatial dimensions. Positions of the maxima are not computed: forward programs do not use them. */
static void
max_pool (AtenLower *l)
{
  guint32 x = gantry_aten_need (l, "self");
  Pool p;

  if (read_pool (l, x, (guint) l->rule->arg, &p))
    l->out[0] = reduce_window (l, "max", x, &p);
}

/* How many elements each window along a dimension counts: those of the input, or with the padding asked for. */
static gboolean
window_counts (const Pool *p, guint i, gint64 in, gint64 pad, double *counts)
{
  gboolean uniform = TRUE;

  for (gint64 o = 0; o < p->out[i]; o++)
    {
      gint64 begin = MAX (o * p->stride[i] - p->padding[i], -pad), end = MIN (o * p->stride[i] - p->padding[i] + p->size[i], in + pad);

      counts[o] = (double) (end - begin);
      uniform = uniform && counts[o] == counts[0];
    }
  return uniform;
}

static void
average_pool (AtenLower *l)
{
  guint32 x = gantry_builder_widen (l->b, gantry_aten_need (l, "self"));
  gboolean count_pads = gantry_aten_int (l, "count_include_pad", 1) != 0;
  double divisor = gantry_aten_number (l, "divisor_override", 0), factor = 1;
  guint rank = gantry_aten_rank (l, x);
  guint32 sum;
  Pool p;

  if (!read_pool (l, x, (guint) l->rule->arg, &p))
    return;
  sum = reduce_window (l, "add", x, &p);
  for (guint i = 0; i < p.n && divisor == 0; i++)
    {
      double *counts = gantry_arena_new0 (l->arena, double, p.out[i] + 1);

      if (window_counts (&p, i, gantry_aten_dim (l, x, p.first + i), count_pads ? p.padding[i] : 0, counts))
        factor *= p.out[i] > 0 ? counts[0] : 1;
      else
        sum = gantry_builder_binary_broadcast (l->b, GANTRY_OP_DIVIDE, sum,
                                               gantry_aten_floats_along (l, gantry_aten_element (l, sum), counts, p.out[i], rank, p.first + i));
    }
  factor = divisor != 0 ? divisor : factor;
  l->out[0] = factor != 1 ? gantry_builder_binary_broadcast (l->b, GANTRY_OP_DIVIDE, sum, gantry_builder_like (l->b, sum, factor)) : sum;
}

/* One axis into @out windows: from floor (o n / out) to ceil ((o + 1) n / out). */
static guint32
adapt_axis (AtenLower *l, guint32 x, gint64 axis, gint64 out, gboolean is_max)
{
  gint64 n = gantry_aten_dim (l, x, axis);
  guint32 *parts;

  if (x == 0 || l->failed || out < 1 || n < 1 || n == out)
    return x;
  if (n % out == 0)
    {
      GantryDim dims[GANTRY_MAX_RANK];
      guint rank = gantry_aten_rank (l, x), k = 0;
      gint64 inner = axis + 1;

      if (rank >= GANTRY_MAX_RANK)
        return 0;
      for (guint i = 0; i < rank; i++)
        {
          dims[k++] = i == axis ? out : gantry_aten_dim (l, x, i);
          if (i == axis)
            dims[k++] = n / out;
        }
      x = gantry_builder_reshape (l->b, x, k, dims);
      x = is_max ? gantry_builder_reduce_axes (l->b, "max", x, &inner, 1, TRUE) : gantry_builder_mean (l->b, x, &inner, 1);
      for (guint i = 0; i < rank; i++)
        dims[i] = gantry_aten_dim (l, x, i > axis ? i + 1 : i);
      return gantry_builder_reshape (l->b, x, rank, dims);
    }
  if (out > MOST_POSITIONS)
    {
      gantry_aten_refuse (l, "windows of unequal sizes, more than %d along an axis", MOST_POSITIONS);
      return 0;
    }
  parts = gantry_arena_new0 (l->arena, guint32, out);
  for (gint64 o = 0; o < out && !l->failed; o++)
    {
      guint32 part = gantry_builder_slice_axis (l->b, x, axis, o * n / out, ((o + 1) * n + out - 1) / out, 1);

      parts[o] = is_max ? gantry_builder_reduce_axes (l->b, "max", part, &axis, 1, TRUE) : gantry_builder_mean (l->b, part, &axis, 1);
    }
  return l->failed || parts[0] == 0 ? 0 : gantry_builder_concatenate (l->b, parts, (guint) out, axis);
}

/* arg: spatial dimensions; text: "max" */
static void
adaptive_pool (AtenLower *l)
{
  guint32 x = gantry_aten_need (l, "self");
  const GantryType *type = gantry_aten_declared (l, 0);
  guint rank = gantry_aten_rank (l, x);
  gboolean is_max = l->rule->text != NULL, all = !is_max;
  gint64 axes[GANTRY_MAX_RANK];

  if (rank != type->rank || rank < (guint) l->rule->arg)
    {
      gantry_aten_refuse (l, "an input of %u dimensions", rank);
      return;
    }
  for (guint i = 0; i < (guint) l->rule->arg; i++)
    {
      axes[i] = rank - (guint) l->rule->arg + i;
      all = all && type->dims[axes[i]] == 1;
    }
  if (all)
    {
      l->out[0] = gantry_builder_mean (l->b, x, axes, (guint) l->rule->arg);
      return;
    }
  x = gantry_builder_widen (l->b, x);
  for (guint i = 0; i < (guint) l->rule->arg; i++)
    x = adapt_axis (l, x, axes[i], type->dims[axes[i]], is_max);
  l->out[0] = x;
}

/* clang-format off */
#define RULE(name, function, arg) { name, function, GANTRY_CLASS_REDUCTION, arg, NULL }

const AtenRule gantry_aten_pool_rules[] = {
  RULE ("max_pool1d", max_pool, 1), RULE ("max_pool2d", max_pool, 2), RULE ("max_pool3d", max_pool, 3),
  RULE ("max_pool2d_with_indices", max_pool, 2), RULE ("max_pool3d_with_indices", max_pool, 3),
  RULE ("_low_memory_max_pool2d_with_offsets", max_pool, 2),
  RULE ("avg_pool1d", average_pool, 1), RULE ("avg_pool2d", average_pool, 2), RULE ("avg_pool3d", average_pool, 3),
  RULE ("adaptive_avg_pool1d", adaptive_pool, 1), RULE ("adaptive_avg_pool2d", adaptive_pool, 2),
  RULE ("_adaptive_avg_pool2d", adaptive_pool, 2), RULE ("adaptive_avg_pool3d", adaptive_pool, 3),
  { "adaptive_max_pool1d", adaptive_pool, GANTRY_CLASS_REDUCTION, 1, "max" },
  { "adaptive_max_pool2d", adaptive_pool, GANTRY_CLASS_REDUCTION, 2, "max" },
  { NULL },
};
/* clang-format on */
