/* SPDX-License-Identifier: Apache-2.0 */
/* Elements put in another arrangement: repeated, shuffled between channels and pixels, along diagonals, in windows, by number. */
#include "core/frontends/torch/lower-words-private.h"

#define MOST_COMPARED ((gint64) 1 << 24)

static guint32
reshaped (AtenLower *l, guint32 x, const GantryType *type)
{
  return gantry_builder_reshape (l->b, x, type->rank, type->dims);
}

/* The first place behind each element's repetitions: the sum of @counts up to it. */
static guint32
ends_of (AtenLower *l, guint32 counts)
{
  GantryDim n = gantry_aten_dim (l, counts, 0), square[] = { n, n };
  gint64 last = 1;
  guint32 before = gantry_builder_compare (l->b, "GE", gantry_aten_iota (l, 2, square, 0), gantry_aten_iota (l, 2, square, 1));

  counts = gantry_builder_along (l->b, gantry_builder_convert (l->b, counts, GANTRY_I64), 2, 1);
  return gantry_builder_reduce_axes (l->b, "add", gantry_builder_select (l->b, before, counts, LIKE (counts, 0)), &last, 1, FALSE);
}

/* Which element stands at each of @out places: at o the one that o of the ends are not above. @counts: 0 where each has as many */
static guint32
repeated (AtenLower *l, guint32 counts, gint64 n, GantryDim out)
{
  gint64 last = 1;
  guint32 place = gantry_aten_iota (l, 1, &out, 0), behind;

  if (counts == 0)
    return BINARY (DIVIDE, place, gantry_builder_int_scalar (l->b, GANTRY_I64, n > 0 ? MAX (out / n, 1) : 1));
  if (gantry_aten_rank (l, counts) != 1 || gantry_aten_dim (l, counts, 0) != n || n > MOST_COMPARED / MAX (MAX (n, out), 1))
    {
      gantry_aten_refuse (l, "%" G_GINT64_FORMAT " elements, each repeated as data says", n);
      return 0;
    }
  behind = gantry_builder_compare (l->b, "GE", gantry_builder_along (l->b, place, 2, 0), gantry_builder_along (l->b, ends_of (l, counts), 2, 1));
  return gantry_builder_reduce_axes (l->b, "add", gantry_builder_convert (l->b, behind, GANTRY_I64), &last, 1, FALSE);
}

/* Of counts that data says, the result's size is the archive's. Without an operand the places are asked for. */
static void
repeat_interleave (AtenLower *l)
{
  guint32 x = gantry_aten_in (l, "self"), counts = gantry_aten_in (l, "repeats");
  const GantryType *type = gantry_aten_declared (l, 0);
  gint64 axis = 0;

  if (x == 0)
    {
      l->out[0] = type->rank == 1 ? repeated (l, gantry_aten_need (l, "repeats"), gantry_aten_dim (l, counts, 0), type->dims[0]) : 0;
      return;
    }
  if (!gantry_aten_has (l, "dim"))
    x = gantry_builder_reshape (l->b, x, 1, (GantryDim[]){ gantry_type_elements (gantry_aten_type (l, x)) });
  else
    axis = gantry_aten_axis (l, gantry_aten_int (l, "dim", 0), gantry_aten_rank (l, x));
  if (counts != 0 && gantry_type_elements (gantry_aten_type (l, counts)) == 1)
    counts = 0;
  l->out[0] = axis < type->rank ? gantry_builder_take (l->b, x, axis, repeated (l, counts, gantry_aten_dim (l, x, axis), type->dims[axis])) : 0;
}

