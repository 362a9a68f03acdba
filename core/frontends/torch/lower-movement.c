/* SPDX-License-Identifier: Apache-2.0 */
/* Operations that move elements: views and their writing back, concatenations, padding, repetition. The archive's shape of a
 * result says most of it. */
#include "core/frontends/torch/lower-private.h"

/* Each has an index of its own while compiling. */
#define MOST_EDGE_ELEMENTS (1 << 24)
#define MOST_DIFFERENCES 64

static guint32
self (AtenLower *l)
{
  return gantry_aten_need (l, gantry_aten_in (l, "self") != 0 ? "self" : gantry_aten_in (l, "a") != 0 ? "a" : "input");
}

static void
to_declared (AtenLower *l)
{
  const GantryType *type = gantry_aten_declared (l, 0);

  l->out[0] = gantry_builder_reshape (l->b, self (l), type->rank, type->dims);
}

/* The element type is converted for all rules alike. */
static void
identity (AtenLower *l)
{
  l->out[0] = self (l);
}

static void
detach (AtenLower *l)
{
  l->out[0] = gantry_aten_detached (l, self (l));
}

static void
expand (AtenLower *l)
{
  const GantryType *type = gantry_aten_declared (l, 0);
  guint32 x = gantry_builder_convert (l->b, self (l), (GantryElementType) type->element);

  l->out[0] = x != 0 ? gantry_builder_broadcast_to (l->b, x, type->rank, type->dims) : 0;
}

static void
broadcast_tensors (AtenLower *l)
{
  for (guint i = 0; i < l->n_out && !l->failed; i++)
    {
      const GantryType *type = gantry_aten_declared (l, i);
      guint32 x = gantry_aten_in_list (l, "tensors", i);

      if (x != 0 && type->kind == GANTRY_TYPE_TENSOR)
        l->out[i] = gantry_builder_broadcast_to (l->b, x, type->rank, type->dims);
    }
}

/* What is written over the whole: broadcast to it. */
static void
copy (AtenLower *l)
{
  const GantryType *type = gantry_aten_declared (l, 0);
  guint32 x = gantry_builder_convert (l->b, gantry_aten_need (l, "src"), (GantryElementType) type->element);

  l->out[0] = x != 0 ? gantry_builder_broadcast_to (l->b, x, type->rank, type->dims) : 0;
}

static void
permute (AtenLower *l)
{
  guint32 x = self (l);
  guint rank = gantry_aten_rank (l, x);
  gint64 order[GANTRY_MAX_RANK];
  gsize n = 0;
  const gint64 *dims = gantry_aten_ints (l, "dims", &n);

  if (n != rank)
    gantry_aten_refuse (l, "%u axes for %u dimensions", (guint) n, rank);
  for (guint i = 0; i < rank && !l->failed; i++)
    order[i] = gantry_aten_axis (l, dims[i], rank);
  l->out[0] = l->failed ? 0 : gantry_builder_transpose (l->b, x, order);
}

/* Writes a permuted part back: the inverse permutation. */
static void
permute_scatter (AtenLower *l)
{
  guint32 x = gantry_aten_need (l, "src");
  guint rank = gantry_aten_rank (l, x);
  gint64 order[GANTRY_MAX_RANK] = { 0 };
  gsize n = 0;
  const gint64 *dims = gantry_aten_ints (l, "dims", &n);

  if (n != rank)
    gantry_aten_refuse (l, "%u axes for %u dimensions", (guint) n, rank);
  for (guint i = 0; i < rank && !l->failed; i++)
    order[gantry_aten_axis (l, dims[i], rank)] = i;
  l->out[0] = l->failed ? 0 : gantry_builder_transpose (l->b, x, order);
}

/* arg: the axes without arguments: 't' both of a matrix, 'm' the last two */
static void
transpose (AtenLower *l)
{
  guint32 x = l->rule->text != NULL ? gantry_aten_need (l, "src") : self (l);
  guint rank = gantry_aten_rank (l, x);
  gint64 a, b;

  if (rank < 2)
    {
      l->out[0] = x;
      return;
    }
  a = gantry_aten_int (l, "dim0", gantry_aten_int (l, "axis0", -2));
  b = gantry_aten_int (l, "dim1", gantry_aten_int (l, "axis1", -1));
  l->out[0] = gantry_builder_swap_axes (l->b, x, gantry_aten_axis (l, a, rank), gantry_aten_axis (l, b, rank));
}

