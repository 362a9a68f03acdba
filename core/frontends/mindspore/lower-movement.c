/* SPDX-License-Identifier: Apache-2.0 */
/* What arranges elements and makes new ones: shapes, slices, joins, fills. */
#include "core/frontends/mindspore/lower-private.h"

/* Shapes */

/* Argument "shape", -1 where it follows from the rest. Returns: how many dimensions; -1 with what is wrong */
static gint
read_shape (MindLower *l, gint64 *dims)
{
  gint n = gantry_mind_ints (l, "shape", dims, GANTRY_MAX_RANK);

  if (n < 0)
    gantry_mind_refuse (l, "the shape is missing");
  for (gint i = 0; i < n; i++)
    if (dims[i] < -1)
      gantry_mind_refuse (l, "dimension %d of its shape is %" G_GINT64_FORMAT, i, dims[i]);
  return l->failed ? -1 : n;
}

static void
reshape (MindLower *l)
{
  guint32 x = gantry_mind_need (l, "x");
  gint64 dims[GANTRY_MAX_RANK];
  gint n = read_shape (l, dims);

  if (n >= 0)
    l->out[0] = gantry_builder_reshape (l->b, x, (guint) n, dims);
}

static void
expand_dims (MindLower *l)
{
  guint32 x = gantry_mind_need (l, "x");
  guint rank = gantry_mind_rank (l, x);
  gint64 axis = gantry_mind_axis (l, gantry_mind_int (l, "axis", 0), rank + 1);
  GantryDim dims[GANTRY_MAX_RANK + 1];

  if (rank >= GANTRY_MAX_RANK)
    gantry_mind_refuse (l, "it has %u dimensions already", rank);
  for (guint i = 0, k = 0; i <= rank; i++)
    dims[i] = i == axis ? 1 : gantry_mind_dim (l, x, k++);
  l->out[0] = l->failed ? 0 : gantry_builder_reshape (l->b, x, rank + 1, dims);
}

static void
squeeze (MindLower *l)
{
  guint32 x = gantry_mind_need (l, "x");
  gint64 axes[GANTRY_MAX_RANK], list[GANTRY_MAX_RANK];
  guint rank = gantry_mind_rank (l, x), n = gantry_mind_axes (l, "axis", rank, axes), n_dims = 0;
  gboolean all = gantry_mind_ints (l, "axis", list, GANTRY_MAX_RANK) <= 0;
  GantryDim dims[GANTRY_MAX_RANK];

  for (guint i = 0; i < rank; i++)
    {
      gboolean drop = FALSE;

      for (guint k = 0; k < n; k++)
        drop = drop || axes[k] == i;
      if (drop && !all && gantry_mind_dim (l, x, i) != 1)
        gantry_mind_refuse (l, "dimension %u is not 1", i);
      if (!drop || gantry_mind_dim (l, x, i) != 1)
        dims[n_dims++] = gantry_mind_dim (l, x, i);
    }
  l->out[0] = l->failed ? 0 : gantry_builder_reshape (l->b, x, n_dims, dims);
}

/* Dimensions from start to end become one. */
static void
flatten (MindLower *l)
{
  guint32 x = gantry_mind_need (l, "x");
  guint rank = gantry_mind_rank (l, x), n = 0;
  gint64 start = gantry_mind_axis (l, gantry_mind_int (l, "start_dim", l->rule->arg), MAX (rank, 2)),
         end = gantry_mind_axis (l, gantry_mind_int (l, "end_dim", -1), rank);
  GantryDim dims[GANTRY_MAX_RANK + 1] = { 1, 1 }, joined = 1;

  for (gint64 i = 0; i < rank; i++)
    if (i < start || i > end)
      dims[n++] = gantry_mind_dim (l, x, i);
    else
      {
        joined = gantry_dim_multiply (joined, gantry_mind_dim (l, x, i));
        if (i == end)
          dims[n++] = joined;
      }
  if (start >= rank) /* a vector of samples */
    dims[n++] = 1;
  l->out[0] = l->failed ? 0 : gantry_builder_reshape (l->b, x, n, dims);
}

