/* SPDX-License-Identifier: Apache-2.0 */
/* Derivatives of windows that slide. */
#include "core/autodiff/gradient-private.h"
#include "core/base/integers.h"
#include "core/graph/builder-composite.h"
#include <math.h>
#include <string.h>

#define B d->builder

/* Windows of so many places are written out place by place. */
#define MOST_WRITTEN_OUT 32

typedef struct
{
  guint rank;
  gint64 size[GANTRY_MAX_RANK], stride[GANTRY_MAX_RANK], base[GANTRY_MAX_RANK], dilation[GANTRY_MAX_RANK];
  gint64 low[GANTRY_MAX_RANK], high[GANTRY_MAX_RANK];
} Windows;

static void
read_windows (const GantryDiff *d, const GantryNode *node, Windows *w)
{
  gint64 padding[2 * GANTRY_MAX_RANK];

  w->rank = gantry_node_type (d->module, node)->rank;
  _gantry_diff_read_list (d, node, "window_dimensions", w->rank, 1, w->size);
  _gantry_diff_read_list (d, node, "window_strides", w->rank, 1, w->stride);
  _gantry_diff_read_list (d, node, "base_dilations", w->rank, 1, w->base);
  _gantry_diff_read_list (d, node, "window_dilations", w->rank, 1, w->dilation);
  _gantry_diff_read_list (d, node, "padding", 2 * w->rank, 0, padding);
  for (guint i = 0; i < w->rank; i++)
    {
      w->low[i] = padding[2 * i];
      w->high[i] = padding[2 * i + 1];
    }
}

/* A sum over windows: each element of the operand takes the cotangents of the windows that it
 * lies in. Those are a window of the result, spread by the stride, and the positions asked for
 * lie as far apart as the operand was spread. */
static guint32
sum_back (GantryDiff *d, const GantryNode *node, const Windows *w, guint32 g)
{
  const GantryType *x = _gantry_diff_operand_type (d, node, 0), *y = gantry_node_type (d->module, node);
  GantryAttrList *attrs = gantry_attr_list_new (d->context);
  gint64 padding[2 * GANTRY_MAX_RANK];

  for (guint i = 0; i < w->rank; i++)
    {
      gint64 span = (w->size[i] - 1) * w->dilation[i] + 1;

      padding[2 * i] = span - 1 - w->low[i];
      padding[2 * i + 1] = (x->dims[i] - 1) * w->base[i] + span - ((y->dims[i] - 1) * w->stride[i] + 1) - padding[2 * i];
    }
  gantry_attr_list_set_string (attrs, "kind", "add");
  gantry_attr_list_set_ints (attrs, "window_dimensions", w->size, w->rank);
  gantry_attr_list_set_ints (attrs, "window_strides", w->base, w->rank);
  gantry_attr_list_set_ints (attrs, "base_dilations", w->stride, w->rank);
  gantry_attr_list_set_ints (attrs, "window_dilations", w->dilation, w->rank);
  gantry_attr_list_set_ints (attrs, "padding", padding, 2 * w->rank);
  return gantry_builder_add (B, GANTRY_OP_REDUCE_WINDOW, &g, 1, gantry_attr_list_end (attrs));
}

/* The dimensions that windows slide along, and the places of a window, in row-major order. */
typedef struct
{
  gint64 axes[GANTRY_MAX_RANK], others[GANTRY_MAX_RANK]; /* slid along, and not */
  guint n_axes, n_others;
  gint64 places;  /* in a window */
  gint64 outputs; /* of all axes */
} Slide;

static gboolean
read_slide (const GantryDiff *d, const GantryNode *node, const Windows *w, Slide *s)
{
  const GantryType *y = gantry_node_type (d->module, node);

  *s = (Slide){ .places = 1, .outputs = 1 };
  for (guint i = 0; i < w->rank; i++)
    if (w->size[i] == 1 && w->stride[i] == 1 && w->base[i] == 1 && w->low[i] == 0 && w->high[i] == 0)
      s->others[s->n_others++] = i;
    else
      {
        s->axes[s->n_axes++] = i;
        if (__builtin_mul_overflow (s->places, w->size[i], &s->places) || __builtin_mul_overflow (s->outputs, y->dims[i], &s->outputs))
          return FALSE;
      }
  return s->outputs < G_MAXINT32 / MAX (s->places * (gint64) (s->n_axes + 1), 1) / 4 && s->places < G_MAXINT32 / 64;
}