/* Indices and operand broadcast but along the axis; without one both are flat. */
static void
take_along (AtenLower *l)
{
  guint32 x = gantry_aten_need (l, "self"), indices = gantry_aten_need (l, "indices");
  gint64 axis = gantry_aten_axis (l, gantry_aten_int (l, "dim", 0), gantry_aten_rank (l, x));
  GantryDim dims[GANTRY_MAX_RANK], own[GANTRY_MAX_RANK];
  guint rank;

  if (x == 0 || indices == 0)
    return;
  if (!gantry_aten_has (l, "dim"))
    {
      x = gantry_builder_reshape (l->b, x, 1, (GantryDim[]){ gantry_type_elements (gantry_aten_type (l, x)) });
      indices = gantry_builder_reshape (l->b, indices, 1, (GantryDim[]){ gantry_type_elements (gantry_aten_type (l, indices)) });
    }
  rank = gantry_aten_rank (l, x);
  if (gantry_aten_rank (l, indices) != rank)
    {
      gantry_aten_refuse (l, "indices of %u dimensions for %u", gantry_aten_rank (l, indices), rank);
      return;
    }
  for (guint i = 0; i < rank; i++)
    {
      dims[i] = i == axis ? gantry_aten_dim (l, indices, i) : MAX (gantry_aten_dim (l, x, i), gantry_aten_dim (l, indices, i));
      own[i] = i == axis ? gantry_aten_dim (l, x, i) : dims[i];
    }
  l->out[0] = gantry_aten_gather (l, gantry_builder_broadcast_to (l->b, x, rank, own), gantry_builder_broadcast_to (l->b, indices, rank, dims), axis);
}

/* arg: channels become pixels, or pixels channels. [..., c r r, h, w] is [..., c, r, r, h, w] is [..., c, h, r, w, r]. */
static void
pixels (AtenLower *l)
{
  gboolean apart = l->rule->arg != 0;
  guint32 x = gantry_aten_need (l, "self");
  gint64 r = gantry_aten_int (l, apart ? "downscale_factor" : "upscale_factor", 1), order[GANTRY_MAX_RANK];
  const GantryType *type = gantry_aten_declared (l, 0), *wide = apart ? (x != 0 ? gantry_aten_type (l, x) : NULL) : type;
  guint lead;
  GantryDim dims[GANTRY_MAX_RANK];

  if (wide == NULL || wide->rank < 3 || wide->rank + 2 > GANTRY_MAX_RANK || r < 1 || r > MOST_COMPARED || gantry_aten_rank (l, x) != type->rank)
    {
      gantry_aten_refuse (l, "an input of %u dimensions", gantry_aten_rank (l, x));
      return;
    }
  lead = wide->rank - 2;
  for (guint i = 0; i < lead + 4; i++)
    order[i] = i;
  memcpy (dims, wide->dims, lead * sizeof *dims);
  if (apart)
    {
      GantryDim split[] = { wide->dims[lead] / r, r, wide->dims[lead + 1] / r, r };
      gint64 to[] = { lead + 1, lead + 3, lead, lead + 2 };

      memcpy (dims + lead, split, sizeof split);
      memcpy (order + lead, to, sizeof to);
    }
  else
    {
      GantryDim split[] = { r, r, wide->dims[lead] / r, wide->dims[lead + 1] / r };
      gint64 to[] = { lead + 2, lead, lead + 3, lead + 1 };

      memcpy (dims + lead, split, sizeof split);
      memcpy (order + lead, to, sizeof to);
    }
  l->out[0] = reshaped (l, gantry_builder_transpose (l->b, gantry_builder_reshape (l->b, x, lead + 4, dims), order), type);
}

static void
channel_shuffle (AtenLower *l)
{
  guint32 x = gantry_aten_need (l, "self");
  const GantryType *type = gantry_aten_declared (l, 0);
  gint64 groups = gantry_aten_int (l, "groups", 1), channels = gantry_aten_dim (l, x, 1);
  GantryDim dims[GANTRY_MAX_RANK];

  if (type->rank < 2 || type->rank >= GANTRY_MAX_RANK || gantry_aten_rank (l, x) != type->rank || groups < 1 || channels % groups != 0)
    {
      gantry_aten_refuse (l, "%" G_GINT64_FORMAT " groups do not divide the channels", groups);
      return;
    }
  dims[0] = type->dims[0], dims[1] = groups, dims[2] = channels / groups;
  memcpy (dims + 3, type->dims + 2, (type->rank - 2) * sizeof *dims);
  l->out[0] = reshaped (l, gantry_builder_swap_axes (l->b, gantry_builder_reshape (l->b, x, type->rank + 1, dims), 1, 2), type);
}

/* Diagonals */

