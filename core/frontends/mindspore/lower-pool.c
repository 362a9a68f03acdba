/* SPDX-License-Identifier: Apache-2.0 */
/* Pooling. */
#include "core/frontends/mindspore/lower-private.h"

#define MOST_WINDOW ((gint64) 1 << 24)

/* A list with or without places for batch and channel, or one number for all. */
static gboolean
spatial (MindLower *l, const char *name, guint n, const gint64 *fallback, gint64 *values)
{
  gint64 list[GANTRY_MAX_RANK];
  gint count = gantry_mind_ints (l, name, list, n + 2);

  for (guint i = 0; i < n; i++)
    {
      values[i] = count < 0               ? fallback != NULL ? fallback[i] : -1
                  : count == 1            ? list[0]
                  : count == (gint) n     ? list[i]
                  : count == (gint) n + 2 ? list[i + 2]
                                          : -1;
      if (values[i] < 1 || values[i] > MOST_WINDOW)
        {
          gantry_mind_refuse (l, "'%s' is missing or does not fit %u dimensions", name, n);
          return FALSE;
        }
    }
  return TRUE;
}

typedef struct
{
  guint rank;
  gint64 sizes[GANTRY_MAX_RANK], strides[GANTRY_MAX_RANK], padding[2 * GANTRY_MAX_RANK];
} Pool;

/* Of the spatial dimensions; @pool has sizes and strides already. The odd element of "same" goes to the end. */
static void
read_pool_padding (MindLower *l, guint32 x, Pool *pool)
{
  guint n = pool->rank - 2;
  gint64 list[2 * GANTRY_MAX_RANK];
  MindPadding mode = gantry_mind_padding (l, MIND_PADDING_VALID);
  gint n_list = mode == MIND_PADDING_GIVEN ? gantry_mind_ints (l, "pad_list", list, 2 * n) : -1;

  for (guint i = 0; i < n; i++)
    {
      gint64 size = gantry_mind_dim (l, x, i + 2), stride = pool->strides[i + 2],
             total = MAX (((size + stride - 1) / stride - 1) * stride + pool->sizes[i + 2] - size, 0);

      if (mode == MIND_PADDING_SAME)
        {
          pool->padding[2 * i + 4] = total / 2;
          pool->padding[2 * i + 5] = total - total / 2;
        }
      else if (n_list == (gint) (2 * n) && MIN (list[2 * i], list[2 * i + 1]) >= 0 && MAX (list[2 * i], list[2 * i + 1]) <= MOST_WINDOW)
        {
          pool->padding[2 * i + 4] = list[2 * i];
          pool->padding[2 * i + 5] = list[2 * i + 1];
        }
      else if (mode == MIND_PADDING_GIVEN)
        gantry_mind_refuse (l, "its padding does not fit %u dimensions", n);
    }
}

static gboolean
read_pool (MindLower *l, guint32 x, Pool *pool)
{
  guint rank = gantry_mind_rank (l, x);
  const char *format = gantry_mind_string (l, "format", gantry_mind_string (l, "data_format", "NC"));

  pool->rank = rank;
  if (rank < 3 || !g_str_has_prefix (format, "NC") || gantry_mind_int (l, "ceil_mode", 0) != 0)
    gantry_mind_refuse (l, "a value of %u dimensions, the format %s, or sizes that are rounded up", rank, format);
  if (l->failed || !spatial (l, "kernel_size", rank - 2, NULL, pool->sizes + 2) || !spatial (l, "strides", rank - 2, pool->sizes + 2, pool->strides + 2))
    return FALSE;
  pool->sizes[0] = pool->sizes[1] = pool->strides[0] = pool->strides[1] = 1;
  read_pool_padding (l, x, pool);
  return !l->failed;
}