/* Bounds of a slice as Python has them, within the size. */
static void
slice_bounds (AtenLower *l, guint32 x, gint64 *axis, gint64 *start, gint64 *end, gint64 *step)
{
  gint64 n;

  *axis = gantry_aten_axis (l, gantry_aten_int (l, "dim", 0), gantry_aten_rank (l, x));
  n = gantry_aten_dim (l, x, *axis);
  *start = gantry_aten_int (l, "start", 0);
  *end = gantry_aten_int (l, "end", n);
  *step = gantry_aten_int (l, "step", 1);
  *start = CLAMP (*start < 0 ? *start + n : *start, 0, n);
  *end = CLAMP (*end < 0 ? *end + n : *end, *start, n);
  if (*step < 1)
    gantry_aten_refuse (l, "a step of %" G_GINT64_FORMAT, *step);
}

static void
slice (AtenLower *l)
{
  guint32 x = self (l);
  gint64 axis, start, end, step;

  slice_bounds (l, x, &axis, &start, &end, &step);
  l->out[0] = gantry_builder_slice_axis (l->b, x, axis, start, end, step);
}

/* @part over elements start, start + step, ... of @x along an axis: padded to the size, chosen where positions say so. */
static guint32
write_part (AtenLower *l, guint32 x, guint32 part, gint64 axis, gint64 start, gint64 step)
{
  guint rank = gantry_aten_rank (l, x);
  gint64 low[GANTRY_MAX_RANK] = { 0 }, high[GANTRY_MAX_RANK] = { 0 }, interior[GANTRY_MAX_RANK] = { 0 };
  gint64 n = gantry_aten_dim (l, x, axis), count = gantry_aten_dim (l, part, axis);
  guint32 mask, padded;

  part = gantry_builder_convert (l->b, part, gantry_aten_element (l, x));
  if (part == 0 || l->failed || gantry_aten_rank (l, part) != rank)
    return 0;
  if (count == n && start == 0)
    return part;
  if (count == 0)
    return x;
  low[axis] = start;
  interior[axis] = step - 1;
  high[axis] = n - start - ((count - 1) * step + 1);
  padded = gantry_builder_pad (l->b, part, gantry_builder_like (l->b, part, 0), low, high, interior);
  mask = gantry_builder_splat (l->b, GANTRY_BOOL, 1, 1, &count);
  mask = gantry_builder_pad (l->b, mask, gantry_builder_scalar (l->b, GANTRY_BOOL, 0), &low[axis], &high[axis], &interior[axis]);
  return gantry_builder_select (l->b, gantry_builder_along (l->b, mask, rank, axis), padded, x);
}

static void
slice_scatter (AtenLower *l)
{
  guint32 x = self (l), part = gantry_aten_need (l, "src");
  gint64 axis, start, end, step;

  slice_bounds (l, x, &axis, &start, &end, &step);
  if (!l->failed)
    l->out[0] = write_part (l, x, part, axis, start, step);
}

/* Index of a select, counted from the end when negative. */
static gint64
select_index (AtenLower *l, guint32 x, gint64 axis)
{
  gint64 n = gantry_aten_dim (l, x, axis), index = gantry_aten_int (l, "index", 0);

  index = index < 0 ? index + n : index;
  if (index < 0 || index >= n)
    {
      gantry_aten_refuse (l, "index %" G_GINT64_FORMAT " of %" G_GINT64_FORMAT, index, n);
      return 0;
    }
  return index;
}

static void
select_rule (AtenLower *l)
{
  const GantryType *type = gantry_aten_declared (l, 0);
  guint32 x = self (l);
  gint64 axis = gantry_aten_axis (l, gantry_aten_int (l, "dim", 0), gantry_aten_rank (l, x)), index = select_index (l, x, axis);

  l->out[0] = gantry_builder_reshape (l->b, gantry_builder_slice_axis (l->b, x, axis, index, index + 1, 1), type->rank, type->dims);
}

