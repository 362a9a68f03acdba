/* SPDX-License-Identifier: Apache-2.0 */
/* Pieces of real networks: branches that join, residuals, a U, inception, shuffled channels, squeeze and excitation. */
#include "tests/differential/generate.h"

static guint32
relu (DiffMaker *m, guint32 x)
{
  return _diff_chance (m, 40) ? _diff_binary (m, GANTRY_OP_MAXIMUM, x, _diff_splat_like (m, x, 0)) : x;
}

static guint32
slice_channels (DiffMaker *m, guint32 x, gint64 from, gint64 to)
{
  const GantryType *type = _diff_type_of (m, x);
  gint64 start[5] = { 0 }, limit[5], stride[5] = { 1, 1, 1, 1, 1 };

  for (guint i = 0; i < type->rank; i++)
    limit[i] = type->dims[i];
  start[1] = from;
  limit[1] = to;
  return gantry_builder_slice (m->b, x, start, limit, stride);
}

static gint64
channels_of (DiffMaker *m, guint32 x)
{
  return _diff_type_of (m, x)->dims[1];
}

/* Several convolutions of one value joined again, and one more of what they give. */
static guint32
write_inception (DiffMaker *m, guint32 x)
{
  guint32 parts[4];
  guint n = 2 + (guint) _diff_upto (m, 3);

  for (guint i = 0; i < n; i++)
    {
      guint32 y = _diff_chance (m, 15) ? x : _diff_convolve (m, x, _diff_channels (m), TRUE);

      parts[i] = relu (m, y);
    }
  x = _diff_put (m, gantry_builder_concatenate (m->b, parts, n, 1));
  return _diff_chance (m, 70) ? relu (m, _diff_convolve (m, x, _diff_channels (m), TRUE)) : x;
}

static guint32
write_residual (DiffMaker *m, guint32 x)
{
  gint64 channels = channels_of (m, x);
  guint32 y = relu (m, _diff_convolve (m, x, _diff_chance (m, 50) ? channels : _diff_channels (m), TRUE));

  y = _diff_convolve (m, y, channels, TRUE);
  return channels_of (m, y) == channels ? relu (m, _diff_binary (m, GANTRY_OP_ADD, x, y)) : y;
}

/* Each layer sees all before it. */
static guint32
write_dense (DiffMaker *m, guint32 x)
{
  for (gint n = 2 + _diff_upto (m, 2); n > 0; n--)
    x = gantry_builder_concatenate (m->b, (guint32[]){ x, relu (m, _diff_convolve (m, x, _diff_channels (m), TRUE)) }, 2, 1);
  return x;
}

/* Channels split in two, one half through a convolution, joined and shuffled. */
static guint32
write_shuffle (DiffMaker *m, guint32 x)
{
  const GantryType *type;
  gint64 half, permutation[6];
  GantryDim dims[6];
  guint32 left, right;

  if (channels_of (m, x) % 2 != 0)
    x = _diff_convolve (m, x, _diff_chance (m, 50) ? 16 : 24, TRUE);
  if (channels_of (m, x) % 2 != 0)
    return x;
  half = channels_of (m, x) / 2;
  left = slice_channels (m, x, 0, half);
  right = relu (m, _diff_convolve (m, slice_channels (m, x, half, 2 * half), half, TRUE));
  x = gantry_builder_concatenate (m->b, (guint32[]){ left, right }, 2, 1);
  type = _diff_type_of (m, x);
  if (type->dims[1] % 2 != 0 || _diff_chance (m, 20))
    return x;
  for (guint i = 0; i <= type->rank; i++)
    {
      dims[i] = i == 0 ? type->dims[0] : i == 1 ? 2 : i == 2 ? type->dims[1] / 2 : type->dims[i - 1];
      permutation[i] = i == 1 ? 2 : i == 2 ? 1 : i;
    }
  right = gantry_builder_transpose (m->b, gantry_builder_reshape (m->b, x, type->rank + 1, dims), permutation);
  return gantry_builder_reshape (m->b, right, type->rank, _diff_type_of (m, x)->dims);
}

