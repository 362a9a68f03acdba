/* SPDX-License-Identifier: Apache-2.0 */
/* ONNX operations that cut tensors into pieces, put them together and pad them. */
#include "core/frontends/onnx/onnx-lower.h"

static void
concat (GantryLower *l)
{
  guint32 *present = gantry_arena_new0 (l->arena, guint32, l->n_in + 1);
  guint n = 0;
  gint64 axis;

  for (guint i = 0; i < l->n_in; i++)
    if (l->in[i] != 0)
      present[n++] = l->in[i];
  if (n == 0)
    {
      gantry_lower_invalid (l, "there are no operands");
      return;
    }
  axis = gantry_lower_axis (l, gantry_lower_int (l, "axis", 1), gantry_lower_rank (l, present[0]));
  if (axis >= 0)
    l->out[0] = n == 1 ? present[0] : gantry_builder_concatenate (l->b, present, n, axis);
}

/* The extents of the pieces: attribute or operand `split`, the declared types, or equal parts. */
static const gint64 *
split_sizes (GantryLower *l, gint64 dim, gint64 axis)
{
  gint64 *sizes = gantry_arena_new0 (l->arena, gint64, l->n_out + 1);
  gint64 parts = gantry_lower_int (l, "num_outputs", l->n_out);
  gint64 chunk;
  gsize n = 0;
  const gint64 *given = gantry_lower_ints (l, "split", &n);

  if (given == NULL && gantry_lower_has (l, 1))
    {
      given = gantry_lower_known_ints (l, l->in[1], &n);
      for (guint i = 0; i < l->n_out && given == NULL; i++)
        {
          const GantryType *declared = gantry_lower_declared (l, i);

          if (declared == NULL || axis >= declared->rank)
            {
              gantry_lower_needs_constant (l, gantry_lower_operand (l, 1), "list of extents");
              return NULL;
            }
          sizes[i] = declared->dims[axis];
        }
      if (given == NULL)
        return sizes;
    }
  if (given != NULL)
    {
      if (n >= l->n_out)
        return given;
      gantry_lower_invalid (l, "%" G_GSIZE_FORMAT " extents for %u results", n, l->n_out);
      return NULL;
    }
  if (parts < l->n_out || (l->opset < 18 && dim % parts != 0))
    {
      gantry_lower_invalid (l, "dimension %" G_GINT64_FORMAT " cannot be split into %" G_GINT64_FORMAT " parts", dim, parts);
      return NULL;
    }
  chunk = dim / parts + (dim % parts != 0);
  for (guint i = 0; i < l->n_out; i++)
    sizes[i] = CLAMP (dim - chunk * i, 0, chunk);
  return sizes;
}

static void
split (GantryLower *l)
{
  guint32 x = gantry_lower_operand (l, 0);
  gint64 axis = gantry_lower_axis (l, gantry_lower_int (l, "axis", 0), gantry_lower_rank (l, x));
  const gint64 *sizes = axis >= 0 ? split_sizes (l, gantry_lower_dim (l, x, axis), axis) : NULL;
  gint64 start = 0;

  for (guint i = 0; i < l->n_out && sizes != NULL; i++)
    {
      if (sizes[i] < 0 || sizes[i] > gantry_lower_dim (l, x, axis) - start)
        {
          gantry_lower_invalid (l, "the parts exceed dimension %" G_GINT64_FORMAT, gantry_lower_dim (l, x, axis));
          return;
        }
      l->out[i] = gantry_builder_slice_axis (l->b, x, axis, start, start + sizes[i], 1);
      start += sizes[i];
    }
}

/* One axis of Slice with everything known: numpy's x[start:end:step]. */
static guint32
slice_known (GantryLower *l, guint32 x, gint64 axis, gint64 start, gint64 end, gint64 step)
{
  gint64 dim = gantry_lower_dim (l, x, axis);

  if (step == 0)
    {
      gantry_lower_invalid (l, "step is 0");
      return 0;
    }
  if (dim == 0)
    return x;
  /* INT64_MIN and its neighbours are usual for "from the end". */
  start = start < 0 ? MAX (start, -dim - 1) + dim : start;
  end = end < 0 ? MAX (end, -dim - 1) + dim : end;
  if (step > 0)
    {
      start = CLAMP (start, 0, dim);
      end = CLAMP (end, start, dim);
      return gantry_builder_slice_axis (l->b, x, axis, start, end, MIN (step, dim));
    }
  start = CLAMP (start, 0, dim - 1);
  end = CLAMP (end, -1, start);
  step = MAX (step, -dim);
  x = gantry_builder_reverse (l->b, x, &axis, 1);
  return gantry_builder_slice_axis (l->b, x, axis, dim - 1 - start, dim - 1 - end, -step);
}