static void
select_scatter (AtenLower *l)
{
  guint32 x = self (l), part = gantry_aten_need (l, "src");
  guint rank = gantry_aten_rank (l, x);
  gint64 axis = gantry_aten_axis (l, gantry_aten_int (l, "dim", 0), rank), index = select_index (l, x, axis);
  GantryDim dims[GANTRY_MAX_RANK];

  for (guint i = 0; i < rank; i++)
    dims[i] = i == axis ? 1 : gantry_aten_dim (l, x, i);
  l->out[0] = write_part (l, x, gantry_builder_reshape (l->b, part, rank, dims), axis, index, 1);
}

static void
narrow (AtenLower *l)
{
  guint32 x = self (l);
  gint64 axis = gantry_aten_axis (l, gantry_aten_int (l, "dim", 0), gantry_aten_rank (l, x));
  gint64 start = gantry_aten_int (l, "start", 0);

  start = start < 0 ? start + gantry_aten_dim (l, x, axis) : start;
  l->out[0] = gantry_builder_slice_axis (l->b, x, axis, start, start + gantry_aten_int (l, "length", 0), 1);
}

/* Pieces in order, as large as the archive says; of unbind without the axis. */
static void
split (AtenLower *l)
{
  guint32 x = self (l);
  gint64 axis = gantry_aten_axis (l, gantry_aten_int (l, "dim", 0), gantry_aten_rank (l, x)), at = 0;
  gboolean removed = l->rule->text != NULL;

  for (guint i = 0; i < l->n_out && !l->failed; i++)
    {
      const GantryType *type = gantry_aten_declared (l, i);
      gint64 n = removed ? 1 : type->kind == GANTRY_TYPE_TENSOR && axis < type->rank ? type->dims[axis] : -1;

      if (n < 0)
        {
          gantry_aten_refuse (l, "the size of piece %u is not known", i);
          return;
        }
      l->out[i] = gantry_builder_slice_axis (l->b, x, axis, at, at + n, 1);
      if (removed && type->kind == GANTRY_TYPE_TENSOR)
        l->out[i] = gantry_builder_reshape (l->b, l->out[i], type->rank, type->dims);
      at += n;
    }
}

/* arg: whether a dimension is added for the list. */
static void
concatenate (AtenLower *l)
{
  guint n = gantry_aten_list_length (l, "tensors"), used = 0;
  guint32 *parts = gantry_arena_new0 (l->arena, guint32, n + 1);
  const GantryType *type = gantry_aten_declared (l, 0);
  gint64 axis = gantry_aten_axis (l, gantry_aten_int (l, "dim", 0), type->rank);
  GantryDim dims[GANTRY_MAX_RANK];

  for (guint i = 0; i < n && !l->failed; i++)
    {
      guint32 x = gantry_builder_convert (l->b, gantry_aten_in_list (l, "tensors", i), (GantryElementType) type->element);

      for (guint k = 0; k < type->rank && l->rule->arg; k++)
        dims[k] = k == axis ? 1 : type->dims[k];
      if (l->rule->arg)
        x = gantry_builder_reshape (l->b, x, type->rank, dims);
      /* An empty list of numbers may stand among tensors of any rank. */
      if (x != 0 && (gantry_aten_rank (l, x) == type->rank || gantry_type_elements (gantry_aten_type (l, x)) != 0))
        parts[used++] = x;
    }
  if (used > 0 && !l->failed)
    l->out[0] = used == 1 ? parts[0] : gantry_builder_concatenate (l->b, parts, used, axis);
}

/* x[1:] - x[:-1] along an axis, n times, of bools whether they differ. */
static void
difference (AtenLower *l)
{
  guint32 parts[3] = { gantry_aten_in (l, "prepend"), self (l), gantry_aten_in (l, "append") }, x;
  gint64 axis = gantry_aten_axis (l, gantry_aten_int (l, "dim", -1), gantry_aten_rank (l, parts[1])), times = gantry_aten_int (l, "n", 1);
  guint first = parts[0] == 0, n = 3 - first - (parts[2] == 0);

  if (times > MOST_DIFFERENCES)
    gantry_aten_refuse (l, "more than %d differences", MOST_DIFFERENCES);
  if (l->failed)
    return;
  x = n == 1 ? parts[1] : gantry_builder_concatenate (l->b, parts + first, n, axis);
  for (gint64 i = 0; i < times && x != 0 && !l->failed; i++)
    {
      gint64 size = gantry_aten_dim (l, x, axis);
      guint32 later = gantry_builder_slice_axis (l->b, x, axis, MIN (1, size), size, 1),
              earlier = gantry_builder_slice_axis (l->b, x, axis, 0, MAX (size - 1, 0), 1);

      x = gantry_aten_element (l, x) == GANTRY_BOOL ? gantry_builder_compare (l->b, "NE", later, earlier)
                                                    : gantry_builder_binary_broadcast (l->b, GANTRY_OP_SUBTRACT, later, earlier);
    }
  l->out[0] = x;
}