/* Every second position, or each twice. */
static guint32
resize (DiffMaker *m, guint32 x, gint64 channels, gboolean up)
{
  const GantryType *type = _diff_type_of (m, x);
  guint n = type->rank - 2;
  GantryDim dims[5] = { channels, type->dims[1] };
  gint64 two[3] = { 2, 2, 2 }, one[3] = { 1, 1, 1 }, padding[6] = { 0 };
  GantryAttrList *attrs = gantry_attr_list_new (m->context);
  guint32 w;

  for (guint i = 0; i < n; i++)
    {
      dims[i + 2] = 2;
      padding[2 * i] = padding[2 * i + 1] = up;
    }
  w = _diff_leaf (m, DIFF_LEAF_WEIGHT, (GantryElementType) type->element, type->rank, dims);
  gantry_attr_list_set_ints (attrs, "window_strides", up ? one : two, n);
  gantry_attr_list_set_ints (attrs, "lhs_dilation", up ? two : one, n);
  gantry_attr_list_set_ints (attrs, "padding", padding, 2 * n);
  return gantry_builder_add (m->b, GANTRY_OP_CONVOLUTION, (guint32[]){ x, w }, 2, gantry_attr_list_end (attrs));
}

/* Down, through, up, and joined with what was before. */
static guint32
write_u (DiffMaker *m, guint32 x)
{
  const GantryType *type = _diff_type_of (m, x);
  gboolean even = type->rank > 2;
  gint64 channels = _diff_channels (m);
  guint32 down, up, skip;

  for (guint i = 2; i < type->rank; i++)
    even = even && type->dims[i] % 2 == 0;
  if (!even || channels > 32)
    return write_residual (m, x);
  skip = _diff_chance (m, 60) ? relu (m, _diff_convolve (m, x, channels, TRUE)) : x;
  down = relu (m, resize (m, skip, _diff_channels (m), FALSE));
  down = relu (m, _diff_convolve (m, down, _diff_channels (m), TRUE));
  up = resize (m, down, channels, TRUE);
  up = _diff_put (m, gantry_builder_concatenate (m->b, (guint32[]){ skip, relu (m, up) }, 2, 1));
  return relu (m, _diff_convolve (m, up, _diff_channels (m), TRUE));
}

/* Channels weighed by what their means say. */
static guint32
write_excitation (DiffMaker *m, guint32 x)
{
  const GantryType *type = _diff_type_of (m, x);
  gint64 axes[3] = { 2, 3, 4 }, map[2] = { 0, 1 }, one = 1, zero = 0;
  GantryDim dims[2] = { type->dims[1], type->dims[1] };
  GantryAttrList *attrs = gantry_attr_list_new (m->context);
  guint32 mean = gantry_builder_reduce (m->b, "add", x, axes, type->rank - 2), w;

  mean = _diff_binary (m, GANTRY_OP_MULTIPLY, mean, _diff_splat_like (m, mean, 0.05));
  w = _diff_leaf (m, DIFF_LEAF_WEIGHT, (GantryElementType) type->element, 2, dims);
  gantry_attr_list_set_ints (attrs, "lhs_contracting_dimensions", &one, 1);
  gantry_attr_list_set_ints (attrs, "rhs_contracting_dimensions", &zero, 1);
  mean = gantry_builder_add (m->b, GANTRY_OP_DOT_GENERAL, (guint32[]){ mean, w }, 2, gantry_attr_list_end (attrs));
  mean = _diff_unary (m, GANTRY_OP_LOGISTIC, mean);
  return _diff_binary (m, GANTRY_OP_MULTIPLY, x, gantry_builder_broadcast (m->b, mean, type->rank, type->dims, map));
}

void
_diff_write_topology (DiffMaker *m)
{
  guint32 x = _diff_pick_image (m);

  switch (_diff_upto (m, 7))
    {
    case 0: x = write_residual (m, x); break;
    case 1: x = write_dense (m, x); break;
    case 2: x = write_shuffle (m, x); break;
    case 3: x = write_u (m, x); break;
    case 4: x = write_excitation (m, x); break;
    default: x = write_inception (m, x); break;
    }
  _diff_put (m, x);
}