static void
transpose (MindLower *l)
{
  guint32 x = gantry_mind_need (l, "x");
  gint64 permutation[GANTRY_MAX_RANK];
  guint rank = gantry_mind_rank (l, x);

  if (gantry_mind_ints (l, "perm", permutation, GANTRY_MAX_RANK) != (gint) rank)
    {
      gantry_mind_refuse (l, "its permutation does not fit %u dimensions", rank);
      return;
    }
  for (guint i = 0; i < rank; i++)
    permutation[i] = gantry_mind_axis (l, permutation[i], rank);
  l->out[0] = l->failed ? 0 : gantry_builder_transpose (l->b, x, permutation);
}

static void
swap_axes (MindLower *l)
{
  guint32 x = gantry_mind_need (l, "x");
  guint rank = gantry_mind_rank (l, x);

  l->out[0] = gantry_builder_swap_axes (l->b, x, gantry_mind_axis (l, gantry_mind_int (l, "dim0", 0), rank),
                                        gantry_mind_axis (l, gantry_mind_int (l, "dim1", 1), rank));
}

static void
broadcast_to (MindLower *l)
{
  guint32 x = gantry_mind_need (l, "x");
  gint64 dims[GANTRY_MAX_RANK];
  gint n = read_shape (l, dims), rank = (gint) gantry_mind_rank (l, x);

  for (gint i = 0; i < n; i++)
    if (dims[i] == -1 && i < n - rank)
      gantry_mind_refuse (l, "dimension %d of its shape is -1, and the tensor has none there", i);
    else if (dims[i] == -1)
      dims[i] = gantry_mind_dim (l, x, (guint) (i - (n - rank)));
  l->out[0] = l->failed ? 0 : gantry_builder_broadcast_to (l->b, x, (guint) n, dims);
}

/* Each dimension so many times: as a dimension of its own, broadcast, and joined with it. */
static void
tile (MindLower *l)
{
  guint32 x = gantry_mind_need (l, "x");
  gint64 times[GANTRY_MAX_RANK];
  gint n = gantry_mind_ints (l, "multiples", times, GANTRY_MAX_RANK / 2), rank = (gint) gantry_mind_rank (l, x), all = MAX (n, rank);
  GantryDim split[GANTRY_MAX_RANK], wide[GANTRY_MAX_RANK], joined[GANTRY_MAX_RANK];

  if (n < 0 || all > GANTRY_MAX_RANK / 2)
    gantry_mind_refuse (l, "the number of repetitions is missing or too long");
  for (gint i = 0; i < all && !l->failed; i++)
    {
      GantryDim size = i < all - rank ? 1 : gantry_mind_dim (l, x, i - (all - rank));
      gint64 count = i < all - n ? 1 : times[i - (all - n)];

      split[2 * i] = 1;
      wide[2 * i] = count;
      split[2 * i + 1] = wide[2 * i + 1] = size;
      joined[i] = gantry_dim_multiply (MAX (count, 0), size);
    }
  if (l->failed)
    return;
  x = gantry_builder_broadcast_to (l->b, gantry_builder_reshape (l->b, x, (guint) (2 * all), split), (guint) (2 * all), wide);
  l->out[0] = gantry_builder_reshape (l->b, x, (guint) all, joined);
}

/* Joining and splitting */

/* The members of a tuple in one element type. */
static guint
read_list (MindLower *l, guint32 *xs, guint most)
{
  guint n = gantry_mind_list_length (l, "x");

  if (n == 0 || n > most)
    {
      gantry_mind_refuse (l, "it takes %u tensors", n);
      return 0;
    }
  for (guint i = 0; i < n; i++)
    xs[i] = gantry_builder_convert (l->b, gantry_mind_in_list (l, "x", i), gantry_mind_result_element (l, gantry_mind_in_list (l, "x", 0)));
  return n;
}

static void
concatenate (MindLower *l)
{
  g_autofree guint32 *xs = g_new0 (guint32, l->n_in + 1);
  guint n = read_list (l, xs, l->n_in);
  gint64 axis = gantry_mind_axis (l, gantry_mind_int (l, "axis", 0), gantry_mind_rank (l, n > 0 ? xs[0] : 0));

  l->out[0] = l->failed ? 0 : gantry_builder_concatenate (l->b, xs, n, axis);
}

static guint32
with_axis (MindLower *l, guint32 x, gint64 axis)
{
  guint rank = gantry_mind_rank (l, x);
  GantryDim dims[GANTRY_MAX_RANK + 1];

  for (guint i = 0, k = 0; i <= rank; i++)
    dims[i] = i == axis ? 1 : gantry_mind_dim (l, x, k++);
  if (rank >= GANTRY_MAX_RANK)
    gantry_mind_refuse (l, "it has %u dimensions already", rank);
  return l->failed ? 0 : gantry_builder_reshape (l->b, x, rank + 1, dims);
}