/* Where in the padded operand each window begins: i32[outputs..., n_axes]. */
static guint32
window_starts (GantryDiff *d, const GantryNode *node, const Windows *w, const Slide *s)
{
  const GantryType *y = gantry_node_type (d->module, node);
  GantryDim dims[GANTRY_MAX_RANK + 1];
  g_autoptr (GantryLiteral) literal = NULL;
  gint64 at[GANTRY_MAX_RANK] = { 0 };
  guint8 *data;

  for (guint i = 0; i < s->n_axes; i++)
    dims[i] = y->dims[s->axes[i]];
  dims[s->n_axes] = s->n_axes;
  literal = gantry_literal_new_zeroed (gantry_context_type (d->context, gantry_context_tensor (d->context, GANTRY_I32, s->n_axes + 1, dims)), &data);
  for (gint64 o = 0; o < s->outputs; o++)
    {
      for (guint i = 0; i < s->n_axes; i++, data += 4)
        gantry_element_write_int (GANTRY_I32, data, at[i] * w->stride[s->axes[i]]);
      for (guint i = s->n_axes; i-- > 0 && ++at[i] == dims[i];)
        at[i] = 0;
    }
  return gantry_builder_literal (B, literal);
}

/* How far from its beginning each place of a window lies: i32[places, n_axes]. */
static guint32
window_offsets (GantryDiff *d, const Windows *w, const Slide *s)
{
  const GantryDim dims[2] = { s->places, s->n_axes };
  g_autoptr (GantryLiteral) literal = NULL;
  gint64 at[GANTRY_MAX_RANK] = { 0 };
  guint8 *data;

  literal = gantry_literal_new_zeroed (gantry_context_type (d->context, gantry_context_tensor (d->context, GANTRY_I32, 2, dims)), &data);
  for (gint64 p = 0; p < s->places; p++)
    {
      for (guint i = 0; i < s->n_axes; i++, data += 4)
        gantry_element_write_int (GANTRY_I32, data, at[i] * w->dilation[s->axes[i]]);
      for (guint i = s->n_axes; i-- > 0 && ++at[i] == w->size[s->axes[i]];)
        at[i] = 0;
    }
  return gantry_builder_literal (B, literal);
}

/* The windows that lie over an element, without a scatter. With windows @stride apart an element at q * stride + r of
 * the padded operand is the one at r + stride * a of window q - a, for a few @taps a: so the padded operand is looked at
 * as [q, r] along each axis, and each tap is one selection over the whole. Places have numbers in which each axis
 * has taps * stride digits, dilation or not, so that what lies in no window has a number that no place has. */
typedef struct
{
  gint64 taps[GANTRY_MAX_RANK], weight[GANTRY_MAX_RANK], spread[GANTRY_MAX_RANK]; /* by dimension; spread: of q */
  gint64 numbers;                                                                 /* no place has this one or a larger one */
  guint rank;                                                                     /* with the dimensions r, where windows are more than 1 apart */
  gint64 dims[GANTRY_MAX_RANK], map[GANTRY_MAX_RANK];                             /* map: where each dimension, or its q, is among those */
} Taps;

static gboolean
read_taps (const GantryDiff *d, guint32 padded, const Windows *w, const Slide *s, Taps *t)
{
  const GantryType *type = gantry_builder_get_type (B, padded);
  /* Up to here each type holds the whole numbers. */
  gint64 most = gantry_element_size (type->element) == 1 ? 127 : type->element == GANTRY_BF16 ? 256 : 2048;

  *t = (Taps){ .numbers = 1, .rank = 0 };
  if (s->places > MOST_WRITTEN_OUT || 2 * type->rank > GANTRY_MAX_RANK)
    return FALSE;
  for (guint i = w->rank; i-- > 0;)
    {
      gint64 span, digits;

      if (__builtin_mul_overflow (w->size[i] - 1, w->dilation[i], &span) || span >= most || w->stride[i] > most)
        return FALSE;
      t->taps[i] = span / w->stride[i] + 1;
      t->spread[i] = (type->dims[i] + w->stride[i] - 1) / w->stride[i];
      digits = gantry_ints_contain (s->axes, s->n_axes, i) ? t->taps[i] * w->stride[i] : 1;
      t->weight[i] = t->numbers;
      t->numbers *= digits;
      if (t->numbers > most)
        return FALSE;
    }
  for (guint i = 0; i < w->rank; i++)
    {
      t->map[i] = t->rank;
      t->dims[t->rank++] = t->spread[i];
      if (w->stride[i] > 1)
        t->dims[t->rank++] = w->stride[i];
    }
  return TRUE;
}

