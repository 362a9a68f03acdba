/* SPDX-License-Identifier: Apache-2.0 */
/* What follows from the order of values: medians, quantiles, running extremes, and places in what is sorted. */
#include "core/frontends/torch/lower-words-private.h"

/* Values and positions along @axis, ascending; what is no number is last. Returns: FALSE with an error */
static gboolean
sorted (AtenLower *l, guint32 x, gint64 axis, guint32 parts[2])
{
  GantryAttrList *attrs = gantry_attr_list_new (l->context);
  guint32 pair;

  gantry_attr_list_set_int (attrs, "dimension", axis);
  gantry_attr_list_set_int (attrs, "stable", 1);
  pair = gantry_aten_add (l, GANTRY_OP_SORT, attrs, 2, x, gantry_aten_iota (l, gantry_aten_rank (l, x), gantry_aten_type (l, x)->dims, axis));
  for (guint i = 0; i < 2; i++)
    parts[i] = pair != 0 ? gantry_builder_result (l->b, pair, i) : 0;
  return pair != 0;
}

/* The operand and the axis that is meant: all elements as one where none is given. */
static guint32
lined_up (AtenLower *l, const char *name, gint64 fallback, gint64 *axis)
{
  guint32 x = gantry_aten_need (l, "self");
  guint rank = gantry_aten_rank (l, x);
  GantryDim n = gantry_type_elements (gantry_aten_type (l, x));
  gboolean whole = rank == 0 || (fallback == G_MAXINT64 && !gantry_aten_has (l, name));

  *axis = whole ? 0 : gantry_aten_axis (l, gantry_aten_int (l, name, fallback), rank);
  x = whole ? gantry_builder_reshape (l->b, x, 1, &n) : x;
  if (!l->failed && gantry_aten_dim (l, x, *axis) == 0)
    gantry_aten_refuse (l, "no elements");
  return l->failed ? 0 : x;
}

/* Element @at of each row, and where it was; a median of what has a NaN is that. */
static void
pick (AtenLower *l)
{
  gboolean median = l->rule->arg;
  gint64 axis, at;
  guint32 x = lined_up (l, "dim", median ? G_MAXINT64 : -1, &axis), parts[2], unknown, first;

  at = median ? (gantry_aten_dim (l, x, axis) - 1) / 2 : gantry_aten_int (l, "k", 1) - 1;
  if (x != 0 && (at < 0 || at >= gantry_aten_dim (l, x, axis)))
    gantry_aten_refuse (l, "element %" G_GINT64_FORMAT " of %" G_GINT64_FORMAT, at + 1, gantry_aten_dim (l, x, axis));
  if (x == 0 || l->failed || !sorted (l, x, axis, parts))
    return;
  for (guint i = 0; i < 2; i++)
    {
      first = gantry_builder_slice_axis (l->b, parts[i], axis, at, at + 1, 1);
      if (median && gantry_element_is_float (gantry_aten_element (l, x)))
        {
          guint32 last = gantry_builder_slice_axis (l->b, parts[0], axis, gantry_aten_dim (l, x, axis) - 1, gantry_aten_dim (l, x, axis), 1);

          unknown = UNARY (IS_NAN, last);
          /* The first of them, in the order of the positions. */
          last = i == 0 ? last : gantry_aten_position (l, x, last, axis);
          first = gantry_builder_select (l->b, unknown, last, first);
        }
      if (i < l->n_out)
        gantry_aten_give (l, i, first);
    }
}

/* The k-th of n sorted values between two of them. */
static void
quantile (AtenLower *l)
{
  gint64 axis;
  guint32 x = lined_up (l, "dim", G_MAXINT64, &axis), parts[2], low, high, last;
  const char *method = gantry_aten_string (l, "interpolation", "linear");
  double q = gantry_aten_number (l, "q", -1), place, share;
  gint64 n = x != 0 ? gantry_aten_dim (l, x, axis) : 0;

  if (x != 0 && !(q >= 0 && q <= 1))
    gantry_aten_refuse (l, "'q' is no number from 0 to 1 that is known before it runs");
  if (x == 0 || l->failed || !sorted (l, x, axis, parts))
    return;
  /* torch has q in the input's elements, and the place in f64: of 0.2 of six numbers in f32 "higher" takes the third. */
  place = (gantry_aten_element (l, x) == GANTRY_F64 ? q : (double) (float) q) * (double) (n - 1);
  share = place - floor (place);
  if (strcmp (method, "lower") == 0)
    share = 0;
  else if (strcmp (method, "higher") == 0)
    share = share > 0;
  else if (strcmp (method, "nearest") == 0)
    share = rint (place) - floor (place);
  else if (strcmp (method, "midpoint") == 0)
    share = share > 0 ? 0.5 : 0;
  else if (strcmp (method, "linear") != 0)
    gantry_aten_refuse (l, "interpolation '%s'", method);
  low = gantry_builder_slice_axis (l->b, parts[0], axis, (gint64) place, (gint64) place + 1, 1);
  high = gantry_builder_slice_axis (l->b, parts[0], axis, MIN ((gint64) place + 1, n - 1), MIN ((gint64) place + 2, n), 1);
  last = gantry_builder_slice_axis (l->b, parts[0], axis, n - 1, n, 1);
  if (share > 0)
    low = share < 1 ? BINARY (ADD, low, gantry_builder_scale (l->b, BINARY (SUBTRACT, high, low), share)) : high;
  gantry_aten_give (l, 0, gantry_builder_select (l->b, UNARY (IS_NAN, last), last, low));
}