static void
stack (MindLower *l)
{
  g_autofree guint32 *xs = g_new0 (guint32, l->n_in + 1);
  guint n = read_list (l, xs, l->n_in);
  gint64 axis = gantry_mind_axis (l, gantry_mind_int (l, "axis", 0), gantry_mind_rank (l, n > 0 ? xs[0] : 0) + 1);

  for (guint i = 0; i < n; i++)
    xs[i] = with_axis (l, xs[i], axis);
  l->out[0] = l->failed ? 0 : gantry_builder_concatenate (l->b, xs, n, axis);
}

static guint32
without_axis (MindLower *l, guint32 x, gint64 axis)
{
  GantryDim dims[GANTRY_MAX_RANK];
  guint n = 0;

  for (guint i = 0; i < gantry_mind_rank (l, x); i++)
    if (i != axis)
      dims[n++] = gantry_mind_dim (l, x, i);
  return gantry_builder_reshape (l->b, x, n, dims);
}

static void
unstack (MindLower *l)
{
  guint32 x = gantry_mind_need (l, "x");
  gint64 axis = gantry_mind_axis (l, gantry_mind_int (l, "axis", 0), gantry_mind_rank (l, x));

  if (gantry_mind_dim (l, x, axis) != l->n_out)
    gantry_mind_refuse (l, "dimension %" G_GINT64_FORMAT " is not of %u", axis, l->n_out);
  for (guint i = 0; i < l->n_out && !l->failed; i++)
    l->out[i] = without_axis (l, gantry_builder_slice_axis (l->b, x, axis, i, i + 1, 1), axis);
}

/* arg: 'n' equal parts, 's' parts of one size, 'c' so many parts of one size */
static void
split (MindLower *l)
{
  guint32 x = gantry_mind_need (l, "x");
  gint64 axis = gantry_mind_axis (l, gantry_mind_int (l, "axis", gantry_mind_int (l, "split_dim", 0)), gantry_mind_rank (l, x)),
         n = gantry_mind_dim (l, x, axis), count = gantry_mind_int (l, "output_num", l->n_out), size, at = 0;
  g_autofree gint64 *sizes = g_new0 (gint64, l->n_out + 1);
  gint n_sizes = l->rule->arg == 'v' ? gantry_mind_ints (l, gantry_mind_has (l, "size_splits") ? "size_splits" : "sizes", sizes, l->n_out) : -1;

  size = l->rule->arg == 's' ? gantry_mind_int (l, "size", 1) : l->rule->arg == 'c' ? (n + MAX (count, 1) - 1) / MAX (count, 1) : n / MAX (count, 1);
  for (guint i = 0; i < l->n_out && !l->failed; i++)
    {
      gint64 own = l->rule->arg == 'v' ? ((gint) i < n_sizes ? sizes[i] : 0) : size, end;

      own = own < 0 ? n - at : own;
      end = MIN (at + own, n);
      if (own < 0 || at > n)
        gantry_mind_refuse (l, "its parts do not fit dimension %" G_GINT64_FORMAT, axis);
      else
        l->out[i] = gantry_builder_slice_axis (l->b, x, axis, at, end, 1);
      at = end;
    }
}

/* Slices */

/** One dimension of a strided slice. */
typedef struct
{
  gint64 start, limit, stride;
  gboolean drop, fresh, reverse;
} Cut;

/* Python's rules for a slice of @n elements. A negative stride is a positive one from the other end. */
static void
set_cut (Cut *cut, gint64 n, gint64 begin, gint64 end, gint64 stride, gboolean open_begin, gboolean open_end)
{
  gint64 count;

  begin = begin < 0 ? begin + n : begin;
  end = end < 0 ? end + n : end;
  if (stride > 0)
    {
      begin = open_begin ? 0 : CLAMP (begin, 0, n);
      end = open_end ? n : CLAMP (end, 0, n);
      *cut = (Cut){ begin, MAX (end, begin), stride };
      return;
    }
  begin = open_begin ? n - 1 : CLAMP (begin, -1, n - 1);
  end = open_end ? -1 : CLAMP (end, -1, n - 1);
  count = begin > end ? (begin - end - stride - 1) / -stride : 0;
  cut->stride = -stride;
  cut->start = count > 0 ? begin + (count - 1) * stride : 0;
  cut->limit = count > 0 ? begin + 1 : 0;
  cut->reverse = TRUE;
}