/* The number of the place that won each window, in the type of the operand, which has its layout then. */
static guint32
winner_numbers (GantryDiff *d, const GantryNode *node, const Windows *w, const Slide *s, const Taps *t, guint32 padded)
{
  const GantryType *y = gantry_node_type (d->module, node);
  guint32 best = 0;

  for (gint64 p = s->places; p-- > 0;)
    {
      gint64 start[GANTRY_MAX_RANK], limit[GANTRY_MAX_RANK], rest = p, number = 0;
      guint32 mine, equal;

      for (guint i = w->rank; i-- > 0; rest /= w->size[i])
        {
          start[i] = rest % w->size[i] * w->dilation[i];
          limit[i] = start[i] + (y->dims[i] - 1) * w->stride[i] + 1;
          number += start[i] * t->weight[i];
        }
      mine = gantry_builder_splat (B, y->element, (double) number, y->rank, y->dims);
      if (best == 0)
        {
          best = mine;
          continue;
        }
      equal = gantry_builder_compare (B, "EQ", gantry_builder_slice (B, padded, start, limit, w->stride), _gantry_diff_result (d, node));
      best = gantry_builder_select (B, equal, mine, best);
    }
  return best;
}

/* Is there a place of the windows at this tap? */
static gboolean
has_place (const Windows *w, guint i, gint64 tap)
{
  gint64 first = tap * w->stride[i], next = (first + w->dilation[i] - 1) / w->dilation[i];

  return next < w->size[i] && next * w->dilation[i] < first + w->stride[i];
}

/* What all windows q - @tap have of @x, for each element of the padded operand as [q, r]. */
static guint32
at_tap (GantryDiff *d, const Windows *w, const Taps *t, guint32 x, const gint64 *tap)
{
  gint64 start[GANTRY_MAX_RANK], limit[GANTRY_MAX_RANK];

  for (guint i = 0; i < w->rank; i++)
    {
      start[i] = t->taps[i] - 1 - tap[i];
      limit[i] = start[i] + t->spread[i];
    }
  return gantry_builder_broadcast (B, gantry_builder_slice (B, x, start, limit, NULL), t->rank, t->dims, t->map);
}

/* The numbers that the elements have in the windows q. */
static guint32
numbers_at_first (GantryDiff *d, const Windows *w, const Taps *t, GantryElementType element)
{
  guint32 sum = 0;

  for (guint i = 0; i < w->rank; i++)
    if (w->stride[i] > 1)
      {
        guint32 r = gantry_builder_iota (B, element, t->rank, t->dims, t->map[i] + 1);

        if (t->weight[i] != 1)
          r = _gantry_diff_scale (d, r, (double) t->weight[i]);
        sum = sum != 0 ? gantry_builder_binary (B, GANTRY_OP_ADD, sum, r) : r;
      }
  return sum != 0 ? sum : gantry_builder_splat (B, element, 0, t->rank, t->dims);
}

/* The tap before @tap in row-major order. Returns: FALSE after the first of all, where it is the last one again */
static gboolean
previous_tap (const Windows *w, const Taps *t, gint64 *tap)
{
  for (guint i = w->rank; i-- > 0;)
    {
      if (tap[i]-- > 0)
        return TRUE;
      tap[i] = t->taps[i] - 1;
    }
  return FALSE;
}

/* Adds up the cotangents of the windows that each element won, in the order of the windows. Returns: for
 * each element of the padded operand, whose dimensions are rounded up to strides */
static guint32
take_from_windows (GantryDiff *d, const GantryNode *node, const Windows *w, const Taps *t, guint32 winner, guint32 g)
{
  const GantryType *y = gantry_node_type (d->module, node);
  gint64 low[GANTRY_MAX_RANK], high[GANTRY_MAX_RANK], tap[GANTRY_MAX_RANK], whole[GANTRY_MAX_RANK];
  guint32 numbers = numbers_at_first (d, w, t, (GantryElementType) y->element), sum = 0;

  for (guint i = 0; i < w->rank; i++)
    {
      low[i] = tap[i] = t->taps[i] - 1;
      high[i] = t->spread[i] - y->dims[i];
      whole[i] = t->spread[i] * w->stride[i];
    }
  winner = gantry_builder_pad_if_any (B, winner, gantry_builder_scalar (B, y->element, (double) t->numbers), low, high, NULL);
  g = gantry_builder_pad_if_any (B, g, gantry_builder_scalar (B, y->element, 0), low, high, NULL);
  do
    {
      gint64 number = 0;
      gboolean any = TRUE;

      for (guint i = 0; i < w->rank; i++)
        {
          any = any && has_place (w, i, tap[i]);
          number += tap[i] * w->stride[i] * t->weight[i];
        }
      if (any)
        {
          guint32 here = number != 0 ? _gantry_diff_shift (d, numbers, (double) number) : numbers;
          guint32 won = gantry_builder_compare (B, "EQ", at_tap (d, w, t, winner, tap), here);
          guint32 x = _gantry_diff_where (d, won, at_tap (d, w, t, g, tap));

          sum = sum != 0 ? gantry_builder_binary (B, GANTRY_OP_ADD, sum, x) : x;
        }
    }
  while (previous_tap (w, t, tap));
  return gantry_builder_reshape (B, sum, w->rank, whole);
}