/* One axis of Slice whose start is computed at run time, of which the model declares the extent of
 * the result. */
static guint32
slice_computed (GantryLower *l, guint32 x, gint64 axis, guint32 start, gint64 step, gint64 extent)
{
  gint64 dim = gantry_lower_dim (l, x, axis);
  GantryBuilder *b = l->b;
  guint32 indices;

  start = gantry_builder_wrap_indices (l->b, start, dim);
  start = gantry_builder_binary_broadcast (l->b, GANTRY_OP_MAXIMUM, start, gantry_builder_int_scalar (b, GANTRY_I64, 0));
  start = gantry_builder_binary_broadcast (l->b, GANTRY_OP_MINIMUM, start, gantry_builder_int_scalar (b, GANTRY_I64, step > 0 ? dim : dim - 1));
  indices = gantry_builder_iota (l->b, GANTRY_I64, 1, &extent, 0);
  indices = gantry_builder_binary_broadcast (l->b, GANTRY_OP_MULTIPLY, indices, gantry_builder_int_scalar (b, GANTRY_I64, step));
  indices = gantry_builder_binary_broadcast (l->b, GANTRY_OP_ADD, indices, start);
  return gantry_builder_take (l->b, x, axis, indices);
}

/* Operand @i of Slice (or the attribute of versions before 10) as a list of @n, NULL when computed
 * at run time. */
static const gint64 *
slice_list (GantryLower *l, const char *key, guint i, gsize *n)
{
  const gint64 *attr = gantry_lower_ints (l, key, n);

  return attr != NULL ? attr : gantry_lower_known_ints (l, gantry_lower_operand (l, i), n);
}

static guint32
element_of (GantryLower *l, guint32 vector, gint64 i)
{
  return gantry_builder_reshape (l->b, gantry_builder_slice_axis (l->b, vector, 0, i, i + 1, 1), 0, NULL);
}

static void
slice (GantryLower *l)
{
  guint32 x = gantry_lower_operand (l, 0);
  guint rank = gantry_lower_rank (l, x);
  const GantryType *declared = gantry_lower_declared (l, 0);
  gsize n_starts = 0, n_ends = 0, n_axes = 0, n_steps = 0;
  const gint64 *starts = slice_list (l, "starts", 1, &n_starts);
  const gint64 *ends = slice_list (l, "ends", 2, &n_ends);
  const gint64 *steps = slice_list (l, "steps", 4, &n_steps);
  gint64 *axes = gantry_lower_axes (l, 3, rank, &n_axes);
  gsize n = starts != NULL ? n_starts : (gsize) gantry_lower_dim (l, gantry_lower_operand (l, 1), 0);
  gboolean computed = starts == NULL || ends == NULL;

  if (l->failed)
    return;
  if (gantry_lower_has (l, 4) && steps == NULL)
    gantry_lower_needs_constant (l, gantry_lower_operand (l, 4), "list of steps");
  else if (computed && (declared == NULL || declared->rank != rank || !gantry_lower_has (l, 1)))
    gantry_lower_needs_constant (l, gantry_lower_operand (l, starts == NULL ? 1 : 2), starts == NULL ? "list of starts" : "list of ends");
  else if (n > rank || (ends != NULL && n_ends != n) || (axes != NULL && n_axes != n) || (steps != NULL && n_steps != n))
    gantry_lower_invalid (l, "starts, ends, axes and steps differ in length");
  for (gsize i = 0; i < n && !l->failed && x != 0; i++)
    {
      gint64 axis = axes != NULL ? axes[i] : (gint64) i;
      gint64 step = steps != NULL ? steps[i] : 1;

      if (!computed)
        x = slice_known (l, x, axis, starts[i], ends[i], step);
      else if (gantry_lower_dim (l, x, axis) > 0 && step != 0)
        x = slice_computed (l, x, axis, element_of (l, l->in[1], (gint64) i), step, declared->dims[axis]);
    }
  if (!l->failed)
    l->out[0] = x;
}

/* Index in [0, dim) that position @i of a padded axis shows. */
static gint64
padded_index (const char *mode, gint64 i, gint64 dim)
{
  gint64 period = 2 * (dim - 1);

  if (strcmp (mode, "edge") == 0)
    return CLAMP (i, 0, dim - 1);
  if (strcmp (mode, "wrap") == 0)
    return ((i % dim) + dim) % dim;
  if (period == 0)
    return 0;
  i = ((i % period) + period) % period;
  return i < dim ? i : period - i;
}