static guint32
windows (MindLower *l, const char *kind, guint32 x, const Pool *pool)
{
  GantryAttrList *attrs = gantry_attr_list_new (l->context);

  gantry_attr_list_set_string (attrs, "kind", kind);
  gantry_attr_list_set_ints (attrs, "window_dimensions", pool->sizes, pool->rank);
  gantry_attr_list_set_ints (attrs, "window_strides", pool->strides, pool->rank);
  gantry_attr_list_set_ints (attrs, "padding", pool->padding, 2 * pool->rank);
  return gantry_mind_add (l, GANTRY_OP_REDUCE_WINDOW, attrs, 1, x);
}

static void
max_pool (MindLower *l)
{
  guint32 x = gantry_mind_need (l, "x");
  Pool pool = { 0 };

  if (read_pool (l, x, &pool))
    l->out[0] = windows (l, "max", x, &pool);
}

/* Padding counts only where the primitive says so. */
static void
average_pool (MindLower *l)
{
  guint32 x = gantry_builder_widen (l->b, gantry_mind_need (l, "x")), sum, count;
  const GantryType *type = gantry_mind_type (l, x);
  Pool pool = { 0 };
  double n = 1;
  gboolean padded = FALSE;

  if (!read_pool (l, x, &pool))
    return;
  for (guint i = 0; i < pool.rank; i++)
    {
      n *= (double) pool.sizes[i];
      padded = padded || pool.padding[2 * i] != 0 || pool.padding[2 * i + 1] != 0;
    }
  sum = windows (l, "add", x, &pool);
  if (!padded || gantry_mind_int (l, "count_include_pad", 0) != 0)
    {
      l->out[0] = BINARY (DIVIDE, sum, LIKE (sum, n));
      return;
    }
  count = windows (l, "add", gantry_mind_splat (l, (GantryElementType) type->element, 1, type->rank, type->dims), &pool);
  l->out[0] = BINARY (DIVIDE, sum, count);
}

/* Windows that cover the whole, each as large as the others: sizes that divide. */
static void
adaptive_average (MindLower *l)
{
  guint32 x = gantry_builder_widen (l->b, gantry_mind_need (l, "x"));
  guint rank = gantry_mind_rank (l, x), n = 0;
  gint64 list[GANTRY_MAX_RANK];
  gint count = gantry_mind_ints (l, "output_size", list, GANTRY_MAX_RANK);
  Pool pool = { .rank = rank };
  double cells = 1;

  if (count < 0 || rank < (guint) MAX (count, 2))
    {
      gantry_mind_refuse (l, "the size of its result is not known");
      return;
    }
  n = rank - (count == 1 ? 2u : (guint) count);
  for (guint i = 0; i < rank; i++)
    {
      gint64 size = gantry_mind_dim (l, x, i), wanted = i < n ? size : list[count == 1 ? 0 : i - n];

      wanted = wanted == -1 ? size : wanted;
      if (wanted < 1 || size % wanted != 0)
        {
          gantry_mind_refuse (l, "%" G_GINT64_FORMAT " places of %" G_GINT64_FORMAT " elements are windows of several sizes", wanted, size);
          return;
        }
      pool.sizes[i] = pool.strides[i] = size / wanted;
      cells *= (double) pool.sizes[i];
    }
  x = windows (l, "add", x, &pool);
  l->out[0] = BINARY (DIVIDE, x, LIKE (x, cells));
}

/* clang-format off */
#define W(name, arguments, function) { name, arguments, function, GANTRY_CLASS_REDUCTION, 0, NULL }

const MindRule gantry_mind_pool_rules[] = {
  W ("MaxPool", "x", max_pool), W ("MaxPool3D", "x", max_pool), W ("AvgPool", "x kernel_size strides pad_mode format", average_pool),
  W ("AvgPool3D", "x", average_pool), W ("AdaptiveAvgPool2D", "x output_size", adaptive_average),
  W ("AdaptiveAvgPool2DExt", "x output_size", adaptive_average),
  { NULL },
};
/* clang-format on */