static guint32
apply_cuts (MindLower *l, guint32 x, const Cut *cuts, guint n)
{
  gint64 start[GANTRY_MAX_RANK], limit[GANTRY_MAX_RANK], stride[GANTRY_MAX_RANK], reversed[GANTRY_MAX_RANK];
  GantryDim dims[GANTRY_MAX_RANK];
  guint axis = 0, n_reversed = 0, n_dims = 0, k = 0;

  for (guint i = 0; i < n; i++)
    if (!cuts[i].fresh)
      {
        start[axis] = cuts[i].start;
        limit[axis] = cuts[i].limit;
        stride[axis] = cuts[i].stride;
        if (cuts[i].reverse)
          reversed[n_reversed++] = axis;
        axis++;
      }
  x = gantry_builder_reverse (l->b, gantry_builder_slice (l->b, x, start, limit, stride), reversed, n_reversed);
  for (guint i = 0; i < n && n_dims < GANTRY_MAX_RANK; i++)
    {
      if (!cuts[i].drop)
        dims[n_dims++] = cuts[i].fresh ? 1 : gantry_mind_dim (l, x, k);
      k += !cuts[i].fresh;
    }
  return gantry_builder_reshape (l->b, x, n_dims, dims);
}

static void
strided_slice (MindLower *l)
{
  guint32 x = gantry_mind_need (l, "x");
  gint64 begin[GANTRY_MAX_RANK], end[GANTRY_MAX_RANK], strides[GANTRY_MAX_RANK];
  gint n = gantry_mind_ints (l, "begin", begin, GANTRY_MAX_RANK), n_end = gantry_mind_ints (l, "end", end, GANTRY_MAX_RANK),
       n_strides = gantry_mind_ints (l, "strides", strides, GANTRY_MAX_RANK);
  gint64 open_begin = gantry_mind_int (l, "begin_mask", 0), open_end = gantry_mind_int (l, "end_mask", 0), ellipsis = gantry_mind_int (l, "ellipsis_mask", 0),
         fresh = gantry_mind_int (l, "new_axis_mask", 0), drop = gantry_mind_int (l, "shrink_axis_mask", 0);
  Cut cuts[2 * GANTRY_MAX_RANK] = { { 0 } };
  guint rank = gantry_mind_rank (l, x), axis = 0, n_cuts = 0;
  gint n_named = 0;

  if (n < 0 || n_end != n || n_strides != n)
    {
      gantry_mind_refuse (l, "its begin, end and strides are not of one length, or missing");
      return;
    }
  for (gint i = 0; i < n; i++)
    n_named += (fresh >> i & 1) == 0 && (ellipsis >> i & 1) == 0;
  for (gint i = 0; i < n && !l->failed; i++)
    {
      if ((ellipsis >> i & 1) != 0)
        for (gint k = (gint) rank - n_named; k > 0 && axis < rank; k--, axis++)
          cuts[n_cuts++] = (Cut){ 0, gantry_mind_dim (l, x, axis), 1 };
      else if ((fresh >> i & 1) != 0)
        cuts[n_cuts++].fresh = TRUE;
      else if (axis >= rank || strides[i] == 0 || strides[i] == G_MININT64)
        gantry_mind_refuse (l, "index %d has no dimension, or a stride that is none", i);
      else
        {
          gboolean single = (drop >> i & 1) != 0;
          gint64 size = gantry_mind_dim (l, x, axis), at = begin[i] < 0 ? begin[i] + size : begin[i];

          if (single)
            cuts[n_cuts] = (Cut){ at, at + 1, 1, TRUE };
          else
            set_cut (&cuts[n_cuts], size, begin[i], end[i], strides[i], open_begin >> i & 1, open_end >> i & 1);
          if (single && (at < 0 || at >= size))
            gantry_mind_refuse (l, "index %" G_GINT64_FORMAT " is outside of dimension %u", begin[i], axis);
          n_cuts++;
          axis++;
        }
    }
  for (; axis < rank && n_cuts < G_N_ELEMENTS (cuts); axis++)
    cuts[n_cuts++] = (Cut){ 0, gantry_mind_dim (l, x, axis), 1 };
  l->out[0] = l->failed ? 0 : apply_cuts (l, x, cuts, n_cuts);
}

