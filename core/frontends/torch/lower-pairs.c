/* SPDX-License-Identifier: Apache-2.0 */
/* Products, distances and lookups made of others: bilinear forms, outer products, similarities, normalized weights, bags of rows. */
#include "core/frontends/torch/lower-words-private.h"

static guint32
with_axis (AtenLower *l, guint32 x, gint64 at)
{
  GantryDim dims[GANTRY_MAX_RANK];
  guint rank = gantry_aten_rank (l, x);

  if (x == 0 || rank >= GANTRY_MAX_RANK)
    return 0;
  for (gint64 i = 0; i <= (gint64) rank; i++)
    dims[i] = i == at ? 1 : gantry_aten_dim (l, x, i > at ? i - 1 : i);
  return gantry_builder_reshape (l->b, x, rank + 1, dims);
}

static guint32
sum_last (AtenLower *l, guint32 x, gboolean keep)
{
  gint64 axis = (gint64) gantry_aten_rank (l, x) - 1;

  return gantry_builder_reduce_axes (l->b, "add", x, &axis, 1, keep);
}

/* y[..., k] = sum over i, j of x1[..., i] w[k, i, j] x2[..., j], plus the bias */
static void
bilinear (AtenLower *l)
{
  guint32 x = gantry_aten_need (l, "input1"), y = gantry_aten_need (l, "input2"), w = gantry_aten_need (l, "weight"), bias = gantry_aten_in (l, "bias"), form;
  const GantryType *type = gantry_aten_declared (l, 0);
  GantryDim rows, k, i, j;

  if (gantry_aten_rank (l, w) != 3 || gantry_aten_rank (l, x) < 1 || gantry_aten_rank (l, y) != gantry_aten_rank (l, x))
    {
      gantry_aten_refuse (l, "weights of %u dimensions", gantry_aten_rank (l, w));
      return;
    }
  k = gantry_aten_dim (l, w, 0), i = gantry_aten_dim (l, w, 1), j = gantry_aten_dim (l, w, 2);
  rows = i > 0 ? gantry_type_elements (gantry_aten_type (l, x)) / i : 0;
  x = gantry_builder_reshape (l->b, x, 2, (GantryDim[]){ rows, i });
  y = gantry_builder_reshape (l->b, y, 3, (GantryDim[]){ rows, 1, j });
  w = gantry_builder_reshape (l->b, gantry_builder_swap_axes (l->b, w, 0, 1), 2, (GantryDim[]){ i, k * j });
  form = gantry_builder_reshape (l->b, gantry_aten_matmul (l, x, w), 3, (GantryDim[]){ rows, k, j });
  form = gantry_builder_reshape (l->b, sum_last (l, BINARY (MULTIPLY, form, y), FALSE), type->rank, type->dims);
  l->out[0] = bias != 0 ? BINARY (ADD, form, bias) : form;
}

/* What a bilinear form decomposes into: three operands with axes of 1 put in, multiplied, and summed over some of the axes. */
static void
trilinear (AtenLower *l)
{
  static const char *const names[3][2] = { { "i1", "expand1" }, { "i2", "expand2" }, { "i3", "expand3" } };
  gint64 axes[GANTRY_MAX_RANK];
  guint32 product = 0;

  for (guint i = 0; i < 3 && !l->failed; i++)
    {
      guint32 x = gantry_aten_need (l, names[i][0]);
      guint rank = gantry_aten_rank (l, x);
      gsize n = 0;
      const gint64 *expanded = gantry_aten_ints (l, names[i][1], &n);
      gboolean is_new[GANTRY_MAX_RANK] = { FALSE };

      if (rank + n > GANTRY_MAX_RANK)
        return;
      for (gsize k = 0; k < n; k++)
        is_new[gantry_aten_axis (l, expanded[k], rank + (guint) n)] = TRUE;
      for (guint k = 0; k < rank + n; k++)
        x = is_new[k] ? with_axis (l, x, k) : x;
      product = i == 0 ? x : BINARY (MULTIPLY, product, x);
    }
  if (product != 0)
    l->out[0] = gantry_builder_reduce_axes (l->b, "add", product, axes, gantry_aten_axes (l, "sumdim", gantry_aten_rank (l, product), axes), FALSE);
}

static void
outer (AtenLower *l)
{
  guint32 x = gantry_aten_need (l, "self"), y = gantry_aten_need (l, "vec2");

  l->out[0] = BINARY (MULTIPLY, gantry_builder_along (l->b, x, 2, 0), gantry_builder_along (l->b, y, 2, 1));
}

