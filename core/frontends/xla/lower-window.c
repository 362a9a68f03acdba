/* SPDX-License-Identifier: Apache-2.0 */
/* reduce_window and select_and_scatter. What the core window reduction does not say is written place by place: the
 * operand is padded and dilated, and each place of the window is a strided slice of it. */
#include "core/frontends/xla/lower-private.h"

#define MOST_PLACES 1024

typedef struct
{
  guint rank;
  const gint64 *window, *strides, *base, *dilations, *padding;
  gint64 out[GANTRY_MAX_RANK];
  gint64 places;
} Window;

static gboolean
fits (gint64 size)
{
  return size >= -G_MAXINT32 && size <= G_MAXINT32;
}

static gboolean
read_window (XlaLower *l, Window *w)
{
  const GantryType *type = gantry_xla_type (l, gantry_xla_in (l, 0));

  w->rank = type->rank;
  w->window = gantry_xla_ints_or (l, "window_dimensions", w->rank, 1);
  w->strides = gantry_xla_ints_or (l, "window_strides", w->rank, 1);
  w->base = gantry_xla_ints_or (l, "base_dilations", w->rank, 1);
  w->dilations = gantry_xla_ints_or (l, "window_dilations", w->rank, 1);
  w->padding = gantry_xla_ints_or (l, "padding", 2 * w->rank, 0);
  w->places = 1;
  for (guint i = 0; i < w->rank && !l->failed; i++)
    {
      gint64 size, span;

      if (w->window[i] < 1 || w->strides[i] < 1 || w->base[i] < 1 || w->dilations[i] < 1 || w->window[i] > G_MAXINT32 || w->dilations[i] > G_MAXINT32
          || w->base[i] > G_MAXINT32 || !fits (w->padding[2 * i]) || !fits (w->padding[2 * i + 1]) || w->strides[i] > G_MAXINT32)
        {
          gantry_xla_refuse (l, "a window of these sizes");
          return FALSE;
        }
      w->places = gantry_dim_multiply (w->places, w->window[i]);
      size = type->dims[i] == 0 ? 0 : gantry_dim_add (gantry_dim_multiply (type->dims[i] - 1, w->base[i]), 1);
      size = gantry_dim_add (size, w->padding[2 * i] + w->padding[2 * i + 1]);
      span = (w->window[i] - 1) * w->dilations[i] + 1;
      w->out[i] = size < span ? 0 : (size - span) / w->strides[i] + 1;
    }
  return !l->failed;
}

static gboolean
few_places (XlaLower *l, const Window *w)
{
  if (w->places <= MOST_PLACES)
    return TRUE;
  gantry_xla_refuse (l, "a window of %" G_GINT64_FORMAT " places with this body", w->places);
  return FALSE;
}

static guint32
padded (XlaLower *l, guint32 x, guint32 value, const Window *w)
{
  gint64 low[GANTRY_MAX_RANK], high[GANTRY_MAX_RANK], interior[GANTRY_MAX_RANK];

  for (guint i = 0; i < w->rank; i++)
    {
      low[i] = w->padding[2 * i];
      high[i] = w->padding[2 * i + 1];
      interior[i] = w->base[i] - 1;
    }
  return gantry_builder_pad_if_any (l->b, x, value, low, high, interior);
}

/* What every window has at @place, of a padded operand. */
static guint32
at_place (XlaLower *l, guint32 x, const Window *w, gint64 place)
{
  gint64 start[GANTRY_MAX_RANK], limit[GANTRY_MAX_RANK];

  for (guint i = w->rank; i-- > 0;)
    {
      start[i] = place % w->window[i] * w->dilations[i];
      limit[i] = w->out[i] == 0 ? start[i] : start[i] + (w->out[i] - 1) * w->strides[i] + 1;
      place /= w->window[i];
    }
  return x != 0 ? gantry_builder_slice (l->b, x, start, limit, w->strides) : 0;
}

static gboolean
by_kinds (XlaLower *l, guint32 body, guint n, const Window *w)
{
  const char **kinds = XLA_NEW (l, const char *, n);

  for (guint i = 0; i < n; i++)
    {
      kinds[i] = gantry_xla_body_kind (l, body, i, n);
      if (kinds[i] == NULL || strcmp (kinds[i], "set") == 0 || !gantry_xla_is_identity (l, kinds[i], gantry_xla_in (l, n + i)))
        return FALSE;
    }
  for (guint i = 0; i < w->rank; i++)
    if (w->padding[2 * i] < 0 || w->padding[2 * i + 1] < 0)
      return FALSE;
  for (guint i = 0; i < n; i++)
    {
      GantryAttrList *attrs = gantry_xla_attrs (l);

      gantry_attr_list_set_string (attrs, "kind", kinds[i]);
      gantry_attr_list_set_ints (attrs, "window_dimensions", w->window, w->rank);
      gantry_attr_list_set_ints (attrs, "window_strides", w->strides, w->rank);
      gantry_attr_list_set_ints (attrs, "base_dilations", w->base, w->rank);
      gantry_attr_list_set_ints (attrs, "window_dilations", w->dilations, w->rank);
      gantry_attr_list_set_ints (attrs, "padding", w->padding, 2 * w->rank);
      l->out[i] = gantry_xla_add (l, GANTRY_OP_REDUCE_WINDOW, attrs, 1, gantry_xla_in (l, i));
    }
  return TRUE;
}