static void
slice (MindLower *l)
{
  guint32 x = gantry_mind_need (l, "x");
  gint64 begin[GANTRY_MAX_RANK], size[GANTRY_MAX_RANK], stride[GANTRY_MAX_RANK];
  gint rank = (gint) gantry_mind_rank (l, x);

  if (gantry_mind_ints (l, "begin", begin, GANTRY_MAX_RANK) != rank || gantry_mind_ints (l, "size", size, GANTRY_MAX_RANK) != rank)
    {
      gantry_mind_refuse (l, "its begin and size do not fit %d dimensions", rank);
      return;
    }
  for (gint i = 0; i < rank; i++)
    {
      size[i] = size[i] < 0 ? gantry_mind_dim (l, x, i) : gantry_dim_add (begin[i], size[i]);
      stride[i] = 1;
    }
  l->out[0] = gantry_builder_slice (l->b, x, begin, size, stride);
}

/* arg: 'r' from start to end by step, 'n' so many from start, 's' one, whose dimension goes */
static void
slice_axis (MindLower *l)
{
  guint32 x = gantry_mind_need (l, "x");
  gint64 axis = gantry_mind_axis (l, gantry_mind_int (l, "dim", 0), gantry_mind_rank (l, x)), n = gantry_mind_dim (l, x, axis),
         start = gantry_mind_int (l, "start", 0), end = gantry_mind_int (l, "end", n);
  Cut cut = { 0 };

  if (l->rule->arg != 'r')
    {
      start = start < 0 ? start + n : start;
      end = gantry_dim_add (start, l->rule->arg == 's' ? 1 : gantry_mind_int (l, "length", 0));
    }
  if (gantry_mind_int (l, "step", 1) < 1)
    gantry_mind_refuse (l, "its step is not positive");
  else
    set_cut (&cut, n, start, end, gantry_mind_int (l, "step", 1), FALSE, FALSE);
  if (l->failed)
    return;
  x = gantry_builder_slice_axis (l->b, x, axis, cut.start, cut.limit, cut.stride);
  l->out[0] = l->rule->arg == 's' ? without_axis (l, x, axis) : x;
}

/* Padding */

/* arg: 'p' low and high of each dimension, 'v' from the last dimension on */
static void
pad (MindLower *l)
{
  guint32 x = gantry_mind_need (l, "x"), value = gantry_mind_in (l, "value");
  guint rank = gantry_mind_rank (l, x);
  gint64 list[2 * GANTRY_MAX_RANK], low[GANTRY_MAX_RANK] = { 0 }, high[GANTRY_MAX_RANK] = { 0 };
  gint n = gantry_mind_ints (l, "paddings", list, 2 * rank);
  gboolean contiguous = gantry_mind_int (l, "paddings_contiguous", 1) != 0;

  if (n < 0 || n % 2 != 0 || strcmp (gantry_mind_string (l, "mode", "constant"), "constant") != 0)
    gantry_mind_refuse (l, "a padding that is missing, or of mode '%s'", gantry_mind_string (l, "mode", "constant"));
  for (gint i = 0; i < n / 2 && !l->failed; i++)
    {
      gint axis = l->rule->arg == 'p' || !contiguous ? i : (gint) rank - 1 - i;

      low[axis] = contiguous ? list[2 * i] : list[i];
      high[axis] = contiguous ? list[2 * i + 1] : list[n / 2 + i];
    }
  if (l->failed)
    return;
  value = value != 0 ? gantry_builder_convert (l->b, value, gantry_mind_element_of (l, x)) : LIKE (x, 0);
  if (gantry_mind_rank (l, value) > 0)
    value = gantry_builder_reshape (l->b, value, 0, NULL);
  l->out[0] = gantry_builder_pad_if_any (l->b, x, value, low, high, NULL);
}

static void
reverse (MindLower *l)
{
  guint32 x = gantry_mind_need (l, "x");
  gint64 axes[GANTRY_MAX_RANK];
  guint n = gantry_mind_axes (l, "axis", gantry_mind_rank (l, x), axes);

  l->out[0] = gantry_builder_reverse (l->b, x, axes, n);
}