/* The elements of two axes where they are equal but for @offset: those axes go, the diagonal is the last one. */
static guint32
diagonal_of (AtenLower *l, guint32 x, gint64 first, gint64 second, gint64 offset)
{
  guint rank = gantry_aten_rank (l, x), n = 0;
  gint64 order[GANTRY_MAX_RANK], rows, columns, size;
  GantryDim dims[GANTRY_MAX_RANK];
  gint64 axis;

  if (rank < 2 || first == second || l->failed)
    return 0;
  for (guint i = 0; i < rank; i++)
    if (i != first && i != second)
      order[n++] = i;
  order[n] = first, order[n + 1] = second;
  x = gantry_builder_transpose (l->b, x, order);
  rows = gantry_aten_dim (l, x, n), columns = gantry_aten_dim (l, x, n + 1);
  size = MAX (MIN (rows + MIN (offset, 0), columns - MAX (offset, 0)), 0);
  for (guint i = 0; i < n; i++)
    dims[i] = gantry_aten_dim (l, x, i);
  dims[n] = rows * columns;
  axis = n;
  x = gantry_builder_reshape (l->b, x, n + 1, dims);
  if (size == 0)
    return gantry_builder_slice_axis (l->b, x, axis, 0, 0, 1);
  return gantry_builder_slice_axis (l->b, x, axis, offset >= 0 ? offset : -offset * columns,
                                    (offset >= 0 ? offset : -offset * columns) + (size - 1) * (columns + 1) + 1, columns + 1);
}

static void
diagonal (AtenLower *l)
{
  guint32 x = gantry_aten_need (l, "self");
  guint rank = gantry_aten_rank (l, x);

  l->out[0] = diagonal_of (l, x, gantry_aten_axis (l, gantry_aten_int (l, "dim1", 0), rank), gantry_aten_axis (l, gantry_aten_int (l, "dim2", 1), rank),
                           gantry_aten_int (l, "offset", 0));
}

/* The last axis of @x along a diagonal of two axes, which become the last: an element is where both places say so. */
static guint32
on_diagonal (AtenLower *l, guint32 x, gint64 offset)
{
  guint rank = gantry_aten_rank (l, x);
  gint64 n = gantry_aten_dim (l, x, (gint64) rank - 1), size = n + ABS (offset), low[GANTRY_MAX_RANK] = { 0 }, high[GANTRY_MAX_RANK] = { 0 };
  GantryDim square[] = { size, size }, dims[GANTRY_MAX_RANK];
  guint32 here;

  if (rank == 0 || rank >= GANTRY_MAX_RANK || size > MOST_COMPARED)
    return 0;
  here = gantry_builder_compare (l->b, "EQ", BINARY (ADD, gantry_aten_iota (l, 2, square, 0), gantry_builder_int_scalar (l->b, GANTRY_I64, offset)),
                                 gantry_aten_iota (l, 2, square, 1));
  /* Along rows: those in front of a diagonal below the main one have no element. */
  low[rank - 1] = MAX (-offset, 0), high[rank - 1] = MAX (offset, 0);
  x = gantry_builder_pad_if_any (l->b, x, LIKE (x, 0), low, high, NULL);
  for (guint i = 0; i + 1 < rank; i++)
    dims[i] = gantry_aten_dim (l, x, i);
  dims[rank - 1] = size, dims[rank] = 1;
  return gantry_builder_select (l->b, here, gantry_builder_reshape (l->b, x, rank + 1, dims), LIKE (x, 0));
}

static void
diag_embed (AtenLower *l)
{
  guint32 x = on_diagonal (l, gantry_aten_need (l, "self"), gantry_aten_int (l, "offset", 0));
  guint rank = gantry_aten_rank (l, x), n = 0;
  gint64 first = gantry_aten_axis (l, gantry_aten_int (l, "dim1", -2), rank), second = gantry_aten_axis (l, gantry_aten_int (l, "dim2", -1), rank),
         order[GANTRY_MAX_RANK];

  for (guint i = 0; i < rank; i++)
    order[i] = i == first ? (gint64) rank - 2 : i == second ? (gint64) rank - 1 : (gint64) n++;
  l->out[0] = x != 0 && first != second && !l->failed ? gantry_builder_transpose (l->b, x, order) : 0;
}