static void
flip (AtenLower *l)
{
  guint32 x = self (l);
  gint64 axes[GANTRY_MAX_RANK];
  guint n = gantry_aten_axes (l, "dims", gantry_aten_rank (l, x), axes);

  l->out[0] = gantry_builder_reverse (l->b, x, axes, n);
}

static guint32
roll_axis (AtenLower *l, guint32 x, gint64 axis, gint64 shift)
{
  gint64 n = gantry_aten_dim (l, x, axis), first = n > 0 ? ((-shift) % n + n) % n : 0;
  guint32 parts[2];

  if (x == 0 || first == 0 || l->failed)
    return x;
  parts[0] = gantry_builder_slice_axis (l->b, x, axis, first, n, 1);
  parts[1] = gantry_builder_slice_axis (l->b, x, axis, 0, first, 1);
  return gantry_builder_concatenate (l->b, parts, 2, axis);
}

static void
roll (AtenLower *l)
{
  guint32 x = self (l);
  guint rank = gantry_aten_rank (l, x);
  gsize n_shifts, n_dims;
  const gint64 *shifts = gantry_aten_ints (l, "shifts", &n_shifts), *dims = gantry_aten_ints (l, "dims", &n_dims);

  if (n_dims == 0 && n_shifts == 1)
    {
      GantryDim n = gantry_type_elements (gantry_aten_type (l, x));
      const GantryType *type = gantry_aten_declared (l, 0);

      x = roll_axis (l, gantry_builder_reshape (l->b, x, 1, &n), 0, shifts[0]);
      x = gantry_builder_reshape (l->b, x, type->rank, type->dims);
    }
  else if (n_dims != n_shifts)
    gantry_aten_refuse (l, "%u shifts for %u axes", (guint) n_shifts, (guint) n_dims);
  for (gsize i = 0; i < n_dims && !l->failed; i++)
    x = roll_axis (l, x, gantry_aten_axis (l, dims[i], rank), shifts[i]);
  l->out[0] = x;
}

/* Modes that repeat elements of the edges: one piece each for low and high. */
static guint32
pad_edges (AtenLower *l, guint32 x, gint64 axis, gint64 low, gint64 high, const char *mode)
{
  gint64 n = gantry_aten_dim (l, x, axis), circular = strcmp (mode, "circular") == 0, reflect = strcmp (mode, "reflect") == 0;
  gint64 *indices;

  if (n > MOST_EDGE_ELEMENTS || low > MOST_EDGE_ELEMENTS || high > MOST_EDGE_ELEMENTS)
    {
      gantry_aten_refuse (l, "padding of mode '%s' of more than %d elements", mode, MOST_EDGE_ELEMENTS);
      return 0;
    }
  if (n < 1 || (reflect && (low >= n || high >= n)) || (circular && (low > n || high > n)))
    {
      gantry_aten_refuse (l, "padding by %" G_GINT64_FORMAT " and %" G_GINT64_FORMAT " of %" G_GINT64_FORMAT " elements", low, high, n);
      return 0;
    }
  indices = gantry_arena_new0 (l->arena, gint64, n + low + high + 1);
  for (gint64 i = 0; i < n + low + high; i++)
    {
      gint64 at = i - low;

      if (circular)
        at = (at + n) % n;
      else if (reflect)
        at = at < 0 ? -at : at >= n ? 2 * (n - 1) - at : at;
      indices[i] = CLAMP (at, 0, n - 1);
    }
  return gantry_builder_take (l->b, x, axis, gantry_builder_ints (l->b, indices, (gsize) (n + low + high)));
}