static void
inner (AtenLower *l)
{
  l->out[0] = sum_last (l, BINARY (MULTIPLY, gantry_aten_need (l, "self"), gantry_aten_need (l, "other")), FALSE);
}

/* Each norm is at least eps. */
static void
cosine_similarity (AtenLower *l)
{
  guint32 x = gantry_builder_widen (l->b, gantry_aten_need (l, "x1")), y = gantry_builder_widen (l->b, gantry_aten_need (l, "x2")), sides[2] = { x, y };
  double eps = gantry_aten_number (l, "eps", 1e-8);
  guint rank = MAX (gantry_aten_rank (l, x), gantry_aten_rank (l, y));
  gint64 axis = gantry_aten_axis (l, gantry_aten_int (l, "dim", 1), rank);

  for (guint i = 0; i < 2; i++)
    {
      gint64 own = axis - ((gint64) rank - gantry_aten_rank (l, sides[i]));
      guint32 length = own < 0 ? UNARY (ABS, sides[i])
                               : UNARY (SQRT, gantry_builder_reduce_axes (l->b, "add", BINARY (MULTIPLY, sides[i], sides[i]), &own, 1, TRUE));

      sides[i] = BINARY (DIVIDE, sides[i], BINARY (MAXIMUM, length, LIKE (length, eps)));
    }
  l->out[0] = gantry_builder_reduce_axes (l->b, "add", BINARY (MULTIPLY, sides[0], sides[1]), &axis, 1, FALSE);
}

/* The p-norm along the last axis. */
static guint32
norm_last (AtenLower *l, guint32 x, double p, gboolean keep)
{
  gint64 axis = (gint64) gantry_aten_rank (l, x) - 1;

  x = UNARY (ABS, x);
  if (isinf (p))
    return gantry_builder_reduce_axes (l->b, "max", x, &axis, 1, keep);
  if (p == 0)
    return sum_last (l, gantry_builder_convert (l->b, gantry_builder_compare (l->b, "NE", x, LIKE (x, 0)), gantry_aten_element (l, x)), keep);
  if (p == 1)
    return sum_last (l, x, keep);
  if (p == 2)
    return UNARY (SQRT, sum_last (l, BINARY (MULTIPLY, x, x), keep));
  return BINARY (POWER, sum_last (l, BINARY (POWER, x, LIKE (x, p)), keep), LIKE (x, 1 / p));
}

static void
pairwise_distance (AtenLower *l)
{
  guint32 x = gantry_builder_widen (l->b, BINARY (SUBTRACT, gantry_aten_need (l, "x1"), gantry_aten_need (l, "x2")));

  l->out[0] = norm_last (l, gantry_builder_offset (l->b, x, gantry_aten_number (l, "eps", 1e-6)), gantry_aten_number (l, "p", 2),
                         gantry_aten_int (l, "keepdim", 0) != 0);
}

/* All rows of one against all of the other. */
static void
all_distances (AtenLower *l)
{
  guint32 x = gantry_builder_widen (l->b, gantry_aten_need (l, "x1")), y = gantry_builder_widen (l->b, gantry_aten_need (l, "x2"));
  gint64 at_x = (gint64) gantry_aten_rank (l, x) - 1, at_y = (gint64) gantry_aten_rank (l, y) - 2;

  if (at_x < 1 || at_y < 0)
    {
      gantry_aten_refuse (l, "vectors");
      return;
    }
  l->out[0] = norm_last (l, BINARY (SUBTRACT, with_axis (l, x, at_x), with_axis (l, y, at_y)), gantry_aten_number (l, "p", 2), FALSE);
}

/* g v / |v|, the norm over all axes but one; -1: over all */
static void
weight_norm (AtenLower *l)
{
  guint32 v = gantry_aten_need (l, "v"), g = gantry_aten_need (l, "g"), length;
  guint rank = gantry_aten_rank (l, v), n = 0;
  gint64 kept = gantry_aten_int (l, "dim", 0), axes[GANTRY_MAX_RANK];

  for (guint i = 0; i < rank; i++)
    if (i != kept)
      axes[n++] = i;
  length = UNARY (SQRT, gantry_builder_reduce_axes (l->b, "add", BINARY (MULTIPLY, v, v), axes, n, TRUE));
  l->out[0] = BINARY (MULTIPLY, v, BINARY (DIVIDE, g, length));
}

enum
{
  BAG_SUM,
  BAG_MEAN,
  BAG_MAX
};