/* Of a vector the matrix, of a matrix the vector. */
static void
diag (AtenLower *l)
{
  guint32 x = gantry_aten_need (l, "self");
  gint64 offset = gantry_aten_int (l, "diagonal", 0);

  l->out[0] = gantry_aten_rank (l, x) == 1 ? on_diagonal (l, x, offset) : diagonal_of (l, x, 0, 1, offset);
}

/* @src over the diagonal of two axes of @x: an element of it for each row that has one. */
static void
diagonal_scatter (AtenLower *l)
{
  guint32 x = gantry_aten_need (l, "self"), source = gantry_aten_need (l, "src"), here;
  guint rank = gantry_aten_rank (l, x), n = 0;
  gint64 first = gantry_aten_axis (l, gantry_aten_int (l, "dim1", 0), rank), second = gantry_aten_axis (l, gantry_aten_int (l, "dim2", 1), rank),
         offset = gantry_aten_int (l, "offset", 0), low[GANTRY_MAX_RANK] = { 0 }, high[GANTRY_MAX_RANK] = { 0 }, order[GANTRY_MAX_RANK], back[GANTRY_MAX_RANK];
  GantryDim dims[GANTRY_MAX_RANK];

  if (rank < 2 || first == second || gantry_aten_rank (l, source) != rank - 1 || l->failed)
    return;
  for (guint i = 0; i < rank; i++)
    if (i != first && i != second)
      order[n++] = i;
  order[n] = first, order[n + 1] = second;
  for (guint i = 0; i < rank; i++)
    back[order[i]] = i;
  x = gantry_builder_transpose (l->b, x, order);
  if (x == 0)
    return;
  memcpy (dims, gantry_aten_type (l, x)->dims, rank * sizeof *dims);
  low[n] = MIN (MAX (-offset, 0), dims[n]);
  high[n] = dims[n] - low[n] - gantry_aten_dim (l, source, n);
  if (high[n] < 0)
    return;
  source = gantry_builder_pad_if_any (l->b, gantry_builder_convert (l->b, source, gantry_aten_element (l, x)), LIKE (x, 0), low, high, NULL);
  here = gantry_builder_compare (l->b, "EQ", BINARY (ADD, gantry_aten_iota (l, rank, dims, n), gantry_builder_int_scalar (l->b, GANTRY_I64, offset)),
                                 gantry_aten_iota (l, rank, dims, n + 1));
  dims[n + 1] = 1;
  x = gantry_builder_select (l->b, here, gantry_builder_reshape (l->b, source, rank, dims), x);
  l->out[0] = gantry_builder_transpose (l->b, x, back);
}

static void
fill_diagonal (AtenLower *l)
{
  guint32 x = gantry_aten_need (l, "self"), here;
  const GantryType *type = gantry_aten_declared (l, 0);

  if (x == 0 || type->rank != 2 || (gantry_aten_int (l, "wrap", 0) != 0 && type->dims[0] > type->dims[1] + 1))
    {
      gantry_aten_refuse (l, "only the diagonal of a matrix, once, is supported");
      return;
    }
  here = gantry_builder_compare (l->b, "EQ", gantry_aten_iota (l, 2, type->dims, 0), gantry_aten_iota (l, 2, type->dims, 1));
  l->out[0] = gantry_builder_select (l->b, here, LIKE (x, gantry_aten_number (l, "fill_value", 0)), x);
}

static void
trace (AtenLower *l)
{
  gint64 axis = 0;

  l->out[0] = gantry_builder_reduce_axes (l->b, "add", diagonal_of (l, gantry_aten_need (l, "self"), 0, 1, 0), &axis, 1, FALSE);
}

/* Windows */

/* [batch, channels, h, w], or without the batch, to [batch, channels * height and width of a window, windows], zero padded: a strided slice for each element of
 * a window. Windows of more than 64 a side or 1,024 elements and paddings or dilations above 4,096 are refused. */