/* @x without what negative pads take away, which the others then neither mirror nor repeat; they become 0. */
static guint32
cut_negative (GantryLower *l, guint32 x, gint64 *low, gint64 *high)
{
  for (guint axis = 0; axis < gantry_lower_rank (l, x); axis++)
    {
      gint64 start = MAX (-low[axis], 0), limit = gantry_lower_dim (l, x, axis) - MAX (-high[axis], 0);

      if (start > limit)
        {
          gantry_lower_invalid (l, "padding does not fit dimension %" G_GINT64_FORMAT, gantry_lower_dim (l, x, axis));
          return 0;
        }
      x = gantry_builder_slice_axis (l->b, x, axis, start, limit, 1);
      low[axis] = MAX (low[axis], 0);
      high[axis] = MAX (high[axis], 0);
    }
  return x;
}

static guint32
pad_by_index (GantryLower *l, guint32 x, const char *mode, const gint64 *low, const gint64 *high)
{
  for (guint axis = 0; axis < gantry_lower_rank (l, x); axis++)
    {
      gint64 dim = gantry_lower_dim (l, x, axis);
      gint64 n = dim + low[axis] + high[axis];
      gint64 *indices;

      if (low[axis] == 0 && high[axis] == 0)
        continue;
      if (dim == 0 || n < 0 || n > (1 << 24))
        {
          gantry_lower_invalid (l, "padding does not fit dimension %" G_GINT64_FORMAT, dim);
          return 0;
        }
      indices = gantry_arena_new0 (l->arena, gint64, n + 1);
      for (gint64 i = 0; i < n; i++)
        indices[i] = padded_index (mode, i - low[axis], dim);
      x = gantry_lower_take (l, x, axis, indices, n);
    }
  return x;
}

/* The value around: attribute before version 11, an optional scalar operand from then on. */
static guint32
pad_value (GantryLower *l, guint32 x)
{
  if (l->opset < 11)
    return gantry_builder_like (l->b, x, gantry_lower_float (l, "value", 0));
  if (gantry_lower_has (l, 2))
    return gantry_builder_reshape (l->b, l->in[2], 0, NULL);
  return gantry_builder_like (l->b, x, 0);
}

static void
pad (GantryLower *l)
{
  guint32 x = gantry_lower_operand (l, 0);
  guint rank = gantry_lower_rank (l, x);
  const char *mode = gantry_lower_string (l, "mode", "constant");
  gint64 low[GANTRY_MAX_RANK] = { 0 };
  gint64 high[GANTRY_MAX_RANK] = { 0 };
  gsize n_axes = 0, n = 0;
  gint64 *axes = l->opset >= 18 ? gantry_lower_axes (l, 3, rank, &n_axes) : NULL;
  const gint64 *pads = gantry_lower_ints (l, l->opset < 2 ? "paddings" : "pads", &n);

  if (pads == NULL && !l->failed)
    pads = gantry_lower_constant_ints (l, 1, &n, "padding");
  if (pads == NULL || l->failed)
    return;
  if (axes == NULL)
    n_axes = rank;
  if (n != 2 * n_axes)
    {
      gantry_lower_invalid (l, "%" G_GSIZE_FORMAT " pads for %" G_GSIZE_FORMAT " axes", n, n_axes);
      return;
    }
  for (gsize i = 0; i < n; i++)
    if (pads[i] <= -G_MAXINT32 || pads[i] >= G_MAXINT32)
      {
        gantry_lower_invalid (l, "a pad of %" G_GINT64_FORMAT " is out of range", pads[i]);
        return;
      }
  for (gsize i = 0; i < n_axes; i++)
    {
      low[axes != NULL ? axes[i] : (gint64) i] = pads[i];
      high[axes != NULL ? axes[i] : (gint64) i] = pads[n_axes + i];
    }
  if (strcmp (mode, "constant") == 0)
    l->out[0] = gantry_builder_pad_if_any (l->b, x, pad_value (l, x), low, high, NULL);
  else if (strcmp (mode, "edge") == 0 || strcmp (mode, "reflect") == 0 || strcmp (mode, "wrap") == 0)
    l->out[0] = pad_by_index (l, cut_negative (l, x, low, high), mode, low, high);
  else
    gantry_lower_invalid (l, "mode '%s' is not known", mode);
}