/* Which places belong to which bag: from one offset to the next. [bags, places] */
static guint32
bag_members (AtenLower *l, guint32 offsets, gint64 bags, gint64 places)
{
  GantryDim dims[] = { bags, places };
  guint32 place = gantry_aten_iota (l, 2, dims, 1), begin, end;
  gint64 high = 1, low = 0;

  offsets = gantry_builder_convert (l->b, offsets, GANTRY_I64);
  begin = gantry_builder_slice_axis (l->b, offsets, 0, 0, bags, 1);
  end = gantry_builder_slice_axis (l->b, offsets, 0, 1, gantry_aten_dim (l, offsets, 0), 1);
  if (gantry_aten_dim (l, offsets, 0) == bags)
    end = gantry_builder_pad (l->b, end, gantry_builder_int_scalar (l->b, GANTRY_I64, places), &low, &high, &low);
  return BINARY (AND, gantry_builder_compare (l->b, "GE", place, gantry_builder_along (l->b, begin, 2, 0)),
                 gantry_builder_compare (l->b, "LT", place, gantry_builder_along (l->b, end, 2, 0)));
}

/* Rows of a table, summed, averaged or the largest of each bag. */
static void
embedding_bag (AtenLower *l)
{
  guint32 table = gantry_aten_need (l, "weight"), indices = gantry_aten_need (l, "indices"), offsets = gantry_aten_need (l, "offsets"),
          weights = gantry_aten_in (l, "per_sample_weights"), rows, members, sum, count;
  const GantryType *type = gantry_aten_declared (l, 0);
  gint64 mode = gantry_aten_int (l, "mode", 0), padding = gantry_aten_int (l, "padding_idx", -1), places = gantry_aten_dim (l, indices, 0), last = 1;

  if (gantry_aten_rank (l, table) != 2 || gantry_aten_rank (l, indices) != 1 || gantry_aten_rank (l, offsets) != 1 || type->rank != 2 || mode < BAG_SUM
      || mode > BAG_MAX)
    {
      gantry_aten_refuse (l, "bags of these dimensions");
      return;
    }
  rows = gantry_builder_take (l->b, table, 0, gantry_builder_convert (l->b, indices, GANTRY_I64));
  members = bag_members (l, offsets, type->dims[0], places);
  if (padding >= 0)
    members = BINARY (AND, members,
                      gantry_builder_along (l->b,
                                            gantry_builder_compare (l->b, "NE", indices,
                                                                    gantry_builder_convert (l->b, gantry_builder_int_scalar (l->b, GANTRY_I64, padding),
                                                                                            gantry_aten_element (l, indices))),
                                            2, 1));
  count = sum_last (l, gantry_builder_convert (l->b, members, gantry_aten_element (l, rows)), TRUE);
  if (weights != 0)
    rows = BINARY (MULTIPLY, rows, gantry_builder_along (l->b, weights, 2, 0));
  if (mode == BAG_MAX)
    {
      guint32 each = gantry_builder_select (l->b, with_axis (l, members, 2), with_axis (l, rows, 0), LIKE (rows, -INFINITY));

      sum = gantry_builder_reduce_axes (l->b, "max", each, &last, 1, FALSE);
      sum = gantry_builder_select (l->b, gantry_builder_compare (l->b, "EQ", count, LIKE (count, 0)), LIKE (sum, 0), sum);
    }
  else
    sum = gantry_aten_matmul (l, gantry_builder_convert (l->b, members, gantry_aten_element (l, rows)), rows);
  l->out[0] = mode == BAG_MEAN ? BINARY (DIVIDE, sum, BINARY (MAXIMUM, count, LIKE (count, 1))) : sum;
}

/* clang-format off */
#define RULE(name, function) { name, function, GANTRY_CLASS_CONTRACTION, 0, NULL }

const AtenRule gantry_aten_pairs_rules[] = {
  RULE ("bilinear", bilinear), RULE ("_trilinear", trilinear), RULE ("outer", outer), RULE ("ger", outer), RULE ("vdot", inner),
  RULE ("cosine_similarity", cosine_similarity),
  RULE ("pairwise_distance", pairwise_distance), RULE ("cdist", all_distances), RULE ("_cdist_forward", all_distances), RULE ("_weight_norm", weight_norm),
  RULE ("embedding_bag", embedding_bag), RULE ("_embedding_bag", embedding_bag), RULE ("_embedding_bag_forward_only", embedding_bag),
  { NULL },
};
/* clang-format on */