/* All elements of all windows: the result's dimensions, then the places. */
static guint32
windows_of (GantryDiff *d, const GantryNode *node, const Slide *s, guint32 padded, guint32 starts, guint32 offsets)
{
  const GantryType *type = gantry_builder_get_type (B, padded), *y = gantry_node_type (d->module, node);
  GantryAttrList *attrs = gantry_attr_list_new (d->context);
  gint64 dims[GANTRY_MAX_RANK + 2], map[GANTRY_MAX_RANK + 1], sizes[GANTRY_MAX_RANK];
  guint n = s->n_axes;
  guint32 indices, spread_offsets;

  for (guint i = 0; i < n; i++)
    {
      dims[i] = y->dims[s->axes[i]];
      map[i] = i;
    }
  dims[n] = s->places;
  dims[n + 1] = n;
  map[n] = n + 1;
  indices = gantry_builder_broadcast (B, starts, n + 2, dims, map);
  spread_offsets = gantry_builder_broadcast (B, offsets, n + 2, dims, (const gint64[]){ n, n + 1 });
  indices = gantry_builder_binary (B, GANTRY_OP_ADD, indices, spread_offsets);
  for (guint i = 0; i < type->rank; i++)
    sizes[i] = type->dims[i];
  for (guint i = 0; i < n; i++)
    sizes[s->axes[i]] = 1;
  gantry_attr_list_set_ints (attrs, "offset_dims", s->others, s->n_others);
  gantry_attr_list_set_ints (attrs, "collapsed_slice_dims", s->axes, n);
  gantry_attr_list_set_ints (attrs, "start_index_map", s->axes, n);
  gantry_attr_list_set_int (attrs, "index_vector_dim", n + 1);
  gantry_attr_list_set_ints (attrs, "slice_sizes", sizes, type->rank);
  return gantry_builder_add (B, GANTRY_OP_GATHER, (guint32[]){ padded, indices }, 2, gantry_attr_list_end (attrs));
}

/* Which place of its window each element of the result came from: the first that equals it, as in
 * JAX and PyTorch. */
static guint32
winners (GantryDiff *d, const GantryNode *node, const Slide *s, guint32 windows)
{
  const GantryType *type = gantry_builder_get_type (B, windows);
  gint64 map[GANTRY_MAX_RANK], last = type->rank - 1;
  guint32 y, equal, places, none;

  for (gint64 i = 0; i < last; i++)
    map[i] = i;
  y = gantry_builder_broadcast (B, _gantry_diff_result (d, node), type->rank, type->dims, map);
  equal = gantry_builder_compare (B, "EQ", windows, y);
  places = gantry_builder_iota (B, GANTRY_I32, type->rank, type->dims, last);
  none = gantry_builder_splat (B, GANTRY_I32, (double) (s->places - 1), type->rank, type->dims);
  return gantry_builder_reduce (B, "min", gantry_builder_select (B, equal, places, none), &last, 1);
}