static void
reduce_window (XlaLower *l)
{
  guint32 body = gantry_xla_region (l, 0);
  guint n = l->n_in / 2;
  guint32 *arguments = XLA_NEW (l, guint32, 2 * n), *wide = XLA_NEW (l, guint32, n);
  Window w;

  if (l->failed || n == 0 || n != l->n_out || !gantry_xla_same_dims (l, n) || !read_window (l, &w))
    return;
  if (w.rank == 0 || by_kinds (l, body, n, &w) || !few_places (l, &w))
    {
      if (w.rank == 0)
        gantry_xla_refuse (l, "a window over a scalar");
      return;
    }
  for (guint i = 0; i < n; i++)
    {
      wide[i] = padded (l, gantry_xla_in (l, i), gantry_xla_in (l, n + i), &w);
      arguments[i] = gantry_builder_broadcast (l->b, gantry_xla_in (l, n + i), w.rank, w.out, NULL);
    }
  for (gint64 place = 0; place < w.places && !l->failed; place++)
    {
      for (guint i = 0; i < n; i++)
        arguments[n + i] = at_place (l, wide[i], &w, place);
      if (gantry_xla_apply (l, body, arguments, 2 * n, l->out, n, arguments[n]))
        memcpy (arguments, l->out, sizeof *arguments * n);
    }
}

/* select_and_scatter: of each window the place that is selected gets the source's value. */

typedef struct
{
  guint32 best, where; /* the selected value and the place it has, of each window */
} Selected;

static gboolean
select_places (XlaLower *l, guint32 body, guint32 x, guint32 inside, const Window *w, Selected *selected)
{
  for (gint64 place = 0; place < w->places && !l->failed; place++)
    {
      guint32 value = at_place (l, x, w, place), real = at_place (l, inside, w, place);
      guint32 number = gantry_xla_like (l, real, 0), arguments[2], keeps;

      number = gantry_xla_spread (l, gantry_builder_int_scalar (l->b, GANTRY_I32, place), value);
      if (selected->best == 0)
        {
          /* Places in the padding are never selected. */
          selected->best = value;
          selected->where = gantry_xla_select (l, real, number, gantry_xla_like (l, number, -1));
          continue;
        }
      arguments[0] = selected->best;
      arguments[1] = value;
      if (!gantry_xla_apply (l, body, arguments, 2, &keeps, 1, value))
        return FALSE;
      keeps = gantry_xla_binary (l, GANTRY_OP_AND, keeps, gantry_xla_compare (l, "GE", selected->where, gantry_xla_like (l, selected->where, 0)));
      keeps = gantry_xla_binary (l, GANTRY_OP_OR, keeps, gantry_xla_unary (l, GANTRY_OP_NOT, real));
      selected->best = gantry_xla_select (l, keeps, selected->best, value);
      selected->where = gantry_xla_select (l, keeps, selected->where, number);
    }
  return !l->failed;
}

/* The values for one place of the windows, put where it lies in the operand. */
static guint32
put_back (XlaLower *l, guint32 values, guint32 zero, const Window *w, gint64 place)
{
  const GantryType *type = gantry_xla_type (l, gantry_xla_in (l, 0));
  gint64 low[GANTRY_MAX_RANK], high[GANTRY_MAX_RANK], interior[GANTRY_MAX_RANK];

  for (guint i = w->rank; i-- > 0;)
    {
      gint64 start = place % w->window[i] - w->padding[2 * i];

      low[i] = start;
      interior[i] = w->strides[i] - 1;
      high[i] = type->dims[i] - (start + (w->out[i] - 1) * w->strides[i] + 1);
      place /= w->window[i];
    }
  return gantry_builder_pad_if_any (l->b, values, zero, low, high, interior);
}

static void
select_and_scatter (XlaLower *l)
{
  guint32 choose = gantry_xla_region (l, 0), scatter = gantry_xla_region (l, 1);
  const char *kind = scatter != 0 ? gantry_xla_body_kind (l, scatter, 0, 1) : NULL;
  guint32 x = gantry_xla_in (l, 0), source = gantry_xla_in (l, 1), init = gantry_xla_in (l, 2), sum, zero, all;
  Selected selected = { 0, 0 };
  Window w;

  if (l->failed || !read_window (l, &w) || !few_places (l, &w))
    return;
  if (kind == NULL || strcmp (kind, "add") != 0)
    {
      gantry_xla_refuse (l, "a scatter body that is no sum");
      return;
    }
  zero = gantry_xla_zero (l, gantry_xla_element (l, x));
  all = gantry_xla_spread (l, gantry_builder_int_scalar (l->b, GANTRY_BOOL, 1), x);
  all = padded (l, all, gantry_builder_int_scalar (l->b, GANTRY_BOOL, 0), &w);
  if (!select_places (l, choose, padded (l, x, zero, &w), all, &w, &selected))
    return;
  sum = gantry_xla_spread (l, init, x);
  for (gint64 place = 0; place < w.places && !l->failed; place++)
    {
      guint32 number = gantry_builder_int_scalar (l->b, GANTRY_I32, place);
      guint32 here = gantry_xla_select (l, gantry_xla_compare (l, "EQ", selected.where, number), source, gantry_xla_like (l, source, 0));

      sum = gantry_xla_binary (l, GANTRY_OP_ADD, sum, put_back (l, here, zero, &w, place));
    }
  l->out[0] = sum;
}

const XlaRule gantry_xla_window_rules[] = {
  { "reduce_window", reduce_window, GANTRY_CLASS_REDUCTION, XLA_TAKES (2, 0) | XLA_OR_MORE, 0 },
  { "select_and_scatter", select_and_scatter, GANTRY_CLASS_REDUCTION, XLA_TAKES (3, 1), 0 },
  { NULL, NULL, 0, 0, 0 },
};