/* Windows ML's experimental Crop: border = left, top, right, bottom; or left, top and scale =
 * height, width. */
static void
crop (GantryLower *l)
{
  guint32 x = gantry_lower_operand (l, 0);
  gsize n_border = 0, n_scale = 0;
  const gint64 *border = gantry_lower_ints (l, "border", &n_border);
  const gint64 *scale = gantry_lower_ints (l, "scale", &n_scale);
  gint64 bottom, right;

  if (!gantry_lower_check_rank (l, 0, 4, 4))
    return;
  if (n_border != 4 || (scale != NULL && n_scale != 2))
    {
      gantry_lower_invalid (l, "border needs 4 values and scale 2");
      return;
    }
  for (guint i = 0; i < 4; i++)
    if (ABS (CLAMP (border[i], -G_MAXINT32, G_MAXINT32)) == G_MAXINT32 || (scale != NULL && (scale[i % 2] < 0 || scale[i % 2] > G_MAXINT32)))
      {
        gantry_lower_invalid (l, "border or scale is out of range");
        return;
      }
  bottom = scale != NULL ? border[1] + scale[0] : gantry_lower_dim (l, x, 2) - border[3];
  right = scale != NULL ? border[0] + scale[1] : gantry_lower_dim (l, x, 3) - border[2];
  if (border[0] < 0 || border[1] < 0 || bottom > gantry_lower_dim (l, x, 2) || right > gantry_lower_dim (l, x, 3) || border[1] > bottom || border[0] > right)
    {
      gantry_lower_invalid (l, "border exceeds the picture");
      return;
    }
  x = gantry_builder_slice_axis (l->b, x, 2, border[1], bottom, 1);
  l->out[0] = gantry_builder_slice_axis (l->b, x, 3, border[0], right, 1);
}

static void
center_crop_pad (GantryLower *l)
{
  guint32 x = gantry_lower_operand (l, 0);
  guint rank = gantry_lower_rank (l, x);
  const GantryType *declared = gantry_lower_declared (l, 0);
  gint64 low[GANTRY_MAX_RANK] = { 0 };
  gint64 high[GANTRY_MAX_RANK] = { 0 };
  gsize n_axes = 0, n = 0;
  gint64 *axes = gantry_lower_axes (l, G_MAXUINT, rank, &n_axes);
  const gint64 *wanted = gantry_lower_known_ints (l, gantry_lower_operand (l, 1), &n);

  if (axes == NULL)
    n_axes = rank;
  if (wanted == NULL && (declared == NULL || declared->rank != rank))
    gantry_lower_needs_constant (l, gantry_lower_operand (l, 1), "shape");
  else if (wanted != NULL && n != n_axes)
    gantry_lower_invalid (l, "%" G_GSIZE_FORMAT " extents for %" G_GSIZE_FORMAT " axes", n, n_axes);
  for (gsize i = 0; i < n_axes && !l->failed; i++)
    {
      gint64 axis = axes != NULL ? axes[i] : (gint64) i;
      gint64 dim = gantry_lower_dim (l, x, axis);
      gint64 extent;

      g_assert (axis >= 0 && axis < GANTRY_MAX_RANK);
      extent = wanted != NULL ? wanted[i] : declared->dims[axis];
      if (extent < 0 || extent > G_MAXINT32)
        {
          gantry_lower_invalid (l, "extent %" G_GINT64_FORMAT " is out of range", extent);
          return;
        }
      /* Halves round down at the low end, whether cutting or padding. */
      if (extent < dim)
        x = gantry_builder_slice_axis (l->b, x, axis, (dim - extent) / 2, (dim - extent) / 2 + extent, 1);
      else
        {
          low[axis] = (extent - dim) / 2;
          high[axis] = extent - dim - low[axis];
        }
    }
  if (!l->failed)
    l->out[0] = gantry_builder_pad_if_any (l->b, x, gantry_builder_like (l->b, x, 0), low, high, NULL);
}

/* clang-format off */
#define RULE(name, function) { name, function, GANTRY_CLASS_MOVEMENT, 0, 0, NULL }

const GantryLowerRule gantry_lower_cut_rules[] = {
  { "Concat", concat, GANTRY_CLASS_MOVEMENT, GANTRY_LOWER_ANY_SHAPE, 0, NULL },
  RULE ("Split", split), RULE ("Slice", slice), RULE ("Pad", pad), RULE ("Crop", crop),
  RULE ("CenterCropPad", center_crop_pad),
  { NULL },
};
/* clang-format on */