static void
im2col (AtenLower *l)
{
  guint32 x = gantry_aten_need (l, "self"), *parts;
  const GantryType *type = gantry_aten_declared (l, 0);
  gint64 size[2], dilation[2], padding[2], stride[2], out[2], low[4] = { 0 };
  gboolean batch = gantry_aten_rank (l, x) == 4;
  GantryDim dims[4];

  if (!gantry_aten_ints_of (l, "kernel_size", 2, 1, size) || !gantry_aten_ints_of (l, "dilation", 2, 1, dilation)
      || !gantry_aten_ints_of (l, "padding", 2, 0, padding) || !gantry_aten_ints_of (l, "stride", 2, 1, stride))
    return;
  for (guint i = 0; i < 2; i++)
    if (size[i] < 1 || size[i] > 64 || dilation[i] < 1 || dilation[i] > 4096 || padding[i] < 0 || padding[i] > 4096 || stride[i] < 1
        || stride[i] > MOST_COMPARED || (gantry_aten_rank (l, x) != 3 && !batch) || size[0] * size[1] > 1024)
      {
        gantry_aten_refuse (l, "a kernel size, stride, dilation or padding is out of range");
        return;
      }
  if (!batch)
    x = gantry_builder_reshape (l->b, x, 4, (GantryDim[]){ 1, gantry_aten_dim (l, x, 0), gantry_aten_dim (l, x, 1), gantry_aten_dim (l, x, 2) });
  low[2] = padding[0], low[3] = padding[1];
  x = gantry_builder_pad_if_any (l->b, x, LIKE (x, 0), low, low, NULL);
  for (guint i = 0; i < 2; i++)
    out[i] = (gantry_aten_dim (l, x, 2 + i) - dilation[i] * (size[i] - 1) - 1) / stride[i] + 1;
  if (x == 0 || out[0] < 1 || out[1] < 1)
    return;
  dims[0] = gantry_aten_dim (l, x, 0), dims[1] = gantry_aten_dim (l, x, 1), dims[2] = 1, dims[3] = out[0] * out[1];
  parts = gantry_arena_new0 (l->arena, guint32, (gsize) (size[0] * size[1]));
  for (gint64 k = 0; k < size[0] * size[1]; k++)
    {
      gint64 row = k / size[1] * dilation[0], column = k % size[1] * dilation[1];
      guint32 part = gantry_builder_slice_axis (l->b, x, 2, row, row + (out[0] - 1) * stride[0] + 1, stride[0]);

      part = gantry_builder_slice_axis (l->b, part, 3, column, column + (out[1] - 1) * stride[1] + 1, stride[1]);
      parts[k] = gantry_builder_reshape (l->b, part, 4, dims);
      if (parts[k] == 0)
        return;
    }
  l->out[0] = reshaped (l, gantry_builder_concatenate (l->b, parts, (guint) (size[0] * size[1]), 2), type);
}

/* Windows of one axis, whose elements become the last dimension. */
static void
unfold (AtenLower *l)
{
  guint32 x = gantry_aten_need (l, "self");
  gint64 axis = gantry_aten_axis (l, gantry_aten_int (l, "dimension", 0), gantry_aten_rank (l, x)), size = gantry_aten_int (l, "size", 1),
         step = gantry_aten_int (l, "step", 1), n = gantry_aten_dim (l, x, axis);
  guint rank = gantry_aten_rank (l, x);
  GantryDim dims[2];

  if (rank == 0 || rank >= GANTRY_MAX_RANK || size < 1 || size > n || step < 1)
    {
      gantry_aten_refuse (l, "windows of %" G_GINT64_FORMAT " along an axis of %" G_GINT64_FORMAT, size, n);
      return;
    }
  dims[0] = (n - size) / step + 1, dims[1] = size;
  if (dims[0] > MOST_COMPARED / size)
    {
      gantry_aten_refuse (l, "more than %d places", (int) MOST_COMPARED);
      return;
    }
  x = gantry_builder_take (
    l->b, x, axis,
    BINARY (ADD, BINARY (MULTIPLY, gantry_aten_iota (l, 2, dims, 0), gantry_builder_int_scalar (l->b, GANTRY_I64, step)), gantry_aten_iota (l, 2, dims, 1)));
  for (gint64 i = axis + 1; i < (gint64) rank; i++)
    x = gantry_builder_swap_axes (l->b, x, i, i + 1);
  l->out[0] = x;
}

/* By number */