static void
roll (MindLower *l)
{
  guint32 x = gantry_mind_need (l, "x");
  gint64 shifts[GANTRY_MAX_RANK], axes[GANTRY_MAX_RANK];
  gint n = gantry_mind_ints (l, "shift", shifts, GANTRY_MAX_RANK), n_axes = gantry_mind_ints (l, "axis", axes, GANTRY_MAX_RANK);

  if (n < 1 || n != n_axes)
    gantry_mind_refuse (l, "its shifts and axes are not of one length");
  for (gint i = 0; i < n && !l->failed; i++)
    {
      gint64 axis = gantry_mind_axis (l, axes[i], gantry_mind_rank (l, x)), size = gantry_mind_dim (l, x, axis),
             at = size > 0 ? (size - shifts[i] % size) % size : 0;
      guint32 parts[2] = { gantry_builder_slice_axis (l->b, x, axis, at, size, 1), gantry_builder_slice_axis (l->b, x, axis, 0, at, 1) };

      if (at != 0)
        x = gantry_builder_concatenate (l->b, parts, 2, axis);
    }
  l->out[0] = x;
}

/* New values */

/* arg: 0 or 1, 'v' the value of an argument */
static void
fill (MindLower *l)
{
  gint64 dims[GANTRY_MAX_RANK];
  gint n = read_shape (l, dims);
  GantryElementType element = gantry_mind_element_named (l, "dtype");
  guint32 value = l->rule->arg == 'v' ? gantry_mind_need (l, "value") : 0;

  if (element == GANTRY_ELEMENT_NONE)
    element = gantry_mind_result_element (l, value);
  for (gint i = 0; i < n; i++)
    if (dims[i] < 0)
      gantry_mind_refuse (l, "dimension %d of its shape is %" G_GINT64_FORMAT, i, dims[i]);
  if (l->failed)
    return;
  if (value == 0)
    l->out[0] = gantry_mind_splat (l, element, l->rule->arg, (guint) n, dims);
  else
    {
      value = gantry_builder_convert (l->b, value, element);
      if (gantry_mind_rank (l, value) > 0)
        value = gantry_builder_reshape (l->b, value, 0, NULL);
      l->out[0] = gantry_builder_broadcast_to (l->b, value, (guint) n, dims);
    }
}

static void
fill_like (MindLower *l)
{
  guint32 x = gantry_mind_need (l, "x");
  const GantryType *type = gantry_mind_type (l, x);

  l->out[0] = x != 0 ? gantry_mind_splat (l, gantry_mind_result_element (l, x), l->rule->arg, type->rank, type->dims) : 0;
}

static void
range (MindLower *l)
{
  double start = gantry_mind_number (l, "start", 0), limit = gantry_mind_number (l, "limit", 0), step = gantry_mind_number (l, "step", 1);
  GantryElementType element = gantry_mind_result_element (l, 0);
  GantryDim n = step != 0 ? gantry_dim_from_double (ceil ((limit - start) / step)) : 0;
  guint32 x;

  if (!gantry_mind_has (l, "limit") && gantry_mind_in (l, "limit") == 0)
    gantry_mind_refuse (l, "the end of the range is computed when it runs");
  if (l->failed)
    return;
  x = gantry_builder_iota (l->b, element, 1, &n, 0);
  if (step != 1)
    x = BINARY (MULTIPLY, x, LIKE (x, step));
  l->out[0] = start != 0 ? BINARY (ADD, x, LIKE (x, start)) : x;
}

/* Rows less columns of the last two dimensions, i64. */
static guint32
row_less_column (MindLower *l, guint rank, const GantryDim *dims)
{
  return BINARY (SUBTRACT, gantry_builder_iota (l->b, GANTRY_I64, rank, dims, (gint64) rank - 2),
                 gantry_builder_iota (l->b, GANTRY_I64, rank, dims, (gint64) rank - 1));
}

static void
eye (MindLower *l)
{
  GantryDim dims[2] = { gantry_mind_int (l, "n", 0), gantry_mind_int (l, "m", 0) };
  guint32 x = row_less_column (l, 2, dims);

  l->out[0] = gantry_builder_convert (l->b, gantry_builder_compare (l->b, "EQ", x, LIKE (x, 0)), gantry_mind_result_element (l, x));
}

/* text: which comparison with minus the diagonal keeps an element */
static void
triangle (MindLower *l)
{
  guint32 x = gantry_mind_need (l, "x"), y;
  const GantryType *type = gantry_mind_type (l, x);

  if (x == 0 || type->rank < 2)
    {
      gantry_mind_refuse (l, "it has fewer than two dimensions");
      return;
    }
  y = row_less_column (l, type->rank, type->dims);
  y = gantry_builder_compare (l->b, l->rule->text, y, LIKE (y, (double) -gantry_mind_int (l, "diagonal", 0)));
  l->out[0] = gantry_builder_select (l->b, y, x, LIKE (x, 0));
}