/* Adds each cotangent to the element that its window was won by. */
static guint32
scatter_to_winners (GantryDiff *d, const GantryNode *node, const Slide *s, guint32 zeros, guint32 winner, guint32 starts, guint32 offsets, guint32 g)
{
  const GantryType *y = gantry_node_type (d->module, node);
  GantryAttrList *attrs = gantry_attr_list_new (d->context);
  gint64 dims[GANTRY_MAX_RANK + 1], map[GANTRY_MAX_RANK + 1];
  guint32 indices;

  memcpy (dims, y->dims, y->rank * sizeof *dims);
  dims[y->rank] = s->n_axes;
  memcpy (map, s->axes, s->n_axes * sizeof *map);
  map[s->n_axes] = y->rank;
  gantry_attr_list_set_ints (attrs, "offset_dims", (const gint64[]){ y->rank }, 1);
  gantry_attr_list_set_ints (attrs, "collapsed_slice_dims", (const gint64[]){ 0 }, 1);
  gantry_attr_list_set_ints (attrs, "start_index_map", (const gint64[]){ 0 }, 1);
  gantry_attr_list_set_int (attrs, "index_vector_dim", y->rank);
  gantry_attr_list_set_ints (attrs, "slice_sizes", (const gint64[]){ 1, s->n_axes }, 2);
  indices = gantry_builder_add (B, GANTRY_OP_GATHER, (guint32[]){ offsets, winner }, 2, gantry_attr_list_end (attrs));
  indices = gantry_builder_binary (B, GANTRY_OP_ADD, indices, gantry_builder_broadcast (B, starts, y->rank + 1, dims, map));
  attrs = gantry_attr_list_new (d->context);
  gantry_attr_list_set_string (attrs, "kind", "add");
  gantry_attr_list_set_ints (attrs, "inserted_window_dims", s->axes, s->n_axes);
  gantry_attr_list_set_ints (attrs, "input_batching_dims", s->others, s->n_others);
  gantry_attr_list_set_ints (attrs, "scatter_indices_batching_dims", s->others, s->n_others);
  gantry_attr_list_set_ints (attrs, "scatter_dims_to_operand_dims", s->axes, s->n_axes);
  gantry_attr_list_set_int (attrs, "index_vector_dim", y->rank);
  return gantry_builder_add (B, GANTRY_OP_SCATTER, (guint32[]){ zeros, indices, g }, 3, gantry_attr_list_end (attrs));
}

/* Windows of many places: node count does not depend on their size. */
static guint32
scatter_back (GantryDiff *d, const GantryNode *node, const Windows *w, const Slide *s, guint32 padded, guint32 g)
{
  guint32 starts = window_starts (d, node, w, s), offsets = window_offsets (d, w, s);
  guint32 winner = winners (d, node, s, windows_of (d, node, s, padded, starts, offsets));

  return scatter_to_winners (d, node, s, _gantry_diff_splat_like (d, padded, 0), winner, starts, offsets, g);
}

/* max, min */
static void
extremum_back (GantryDiff *d, const GantryNode *node, const Windows *w, guint32 g, gboolean max)
{
  const GantryType *x = _gantry_diff_operand_type (d, node, 0);
  gint64 interior[GANTRY_MAX_RANK], high[GANTRY_MAX_RANK];
  guint32 padded;
  Slide s;
  Taps t;

  if (!read_slide (d, node, w, &s) || w->rank + 2 > GANTRY_MAX_RANK)
    {
      _gantry_diff_refuse (d, node, "its windows are too many or of too many dimensions to be numbered");
      return;
    }
  if (s.n_axes == 0)
    {
      _gantry_diff_give (d, node, 0, g);
      return;
    }
  for (guint i = 0; i < w->rank; i++)
    {
      interior[i] = w->base[i] - 1;
      high[i] = w->high[i];
    }
  padded = gantry_builder_pad_if_any (B, _gantry_diff_operand (d, node, 0), gantry_builder_scalar (B, x->element, max ? -INFINITY : INFINITY), w->low, w->high,
                                      interior);
  if (read_taps (d, padded, w, &s, &t))
    {
      for (guint i = 0; i < w->rank; i++)
        high[i] += t.spread[i] * w->stride[i] - gantry_builder_get_type (B, padded)->dims[i];
      g = take_from_windows (d, node, w, &t, winner_numbers (d, node, w, &s, &t, padded), g);
    }
  else
    g = scatter_back (d, node, w, &s, padded, g);
  _gantry_diff_give (d, node, 0, _gantry_diff_unpad (d, g, w->low, high, interior, x));
}

void
_gantry_gradient_reduce_window (GantryDiff *d, const GantryNode *node, guint32 g)
{
  const char *kind = gantry_attrs_string (d->context, node->attrs, "kind", "");
  const GantryType *x = _gantry_diff_operand_type (d, node, 0);
  Windows w;

  if (gantry_type_elements (x) == 0 || gantry_type_elements (gantry_node_type (d->module, node)) == 0)
    return;
  read_windows (d, node, &w);
  if (strcmp (kind, "add") == 0)
    _gantry_diff_give (d, node, 0, sum_back (d, node, &w, g));
  else if (strcmp (kind, "mul") == 0)
    _gantry_diff_refuse (d, node, "of kind mul has no derivative rule");
  else
    extremum_back (d, node, &w, g, strcmp (kind, "max") == 0);
}