static void
one_hot (AtenLower *l)
{
  guint32 x = gantry_aten_need (l, "self");
  const GantryType *type = gantry_aten_declared (l, 0);
  GantryDim dims[GANTRY_MAX_RANK];

  if (type->rank != gantry_aten_rank (l, x) + 1)
    return;
  for (guint i = 0; i < type->rank; i++)
    dims[i] = i + 1 < type->rank ? type->dims[i] : 1;
  x = gantry_builder_convert (l->b, gantry_builder_reshape (l->b, x, type->rank, dims), GANTRY_I64);
  l->out[0] = gantry_builder_compare (l->b, "EQ", x, gantry_aten_iota (l, type->rank, type->dims, type->rank - 1));
}

static void
is_in (AtenLower *l)
{
  guint32 x = gantry_aten_need (l, "elements"), y = gantry_aten_need (l, "test_elements"), same;
  guint rank = gantry_aten_rank (l, x);
  gint64 axis = rank, n = y != 0 ? gantry_type_elements (gantry_aten_type (l, y)) : 0;
  GantryDim dims[GANTRY_MAX_RANK];

  if (x == 0 || y == 0 || rank >= GANTRY_MAX_RANK || n > MOST_COMPARED / MAX (gantry_type_elements (gantry_aten_type (l, x)), 1))
    {
      gantry_aten_refuse (l, "more than %d pairs are compared", (int) MOST_COMPARED);
      return;
    }
  memcpy (dims, gantry_aten_type (l, x)->dims, rank * sizeof *dims);
  dims[rank] = 1;
  same = gantry_builder_compare (l->b, "EQ", gantry_builder_reshape (l->b, x, rank + 1, dims),
                                 gantry_builder_along (l->b, gantry_builder_convert (l->b, y, gantry_aten_element (l, x)), rank + 1, rank));
  same = gantry_builder_reduce_axes (l->b, "or", same, &axis, 1, FALSE);
  l->out[0] = gantry_aten_int (l, "invert", 0) != 0 ? UNARY (NOT, same) : same;
}

static void
meshgrid (AtenLower *l)
{
  gboolean by_columns = strcmp (gantry_aten_string (l, "indexing", "ij"), "xy") == 0;

  for (guint i = 0; i < l->n_out && !l->failed; i++)
    {
      const GantryType *type = gantry_aten_declared (l, i);
      guint32 x = gantry_aten_in_list (l, "tensors", i);

      if (x != 0 && type->kind == GANTRY_TYPE_TENSOR)
        l->out[i] = gantry_builder_broadcast_to (l->b, gantry_builder_along (l->b, x, type->rank, by_columns && i < 2 && type->rank > 1 ? 1 - i : i),
                                                 type->rank, type->dims);
    }
}

/* Beside each other along an axis; arg: 'h' the second (of vectors the first), 'v' the first, 'd' the third, 'c' vectors as columns */
static void
stacked (AtenLower *l)
{
  guint n = gantry_aten_list_length (l, "tensors");
  guint32 *parts = gantry_arena_new0 (l->arena, guint32, n + 1);
  const GantryType *type = gantry_aten_declared (l, 0);
  gint64 axis = l->rule->arg == 'v' ? 0 : l->rule->arg == 'd' ? 2 : MIN ((gint64) type->rank - 1, 1);

  for (guint i = 0; i < n; i++)
    {
      guint32 x = gantry_aten_in_list (l, "tensors", i);
      guint rank = gantry_aten_rank (l, x);
      GantryDim dims[GANTRY_MAX_RANK];

      if (x == 0 || rank > type->rank || axis >= type->rank)
        return;
      /* A vector is a row: of dstack in the middle, as a column it is the first. */
      for (guint k = 0; k < type->rank; k++)
        dims[k] = k < rank ? gantry_aten_dim (l, x, k) : 1;
      if (rank == 1 && l->rule->arg != 'c' && type->rank > 1)
        dims[1] = dims[0], dims[0] = 1;
      parts[i] = gantry_builder_convert (l->b, gantry_builder_reshape (l->b, x, type->rank, dims), (GantryElementType) type->element);
      if (parts[i] == 0)
        return;
    }
  l->out[0] = n > 0 ? gantry_builder_concatenate (l->b, parts, n, axis) : 0;
}

static void
flip_axis (AtenLower *l)
{
  gint64 axis = l->rule->arg;

  l->out[0] = gantry_builder_reverse (l->b, gantry_aten_need (l, "self"), &axis, 1);
}