/* clang-format off */
#define M(name, arguments, function, arg) { name, arguments, function, GANTRY_CLASS_MOVEMENT, arg, NULL }

const MindRule gantry_mind_movement_rules[] = {
  M ("Reshape", "x shape", reshape, 0), M ("View", "x shape", reshape, 0), M ("ReshapeExt", "x shape", reshape, 0),
  M ("ExpandDims", "x axis", expand_dims, 0), M ("ExpandDimsView", "x axis", expand_dims, 0), M ("Squeeze", "x axis", squeeze, 0),
  M ("Flatten", "x", flatten, 1), M ("FlattenExt", "x start_dim end_dim", flatten, 0), M ("Transpose", "x perm", transpose, 0),
  M ("TransposeView", "x perm", transpose, 0), M ("TransposeExtView", "x dim0 dim1", swap_axes, 0),
  M ("BroadcastTo", "x shape", broadcast_to, 0), M ("BroadcastToView", "x shape", broadcast_to, 0), M ("Tile", "x multiples", tile, 0),
  M ("Concat", "x axis", concatenate, 0), M ("Stack", "x axis", stack, 0), M ("StackExt", "x axis", stack, 0),
  M ("Pack", "x axis", stack, 0), M ("Unstack", "x axis", unstack, 0), M ("Unpack", "x axis", unstack, 0),
  M ("UnstackExtView", "x axis", unstack, 0), M ("Split", "x axis output_num", split, 'n'),
  M ("SplitTensor", "x size axis", split, 's'), M ("SplitTensorView", "x size axis", split, 's'),
  M ("SplitWithSize", "x sizes axis", split, 'v'), M ("SplitWithSizeView", "x sizes axis", split, 'v'), M ("SplitV", "x", split, 'v'),
  M ("Chunk", "x output_num axis", split, 'c'), M ("ChunkView", "x output_num axis", split, 'c'),
  M ("StridedSlice", "x begin end strides begin_mask end_mask ellipsis_mask new_axis_mask shrink_axis_mask", strided_slice, 0),
  M ("Slice", "x begin size", slice, 0), M ("SliceExt", "x dim start end step", slice_axis, 'r'),
  M ("SliceExtView", "x dim start end step", slice_axis, 'r'), M ("Narrow", "x dim start length", slice_axis, 'n'),
  M ("NarrowView", "x dim start length", slice_axis, 'n'), M ("SelectExtView", "x dim start", slice_axis, 's'),
  M ("SelectView", "x start dim", slice_axis, 's'), M ("Pad", "x paddings", pad, 'p'), M ("PadV3", "x paddings value", pad, 'v'),
  M ("ConstantPadND", "x paddings value", pad, 'v'), M ("ReverseV2", "x axis", reverse, 0), M ("Roll", "x shift axis", roll, 0),
  M ("Zeros", "shape dtype", fill, 0), M ("Ones", "shape dtype", fill, 1), M ("FillV2", "shape value", fill, 'v'),
  M ("Fill", "dtype shape value", fill, 'v'), M ("FillScalar", "shape value dtype", fill, 'v'),
  M ("FillTensor", "shape value dtype", fill, 'v'), M ("ZerosLike", "x", fill_like, 0), M ("OnesLike", "x", fill_like, 1),
  M ("ZerosLikeExt", "x dtype", fill_like, 0), M ("OnesLikeExt", "x dtype", fill_like, 1), M ("Range", "start limit step", range, 0),
  M ("Arange", "start limit step dtype", range, 0), M ("Eye", "n m dtype", eye, 0),
  { "Tril", "x diagonal", triangle, GANTRY_CLASS_MOVEMENT, 0, "GE" },
  { "Triu", "x diagonal", triangle, GANTRY_CLASS_MOVEMENT, 0, "LE" },
  { "TrilExt", "x diagonal", triangle, GANTRY_CLASS_MOVEMENT, 0, "GE" },
  { "TriuExt", "x diagonal", triangle, GANTRY_CLASS_MOVEMENT, 0, "LE" },
  { NULL },
};
/* clang-format on */