/* Pairs (low, high) from the last dimension backwards. */
static void
pad (AtenLower *l)
{
  guint32 x = self (l);
  guint rank = gantry_aten_rank (l, x);
  gint64 low[GANTRY_MAX_RANK] = { 0 }, high[GANTRY_MAX_RANK] = { 0 }, interior[GANTRY_MAX_RANK] = { 0 };
  const char *mode = gantry_aten_string (l, "mode", l->rule->text != NULL ? l->rule->text : "constant");
  gsize n;
  const gint64 *pads = gantry_aten_ints (l, gantry_aten_has (l, "pad") ? "pad" : "padding", &n);

  if (n % 2 != 0 || n / 2 > rank)
    gantry_aten_refuse (l, "%u numbers of padding for %u dimensions", (guint) n, rank);
  for (guint i = 0; i < n / 2 && !l->failed; i++)
    {
      low[rank - 1 - i] = pads[2 * i];
      high[rank - 1 - i] = pads[2 * i + 1];
      if (ABS (pads[2 * i]) > GANTRY_MAX_DIM || ABS (pads[2 * i + 1]) > GANTRY_MAX_DIM)
        gantry_aten_refuse (l, "the padding is out of range");
    }
  if (x == 0 || l->failed)
    return;
  if (strcmp (mode, "constant") == 0)
    x = gantry_builder_pad (l->b, x, gantry_builder_like (l->b, x, gantry_aten_number (l, "value", 0)), low, high, interior);
  for (guint i = 0; i < rank && strcmp (mode, "constant") != 0; i++)
    if (low[i] < 0 || high[i] < 0 || low[i] > G_MAXINT32 || high[i] > G_MAXINT32)
      gantry_aten_refuse (l, "negative padding of mode '%s'", mode);
    else if ((low[i] != 0 || high[i] != 0) && !l->failed)
      x = pad_edges (l, x, i, low[i], high[i], mode);
  l->out[0] = x;
}

/* Each dimension doubled into (times, size) and joined again. */
static void
repeat (AtenLower *l)
{
  const GantryType *type = gantry_aten_declared (l, 0);
  guint32 x = self (l);
  guint rank = gantry_aten_rank (l, x), n = 0;
  GantryDim narrow_dims[2 * GANTRY_MAX_RANK], wide[2 * GANTRY_MAX_RANK];

  if (2 * type->rank > GANTRY_MAX_RANK || type->rank < rank)
    {
      gantry_aten_refuse (l, "%u dimensions are too many to repeat", type->rank);
      return;
    }
  for (guint i = 0; i < type->rank; i++)
    {
      GantryDim size = i + rank >= type->rank ? gantry_aten_dim (l, x, i + rank - type->rank) : 1;

      narrow_dims[n] = 1;
      wide[n++] = size > 0 ? type->dims[i] / size : 1;
      narrow_dims[n] = size;
      wide[n++] = size;
    }
  x = gantry_builder_reshape (l->b, x, n, narrow_dims);
  x = x != 0 && !l->failed ? gantry_builder_broadcast_to (l->b, x, n, wide) : 0;
  l->out[0] = gantry_builder_reshape (l->b, x, type->rank, type->dims);
}

/* Strides of a view that are those of its operand's bytes read in order of some permutation of dense dimensions. */
static void
as_strided (AtenLower *l)
{
  const GantryType *type = gantry_aten_declared (l, 0);
  guint32 x = self (l);
  gint64 order[GANTRY_MAX_RANK], back[GANTRY_MAX_RANK], dense = 1;
  GantryDim dims[GANTRY_MAX_RANK];
  gsize n;
  const gint64 *strides = gantry_aten_ints (l, "stride", &n);

  if (n != type->rank || gantry_aten_int (l, "storage_offset", 0) != 0 || gantry_type_elements (type) != gantry_type_elements (gantry_aten_type (l, x)))
    {
      gantry_aten_refuse (l, "only a view of all elements is supported");
      return;
    }
  for (guint i = 0; i < n; i++)
    order[i] = i;
  /* By falling strides; equal ones (dimensions of 1) as they stand. */
  for (guint i = 1; i < n; i++)
    for (guint k = i; k > 0 && strides[order[k]] > strides[order[k - 1]]; k--)
      {
        gint64 swap = order[k];

        order[k] = order[k - 1];
        order[k - 1] = swap;
      }
  for (gint i = (gint) n - 1; i >= 0; i--)
    {
      gint64 size = type->dims[order[i]];

      if (size != 1 && strides[order[i]] != dense)
        gantry_aten_refuse (l, "only a view of all elements, each once, is supported");
      dense *= MAX (size, 1);
      dims[i] = size;
      back[order[i]] = i;
    }
  l->out[0] = l->failed ? 0 : gantry_builder_transpose (l->b, gantry_builder_reshape (l->b, x, type->rank, dims), back);
}