/* The largest or smallest so far, and the last place that it was at; what is no number stays from there on. */
static void
running_extreme (AtenLower *l)
{
  gint64 axis;
  guint32 x = lined_up (l, "dim", 0, &axis), best, is_best, places;

  if (x == 0)
    return;
  best = gantry_aten_running (l, l->rule->text, x, axis);
  is_best = gantry_builder_compare (l->b, "EQ", x, best);
  if (gantry_element_is_float (gantry_aten_element (l, x)))
    is_best = BINARY (OR, is_best, UNARY (IS_NAN, x));
  places = gantry_aten_iota (l, gantry_aten_rank (l, x), gantry_aten_type (l, x)->dims, axis);
  places = gantry_builder_select (l->b, is_best, places, LIKE (places, 0));
  gantry_aten_give (l, 0, best);
  if (l->n_out > 1)
    gantry_aten_give (l, 1, gantry_aten_running (l, "max", places, axis));
}

#define MOST_PAIRS ((gint64) 1 << 28)

/* How many of the boundaries are below each value: each is compared with all. */
static void
places_in (AtenLower *l)
{
  gboolean bucketize = l->rule->arg;
  guint32 bounds = gantry_aten_need (l, bucketize ? "boundaries" : "sorted_sequence"), x = gantry_aten_in (l, bucketize ? "self" : "input");
  const GantryType *type = gantry_aten_declared (l, 0);
  gboolean right = gantry_aten_int (l, "right", 0) != 0 || strcmp (gantry_aten_string (l, "side", "left"), "right") == 0;
  gint64 last = type->rank, n;
  GantryDim dims[GANTRY_MAX_RANK];
  guint rank = gantry_aten_rank (l, bounds);
  guint32 below;

  if (gantry_aten_in (l, "sorter") != 0)
    gantry_aten_refuse (l, "boundaries sorted by another tensor ('sorter')");
  x = x == 0 ? gantry_aten_in (l, "self") : x;
  x = x == 0 ? gantry_builder_like (l->b, bounds, gantry_aten_number (l, "self", 0)) : x;
  n = gantry_aten_dim (l, bounds, (gint64) rank - 1);
  if (bounds == 0 || x == 0 || rank == 0 || type->rank + 1 > GANTRY_MAX_RANK || (rank > 1 && rank != type->rank)
      || gantry_type_elements (type) * MAX (n, 1) > MOST_PAIRS)
    gantry_aten_refuse (l, "boundaries of %u dimensions, or more than %" G_GINT64_FORMAT " comparisons", rank, MOST_PAIRS);
  if (l->failed)
    return;
  if (gantry_element_is_float (gantry_aten_element (l, x)) && !gantry_element_is_float (gantry_aten_element (l, bounds)))
    bounds = gantry_builder_convert (l->b, bounds, gantry_aten_element (l, x));
  x = gantry_builder_convert (l->b, x, gantry_aten_element (l, bounds));
  memcpy (dims, type->dims, sizeof *dims * type->rank);
  dims[type->rank] = 1;
  x = gantry_builder_reshape (l->b, x, type->rank + 1, dims);
  for (guint i = 0; i <= type->rank; i++)
    dims[i] = i == type->rank ? n : i + 1 < type->rank && rank > 1 ? type->dims[i] : 1;
  bounds = gantry_builder_reshape (l->b, bounds, type->rank + 1, dims);
  for (guint i = 0; i < type->rank; i++)
    dims[i] = type->dims[i];
  below = gantry_builder_compare (l->b, right ? "LE" : "LT", gantry_builder_broadcast_to (l->b, bounds, type->rank + 1, dims),
                                  gantry_builder_broadcast_to (l->b, x, type->rank + 1, dims));
  l->out[0] = gantry_builder_reduce_axes (l->b, "add", gantry_builder_convert (l->b, below, GANTRY_I64), &last, 1, FALSE);
}

static void
both_extremes (AtenLower *l)
{
  guint32 x = gantry_aten_need (l, "self");
  gint64 axes[GANTRY_MAX_RANK];
  guint rank = gantry_aten_rank (l, x), n = rank == 0 ? 0 : gantry_aten_axes (l, "dim", rank, axes);

  for (guint i = 0; i < MIN (l->n_out, 2); i++)
    gantry_aten_give (l, i, gantry_builder_reduce_axes (l->b, i == 0 ? "min" : "max", x, axes, n, TRUE));
}

/* clang-format off */
#define RULE(name, function, arg, text) { name, function, GANTRY_CLASS_OTHER, arg, text }

const AtenRule gantry_aten_order_rules[] = {
  RULE ("median", pick, TRUE, NULL), RULE ("kthvalue", pick, FALSE, NULL), RULE ("quantile", quantile, 0, NULL),
  RULE ("cummax", running_extreme, 0, "max"), RULE ("cummin", running_extreme, 0, "min"),
  RULE ("searchsorted", places_in, FALSE, NULL), RULE ("bucketize", places_in, TRUE, NULL), RULE ("aminmax", both_extremes, 0, NULL),
  { NULL },
};
/* clang-format on */