/* Each time one axis is reversed and both are exchanged. */
static void
rotate (AtenLower *l)
{
  guint32 x = gantry_aten_need (l, "self");
  gint64 turns = (gantry_aten_int (l, "k", 1) % 4 + 4) % 4, given[2] = { 0, 1 }, axes[2];

  if (gantry_aten_has (l, "dims") && !gantry_aten_ints_of (l, "dims", 2, 0, given))
    return;
  for (guint i = 0; i < 2; i++)
    axes[i] = gantry_aten_axis (l, given[i], gantry_aten_rank (l, x));
  for (gint64 i = 0; i < turns && !l->failed; i++)
    x = gantry_builder_swap_axes (l->b, gantry_builder_reverse (l->b, x, &axes[1], 1), axes[0], axes[1]);
  l->out[0] = x;
}

/* The axes that are named go where they are told to, the others keep their order. arg: and back from there */
static void
move_axes (AtenLower *l)
{
  guint32 x = gantry_aten_need (l, l->rule->arg ? "src" : "self");
  guint rank = gantry_aten_rank (l, x), next = 0;
  gsize n = 0, n_to = 0;
  const gint64 *from = gantry_aten_ints (l, "source", &n), *to = gantry_aten_ints (l, "destination", &n_to);
  gint64 one[] = { gantry_aten_int (l, "source", 0), gantry_aten_int (l, "destination", 0) }, order[GANTRY_MAX_RANK], back[GANTRY_MAX_RANK];
  gboolean moved[GANTRY_MAX_RANK] = { FALSE };

  if (from == NULL || to == NULL)
    from = &one[0], to = &one[1], n = n_to = 1;
  for (guint i = 0; i < rank; i++)
    order[i] = -1;
  for (gsize i = 0; i < MIN (n, n_to) && rank > 0; i++)
    {
      gint64 axis = gantry_aten_axis (l, from[i], rank);

      moved[axis] = TRUE;
      order[gantry_aten_axis (l, to[i], rank)] = axis;
    }
  for (guint i = 0; i < rank; i++)
    {
      while (order[i] < 0 && next < rank && moved[next])
        next++;
      order[i] = order[i] >= 0 ? order[i] : next < rank ? (gint64) next++ : 0;
    }
  for (guint i = 0; i < rank && !l->failed; i++)
    back[order[i]] = i;
  l->out[0] = x != 0 && !l->failed ? gantry_builder_transpose (l->b, x, l->rule->arg ? back : order) : 0;
}

/* clang-format off */
#define RULE(name, function, arg) { name, function, GANTRY_CLASS_MOVEMENT, arg, NULL }

const AtenRule gantry_aten_arrange_rules[] = {
  RULE ("repeat_interleave", repeat_interleave, 0), RULE ("take_along_dim", take_along, 0), RULE ("pixel_shuffle", pixels, FALSE),
  RULE ("pixel_unshuffle", pixels, TRUE), RULE ("channel_shuffle", channel_shuffle, 0), RULE ("native_channel_shuffle", channel_shuffle, 0),
  RULE ("diagonal", diagonal, 0),
  RULE ("diagonal_copy", diagonal, 0), RULE ("diag", diag, 0), RULE ("diag_embed", diag_embed, 0), RULE ("trace", trace, 0), RULE ("im2col", im2col, 0),
  RULE ("unfold", unfold, 0), RULE ("unfold_copy", unfold, 0), RULE ("one_hot", one_hot, 0), RULE ("isin", is_in, 0), RULE ("meshgrid", meshgrid, 0),
  RULE ("hstack", stacked, 'h'), RULE ("vstack", stacked, 'v'), RULE ("dstack", stacked, 'd'), RULE ("column_stack", stacked, 'c'),
  RULE ("fliplr", flip_axis, 1), RULE ("flipud", flip_axis, 0), RULE ("rot90", rotate, 0), RULE ("movedim", move_axes, 0), RULE ("moveaxis", move_axes, 0),
  RULE ("movedim_scatter", move_axes, TRUE), RULE ("moveaxis_scatter", move_axes, TRUE), RULE ("diagonal_scatter", diagonal_scatter, 0),
  RULE ("fill_diagonal", fill_diagonal, 0),
  { NULL },
};
/* clang-format on */