/* clang-format off */
#define RULE(name, function) { name, function, GANTRY_CLASS_MOVEMENT, 0, NULL }
#define SAME(name) { name, identity, GANTRY_CLASS_ELEMENTWISE, 0, NULL }

const AtenRule gantry_aten_movement_rules[] = {
  RULE ("view", to_declared), RULE ("reshape", to_declared), RULE ("_unsafe_view", to_declared), RULE ("flatten", to_declared),
  RULE ("unflatten", to_declared), RULE ("squeeze", to_declared), RULE ("unsqueeze", to_declared), RULE ("view_as", to_declared),
  RULE ("reshape_as", to_declared), RULE ("ravel", to_declared), RULE ("_reshape_alias", to_declared), RULE ("view_copy", to_declared),
  RULE ("atleast_1d", to_declared), RULE ("atleast_2d", to_declared), RULE ("atleast_3d", to_declared), RULE ("squeeze_copy", to_declared),
  RULE ("unsqueeze_copy", to_declared),
  SAME ("to"), SAME ("_to_copy"), SAME ("type_as"), SAME ("alias"), SAME ("contiguous"), SAME ("clone"),
  SAME ("lift_fresh_copy"), SAME ("lift_fresh"), SAME ("lift"), SAME ("alias_copy"), SAME ("cpu"), SAME ("float"),
  SAME ("half"), SAME ("double"), SAME ("long"), SAME ("int"), SAME ("bool"), SAME ("bfloat16"), SAME ("requires_grad"),
  RULE ("detach", detach), RULE ("detach_copy", detach), SAME ("resolve_conj"), SAME ("resolve_neg"), SAME ("positive"),
  RULE ("expand", expand), RULE ("expand_as", expand), RULE ("broadcast_to", expand), RULE ("expand_copy", expand),
  RULE ("broadcast_tensors", broadcast_tensors), RULE ("copy", copy),
  RULE ("permute", permute), RULE ("permute_copy", permute), RULE ("permute_scatter", permute_scatter),
  RULE ("transpose", transpose), RULE ("swapaxes", transpose), RULE ("t", transpose), RULE ("mT", transpose), RULE ("numpy_T", transpose),
  RULE ("transpose_copy", transpose), RULE ("t_copy", transpose), RULE ("adjoint", transpose),
  { "transpose_scatter", transpose, GANTRY_CLASS_MOVEMENT, 0, "src" }, { "t_scatter", transpose, GANTRY_CLASS_MOVEMENT, 0, "src" },
  RULE ("slice", slice), RULE ("slice_copy", slice), RULE ("slice_scatter", slice_scatter), RULE ("select", select_rule),
  RULE ("select_copy", select_rule), RULE ("select_scatter", select_scatter), RULE ("narrow", narrow), RULE ("split", split),
  RULE ("split_with_sizes", split), RULE ("split_with_sizes_copy", split), RULE ("split_copy", split), RULE ("chunk", split),
  RULE ("tensor_split", split),
  { "unbind", split, GANTRY_CLASS_MOVEMENT, 0, "removed" }, { "unbind_copy", split, GANTRY_CLASS_MOVEMENT, 0, "removed" },
  RULE ("cat", concatenate), RULE ("concat", concatenate), RULE ("concatenate", concatenate),
  { "stack", concatenate, GANTRY_CLASS_MOVEMENT, TRUE, NULL },
  RULE ("diff", difference), RULE ("flip", flip), RULE ("roll", roll), RULE ("pad", pad), RULE ("constant_pad_nd", pad),
  { "reflection_pad1d", pad, GANTRY_CLASS_MOVEMENT, 0, "reflect" }, { "reflection_pad2d", pad, GANTRY_CLASS_MOVEMENT, 0, "reflect" },
  { "replication_pad1d", pad, GANTRY_CLASS_MOVEMENT, 0, "replicate" }, { "replication_pad2d", pad, GANTRY_CLASS_MOVEMENT, 0, "replicate" },
  RULE ("repeat", repeat), RULE ("tile", repeat), RULE ("as_strided", as_strided), RULE ("as_strided_copy", as_strided),
  { NULL },
};
/* clang-format on */
